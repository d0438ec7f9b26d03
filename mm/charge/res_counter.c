/* SPDX-License-Identifier: MIT */
/*
 * The choice `res_counter`, as Linux had it from 2.6.25 to 3.18 (kernel/res_counter.c, functions of the same
 * names): each level has a spinlock, and a charge takes those of its counter and of all above, one after the
 * other.
 */
#include <errno.h>

#include "mm/charge/counter.h"
#include "port/panic.h"

static bool res_counter_charge_locked(struct counter *counter, uint64_t pages)
{
	uint64_t usage = atomic_load_explicit(&counter->usage, memory_order_relaxed) + pages;

	if (usage > atomic_load_explicit(&counter->limit, memory_order_relaxed)) {
		atomic_store_explicit(&counter->failures,
				      atomic_load_explicit(&counter->failures, memory_order_relaxed) + 1,
				      memory_order_relaxed);
		return false;
	}
	atomic_store_explicit(&counter->usage, usage, memory_order_relaxed);
	if (usage > atomic_load_explicit(&counter->watermark, memory_order_relaxed))
		atomic_store_explicit(&counter->watermark, usage, memory_order_relaxed);
	return true;
}

static void res_counter_uncharge_locked(struct counter *counter, uint64_t pages)
{
	uint64_t usage = atomic_load_explicit(&counter->usage, memory_order_relaxed);

	invariant(usage >= pages);
	atomic_store_explicit(&counter->usage, usage - pages, memory_order_relaxed);
}

static void res_counter_uncharge_until(struct counter *counter, struct counter *top, uint64_t pages)
{
	for (; counter != top; counter = counter->parent) {
		spin_lock(&counter->lock);
		res_counter_uncharge_locked(counter, pages);
		spin_unlock(&counter->lock);
	}
}

static void res_counter_uncharge(struct counter *counter, uint64_t pages)
{
	res_counter_uncharge_until(counter, NULL, pages);
}

static struct counter *res_counter_charge(struct counter *counter, uint64_t pages)
{
	for (struct counter *c = counter; c; c = c->parent) {
		bool charged;

		spin_lock(&c->lock);
		charged = res_counter_charge_locked(c, pages);
		spin_unlock(&c->lock);
		if (!charged) {
			res_counter_uncharge_until(counter, c, pages);
			return c;
		}
	}
	return NULL;
}

static uint64_t res_counter_read(struct counter *counter)
{
	uint64_t usage;

	spin_lock(&counter->lock);
	usage = atomic_load_explicit(&counter->usage, memory_order_relaxed);
	spin_unlock(&counter->lock);
	return usage;
}

static int res_counter_set_limit(struct counter *counter, uint64_t pages)
{
	int error = -EBUSY;

	spin_lock(&counter->lock);
	if (atomic_load_explicit(&counter->usage, memory_order_relaxed) <= pages) {
		atomic_store_explicit(&counter->limit, pages, memory_order_relaxed);
		error = 0;
	}
	spin_unlock(&counter->lock);
	return error;
}

const struct counter_ops res_counter_ops = {
    .try_charge = res_counter_charge,
    .uncharge = res_counter_uncharge,
    .read = res_counter_read,
    .set_limit = res_counter_set_limit,
};
