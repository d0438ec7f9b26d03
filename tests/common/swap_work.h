/* SPDX-License-Identifier: MIT */
/*
 * The life of swapped pages in small, for stress and for the virtual machine: CPUs read, write, fork, drop
 * and reclaim a table of entries, each under a lock of its own, and know what each must contain. One CPU is
 * the device: it ends transfers later, in another order, and makes some fail.
 */
#ifndef TESTS_COMMON_SWAP_WORK_H
#define TESTS_COMMON_SWAP_WORK_H

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/random.h"
#include "mm/page/page_wait.h"
#include "mm/swap/swap.h"
#include "port/memory.h"
#include "port/spin.h"
#include "sync/spinlock.h"

#define WORK_CPUS    6u /* the last one is the device */
#define WORK_ENTRIES 48u
#define WORK_SLOTS   96u
#define WORK_FRAMES  4096u
#define WORK_QUEUE   (WORK_CPUS * (SWAP_WRITER_RUNS + 4u))
#define WORK_WORDS   32u /* of a page that are looked at */

/* A page table entry: empty, a page that it maps (with a reference), or a slot. */
struct work_entry {
	CACHE_LINE_ALIGNED struct spinlock lock;
	enum { WORK_EMPTY, WORK_MAPS, WORK_OUT } state;
	bool dirty; /* it has written to the page */
	struct page *page;
	struct swap_entry slot;
	uint64_t contents;
};

struct work_transfer {
	struct sf_io *io;
	bool write;
};

static struct {
	struct frames *frames;
	struct swap *swap;
	struct work_entry entry[WORK_ENTRIES];
	struct sf_backing backing;
	uint64_t (*disk)[WORK_WORDS]; /* of each slot */
	struct spinlock queue_lock;
	struct work_transfer queue[WORK_QUEUE];
	unsigned queued;
	_Atomic uint32_t wanted; /* raised with each transfer and at the end: the device sleeps on it */
	_Atomic uint32_t working;
	unsigned rounds;
	uint64_t seed;
	/* One transfer in so many fails; 0: none. */
	unsigned fails;
	_Atomic uint64_t read_errors, write_errors, full, outs, ins;
} swap_work;

static inline uint64_t *work_word(const struct page *page, unsigned i)
{
	return (uint64_t *)page_address(swap_work.frames, page) + i * (512 / WORK_WORDS);
}

/* Numbers that lz4 finds no pattern in. */
static inline uint64_t work_value(uint64_t contents, unsigned i)
{
	struct random random = {contents + i};

	return random_next(&random);
}

static inline void work_fill(const struct page *page, uint64_t contents)
{
	for (unsigned i = 0; i < WORK_WORDS; i++)
		*work_word(page, i) = work_value(contents, i);
}

static inline void work_look(const struct page *page, uint64_t contents)
{
	for (unsigned i = 0; i < WORK_WORDS; i++)
		invariant(*work_word(page, i) == work_value(contents, i));
}

static inline int work_queue(struct sf_io *io, bool write)
{
	spin_lock(&swap_work.queue_lock);
	invariant(swap_work.queued < WORK_QUEUE);
	swap_work.queue[swap_work.queued++] = (struct work_transfer){io, write};
	spin_unlock(&swap_work.queue_lock);
	atomic_fetch_add_explicit(&swap_work.wanted, 1, memory_order_release);
	port_wake(&swap_work.wanted, 1);
	return 0;
}

static inline int work_read(struct sf_backing *backing, struct sf_io *io)
{
	(void)backing;
	return work_queue(io, false);
}

static inline int work_write(struct sf_backing *backing, struct sf_io *io)
{
	(void)backing;
	return work_queue(io, true);
}

static inline void work_release(struct sf_backing *backing)
{
	(void)backing;
}

static const struct sf_backing_ops work_ops = {
    .read = work_read, .write = work_write, .release = work_release};

static inline void work_transfer(const struct work_transfer *transfer, struct random *random)
{
	struct sf_io *io = transfer->io;
	int error = 0;

	invariant(io->bytes == io->count * PORT_PAGE_SIZE);
	if (swap_work.fails && !random_below(random, swap_work.fails))
		error = random_below(random, 64) ? -ENOMEM : -EIO;
	for (unsigned i = 0; i < io->count && !error; i++) {
		uint64_t *slot = swap_work.disk[(io->offset >> PORT_PAGE_SHIFT) + i];

		for (unsigned j = 0; j < WORK_WORDS; j++) {
			uint64_t *word = (uint64_t *)io->page[i] + j * (512 / WORK_WORDS);

			if (transfer->write)
				slot[j] = *word;
			else
				*word = slot[j];
		}
	}
	sf_io_done(io, error);
}

