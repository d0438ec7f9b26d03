/* SPDX-License-Identifier: MIT */
#include "mm/table/table_page.h"

#include "port/page.h"
#include "port/rcu.h"

struct page *table_page_create(struct table *table, struct charge *charge)
{
	struct page *page = charged_page_alloc(table->frames, charge);

	if (!page)
		return NULL;
	port_page_clear(page_address(table->frames, page), 0);
	spin_lock_init(&page->table.lock, LOCK_RANK_PAGE_TABLE);
	page->table.frames = table->frames;
	page_set_flag(page, PG_table);
	frames_count(table->frames, FRAMES_TABLE, 1);
	table_count(table, TABLE_TABLES, 1);
	return page;
}

static void give_back(struct page *page)
{
	struct frames *frames = page->table.frames;

	frames_count(frames, FRAMES_TABLE, -1);
	frame_free(frames, page);
}

void table_page_free(struct table *table, struct page *page)
{
	table_count(table, TABLE_TABLES, -1);
	give_back(page);
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	struct page *page = container_of(head, struct page, table.rcu);

	frames_retired(page->table.frames, -(int64_t)PORT_PAGE_SIZE);
	give_back(page);
}

void table_page_retire(struct table *table, struct page *page)
{
	table_count(table, TABLE_TABLES, -1);
	mem_cgroup_uncharge(page);
	frames_retired(table->frames, PORT_PAGE_SIZE);
	port_rcu_call(&page->table.rcu, free_after_grace_period);
}
