/* SPDX-License-Identifier: MIT */
/*
 * struct page: what the system knows about one frame of RAM. One cache line a frame, so that work on one
 * frame never disturbs another.
 *
 * The life of a frame: the allocator hands it out with one reference. Every mapping (a present PTE that is
 * not special), every pin and every user for a while holds one more. Who drops the last one (page_put() in
 * mm/page/frames.h) gives the frame back. The first reference of a page that is about to be mapped becomes
 * its first mapping's.
 */
#ifndef MM_PAGE_PAGE_H
#define MM_PAGE_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "port/page.h"
#include "port/panic.h"
#include "port/rcu.h"
#include "sync/spinlock.h"

struct anon_vma;
struct frames;
struct page_group;
struct sf_object;

/*
 * Bits of page->flags. Each is changed by an atomic read-modify-write only, since neighbours in the word
 * belong to others.
 */
enum page_flag {
	/* The frame was in use once and lies in the allocator. Owner: mm/page/. */
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
	/* Anonymous memory: set by page_set_anonymous() before the page's first mapping, for its life. */
	PG_anonymous = 1u << 5,
	/* MADV_FREE: the contents need not be kept. Set and cleared under the lock of a PTE that maps it. */
	PG_lazy_free = 1u << 6,
	/* The zero page: read only, never free, and its mappings hold no references. Owner: mm/page/. */
	PG_zero = 1u << 7,
	/* Debug builds: the contents are the poison of a freed frame. Owner: mm/page/. */
	PG_poisoned = 1u << 8,
	/* The frame holds nodes of page indices; page->nodes is valid. Owner: mm/object/. */
	PG_index = 1u << 9,
	/* On an LRU list, or on its way there; page->lru_state is valid. Owner: mm/page/lru.c. */
	PG_lru = 1u << 10,

	/* Those of an object's pages. page->object is valid. Owner: mm/object/, see mm/object/cache.h. */
	PG_cached = 1u << 11,
	PG_file = 1u << 12,     /* of a file: has to be written when it is dirty */
	PG_uptodate = 1u << 13, /* the contents are there: set once */
	PG_locked = 1u << 14,   /* being read, or taken away */
	PG_removed = 1u << 15,  /* is leaving its object: nobody maps it any more, but if reclaim clears it */
	/*
	 * Of a file: newer than the backing, or is about to be. In the swap cache: newer than the slot. Of
	 * anonymous memory that has left the cache: its entries may be clean though its contents are nowhere
	 * else.
	 */
	PG_dirty = 1u << 16,
	PG_writeback = 1u << 17, /* being written to the backing */
	PG_waiters = 1u << 18,   /* somebody sleeps until PG_locked or PG_writeback goes */

	/* In the swap cache; page->swap is valid. Changed with PG_locked. Owner: mm/swap/. */
	PG_swapcache = 1u << 19,

	/*
	 * For reclaim: was touched since it was looked at; touched once more, by other means than a page
	 * table; has been active. Owner: mm/reclaim/, and page_mark_accessed() in mm/page/lru.h.
	 */
	PG_referenced = 1u << 20,
	PG_activate = 1u << 21,
	PG_workingset = 1u << 22,
};

/* What a frame has in common with no later life of it: cleared when it goes back to the allocator. */
#define PG_OF_ONE_LIFE                                                                                 \
	((uint32_t)(PG_table | PG_anonymous | PG_lazy_free | PG_index | PG_lru | PG_cached | PG_file | \
		    PG_uptodate | PG_locked | PG_removed | PG_dirty | PG_writeback | PG_waiters |      \
		    PG_swapcache | PG_referenced | PG_activate | PG_workingset))

#define PG_MEMTYPE_SHIFT 2
#define PG_MEMTYPE_MASK  ((uint32_t)(PG_memtype_wc | PG_memtype_uncached))

struct page {
	/*
	 * enum page_flag; atomic, each bit as said there. A word that can be slept on: who waits for a bit to
	 * go does so here (mm/page/page_wait.h).
	 */
	_Atomic uint32_t flags;
	/*
	 * 0 while the allocator has the frame and for frames that were never handed out, else the number of
	 * its users. Atomic.
	 */
	_Atomic uint32_t refcount;
	/*
	 * How many PTEs map it, 0 while the allocator has it; or PAGE_BUDDY + order in the first page of a
	 * free block (mm/page/buddy.h). Atomic; changed under the lock of the PTE that comes or goes.
	 */
	_Atomic uint32_t mapcount;
	/* With PG_lru: on which list it is, or where it waits for that. Atomic: mm/page/lru_parts.h. */
	_Atomic uint32_t lru_state;
	/*
	 * The group that the page is charged to (mm/charge/); NULL: to none. Set while only one CPU knows the
	 * page, and reset once its last reference is gone.
	 */
	struct page_group *group;
	union {
		/* Free, in a magazine. Protected by the CPU that owns it, or by its shelf's or depot's lock.
		 */
		struct {
			struct page *next;          /* in the same magazine */
			struct page *next_magazine; /* of the shelf or depot; in a magazine's first page */
			uint64_t count;             /* pages in the magazine; in its first page */
		} magazine;
		/* Free, in a per-CPU list or the first page of a buddy block. Protected by the CPU, or by
		 * zone_lock. */
		struct list list;
		/* PG_table. */
		struct {
			struct spinlock lock;     /* protects the entries of a last-level table */
			struct frames *frames;    /* set while the table is made, then read only */
			struct port_rcu_head rcu; /* used once nobody can reach the table any more */
		} table;
		/* PG_index. Atomic: nodes that are in use, or free in a CPU's list. */
		struct {
			_Atomic uint32_t out;
		} nodes;
		/* In use, and none of those. */
		struct {
			union {
				struct sf_object *object; /* PG_cached: read only, as `index` */
				/* PG_anonymous: where its mappings are found, mm/rmap/anon.h. Atomic. */
				struct anon_vma *_Atomic anon;
				struct page *next; /* then: of those that have left together */
			};
			union {
				uint64_t index;        /* read only, until it has left the object's index */
				struct frames *frames; /* from then on */
			};
			union {
				struct {
					/* With PG_lru: by the lru_lock that lru_state names. Then of those
					 * that are released together, by who releases them. */
					struct list lru;
					/*
					 * 1 when the transfer that begins with this page is over: set by who
					 * ends it. Of a page there is one at a time, by who has PG_locked for
					 * reading it, or PG_writeback. Atomic.
					 */
					_Atomic uint32_t transferred;
					/* PG_swapcache: its struct swap_entry. By PG_locked; atomic. */
					_Atomic uint32_t swap;
				};
				/* Used when it has left the object's index, and is on no LRU list. */
				struct port_rcu_head rcu;
			};
		};
		char line[40];
	};
};

