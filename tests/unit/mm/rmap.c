/* SPDX-License-Identifier: MIT */
/*
 * Which places a walk looks at, and what is done to entries. Drawn above each case: the tree of spaces by
 * forks, those that have ended in parentheses.
 */
#include <string.h>

#include "mm/system/internal.h"
#include "softfault.h"
#include "tests/common/memory_backing.h"
#include "tests/common/rmap_work.h"
#include "tests/unit/mm/fault_fixture.h"

#define FRAMES 4096u
#define SLOTS  256u

static struct memory_backing swap_file;

static struct sf_system *open_system(const char *text)
{
	struct sf_system *system;
	struct policy policy;

	assert_int_equal(policy_parse(&policy, text, NULL), 0);
	system = fault_system(&policy, FRAMES);
	memory_backing_open(&swap_file, SLOTS * PAGE, SLOTS * PAGE);
	assert_int_equal(sf_swap_add(system, &swap_file.backing, 0), 0);
	return system;
}

static void close_system(struct sf_system *system)
{
	fault_system_end(system);
	memory_backing_close(&swap_file);
}

static struct sf_space *make_space(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);

	map_at(space, BASE, 4, RW, SF_MAP_PRIVATE);
	return space;
}

static struct sf_space *fork_space(struct sf_space *space)
{
	struct sf_space *child = NULL;

	assert_int_equal(sf_space_fork(space, &child), 0);
	return child;
}

/* How many places the scan of the page at `address` looks at, having found `references` of `mappings`. */
static unsigned candidates(struct sf_space *space, uint64_t address, unsigned mappings, unsigned references)
{
	struct page *page = rmap_find(space, address);
	struct rmap_found found;

	assert_non_null(page);
	page_lock(page);
	page_referenced(&space->parts.system->rmap, page, &found);
	page_unlock(page);
	page_put(space->parts.frames, page);
	assert_int_equal(found.visited, mappings);
	assert_int_equal(found.references, references);
	assert_int_equal(found.skipped, 0);
	return found.candidates;
}

/* A; a page that nobody else has is looked for in one place. */
static void a_page_of_one_space_is_one_look(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *space = make_space(system);

	(void)state;
	put_byte(space, BASE, 1);
	assert_int_equal(candidates(space, BASE, 1, 1), 1);
	assert_int_equal(candidates(space, BASE, 1, 0), 1);
	assert_touch(space, BASE, SF_READ);
	assert_int_equal(candidates(space, BASE, 1, 1), 1);
	sf_space_destroy(space);
	close_system(system);
}

/*
 *        A          what A had before is looked for everywhere, what C has written since in C and D,
 *      B   C        what D has in D alone
 *          D
 */
static void a_walk_goes_down_from_where_the_page_was_made(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *a = make_space(system), *b, *c, *d;

	(void)state;
	put_byte(a, BASE, 1);
	put_byte(a, BASE + PAGE, 1);
	put_byte(a, BASE + 2 * PAGE, 1);
	b = fork_space(a);
	c = fork_space(a);
	put_byte(c, BASE + PAGE, 2);
	put_byte(c, BASE + 2 * PAGE, 2);
	d = fork_space(c);
	put_byte(d, BASE + 2 * PAGE, 3);
	assert_int_equal(candidates(a, BASE, 4, 1), 4);
	assert_int_equal(candidates(d, BASE + PAGE, 2, 1), 2);
	assert_int_equal(candidates(d, BASE + 2 * PAGE, 1, 1), 1);
	/* Of what only a fork has left: the parent was looked at first, and has its own copy. */
	put_byte(a, BASE, 4);
	assert_in_range(candidates(b, BASE, 3, 0), 3, 4);
	assert_int_equal(candidates(a, BASE, 1, 1), 1);
	/* Who finds that it is alone takes the page over, also from spaces that go on. */
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(sf_advise(i ? c : d, BASE, PAGE, SF_ADVICE_DONTNEED), 0);
	put_byte(b, BASE, 5);
	assert_int_equal(candidates(b, BASE, 1, 1), 1);
	sf_space_destroy(a);
	sf_space_destroy(c);
	sf_space_destroy(d);
	sf_space_destroy(b);
	close_system(system);
}

