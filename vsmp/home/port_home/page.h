/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_PAGE_H
#define PORT_HOME_PAGE_H

/* vsmp/page.c. */
void vsmp_page_clear(void *page, int structure_only);
void vsmp_page_copy(void *target, const void *source, int structure_only);

static inline void port_page_clear(void *page, int structure_only)
{
	vsmp_page_clear(page, structure_only);
}

static inline void port_page_copy(void *target, const void *source, int structure_only)
{
	vsmp_page_copy(target, source, structure_only);
}

#endif
