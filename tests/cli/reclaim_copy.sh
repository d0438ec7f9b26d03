#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/reclaim_copy.sh SOFTFAULT: what reclaim-copy and over-commit must show on simulated machines, all of it
# in virtual time, the same on every computer; and that the linux engine leaves no control group behind. Prints
# "ok NAME" or "not ok NAME" for each check, and at the end "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

# Published: 22.8 and 22.1 % of the time in page_referenced_one; of the reverse map's time it is the larger part.
check page_referenced_one_is_hot reclaim-copy --variant wait,try --profile <<'PYTHON'
for variant in "wait", "try":
    assert share("page_referenced_one", variant=variant) > 5, share("page_referenced_one", variant=variant)
    part = share("the reverse map", "page_referenced_one", variant)
    assert 40 <= part <= 70, part
    assert measured(variant, 4, "scanned for each") < 3
assert measured("wait", 4, "of them passed over") == 0
assert measured("try", 4, "of them passed over") > 0
PYTHON

"$softfault" run reclaim-copy --variant wait,try --reps 20 --json "$work/noise.json" >/dev/null 2>&1
run compare "$work/noise.json" --variant wait,try
[ "$status" = 0 ] && grep -q "^wait -> try .*within noise ([0-2]\.[0-9]* % would have shown)" "$work/stdout"
report trying_is_within_noise $?

# Where another CPU faults in the space that is scanned, all the time, it is not.
"$softfault" run reclaim-copy --machine nehalem-ex-64 --variant wait,try --cpus 2 --faulters storm --mappings 8 \
	--faults 256 --reps 6 --json "$work/storm.json" >/dev/null 2>&1
run compare "$work/storm.json" --variant wait,try
[ "$status" = 0 ] && grep -q "^wait -> try .*faster by " "$work/stdout"
report trying_pays_where_another_faults $?

check near_exact_lru over-commit --variant uniform,zipf --cpus 1,8 <<'PYTHON'
for variant, cpus in row:
    hits = measured(variant, cpus, "touches that found")
    ideal = [one["value"] for one in row[variant, cpus]["measured"] if one["name"] == "the same with exact LRU"][0]
    assert hits > ideal - 10, (variant, cpus, hits, ideal)
PYTHON

# Functions stand in the order of their ticks, and the published verdict is ours.
run reproduce reclaim-copy --report "$work/report.html" --json "$work/reproduce.json"
[ "$status" = 0 ] && grep -q "^wait +4 +109964 +[0-9]+ +page_referenced_one" -E "$work/stdout" &&
	awk '$1 == "wait" && $3 ~ /^[0-9]+$/ && NF >= 5 && $5 !~ /^[0-9.]/ {print $3}' "$work/stdout" | sort -c -rn &&
	grep -Eq "^try +wait +4 .* within noise +within noise " "$work/stdout"
report reproduces_ticks_and_verdict $?
python3 - "$work/reproduce.json" "$work/stdout" >"$work/stderr" 2>&1 <<'PYTHON'
import json, sys
rows = [line.split() for line in open(sys.argv[2])]
figures = [(result, figure) for result in json.load(open(sys.argv[1]))["experiments"][0]["results"]
           for figure in result["published"]]
assert len([1 for _, figure in figures if figure["ticks"]]) == 10
for result, figure in figures:
    if not figure["ticks"]:
        assert figure["ticks"] is None and figure["our_ticks"] is None
        continue
    row = [result["variant"], str(result["cpus"]), str(figure["ticks"]), f"{figure['our_ticks']:.0f}"]
    assert any(one[:4] == row for one in rows), row
    if not figure["caller"]:
        assert abs(figure["our_ticks"] / figure["ticks"] / (figure["ours"] / figure["value"]) - 1) < 0.01, figure
PYTHON
report ticks_in_json $?

accepts bytes "^wait +4 " run reclaim-copy --variant wait --bytes 1048576
refuses bytes_elsewhere "--bytes: only reclaim-copy copies a file; --faults is for all" run whole --bytes 1048576
refuses bytes_and_faults "--bytes: --faults says how much is done already" \
	run reclaim-copy --bytes 1048576 --faults 5

"$softfault" run reclaim-copy --engine linux --variant wait --cpus 1 --reps 1 --faults 4096 \
	>"$work/stdout" 2>"$work/stderr"
if [ $? = 0 ]; then
	grep -q "^running kernel .* 1 " "$work/stdout"
else
	[ "$(wc -l <"$work/stderr")" = 1 ] && grep -q "a control group with a limit cannot be made: " "$work/stderr"
fi
report linux $?
[ "$(find /sys/fs/cgroup -name 'softfault-*' 2>/dev/null | wc -l)" = 0 ]
report no_group_is_left $?

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
