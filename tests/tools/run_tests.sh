#!/bin/bash
# SPDX-License-Identifier: MIT
# The test runner adds up what tests say of themselves, and takes no crash, hang or silence for a success.
set -u
cd "$(dirname "$0")/../.." || exit 1

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# $1: name; standard input: the body of a test
program() {
	{ echo '#!/bin/sh'; cat; } >"$scratch/$1"
	chmod +x "$scratch/$1"
}

# $1: the last line and $2: the exit status that are wanted of these tests
expect() {
	output=$(tools/run-tests --timeout 5 --command /dev/null "${@:3}" 2>&1)
	status=$?
	if [ "$(tail -n 1 <<<"$output")" = "$1" ] && [ "$status" = "$2" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: ${*:3}: wanted '$1' and exit status $2, got $status and:"
		sed 's/^/    /' <<<"$output"
	fi
}

program cmocka <<'E'
echo '[==========] 3 test(s) run.'
echo '[  PASSED  ] 2 test(s).'
echo '[  FAILED  ] 1 test(s), listed below:'
echo '[  FAILED  ] the_one'
exit 1
E
program good <<'E'
echo '[  PASSED  ] 4 test(s).'
echo '[  SKIPPED ] 1 test(s), listed below:'
echo '[  PASSED  ] 1 test(s).'
E
program script.sh <<'E'
[ "$1" = /dev/null ] || exit 1
echo '7 passed, 0 failed'
E
program crash <<'E'
echo '[  PASSED  ] 2 test(s).'
kill -SEGV $$
E
program leak <<'E'
echo '[  PASSED  ] 2 test(s).'
exit 23
E
program lie <<'E'
echo '1 passed, 1 failed'
E
program silent <<'E'
exit 0
E
program hang <<'E'
echo '[  PASSED  ] 2 test(s).'
sleep 1000
E

expect '5 passed, 0 failed, 1 skipped' 0 "$scratch/good"
expect '7 passed, 0 failed' 0 "$scratch/script.sh"
expect '12 passed, 0 failed, 1 skipped' 0 "$scratch/good" "$scratch/script.sh"
expect '2 passed, 1 failed' 1 "$scratch/cmocka"
expect '2 passed, 1 failed' 1 "$scratch/crash"
expect '2 passed, 1 failed' 1 "$scratch/leak"
expect '1 passed, 2 failed' 1 "$scratch/lie"
expect '0 passed, 1 failed' 1 "$scratch/silent"
expect '2 passed, 1 failed' 1 "$scratch/hang"
expect '0 passed, 1 failed' 1 "$scratch/absent"
expect '0 passed, 1 failed' 1
expect '14 passed, 2 failed, 1 skipped' 1 "$scratch/good" "$scratch/script.sh" "$scratch/leak" "$scratch/silent"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
