/* SPDX-License-Identifier: MIT */
/*
 * A ticket lock whose unlock stores without release order: nothing orders what two holders do, one after the
 * other. On x86 nobody ever notices; the compiler, or another processor, may.
 */
#include <stddef.h>

#include "sync/ticket.h"
#include "tests/explore/fixture.h"

static struct ticket ticket;
static uint64_t counted; /* protected by the ticket */

static int setup(struct message *why)
{
	(void)why;
	ticket_init(&ticket);
	counted = 0;
	return 0;
}

static void unlock(void)
{
	uint16_t next = (uint16_t)(atomic_load_explicit(&ticket.owner, memory_order_relaxed) + 1);

	atomic_store_explicit(&ticket.owner, next, memory_order_relaxed); /* planted: no release */
}

static void count(void)
{
	ticket_lock(&ticket);
	counted++;
	unlock();
}

static bool holds(struct message *why)
{
	return fixture_equal("what was counted", counted, 2, why);
}

static void teardown(void)
{
}

const struct check planted_no_release_check = {
    .name = "planted-no-release",
    .summary = "an unlock without release order; right: spinlock",
    .setup = setup,
    .body = {count, count},
    .holds = holds,
    .teardown = teardown,
    .planted_kind = "data race",
    .planted_mark = "planted: no release",
};
