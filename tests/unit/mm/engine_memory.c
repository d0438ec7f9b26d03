/* SPDX-License-Identifier: MIT */
/*
 * The memory operations of an engine.
 */
#include "tests/unit/mm/fixture.h"

#include <string.h>

#include "engine/engine.h"
#include "engine/memory.h"

#define RAM_PAGES 100u
#define BASE      ((uintptr_t)1 << 30)

static struct engine_config config(const char *base, uint64_t memory_bytes, uint64_t exported_bytes)
{
	struct engine_config made = {.memory_bytes = memory_bytes, .exported_bytes = exported_bytes};

	assert_int_equal(policy_base(&made.policy, base, NULL), 0);
	return made;
}

static void operations_by_number(void **state)
{
	struct engine_config odd = config("base_2010", 0, PAGE + 1);
	struct engine_config good = config("base_2010", 0, RAM_PAGES * PAGE);
	struct message why = {""};
	unsigned last = ENGINE_SPACES_MAX - 1;

	(void)state;
	assert_int_equal(engine_memory_space_create(0), -EINVAL);
	assert_int_equal(engine_memory_check(&why), -EINVAL);
	assert_int_equal(engine_memory_open(&odd, &why), -EINVAL);
	assert_non_null(strstr(why.text, "4097"));
	assert_int_equal(engine_memory_open(&good, &why), 0);
	assert_int_equal(engine_memory_open(&good, &why), -EBUSY);

	assert_int_equal(engine_memory_space_create(ENGINE_SPACES_MAX), -EINVAL);
	assert_int_equal(engine_memory_space_create(last), 0);
	assert_int_equal(engine_memory_space_create(last), -EEXIST);
	assert_int_equal(engine_memory_map_pfn(0, BASE, PAGE, 0), -EINVAL);
	assert_int_equal(engine_memory_map_pfn(last, BASE, 2 * PAGE, RAM_PAGES - 1), -EINVAL);
	assert_int_equal(engine_memory_map_pfn(last, BASE, PAGE, UINT64_MAX), -EINVAL);
	assert_int_equal(engine_memory_map_pfn(last, BASE, RAM_PAGES * PAGE, 0), 0);
	for (unsigned i = 0; i < RAM_PAGES; i++)
		assert_int_equal(engine_memory_touch(last, BASE + i * PAGE, i % 2), 0);
	assert_int_equal(engine_memory_touch(last, BASE + RAM_PAGES * PAGE, false), -EFAULT);
	assert_int_equal(engine_memory_touch(0, BASE, false), -EINVAL);
	assert_int_equal(engine_memory_check(&why), 0);
	assert_int_equal(engine_memory_unmap(last, BASE, PAGE), 0);
	assert_int_equal(engine_memory_touch(last, BASE, false), -EFAULT);
	assert_int_equal(engine_memory_unmap(0, BASE, PAGE), -EINVAL);
	assert_int_equal(engine_memory_check(&why), 0);
	engine_memory_space_destroy(last);
	engine_memory_space_destroy(last);
	assert_int_equal(engine_memory_space_create(3), 0);
	engine_memory_close();
	engine_memory_close();
	assert_int_equal(engine_memory_touch(3, BASE, false), -EINVAL);
}

/* root > 1 > 2, and a space in each; what is left goes with the engine, in the right order. */
static void groups_by_number(void **state)
{
	struct engine_config own = config("default", 4 * RAM_PAGES * PAGE, 0);
	unsigned last = ENGINE_GROUPS_MAX - 1;
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_memory_group_create(1, 0), -EINVAL);
	assert_int_equal(engine_memory_open(&own, &why), 0);
	assert_int_equal(engine_memory_group_create(0, 0), -EEXIST);
	assert_int_equal(engine_memory_group_create(ENGINE_GROUPS_MAX, 0), -EINVAL);
	assert_int_equal(engine_memory_group_create(2, last), -EINVAL);
	assert_int_equal(engine_memory_group_create(last, 0), 0);
	assert_int_equal(engine_memory_group_create(last, 0), -EEXIST);
	assert_int_equal(engine_memory_group_create(2, last), 0);
	assert_int_equal(engine_memory_space_create_in(0, 1), -EINVAL);
	assert_int_equal(engine_memory_space_create_in(ENGINE_SPACES_MAX, 2), -EINVAL);
	assert_int_equal(engine_memory_space_create_in(0, 2), 0);
	assert_int_equal(engine_memory_space_create_in(0, 2), -EEXIST);
	assert_int_equal(engine_memory_space_create_in(1, last), 0);
	assert_int_equal(engine_memory_map_anon(0, BASE, PAGE, false), 0);
	assert_int_equal(engine_memory_touch(0, BASE, true), 0);
	assert_int_equal(engine_memory_check(&why), 0);
	engine_memory_close();
	assert_int_equal(engine_memory_group_create(1, 0), -EINVAL);
}

