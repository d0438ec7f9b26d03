#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/documents.sh SOFTFAULT: the manual page tells of every command and option and of no other, and the
# shells complete what the command takes. Prints "ok NAME" or "not ok NAME" for each check, and at the end
# "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"
build=$(dirname "$softfault")
skipped=0
PATH=$build:$PATH
# What a check that fails shows.
: >"$work/stdout"
: >"$work/stderr"

skip() { # skip NAME REASON
	skipped=$((skipped + 1))
	echo "skipped $1: $2"
}

commands=$("$softfault" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 6 ]
report commands_are_found $?
# The C library's argp puts an option's blanks into the wrong place when its text is broken at an unlucky point.
! for command in $commands; do "$softfault" "$command" --help; done | grep -E '^ {7,}-'
report help_is_aligned $?

# --- The manual page -------------------------------------------------------------------------------------
for command in $commands; do
	"$softfault" "$command" --help | sed -nE 's/^ +(-[a-z], )?--([a-z-]+).*/\2/p' | grep -Evx 'help|version'
done | sort -u >"$work/options"
# "Fl Fl name", several on a line
grep -o 'Fl Fl [a-z-]*' docs/softfault.1 | awk '{ print $3 }' | grep -Evx 'help|version' | sort -u >"$work/told"
diff "$work/options" "$work/told" >"$work/stdout"
report manual_has_every_option $?
sed -n 's/^\.Ss //p' docs/softfault.1 | sort >"$work/told"
printf '%s\n' $commands | sort | diff - "$work/told" >"$work/stdout"
report manual_has_every_command $?
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning docs/softfault.1 >"$work/stdout" 2>&1
	report manual_is_clean $?
	mandoc -T html docs/softfault.1 2>"$work/stdout" | grep -q "EXIT_STATUS"
	report manual_can_be_read $?
else
	skip manual_is_clean "mandoc is not installed"
fi

# --- bash ------------------------------------------------------------------------------------------------
# completes NAME EXPECTED WORD...: the words of the line, the last being completed; EXPECTED may stand anywhere
bash_completes() {
	local name=$1 expected=$2
	shift 2
	bash -u -c '
		. cli/completion/softfault.bash
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_softfault
		printf "%s\n" "${COMPREPLY[@]-}"' bash "$@" >"$work/stdout" 2>&1
	if [ "${expected#!}" != "$expected" ]; then
		! grep -qxF -- "${expected#!}" "$work/stdout"
	else
		grep -qxF -- "$expected" "$work/stdout"
	fi
	report "bash_$name" $?
}
bash_completes commands reproduce softfault ""
bash_completes part_of_a_command report softfault rep
bash_completes not_other_commands '!list' softfault rep
bash_completes experiments pfn-insert softfault run pfn
bash_completes options --machine-set= softfault run --mach
bash_completes options_without_value --profile softfault run pfn-insert --pro
bash_completes options_of_that_command '!--machine=' softfault compare --
bash_completes machines nehalem-8 softfault run pfn-insert --machine neh
bash_completes machines_after_equals nehalem-8 softfault run pfn-insert --machine = neh
bash_completes machines_after_nothing uv softfault run pfn-insert --machine =
bash_completes variants cmpxchg softfault run pfn-insert --variant c
bash_completes variants_in_a_list lock,cmpxchg softfault run pfn-insert --variant lock,c
bash_completes choices unmap softfault run anon-fault --give-back u
bash_completes engines host,linux softfault run anon-fault --engine host
bash_completes formats collapsed softfault report x.json --format c
bash_completes files README.md softfault report READ
bash_completes files_after_json Makefile softfault run pfn-insert --json Makef
bash_completes what_follows_a_flag pfn-insert softfault run --profile pfn
bash_completes lists machines softfault list m
bash_completes variants_of anon-fault softfault list variants an
bash_completes checks_among_lists checks softfault list c
bash_completes checks counters softfault explore count
bash_completes experiments_to_explore pfn-insert softfault explore pfn
bash_completes calibrated_machines opteron-48 softfault calibrate op

# --- zsh -------------------------------------------------------------------------------------------------
if command -v zsh >/dev/null; then
	zsh_completes() {
		local name=$1 expected=$2
		shift 2
		# What would be added, one a line; how a part before it is cut off does not matter here.
		zsh -f -c '
			compadd() { while (( $# )); do case $1 in -S) shift ;; -q|--) ;; *) print -r -- $1 ;; esac; shift; done }
			compset() { : }
			_files() { print FILES }
			words=("$@") CURRENT=$#
			. ./cli/completion/_softfault' zsh "$@" >"$work/stdout" 2>&1
		if [ "${expected#!}" != "$expected" ]; then
			! grep -qxF -- "${expected#!}" "$work/stdout"
		else
			grep -qxF -- "$expected" "$work/stdout"
		fi
		report "zsh_$name" $?
	}
	zsh_completes commands reproduce softfault ""
	zsh_completes experiments pfn-insert softfault run pfn
	zsh_completes options --machine-set= softfault run --mach
	zsh_completes options_without_value --profile softfault run pfn-insert --pro
	zsh_completes options_of_that_command '!--machine=' softfault compare --
	zsh_completes machines nehalem-8 softfault run pfn-insert --machine neh
	zsh_completes machines_after_equals nehalem-8 softfault run pfn-insert --machine=neh
	zsh_completes variants cmpxchg softfault run pfn-insert --variant c
	zsh_completes choices unmap softfault run anon-fault --give-back u
	zsh_completes formats collapsed softfault report x.json --format c
	zsh_completes files FILES softfault report READ
	zsh_completes files_after_json FILES softfault run pfn-insert --json Makef
	zsh_completes what_follows_a_flag pfn-insert softfault run --profile pfn
	zsh_completes variants_of anon-fault softfault list variants an
else
	skip zsh "zsh is not installed"
fi

# --- Installed -------------------------------------------------------------------------------------------
prefix=$(cat "$build/prefix")
make -s install BUILD="$build" PREFIX="$prefix" DESTDIR="$work/tree" >"$work/stdout" 2>&1
for file in man/man1/softfault.1 bash-completion/completions/softfault zsh/site-functions/_softfault \
	softfault/result.schema.json; do
	[ -s "$work/tree$prefix/share/$file" ]
	report "installs_$(basename "$file")" $?
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
