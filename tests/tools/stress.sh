#!/bin/bash
# SPDX-License-Identifier: MIT
# tools/stress goes round all tests with other seeds each time, gives every second turn to the one that it is told,
# and for a failure says the seed and a command that repeats it.
set -u
. "$(dirname "$0")/harness.bash"
mkdir "$scratch/plain" "$scratch/tsan"

# Tests that write down what they are asked for. After so many turns ($STOP) each fails; $BAD fails always.
for test in plain/swap plain/most tsan/swap tsan/most tsan/rmap; do
	cat >"$scratch/$test" <<'E'
#!/bin/sh
echo "$(basename "$(dirname "$0")")/$(basename "$0") $SEED $ROUNDS" >>"$TURNS"
if [ "$(basename "$0")" = "$BAD" ] || [ "$(wc -l <"$TURNS")" -gt "$STOP" ]; then
	echo "report of $SEED"
	kill -ABRT $$
fi
echo '[  PASSED  ] 1 test(s).'
E
	chmod +x "$scratch/$test"
done

bad=none
run() { # run SECONDS SEED TURNS TESTS
	: >"$scratch/turns"
	TURNS=$scratch/turns BAD=$bad STOP=$3 timeout 300 tools/stress --seconds "$1" --seed "$2" --often most \
		"${@:4}" >"$scratch/stdout" 2>"$scratch/stderr"
	status=$?
}
all=("$scratch"/tsan/* "$scratch"/plain/*)

run 200 7 60 "${all[@]}"
[ "$(head -n 40 "$scratch/turns" | grep -c most)" -ge 19 ] &&
	[ "$(head -n 40 "$scratch/turns" | cut -d' ' -f1 | sort -u | wc -l)" = 5 ]
verdict $? 'all have their turn, and one has every second'
[ "$(cut -d' ' -f2 "$scratch/turns" | sort | uniq -d | wc -l)" = 0 ] && grep -q '^[^ ]* 7 [1-9]' "$scratch/turns"
verdict $? 'no seed comes twice, and the first is the one that was asked for'
[ "$status" = 1 ] && tail -n 1 "$scratch/stdout" |
	grep -Eq "^[0-9]+ runs of 5 of 5 tests in [0-9]+ s, seeds 7 to [0-9]+, 5 tests failed: $scratch/plain/most, "
verdict $? 'when all have failed nothing is left to do'

run 1 1 1000000 "${all[@]}"
[ "$status" = 0 ] && tail -n 1 "$scratch/stdout" | grep -q ', 0 tests failed$' &&
	[ "$(grep -c '^ok ' "$scratch/stdout")" = "$(wc -l <"$scratch/turns")" ]
verdict $? 'the time ends it, and each turn has its line'

bad=rmap
run 200 1 30 "${all[@]}"
seed=$(grep rmap "$scratch/turns" | cut -d' ' -f2)
[ "$status" = 1 ] && grep -q "report of $seed\$" "$scratch/stdout" && [ "$(grep -c rmap "$scratch/turns")" = 1 ] &&
	[ "$(grep -c '^ok ' "$scratch/stdout")" -ge 15 ]
verdict $? 'a test that fails is reported, has no further turn, and the others go on'
again=$(sed -n 's/.*again.*: \(SEED=.*rmap\)$/\1/p' "$scratch/stdout")
: >"$scratch/turns"
{ TURNS=$scratch/turns BAD=$bad STOP=9 bash -c "$again"; } >"$scratch/stderr" 2>&1
[ "$(cut -d' ' -f1,2 "$scratch/turns")" = "tsan/rmap $seed" ]
verdict $? 'the command that it names repeats the failure'

bad=none
run 200 1 20 "$scratch/plain/swap"
[ "$status" = 1 ] && [ "$(grep -c "^ok " "$scratch/stdout")" -ge 2 ]
verdict $? 'one test alone'
run 1 1 1000000 "$scratch/plain/absent"
[ "$status" = 1 ]
verdict $? 'a test that is not there fails'
run 1 1 1000000
[ "$status" = 1 ]
verdict $? 'without tests it fails'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
