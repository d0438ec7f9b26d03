/* SPDX-License-Identifier: MIT */
/*
 * As mm/swap.c of Linux 3.17, functions of the same names, and as its patch of September 2014 ("mm, memcg: Do
 * not kill release batching in free_pages_and_swap_cache") has them.
 */
#include "mm/charge/release.h"

#include "mm/charge/charge.h"

const struct release_batch release_batches[] = {
    [POLICY_RELEASE_BATCH_GATHER] = {.free_pages = RELEASE_ALL, .lru_pages = PAGEVEC_SIZE},
    [POLICY_RELEASE_BATCH_GATHER_UNCHUNKED] = {.free_pages = RELEASE_ALL, .lru_pages = RELEASE_ALL},
    [POLICY_RELEASE_BATCH_PAGEVEC] = {.free_pages = PAGEVEC_SIZE, .lru_pages = PAGEVEC_SIZE},
};

/* One run: pages whose last reference this was are off the LRU and in `unused`. */
static void release_lru_pages(struct frames *frames, struct page **pages, unsigned count, struct list *unused)
{
	struct lru_run run;

	lru_run_begin(&run, frames->lru);
	for (unsigned i = 0; i < count; i++) {
		if (!page_put_test(pages[i]))
			continue;
		if (page_has_flag(pages[i], PG_lru))
			lru_del(&run, pages[i]);
		list_add(unused, &pages[i]->lru);
	}
	lru_run_end(&run);
}

static void free_hot_cold_page_list(struct frames *frames, struct list *pages)
{
	for (struct list *link = pages->next, *next; link != pages; link = next) {
		next = link->next;
		frame_give_back(frames, container_of(link, struct page, lru));
	}
}

void release_pages(struct frames *frames, struct page **pages, unsigned count)
{
	unsigned run = frames->groups->release->lru_pages;
	struct list unused;

	list_init(&unused);
	while (count) {
		unsigned now = count < run ? count : run;

		release_lru_pages(frames, pages, now, &unused);
		pages += now;
		count -= now;
	}
	mem_cgroup_uncharge_list(&unused);
	free_hot_cold_page_list(frames, &unused);
}

unsigned release_pages_batch(const struct frames *frames)
{
	return frames->groups->release->free_pages;
}