/*
 *   (A) - (B) - (C) - ... - Z     a page of A's is one look, and memory does not grow
 */
static void chains_of_forks_and_exits_do_not_grow(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *space = make_space(system), *child;
	size_t bytes = 0;

	(void)state;
	put_byte(space, BASE, 1);
	for (unsigned i = 0; i < 200; i++) {
		child = fork_space(space);
		put_byte(child, BASE + PAGE, 2);
		sf_space_destroy(space);
		space = child;
		assert_int_equal(candidates(space, BASE, 1, 0), 1);
		assert_int_equal(candidates(space, BASE + PAGE, 1, 1), 1);
		assert_good(system);
		if (i == 20)
			bytes = host_memory_in_use_bytes();
	}
	assert_int_equal(host_memory_in_use_bytes(), bytes);
	sf_space_destroy(space);
	close_system(system);
}

/*
 *   (A) - (B) - C - W1, W2, ...   what a worker has made is looked for there alone
 */
static void workers_of_one_daemon_do_not_meet(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *a = make_space(system), *b, *c, *worker[20];

	(void)state;
	put_byte(a, BASE, 1);
	b = fork_space(a);
	sf_space_destroy(a);
	c = fork_space(b);
	sf_space_destroy(b);
	for (unsigned i = 0; i < ARRAY_SIZE(worker); i++) {
		worker[i] = fork_space(c);
		put_byte(worker[i], BASE, 2);
		assert_int_equal(candidates(worker[i], BASE, 1, 1), 1);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(worker); i++)
		sf_space_destroy(worker[i]);
	assert_int_equal(candidates(c, BASE, 1, 0), 1);
	sf_space_destroy(c);
	close_system(system);
}

/* A page that was moved, and the one that took its place: the same index. */
static void moved_pages_are_found(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *space = make_space(system), *child;
	struct rmap_outcome outcome;
	uint64_t mapped;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		put_byte(space, BASE + i * PAGE, (unsigned char)(i + 1));
	assert_int_equal(sf_remap(space, BASE + PAGE, PAGE, PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED,
				  BASE + 16 * PAGE, &mapped),
			 0);
	map_at(space, BASE + PAGE, 1, RW, SF_MAP_PRIVATE);
	put_byte(space, BASE + PAGE, 9);
	child = fork_space(space);
	assert_int_equal(rmap_put_out(&system->rmap, space, BASE + PAGE, &outcome), 0);
	assert_int_equal(outcome.found.visited, 2);
	assert_int_equal(rmap_put_out(&system->rmap, space, BASE + 16 * PAGE, &outcome), 0);
	assert_int_equal(outcome.found.visited, 2);
	assert_good(system);
	assert_int_equal(get_byte(child, BASE + 16 * PAGE), 2);
	assert_int_equal(get_byte(child, BASE + PAGE), 9);
	assert_int_equal(get_byte(space, BASE + 16 * PAGE), 2);
	assert_int_equal(get_byte(space, BASE + PAGE), 9);
	/* Back from swap they are found again, by whomever they came. */
	assert_int_equal(rmap_put_out(&system->rmap, space, BASE + 16 * PAGE, &outcome), 0);
	assert_good(system);
	sf_space_destroy(space);
	sf_space_destroy(child);
	close_system(system);
}

