/* SPDX-License-Identifier: MIT */
/*
 * The memory of host/swap_compressed.h: pieces of a bounded pool. A piece is named by a number other than 0.
 */
#ifndef HOST_SWAP_POOL_H
#define HOST_SWAP_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define SWAP_POOL_SLAB_BYTES  16384u
#define SWAP_POOL_STEP_BYTES  128u
#define SWAP_POOL_PIECE_BYTES 4096u /* the largest piece */
#define SWAP_POOL_CLASSES     (SWAP_POOL_PIECE_BYTES / SWAP_POOL_STEP_BYTES)
#define SWAP_POOL_PIECES      (SWAP_POOL_SLAB_BYTES / SWAP_POOL_STEP_BYTES)

#define SWAP_POOL_NO_SLAB UINT32_MAX

/* By its class's lock; while it is free, by slabs_lock. */
struct swap_slab {
	uint64_t free[SWAP_POOL_PIECES / 64]; /* a bit for each piece that is free */
	uint32_t next, prev; /* those of its class with both free pieces and others; next of free slabs */
	uint16_t size_class, used;
};

/* A lock that spins: who holds it is soon done. */
struct swap_pool_lock {
	CACHE_LINE_ALIGNED _Atomic uint32_t taken;
};

struct swap_pool_class {
	struct swap_pool_lock lock;
	uint32_t first; /* slab with free pieces; by lock */
};

struct swap_pool {
	/* Read only. */
	char *memory;
	struct swap_slab *slab;
	uint32_t slabs;
	struct swap_pool_class *size_class;

	struct swap_pool_lock slabs_lock; /* below the class locks */
	uint32_t free_slab;               /* by slabs_lock */
	uint32_t fresh;                   /* slabs from here on were never used; by slabs_lock */
	_Atomic uint32_t used;            /* slabs; written by slabs_lock */
};

/* Opens a pool of `slabs` slabs. Returns 0, or -ENOMEM. */
int swap_pool_open(struct swap_pool *pool, uint32_t slabs);
void swap_pool_close(struct swap_pool *pool);

/* Returns a piece of at least `bytes` (1 to SWAP_POOL_PIECE_BYTES), or 0 when the pool is full. */
uint32_t swap_pool_get(struct swap_pool *pool, size_t bytes);
void swap_pool_put(struct swap_pool *pool, uint32_t piece);

/* The memory of a piece. */
void *swap_pool_address(const struct swap_pool *pool, uint32_t piece);

/* How many bytes it has room for. */
size_t swap_pool_room(const struct swap_pool *pool, uint32_t piece);

#endif
