/* SPDX-License-Identifier: MIT */
/*
 * The choice `inode_lock`: shmem_getpage() of Linux 2.6.35, in the order that seed 000 shows. One spinlock an
 * object protects how many pages it has and may have; and what a fault does between its takes decides how
 * often it is taken:
 *
 *   inside  lock, recalculate, look, take a block, unlock; allocate and charge; lock, look again, into the
 *           index, count, unlock
 *   before  allocate and charge; lock, recalculate, look, take a block, look again, into the index, count,
 *           unlock. Where the allocation fails, as `inside`.
 *
 * Where that kernel looks into its table of swapped pages, the index is looked into, which has their slots. A
 * limit stands for a mount's size=, whose own lock is left out: the memory behind MAP_SHARED | MAP_ANONYMOUS
 * has none.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/object/shmem.h"

static int create(struct shmem *shmem)
{
	spin_lock_init(&shmem->lock, LOCK_RANK_SHMEM);
	return 0;
}

static void destroy(struct shmem *shmem)
{
	(void)shmem;
}

/*
 * Without a limit blocks are neither counted nor written: a write under the lock takes its line from all who
 * wait. Returns false at the limit.
 */
static bool acct_block_locked(struct shmem *shmem)
{
	if (shmem->limit == UINT64_MAX)
		return true;
	if (shmem->blocks == shmem->limit)
		return false;
	shmem->blocks++;
	return true;
}

static void unacct_blocks_locked(struct shmem *shmem, uint64_t blocks)
{
	if (shmem->limit != UINT64_MAX)
		shmem->blocks -= blocks;
}

/* Pages that have left the index are still counted: what took them out does not know this lock. */
static void shmem_recalc_inode_locked(struct shmem *shmem)
{
	uint64_t present = atomic_load_explicit(&shmem->cache.index.count, memory_order_relaxed);

	if (shmem->alloced > present) {
		unacct_blocks_locked(shmem, shmem->alloced - present);
		shmem->alloced = present;
	}
}

/* The allocation between two takes. The lock is held before and after; not held after an error. */
static int alloc_unlocked(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page)
{
	spin_unlock(&shmem->lock);
	*page = cache_alloc_page(&shmem->cache, index, charge);
	if (!*page) {
		spin_lock(&shmem->lock);
		unacct_blocks_locked(shmem, 1);
		spin_unlock(&shmem->lock);
		return -ENOMEM;
	}
	spin_lock(&shmem->lock);
	return 0;
}

/* Uses up *fresh, or leaves it to be freed. */
static int shmem_getpage(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
			 struct page **fresh)
{
	int error;

	spin_lock(&shmem->lock);
	shmem_recalc_inode_locked(shmem);
	error = cache_look(&shmem->cache, index, page);
	if (error || !acct_block_locked(shmem)) {
		spin_unlock(&shmem->lock);
		return error ? error : -ENOSPC;
	}
	if (!*fresh) {
		error = alloc_unlocked(shmem, index, charge, fresh);
		if (error)
			return error;
	}
	error = cache_look(&shmem->cache, index, page);
	if (!error)
		error = cache_add_page(&shmem->cache, *fresh, index, page);
	if (error) {
		unacct_blocks_locked(shmem, 1);
	} else {
		*page = *fresh;
		*fresh = NULL;
		shmem->alloced++;
	}
	spin_unlock(&shmem->lock);
	return error;
}

static int add_page(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
		    bool *fresh, struct page *prealloc)
{
	int error = shmem_getpage(shmem, index, charge, page, &prealloc);

	*fresh = !error;
	if (prealloc)
		page_put(shmem->cache.objects->frames, prealloc);
	return error == -EEXIST ? 0 : error;
}

/* That this fails does not matter. */
static int add_page_before(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
			   bool *fresh)
{
	return add_page(shmem, index, charge, page, fresh, cache_alloc_page(&shmem->cache, index, charge));
}

static int add_page_inside(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
			   bool *fresh)
{
	return add_page(shmem, index, charge, page, fresh, NULL);
}

static void uncount(struct shmem *shmem, uint64_t pages)
{
	(void)pages;
	spin_lock(&shmem->lock);
	shmem_recalc_inode_locked(shmem);
	spin_unlock(&shmem->lock);
}

static int check(const struct shmem *shmem, uint64_t pages, struct message *why)
{
	uint64_t blocks = shmem->limit == UINT64_MAX ? 0 : pages;

	if (shmem->alloced != pages || shmem->blocks != blocks || pages > shmem->limit)
		return message_set(why, -EINVAL,
				   "an object of at most %" PRIu64 " pages counts %" PRIu64 " and %" PRIu64
				   " blocks, and has %" PRIu64,
				   shmem->limit, shmem->alloced, shmem->blocks, pages);
	return 0;
}

const struct shmem_ops shmem_lock_before_ops = {
    .counts_index = true,
    .create = create,
    .destroy = destroy,
    .add_page = add_page_before,
    .uncount = uncount,
    .check = check,
};

const struct shmem_ops shmem_lock_inside_ops = {
    .counts_index = true,
    .create = create,
    .destroy = destroy,
    .add_page = add_page_inside,
    .uncount = uncount,
    .check = check,
};
