#!/bin/bash
# SPDX-License-Identifier: MIT
# Each check of `make check` passes on this tree and fails on a copy of it in which one thing is wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

for part in base port sync mm vsmp host library engine lab cli model examples tests tools docs machines experiments \
	softfault.h .clang-format; do
	[ -e "$part" ] && cp -r "$part" "$scratch/"
done
mkdir -p "$scratch/sync" "$scratch/mm/page"

# $1: 0 or 1, whether it is right; the rest: what was looked at
verdict() {
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: ${*:2}"
		sed 's/^/    /' "$scratch.output"
	fi
}

# $1: check. It must pass as the tree is.
passes() {
	"$scratch/tools/$1" >"$scratch.output" 2>&1
	verdict $? "$1 passes"
}

# $1: check, $2: file to plant; its text comes on standard input. The check must fail and name the file.
catches_text() {
	mkdir -p "$scratch/$(dirname "$2")"
	cat >"$scratch/$2"
	if "$scratch/tools/$1" >"$scratch.output" 2>&1; then
		verdict 1 "$1 must catch $2:" "$(tail -n 1 "$scratch/$2")"
	else
		grep -q "$2" "$scratch.output"
		verdict $? "$1 must name $2:" "$(tail -n 1 "$scratch/$2")"
	fi
	rm "$scratch/$2"
}

# The lines given, as a file of C with its licence.
c_file() {
	printf '%s\n' '/* SPDX-License-Identifier: MIT */' "$@"
}

# $1: check, $2: file to plant, then its lines.
catches() {
	catches_text "$1" "$2" < <(c_file "${@:3}")
}

# The same where nothing is wrong.
allows() {
	mkdir -p "$scratch/$(dirname "$2")"
	c_file "${@:3}" >"$scratch/$2"
	"$scratch/tools/$1" >"$scratch.output" 2>&1
	verdict $? "$1 must allow $2"
	rm "$scratch/$2"
}

for check in tools/check-*; do
	passes "$(basename "$check")"
done

catches check-format base/planted.c 'int  planted ;'

catches check-headers base/planted.h 'uint32_t planted(void);'
catches check-headers base/planted.h 'struct planted {' '	int x;' '};'
catches check-headers sync/planted.h '#include <port_home/absent.h>'

mapfile -t lines < <(seq -f '/* %g */' 600)
catches check-files mm/page/planted.c "${lines[@]}"
catches_text check-files base/planted.c <<<'int planted;'
catches_text check-files tools/planted <<<'#!/bin/sh'

catches check-includes base/planted.c '#include "port/cpu.h"'
catches check-includes mm/page/planted.c '#include "vsmp/vsmp.h"'
catches check-includes sync/planted.c '#include "mm/policy/policy.h"'
catches check-includes cli/planted.c '#include "engine/engine.h"'
catches check-includes engine/memory_planted.c '#include "vsmp/vsmp.h"'
catches check-includes base/planted.c '#include "compiler.h"'
catches check-includes base/planted.c '#include "base/../base/compiler.h"'
catches check-includes sync/planted.c '#include <port_home/cpu.h>'
catches check-includes mm/page/planted.c '#include <pthread.h>'
catches check-includes sync/planted.c '#include <sys/mman.h>'
catches check-includes sync/planted.c 'static _Thread_local int planted;'
catches check-includes mm/page/planted.c 'void *planted(void)' '{' '	return malloc(1);' '}'
catches check-includes elsewhere/planted.c 'int planted;'
mkdir -p "$scratch/mm/page" "$scratch/mm/table"
echo > "$scratch/mm/table/upper.h"
catches check-includes mm/page/planted.c '#include "mm/table/upper.h"'
allows check-includes mm/table/planted.c '#include "mm/policy/policy.h"' '#include <string.h>' \
	'/* Not a call: malloc(1), _Thread_local */' 'static const char *planted = "free(x)";'
rm "$scratch/mm/table/upper.h"

# $1: what the check must say; $2: file; the rest: what changes it, by sed.
explored_catches() {
	cp "$scratch/$2" "$scratch/kept"
	sed -i "${@:3}" "$scratch/$2"
	if cmp -s "$scratch/$2" "$scratch/kept" || "$scratch/tools/check-explored" >"$scratch.output" 2>&1; then
		verdict 1 "check-explored must catch: $1"
	else
		grep -qF -- "$1" "$scratch.output"
		verdict $? "check-explored must say: $1"
	fi
	mv "$scratch/kept" "$scratch/$2"
}

explored_catches 'sf_planted() of softfault.h belongs to no operation' softfault.h \
	'/^int sf_unmap(/i int sf_planted(struct sf_space *space);'
explored_catches 'memtype_planted() of mm/memtype/memtype.h' mm/memtype/memtype.h \
	'/^void memtype_pin(/i void memtype_planted(void);'
explored_catches 'no row for `fork` and `planted`' docs/EXPLORING.md \
	'/^| `fork` |.*`sf_space_fork`/s/`fork`/`fork`, `planted`/'
explored_catches 'no row for `unmap` and `protect`' docs/EXPLORING.md '/^| `unmap` | `protect` |/d'
explored_catches 'no row for `fork` and `fork`' docs/EXPLORING.md '/^| `fork` | `fork` |/d'
explored_catches 'stand in line' docs/EXPLORING.md 's/^\(| `unmap` | `protect`\) |/\1, `fork` |/'
explored_catches 'no check `planted-nowhere`' docs/EXPLORING.md '/^| `unmap` | `protect` |/s/`[a-z-]*` |$/`planted-nowhere` |/'
explored_catches 'the check `seqcount` stands in no table' docs/EXPLORING.md 's/`seqcount`/nothing/'
explored_catches 'an operation, those beside it, and checks or a reason' docs/EXPLORING.md \
	'/^| `fork` | `fork` |/s/[^|]*|$/ |/'
explored_catches 'seqcount_check is not in tests/explore/list.h' tests/explore/list.h '/X(seqcount_check)/d'
catches check-explored mm/page/planted.h 'struct planted {' '	_Atomic int field;' '};'

# All of them together: right on the tree, wrong with one thing wrong.
passes check
catches check base/planted.c 'int  planted ;'

# A check that finds nothing to look at must not call it right.
mkdir "$scratch/empty"
cp -r tools .clang-format "$scratch/empty/"
for check in tools/check-format tools/check-headers tools/check-includes; do
	! "$scratch/empty/$check" >"$scratch.output" 2>&1
	verdict $? "$check must fail with no files"
done

rm -f "$scratch.output"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
