#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/explore.sh SOFTFAULT: what `softfault explore` prints, with which status, and that it depends on nothing
# but its arguments. Prints "ok NAME" or "not ok NAME" for each check, and at the end "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

# prints NAME STATUS PATTERN ARGUMENT...: that status, nothing on stderr, and a line on stdout that matches
prints() {
	local name=$1 wanted=$2 pattern=$3
	shift 3
	run "$@"
	[ "$status" = "$wanted" ] && [ ! -s "$work/stderr" ] && grep -Eq -- "$pattern" "$work/stdout"
	report "$name" $?
}

same() { # same NAME FILE: whether stdout equals FILE
	cmp -s "$work/stdout" "$2"
	report "$1" $?
}

# --- Wrong command lines ---------------------------------------------------------------------------------
refuses no_check "a check or an experiment must be named; softfault list shows which there are" explore
refuses too_many '"more" is one argument too many' explore fault-unmap more
refuses bad_strategy '--strategy: "fair" must be random or pct' explore fault-unmap --strategy fair
refuses bad_depth '--depth: "0" must be a whole number from 1 to 16' explore fault-unmap --depth 0
refuses bad_cpus '--cpus: "9" must be a whole number from 2 to 8' explore fault-unmap --cpus 9
refuses bad_replay '--replay: "x" must be a whole number from 0 to 4611686018427387904' explore fault-unmap --replay x
refuses bad_fingerprint '--replay: "1:xyz" must be a seed, or SEED:FINGERPRINT as a report has it' \
	explore fault-unmap --replay 1:xyz
refuses replay_of_many "--replay runs one schedule; leave --runs out" explore fault-unmap --replay 1 --runs 2
refuses unknown_variant 'experiment pfn-insert has no variant "lok"; did you mean "lock"? there are: lock, rwlock, cmpxchg, default' \
	explore pfn-insert --variant lok

refuses empty_policy '--variant: a policy is wanted, as "vma_lookup=rcu" or "default", not an empty text' \
	explore fault-unmap --variant ''
refuses blank_policy '--variant: a policy is wanted, as "vma_lookup=rcu" or "default", not an empty text' \
	explore seqcount --variant ' '
refuses empty_variant 'experiment pfn-insert has no variant ""; there are: lock, rwlock, cmpxchg, default' \
	explore pfn-insert --variant ''
refuses too_many_cpus 'refcount, policy default: this check runs on 2 CPUs, not 4: no two can do the same' explore refcount --cpus 4
refuses too_few_cpus 'spinlock, policy default: this check runs on 3 to 8 CPUs, not 2' explore spinlock --cpus 2

# A check that looks at no policy wants a right one, too.
run explore seqcount --variant nonsense
[ "$status" = 2 ] && [ ! -s "$work/stdout" ] && [ "$(wc -l <"$work/stderr")" = 1 ] &&
	grep -q '^softfault: .*nonsense' "$work/stderr"
report policy_of_a_check_without $?

run explore fault-unamp
[ "$status" = 2 ] && [ ! -s "$work/stdout" ] &&
	grep -q '^softfault: there is no check or experiment "fault-unamp"; did you mean "fault-unmap"' "$work/stderr"
report unknown_check $?

run explore fault-unmap --variant vma_lookup=magic
[ "$status" = 2 ] && [ ! -s "$work/stdout" ] && [ "$(wc -l <"$work/stderr")" = 1 ] &&
	grep -q "has no choice 'magic'; there are: rcu," "$work/stderr"
report unknown_policy $?

run list checks --json -
python3 - "$work/stdout" <<'E'
import json, sys
checks = {check["name"]: check for check in json.load(open(sys.argv[1]))["checks"]}
assert checks["spinlock"]["variants"] == ["default"] and not checks["spinlock"]["planted"]
assert "vma_lookup=refcount" in checks["cow-fork"]["variants"]
assert checks["planted-publish"]["planted"]
E
report lists_variants $?

# --- No failure ------------------------------------------------------------------------------------------
prints lists_checks 0 '^fault-unmap +a write fault' list checks
prints lists_planted 0 '^planted-lookup-2009 +planted fault: ' list checks
prints right_code 0 '^fault-unmap, 2 CPUs, default: 300 schedules, no failure \(PCT, depth 3, [0-9]+ steps: .* p >= ' \
	explore fault-unmap --variant default --runs 300
prints random 0 '^fault-unmap, 2 CPUs, default: 300 schedules, no failure \(random, [0-9]+ steps\)$' \
	explore fault-unmap --variant default --runs 300 --strategy random
prints more_cpus_than_functions 0 '^fault-unmap, 3 CPUs, default: 200 schedules, no failure' \
	explore fault-unmap --variant default --runs 200 --cpus 3
