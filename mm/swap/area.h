/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/swap/: an area, and how free slots are shared out.
 *
 * Slots stand in clusters of 64; a word for each has a bit for each of its free slots. A CPU takes all free
 * slots of a cluster at once (`swap refill`), preferably of one that is wholly free, and hands them out one
 * by one: in between it writes only its own lines and those of the slots. A slot that becomes free goes back
 * to its cluster's word, whoever frees it. Marks in groups lead to clusters: `whole`, those that were wholly
 * free a moment ago, and `some`, those with free slots; a mark may be there for a cluster with none, but
 * never none for one with some: who sets the first bit of a cluster's word sets `some` afterwards, who takes
 * the word clears the mark before. CPUs begin to look in different groups.
 *
 * A CPU that finds no cluster takes single slots from the other CPUs'. Each CPU's own are under a lock that
 * nobody else takes otherwise. It is held over the refill, so whoever finds a cluster empty and then looks at
 * the CPU that emptied it finds the slots there: swap is full only if it is. But for slots that are freed
 * while it looks: they can be where it has looked already, and the last of the other CPU's own be taken
 * meanwhile.
 *
 *                take, refill   take from another   free
 *   take           no: lock           no: lock       yes
 *   refill         yes                no: lock       yes
 *   free           yes                yes            yes
 */
#ifndef MM_SWAP_AREA_H
#define MM_SWAP_AREA_H

#include "mm/swap/swap.h"
#include "sync/percpu.h"
#include "sync/spinlock.h"

#define SWAP_CLUSTER_SLOTS 64u

/* Bits of a slot's word. No page: PFN 0, the zero page's, which is never swapped. */
#define SLOT_PFN_MASK   ((UINT64_C(1) << 40) - 1)
#define SLOT_COUNT_ONE  (UINT64_C(1) << 40)
#define SLOT_COUNT_MASK (((UINT64_C(1) << 22) - 1) << 40)
#define SLOT_LOCKED     (UINT64_C(1) << 62)
#define SLOT_BAD        (UINT64_C(1) << 63) /* a write failed: never free again */

struct swap_slot {
	_Atomic uint64_t word;
};

struct swap_cluster {
	CACHE_LINE_ALIGNED _Atomic uint64_t free; /* a bit for each slot that is free and no CPU's */
};

/* The marks of 64 clusters: who takes and gives back elsewhere shares no line with those of others. */
struct swap_group {
	CACHE_LINE_ALIGNED _Atomic uint64_t whole; /* clusters that were wholly free a moment ago */
	_Atomic uint64_t some;                     /* clusters that had free slots */
};

#define SWAP_GROUP_CLUSTERS 64u

/* What each CPU counts, of one area. */
enum swap_counter {
	SWAP_USED,
	SWAP_BAD,
	SWAP_CACHED,
	SWAP_READ,
	SWAP_AHEAD,
	SWAP_WRITTEN,
	SWAP_READS,
	SWAP_WRITES,
	SWAP_COUNTERS
};

struct swap_cpu {
	CACHE_LINE_ALIGNED struct spinlock lock;
	uint64_t mask;    /* free slots of `cluster` that are this CPU's; by lock */
	uint64_t cluster; /* by lock */
	uint64_t at;      /* the group where it looks first; by lock */
	/* Written by its CPU alone, relaxed; read by anyone: only sums mean something. */
	CACHE_LINE_ALIGNED _Atomic int64_t count[SWAP_COUNTERS];
	int64_t untold; /* of SWAP_USED, what `used` lacks; its own */
};

struct swap_area {
	/* Read only after the area is made. */
	struct swap *swap;
	unsigned number;
	int priority;
	bool discard;
	struct sf_backing *backing;
	uint64_t slots, clusters, groups;
	struct swap_slot *slot;
	struct swap_cluster *cluster;
	struct swap_group *group;
	struct percpu cpu; /* of struct swap_cpu */
	/* Slots in use, but for what each CPU has yet to tell. Atomic, relaxed. */
	CACHE_LINE_ALIGNED _Atomic int64_t used;
	uint32_t *checked; /* the check's own: users of each slot */
};

struct swap {
	/* Read only but for the areas, which are added; release. */
	struct frames *frames;
	unsigned read_ahead_pages;
	struct swap_area *_Atomic area[SWAP_AREAS_MAX]; /* from the first on, NULL where none is yet */
	/* Bytes: numbers of areas, plus 1, in the order in which they are filled; 0: none more. Release. */
	_Atomic uint64_t order;
};

/* Makes an area; nobody sees it yet. Returns it; NULL without memory. */
struct swap_area *swap_area_create(struct swap *swap, unsigned number, const struct swap_area_config *config);
void swap_area_free(struct swap_area *area);

/* Takes a free slot. Returns 0 with it, its word 0, in *slot; or -ENOSPC. */
int swap_area_take(struct swap_area *area, uint64_t *slot);

/* Gives back a slot that has no page, no references and no lock any more. `bad`: it was marked. */
void swap_area_give(struct swap_area *area, uint64_t slot, bool bad);

/* The slots that cluster number `cluster` has, as bits. */
static inline uint64_t swap_cluster_slots(const struct swap_area *area, uint64_t cluster)
{
	uint64_t rest = area->slots - cluster * SWAP_CLUSTER_SLOTS;

	return rest < SWAP_CLUSTER_SLOTS ? (UINT64_C(1) << rest) - 1 : ~UINT64_C(0);
}

static inline void swap_count(struct swap_area *area, enum swap_counter counter, int64_t change)
{
	struct swap_cpu *own = percpu_this(&area->cpu);
	int64_t old = atomic_load_explicit(&own->count[counter], memory_order_relaxed);

	atomic_store_explicit(&own->count[counter], old + change, memory_order_relaxed);
}

/* The area and the word of a slot; an entry that no area ever had is a broken invariant. */
static inline struct swap_area *swap_area_of(const struct swap *swap, struct swap_entry entry)
{
	unsigned number = swap_entry_area(entry);
	struct swap_area *area;

	invariant(number < SWAP_AREAS_MAX);
	area = atomic_load_explicit(&swap->area[number], memory_order_acquire);
	invariant(area && swap_entry_slot(entry) < area->slots);
	return area;
}

static inline _Atomic uint64_t *swap_word(const struct swap_area *area, struct swap_entry entry)
{
	return &area->slot[swap_entry_slot(entry)].word;
}

/*
 * Puts a page, locked, into the cache for a slot that has references and no page. Takes a reference on it.
 * Returns 0; -EEXIST when there is a page; -ENOENT when nothing names the slot.
 */
int swap_insert(struct swap *swap, struct swap_entry entry, struct page *page);

#endif
