/* SPDX-License-Identifier: MIT */
/*
 * Swap: slots of one page on backings, and the swap cache, which finds the page of a slot while it is in
 * memory too. Pages are anonymous memory's or shared memory's; nothing here knows which.
 *
 * A slot is one word: the page in the cache, the number of references, a lock bit and a mark for slots that
 * cannot be written. References are those of page table entries and object slots that name the slot, one
 * each; the cache is no reference. The slot is free when it has neither a reference nor a page.
 *
 *   free --swap_add_page--> page, 0 --swap_dup, as entries are replaced--> page, n --swap_remove_clean--> n
 *     ^                       |                                              ^                            |
 *     +----swap_take_page-----+         swap_put, n times                    +----------swap_in-----------+
 *
 * A page shared by n entries after forks has one slot with n references: it is written once and read once. A
 * page that comes back keeps its slot while it stays clean; so it can leave again unwritten.
 *
 * The cache is a flat array, the slots themselves: to look up is one load, and putting a page there needs no
 * memory at the moment when there is none. Its pages are in address space that is used only where slots are;
 * a tree would save nothing, as slots are handed out in dense clusters.
 *
 * Taking a reference on a page that was found holds the slot's lock bit for three instructions; a look that
 * takes none (read-ahead, mincore) is a plain load. RCU would spare the bit, at the price that no frame that
 * reclaim takes is free before a grace period has passed, and a fault may not wait for one. With the bit, who
 * holds it knows that the page's references are all there will be: so reclaim decides and takes the page
 * away in one step, and the frame is free at once. The slot's line is written anyway, by who looks and by who
 * is looked for, when the reference of the entry goes.
 *
 * The page, while it is in the cache, is PG_swapcache with its entry in page->swap, and the cache has
 * one reference on it. Both change only with PG_locked. PG_dirty says that the slot has not the page's
 * contents. A page that is PG_writeback stays in the cache, and nobody may write to it: who wants to map it
 * writable waits first. (A compressing backing reads it twice.)
 *
 * Exclusion matrix, for one slot:
 *
 *                   find      dup, put   add, in's insert   remove, take
 *   find            lock bit   yes         yes               lock bit
 *   dup, put                   yes         yes               yes: one word
 *   insert                                 no: one word      no: PG_locked, one word
 *   remove, take                                             no: PG_locked
 *
 * Lock order: PG_locked (sleeps), then any spinning lock, swap_cpu_lock, swap_slot_lock. All but swap_in()
 * and the writer's functions neither sleep nor allocate, and may be called with a page table entry locked.
 */
#ifndef MM_SWAP_SWAP_H
#define MM_SWAP_SWAP_H

#include "base/message.h"
#include "mm/charge/charge.h"
#include "mm/page/frames.h"
#include "mm/page/page_io.h"
#include "mm/swap/swap_entry.h"

struct swap;

struct swap_config {
	struct frames *frames;
	/* Pages of one aligned window that are read when one of them is: a power of two, 1 to
	 * SF_IO_PAGES_MAX. */
	unsigned read_ahead_pages;
};

/* Makes swap without an area. Returns it; NULL without memory. Not from the fault path. */
struct swap *swap_create(const struct swap_config *config);

/*
 * Ends it and releases all backings. No slot has references; pages that only the cache has are freed. Nobody
 * else uses it. NULL is allowed.
 */
void swap_destroy(struct swap *swap);

struct swap_area_config {
	struct sf_backing *backing; /* as many slots as it has whole pages */
	int priority; /* areas of the highest are filled first; of equals the one that was added first */
	/* The backing's punch() is called for each slot that becomes free, and must not sleep. */
	bool discard;
};

/*
 * Adds an area. One caller at a time; others may use swap meanwhile. Returns 0; -EINVAL (no whole page, or
 * more than 40 bits of them; discard without punch()), -ENOSPC (SWAP_AREAS_MAX areas already), each with a
 * message; -ENOMEM. After an error the backing is the caller's. Not from the fault path.
 */