prints more_cpus 0 '^spinlock, 4 CPUs, default: 50 schedules' explore spinlock --runs 50 --cpus 4
prints a_policy 0 '^fault-unmap, 2 CPUs, vma_lookup=refcount: 50 schedules' \
	explore fault-unmap --variant vma_lookup=refcount --runs 50
prints one_schedule 0 '^fault-unmap, default, 2 CPUs, seed 9: no failure in [0-9]+ steps$' \
	explore fault-unmap --variant default --replay 9
prints experiment 0 '^pfn-insert, 2 CPUs, lock: 10 schedules, no failure' \
	explore pfn-insert --variant lock --runs 10

run explore fault-unmap --runs 2
[ "$status" = 0 ] && [ "$(wc -l <"$work/stdout")" -gt 3 ]
report all_variants_of_a_check $?

run explore pfn-insert --runs 2
[ "$(sed 's/.*CPUs, \([a-z]*\):.*/\1/' "$work/stdout" | paste -sd' ')" = "lock rwlock cmpxchg default" ]
report all_variants_of_an_experiment $?

# --- A failure -------------------------------------------------------------------------------------------
prints finds 1 '^lost wake-up: ' explore planted-lookup-2009 --jobs 1
cp "$work/stdout" "$work/found"
grep -q 'tests/explore/planted/lookup_2009.c:[0-9]' "$work/found"
report names_the_file $?
grep -q 'vma\.users: [0-9]* -> [0-9]' "$work/found"
report names_the_field $?
grep -q '^  The shortest schedule found that fails so: .* 2 context switches$' "$work/found"
report minimised $?
awk 'length > 110 && !/^  again:/ { exit 1 }' "$work/found"
report in_110_columns $?

run explore planted-lookup-2009 --jobs 2
same two_jobs_find_the_same "$work/found"
run explore planted-lookup-2009 --jobs 7
same seven_jobs_find_the_same "$work/found"

replay=$(sed -n 's/^  again: softfault //p' "$work/found")
eval "run $replay"
[ "$status" = 1 ]
report replay_fails $?
same replay_is_the_same "$work/found"
eval "run ${replay%:*}"
same replay_without_fingerprint "$work/found"

# Another fingerprint than that of the seed: what was seen then is not what is seen now.
eval "run ${replay%:*}:0123456789abcdef"
[ "$status" = 1 ] && grep -q '^replay: .* went another way than before$' "$work/stdout" &&
	grep -q 'fingerprint 0123456789abcdef$' "$work/stdout"
report replay_that_differs $?

COLUMNS=70 run explore planted-lookup-2009
! grep -q ' | ' "$work/stdout" && grep -Eq '^ +[0-9]+ CPU [01]  +modify' "$work/stdout"
report narrow $?

# --- Installed -------------------------------------------------------------------------------------------
cp "$softfault" "$work/softfault"
(cd "$work" && SOFTFAULT_PATH=/nowhere ./softfault explore planted-lookup-2009) >"$work/stdout" 2>"$work/stderr"
same checks_are_part_of_the_command "$work/found"
(cd "$work" && ./softfault explore fault-unamp) >"$work/stdout" 2>"$work/stderr"
[ "$?" = 2 ] && [ "$(wc -l <"$work/stderr")" = 1 ] &&
	grep -q '^softfault: there is no check "fault-unamp"; did you mean "fault-unmap"' "$work/stderr"
report unknown_check_without_experiments $?

# --- The end of it ---------------------------------------------------------------------------------------
timeout --preserve-status -s INT 1 "$softfault" explore fault-unmap --variant default --runs 1000000000 \
	>"$work/stdout" 2>"$work/stderr"
status=$?
[ "$status" = 130 ] && grep -Eq 'ended after [0-9]+ of 1000000000 schedules, no failure so far$' "$work/stderr"
report interrupted $?

# --- Alone: a check that knows nothing of mm/ ------------------------------------------------------------
"$(dirname "$softfault")/examples/check" >"$work/stdout" 2>"$work/stderr"
[ "$?" = 0 ] && grep -q '^box-right: 1000 schedules of [0-9]* steps, no failure$' "$work/stdout" &&
	grep -q '^leak: 1 allocation is left' "$work/stdout" && grep -q 'box\.users: 2 -> 1' "$work/stdout"
report without_mm $?
nm "$(dirname "$softfault")/examples/check" | grep -Eq ' [Tt] (sf_|system_|do_page_fault|frame_alloc)'
[ "$?" = 1 ]
report without_mm_linked $?

# The check that docs/EXPLORING.md shows is C.
sed -n '/^```c$/,/^```$/p' docs/EXPLORING.md | sed '/^```/d' >"$work/box.c"
${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Ivsmp/home -Wall -Wextra -Werror -fsyntax-only "$work/box.c" \
	>"$work/stdout" 2>"$work/stderr" && grep -q 'struct check' "$work/box.c"
report documented_check $?

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
