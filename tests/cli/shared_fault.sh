#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/shared_fault.sh SOFTFAULT: what the shared-fault experiment must show on simulated machines. All of it
# is virtual time, the same on every computer. Prints "ok NAME" or "not ok NAME" for each check, and at the end
# "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

# Published: about 20, 12 and 10.5 s.
check the_three_published_times shared-fault --variant inside,before,ramfs <<'PYTHON'
inside, before, ramfs = (row[variant, 64]["extrapolated_seconds"] for variant in ("inside", "before", "ramfs"))
for ours, published in (inside, 20), (before, 12), (ramfs, 10.5):
    assert 0.8 <= ours / published <= 1.2, (ours, published)
assert 1.5 <= inside / before <= 2.0, (inside, before)
assert ramfs <= 0.97 * before, (ramfs, before)
PYTHON

check takes_of_the_objects_lock shared-fault --variant inside,before,default --locks <<'PYTHON'
for variant, takes in ("inside", 2), ("before", 1), ("default", 0):
    assert lock(variant, 64, "shmem_inode_info.lock") == takes, (variant, lock(variant, 64, "shmem_inode_info.lock"))
assert lock("inside", 64, "tree_lock") == lock("before", 64, "tree_lock") == 1
assert lock("default", 64, "tree_lock") == 0
PYTHON

# "100% CPUs time are trying to get the lock"
check all_time_is_for_the_objects_lock shared-fault --variant inside --profile --locks <<'PYTHON'
one = row["inside", 64]
share = next(symbol["self"] for symbol in one["profile"] if symbol["symbol"] == "ticket_wait")
assert share > 85, share
waits = {lock["name"]: lock["wait_ns"] for lock in one["locks"]}
assert waits["shmem_inode_info.lock"] > 0.95 * sum(waits.values()), waits
PYTHON

# "even shmem is lockless, the pagefault will soon have pagecache lock heavily contented"
check without_it_the_lock_of_the_page_cache_is_next shared-fault --variant per_cpu --locks <<'PYTHON'
waits = {lock["name"]: lock["wait_ns"] for lock in row["per_cpu", 64]["locks"]}
assert waits["tree_lock"] == max(waits.values()), waits
assert waits["tree_lock"] > 0.5 * row["per_cpu", 64]["ns_per_op"] * row["per_cpu", 64]["operations"], waits
PYTHON

# Faults of slices of one object meet where they take batches of fresh frames, and nowhere else.
check few_transfers_on_64_CPUs shared-fault --variant default <<'PYTHON'
assert row["default", 64]["transfers_per_op"] <= 0.02, row["default", 64]["transfers_per_op"]
PYTHON
no_conflicts() {
	run run shared-fault --variant default --conflicts
	[ "$status" = 0 ] && [ ! -s "$work/stderr" ] && grep -q "^Conflicts between operations" "$work/stdout" &&
		! sed '1,/^Conflicts between operations/d' "$work/stdout" | grep -v "^operation " |
			grep -qv "^frame refill  frame refill  .*struct frame_depot\.fresh$"
	report "$1" $?
}
no_conflicts no_conflicts_on_64_CPUs

# The same where slices are 2 MiB, which is what one page table maps.
mkdir "$work/share"
cp -r experiments machines "$work/share"
sed -i -e 's/published: 65536/published: 512/' -e 's/simulated: 512/simulated: 448/' "$work/share/experiments/shared-fault.yaml"
export SOFTFAULT_PATH=$work/share
no_conflicts no_conflicts_in_neighbouring_2_MiB
unset SOFTFAULT_PATH

# A socket of uv has 8 cores and clears 11 GB/s.
check scales_to_256_CPUs shared-fault --variant default --machine uv --cpus 1,256 <<'PYTHON'
one, many = (row["default", cpus]["ops_per_second"] for cpus in (1, 256))
bound = min(256 * one, 256 / 8 * 11e9 / 4096)
assert many >= 0.95 * bound, (one, many, bound)
PYTHON

for backing in anon file; do
	check "all_may_touch_the_same_pages_$backing" shared-fault --cpus 1,64 --layout same --backing "$backing" <<'PYTHON'
assert all(one["seconds"] > 0 for one in row.values())
PYTHON
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
