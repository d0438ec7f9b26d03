/* SPDX-License-Identifier: MIT */
/*
 * Writing dirty pages of files back: all of a range, for who waits for it (file_write_back(),
 * mm/object/file.h), and in the background, in file order, file after file, with nobody waiting for a page.
 */
#ifndef MM_OBJECT_WRITE_BACK_H
#define MM_OBJECT_WRITE_BACK_H

#include <stdint.h>

#include "mm/object/objects.h"

/*
 * Writes up to `pages` dirty pages of the system's files, in transfers of up to objects->write_back_pages,
 * from where the last call has stopped; files that somebody cuts are passed over. Returns how many were
 * written: 0 when nothing is dirty or all that is fails, or while somebody else does it. Nothing is held.
 * Sleeps. Part of the fault path, as far as a fault may sleep.
 */
uint64_t objects_write_back(struct objects *objects, uint64_t pages);

/* Sums over all CPUs; while they run, of a moment that each has passed. */
struct write_back_statistics {
	uint64_t calls;   /* transfers to backings of files */
	uint64_t written; /* pages */
	uint64_t single;  /* of the calls, those of one page that reclaim has made as a last resort */
};
void objects_write_back_statistics(struct objects *objects, struct write_back_statistics *statistics);

#endif
