#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/group_release.sh SOFTFAULT: what the group-release experiment must show on simulated machines, all of
# it in virtual time, the same on every computer; and that no control group is left behind by the linux engine.
# Prints "ok NAME" or "not ok NAME" for each check, and at the end "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

# Published: 11.5 million a second, and 91.3 % of it with the root charged.
check rates_of_160_CPUs group-release --variant exempt,gather_unchunked --cpus 160 <<'PYTHON'
exempt, charged = rate("exempt", 160), rate("gather_unchunked", 160)
assert 11.5e6 / 2 <= exempt <= 11.5e6 * 2, exempt
assert abs(charged / exempt - 10.5 / 11.5) <= 0.08, charged / exempt
PYTHON

# Published: 80.18 % in the spinlock, 66.59 % of it uncharging, 90.12 % of that in mid-unmap. Of the first ours
# is 14 points off, docs/FIDELITY.md says why.
check pagevec_collapses group-release --variant pagevec --cpus 10,160 --profile <<'PYTHON'
assert rate("pagevec", 160) < 1.5 * rate("pagevec", 10), (rate("pagevec", 160), rate("pagevec", 10))
lock = share("_raw_spin_lock")
assert 72 <= lock <= 96, lock
uncharging = share("_raw_spin_lock", "res_counter_uncharge_until")
assert abs(uncharging - 66.59) <= 8, uncharging
middle = share("res_counter_uncharge_until", "unmap_single_vma")
end = share("res_counter_uncharge_until", "tlb_finish_mmu")
assert abs(middle - 90.12) <= 5 and abs(middle + end - 100) < 1, (middle, end)
PYTHON

# Refills of the stocks and of the depots of frames are all that still meets, and each only its like.
check default_scales_to_256_CPUs group-release --variant default --machine uv --cpus 1,256 --faults 300 --lines --conflicts <<'PYTHON'
one, many = rate("default", 1), rate("default", 256)
assert many >= 0.9 * 256 * one, many / one
conflicts = {(met["operation"], met["with"]) for met in row["default", 256]["conflicts"]}
assert conflicts == {("charge refill", "charge refill"), ("frame refill", "frame refill")}, conflicts
written = {line["name"].split(".")[0] for line in row["default", 256]["lines"] if line["writers"]}
assert written == {"struct stock_depot", "struct sf_group", "struct frame_depot"}, written
PYTHON

groups() {
	find /sys/fs/cgroup -name 'softfault-*' 2>/dev/null | wc -l
}

# Either it runs in groups of its own, or one line says why not.
for group in one each deep; do
	"$softfault" run group-release --engine linux --variant default --cpus 2 --reps 1 --faults 32768 \
		--group $group >"$work/stdout" 2>"$work/stderr"
	if [ $? = 0 ]; then
		grep -q "^running kernel .* 2 " "$work/stdout"
	else
		[ "$(wc -l <"$work/stderr")" = 1 ] && grep -q "no control group that counts memory can be made: " "$work/stderr"
	fi
	report "linux_group_$group" $?
done

# Whoever is interrupted leaves none behind, however hard.
for signal in TERM KILL; do
	setsid "$softfault" run group-release --engine linux --variant default --cpus 2 --reps 100 --faults 32768 \
		--group each >"$work/stdout" 2>"$work/stderr" &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(groups)" -lt 2 ] && kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	kill -$signal $pid 2>/dev/null
	wait $pid 2>/dev/null
	for ((i = 0; i < 100; i++)); do
		[ "$(groups)" = 0 ] && break
		sleep 0.1
	done
	[ "$(groups)" = 0 ]
	report "no_group_is_left_after_$signal" $?
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
