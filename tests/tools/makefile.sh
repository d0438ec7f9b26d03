#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/tools/makefile.sh SOFTFAULT: what the targets of the Makefile would do names no variable that is not there.
# A misspelt one expands to nothing, and the line that it stands in goes wrong unseen.
set -u
build=$(dirname "$(realpath "${1:?the path of the command}")")
targets="all reproduce test check bench stress explore diff install clean"
# What a user may set, and what one of the compilers has no need of.
known="1 CPPFLAGS LDFLAGS DEBUG SANITIZE V DESTDIR OPS SEED SEQUENCE MINUTES SECONDS PLAIN_FLAGS HOME_FLAGS_clang RENAME_gcc"
passed=0
failed=0

for target in $targets; do
	unknown=
	named=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --warn-undefined-variables -n BUILD="$build" "$target" 2>&1 |
		sed -n "s/.*undefined variable '\([^']*\)'.*/\1/p" | sort -u)
	for name in $named; do
		case " $known " in *" $name "*) ;; *) unknown="$unknown $name" ;; esac
	done
	if [ -z "$unknown" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: make $target names what is not there:$unknown"
	fi
done
# A check that could not fail would be none.
if make --warn-undefined-variables -n -f - 2>&1 <<<'all: ; echo $(NO_SUCH)' | grep -q "undefined variable 'NO_SUCH'"; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
	echo "FAILED: make does not tell of undefined variables"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
