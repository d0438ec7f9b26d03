#!/bin/bash
# SPDX-License-Identifier: MIT
# tools/explore gives each check its turn under each of its variants, also in runs too short for a round, leaves out
# what is planted, and fails when a check does.
set -u
. "$(dirname "$0")/harness.bash"

# A command with ten checks that writes down what it is asked for. $BAD: the checks that fail; $STOP: after so many
# turns the command fails in a way that ends all.
cat >"$scratch/softfault" <<'E'
#!/bin/bash
if [ "$1" = list ]; then
	printf '{"checks": ['
	for i in 1 2 3 4 5 6 7 8 9 10; do
		printf '{"name": "check-%s", "planted": false, "variants": ["one", "two"]}, ' "$i"
	done
	printf '{"name": "wrong", "planted": true, "variants": ["default"]}]}\n'
	exit
fi
echo "$*" >>"$TURNS"
[ "$(wc -l <"$TURNS")" -gt "$STOP" ] && exit 3
[[ $2 == $BAD ]] && echo "report of $2." && exit 1
echo "$2, 2 CPUs, $4: $6 schedules, no failure (PCT)"
E
chmod +x "$scratch/softfault"
bad=none

run() { # run SECONDS SEED TURNS
	: >"$scratch/turns"
	TURNS=$scratch/turns BAD=$bad STOP=$3 timeout 300 tools/explore --command "$scratch/softfault" --seconds "$1" \
		--seed "$2" >"$scratch/stdout" 2>"$scratch/stderr"
	status=$?
}

run 200 1 45
[ "$status" = 3 ]
verdict $? 'what is no failure of a check ends it'
[ "$(head -n 20 "$scratch/turns" | awk '{ print $2, $4 }' | sort -u | wc -l)" -ge 18 ] &&
	[ "$(head -n 40 "$scratch/turns" | awk '{ print $2, $4 }' | sort -u | wc -l)" = 20 ]
verdict $? 'two rounds come to both variants of each'
[ "$(head -n 10 "$scratch/turns" | cut -d' ' -f4 | sort -u | wc -l)" = 2 ]
verdict $? 'a round has some of each variant'
! grep -q wrong "$scratch/turns"
verdict $? 'what is planted is left out'
[ "$(sort "$scratch/turns" | uniq -d | wc -l)" = 0 ]
verdict $? 'no schedule comes twice'

for seed in 1 2 3 4 5 6 7 8; do
	run 200 "$seed" 0
	head -n 1 "$scratch/turns" | cut -d' ' -f2
done | sort -u >"$scratch/firsts"
[ "$(wc -l <"$scratch/firsts")" -ge 3 ]
verdict $? 'the seed says where a short run begins'

run 1 1 1000000
[ "$status" = 0 ] && grep -Eq '^[0-9]+ of 10 checks, [0-9]+ whole rounds, [0-9]+ schedules .* 0 checks failed$' \
	"$scratch/stdout"
verdict $? 'the time ends it'

bad=check-7
run 200 1 45
[ "$(grep -c 'report of check-7' "$scratch/stdout")" = 1 ] && [ "$(grep -c ' check-7 ' "$scratch/turns")" = 1 ]
verdict $? 'a check that fails is reported once, and the others go on'

bad='check-*'
run 200 1 45
[ "$status" = 1 ] && tail -n 1 "$scratch/stdout" | grep -q '10 checks failed: check-1, check-10, check-2, '
verdict $? 'when all have failed nothing is left to do'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
