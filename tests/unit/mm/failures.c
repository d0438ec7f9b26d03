/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of every entry point fails once: the call says -ENOMEM, the system is as before, and
 * nothing leaks.
 */
#include "tests/unit/mm/fixture.h"

#include "mm/space/vma_cache.h"
#include "mm/space/vma_node_cache.h"
#include "mm/system/internal.h"

#define OWN   64u
#define LARGE ((uintptr_t)512 * PAGE)

static void making_a_system(void **state)
{
	struct system_config config = {.policy.memtype = POLICY_MEMTYPE_SPIN, .own_frames = OWN};
	unsigned failures = 0;

	(void)state;
	for (;; failures++) {
		struct sf_system *system = NULL;
		struct message why = {""};
		int error;

		host_memory_fail_after(failures);
		error = system_create(&config, &system, &why);
		host_memory_fail_never();
		if (!error) {
			system_destroy(system);
			break;
		}
		assert_int_equal(error, -ENOMEM);
		assert_true(why.text[0]);
		assert_null(system);
		assert_int_equal(host_memory_in_use_bytes(), 0);
	}
	/* The system, its per-CPU parts, the frames with four tables, a depot, the memory types. */
	assert_true(failures >= 8);
}

struct setting {
	struct sf_system *system;
	struct sf_space *space;
};

/* [1, 9) and [12, 16) of the pages from LARGE on are mapped and touched. */
static struct setting setting_open(void)
{
	struct setting setting = {.system = system_open(POLICY_MEMTYPE_CMPXCHG, OWN, 64)};

	setting.space = space_open(setting.system);
	assert_non_null(setting.space);
	assert_int_equal(system_map_pfn(setting.space, LARGE + PAGE, 8 * PAGE, OWN, true), 0);
	assert_int_equal(system_map_pfn(setting.space, LARGE + 12 * PAGE, 4 * PAGE, OWN, true), 0);
	for (unsigned i = 1; i < 16; i++)
		assert_int_equal(touch(setting.space, LARGE + i * PAGE, false),
				 i < 9 || i >= 12 ? 0 : -EFAULT);
	return setting;
}

static void setting_close(struct setting *setting)
{
	sf_space_destroy(setting->space);
	assert_system_good(setting->system);
	system_destroy(setting->system);
}

static void assert_unchanged(struct setting *setting)
{
	assert_system_good(setting->system);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(system_pte(setting->space, LARGE + i * PAGE) != 0,
				 (i >= 1 && i < 9) || (i >= 12 && i < 16));
}

static int map_between(struct sf_space *space)
{
	return system_map_pfn(space, LARGE + 9 * PAGE, 3 * PAGE, OWN, true);
}

static int unmap_a_middle(struct sf_space *space)
{
	return sf_unmap(space, LARGE + 3 * PAGE, 2 * PAGE);
}

static int unmap_across(struct sf_space *space)
{
	return sf_unmap(space, LARGE + 3 * PAGE, 11 * PAGE);
}

/* Gives back what waits to be used again, so that every object has to be asked for. */
static void drain(struct sf_system *system)
{
	port_rcu_barrier();
	vma_cache_drain(system->parts.vma_cache);
	vma_node_cache_drain(system->parts.node_cache);
}

/* Returns how many times `change` failed before it had all that it needs. */
static unsigned fail_each_allocation(int (*change)(struct sf_space *space))
{
	struct setting setting = setting_open();
	unsigned failures = 0;

	for (;; failures++) {
		size_t before;
		int error;

		assert_system_good(setting.system);
		drain(setting.system);
		before = host_memory_in_use_bytes();
		host_memory_fail_after(failures);
		error = change(setting.space);
		host_memory_fail_never();
		if (!error)
			break;
		assert_int_equal(error, -ENOMEM);
		assert_unchanged(&setting);
		drain(setting.system);
		assert_int_equal(host_memory_in_use_bytes(), before);
	}
	assert_system_good(setting.system);
	setting_close(&setting);
	return failures;
}

static void changing_mappings(void **state)
{
	(void)state;
	/* An object and its VMA's part of it, the VMA, a node of the tree; or two VMAs with their parts. */
	assert_int_equal(fail_each_allocation(map_between), 4);
	assert_int_equal(fail_each_allocation(unmap_a_middle), 5);
	assert_int_equal(fail_each_allocation(unmap_across), 5);
}

static void making_a_space(void **state)
{
	struct sf_system *system = system_open(POLICY_MEMTYPE_CMPXCHG, 2, 0);
	struct sf_space *space;
	size_t before = host_memory_in_use_bytes();

	(void)state;
	for (unsigned failures = 0;; failures++) {
		host_memory_fail_after(failures);
		space = space_open(system);
		host_memory_fail_never();
		if (space)
			break;
		assert_int_equal(host_memory_in_use_bytes(), before);
		assert_system_good(system);
	}
	/* The one frame that is not the zero page is taken. */
	assert_null(space_open(system));
	assert_system_good(system);
	sf_space_destroy(space);
	assert_int_equal(host_memory_in_use_bytes(), before);
	assert_system_good(system);
	system_destroy(system);
}

/* A fault allocates nothing but frames: with no memory at all left, it does not notice. */
static void faults_need_no_memory(void **state)
{
	struct setting setting = setting_open();

	(void)state;
	assert_int_equal(system_map_pfn(setting.space, 9 * LARGE, 64 * PAGE, OWN, true), 0);
	host_memory_fail_after(0);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(touch(setting.space, 9 * LARGE + i * PAGE, true), 0);
	host_memory_fail_never();
	setting_close(&setting);
}

/*
 * With few frames, touches far apart run out of page tables. What fails, fails again; unmapping gives frames
 * back, and then it works.
 */
static void running_out_of_frames(void **state)
{
	(void)state;
	/* One frame is the zero page, one the root. */
	for (uint64_t own = 2; own < 24; own++) {
		struct sf_system *system = system_open(POLICY_MEMTYPE_CMPXCHG, own, 64);
		struct sf_space *space = space_open(system);
		unsigned reached = 0;
		int error = 0;

		assert_non_null(space);
		for (unsigned i = 0; i < 64; i++)
			assert_int_equal(system_map_pfn(space, (i + 1) * LARGE, LARGE / 8, OWN + 64, true),
					 0);
		while (reached < 64 && !error) {
			error = touch(space, (reached + 1) * LARGE, true);
			reached += !error;
		}
		/* Root and two levels, then a table each. */
		assert_int_equal(error, -ENOMEM);
		assert_int_equal(reached, own > 4 ? own - 4 : 0);
		assert_system_good(system);
		assert_int_equal(touch(space, (reached + 1) * LARGE, false), -ENOMEM);
		assert_system_good(system);
		if (reached) {
			assert_int_equal(sf_unmap(space, LARGE, LARGE), 0);
			assert_system_good(system);
			assert_int_equal(touch(space, (reached + 1) * LARGE, false), 0);
			assert_system_good(system);
		}
		sf_space_destroy(space);
		assert_system_good(system);
		system_destroy(system);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(making_a_system),       mm_test(changing_mappings),     mm_test(making_a_space),
	    mm_test(faults_need_no_memory), mm_test(running_out_of_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
