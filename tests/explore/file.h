/* SPDX-License-Identifier: MIT */
/*
 * A file for checks of file mappings: small, so that a transfer is few steps. It keeps the first words of
 * each page; the rest of a page is zeroes and is not looked at.
 */
#ifndef TESTS_EXPLORE_FILE_H
#define TESTS_EXPLORE_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mm/system/system.h"
#include "sync/spinlock.h"

#define FILE_PAGES 6u
#define FILE_WORDS 6u

struct file {
	struct sf_backing backing;
	/* What a file system would hold while it is at work; protects the words and the size. */
	struct spinlock lock;
	uint64_t word[FILE_PAGES][FILE_WORDS];
	uint64_t bytes;
	_Atomic uint32_t written;  /* transfers that have ended well */
	_Atomic uint32_t failures; /* so many writes fail from now on */
	_Atomic uint32_t released;
	/*
	 * With `late` transfers are begun and no more: whoever calls file_complete() does the rest. One at a
	 * time. `begun` is raised by each, and by file_no_more().
	 */
	bool late;
	struct sf_io *_Atomic waiting;
	_Atomic uint32_t begun;
	_Atomic bool ended;
};

/* Makes a file of `pages`; page i begins with the word i + 1. */
void file_open(struct file *file, unsigned pages);

/* Does what was begun `late`, as it comes, until file_no_more(). On a CPU of its own. */
void file_complete(struct file *file);

/* Says that nobody begins a transfer any more. */
void file_no_more(struct file *file);

#endif
