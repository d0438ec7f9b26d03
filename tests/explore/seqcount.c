/* SPDX-License-Identifier: MIT */
/*
 * sync/seqcount.h: who reads while another writes sees both fields of one moment, and what the writer made
 * before that.
 */
#include "sync/seqcount.h"

#include <stddef.h>

#include "tests/explore/fixture.h"

#define WRITES 2u

/* Plain: only the sequence orders who makes one and who reads it. */
struct made {
	uint64_t value;
};

static struct seqcount count;
static _Atomic uint64_t low, high;
static struct made made[WRITES + 1];
static struct made *_Atomic newest;
static uint64_t seen;

static int setup(struct message *why)
{
	(void)why;
	seqcount_init(&count);
	atomic_init(&low, 0);
	atomic_init(&high, 0);
	made[0].value = 0;
	atomic_init(&newest, &made[0]);
	seen = 0;
	return 0;
}

static void write_both(void)
{
	for (uint64_t i = 1; i <= WRITES; i++) {
		seqcount_write_begin(&count);
		atomic_store_explicit(&low, i, memory_order_relaxed);
		atomic_store_explicit(&high, i, memory_order_relaxed);
		made[i].value = i;
		atomic_store_explicit(&newest, &made[i], memory_order_relaxed);
		seqcount_write_end(&count);
	}
}

static void read_both(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct made *object;
		uint64_t first, second;
		uint32_t sequence;

		do {
			sequence = seqcount_read_begin(&count);
			first = atomic_load_explicit(&low, memory_order_relaxed);
			second = atomic_load_explicit(&high, memory_order_relaxed);
			object = atomic_load_explicit(&newest, memory_order_relaxed);
		} while (seqcount_read_retry(&count, sequence));
		check_equal(first, second);
		check_equal(object->value, first);
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
    .summary = "a reader of two fields and an object against their writer",
    .setup = setup,
    .body = {write_both, read_both},
    .holds = holds,
    .teardown = teardown,
};
