/* SPDX-License-Identifier: MIT */
/*
 * The choice `ramfs`: what a fault of a ramfs file does in Linux 2.6.35 (filemap_fault(), page_cache_read()):
 * the page is allocated, put into the index, and looked up once more. Nothing is counted, so nothing can be
 * limited.
 */
#include <errno.h>

#include "mm/object/shmem.h"

static int create(struct shmem *shmem)
{
	return shmem->limit == UINT64_MAX ? 0 : -EINVAL;
}

static void destroy(struct shmem *shmem)
{
	(void)shmem;
}

static int add_page(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
		    bool *fresh)
{
	struct page_index *tree = &shmem->cache.index;
	struct page *made = cache_alloc_page(&shmem->cache, index, charge);
	int error;

	if (!made)
		return -ENOMEM;
	error = cache_add_page(&shmem->cache, made, index, page);
	if (error) {
		page_put(shmem->cache.objects->frames, made);
		return error == -EEXIST ? 0 : error;
	}
	*page = made;
	*fresh = true;
	/* filemap_fault() starts over, to find what it has put there: a look that costs time and tells
	 * nothing. */
	(void)page_index_find(tree, index);
	return 0;
}

static void uncount(struct shmem *shmem, uint64_t pages)
{
	(void)shmem;
	(void)pages;
}

static int check(const struct shmem *shmem, uint64_t pages, struct message *why)
{
	(void)shmem;
	(void)pages;
	(void)why;
	return 0;
}

const struct shmem_ops shmem_ramfs_ops = {
    .create = create,
    .destroy = destroy,
    .add_page = add_page,
    .uncount = uncount,
    .check = check,
};
