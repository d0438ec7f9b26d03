/* SPDX-License-Identifier: MIT */
/*
 * Copy on write without the second look for a fork, which docs/LOCKING.md, "Copy on write", asks for: the
 * fault sees that no fork is under way; then the page becomes its space's alone, is written, and a second
 * fork protects it again; the entry is what it was, and the fault copies the page while another CPU still
 * writes to it through a translation from before.
 *
 *   CPU 0   writes: a copy
 *   CPU 1   takes the child's mapping away, writes, and protects the page again as a fork does
 *   CPU 2   counts its word up as soon as CPU 1 has written
 */
#include <errno.h>
#include <stddef.h>

#include "mm/fault/internal.h"
#include "mm/fault/lookup.h"
#include "mm/space/space.h"
#include "mm/table/range.h"
#include "port/page.h"
#include "port/spin.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

static bool write_protecting(struct fault *fault)
{
	return atomic_load_explicit(&fault->space->table.translations.write_protecting,
				    memory_order_acquire) %
	       2;
}

/* Returns whether it did: then the fault begins anew, once the translations of `page` are flushed. */
static bool install_copy(struct fault *fault, struct page *page)
{
	struct frames *frames = fault->space->parts.frames;
	struct page *copy = alloc_anonymous_page(fault);
	struct pte_ref ref;
	int error;

	check_that(copy);
	port_page_copy(page_address(frames, copy), page_address(frames, page), 0); /* planted: forked again */
	error = fault_lock_pte(fault, &ref);
	if (error) {
		free_new_page(fault, copy);
	} else {
		page_remove_mapping(page);
		fault->flush = true;
		install_anonymous_page(fault, &ref, copy);
		fault->old = page;
	}
	page_put(frames, page);
	return !error;
}

/* A write to a page that others share. Returns whether it was copied. */
static bool copy_on_write(struct fault *fault)
{
	struct page *page;
	struct pte_ref ref;

	fault->pte = table_read(&fault->space->table, fault->address);
	if (!(fault->pte & PTE_PRESENT) || (fault->pte & (PTE_WRITE | PTE_SPECIAL)) ||
	    write_protecting(fault))
		return false;
	page = pfn_to_page(fault->space->parts.frames, pte_pfn(fault->pte));
	if (fault_lock_pte(fault, &ref))
		return false;
	if (page_is_exclusive(page)) {
		pte_unlock(&ref);
		return false;
	}
	page_get(page);
	pte_unlock(&ref);
	return install_copy(fault, page);
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
	if (fault->vma && fault->touch == TOUCH_WRITE && copy_on_write(fault))
		fault->vma = NULL;
}

static void put(struct fault *fault)
{
	if (fault->locked)
		lookup_put_locked(fault);
	else
		port_rcu_read_unlock();
}

static const struct vma_lookup_ops cow_fork_ops = {.lock = &rwsem_xadd_ops, .find = find, .put = put};

static _Atomic uint32_t written;

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 1, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, 0);
	fixture_fork();
	atomic_init(&written, 0);
	return 0;
}

static int setup_planted(struct message *why)
{
	int error = setup(why);

	if (!error)
		fixture_use_lookup(&cow_fork_ops);
	return error;
}

static void write_word(void)
{
	fixture_store(fixture.space, AT + 8, 1);
}

static void share_again(void)
{
	struct table *table = &fixture.space->table, *child = &fixture.child->table;
	struct charge charge = {.group = rcu_dereference_locked(&fixture.child->group)};
	struct gather gather;

	down_write(&fixture.child->lock);
	tlb_gather_mmu(&gather, child);
	table_zap_pages(child, AT, AT + PAGE, &gather);
	tlb_finish_mmu(&gather);
	up_write(&fixture.child->lock);
	fixture_store(fixture.space, AT + 16, 2);
	atomic_store_explicit(&written, 1, memory_order_relaxed);
	down_write(&fixture.space->lock);
	tlb_gather_mmu(&gather, table);
	check_that(!table_copy(child, table, AT, AT + PAGE, true, &charge, &gather));
	tlb_finish_mmu(&gather);
	up_write(&fixture.space->lock);
}

static void count(void)
{
	uint64_t expected = 0;

	port_spin_until_u32(&written, UINT32_MAX, 1);
	check_equal(sf_compare_swap_64(fixture.space, AT + 24, &expected, 1, NULL), 1);
}

static bool holds(struct message *why)
{
	return fixture_equal("CPU 0's word", fixture_load(fixture.space, AT + 8), 1, why) &&
	       fixture_equal("CPU 1's word", fixture_load(fixture.space, AT + 16), 2, why) &&
	       fixture_equal("CPU 2's word", fixture_load(fixture.space, AT + 24), 1, why) &&
	       fixture_good(why);
}

const struct check planted_cow_fork_check = {
    .name = "planted-cow-fork",
    .summary = "a copy on write that looks for a fork once; right: cow-fork",
    .setup = setup_planted,
    .body = {write_word, share_again, count},
    .holds = holds,
    .teardown = fixture_close,
    .planted_kind = "data race|condition|differs from the model",
    .planted_mark = "planted: forked again",
};

/* The same with the fault as it is. */
const struct check cow_fork_check = {
    .name = "cow-fork",
    .summary =
	"a copy on write against an end of sharing, a write and a new sharing, each as short as can be",
    .setup = setup,
    .body = {write_word, share_again, count},
    .holds = holds,
    .teardown = fixture_close,
    .variants = variants_lookup,
};
