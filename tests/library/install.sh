#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/library/install.sh SOFTFAULT: what `make install` puts into a tree is enough to build programs with, and
# holds no name that softfault.h does not declare. The examples and the README's example are built and run.
# SOFTFAULT is the command, in the build folder.
set -u
softfault=$(realpath "${1:?the path of the command}")
build=$(dirname "$softfault")
cd "$(dirname "$0")/../.." || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
cc=${CC:-cc}
warnings="-Wall -Wextra -Wpedantic -Werror"

verdict() { # verdict STATUS NAME: 0 is good; what is known of it is in $work/log
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "ok $2"
	else
		failed=$((failed + 1))
		echo "not ok $2"
		sed 's/^/    /' "$work/log"
	fi
}

try() { # try NAME COMMAND...: passes when the command does
	"${@:2}" >"$work/log" 2>&1
	verdict $? "$1"
}

same() { # same NAME: whether $work/wanted and $work/got are equal
	diff -u "$work/wanted" "$work/got" >"$work/log"
	verdict $? "$1"
}

# --- The tree --------------------------------------------------------------------------------------------
prefix=$(cat "$build/prefix")
tree=$work/tree$prefix
try installs make -s install BUILD="$build" PREFIX="$prefix" DESTDIR="$work/tree"
export PKG_CONFIG_SYSROOT_DIR=$work/tree PKG_CONFIG_LIBDIR=$tree/lib/pkgconfig
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1

printf '%s\n' bin/softfault include/softfault.h lib/libsoftfault.a lib/pkgconfig/softfault.pc >"$work/wanted"
(cd "$tree" && find . -path ./share -prune -o -type f -print | sed 's,^\./,,' | sort) >"$work/got"
same the_files_of_the_tree
"$tree/bin/softfault" --version | sed 's/^softfault //' >"$work/wanted"
pkg-config --modversion softfault >"$work/got"
same one_version
flags=$(pkg-config --cflags --libs softfault)

# --- Names -----------------------------------------------------------------------------------------------
gcc -fsyntax-only -aux-info "$work/declared" -x c "$tree/include/softfault.h"
sed -n 's/.*softfault\.h:.* extern [^(]*\b\(sf_[a-z0-9_]*\) (.*/T \1/p' "$work/declared" | sort >"$work/wanted"
nm --defined-only --extern-only --format=posix "$tree/lib/libsoftfault.a" | awk 'NF >= 2 { print $2, $1 }' |
	sort >"$work/got"
[ "$(grep -c sf_ "$work/wanted")" -gt 25 ] || echo "too few functions were found in softfault.h" >>"$work/got"
same the_archive_exports_what_the_header_declares

# --- The header alone ------------------------------------------------------------------------------------
printf '#include <softfault.h>\n#include <softfault.h>\nint main(void) { return 0; }\n' >"$work/alone.c"
for language in c99 c11 c17 gnu2x c++98 c++11 c++17 c++20; do
	case $language in
	*++*) compilers=clang as=c++ ;;
	*) compilers="gcc clang" as=c ;;
	esac
	for compiler in $compilers; do
		# shellcheck disable=SC2086
		try "header_alone_in_${language}_by_$compiler" "$compiler" -x $as -std=$language $warnings \
			-fsyntax-only "-I$tree/include" "$work/alone.c"
	done
done

# --- Programs --------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
compile() { # compile PROGRAM SOURCE [FLAG...]
	$cc -O2 $warnings "${@:3}" "$2" $flags -o "$work/$1"
}

cat >"$work/wanted" <<'E2'
                          pages   copied
the parent wrote             16        0
forked                       16        0
the child wrote once         17        1
the parent reads: page 3
the child reads:  the child's own
both are gone                 0        1
E2
try builds_minimal compile minimal examples/minimal.c -std=c11
"$work/minimal" >"$work/got" 2>&1
same minimal_shows_copy_on_write

try builds_guests compile guests examples/guests.c
"$work/guests" 3000 4 >"$work/got" 2>&1
echo "exit status $?" >>"$work/got"
sed -i 's/: [0-9][0-9]* a second/: N a second/' "$work/got"
cat >"$work/wanted" <<'E2'
3000 guests on 4 threads: N a second
39000 pages shared with the snapshot, 12000 copied
0 wrong results
exit status 0
E2
same guests_compute_what_they_must

try builds_file compile file examples/file.c
printf '41\n' >"$work/counted"
"$work/file" "$work/counted" >"$work/got" 2>&1
tr -d '\0' <"$work/counted" >>"$work/got"
cat >"$work/wanted" <<'E2'
dirty before the sync: 4096 bytes
dirty after it: 0 bytes
the file holds: 42
42
E2
same file_is_changed_by_its_mapping
"$work/file" | tail -n 1 >"$work/got" 2>&1
echo 'the file holds: 1' >"$work/wanted"
same file_works_without_a_name

# A program is position-independent or not, a shared object, C++.
try builds_without_pie compile no-pie examples/minimal.c -no-pie -fno-pie
try runs_without_pie "$work/no-pie"
try builds_a_shared_object compile library.so examples/minimal.c -shared -fPIC -Wl,-z,defs
cat >"$work/program.cc" <<'E2'
#include <softfault.h>

int main()
{
	sf_options options = sf_options();
	sf_system *system;

	options.memory_bytes = 1 << 20;
	if (sf_system_create(&options, &system, NULL))
		return 1;
	sf_system_destroy(system);
	return 0;
}
E2
# shellcheck disable=SC2086
try builds_from_cxx clang -x c++ $warnings "$work/program.cc" -x none $flags -o "$work/program"
try runs_from_cxx "$work/program"

# --- The README ------------------------------------------------------------------------------------------
# Its section, from the heading to the next one: the code, the command that builds it, and what it prints.
section=$(awk '/^## / { inside = $0 == "## As a library" } inside' README.md)
block() { # block LANGUAGE: the fenced block of that language
	awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' <<<"$section"
}
mkdir "$work/readme"
block c >"$work/readme/example.c"
block sh >"$work/readme/build.sh"
block text >"$work/wanted"
try readme_has_code_and_command test -s "$work/readme/example.c" -a -s "$work/readme/build.sh" -a -s "$work/wanted"
try readme_example_builds env --chdir="$work/readme" sh -e build.sh
# shellcheck disable=SC2086
try readme_example_has_no_warnings $cc $warnings -fsyntax-only "-I$tree/include" "$work/readme/example.c"
"$work/readme/example" >"$work/got" 2>&1
same readme_example_prints_what_it_says

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
