/* SPDX-License-Identifier: MIT */
/*
 * struct page: what the system knows about one frame of RAM. One cache line a frame, so that work on one
 * frame never disturbs another.
 */
#ifndef MM_PAGE_PAGE_H
#define MM_PAGE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "port/page.h"
#include "port/rcu.h"
#include "sync/spinlock.h"

struct frames;

/*
 * Bits of page->flags. Each is changed by an atomic read-modify-write only, since neighbours in the word
 * belong to others.
 */
enum page_flag {
	/* The frame lies in the allocator: in a CPU's magazine or in a depot. Owner: mm/page/. */
	PG_free = 1u << 0,
	/* The frame holds a page table; page->table is valid. Owner: mm/table/. */
	PG_table = 1u << 1,
	/*
	 * The memory type, two bits read together: none is the default (never reserved), both are write-back.
	 * Owner: mm/memtype/, whose policy says what protects them.
	 */
	PG_memtype_wc = 1u << 2,
	PG_memtype_uncached = 1u << 3,
	/* A reservation or a free of the type is under way (mm/memtype/memtype_cmpxchg.c). */
	PG_memtype_claimed = 1u << 4,
};

#define PG_MEMTYPE_SHIFT 2
#define PG_MEMTYPE_MASK  ((uint64_t)(PG_memtype_wc | PG_memtype_uncached))

struct page {
	/* enum page_flag; atomic, each bit as said there. */
	_Atomic uint64_t flags;
	/*
	 * 0 while the allocator has the frame and for frames that were never handed out, else the number of
	 * its users. Atomic.
	 */
	_Atomic uint32_t refcount;
	uint32_t padding;
	union {
		/* PG_free. Protected by the CPU that owns the magazine, or by the depot's lock. */
		struct {
			struct page *next;          /* in the same magazine */
			struct page *next_magazine; /* of the depot; the first page of a magazine has it */
			uint64_t count;             /* pages in the magazine; the first page has it */
		} free;
		/* PG_table. */
		struct {
			struct spinlock lock;     /* protects the entries of a last-level table */
			struct frames *frames;    /* set while the table is made, then read only */
			struct port_rcu_head rcu; /* used once nobody can reach the table any more */
		} table;
		char line[48];
	};
};

_Static_assert(sizeof(struct page) == CACHE_LINE_BYTES, "one cache line a frame");

static inline void page_set_flag(struct page *page, enum page_flag flag)
{
	atomic_fetch_or_explicit(&page->flags, flag, memory_order_relaxed);
}

static inline void page_clear_flag(struct page *page, enum page_flag flag)
{
	atomic_fetch_and_explicit(&page->flags, ~(uint64_t)flag, memory_order_relaxed);
}

static inline int page_has_flag(const struct page *page, enum page_flag flag)
{
	return (atomic_load_explicit(&page->flags, memory_order_relaxed) & flag) != 0;
}

#endif
