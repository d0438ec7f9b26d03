/* SPDX-License-Identifier: MIT */
/*
 * The lookup `rcu` with a fault that does not look again whether its VMA has been taken away, once it has
 * locked the entry: it can install a page after an unmap has passed.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/fault/internal.h"
#include "mm/fault/lookup.h"
#include "mm/space/vma_tree.h"
#include "sync/rcu.h"
#include "tests/explore/fixture.h"

/* A write to private memory, whole: what comes after the lookup finds that there is nothing left to do. */
static void install(struct fault *fault)
{
	struct sf_space *space = fault->space;
	struct page *page = alloc_zeroed_page(fault);
	struct pte_ref ref;
	uint64_t pte;

	check_that(page && !pte_lock(&space->table, fault->address, &fault->charge, &ref));
	if (ref.value) {
		pte_unlock(&ref);
		free_new_page(fault, page);
		return;
	}
	page_add_mapping(page);
	pte = pte_make_page(page_to_pfn(space->parts.frames, page), true, false);
	atomic_store_explicit(ref.entry, pte, memory_order_release); /* planted: not looked at again */
	table_count(&space->table, TABLE_RESIDENT, 1);
}

static void find(struct fault *fault)
{
	if (fault->must_lock) {
		lookup_find_locked(fault);
		return;
	}
	port_rcu_read_lock();
	charge_begin(&fault->charge);
	fault->vma = vma_tree_find(&fault->space->tree, fault->address);
	if (fault->vma)
		install(fault);
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

static const struct vma_lookup_ops no_recheck_ops = {
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
	fixture_map(AT, 3, RW, SF_MAP_PRIVATE);
	check_that(!sf_touch(fixture.space, AT + PAGE, SF_WRITE, NULL));
	fixture_use_lookup(&no_recheck_ops);
	return 0;
}

static void fault(void)
{
	fixture.result[0] = sf_touch(fixture.space, AT, SF_WRITE, NULL);
}

static void unmap(void)
{
	check_that(!sf_unmap(fixture.space, AT, PAGE));
}

static bool holds(struct message *why)
{
	return fixture_equal("the entry", system_pte(fixture.space, AT), 0, why) && fixture_good(why);
}

const struct check planted_no_recheck_check = {
    .name = "planted-no-recheck",
    .summary =
	"a fault that does not look again whether its VMA is there; right: fault-unmap with vma_lookup=rcu",
    .setup = setup,
    .body = {fault, unmap},
    .holds = holds,
    .teardown = fixture_close,
    .planted_kind = "condition|assertion|use after free",
    .planted_mark = "planted: not looked at again",
};
