/* SPDX-License-Identifier: MIT */
/*
 * The name of a swap slot: an area's number and a slot's in it. It stands in the page table entries and in
 * the object slots whose page is out, and each that holds it holds a reference on the slot (mm/swap/swap.h).
 *
 * A last-level entry that names a slot:
 *
 *   63      44 43  41 40            12 11   10      9     8         1 0
 *   [   0    ] [area] [    slot      ] [0] [LOCKED] [1] [PROTNONE=0] .. [PRESENT=0]
 *
 * Bit 9 is PTE_SPECIAL of an entry that maps something; here PRESENT and PROTNONE are clear, so no hardware
 * looks at the rest, and the lock bit of `pte_bit` stays where it is.
 */
#ifndef MM_SWAP_SWAP_ENTRY_H
#define MM_SWAP_SWAP_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define SWAP_AREAS_MAX 8u
#define SWAP_SLOT_BITS 29u /* 2 TiB an area */

struct swap_entry {
	uint32_t value; /* the slot, then the area in the three bits above */
};

static inline struct swap_entry swap_entry(unsigned area, uint64_t slot)
{
	return (struct swap_entry){(uint32_t)area << SWAP_SLOT_BITS | (uint32_t)slot};
}

static inline unsigned swap_entry_area(struct swap_entry entry)
{
	return (unsigned)(entry.value >> SWAP_SLOT_BITS);
}

static inline uint64_t swap_entry_slot(struct swap_entry entry)
{
	return entry.value & ((UINT32_C(1) << SWAP_SLOT_BITS) - 1);
}

#define SWAP_PTE_SHIFT 12u
#define SWAP_PTE_MARK  (UINT64_C(1) << 9)
#define SWAP_PTE_MAPS  (UINT64_C(1) << 0 | UINT64_C(1) << 8) /* PTE_PRESENT, PTE_PROTNONE */

/* Whether an entry, locked or not, names a slot. */
static inline bool pte_is_swap(uint64_t pte)
{
	return (pte & (SWAP_PTE_MARK | SWAP_PTE_MAPS)) == SWAP_PTE_MARK;
}

static inline uint64_t pte_from_swap(struct swap_entry entry)
{
	return (uint64_t)entry.value << SWAP_PTE_SHIFT | SWAP_PTE_MARK;
}

/* The slot that such an entry names. */
static inline struct swap_entry pte_swap_entry(uint64_t pte)
{
	return (struct swap_entry){(uint32_t)(pte >> SWAP_PTE_SHIFT)};
}

#endif