int swap_add_area(struct swap *swap, const struct swap_area_config *config, struct message *why);

/* Whether there is an area at all. */
bool swap_any(const struct swap *swap);

/*
 * Gives a page a slot and puts it into the cache, dirty. The page is locked, its contents are there, and it
 * is not in the cache; the caller has a reference, the cache takes one more. Returns 0, or -ENOSPC: swap is
 * full, or was but for slots that were freed just now.
 */
int swap_add_page(struct swap *swap, struct page *page);

/* The slot of a page that is PG_swapcache and locked by the caller. */
static inline struct swap_entry page_swap_entry(const struct page *page)
{
	return (struct swap_entry){atomic_load_explicit(&page->swap, memory_order_relaxed)};
}

/*
 * One more entry names the slot. The caller has the lock of one that does, or the slot's page is in the cache
 * and locked by it. Returns 0, or -ENOMEM when there are as many as can be counted, 4,194,303.
 */
int swap_dup(struct swap *swap, struct swap_entry entry);

/*
 * An entry no longer names the slot. The last one frees it, unless its page is in the cache: then true is
 * returned, and swap_take_cached() may free both.
 */
bool swap_put(struct swap *swap, struct swap_entry entry);

/* Whether the slot was found not to be writable: its page needs another one before it can leave. */
bool swap_is_bad(const struct swap *swap, struct swap_entry entry);

/*
 * Takes a page that the caller has locked out of the cache and frees the slot, if nothing else names it and
 * it is not being written: whoever maps it alone may then write to it. Returns whether it did; the cache's
 * reference is the caller's then. Anonymous memory is PG_dirty from then on, so that nobody takes a clean
 * entry for a sign that its contents can be had again.
 */
bool swap_take_page(struct swap *swap, struct page *page);

/*
 * The same for who has a reference on the page but not its lock: when the page is in the cache, and nobody
 * has it locked. Returns whether it did.
 */
bool swap_try_take_page(struct swap *swap, struct page *page);

/*
 * For who has a reference on a page, and has ended a mapping of it or has just unlocked it: the cache gives
 * the page and its slot up, if neither is of use to anybody any more. Whoever puts the last reference of a
 * slot while the page is locked leaves it to who unlocks it; the two see each other by the flags' order.
 */
void swap_free_unused(struct swap *swap, struct page *page);

/*
 * The same for a slot, after swap_put() has returned true. Returns the page with the cache's reference, which
 * is the caller's to put; or NULL, and it stays for who has it locked, or for reclaim.
 */
struct page *swap_take_cached(struct swap *swap, struct swap_entry entry);

/* Both in one: for an entry that does not name the slot any more. */
static inline struct page *swap_put_and_take(struct swap *swap, struct swap_entry entry)
{
	return swap_put(swap, entry) ? swap_take_cached(swap, entry) : NULL;
}

/*
 * For reclaim: takes a page that the caller has locked and has one reference on out of the cache, if it is
 * clean, not being written, and nobody else has a reference, a mapping's included. Entries go on naming the
 * slot. Returns whether it did; the cache's reference is the caller's then. Acquire: all accesses of the page
 * come before.
 */
bool swap_remove_clean(struct swap *swap, struct page *page);

/*
 * Takes a page that the caller has locked out of the cache, whatever names the slot: its read has failed; or
 * the slot has its contents, and no entry that names it can be met yet. The cache's reference is the caller's
 * then.
 */
void swap_uninsert(struct swap *swap, struct page *page);

/* Returns the page of a slot with a reference, or NULL. It may be on its way in: not PG_uptodate yet. */
struct page *swap_find(struct swap *swap, struct swap_entry entry);

/* Whether swap_in() would find the page in the cache. A hint. */
bool swap_is_cached(const struct swap *swap, struct swap_entry entry);

