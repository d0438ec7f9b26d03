#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/cli/anon_fault.sh SOFTFAULT: what the anon-fault experiment must show on simulated machines. All of it
# is virtual time, the same on every computer. Prints "ok NAME" or "not ok NAME" for each check, and at the end
# "N passed, N failed".
set -u
. "$(dirname "$0")/harness.bash"

# Published: 75.42 % in the semaphore's spinlock, 49.13 % of it taking and 46.92 % releasing the semaphore.
check the_spinlock_of_the_semaphore anon-fault --variant rwsem_spin --profile <<'PYTHON'
lock = share("_raw_spin_lock_irqsave", variant="rwsem_spin")
assert abs(lock - 75.42) <= 10, lock
taking = share("_raw_spin_lock_irqsave", "__down_read_trylock", variant="rwsem_spin")
releasing = share("_raw_spin_lock_irqsave", "__up_read", variant="rwsem_spin")
assert abs(taking - 50) <= 5 and abs(releasing - 50) <= 5, (taking, releasing)
PYTHON

# Published: 3.94 % on one VMA, 0.21 % on eight; 85 and 77 % of the zone lock's time by free_pcppages_bulk.
check the_reference_on_the_vma anon-fault --variant refcount,refcount_each --profile <<'PYTHON'
one, eight = share("find_vma_speculative", variant="refcount"), share("find_vma_speculative", variant="refcount_each")
assert one >= 8 * eight > 0, (one, eight)
for variant in "refcount", "refcount_each":
    assert share("_raw_spin_lock", "free_pcppages_bulk", variant=variant) > 50
PYTHON

for touch in write read; do
	check "no_conflicts_on_64_CPUs_$touch" anon-fault --variant default --machine uv --cpus 64 --touch "$touch" --conflicts <<'PYTHON'
one = row["default", 64]
assert one["conflicts_per_op"] == 0, one["conflicts_per_op"]
assert one["transfers_per_op"] <= 0.02, one["transfers_per_op"]
PYTHON
	grep -q "^Conflicts between operations: none" <("$softfault" run anon-fault --variant default --machine uv \
		--cpus 64 --touch "$touch" --conflicts)
	if [ $? = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "not ok conflicts_$touch"; fi

	# Every page is fresh, so page tables grow all the time. A socket of uv has 8 cores and clears 11 GB/s.
	check "scales_to_256_CPUs_$touch" anon-fault --variant default --machine uv --cpus 1,256 --touch "$touch" --give-back never \
		--pace apart <<PYTHON
one, many = (row["default", cpus]["ops_per_second"] for cpus in (1, 256))
bound = 256 * one
if "$touch" == "write":
    bound = min(bound, 256 / 8 * 11e9 / 4096)
assert many >= 0.95 * bound, (one, many, bound)
PYTHON
done

check unmap_pays_for_nothing anon-fault --variant default,rwsem_xadd --cpus 1 --give-back unmap <<'PYTHON'
assert row["default", 1]["ns_per_op"] <= row["rwsem_xadd", 1]["ns_per_op"]
PYTHON

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
