/* SPDX-License-Identifier: MIT */
/*
 * An address space as the reverse map sees it: a table, and who knows what is locked in memory. VMAs stand
 * in mm/space/, which this folder does not see.
 */
#ifndef MM_RMAP_SPACE_H
#define MM_RMAP_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mm/table/table.h"

struct rmap_space {
	/* Read only. */
	CACHE_LINE_ALIGNED struct table *table;
	/*
	 * Whether the entry of `address`, whose lock the caller has, may be taken away for want of memory: 0;
	 * -EPERM, what lies there is locked in memory; -EAGAIN, it is being changed, and may come to be. In
	 * an RCU read section: neither sleeps nor takes a lock. Who locks memory changes the VMA first and
	 * then waits for who has an entry locked, before it looks which pages are there.
	 */
	int (*may_unmap)(struct rmap_space *space, uintptr_t address);

	/* Batches that will flush it. Atomic; a word to sleep on. */
	CACHE_LINE_ALIGNED _Atomic uint32_t batches;
};

/* A place at which a page may be mapped. In no read section; returns whether to go on. */
typedef bool rmap_visit(struct rmap_space *space, uintptr_t address, void *argument);

void rmap_space_init(struct rmap_space *space, struct table *table,
		     int (*may_unmap)(struct rmap_space *space, uintptr_t address));

/* For a batch. The caller holds what keeps the space: a semaphore by which it found it. */
void rmap_space_get(struct rmap_space *space);
void rmap_space_put(struct rmap_space *space);

/*
 * The space ends: nothing leads to it any more. Returns when no batch will flush it, and its table may be
 * freed. Sleeps; nothing is held.
 */
void rmap_space_end(struct rmap_space *space);

#endif
