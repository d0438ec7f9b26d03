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

static void operations_by_number(void **state)
{
	struct policy policy;
	struct message why = {""};
	unsigned last = ENGINE_SPACES_MAX - 1;

	(void)state;
	assert_int_equal(policy_base(&policy, "base_2010", &why), 0);
	assert_int_equal(engine_memory_space_create(0), -EINVAL);
	assert_int_equal(engine_memory_check(&why), -EINVAL);
	assert_int_equal(engine_memory_open(&policy, PAGE + 1, false, &why), -EINVAL);
	assert_non_null(strstr(why.text, "4097"));
	assert_int_equal(engine_memory_open(&policy, RAM_PAGES * PAGE, false, &why), 0);
	assert_int_equal(engine_memory_open(&policy, RAM_PAGES * PAGE, false, &why), -EBUSY);

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

/* Every allocation of an opening fails once; then it opens as if nothing had been. */
static void failing_to_open(void **state)
{
	struct policy policy;
	unsigned failures = 0;

	(void)state;
	assert_int_equal(policy_base(&policy, "default", NULL), 0);
	for (;; failures++) {
		struct message why = {""};
		int error;

		host_memory_fail_after(failures);
		error = engine_memory_open(&policy, RAM_PAGES * PAGE, true, &why);
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
	    mm_test(operations_by_number),
	    mm_test(failing_to_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
