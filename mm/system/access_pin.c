/* SPDX-License-Identifier: MIT */
/*
 * Pins: a reference on a page that outlives its mapping.
 */
#include <errno.h>

#include "mm/object/cache.h"
#include "mm/page/page_wait.h"
#include "mm/system/access.h"
#include "mm/system/internal.h"
#include "sync/rcu.h"

/*
 * Takes a reference on the page of `address` while its entry, which lets the touch through, is locked. The
 * zero page needs none. Returns it; NULL when the entry does not allow the touch or maps no page to count, as
 * *pte tells.
 */
static struct page *try_pin(struct sf_space *space, uintptr_t address, enum touch touch, uint64_t *pte)
{
	struct frames *frames = space->parts.frames;
	struct page *page = NULL;
	struct pte_ref ref;

	*pte = 0;
	port_rcu_read_lock();
	/* As the hardware, for the bits. */
	if (table_touch(&space->table, address, touch, pte) &&
	    pte_lock_existing(&space->table, address - address % PORT_PAGE_SIZE, &ref)) {
		*pte = ref.value;
		if (pte_allows(ref.value, touch)) {
			page = pfn_to_page(frames, pte_pfn(ref.value));
			if (!(ref.value & PTE_SPECIAL))
				page_get(page);
			else if (page != zero_page(frames))
				page = NULL;
		}
		pte_unlock(&ref);
	}
	port_rcu_read_unlock();
	return page;
}

/*
 * What is written through a pin may come after the entry was made clean, for a write-back or by MADV_FREE; so
 * the page is dirty when it is given back. The lowest bit of what the caller keeps says that it was for
 * writing.
 */
static struct page *mark_written(struct page *page, enum touch touch)
{
	const uint32_t needs = PG_file | PG_anonymous;
	bool mark =
	    touch == TOUCH_WRITE && (atomic_load_explicit(&page->flags, memory_order_relaxed) & needs);

	return mark ? (struct page *)((char *)page + 1) : page;
}

static struct page *take_mark(struct page *page)
{
	if (!((uintptr_t)page & 1))
		return page;
	page = (struct page *)((char *)page - 1);
	if (!page_has_flag(page, PG_cached)) {
		page_set_dirty(page);
		return page;
	}
	page_lock(page);
	if (!page_has_flag(page, PG_removed))
		object_set_dirty(page);
	page_unlock(page);
	return page;
}

static struct page *pin(struct sf_space *space, uintptr_t address, enum touch touch, struct sf_signal *signal)
{
	struct fault fault;
	struct page *page;
	uint64_t pte = 0;

	for (;;) {
		int error;

		page = address < TABLE_ADDRESS_END ? try_pin(space, address, touch, &pte) : NULL;
		if (page)
			return page;
		if (pte_allows(pte, touch) && (pte & PTE_SPECIAL)) {
			access_signal_no_contents(signal, address);
			return NULL;
		}
		error = faultin_page(&fault, space, address, touch);
		if (error) {
			access_signal(signal, &fault, error, address);
			return NULL;
		}
		if (fault.events)
			system_count_fault(space->parts.system, fault.events);
	}
}

void *sf_pin(struct sf_space *space, uint64_t address, enum sf_access access, struct sf_pin *result,
	     struct sf_signal *signal)
{
	struct sf_system *system = space->parts.system;
	struct frames *frames = space->parts.frames;
	struct page *page;

	result->page = NULL;
	if (!access_valid(access)) {
		access_signal(signal, NULL, -EINVAL, address);
		return NULL;
	}
	system_enter(system);
	page = pin(space, address, (enum touch)access, signal);
	if (page && page != zero_page(frames))
		frames_count(frames, FRAMES_PINNED, 1);
	system_exit(system);
	result->page = page ? mark_written(page, (enum touch)access) : NULL;
	return page ? (char *)page_address(frames, page) + address % PORT_PAGE_SIZE : NULL;
}

void sf_unpin(struct sf_system *system, struct sf_pin *pin)
{
	struct page *page = pin->page;

	if (!page)
		return;
	system_enter(system);
	page = take_mark(page);
	if (page != zero_page(system->frames)) {
		frames_count(system->frames, FRAMES_PINNED, -1);
		page_put(system->frames, page);
	}
	system_exit(system);
	pin->page = NULL;
}
