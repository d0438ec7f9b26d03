/* SPDX-License-Identifier: MIT */
/*
 * A swap backing in memory that does not count as RAM: for experiments in which the device costs a copy, and
 * for machines that have no other. It never fails and never sleeps.
 */
#ifndef MM_SWAP_SWAP_MEMORY_H
#define MM_SWAP_SWAP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "softfault.h"

/*
 * Makes one of `pages` pages. With `structure_only` it keeps no contents and costs the time of the copies.
 * Returns it, for swap_add_area(), which releases it in the end; NULL without memory. Not from the fault
 * path.
 */
struct sf_backing *swap_memory_create(uint64_t pages, bool structure_only);

#endif
