/* SPDX-License-Identifier: MIT */
/*
 * A backing for swap that keeps pages compressed (lz4) in memory. Pages that lz4 does not make a quarter
 * smaller are kept as they are. The pool is cut into slabs of 16 KiB; each slab holds pieces of one size, a
 * multiple of 128 bytes. Slabs whose pieces are all free can take any size.
 *
 * A slot's page is kept until it is written anew or punched: so an area on it is added with `discard`.
 * Transfers end before they return, and nothing here sleeps. Each CPU has the memory that lz4 works in for
 * itself.
 */
#ifndef HOST_SWAP_COMPRESSED_H
#define HOST_SWAP_COMPRESSED_H

#include "softfault.h"

/*
 * Makes a backing of `pages` pages that takes at most `limit_bytes` of memory for what they hold, 16 KiB to
 * 64 GiB, rounded down to 16 KiB; less is used only as pages need it. A write beyond the limit ends with
 * -ENOSPC. Returns 0 with it in *backing; -EINVAL; -ENOMEM. Not from the fault path. The host machine is
 * open.
 */
int host_swap_compressed_create(uint64_t pages, uint64_t limit_bytes, struct sf_backing **backing);

struct host_swap_compressed_statistics {
	uint64_t pages, raw_pages; /* kept; of those, not compressed */
	uint64_t data_bytes;       /* that they have */
	uint64_t slab_bytes;       /* of slabs in use */
};

/* Sums of a moment. */
void host_swap_compressed_statistics(struct sf_backing *backing,
				     struct host_swap_compressed_statistics *statistics);

#endif