/* Each touch is one fault; a page that was given back faults again, and one that is unmapped cannot. */
static void anonymous_memory(void **state)
{
	struct engine_config own = config("default", 4 * RAM_PAGES * PAGE, 0);
	struct engine_statistics statistics;
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_memory_open(&own, &why), 0);
	assert_int_equal(engine_memory_space_create(1), 0);
	assert_int_equal(engine_memory_map_anon(0, BASE, PAGE, false), -EINVAL);
	assert_int_equal(engine_memory_map_anon(1, BASE, RAM_PAGES * PAGE, false), 0);
	assert_int_equal(engine_memory_map_anon(1, BASE + PAGE, PAGE, false), -EEXIST);
	assert_int_equal(engine_memory_map_anon(1, BASE + RAM_PAGES * PAGE, PAGE, true), 0);
	for (unsigned i = 0; i <= RAM_PAGES; i++)
		assert_int_equal(engine_memory_touch(1, BASE + i * PAGE, i % 2), 0);
	assert_int_equal(engine_memory_touch(1, BASE, false), 0);
	engine_memory_statistics(&statistics);
	assert_int_equal(statistics.faults, RAM_PAGES + 1);
	assert_int_equal(statistics.counter, ENGINE_COUNTER_SYSTEM);
	assert_int_equal(engine_memory_dontneed(0, BASE, PAGE), -EINVAL);
	assert_int_equal(engine_memory_dontneed(1, BASE, 10 * PAGE), 0);
	for (unsigned i = 0; i < RAM_PAGES; i++)
		assert_int_equal(engine_memory_touch(1, BASE + i * PAGE, false), 0);
	engine_memory_statistics(&statistics);
	assert_int_equal(statistics.faults, RAM_PAGES + 1 + 10);
	assert_int_equal(engine_memory_unmap(1, BASE, RAM_PAGES * PAGE), 0);
	assert_int_equal(engine_memory_touch(1, BASE, false), -EFAULT);
	assert_int_equal(engine_memory_check(&why), 0);
	engine_memory_close();
}

static int map_new_file(unsigned space, bool on_disk)
{
	int error = engine_memory_file_create(3, RAM_PAGES * PAGE, on_disk);

	if (!error)
		error = engine_memory_file_map(space, BASE, RAM_PAGES * PAGE, 3, 0);
	engine_memory_file_close(3);
	return error;
}

/* Each page is made by its first touch. Nothing but its mapping keeps the file. */
static void files_of_memory(void **state)
{
	struct engine_config own = config("base_2010", 4 * RAM_PAGES * PAGE, 0);
	struct engine_statistics statistics;
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_memory_open(&own, &why), 0);
	assert_int_equal(engine_memory_space_create(1), 0);
	assert_int_equal(map_new_file(0, false), -EINVAL);
	assert_int_equal(engine_memory_file_map(1, BASE, PAGE, 3, 0), -EINVAL);
	assert_int_equal(engine_memory_file_create(ENGINE_FILES_MAX, PAGE, false), -EINVAL);
	assert_int_equal(engine_memory_file_create(3, 0, false), -EINVAL);
	assert_int_equal(map_new_file(1, false), 0);
	assert_int_equal(map_new_file(1, false), -EEXIST);
	for (unsigned i = 0; i < RAM_PAGES; i++)
		assert_int_equal(engine_memory_touch(1, BASE + i * PAGE, i % 2), 0);
	engine_memory_statistics(&statistics);
	assert_int_equal(statistics.faults, RAM_PAGES);
	assert_int_equal(engine_memory_touch(1, BASE + RAM_PAGES * PAGE, false), -EFAULT);
	for (unsigned round = 0; round < 20; round++) {
		assert_int_equal(engine_memory_unmap(1, BASE, RAM_PAGES * PAGE), 0);
		port_rcu_barrier();
		assert_int_equal(map_new_file(1, round % 2), 0);
		for (unsigned i = 0; i < RAM_PAGES; i++)
			assert_int_equal(engine_memory_touch(1, BASE + i * PAGE, false), 0);
	}
	assert_int_equal(engine_memory_check(&why), 0);
	engine_memory_close();
	port_rcu_barrier();
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

/* Every allocation of an opening fails once; then it opens as if nothing had been. */
static void failing_to_open(void **state)
{
	struct engine_config structure = config("default", RAM_PAGES * PAGE, RAM_PAGES * PAGE);
	unsigned failures = 0;

	(void)state;
	structure.structure_only = true;
	for (;; failures++) {
		struct message why = {""};
		int error;

		host_memory_fail_after(failures);
		error = engine_memory_open(&structure, &why);
		host_memory_fail_never();
		if (!error)
			break;
		assert_int_equal(error, -ENOMEM);
		assert_true(why.text[0]);
		assert_int_equal(host_memory_in_use_bytes(), 0);
	}
	assert_true(failures >= 9);
	engine_memory_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(operations_by_number), mm_test(groups_by_number), mm_test(anonymous_memory),
	    mm_test(files_of_memory),      mm_test(failing_to_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
