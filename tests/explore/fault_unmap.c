/* SPDX-License-Identifier: MIT */
/*
 * A write to private memory while another CPU unmaps it:
 *
 *   the tree   [A A]      CPU 0 writes to the first A, CPU 1 unmaps both
 *
 * Whichever comes first, nothing is mapped afterwards, and no frame is lost. More CPUs do the same.
 */
#include "tests/explore/fixture.h"

#include <errno.h>
#include <stddef.h>

#include "port/cpu.h"

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	/* So that the fault needs no lock for the VMA's identity. */
	check_that(!sf_touch(fixture.space, AT + PAGE, SF_WRITE, NULL));
	return 0;
}

static void fault(void)
{
	fixture.result[port_cpu()] = sf_touch(fixture.space, AT, SF_WRITE, NULL);
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
	check_that(!system_pte(fixture.space, AT));
}

static bool holds(struct message *why)
{
	for (unsigned cpu = 0; cpu < check_cpus(); cpu += 2)
		if (fixture.result[cpu] && fixture.result[cpu] != -EFAULT)
			return fixture_equal("what the write returned",
					     (uint64_t)(int64_t)fixture.result[cpu], (uint64_t)-EFAULT, why);
	return fixture_equal("the entry", system_pte(fixture.space, AT), 0, why) && fixture_good(why);
}

const struct check fault_unmap_check = {
    .name = "fault-unmap",
    .summary = "a write fault on private memory against an unmap of it",
    .setup = setup,
    .body = {fault, unmap},
    .cpus_max = CHECK_CPUS_MAX,
    .holds = holds,
    .teardown = fixture_close,
    .variants = variants_pairwise,
};
