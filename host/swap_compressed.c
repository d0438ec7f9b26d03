/* SPDX-License-Identifier: MIT */
#include "host/swap_compressed.h"

#include <errno.h>
#include <lz4.h>
#include <string.h>

#include "host/swap_pool.h"
#include "port/cpu.h"
#include "port/memory.h"

/* What is not smaller than this is kept as it is. */
#define COMPRESSED_BYTES_MAX (SF_PAGE_SIZE * 3 / 4)
#define LIMIT_BYTES_MAX      (UINT64_C(64) << 30)

/* A slot's page. Two callers never are at work on one slot. */
struct kept {
	uint32_t piece; /* 0: none */
	uint32_t bytes; /* SF_PAGE_SIZE: as it is */
};

/* One CPU's, and what it has added to the sums. */
struct scratch {
	CACHE_LINE_ALIGNED _Atomic int64_t pages;
	_Atomic int64_t raw_pages, data_bytes;
	char out[COMPRESSED_BYTES_MAX];
	_Alignas(8) char state[]; /* lz4's */
};

struct compressed {
	struct sf_backing backing;
	struct kept *kept;
	struct swap_pool pool;
	char *scratch; /* a struct scratch for each CPU */
	size_t scratch_bytes;
};

static struct compressed *compressed_of(struct sf_backing *backing)
{
	return container_of(backing, struct compressed, backing);
}

static struct scratch *scratch_of(const struct compressed *own, unsigned cpu)
{
	return (struct scratch *)(own->scratch + cpu * own->scratch_bytes);
}

/* Written by its CPU alone, relaxed. */
static void add(_Atomic int64_t *sum, int64_t change)
{
	atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + change,
			      memory_order_relaxed);
}

static void count(const struct compressed *own, const struct kept *kept, int64_t change)
{
	struct scratch *scratch = scratch_of(own, port_cpu());

	add(&scratch->pages, change);
	if (kept->bytes == SF_PAGE_SIZE)
		add(&scratch->raw_pages, change);
	add(&scratch->data_bytes, change * (int64_t)kept->bytes);
}

static void forget(struct compressed *own, struct kept *kept)
{
	if (!kept->piece)
		return;
	count(own, kept, -1);
	swap_pool_put(&own->pool, kept->piece);
	kept->piece = 0;
}

/* What the slot had before is of no use to anybody: the page in memory is newer. */
static int keep(struct compressed *own, struct kept *kept, const void *page)
{
	struct scratch *scratch = scratch_of(own, port_cpu());
	int got = LZ4_compress_fast_extState(scratch->state, page, scratch->out, (int)SF_PAGE_SIZE,
					     (int)COMPRESSED_BYTES_MAX, 1);
	const void *from = got > 0 ? scratch->out : page;
	size_t bytes = got > 0 ? (size_t)got : SF_PAGE_SIZE;

	forget(own, kept);
	kept->piece = swap_pool_get(&own->pool, bytes);
	if (!kept->piece)
		return -ENOSPC;
	kept->bytes = (uint32_t)bytes;
	memcpy(swap_pool_address(&own->pool, kept->piece), from, bytes);
	count(own, kept, 1);
	return 0;
}

static int give(const struct compressed *own, const struct kept *kept, void *page)
{
	const void *from;

	if (!kept->piece) {
		memset(page, 0, SF_PAGE_SIZE);
		return 0;
	}
	from = swap_pool_address(&own->pool, kept->piece);
	if (kept->bytes == SF_PAGE_SIZE) {
		memcpy(page, from, SF_PAGE_SIZE);
		return 0;
	}
	return LZ4_decompress_safe(from, page, (int)kept->bytes, (int)SF_PAGE_SIZE) == (int)SF_PAGE_SIZE
		   ? 0
		   : -EIO;
}

static int compressed_write(struct sf_backing *backing, struct sf_io *io)
{
	struct compressed *own = compressed_of(backing);
	struct kept *kept = own->kept + io->offset / SF_PAGE_SIZE;

	for (unsigned i = 0; i < io->count; i++) {
		int error = keep(own, &kept[i], io->page[i]);

		if (error)
			return error;
	}
	sf_io_done(io, 0);
	return 0;
}

