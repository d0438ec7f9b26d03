/* SPDX-License-Identifier: MIT */
/*
 * Which pages of objects reclaim may take, what stands in their place, and what becomes of that: shared
 * memory in swap is the object's as before, and fails to be so only as long as swap fails.
 */
#include "mm/object/evict.h"
#include "mm/page/page_wait.h"
#include "mm/reclaim/reclaim.h"
#include "mm/system/internal.h"
#include "tests/common/memory_backing.h"
#include "tests/unit/mm/object_fixture.h"

#define HERE BASE

static struct memory_backing file, swap;

/* Takes pages [first, end) as MADV_PAGEOUT would. Returns how many. */
static unsigned evict(struct sf_object *object, uint64_t first, uint64_t end)
{
	struct page *page[RECLAIM_BATCH];
	unsigned count = 0, taken;

	for (; (page[count] = cache_next_get(object, &first, end)); first++)
		count++;
	taken = count ? reclaim_page_list(object->objects->system->reclaim, page, count) : 0;
	port_rcu_barrier();
	assert_good(object->objects->system);
	return taken;
}

static uintptr_t entry_at(struct sf_object *object, uint64_t index)
{
	uintptr_t entry;

	port_rcu_read_lock();
	entry = page_index_load(&object->index, index);
	port_rcu_read_unlock();
	return entry;
}

static void add_swap(struct sf_system *system, uint64_t slots)
{
	memory_backing_open(&swap, slots * PAGE, slots * PAGE);
	assert_int_equal(sf_swap_add(system, &swap.backing, 0), 0);
}

static struct sf_object *open_file(struct sf_system *system, uint64_t pages)
{
	struct sf_object *object;

	memory_backing_open(&file, pages * PAGE, pages * PAGE);
	for (uint64_t page = 0; page < pages; page++)
		file.bytes[page * PAGE] = (unsigned char)(page + 1);
	assert_int_equal(sf_file_open(system, &file.backing, &object), 0);
	return object;
}

/* What begins with a page of its own, and goes no further. */
static enum evict begin(struct page *page)
{
	struct sf_object *object = page->object;
	struct evict_batch batch;
	enum evict result;

	object_evict_init(&batch, object->objects);
	assert_true(page_try_flag(page, PG_locked));
	result = object_evict_begin(&batch, page);
	if (result == EVICT_GO) {
		assert_true(page_has_flag(page, PG_removed));
		result = object_evict_end(&batch, page);
	} else {
		page_unlock(page);
	}
	object_evict_finish(&batch);
	assert_false(page_has_flag(page, PG_locked));
	return result;
}

/* A file's page, mapped, clean: it goes, and is read again; the index knows when it left. */
static void clean_pages_of_files_go(struct sf_system *system, const char *policy)
{
	struct sf_object *object = open_file(system, 4);
	struct sf_space *space = fault_space(system);
	struct sf_reclaim_statistics statistics;

	(void)policy;
	map_object_at(space, HERE, 4, RW, SHARED, object, 0);
	for (unsigned page = 0; page < 4; page++)
		assert_int_equal(get_byte(space, HERE + page * PAGE), page + 1);
	assert_int_equal(evict(object, 1, 3), 2);
	assert_int_equal(object_cached_bytes(object), 2 * PAGE);
	assert_int_equal(system_pte(space, HERE + PAGE), 0);
	assert_true(index_entry_is_shadow(entry_at(object, 1)));
	assert_int_equal(atomic_load(&file.reads), 4);
	assert_int_equal(get_byte(space, HERE + PAGE), 2);
	assert_int_equal(object_byte(object, 2 * PAGE), 3);
	assert_int_equal(atomic_load(&file.reads), 6);
	sf_reclaim_statistics(system, &statistics);
	assert_int_equal(statistics.refaults, 2);
	assert_int_equal(atomic_load(&file.writes), 0);
	/* What is cut off leaves no shadow. */
	assert_int_equal(evict(object, 0, 4), 4);
	assert_int_equal(sf_object_resize(object, PAGE), 0);
	assert_int_equal(entry_at(object, 3), 0);
	assert_good(system);
	sf_space_destroy(space);
	sf_object_close(object);
	port_rcu_barrier();
	memory_backing_close(&file);
}

