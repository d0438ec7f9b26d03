/* SPDX-License-Identifier: MIT */
/*
 * Page table entries in x86-64's own format ("Intel 64 and IA-32 Architectures Software Developer's Manual",
 * volume 3, chapter on paging). An entry is one 64-bit word, changed atomically.
 */
#ifndef MM_TABLE_PTE_H
#define MM_TABLE_PTE_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/memtype/memtype.h"
#include "mm/page/frames.h"

#define PTE_PRESENT  (UINT64_C(1) << 0)
#define PTE_WRITE    (UINT64_C(1) << 1)
#define PTE_USER     (UINT64_C(1) << 2)
#define PTE_PWT      (UINT64_C(1) << 3)
#define PTE_PCD      (UINT64_C(1) << 4)
#define PTE_ACCESSED (UINT64_C(1) << 5) /* set by the hardware on a touch */
#define PTE_DIRTY    (UINT64_C(1) << 6) /* set by the hardware on a write */
#define PTE_PAT      (UINT64_C(1) << 7) /* of a last-level entry */
#define PTE_PROTNONE (UINT64_C(1) << 8) /* maps a page that no touch may reach; PRESENT is clear then */
#define PTE_SPECIAL  (UINT64_C(1) << 9) /* free for software: no reference on the frame is held */
#define PTE_LOCKED \
	(UINT64_C(1) << 10) /* free for software: the lock of the policy `pte_bit`; see pte_empty() */
#define PTE_NX       (UINT64_C(1) << 63)
#define PTE_PFN_MASK (((UINT64_C(1) << 40) - 1) << PORT_PAGE_SHIFT)

#define PTE_MEMTYPE_MASK (PTE_PAT | PTE_PCD | PTE_PWT)

/* What a touch wants. The numbers are those of the public enum sf_access. */
enum touch { TOUCH_READ = 1, TOUCH_WRITE = 2, TOUCH_EXECUTE = 4 };

/* True when the entry maps a page, whether a touch may reach it or not. */
static inline bool pte_maps(uint64_t pte)
{
	return (pte & (PTE_PRESENT | PTE_PROTNONE)) != 0;
}

/* True when the hardware lets `touch` through. Whatever is present can be read, as on x86. */
static inline bool pte_allows(uint64_t pte, enum touch touch)
{
	if (!(pte & PTE_PRESENT))
		return false;
	if (touch == TOUCH_WRITE)
		return (pte & PTE_WRITE) != 0;
	return touch != TOUCH_EXECUTE || !(pte & PTE_NX);
}

static inline uint64_t pte_pfn(uint64_t pte)
{
	return (pte & PTE_PFN_MASK) >> PORT_PAGE_SHIFT;
}

/*
 * PAT, PCD and PWT number an entry of the page attribute table, whose first four are here as Linux programs
 * them: write-back, write-combining, uncached-minus, uncached. `type` is not MEMTYPE_DEFAULT.
 */
static inline uint64_t pte_memtype_bits(enum memtype type)
{
	return type == MEMTYPE_WC ? PTE_PWT : type == MEMTYPE_UC_MINUS ? PTE_PCD : 0;
}

/* The type that such bits stand for; MEMTYPE_DEFAULT for those that pte_memtype_bits() never makes. */
static inline enum memtype pte_memtype(uint64_t pte)
{
	switch (pte & PTE_MEMTYPE_MASK) {
	case 0:
		return MEMTYPE_WB;
	case PTE_PWT:
		return MEMTYPE_WC;
	case PTE_PCD:
		return MEMTYPE_UC_MINUS;
	default:
		return MEMTYPE_DEFAULT;
	}
}

/* An entry of an upper level, for the table in frame `pfn`. */
static inline uint64_t pte_make_table(uint64_t pfn)
{
	return pfn << PORT_PAGE_SHIFT | PTE_PRESENT | PTE_WRITE | PTE_USER | PTE_ACCESSED;
}

/*
 * A last-level entry for a frame that is mapped by number: data, not code. It is born accessed, since the
 * touch that wants it comes next.
 */
static inline uint64_t pte_make_pfn(uint64_t pfn, bool writable, enum memtype type)
{
	return pfn << PORT_PAGE_SHIFT | PTE_PRESENT | PTE_USER | PTE_ACCESSED | PTE_SPECIAL | PTE_NX |
	       (writable ? PTE_WRITE : 0) | pte_memtype_bits(type);
}

/*
 * A last-level entry for a page that is counted, born accessed; a writable one is born dirty, since it is
 * made for a write or for memory that others see.
 */
static inline uint64_t pte_make_page(uint64_t pfn, bool writable, bool executable)
{
	return pfn << PORT_PAGE_SHIFT | PTE_PRESENT | PTE_USER | PTE_ACCESSED |
	       (writable ? PTE_WRITE | PTE_DIRTY : 0) | (executable ? 0 : PTE_NX);
}

/* A last-level entry for the zero page. */
static inline uint64_t pte_make_zero(bool executable)
{
	return pte_make_page(ZERO_PFN, false, executable) | PTE_SPECIAL;
}

#endif
