/* SPDX-License-Identifier: MIT */
#include "mm/table/table_page.h"

#include "port/page.h"
#include "port/rcu.h"

struct page *table_page_create(struct frames *frames)
{
	struct page *page = frame_alloc(frames);

	if (!page)
		return NULL;
	port_page_clear(page_address(frames, page), 0);
	spin_lock_init(&page->table.lock, LOCK_RANK_PAGE_TABLE);
	page->table.frames = frames;
	page_set_flag(page, PG_table);
	return page;
}

void table_page_free(struct page *page)
{
	page_clear_flag(page, PG_table);
	frame_free(page->table.frames, page);
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	table_page_free(container_of(head, struct page, table.rcu));
}

void table_page_retire(struct page *page)
{
	port_rcu_call(&page->table.rcu, free_after_grace_period);
}
