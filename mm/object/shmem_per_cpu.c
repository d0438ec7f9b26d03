/* SPDX-License-Identifier: MIT */
/*
 * The choice `per_cpu`: the page first, then its place. Without a limit nothing is counted: the pages of an
 * object are those that its index has, and a fault writes to no line but its page's and its slot's.
 *
 * With a limit each CPU has a stock of pages that it has reserved, and takes a batch when that is empty,
 * under shmem_limit_lock. When there is nothing left to reserve, it takes from the other stocks. Pages come
 * into stocks under the lock only, so who finds all of them empty knows that the limit is reached.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/object/shmem.h"
#include "port/cpu.h"
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

/* Takes up to `wanted` pages from `pages`. Returns how many. */
static uint64_t take(_Atomic uint64_t *pages, uint64_t wanted)
{
	uint64_t there = atomic_load_explicit(pages, memory_order_relaxed), taken;

	do {
		taken = there < wanted ? there : wanted;
		if (!taken)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(pages, &there, there - taken, memory_order_relaxed,
							memory_order_relaxed));
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

static int add_page(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
		    bool *fresh)
{
	struct page_index *tree = &shmem->cache.index;
	struct page *made = cache_alloc_page(&shmem->cache, index, charge);
	int error;

	if (!made)
		return -ENOMEM;
	error = reserve(shmem) ? 0 : -ENOSPC;
	if (!error) {
		error = cache_add_page(&shmem->cache, made, index, page);
		if (!error) {
			*page = made;
			*fresh = true;
			return 0;
		}
		uncount(shmem, 1);
	} else if ((*page = page_index_find(tree, index))) {
		error = 0; /* the last page that was allowed is the one that is wanted */
	}
	page_put(shmem->cache.objects->frames, made);
	return error == -EEXIST ? 0 : error;
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
