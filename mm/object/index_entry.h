/* SPDX-License-Identifier: MIT */
/*
 * What a page index has at an index: nothing; a page; or a tag in its place, an odd number:
 *
 *   swap     of shared memory: the page is in the swap slot that the tag names, which has one reference for
 * it shadow   of a file: reclaim has taken the page; a number of reclaim's (mm/charge/workingset.h). As good
 * as nothing for who looks for a page
 */
#ifndef MM_OBJECT_INDEX_ENTRY_H
#define MM_OBJECT_INDEX_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mm/swap/swap_entry.h"

struct page;

#define INDEX_TAG        ((uintptr_t)1)
#define INDEX_TAG_SHADOW ((uintptr_t)2) /* with INDEX_TAG */
#define INDEX_TAG_SHIFT  2u

static inline uintptr_t index_entry_of_page(const struct page *page)
{
	return (uintptr_t)page;
}

/* The page of an entry, or NULL. */
static inline struct page *index_entry_page(uintptr_t entry)
{
	return entry & INDEX_TAG ? NULL : (struct page *)entry;
}

static inline bool index_entry_is_swap(uintptr_t entry)
{
	return (entry & (INDEX_TAG | INDEX_TAG_SHADOW)) == INDEX_TAG;
}

static inline uintptr_t index_entry_of_swap(struct swap_entry slot)
{
	return (uintptr_t)slot.value << INDEX_TAG_SHIFT | INDEX_TAG;
}

static inline struct swap_entry index_entry_swap(uintptr_t entry)
{
	return (struct swap_entry){(uint32_t)(entry >> INDEX_TAG_SHIFT)};
}

static inline bool index_entry_is_shadow(uintptr_t entry)
{
	return (entry & (INDEX_TAG | INDEX_TAG_SHADOW)) == (INDEX_TAG | INDEX_TAG_SHADOW);
}

/* `shadow`: below 2^62. */
static inline uintptr_t index_entry_of_shadow(uint64_t shadow)
{
	return (uintptr_t)shadow << INDEX_TAG_SHIFT | INDEX_TAG_SHADOW | INDEX_TAG;
}

static inline uint64_t index_entry_shadow(uintptr_t entry)
{
	return entry >> INDEX_TAG_SHIFT;
}

/* Whether it stands for a page: one that is in memory or in swap. */
static inline bool index_entry_counts(uintptr_t entry)
{
	return entry && !index_entry_is_shadow(entry);
}

#endif
