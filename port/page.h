/* SPDX-License-Identifier: MIT */
/*
 * Contract: whole pages of memory.
 */
#ifndef PORT_PAGE_H
#define PORT_PAGE_H

#include <stddef.h>

#define PORT_PAGE_SHIFT 12
#define PORT_PAGE_SIZE  ((size_t)1 << PORT_PAGE_SHIFT)

/*
 * Fills the page at `page` (aligned) with zeroes. With `structure_only` nonzero the machine accounts for the
 * time and bandwidth, and leaves the memory untouched: nobody looks at the contents.
 */
static inline void port_page_clear(void *page, int structure_only);

/* Copies the page at `source` to `target`; both aligned, not the same. `structure_only` as above. */
static inline void port_page_copy(void *target, const void *source, int structure_only);

#include <port_home/page.h>

#endif
