/* SPDX-License-Identifier: MIT */
/*
 * A disk in memory that does not count as RAM: the backing of an engine's files. A transfer is a copy by the
 * CPU that asks for it and is done when the call returns; so a disk costs bandwidth, and nobody waits for it.
 * It counts what it is asked for, by itself: what the memory system says of its transfers can be held against
 * that.
 */
#ifndef ENGINE_MEMORY_DISK_H
#define ENGINE_MEMORY_DISK_H

#include <stdint.h>

#include "softfault.h"

/* Calls, and the pages of all of them. */
struct disk_counts {
	uint64_t reads, pages_read;
	uint64_t writes, pages_written;
};

/*
 * Makes a disk of `bytes` zeroes, 1 or more; they are address space until they are written. Returns the
 * backing, whose release() frees it, or NULL without memory.
 */
struct sf_backing *disk_create(uint64_t bytes);

/* For one whose backing nobody has taken. */
void disk_destroy(struct sf_backing *backing);

/* Adds what the disk was asked for to `counts`; while CPUs run, of a moment that each has passed. */
void disk_add_counts(const struct sf_backing *backing, struct disk_counts *counts);

#endif