/* What is locked in memory stays, in whichever space it is locked. */
static void locked_memory_stays(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *space = make_space(system), *child;
	struct rmap_outcome outcome;

	(void)state;
	put_byte(space, BASE, 1);
	child = fork_space(space);
	assert_int_equal(sf_lock(child, BASE, PAGE), 0);
	/* mlock has given the child its own. */
	assert_int_equal(rmap_put_out(&system->rmap, child, BASE, &outcome), -EAGAIN);
	assert_int_equal(outcome.result, UNMAP_LOCKED);
	assert_true(outcome.found.locked);
	assert_int_equal(rmap_put_out(&system->rmap, space, BASE, &outcome), 0);
	assert_int_equal(sf_unlock(child, BASE, PAGE), 0);
	assert_int_equal(rmap_put_out(&system->rmap, child, BASE, &outcome), 0);
	assert_int_equal(get_byte(space, BASE), 1);
	assert_int_equal(get_byte(child, BASE), 1);
	sf_space_destroy(space);
	sf_space_destroy(child);
	close_system(system);
}

static struct {
	struct sf_space *space;
	struct page *page;
	struct rmap_found found;
	_Atomic unsigned step; /* 1: the entry is locked, 2: the scan is over */
} meeting;

/* CPU 0 has the entry locked while CPU 1 scans. */
static void scan_beside(unsigned cpu, void *argument)
{
	struct pte_ref ref;

	(void)argument;
	if (cpu == 0) {
		port_rcu_read_lock();
		invariant(pte_lock_existing(&meeting.space->table, BASE, &ref));
		port_rcu_read_unlock();
		atomic_store(&meeting.step, 1);
		while (atomic_load(&meeting.step) != 2)
			host_yield();
		pte_unlock(&ref);
	} else if (cpu == 1) {
		while (atomic_load(&meeting.step) != 1)
			host_yield();
		page_lock(meeting.page);
		page_referenced(&meeting.space->parts.system->rmap, meeting.page, &meeting.found);
		page_unlock(meeting.page);
		atomic_store(&meeting.step, 2);
	}
}

/* An entry whose lock another CPU has is skipped, and counts as not touched. */
static void a_locked_entry_is_skipped(void **state)
{
	static const char *const locks[] = {"pte_bit", "split", "mm"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(locks); i++) {
		struct sf_system *system;
		char text[64];

		snprintf(text, sizeof(text), "default page_table_lock=%s", locks[i]);
		system = open_system(text);
		meeting.space = make_space(system);
		put_byte(meeting.space, BASE, 1);
		meeting.page = rmap_find(meeting.space, BASE);
		atomic_store(&meeting.step, 0);
		assert_int_equal(host_run(scan_beside, NULL), 0);
		assert_int_equal(meeting.found.skipped, 1);
		assert_int_equal(meeting.found.visited + meeting.found.references, 0);
		page_put(meeting.space->parts.frames, meeting.page);
		assert_int_equal(candidates(meeting.space, BASE, 1, 1), 1);
		sf_space_destroy(meeting.space);
		close_system(system);
	}
}