static void who_uses_a_page_keeps_it(struct sf_system *system, const char *policy)
{
	struct sf_object *object = open_file(system, 2);
	struct sf_space *space = fault_space(system);
	struct sf_pin pin;
	struct page *page;

	(void)policy;
	map_object_at(space, HERE, 2, RW, SHARED, object, 0);
	assert_int_equal(get_byte(space, HERE), 1);
	page = cache_find_get(object, 0);
	/* Nobody has unmapped it. */
	assert_int_equal(begin(page), EVICT_KEPT);
	page_get(page);
	assert_int_equal(begin(page), EVICT_KEPT);
	page_put(object->objects->frames, page);
	down_write(&object->lock);
	assert_int_equal(begin(page), EVICT_KEPT);
	up_write(&object->lock);
	page_set_flag(page, PG_writeback);
	assert_int_equal(begin(page), EVICT_KEPT);
	page_clear_flag(page, PG_writeback);
	put_byte(space, HERE, 7);
	if (page_has_flag(page, PG_dirty))
		assert_int_equal(begin(page), EVICT_DIRTY);
	assert_int_equal(sf_object_sync(object), 0);
	page_put(object->objects->frames, page);
	assert_non_null(sf_pin(space, HERE, SF_READ, &pin, NULL));
	assert_int_equal(evict(object, 0, 1), 0);
	sf_unpin(system, &pin);
	assert_int_equal(sf_lock(space, HERE, PAGE), 0);
	assert_int_equal(evict(object, 0, 1), 0);
	assert_true(system_pte(space, HERE) & PTE_PRESENT);
	assert_int_equal(sf_unlock(space, HERE, PAGE), 0);
	assert_int_equal(evict(object, 0, 1), 1);
	/* Written to and then taken: it is written back before. */
	put_byte(space, HERE + PAGE, 9);
	assert_int_equal(evict(object, 1, 2), 0);
	sf_write_back(system, PAGE);
	assert_int_equal(evict(object, 1, 2), 1);
	assert_int_equal(file.bytes[PAGE], 9);
	assert_int_equal(file.bytes[0], 7);
	sf_space_destroy(space);
	sf_object_close(object);
	port_rcu_barrier();
	memory_backing_close(&file);
}

/* Two spaces see the page that comes back; what is cut or punched while it is out is gone from swap as well.
 */
static void shared_memory_comes_back(struct sf_system *system, const char *policy)
{
	struct sf_object *object = object_open(system, 6 * PAGE, 0);
	struct sf_space *space = fault_space(system), *other = fault_space(system);
	struct sf_object_statistics statistics;
	struct sf_swap_statistics slots;
	unsigned char resident[6];

	(void)policy;
	add_swap(system, 64);
	map_object_at(space, HERE, 6, RW, SHARED, object, 0);
	map_object_at(other, HERE, 6, RW, SHARED, object, 0);
	for (unsigned page = 0; page < 6; page++) {
		put_byte(space, HERE + page * PAGE, (unsigned char)(10 + page));
		put_byte(other, HERE + page * PAGE + 5, (unsigned char)(20 + page));
	}
	assert_int_equal(evict(object, 0, 6), 6);
	sf_object_statistics(object, &statistics);
	assert_int_equal(statistics.cached, 0);
	assert_int_equal(statistics.swapped, 6 * PAGE);
	assert_int_equal(sf_mincore(space, HERE, 6 * PAGE, resident), 0);
	assert_int_equal(resident[0] | resident[5], 0);
	assert_int_equal(get_byte(other, HERE), 10);
	/* Its neighbours have come with it. */
	assert_int_equal(sf_mincore(space, HERE, 6 * PAGE, resident), 0);
	assert_int_equal(resident[0] & resident[3], 1);
	assert_int_equal(get_byte(space, HERE + 5), 20);
	put_byte(space, HERE + 6, 30);
	assert_int_equal(object_byte(object, PAGE + 5), 21);
	assert_int_equal(evict(object, 0, 6), 2);
	/* The rest of page 2, all of page 3, and the beginning of page 4 go. */
	assert_int_equal(sf_object_punch(object, 2 * PAGE + 3, 2 * PAGE), 0);
	assert_int_equal(entry_at(object, 3), 0);
	assert_int_equal(get_byte(space, HERE + 2 * PAGE), 12);
	assert_int_equal(get_byte(space, HERE + 2 * PAGE + 5), 0);
	assert_int_equal(get_byte(space, HERE + 3 * PAGE), 0);
	assert_int_equal(get_byte(space, HERE + 4 * PAGE), 0);
	assert_int_equal(get_byte(space, HERE + 4 * PAGE + 5), 24);
	assert_int_equal(evict(object, 0, 6), 3);
	assert_int_equal(sf_object_resize(object, 4 * PAGE + 6), 0);
	assert_good(system);
	assert_int_equal(sf_object_resize(object, 6 * PAGE), 0);
	assert_int_equal(object_byte(object, 4 * PAGE + 5), 24);
	assert_int_equal(object_byte(object, 5 * PAGE), 0);
	assert_int_equal(object_byte(object, 6), 30);
	object_put_byte(object, PAGE, 31);
	assert_int_equal(get_byte(other, HERE + PAGE), 31);
	sf_space_destroy(space);
	sf_space_destroy(other);
	assert_true(evict(object, 0, 6) > 0);
	sf_object_close(object);
	port_rcu_barrier();
	sf_swap_statistics(system, &slots);
	assert_int_equal(slots.used, slots.cached);
	assert_good(system);
}

