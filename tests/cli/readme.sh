#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/readme.sh SOFTFAULT: README shows, to the letter, what `make reproduce` prints: a change of any figure is
# seen here. Prints "ok NAME" or "not ok NAME", and at the end "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

run reproduce --report "$work/reproduce.html"
sed "s|^  $work/|  build/|" "$work/stdout" >"$work/printed"
sed '1,/^<!-- begin: output of make reproduce -->$/d; /^<!-- end: output of make reproduce -->$/,$d' README.md |
	sed '1,/^```$/d; /^```$/,$d' >"$work/shown"
[ "$status" = 0 ] && [ -s "$work/shown" ] && diff "$work/shown" "$work/printed" >"$work/stdout" 2>&1
report readme_shows_what_reproduce_prints $?

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
