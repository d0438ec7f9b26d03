/* SPDX-License-Identifier: MIT */
#include "host/swap_pool.h"

#include <errno.h>
#include <string.h>

#include "port/memory.h"
#include "port/panic.h"
#include "port/spin.h"

static void take(struct swap_pool_lock *lock)
{
	while (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
		port_spin_until_u32(&lock->taken, 1, 0);
}

static void drop(struct swap_pool_lock *lock)
{
	atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

int swap_pool_open(struct swap_pool *pool, uint32_t slabs)
{
	memset(pool, 0, sizeof(*pool));
	pool->slabs = slabs;
	pool->free_slab = SWAP_POOL_NO_SLAB;
	pool->memory =
	    port_memory_alloc((size_t)slabs * SWAP_POOL_SLAB_BYTES, PORT_NODE_FIRST_TOUCH, "compressed page");
	pool->slab =
	    port_memory_alloc(slabs * sizeof(*pool->slab), PORT_NODE_FIRST_TOUCH, "struct swap_slab");
	pool->size_class = port_memory_alloc(SWAP_POOL_CLASSES * sizeof(*pool->size_class),
					     PORT_NODE_FIRST_TOUCH, "struct swap_pool_class");
	if (!pool->memory || !pool->slab || !pool->size_class) {
		swap_pool_close(pool);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < SWAP_POOL_CLASSES; i++)
		pool->size_class[i].first = SWAP_POOL_NO_SLAB;
	return 0;
}

void swap_pool_close(struct swap_pool *pool)
{
	port_memory_free(pool->memory, (size_t)pool->slabs * SWAP_POOL_SLAB_BYTES);
	port_memory_free(pool->slab, pool->slabs * sizeof(*pool->slab));
	port_memory_free(pool->size_class, SWAP_POOL_CLASSES * sizeof(*pool->size_class));
}

static size_t class_bytes(unsigned size_class)
{
	return (size_t)(size_class + 1) * SWAP_POOL_STEP_BYTES;
}

static unsigned class_pieces(unsigned size_class)
{
	return (unsigned)(SWAP_POOL_SLAB_BYTES / class_bytes(size_class));
}

/* A class's list holds slabs with free pieces; its lock is held. */
static void link_slab(struct swap_pool *pool, struct swap_pool_class *list, uint32_t number)
{
	struct swap_slab *slab = &pool->slab[number];

	slab->prev = SWAP_POOL_NO_SLAB;
	slab->next = list->first;
	if (list->first != SWAP_POOL_NO_SLAB)
		pool->slab[list->first].prev = number;
	list->first = number;
}

static void unlink_slab(struct swap_pool *pool, struct swap_pool_class *list, uint32_t number)
{
	struct swap_slab *slab = &pool->slab[number];

	if (slab->prev != SWAP_POOL_NO_SLAB)
		pool->slab[slab->prev].next = slab->next;
	else
		list->first = slab->next;
	if (slab->next != SWAP_POOL_NO_SLAB)
		pool->slab[slab->next].prev = slab->prev;
}

/* Gives a class, whose lock is held, one more slab. */
static bool add_slab(struct swap_pool *pool, unsigned size_class)
{
	unsigned pieces = class_pieces(size_class);
	uint32_t number = SWAP_POOL_NO_SLAB;
	struct swap_slab *slab;

	take(&pool->slabs_lock);
	if (pool->free_slab != SWAP_POOL_NO_SLAB) {
		number = pool->free_slab;
		pool->free_slab = pool->slab[number].next;
	} else if (pool->fresh < pool->slabs) {
		number = pool->fresh++;
	}
	if (number != SWAP_POOL_NO_SLAB)
		atomic_fetch_add_explicit(&pool->used, 1, memory_order_relaxed);
	drop(&pool->slabs_lock);
	if (number == SWAP_POOL_NO_SLAB)
		return false;
	slab = &pool->slab[number];
	slab->size_class = (uint16_t)size_class;
	slab->used = 0;
	memset(slab->free, 0, sizeof(slab->free));
	for (unsigned i = 0; i < pieces; i++)
		slab->free[i / 64] |= UINT64_C(1) << i % 64;
	link_slab(pool, &pool->size_class[size_class], number);
	return true;
}

static void give_slab(struct swap_pool *pool, uint32_t number)
{
	take(&pool->slabs_lock);
	pool->slab[number].next = pool->free_slab;
	pool->free_slab = number;
	atomic_fetch_sub_explicit(&pool->used, 1, memory_order_relaxed);
	drop(&pool->slabs_lock);
}

uint32_t swap_pool_get(struct swap_pool *pool, size_t bytes)
{
	unsigned size_class = (unsigned)((bytes - 1) / SWAP_POOL_STEP_BYTES), word = 0, bit;
	struct swap_pool_class *list = &pool->size_class[size_class];
	struct swap_slab *slab;
	uint32_t number;

	take(&list->lock);
	if (list->first == SWAP_POOL_NO_SLAB && !add_slab(pool, size_class)) {
		drop(&list->lock);
		return 0;
	}
	number = list->first;
	slab = &pool->slab[number];
	while (!slab->free[word])
		word++;
	bit = (unsigned)__builtin_ctzll(slab->free[word]);
	slab->free[word] &= slab->free[word] - 1;
	slab->used++;
	if (slab->used == class_pieces(size_class))
		unlink_slab(pool, list, number);
	drop(&list->lock);
	return number * SWAP_POOL_PIECES + word * 64 + bit + 1;
}

/* A slab's class stays while one of its pieces is the caller's. */
void swap_pool_put(struct swap_pool *pool, uint32_t piece)
{
	uint32_t number = (piece - 1) / SWAP_POOL_PIECES, at = (piece - 1) % SWAP_POOL_PIECES;
	struct swap_slab *slab = &pool->slab[number];
	struct swap_pool_class *list = &pool->size_class[slab->size_class];
	unsigned pieces = class_pieces(slab->size_class);
	uint64_t bit = UINT64_C(1) << at % 64;

	take(&list->lock);
	invariant(!(slab->free[at / 64] & bit) && slab->used);
	slab->free[at / 64] |= bit;
	if (slab->used == pieces)
		link_slab(pool, list, number);
	slab->used--;
	if (!slab->used) {
		unlink_slab(pool, list, number);
		give_slab(pool, number);
	}
	drop(&list->lock);
}

void *swap_pool_address(const struct swap_pool *pool, uint32_t piece)
{
	uint32_t number = (piece - 1) / SWAP_POOL_PIECES, at = (piece - 1) % SWAP_POOL_PIECES;

	return pool->memory + (size_t)number * SWAP_POOL_SLAB_BYTES +
	       at * class_bytes(pool->slab[number].size_class);
}

size_t swap_pool_room(const struct swap_pool *pool, uint32_t piece)
{
	return class_bytes(pool->slab[(piece - 1) / SWAP_POOL_PIECES].size_class);
}
