/* SPDX-License-Identifier: MIT */
/*
 * A fault that finds its entry inside an RCU read section and installs it outside: the table can have been
 * taken away, and its frame freed, in between.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/fault/internal.h"
#include "mm/fault/lookup.h"
#include "mm/space/vma_tree.h"
#include "mm/table/table_page.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

static void find(struct fault *fault)
{
	struct table *table = &fault->space->table;
	_Atomic uint64_t *entry = NULL;
	struct page *page;
	uint64_t none = 0;

	if (fault->must_lock) {
		lookup_find_locked(fault);
		return;
	}
	port_rcu_read_lock();
	fault->vma = vma_tree_find(&fault->space->tree, fault->address);
	page = fault->vma ? table_walk(table, fault->address, false) : NULL;
	if (page)
		entry = table_entry(table, page, fault->address);
	port_rcu_read_unlock();
	if (entry)
		atomic_compare_exchange_strong(entry, &none, pte_make_zero(false)); /* planted: outside */
	port_rcu_read_lock();
	fault->vma = vma_tree_find(&fault->space->tree, fault->address);
}

static void put(struct fault *fault)
{
	if (fault->locked)
		lookup_put_locked(fault);
	else
		port_rcu_read_unlock();
}

static void detach(struct vma *vma)
{
	atomic_store_explicit(&vma->detached, true, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
}

static const struct vma_lookup_ops table_freed_ops = {
    .lock = &rwsem_xadd_ops,
    .detach = detach,
    .find = find,
    .put = put,
};

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	check_that(!sf_touch(fixture.space, AT + PAGE, SF_READ, NULL));
	fixture_use_lookup(&table_freed_ops);
	return 0;
}

static void fault(void)
{
	fixture.result[0] = sf_touch(fixture.space, AT, SF_READ, NULL);
}

/* The second call frees what has waited for the first one's grace period. */
static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
	port_rcu_synchronize();
	port_rcu_poll();
}

static bool holds(struct message *why)
{
	return fixture_good(why);
}

const struct check planted_table_freed_check = {
    .name = "planted-table-freed",
    .summary = "an entry installed after its table was freed; right: tables-free",
    .setup = setup,
    .body = {fault, unmap},
    .holds = holds,
    .teardown = fixture_close,
    .planted_kind = "use after free|condition",
    .planted_mark = "planted: outside",
};