static int compressed_read(struct sf_backing *backing, struct sf_io *io)
{
	struct compressed *own = compressed_of(backing);
	const struct kept *kept = own->kept + io->offset / SF_PAGE_SIZE;

	for (unsigned i = 0; i < io->count; i++) {
		int error = give(own, &kept[i], io->page[i]);

		if (error)
			return error;
	}
	sf_io_done(io, 0);
	return 0;
}

static int compressed_punch(struct sf_backing *backing, uint64_t offset, uint64_t bytes)
{
	struct compressed *own = compressed_of(backing);
	struct kept *kept = own->kept + offset / SF_PAGE_SIZE;

	for (uint64_t i = 0; i < bytes / SF_PAGE_SIZE; i++)
		forget(own, &kept[i]);
	return 0;
}

static void compressed_release(struct sf_backing *backing)
{
	struct compressed *own = compressed_of(backing);

	port_memory_free(own->kept, backing->bytes / SF_PAGE_SIZE * sizeof(*own->kept));
	port_memory_free(own->scratch, port_cpu_count() * own->scratch_bytes);
	swap_pool_close(&own->pool);
	port_memory_free(own, sizeof(*own));
}

static const struct sf_backing_ops compressed_ops = {
    .read = compressed_read,
    .write = compressed_write,
    .punch = compressed_punch,
    .release = compressed_release,
};

int host_swap_compressed_create(uint64_t pages, uint64_t limit_bytes, struct sf_backing **backing)
{
	struct compressed *own;
	size_t scratch_bytes = sizeof(struct scratch) + (size_t)LZ4_sizeofState();

	if (!pages || pages > SF_OBJECT_BYTES_MAX / SF_PAGE_SIZE || limit_bytes < SWAP_POOL_SLAB_BYTES ||
	    limit_bytes > LIMIT_BYTES_MAX)
		return -EINVAL;
	own = port_memory_alloc(sizeof(*own), PORT_NODE_FIRST_TOUCH, "struct compressed");
	if (!own)
		return -ENOMEM;
	if (swap_pool_open(&own->pool, (uint32_t)(limit_bytes / SWAP_POOL_SLAB_BYTES))) {
		port_memory_free(own, sizeof(*own));
		return -ENOMEM;
	}
	own->backing.ops = &compressed_ops;
	own->backing.bytes = pages * SF_PAGE_SIZE;
	own->scratch_bytes = (scratch_bytes + CACHE_LINE_BYTES - 1) & ~(size_t)(CACHE_LINE_BYTES - 1);
	own->scratch =
	    port_memory_alloc(port_cpu_count() * own->scratch_bytes, PORT_NODE_FIRST_TOUCH, "struct scratch");
	own->kept = port_memory_alloc(pages * sizeof(*own->kept), PORT_NODE_FIRST_TOUCH, "struct kept");
	if (!own->scratch || !own->kept) {
		compressed_release(&own->backing);
		return -ENOMEM;
	}
	*backing = &own->backing;
	return 0;
}

void host_swap_compressed_statistics(struct sf_backing *backing,
				     struct host_swap_compressed_statistics *statistics)
{
	struct compressed *own = compressed_of(backing);
	int64_t pages = 0, raw = 0, bytes = 0;

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct scratch *scratch = scratch_of(own, cpu);

		pages += atomic_load_explicit(&scratch->pages, memory_order_relaxed);
		raw += atomic_load_explicit(&scratch->raw_pages, memory_order_relaxed);
		bytes += atomic_load_explicit(&scratch->data_bytes, memory_order_relaxed);
	}
	statistics->pages = (uint64_t)pages;
	statistics->raw_pages = (uint64_t)raw;
	statistics->data_bytes = (uint64_t)bytes;
	statistics->slab_bytes =
	    (uint64_t)atomic_load_explicit(&own->pool.used, memory_order_relaxed) * SWAP_POOL_SLAB_BYTES;
}
