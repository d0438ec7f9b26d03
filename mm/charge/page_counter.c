/* SPDX-License-Identifier: MIT */
/*
 * The choice `page_counter`, as Linux has it since 3.19 (mm/page_counter.c, functions of the same names), but
 * that what is plainly too much is refused before it is added.
 *
 * A charge adds, then reads the limit; who lowers the limit stores it, then reads the usage; all four are
 * sequentially consistent. So either the charge sees the new limit, or the one who lowers it sees the charge.
 */
#include <errno.h>

#include "mm/charge/counter.h"
#include "port/panic.h"

static void page_counter_cancel(struct counter *counter, uint64_t pages)
{
	uint64_t old = atomic_fetch_sub_explicit(&counter->usage, pages, memory_order_seq_cst);

	invariant(old >= pages);
}

static void raise_watermark(struct counter *counter, uint64_t usage)
{
	uint64_t most = atomic_load_explicit(&counter->watermark, memory_order_relaxed);

	while (usage > most &&
	       !atomic_compare_exchange_weak_explicit(&counter->watermark, &most, usage, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

static void page_counter_uncharge(struct counter *counter, uint64_t pages)
{
	for (; counter; counter = counter->parent)
		page_counter_cancel(counter, pages);
}

/*
 * Adds to one counter, unless that is too much for its limit. Where there is a limit the usage is read first:
 * what is plainly too much must not be added even for a moment, since others would be refused for it. Many
 * CPUs that try to charge ahead near a limit would leave no room for those who want one page.
 */
static bool page_counter_add(struct counter *counter, uint64_t pages)
{
	uint64_t limit = atomic_load_explicit(&counter->limit, memory_order_relaxed);
	uint64_t usage;

	if (limit != COUNTER_UNLIMITED &&
	    (pages > limit || atomic_load_explicit(&counter->usage, memory_order_relaxed) > limit - pages))
		return false;
	usage = atomic_fetch_add_explicit(&counter->usage, pages, memory_order_seq_cst) + pages;
	if (unlikely(usage > atomic_load_explicit(&counter->limit, memory_order_seq_cst))) {
		page_counter_cancel(counter, pages);
		return false;
	}
	raise_watermark(counter, usage);
	return true;
}

static struct counter *page_counter_try_charge(struct counter *counter, uint64_t pages)
{
	for (struct counter *c = counter; c; c = c->parent) {
		if (likely(page_counter_add(c, pages)))
			continue;
		atomic_fetch_add_explicit(&c->failures, 1, memory_order_relaxed);
		for (struct counter *charged = counter; charged != c; charged = charged->parent)
			page_counter_cancel(charged, pages);
		return c;
	}
	return NULL;
}

static uint64_t page_counter_read(struct counter *counter)
{
	return atomic_load_explicit(&counter->usage, memory_order_seq_cst);
}

/* A limit that is plainly too low is never shown, since charges would be refused for it. */
static int page_counter_set_limit(struct counter *counter, uint64_t pages)
{
	uint64_t old = atomic_load_explicit(&counter->limit, memory_order_relaxed);

	if (page_counter_read(counter) > pages)
		return -EBUSY;
	atomic_store_explicit(&counter->limit, pages, memory_order_seq_cst);
	if (pages >= old || page_counter_read(counter) <= pages)
		return 0;
	atomic_store_explicit(&counter->limit, old, memory_order_seq_cst);
	return -EBUSY;
}

const struct counter_ops page_counter_ops = {
    .try_charge = page_counter_try_charge,
    .uncharge = page_counter_uncharge,
    .read = page_counter_read,
    .set_limit = page_counter_set_limit,
};
