/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/page.h.
 */
#ifndef HOST_HOME_PORT_HOME_PAGE_H
#define HOST_HOME_PORT_HOME_PAGE_H

#include <string.h>

static inline void port_page_clear(void *page, int structure_only)
{
	if (!structure_only)
		memset(page, 0, PORT_PAGE_SIZE);
}

static inline void port_page_copy(void *target, const void *source, int structure_only)
{
	if (!structure_only)
		memcpy(target, source, PORT_PAGE_SIZE);
}

#endif