/*
 * Finds the page of a slot or reads it, with its neighbours in the window: those that are in use and not in
 * the cache, as far as frames are free. `entry` may have been read without a lock. Returns 0 with the page in
 * *page and a reference; -ENOENT when nothing names the slot any more; -ENOMEM, with charge->over_limit as
 * charged_page_alloc() has it; or what the read of this page failed with: nothing has changed then. Who maps
 * the page locks it first, and looks whether it is still that of the slot, and the entry still the same.
 *
 * What is read is charged to `charge` and on an LRU list, and neither anonymous memory's nor an object's: it
 * becomes that when an entry or an object first has it, by who has it locked. Until then the cache has the
 * only reference. `charge` NULL: charged to nobody, and on no list.
 *
 * Sleeps; nothing is held, and the caller is in no RCU read section. Part of the fault path.
 */
int swap_in(struct swap *swap, struct swap_entry entry, struct charge *charge, struct page **page);

/*
 * Whether more than half of all slots were in use a short while ago: then pages that are in memory give
 * theirs up, and have to be written again when they leave.
 */
bool swap_is_scarce(const struct swap *swap);

/* --- Writing --- */

#define SWAP_WRITER_RUNS 4u

struct swap_run {
	struct page_io io;
	struct page *page[SF_IO_PAGES_MAX];
	struct swap_entry first;
	int error; /* the transfer could not be started */
	bool started;
};

/* Writes pages to their slots, those of neighbouring slots together, some such runs at once. */
struct swap_writer {
	struct swap *swap;
	unsigned run_pages; /* at most so many in one transfer: 1 to SF_IO_PAGES_MAX */
	unsigned next;      /* the run that is being filled */
	struct swap_run run[SWAP_WRITER_RUNS];
	/* Results, complete after swap_writer_finish(). */
	unsigned written; /* pages */
	unsigned failed;
	int error; /* of the last that failed; 0: none did */
};

static inline void swap_writer_init(struct swap_writer *writer, struct swap *swap, unsigned run_pages)
{
	writer->swap = swap;
	writer->run_pages = run_pages;
	writer->next = 0;
	for (unsigned i = 0; i < SWAP_WRITER_RUNS; i++) {
		writer->run[i].started = false;
		writer->run[i].io.io.count = 0;
	}
	writer->written = 0;
	writer->failed = 0;
	writer->error = 0;
}

/*
 * Hands a page over to be written. It is in the cache, dirty, locked by the caller, and nobody can write to
 * it: entries are replaced or write protected, and flushed. Returns 0 with the page PG_writeback and clean,
 * for the caller to unlock; or -EIO when its slot is marked bad: the page stays. Sleeps for runs before.
 */
int swap_writer_add(struct swap_writer *writer, struct page *page);

/*
 * Starts what is left and waits for all. A page whose write failed is dirty again and stays in the cache;
 * after -EIO its slot is marked bad, which is not written again, nor used again once it is free. Returns
 * writer->error.
 */
int swap_writer_finish(struct swap_writer *writer);

/* --- Counts and checks --- */

struct swap_statistics {
	uint64_t slots;     /* of all areas */
	uint64_t used, bad; /* of those: with references or a page; not to be used again. The rest is free */
	uint64_t cached;    /* slots with a page in the cache */
	uint64_t read, ahead;   /* pages read because somebody wanted them; read with them */
	uint64_t written;       /* pages */
	uint64_t reads, writes; /* transfers */
};

/* Sums over all CPUs; while they run, of a moment that each has passed. */
void swap_statistics(const struct swap *swap, struct swap_statistics *statistics);

/*
 * Checks every slot while nothing runs, in three steps: begin; swap_check_user() for each page table entry
 * and object slot that names one; end, which compares. End returns 0 with the number of pages in the cache in
 * *cached; or -EINVAL with what is broken. Begin returns 0, or -ENOMEM, and then end must not be called.
 */
int swap_check_begin(struct swap *swap);
void swap_check_user(struct swap *swap, struct swap_entry entry);
int swap_check_end(struct swap *swap, uint64_t *cached, struct message *why);

#endif