_Static_assert(sizeof(struct page) == CACHE_LINE_BYTES, "one cache line a frame");

/* Far above what code can hold, and as far below where the number would wrap around. */
#define PAGE_COUNT_MAX (UINT32_C(1) << 30)
#define PAGE_BUDDY     (UINT32_C(1) << 31)

static inline void page_set_flag(struct page *page, enum page_flag flag)
{
	atomic_fetch_or_explicit(&page->flags, flag, memory_order_relaxed);
}

static inline void page_clear_flag(struct page *page, enum page_flag flag)
{
	atomic_fetch_and_explicit(&page->flags, ~(uint32_t)flag, memory_order_relaxed);
}

static inline int page_has_flag(const struct page *page, enum page_flag flag)
{
	return (atomic_load_explicit(&page->flags, memory_order_relaxed) & flag) != 0;
}

/*
 * Takes one more reference. The caller holds one, or the lock of a PTE that maps the page (not the zero page,
 * whose PTEs are special).
 */
static inline void page_get(struct page *page)
{
	uint32_t old = atomic_fetch_add_explicit(&page->refcount, 1, memory_order_relaxed);

	invariant(old != 0 && old < PAGE_COUNT_MAX);
}

/*
 * A PTE comes to map the page: called under its lock, or before anyone else sees the table. Takes no
 * reference; the caller has one to give to the mapping. Release order: who finds an anonymous page mapped
 * finds where (mm/rmap/anon.h).
 */
static inline void page_add_mapping(struct page *page)
{
	uint32_t old = atomic_load_explicit(&page->mapcount, memory_order_relaxed);

	/* With one reference, the caller's, nobody else can get at the page. */
	if (old == 0 && atomic_load_explicit(&page->refcount, memory_order_relaxed) == 1)
		atomic_store_explicit(&page->mapcount, 1, memory_order_release);
	else
		old = atomic_fetch_add_explicit(&page->mapcount, 1, memory_order_release);
	invariant(old < PAGE_COUNT_MAX);
}

/*
 * A PTE no longer maps the page: called under its lock. The mapping's reference is now the caller's, to be
 * put once no CPU has a translation. Returns whether that was the last mapping.
 */
static inline bool page_remove_mapping(struct page *page)
{
	uint32_t old = atomic_load_explicit(&page->mapcount, memory_order_relaxed);

	/* With one reference, this mapping's, a new one would have to be copied from this PTE. */
	if (old == 1 && atomic_load_explicit(&page->refcount, memory_order_relaxed) == 1)
		atomic_store_explicit(&page->mapcount, 0, memory_order_relaxed);
	else
		old = atomic_fetch_sub_explicit(&page->mapcount, 1, memory_order_relaxed);
	invariant(old != 0 && old <= PAGE_COUNT_MAX);
	return old == 1;
}

/*
 * Under the lock of a PTE that maps the page: whether that is all that there is of users, so that a write
 * need not copy. Then it stays so while the lock is held: every other user would have to come through this
 * PTE. Acquire order: what users wrote before they put their references comes before this.
 */
static inline bool page_is_exclusive(const struct page *page)
{
	return atomic_load_explicit(&page->refcount, memory_order_acquire) == 1 &&
	       atomic_load_explicit(&page->mapcount, memory_order_relaxed) == 1;
}

/* Says that a file's page is newer than the backing. Sequentially consistent: see mm/object/write_back.c. */
static inline void page_set_dirty(struct page *page)
{
	atomic_fetch_or_explicit(&page->flags, PG_dirty, memory_order_seq_cst);
}

/* Whether an object's page has its contents. Acquire: they are seen. */
static inline bool page_is_uptodate(const struct page *page)
{
	return (atomic_load_explicit(&page->flags, memory_order_acquire) & PG_uptodate) != 0;
}

static inline uint32_t page_refcount(const struct page *page)
{
	return atomic_load_explicit(&page->refcount, memory_order_relaxed);
}

static inline uint32_t page_mapcount(const struct page *page)
{
	return atomic_load_explicit(&page->mapcount, memory_order_relaxed);
}

#endif