/* Ends transfers, any one first, until nobody works any more. */
static inline void work_device(struct random *random)
{
	for (;;) {
		uint32_t wanted = atomic_load_explicit(&swap_work.wanted, memory_order_acquire);
		struct work_transfer transfer = {NULL, false};

		spin_lock(&swap_work.queue_lock);
		if (swap_work.queued) {
			unsigned at = (unsigned)random_below(random, swap_work.queued);

			transfer = swap_work.queue[at];
			swap_work.queue[at] = swap_work.queue[--swap_work.queued];
		}
		spin_unlock(&swap_work.queue_lock);
		if (transfer.io)
			work_transfer(&transfer, random);
		else if (!atomic_load_explicit(&swap_work.working, memory_order_acquire))
			return;
		else
			port_wait(&swap_work.wanted, wanted);
	}
}

/* Brings the page of an entry in, which is unlocked. Returns 0 with it mapped, maybe by another; or an errno.
 */
static inline int work_fault(struct work_entry *entry, struct swap_entry slot, struct random *random)
{
	struct swap *swap = swap_work.swap;
	struct page *page, *taken = NULL;
	int error = swap_in(swap, slot, NULL, &page);

	if (error == -ENOENT)
		return 0;
	if (error) {
		atomic_fetch_add_explicit(&swap_work.read_errors, 1, memory_order_relaxed);
		return error;
	}
	page_lock(page);
	spin_lock(&entry->lock);
	if (entry->state == WORK_OUT && entry->slot.value == slot.value &&
	    page_has_flag(page, PG_swapcache) && page_swap_entry(page).value == slot.value) {
		work_look(page, entry->contents);
		page_get(page);
		page_add_mapping(page);
		entry->state = WORK_MAPS;
		entry->page = page;
		entry->dirty = false;
		if (swap_put(swap, slot) && random_below(random, 2) && swap_take_page(swap, page))
			taken = page;
		atomic_fetch_add_explicit(&swap_work.ins, 1, memory_order_relaxed);
	}
	spin_unlock(&entry->lock);
	page_unlock(page);
	if (taken)
		page_put(swap_work.frames, taken);
	page_put(swap_work.frames, page);
	return 0;
}

/* Under the entry's lock: takes away what is there. Returns the page to be put, once for each reference. */
static inline void work_empty(struct work_entry *entry, struct page *put[2])
{
	put[0] = put[1] = NULL;
	if (entry->state == WORK_MAPS) {
		page_remove_mapping(entry->page);
		put[0] = entry->page;
		if (swap_try_take_page(swap_work.swap, entry->page))
			put[1] = entry->page;
	} else if (entry->state == WORK_OUT && swap_put(swap_work.swap, entry->slot)) {
		put[0] = swap_take_cached(swap_work.swap, entry->slot);
	}
	entry->state = WORK_EMPTY;
	entry->dirty = false;
}

static inline void work_drop(struct work_entry *entry)
{
	struct page *put[2];

	spin_lock(&entry->lock);
	work_empty(entry, put);
	spin_unlock(&entry->lock);
	for (unsigned i = 0; i < 2; i++)
		if (put[i])
			page_put(swap_work.frames, put[i]);
}

/*
 * Writes, with the entry locked, mapping a page. Returns false when the page has to be waited for: *wait is
 * set then, with a reference.
 */
static inline bool work_write_mapped(struct work_entry *entry, uint64_t contents, struct page **fresh,
				     struct page **put, struct page **wait)
{
	struct page *page = entry->page;
	/* With one reference it is not in the cache either. */
	bool own = page_is_exclusive(page);

	if (!own && page_has_flag(page, PG_swapcache)) {
		bool busy = !page_try_flag(page, PG_locked);

		if (!busy) {
			busy = page_has_flag(page, PG_writeback);
			own = !busy && page_has_flag(page, PG_swapcache) && page_mapcount(page) == 1 &&
			      swap_take_page(swap_work.swap, page);
			page_unlock(page);
		}
		if (busy) {
			page_get(page);
			*wait = page;
			return false;
		}
		if (own)
			*put = page;
	}
	if (!own) {
		work_fill(*fresh, contents);
		page_remove_mapping(page);
		*put = page;
		entry->page = *fresh;
		page_add_mapping(*fresh);
		*fresh = NULL;
	} else {
		work_fill(page, contents);
	}
	entry->contents = contents;
	entry->dirty = true;
	return true;
}

