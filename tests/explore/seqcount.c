/* SPDX-License-Identifier: MIT */
/*
 * sync/seqcount.h: who reads while another writes sees both fields of one moment.
 */
#include "sync/seqcount.h"

#include <stddef.h>

#include "tests/explore/fixture.h"

#define WRITES 2u

static struct seqcount count;
static _Atomic uint64_t low, high;
static uint64_t seen;

static int setup(struct message *why)
{
	(void)why;
	seqcount_init(&count);
	atomic_init(&low, 0);
	atomic_init(&high, 0);
	seen = 0;
	return 0;
}

static void write_both(void)
{
	for (uint64_t i = 1; i <= WRITES; i++) {
		seqcount_write_begin(&count);
		atomic_store_explicit(&low, i, memory_order_relaxed);
		atomic_store_explicit(&high, i, memory_order_relaxed);
		seqcount_write_end(&count);
	}
}

static void read_both(void)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t first, second;
		uint32_t sequence;

		do {
			sequence = seqcount_read_begin(&count);
			first = atomic_load_explicit(&low, memory_order_relaxed);
			second = atomic_load_explicit(&high, memory_order_relaxed);
		} while (seqcount_read_retry(&count, sequence));
		check_equal(first, second);
		check_that(first >= seen);
		seen = first;
	}
}

static bool holds(struct message *why)
{
	return fixture_equal("the last value", atomic_load(&low), WRITES, why) &&
	       fixture_equal("the sequence", atomic_load(&count.sequence), 2 * WRITES, why);
}

static void teardown(void)
{
}

const struct check seqcount_check = {
    .name = "seqcount",
    .summary = "a reader of two fields against their writer",
    .setup = setup,
    .body = {write_both, read_both},
    .holds = holds,
    .teardown = teardown,
};