/* More spaces than a batch has room for, more pages, and each entry has its own reference. */
static void a_full_batch_is_flushed_on_the_way(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *space = fault_space(system), *child[3 * RMAP_BATCH_TABLES];
	struct page *page[2 * RMAP_BATCH_PAGES];
	struct rmap_batch batch;
	struct rmap_found found;

	(void)state;
	map_at(space, BASE, ARRAY_SIZE(page), RW, SF_MAP_PRIVATE);
	for (unsigned i = 0; i < ARRAY_SIZE(page); i++)
		put_byte(space, BASE + i * PAGE, (unsigned char)(i + 1));
	for (unsigned i = 0; i < ARRAY_SIZE(child); i++)
		child[i] = fork_space(space);
	rmap_batch_begin(&batch, &system->rmap);
	for (unsigned i = 0; i < ARRAY_SIZE(page); i++) {
		page[i] = rmap_find(space, BASE + i * PAGE);
		page_lock(page[i]);
		assert_int_equal(swap_add_page(space->parts.frames->swap, page[i]), 0);
		assert_int_equal(try_to_unmap(&batch, page[i], &found), UNMAP_DONE);
		assert_int_equal(found.visited, ARRAY_SIZE(child) + 1);
	}
	rmap_batch_flush(&batch);
	for (unsigned i = 0; i < ARRAY_SIZE(page); i++) {
		assert_int_equal(page_refcount(page[i]), 2);
		page_unlock(page[i]);
		page_put(space->parts.frames, page[i]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(child); i++) {
		assert_int_equal(get_byte(child[i], BASE + i * PAGE), i + 1);
		sf_space_destroy(child[i]);
	}
	assert_good(system);
	sf_space_destroy(space);
	close_system(system);
}

/* MADV_FREE: a page that was not written since goes, without a slot; one that was stays. */
static void a_page_that_is_free_to_go_goes_if_it_is_clean(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *space = make_space(system);
	struct rmap_batch batch;
	struct rmap_found found;

	(void)state;
	for (unsigned written = 0; written < 2; written++) {
		struct page *page;

		put_byte(space, BASE, 1);
		assert_int_equal(sf_advise(space, BASE, PAGE, SF_ADVICE_FREE), 0);
		if (written)
			put_byte(space, BASE, 2);
		page = rmap_find(space, BASE);
		page_set_flag(page, PG_lazy_free);
		page_lock(page);
		rmap_batch_begin(&batch, &system->rmap);
		assert_int_equal(try_to_unmap(&batch, page, &found), written ? UNMAP_AGAIN : UNMAP_DONE);
		rmap_batch_flush(&batch);
		assert_int_equal(page_has_flag(page, PG_lazy_free), !written);
		page_unlock(page);
		page_put(space->parts.frames, page);
		assert_int_equal(get_byte(space, BASE), written ? 2 : 0);
		assert_good(system);
	}
	sf_space_destroy(space);
	close_system(system);
}

/* Of an object's page: the entries of all spaces; and what is written to again afterwards is seen. */
static void an_objects_page_is_cleaned_in_all_spaces(void **state)
{
	static const char *const tracking[] = {"fault", "pte"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(tracking); i++) {
		struct rmap_found found;
		struct sf_object *object;
		struct sf_system *system;
		struct sf_space *space, *child;
		struct page *page;
		uint64_t mapped;
		char text[64];

		snprintf(text, sizeof(text), "default dirty_tracking=%s", tracking[i]);
		system = open_system(text);
		space = fault_space(system);
		assert_int_equal(sf_object_create(system, 4 * PAGE, 0, &object), 0);
		assert_int_equal(sf_map_object(space, BASE, 4 * PAGE, RW, SF_MAP_SHARED | SF_MAP_FIXED,
					       object, 0, &mapped),
				 0);
		child = fork_space(space);
		put_byte(space, BASE, 1);
		put_byte(child, BASE, 2);
		page = rmap_find(space, BASE);
		page_lock(page);
		page_referenced(&system->rmap, page, &found);
		assert_int_equal(found.references, 2);
		assert_true(page_mkclean(&system->rmap, page));
		assert_false(page_mkclean(&system->rmap, page));
		assert_false(system_pte(space, BASE) & PTE_DIRTY);
		assert_int_equal(!(system_pte(child, BASE) & PTE_WRITE), i == 0);
		put_byte(child, BASE, 3);
		assert_true(page_mkclean(&system->rmap, page));
		page_unlock(page);
		page_put(space->parts.frames, page);
		sf_space_destroy(space);
		sf_space_destroy(child);
		sf_object_close(object);
		close_system(system);
	}
}

/* What a file's entries know of writes comes to the page with the scan, or with the unmapping. */
static void a_scan_tells_a_files_page_what_was_written(void **state)
{
	static const char *const transfer[] = {"on", "off"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(transfer); i++) {
		struct memory_backing file;
		struct rmap_batch batch;
		struct rmap_found found;
		struct sf_object *object;
		struct sf_system *system;
		struct sf_space *space;
		struct page *page;
		uint64_t mapped;
		char text[64];

		snprintf(text, sizeof(text), "default dirty_tracking=pte dirty_transfer=%s", transfer[i]);
		system = open_system(text);
		space = fault_space(system);
		memory_backing_open(&file, PAGE, PAGE);
		assert_int_equal(sf_file_open(system, &file.backing, &object), 0);
		assert_int_equal(
		    sf_map_object(space, BASE, PAGE, RW, SF_MAP_SHARED | SF_MAP_FIXED, object, 0, &mapped),
		    0);
		put_byte(space, BASE, 1);
		page = rmap_find(space, BASE);
		page_lock(page);
		assert_false(page_has_flag(page, PG_dirty));
		page_referenced(&system->rmap, page, &found);
		assert_int_equal(found.references, 1);
		assert_int_equal(page_has_flag(page, PG_dirty), i == 0);
		assert_int_equal((system_pte(space, BASE) & PTE_DIRTY) != 0, i == 1);
		rmap_batch_begin(&batch, &system->rmap);
		assert_int_equal(try_to_unmap(&batch, page, &found), UNMAP_DONE);
		rmap_batch_flush(&batch);
		assert_true(page_has_flag(page, PG_dirty));
		page_unlock(page);
		page_put(space->parts.frames, page);
		assert_int_equal(get_byte(space, BASE), 1);
		assert_int_equal(sf_object_sync(object), 0);
		assert_int_equal(file.bytes[0], 1);
		sf_space_destroy(space);
		sf_object_close(object);
		close_system(system);
		memory_backing_close(&file);
	}
}

static void assert_bad(struct sf_system *system, const char *what)
{
	struct message why = {""};

	assert_int_equal(system_check(system, &why), -EINVAL);
	if (!strstr(why.text, what))
		fail_msg("'%s' does not say '%s'", why.text, what);
}

/* The system's check sees a page that does not lead to its entries, or is on no list, and trees that are not
 * whole. */
static void damage_is_found(void **state)
{
	struct sf_system *system = open_system("default");
	struct sf_space *space = make_space(system), *child;
	struct anon_vma *anon, *below;
	struct page *page;

	(void)state;
	put_byte(space, BASE, 1);
	child = fork_space(space);
	anon = vma_anon(vma_tree_find(&space->tree, BASE));
	below = vma_anon(vma_tree_find(&child->tree, BASE));
	page = rmap_find(space, BASE);
	page_put(space->parts.frames, page);
	assert_good(system);
	atomic_store(&page->anon, below);
	assert_bad(system, "does not lead here");
	atomic_store(&page->anon, anon);
	page->index++;
	assert_bad(system, "does not lead here");
	page->index--;
	page_clear_flag(page, PG_lru);
	assert_bad(system, "on no LRU list");
	page_set_flag(page, PG_lru);
	anon->displaced_count++;
	assert_bad(system, "displaced");
	anon->displaced_count--;
	below->root = below;
	assert_bad(system, "another parent");
	below->root = anon;
	below->home = NULL;
	assert_bad(system, "home");
	below->home = below;
	assert_good(system);
	sf_space_destroy(space);
	sf_space_destroy(child);
	close_system(system);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(a_page_of_one_space_is_one_look),
	    fault_test(a_walk_goes_down_from_where_the_page_was_made),
	    fault_test(chains_of_forks_and_exits_do_not_grow),
	    fault_test(workers_of_one_daemon_do_not_meet),
	    fault_test(moved_pages_are_found),
	    fault_test(locked_memory_stays),
	    fault_test(a_locked_entry_is_skipped),
	    fault_test(a_full_batch_is_flushed_on_the_way),
	    fault_test(a_page_that_is_free_to_go_goes_if_it_is_clean),
	    fault_test(an_objects_page_is_cleaned_in_all_spaces),
	    fault_test(a_scan_tells_a_files_page_what_was_written),
	    fault_test(damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