/* Reads or, with contents other than 0, writes. */
static inline void work_touch(struct work_entry *entry, uint64_t contents, struct random *random)
{
	struct page *fresh = frame_alloc(swap_work.frames);

	invariant(fresh);
	for (;;) {
		struct page *put = NULL, *wait = NULL;
		struct swap_entry slot = {0};
		bool out = false, done = true;

		spin_lock(&entry->lock);
		if (entry->state == WORK_EMPTY && contents) {
			work_fill(fresh, contents);
			page_add_mapping(fresh);
			entry->page = fresh;
			entry->state = WORK_MAPS;
			entry->contents = contents;
			entry->dirty = true;
			fresh = NULL;
		} else if (entry->state == WORK_MAPS) {
			if (contents)
				done = work_write_mapped(entry, contents, &fresh, &put, &wait);
			else
				work_look(entry->page, entry->contents);
		} else if (entry->state == WORK_OUT) {
			out = true;
			slot = entry->slot;
		}
		spin_unlock(&entry->lock);
		if (put)
			page_put(swap_work.frames, put);
		if (wait) {
			page_wait_flag(wait, PG_locked);
			page_wait_flag(wait, PG_writeback);
			page_put(swap_work.frames, wait);
		}
		if (out ? work_fault(entry, slot, random) != 0 : done)
			break;
	}
	if (fresh)
		page_put(swap_work.frames, fresh);
}

/* Makes `to` what `from` is, as a fork does. */
static inline void work_fork(struct work_entry *from, struct work_entry *to)
{
	if (from == to)
		return;
	spin_lock(&from->lock);
	if (spin_trylock(&to->lock)) {
		if (to->state == WORK_EMPTY && from->state != WORK_EMPTY &&
		    (from->state == WORK_MAPS || !swap_dup(swap_work.swap, from->slot))) {
			if (from->state == WORK_MAPS) {
				page_get(from->page);
				page_add_mapping(from->page);
			}
			to->state = from->state;
			to->page = from->page;
			to->slot = from->slot;
			to->contents = from->contents;
			to->dirty = from->dirty;
		}
		spin_unlock(&to->lock);
	}
	spin_unlock(&from->lock);
}

/* Replaces all entries that map a page, which is locked and in the cache. */
static inline void work_unmap(struct page *page)
{
	struct swap_entry slot = page_swap_entry(page);

	for (unsigned i = 0; i < WORK_ENTRIES && page_mapcount(page); i++) {
		struct work_entry *entry = &swap_work.entry[i];
		bool put = false;

		spin_lock(&entry->lock);
		if (entry->state == WORK_MAPS && entry->page == page && !swap_dup(swap_work.swap, slot)) {
			if (entry->dirty)
				page_set_flag(page, PG_dirty);
			page_remove_mapping(page);
			entry->state = WORK_OUT;
			entry->slot = slot;
			put = true;
		}
		spin_unlock(&entry->lock);
		if (put)
			page_put(swap_work.frames, page);
	}
}

#define WORK_BATCH 6u

/* Takes a page of an entry, locked and in the cache, if that can be had at once. */
static inline struct page *work_isolate(struct work_entry *entry)
{
	struct page *page = NULL;

	spin_lock(&entry->lock);
	if (entry->state == WORK_MAPS) {
		page = entry->page;
		page_get(page);
	}
	spin_unlock(&entry->lock);
	if (!page)
		return NULL;
	if (page_try_flag(page, PG_locked)) {
		if (!page_has_flag(page, PG_writeback) &&
		    (page_has_flag(page, PG_swapcache) || !swap_add_page(swap_work.swap, page)))
			return page;
		if (!page_has_flag(page, PG_writeback))
			atomic_fetch_add_explicit(&swap_work.full, 1, memory_order_relaxed);
		page_unlock(page);
	}
	page_put(swap_work.frames, page);
	return NULL;
}

/* There are no lists here on which reclaim would find pages that only the cache has. */
static inline void work_sweep(void)
{
	for (uint64_t slot = 0; slot < WORK_SLOTS; slot++) {
		struct page *page = swap_take_cached(swap_work.swap, swap_entry(0, slot));

		if (page)
			page_put(swap_work.frames, page);
	}
}

