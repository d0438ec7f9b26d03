/* SPDX-License-Identifier: MIT */
/*
 * Policy memtype=cmpxchg: no lock. Both bits of a type change in one compare-and-swap, and a look-up is one
 * load of the page's flags.
 *
 * The two passes of memtype_two_pass.c would not do here: between looking at all pages and changing all,
 * another reservation could take some. So a reservation of [first, end) looks, and if that does not refuse
 *
 *   1. claims the pages in ascending order: a compare-and-swap sets PG_memtype_claimed on a page whose type
 *      is still the default. The type bits stay as they are.
 *   2. If a page has a type, takes its claims back and is refused. If a page has another's claim, takes its
 *      claims back, waits for that claim's end, and starts again.
 *   3. Once it has all: looks for pins, and if one would see its type change takes the claims back.
 *   4. Otherwise sets the type and drops the claim, page by page, both in one compare-and-swap.
 *
 * A free does the same, claiming pages that have a type. Why this is right, with reservations and frees that
 * overlap in any way:
 *
 * - A page has at most one claim, since it is set by compare-and-swap from "not claimed". Only its claimer
 *   changes the type bits. So in step 4 every page still has what step 1 saw: no page gets two types, no
 *   free takes a page twice.
 * - A refused call has changed no type bit; its claims are gone when it returns. Nobody can tell it from a
 *   call that never was, other than by having waited: a claim refuses nobody.
 * - A call that succeeds takes effect at the moment when it has claimed its last page: it holds all of them
 *   and each had the right type. A call that is refused takes effect when it sees the page, or the pin, that
 *   refuses it. A page that is claimed by a free counts as reserved until the free has dropped the claim.
 * - Nobody waits while holding a claim, so there is no deadlock. Nobody turns back for ever together either:
 *   of the calls under way, none can meet a claim above the highest one that is held, so the holder of that
 *   goes on or is refused.
 * - The look before the claims keeps a call that a pin refuses again and again from claiming each time, and
 *   so from starving the very look-up that the pin is held for.
 * - Look-ups never see a type that is taken back later, for types appear in step 4 only. They wait while a
 *   page is claimed, and only then, because of pins. A claim comes before the search for pins (under
 *   memtype_tree_lock), a pin (under the same lock) before the mapping's first look-up. If the search missed
 *   the pin, it ran first, so the look-up sees the claim or what became of it: without the wait it could
 *   return the old type just before step 4 replaces it. If the search found the pin, the type stays.
 *
 * Orders: claiming has acquire order, ending a claim release, a look-up acquire, so that whoever meets a page
 * after a claim also sees all that its claimer did before.
 */
#include "mm/memtype/internal.h"

#include <errno.h>

#include "port/spin.h"

/* Ends the claim of `page` and makes `type` its type. */
static void end_claim(struct page *page, enum memtype type)
{
	const uint32_t ours = PG_MEMTYPE_MASK | PG_memtype_claimed;
	uint32_t old = atomic_load_explicit(&page->flags, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&page->flags, &old,
						      (old & ~ours) | memtype_to_flags(type),
						      memory_order_release, memory_order_relaxed))
		;
}

/* Ends the claims of [first, end), types as they were. */
static void take_back(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	for (uint64_t pfn = first; pfn < end; pfn++) {
		struct page *page = pfn_to_page(memtypes->frames, pfn);

		atomic_fetch_and_explicit(&page->flags, ~(uint32_t)PG_memtype_claimed, memory_order_release);
	}
}

/*
 * Claims one page, if it has a type (`reserved`) or has none. Returns 0; -EAGAIN when another has claimed it;
 * -EBUSY with *in_the_way when its type is not as wanted.
 */
static int claim_page(struct page *page, bool reserved, enum memtype *in_the_way)
{
	uint32_t old = atomic_load_explicit(&page->flags, memory_order_relaxed);

	do {
		if (old & PG_memtype_claimed)
			return -EAGAIN;
		*in_the_way = memtype_of_flags(old);
		if ((*in_the_way != MEMTYPE_DEFAULT) != reserved)
			return -EBUSY;
	} while (!atomic_compare_exchange_weak_explicit(&page->flags, &old, old | PG_memtype_claimed,
							memory_order_acquire, memory_order_relaxed));
	return 0;
}

/* Claims all of [first, end) or nothing. Returns 0, or -EBUSY with *in_the_way. */
static int claim(struct memtypes *memtypes, uint64_t first, uint64_t end, bool reserved,
		 enum memtype *in_the_way)
{
	uint64_t pfn = first;

	while (pfn < end) {
		struct page *page = pfn_to_page(memtypes->frames, pfn);
		int error = claim_page(page, reserved, in_the_way);

		if (!error) {
			pfn++;
			continue;
		}
		take_back(memtypes, first, pfn);
		if (error != -EAGAIN)
			return error;
		port_spin_until_u32(&page->flags, PG_memtype_claimed, 0);
		pfn = first;
	}
	return 0;
}

static void end_claims(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type)
{
	for (uint64_t pfn = first; pfn < end; pfn++)
		end_claim(pfn_to_page(memtypes->frames, pfn), type);
}

static int cmpxchg_reserve(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type,
			   enum memtype *in_the_way)
{
	int error = memtype_look_reserve(memtypes, first, end, type, in_the_way);

	if (!error)
		error = claim(memtypes, first, end, false, in_the_way);
	if (error)
		return error;
	if (type != MEMTYPE_WB && memtype_pinned(memtypes, first, end)) {
		take_back(memtypes, first, end);
		*in_the_way = MEMTYPE_WB;
		return -EBUSY;
	}
	end_claims(memtypes, first, end, type);
	return 0;
}

static int cmpxchg_free(struct memtypes *memtypes, uint64_t first, uint64_t end)
{
	enum memtype ignored;
	int error = memtype_look_free(memtypes, first, end);

	if (error)
		return error;
	if (claim(memtypes, first, end, true, &ignored))
		return -EINVAL;
	if (memtype_pinned_against_free(memtypes, first, end)) {
		take_back(memtypes, first, end);
		return -EBUSY;
	}
	end_claims(memtypes, first, end, MEMTYPE_DEFAULT);
	return 0;
}

static enum memtype cmpxchg_lookup(struct memtypes *memtypes, struct page *page)
{
	uint32_t flags = atomic_load_explicit(&page->flags, memory_order_acquire);

	(void)memtypes;
	if (unlikely(flags & PG_memtype_claimed))
		flags = port_spin_until_u32(&page->flags, PG_memtype_claimed, 0);
	return memtype_of_flags(flags);
}

const struct memtype_ram_ops memtype_cmpxchg_ops = {
    .reserve = cmpxchg_reserve,
    .free = cmpxchg_free,
    .lookup = cmpxchg_lookup,
};
