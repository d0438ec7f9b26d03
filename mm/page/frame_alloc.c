/* SPDX-License-Identifier: MIT */
/*
 * Handing out frames and taking them back: what is the same for every frame cache.
 */
#include "mm/page/frames.h"

#include <string.h>

#include "mm/page/frame_cache.h"
#include "mm/page/frame_watch.h"
#include "mm/page/lru.h"
#include "port/lifetime.h"

#ifdef SYNC_DEBUG
/* No address, no small number, and as a PTE not present. */
#define POISON_BYTE 0x6a

/* What a freed frame holds, so that whoever goes on reading it is wrong visibly, and a write to it is found
 * when it is handed out again. */
static void poison(struct frames *frames, struct page *page)
{
	if (frames->structure_only)
		return;
	memset(page_address(frames, page), POISON_BYTE, PORT_PAGE_SIZE);
	page_set_flag(page, PG_poisoned);
}

static void check_poison(struct frames *frames, struct page *page)
{
	const unsigned char *contents = page_address(frames, page);

	if (!page_has_flag(page, PG_poisoned))
		return;
	invariant(contents[0] == POISON_BYTE && !memcmp(contents, contents + 1, PORT_PAGE_SIZE - 1));
	page_clear_flag(page, PG_poisoned);
}
#else
static void poison(struct frames *frames, struct page *page)
{
	(void)frames;
	(void)page;
}

static void check_poison(struct frames *frames, struct page *page)
{
	(void)frames;
	(void)page;
}
#endif

/* The contents of a free frame are nobody's. Its struct page is the allocator's, and always alive. */
static void contents_dead(struct frames *frames, struct page *page)
{
	if (port_memory_watched())
		port_memory_dead(page_address(frames, page), PORT_PAGE_SIZE, "frame");
}

static void contents_alive(struct frames *frames, struct page *page)
{
	if (port_memory_watched())
		port_memory_alive(page_address(frames, page), PORT_PAGE_SIZE);
}

struct page *frame_alloc(struct frames *frames)
{
	struct page *page = frames->ops->alloc(frames);

	if (unlikely(!page)) {
		frames_note_refusal(frames, NULL);
		return NULL;
	}
	invariant(page_refcount(page) == 0 && page_mapcount(page) == 0);
	contents_alive(frames, page);
	check_poison(frames, page);
	if (page_has_flag(page, PG_free))
		page_clear_flag(page, PG_free);
	atomic_store_explicit(&page->refcount, 1, memory_order_relaxed);
	frames_count(frames, FRAMES_ALLOCATED, 1);
	frames_look(frames);
	return page;
}

void frame_release(struct frames *frames, struct page *page)
{
	if (page_has_flag(page, PG_lru))
		lru_del_page(frames->lru, page);
	if (page->group)
		frames->uncharge(page);
	frame_give_back(frames, page);
}

void frame_give_back(struct frames *frames, struct page *page)
{
	uint32_t flags = atomic_load_explicit(&page->flags, memory_order_relaxed);

	invariant(page_mapcount(page) == 0 && page_to_pfn(frames, page) < frames->own && !page->group);
	invariant(!(flags & (PG_free | PG_zero)));
	if (flags & PG_anonymous)
		frames_count(frames, FRAMES_ANONYMOUS, -1);
	if (flags & PG_cached)
		frames_count(frames, flags & PG_file ? FRAMES_FILE : FRAMES_SHARED, -1);
	/* All but the memory type's bits are this CPU's alone by now: one step changes them. */
	atomic_fetch_xor_explicit(&page->flags, (flags & PG_OF_ONE_LIFE) | PG_free, memory_order_relaxed);
	poison(frames, page);
	contents_dead(frames, page);
	frames_count(frames, FRAMES_FREED, 1);
	frames->ops->free(frames, page);
}

void frame_free(struct frames *frames, struct page *page)
{
	invariant(atomic_load_explicit(&page->refcount, memory_order_acquire) == 1);
	atomic_store_explicit(&page->refcount, 0, memory_order_relaxed);
	frame_release(frames, page);
}
