/* SPDX-License-Identifier: MIT */
/*
 * Counters of each CPU's own (sync/percpu.h, sync/retired.h): nothing that is counted gets lost, and a sum
 * that is made meanwhile lies between what was and what will be.
 */
#include <errno.h>
#include <stddef.h>

#include "sync/percpu.h"
#include "sync/retired.h"
#include "tests/explore/fixture.h"

#define ADDS 3

static struct percpu counts; /* of struct retired_count */

static int setup(struct message *why)
{
	return percpu_alloc(&counts, sizeof(struct retired_count), "struct retired_count")
		   ? message_set(why, -ENOMEM, "no memory")
		   : 0;
}

static void teardown(void)
{
	percpu_free(&counts);
}

static void sum(int64_t *bytes, int64_t *peak)
{
	*bytes = *peak = 0;
	for (unsigned cpu = 0; cpu < check_cpus(); cpu++)
		retired_sum(percpu_of(&counts, cpu), bytes, peak);
}

static void add(void)
{
	for (int i = 0; i < ADDS; i++)
		retired_change(percpu_this(&counts), 2);
	retired_change(percpu_this(&counts), -1);
}

static void look(void)
{
	int64_t bytes, peak, last = 0;

	for (unsigned i = 0; i < 2; i++) {
		sum(&bytes, &peak);
		check_that(bytes >= 0 && bytes <= 4 * ADDS && peak >= bytes && peak >= last);
		last = peak;
	}
}

static bool holds(struct message *why)
{
	int64_t bytes, peak;

	sum(&bytes, &peak);
	return fixture_equal("the sum", (uint64_t)bytes, 2 * (2 * ADDS - 1), why) &&
	       fixture_equal("the sum of peaks", (uint64_t)peak, 4 * ADDS, why);
}

const struct check counters_check = {
    .name = "counters",
    .summary = "counters of two CPUs against who sums them up",
    .setup = setup,
    .body = {add, add, look},
    .holds = holds,
    .teardown = teardown,
};
