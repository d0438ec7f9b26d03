/* SPDX-License-Identifier: MIT */
/*
 * A write to a page of private memory that is mapped for reading: it is shared with a forked space, or was
 * until a moment ago; or it is an object's; or it is the zero page.
 *
 * A page that is copied must not change meanwhile. Its entries are write protected in every space; but a CPU
 * of this space may still write through a translation from before a fork took that right away, until the fork
 * has flushed it. While translations.write_protecting is odd that may be so; then the fault waits for the
 * fork's end at the space's lock. The fork makes it odd before it changes an entry; the fault looks once it
 * has locked the entry. A look at the entry without the lock would not do: until it is locked it may have
 * become writable, and been protected again by a fork that has only begun.
 */
#include <errno.h>

#include "mm/fault/internal.h"
#include "mm/rmap/anon.h"
#include "port/page.h"

/* Installs a page, writable, where another one was mapped, and unlocks. What TLBs have of that one is found
 * no more. */
static void replace(struct fault *fault, struct pte_ref *ref, struct page *page)
{
	fault->flush = true;
	fault->changing = translations_change_begin(&fault->space->table.translations);
	fault->events |= FAULT_COPY;
	install_anonymous_page(fault, ref, page);
}

/* The zero page gives way to a page of zeroes. */
static int replace_zero_page(struct fault *fault)
{
	struct page *page = alloc_zeroed_page(fault);
	struct pte_ref ref;
	int error;

	if (!page)
		return -ENOMEM;
	error = fault_lock_pte(fault, &ref);
	if (error) {
		free_new_page(fault, page);
		return fault_race(error);
	}
	replace(fault, &ref, page);
	table_count(&fault->space->table, TABLE_RESIDENT, 1);
	return 0;
}

/* Whether CPUs of this space may still write to pages that have just been write protected. */
static bool write_protecting(struct fault *fault)
{
	return atomic_load_explicit(&fault->space->table.translations.write_protecting,
				    memory_order_acquire) %
	       2;
}

/*
 * Lets the page be written if nobody else has it; else takes a reference on it, for the copying. Returns 1
 * when it is to be copied, 0 when it is done, -EINPROGRESS when it can be once the page is written to its
 * slot, -EAGAIN while a fork is under way, or as fault_lock_pte().
 *
 * The swap cache has a reference on its pages; so one of those is never exclusive. To look at PG_swapcache
 * and then at the mappings alone would not do: between the looks the page could leave the cache and come
 * back.
 */
static int reuse_or_get(struct fault *fault, struct page *page)
{
	struct pte_ref ref;
	int error;

	fault_keep(fault, NULL);
	error = fault_lock_pte(fault, &ref);
	if (error)
		return error;
	if (page_has_flag(page, PG_anonymous) && !fault_leave_cache(fault, page)) {
		page_get(page);
		error = fault_wait_for_page(fault, page, PG_writeback);
		pte_unlock(&ref);
		return error;
	}
	/* An object's page is never written to by a private mapping, even if all others are gone. */
	if (page_has_flag(page, PG_anonymous) && page_is_exclusive(page)) {
		anon_page_is_own(page, vma_anon(fault->vma));
		pte_set_unlock(&ref, ref.value | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY);
		fault->events |= FAULT_REUSE;
		return 0;
	}
	if (write_protecting(fault))
		error = -EAGAIN;
	else
		page_get(page);
	pte_unlock(&ref);
	return error ? error : 1;
}

/* Puts a copy in the page's place. Holds a reference on `page`, which it puts. */
static int copy_page(struct fault *fault, struct page *page)
{
	struct frames *frames = fault->space->parts.frames;
	struct page *copy = alloc_anonymous_page(fault);
	struct pte_ref ref;
	int error = -ENOMEM;

	if (!copy)
		goto put;
	port_page_copy(page_address(frames, copy), page_address(frames, page), frames->structure_only);
	error = fault_lock_pte(fault, &ref);
	if (error) {
		free_new_page(fault, copy);
		goto put;
	}
	page_remove_mapping(page);
	replace(fault, &ref, copy);
	/* The mapping's reference. */
	fault->old = page;
put:
	page_put(frames, page);
	return error;
}

int do_wp_page(struct fault *fault)
{
	struct page *page = pfn_to_page(fault->space->parts.frames, pte_pfn(fault->pte));
	int error;

	if (fault->pte & PTE_SPECIAL)
		return replace_zero_page(fault);
	/* Only an early way out, which spares the lock; reuse_or_get() has the look that counts. */
	if (write_protecting(fault))
		return -EAGAIN;
	error = reuse_or_get(fault, page);
	if (error == 1)
		error = copy_page(fault, page);
	return fault_race(error);
}