static inline void work_reclaim(struct random *random)
{
	struct page *page[WORK_BATCH];
	struct swap_writer writer;
	unsigned count = 0;

	if (!random_below(random, 8))
		work_sweep();
	swap_writer_init(&writer, swap_work.swap, 1 + (unsigned)random_below(random, WORK_BATCH));
	for (unsigned i = 0; i < WORK_BATCH; i++) {
		struct page *one = work_isolate(&swap_work.entry[random_below(random, WORK_ENTRIES)]);

		if (!one)
			continue;
		work_unmap(one);
		/* Bad, or mapped still: it stays, and is found. */
		if (!page_mapcount(one) && page_has_flag(one, PG_dirty))
			swap_writer_add(&writer, one);
		page_unlock(one);
		page[count++] = one;
	}
	swap_writer_finish(&writer);
	atomic_fetch_add_explicit(&swap_work.write_errors, writer.failed, memory_order_relaxed);
	for (unsigned i = 0; i < count; i++) {
		bool removed = false;

		if (page_try_flag(page[i], PG_locked)) {
			removed = page_has_flag(page[i], PG_swapcache) &&
				  swap_remove_clean(swap_work.swap, page[i]);
			page_unlock(page[i]);
		}
		if (removed) {
			atomic_fetch_add_explicit(&swap_work.outs, 1, memory_order_relaxed);
			page_put(swap_work.frames, page[i]);
		}
		page_put(swap_work.frames, page[i]);
	}
}

static inline void swap_work_run(unsigned cpu, void *argument)
{
	struct random random;

	(void)argument;
	random_seed(&random, swap_work.seed * WORK_CPUS + cpu);
	if (cpu == WORK_CPUS - 1) {
		work_device(&random);
		return;
	}
	for (unsigned i = 0; i < swap_work.rounds; i++) {
		struct work_entry *entry = &swap_work.entry[random_below(&random, WORK_ENTRIES)];
		struct work_entry *other = &swap_work.entry[random_below(&random, WORK_ENTRIES)];
		uint64_t what = random_below(&random, 16);

		if (what < 5)
			work_touch(entry, 0, &random);
		else if (what < 9)
			work_touch(entry, random_next(&random) | 1, &random);
		else if (what < 11)
			work_fork(entry, other);
		else if (what < 12)
			work_drop(entry);
		else
			work_reclaim(&random);
		port_rcu_poll();
	}
	atomic_fetch_sub_explicit(&swap_work.working, 1, memory_order_acq_rel);
	atomic_fetch_add_explicit(&swap_work.wanted, 1, memory_order_release);
	port_wake(&swap_work.wanted, 1);
}

/* Before a run, the device's part in the next one. */
static inline void swap_work_arm(unsigned rounds, uint64_t seed, unsigned fails)
{
	swap_work.rounds = rounds;
	swap_work.seed = seed;
	swap_work.fails = fails;
	atomic_store(&swap_work.working, WORK_CPUS - 1);
}

/* Over the device, or another backing, with discard. */
static inline void swap_work_open(unsigned read_ahead_pages, struct sf_backing *backing)
{
	struct frames_config frames = {.own_frames = WORK_FRAMES + 1};
	struct message why = {""};

	memset(&swap_work, 0, sizeof(swap_work));
	swap_work.frames = frames_create(&frames);
	invariant(swap_work.frames);
	swap_work.swap = swap_create(
	    &(struct swap_config){.frames = swap_work.frames, .read_ahead_pages = read_ahead_pages});
	swap_work.disk =
	    port_memory_alloc(WORK_SLOTS * sizeof(*swap_work.disk), PORT_NODE_FIRST_TOUCH, "disk");
	invariant(swap_work.swap && swap_work.disk);
	swap_work.backing.ops = &work_ops;
	swap_work.backing.bytes = WORK_SLOTS * PORT_PAGE_SIZE;
	invariant(!swap_add_area(swap_work.swap,
				 &(struct swap_area_config){.backing = backing ? backing : &swap_work.backing,
							    .discard = backing != NULL},
				 &why));
	spin_lock_init(&swap_work.queue_lock, LOCK_RANK_NONE);
	for (unsigned i = 0; i < WORK_ENTRIES; i++)
		spin_lock_init(&swap_work.entry[i].lock, LOCK_RANK_PTE);
}

/* While nothing runs: every slot has the references that entries make. Returns NULL, or what is wrong. */
static inline const char *swap_work_check(void)
{
	static struct message why;
	uint64_t cached;

	invariant(!swap_check_begin(swap_work.swap));
	for (unsigned i = 0; i < WORK_ENTRIES; i++)
		if (swap_work.entry[i].state == WORK_OUT)
			swap_check_user(swap_work.swap, swap_work.entry[i].slot);
	return swap_check_end(swap_work.swap, &cached, &why) ? why.text : NULL;
}

/* Drops all, and returns what is wrong with the frames then, or NULL. */
static inline const char *swap_work_close(void)
{
	static struct message why;

	for (unsigned i = 0; i < WORK_ENTRIES; i++)
		work_drop(&swap_work.entry[i]);
	swap_destroy(swap_work.swap);
	port_memory_free(swap_work.disk, WORK_SLOTS * sizeof(*swap_work.disk));
	if (frames_check(swap_work.frames, 0, &why))
		return why.text;
	frames_destroy(swap_work.frames);
	return NULL;
}

#endif
