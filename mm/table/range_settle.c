/* SPDX-License-Identifier: MIT */
#include "mm/table/pte_lock.h"
#include "mm/table/range.h"
#include "mm/table/table_page.h"

void table_settle(struct table *table, uintptr_t start, uintptr_t end)
{
	struct page *page;

	atomic_thread_fence(memory_order_seq_cst);
	while ((page = table_next(table, &start, end))) {
		uintptr_t run_end = table_run_end(start, end);

		table->lock_ops->run_begin(table, page);
		for (; start < run_end; start += PORT_PAGE_SIZE)
			pte_read_in_run(table_entry(table, page, start));
		table->lock_ops->run_end(table, page);
	}
}
