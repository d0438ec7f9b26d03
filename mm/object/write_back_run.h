/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/object/: dirty pages on their way to the backing, in runs of pages that lie next to each
 * other, some runs at once. The object's lock is held for reading or writing, or nobody else can reach the
 * object.
 */
#ifndef MM_OBJECT_WRITE_BACK_RUN_H
#define MM_OBJECT_WRITE_BACK_RUN_H

#include "mm/object/file.h"

#define WRITE_BACK_RUNS 4u

struct write_back_run {
	struct page_io io;
	struct page *page[SF_IO_PAGES_MAX];
	uint64_t first;
	int error;
	bool started;
};

/* On the stack of who writes back. */
struct write_back {
	struct file_object *file;
	bool waits; /* for pages that others write; else they are passed over, and stay dirty */
	struct write_back_run run[WRITE_BACK_RUNS];
	unsigned next; /* the run that is used next */
	/* Results; `written` is complete after write_back_finish(). */
	uint64_t started, written; /* pages */
};

/*
 * Takes the run of dirty pages that begins at `index` with `page`, whose reference it takes over, and ends
 * before `end` at the latest, and starts to write it. Returns where it ends: behind `index` in any case.
 * Sleeps.
 */
uint64_t write_back_pages(struct write_back *work, struct page *page, uint64_t index, uint64_t end);

/* Waits for all that was started. A page whose write failed is dirty again, and the object has the error. */
void write_back_finish(struct write_back *work);

/* Makes the backing known to be at least `bytes` large. */
void write_back_note_bytes(struct file_object *file, uint64_t bytes);

#endif