/* Pages in swap are pages of the limit. */
static void limits_count_what_is_out(struct sf_system *system, const char *policy)
{
	struct sf_object *object;
	struct sf_space *space = fault_space(system);

	if (!policy_has_limits(policy)) {
		sf_space_destroy(space);
		memory_backing_open(&swap, PAGE, PAGE);
		return;
	}
	add_swap(system, 64);
	object = object_open(system, 8 * PAGE, 3 * PAGE);
	map_object_at(space, HERE, 8, RW, SHARED, object, 0);
	for (unsigned page = 0; page < 3; page++)
		put_byte(space, HERE + page * PAGE, 1);
	assert_int_equal(evict(object, 0, 2), 2);
	assert_sigbus(space, HERE + 3 * PAGE, SF_WRITE);
	assert_int_equal(get_byte(space, HERE), 1);
	assert_sigbus(space, HERE + 3 * PAGE, SF_WRITE);
	assert_int_equal(evict(object, 0, 1), 1);
	assert_int_equal(sf_object_punch(object, 0, PAGE), 0);
	put_byte(space, HERE + 3 * PAGE, 2);
	assert_sigbus(space, HERE, SF_WRITE);
	assert_good(system);
	sf_space_destroy(space);
	sf_object_close(object);
	port_rcu_barrier();
}

/* The write fails: the page stays. The read fails: whoever wants it is told, and the next one tries again. */
static void swap_that_fails_loses_nothing(struct sf_system *system, const char *policy)
{
	struct sf_object *object = object_open(system, 4 * PAGE, 0);
	struct sf_space *space = fault_space(system);
	unsigned char byte;

	(void)policy;
	map_object_at(space, HERE, 4, RW, SHARED, object, 0);
	for (unsigned page = 0; page < 4; page++)
		put_byte(space, HERE + page * PAGE, (unsigned char)(page + 1));
	/* There is none yet. */
	assert_int_equal(evict(object, 0, 4), 0);
	add_swap(system, 6);
	for (unsigned late = 0; late < 2; late++) {
		swap.late = late;
		atomic_store(&swap.good, 0);
		swap.error = late ? -ENOMEM : -EIO;
		assert_int_equal(evict(object, 0, 2), 0);
		assert_int_equal(get_byte(space, HERE), 1);
		atomic_store(&swap.good, MEMORY_BACKING_NEVER);
	}
	/* Two slots are bad now: four pages fill it. */
	assert_int_equal(evict(object, 0, 4), 4);
	swap.error = -EIO;
	atomic_store(&swap.good, 0);
	assert_sigbus(space, HERE, SF_READ);
	assert_int_equal(sf_object_read(object, PAGE, &byte, 1), -EIO);
	assert_int_equal(sf_object_write(object, PAGE, &byte, 1), -EIO);
	assert_int_equal(sf_object_resize(object, PAGE + 1), -EIO);
	assert_int_equal(sf_object_punch(object, 1, 3 * PAGE), -EIO);
	assert_int_equal(object_size(object), 4 * PAGE);
	assert_good(system);
	atomic_store(&swap.good, MEMORY_BACKING_NEVER);
	for (unsigned page = 0; page < 4; page++)
		assert_int_equal(get_byte(space, HERE + page * PAGE), page + 1);
	sf_space_destroy(space);
	sf_object_close(object);
	port_rcu_barrier();
}

static void run(void (*body)(struct sf_system *system, const char *policy))
{
	for (size_t i = 0; i < sizeof(object_policies) / sizeof(object_policies[0]); i++) {
		struct sf_system *system = object_system(object_policies[i], 512);

		swap = (struct memory_backing){.released = false};
		body(system, object_policies[i]);
		object_system_end(system);
		memory_backing_close(&swap);
	}
}

#define CASE(name)                            \
	static void test_##name(void **state) \
	{                                     \
		(void)state;                  \
		run(name);                    \
	}

CASE(clean_pages_of_files_go)
CASE(who_uses_a_page_keeps_it)
CASE(shared_memory_comes_back)
CASE(limits_count_what_is_out)
CASE(swap_that_fails_loses_nothing)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(test_clean_pages_of_files_go),       fault_test(test_who_uses_a_page_keeps_it),
	    fault_test(test_shared_memory_comes_back),      fault_test(test_limits_count_what_is_out),
	    fault_test(test_swap_that_fails_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
