/* SPDX-License-Identifier: MIT */
/*
 * The choice `per_cpu`: the page first, then its place. Without a limit nothing is counted: the pages of an
 * object are those that its index has, and a fault writes to no line but its page's and its slot's.
 *
 * With a limit each CPU has a stock of pages that it has reserved, and takes a batch when that is empty,
 * under shmem_limit_lock. When there is nothing left to reserve, it takes from the other stocks. Pages come
 * into stocks under the lock only, so who finds all of them empty knows that the limit is reached; only the
 * page that it wants may be about to come, from a CPU that has reserved it a moment ago. So it waits for
 * those, looks, and tries again if there were any.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/object/shmem.h"
#include "port/cpu.h"
#include "port/spin.h"
#include "port/trace.h"

#define STOCK_PAGES 32u

static const char refill_scope[] = "shmem limit refill";

static bool limited(const struct shmem *shmem)
{
	return shmem->limit != UINT64_MAX;
}

static int create(struct shmem *shmem)
{
	if (!limited(shmem))
		return 0;
	spin_lock_init(&shmem->lock, LOCK_RANK_SHMEM_LIMIT);
	atomic_init(&shmem->unreserved, shmem->limit);
	return percpu_alloc(&shmem->stock, sizeof(struct shmem_stock), "struct shmem_stock");
}

static void destroy(struct shmem *shmem)
{
	percpu_free(&shmem->stock);
}

/* Takes up to `wanted` pages from `pages`. Returns how many. Who finds too few sees that the taker is
 * `adding`. */
static uint64_t take(_Atomic uint64_t *pages, uint64_t wanted)
{
	uint64_t there = atomic_load_explicit(pages, memory_order_acquire), taken;

	do {
		taken = there < wanted ? there : wanted;
		if (!taken)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(pages, &there, there - taken, memory_order_acq_rel,
							memory_order_acquire));
	return taken;
}

static void give(_Atomic uint64_t *pages, uint64_t count)
{
	if (count)
		atomic_fetch_add_explicit(pages, count, memory_order_relaxed);
}

/* A page for the caller, and a batch for its stock. */
static bool refill_locked(struct shmem *shmem, struct shmem_stock *own)
{
	uint64_t taken = take(&shmem->unreserved, STOCK_PAGES);

	for (unsigned cpu = 0; !taken && cpu < port_cpu_count(); cpu++) {
		struct shmem_stock *other = percpu_of(&shmem->stock, cpu);

		taken = take(&other->pages, 1);
	}
	if (!taken)
		return false;
	give(&own->pages, taken - 1);
	return true;
}

static bool reserve(struct shmem *shmem)
{
	struct shmem_stock *own;
	bool reserved;

	if (!limited(shmem))
		return true;
	own = percpu_this(&shmem->stock);
	if (take(&own->pages, 1))
		return true;
	port_scope_begin(refill_scope);
	spin_lock(&shmem->lock);
	reserved = refill_locked(shmem, own);
	spin_unlock(&shmem->lock);
	port_scope_end();
	return reserved;
}

static void uncount(struct shmem *shmem, uint64_t pages)
{
	if (limited(shmem))
		give(&shmem->unreserved, pages);
}

/* Around a reservation and the page's coming into the index, so that who finds no page left can wait for
 * that. */
static void adding(struct shmem *shmem, uint64_t yes)
{
	struct shmem_stock *own;

	if (!limited(shmem))
		return;
	own = percpu_this(&shmem->stock);
	atomic_store_explicit(&own->adding, yes, memory_order_seq_cst);
}

/* Waits for who may hold the last pages that are allowed. Returns whether there was anybody. */
static bool wait_for_others(struct shmem *shmem)
{
	bool waited = false;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct shmem_stock *other = percpu_of(&shmem->stock, cpu);

		if (atomic_load_explicit(&other->adding, memory_order_seq_cst)) {
			port_spin_until_u64(&other->adding, 1, 0);
			waited = true;
		}
	}
	return waited;
}

/*
 * Returns 0, or as cache_look(); -ENOSPC at the limit: then the page was not there, nor about to be, when all
 * was reserved.
 */
static int reserve_or_find(struct shmem *shmem, uint64_t index, struct page **page)
{
	for (;;) {
		bool waited;
		int error;

		adding(shmem, 1);
		if (reserve(shmem))
			return 0;
		adding(shmem, 0);
		waited = wait_for_others(shmem);
		error = cache_look(&shmem->cache, index, page);
		if (error)
			return error;
		if (!waited)
			return -ENOSPC;
	}
}

static int add_page(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
		    bool *fresh)
{
	struct page *made = cache_alloc_page(&shmem->cache, index, charge);
	int error;

	if (!made)
		return -ENOMEM;
	error = reserve_or_find(shmem, index, page);
	if (!error) {
		error = cache_add_page(&shmem->cache, made, index, page);
		if (error)
			uncount(shmem, 1);
		adding(shmem, 0);
	}
	if (error) {
		page_put(shmem->cache.objects->frames, made);
		return error == -EEXIST ? 0 : error;
	}
	*page = made;
	*fresh = true;
	return 0;
}

static int check(const struct shmem *shmem, uint64_t pages, struct message *why)
{
	uint64_t free = atomic_load(&shmem->unreserved);

	if (!limited(shmem))
		return 0;
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct shmem_stock *stock = percpu_of(&shmem->stock, cpu);

		free += atomic_load(&stock->pages);
	}
	if (free + pages != shmem->limit)
		return message_set(why, -EINVAL,
				   "an object of at most %" PRIu64 " pages has %" PRIu64
				   " and allows %" PRIu64 " more",
				   shmem->limit, pages, free);
	return 0;
}

const struct shmem_ops shmem_per_cpu_ops = {
    .create = create,
    .destroy = destroy,
    .add_page = add_page,
    .uncount = uncount,
    .check = check,
};
