/* SPDX-License-Identifier: MIT */
/*
 * Reclaim of objects' pages, in steps, so that reclaim unmaps and writes many pages together. For each page
 * that it has isolated, PG_locked by reclaim and with a reference of reclaim's:
 *
 *   object_evict_begin()    the page is marked PG_removed: no fault maps it any more, those that want it
 *                           wait until it is unlocked. Nobody cuts the object or writes to it by offset
 *   (reclaim unmaps it, and flushes: try_to_unmap(), rmap_batch_flush())
 *   object_evict_write()    shared memory goes into the swap cache and is handed to reclaim's writer
 *   (swap_writer_finish())
 *   object_evict_end()      takes the page out of the index if nobody uses it and its contents are safe, and
 *                           leaves a shadow, or the swap slot, in its place; else the page is as it was
 *   (reclaim puts back what stays, and puts its reference, in either case)
 *   object_evict_finish()   once for the batch, with no page locked
 *
 * A page that has left has one reference of the index's still, which reclaim puts a grace period later; then
 * its frame is free. So it is *coming*.
 *
 * All of it is part of the fault path; object_lock and references are only tried for. Of one batch all steps
 * are called by one CPU, one after the other.
 *
 * PG_removed of a page that is isolated says that it has left its object or is about to: lru_del() has said
 * so in its state, or will.
 */
#ifndef MM_OBJECT_EVICT_H
#define MM_OBJECT_EVICT_H

#include "mm/object/cache.h"
#include "mm/swap/swap.h"

#define EVICT_PAGES 32u

/* What is to be done with a page, or what was. */
enum evict {
	EVICT_GO, /* begin: go on with it; write: object_evict_end() is next, after the writer is finished */
	EVICT_KEPT,  /* it stays: somebody uses it, or is at work on it or on its object */
	EVICT_DIRTY, /* it stays: of a file, and has to be written back before: object_write_around() */
	EVICT_FULL,  /* it stays: shared memory, and there is no free slot, or no swap */
	EVICT_COMING /* it has left, and its frame is free after a grace period */
};

/* Pages of any objects that leave together. On the stack of who reclaims. */
struct evict_batch {
	struct frames *frames;
	/* Those that have left: the index's references are the caller's, to be put a grace period later. */
	unsigned left;
	struct page *leaving[EVICT_PAGES];
	/* Their objects, each once: locked for reading, with a reference. */
	unsigned count;
	struct sf_object *object[EVICT_PAGES];
};

void object_evict_init(struct evict_batch *batch, struct objects *objects);

/*
 * Begins with a page; up to EVICT_PAGES before object_evict_finish(). Returns EVICT_GO, EVICT_KEPT (also what
 * is no object's page, or no more), EVICT_DIRTY, or EVICT_FULL without swap. After all but EVICT_GO nothing
 * has changed.
 */
enum evict object_evict_begin(struct evict_batch *batch, struct page *page);

/*
 * After the page was unmapped and flushed: puts a page of shared memory that nobody uses into the swap cache,
 * and hands it to `writer`. Does nothing to others. Returns EVICT_GO, or EVICT_FULL without a slot;
 * object_evict_end() is to be called in both cases. The page stays locked until then. May sleep, as
 * swap_writer_add().
 */
enum evict object_evict_write(struct page *page, struct swap_writer *writer);

/*
 * After swap_writer_finish(): ends with the page and unlocks it. Returns EVICT_COMING; EVICT_KEPT when it is
 * still mapped, otherwise in use, or could not be written; EVICT_DIRTY; EVICT_FULL.
 */
enum evict object_evict_end(struct evict_batch *batch, struct page *page);

/*
 * Unlocks the objects and puts the references; an object whose last that is goes, a file after it was
 * written. All pages have ended. The caller holds nothing else. Sleeps. batch->leaving stays as it is.
 */
void object_evict_finish(struct evict_batch *batch);

/*
 * The last resort for a dirty page of a file, which the caller has a reference on and has not locked: writes
 * the dirty pages next to it with it, at most one transfer, unless the object is being cut. Returns how many
 * pages were written, and counts it as a single-page write if that is 1. Nothing is held. Sleeps.
 */
unsigned object_write_around(struct page *page);

#endif
