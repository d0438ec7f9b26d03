/* SPDX-License-Identifier: MIT */
/*
 * Many CPUs, each with a space of its own in one group, map, touch and unmap. What it costs in locks is known
 * exactly: so many pages a charge, so many an uncharge, so many a take of the lru_lock. And with the default
 * policy no two faults meet at all.
 */
#include "tests/vsmp/fixture.h"

#include <stdio.h>
#include <string.h>

#include "mm/page/lru.h"
#include "mm/system/system.h"
#include "mm/table/gather.h"

#define CPUS   16u
#define PAGE   SF_PAGE_SIZE
#define BASE   ((uint64_t)1 << 32)
#define ROUNDS 2u

/* What a gather holds, and one batch more. */
#define PAGES ((GATHER_BATCHES_MAX + 1) * GATHER_BATCH_PAGES + GATHER_LOCAL_PAGES)

/* Few enough that a test is quick. */
#define FEW_PAGES (4 * GATHER_BATCH_PAGES + GATHER_LOCAL_PAGES)

struct setting {
	const char *policy;
	unsigned cpus, depth; /* of the group; 0: the root */
	uint64_t pages;
};

static const struct setting *setting;
static struct sf_system *memory_system;
static struct sf_group *group[8];
static struct sf_space *space[CPUS];

static void set_up(void *argument)
{
	struct system_config config = {.own_frames = CPUS * 4 * PAGES, .structure_only = true};

	(void)argument;
	assert_int_equal(policy_parse(&config.policy, setting->policy, NULL), 0);
	assert_int_equal(system_create(&config, &memory_system, NULL), 0);
	group[0] = sf_group_root(memory_system);
	for (unsigned i = 0; i < setting->depth; i++)
		assert_int_equal(sf_group_create(group[i], &group[i + 1]), 0);
}

static void map_touch_unmap(unsigned cpu)
{
	uint64_t mapped, bytes = setting->pages * PAGE;

	assert_int_equal(sf_map(space[cpu], BASE, bytes, SF_PROT_READ | SF_PROT_WRITE,
				SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped),
			 0);
	for (uint64_t page = 0; page < setting->pages; page++)
		assert_int_equal(sf_touch(space[cpu], BASE + page * PAGE, SF_WRITE, NULL), 0);
	vsmp_count_operations(setting->pages);
	assert_int_equal(sf_unmap(space[cpu], BASE, bytes), 0);
}

static void body(unsigned cpu, void *argument)
{
	(void)argument;
	assert_int_equal(sf_space_create_in(group[setting->depth], &space[cpu]), 0);
	map_touch_unmap(cpu);
	vsmp_barrier();
	vsmp_measure_begin();
	for (unsigned round = 0; round < ROUNDS; round++)
		map_touch_unmap(cpu);
	vsmp_measure_end();
}

static void assert_good(void)
{
	struct message why = {""};

	if (system_check(memory_system, &why))
		fail_msg("%s", why.text);
}

static void tear_down(void *argument)
{
	struct sf_group_statistics statistics;

	(void)argument;
	assert_good();
	for (unsigned cpu = 0; cpu < setting->cpus; cpu++)
		sf_space_destroy(space[cpu]);
	assert_good();
	for (unsigned i = setting->depth; i; i--) {
		sf_group_statistics(group[i], &statistics);
		assert_true(statistics.usage <= (uint64_t)setting->cpus * 32 * PAGE);
		/* Whose stocks are given back here. */
		assert_int_equal(sf_group_set_limit(group[i], 0), 0);
		sf_group_statistics(group[i], &statistics);
		assert_int_equal(statistics.usage, 0);
		assert_int_equal(sf_group_destroy(group[i]), 0);
	}
	assert_good();
	system_destroy(memory_system);
}

static void run(const struct setting *wanted, struct vsmp_report *report)
{
	struct message why = {""};

	setting = wanted;
	fixture_create(2, CPUS / 2, 1, wanted->cpus, 5);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(body, NULL, 1000, &why))
		fail_msg("%s", why.text);
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->dropped, 0);
	assert_int_equal(report->operations, wanted->cpus * ROUNDS * wanted->pages);
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
}

static void default_faults_meet_at_refills_alone(void **state)
{
	static const struct setting settings[] = {
	    {.policy = "default", .cpus = CPUS, .depth = 1, .pages = FEW_PAGES},
	    {.policy = "default root_group=charged", .cpus = CPUS, .depth = 3, .pages = FEW_PAGES},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct vsmp_report report;
		bool refills = false;

		run(&settings[i], &report);
		for (size_t j = 0; j < report.conflict_count; j++) {
			const struct vsmp_conflict_row *row = &report.conflicts[j];

			if (!strcmp(row->scope, "fault") || !strcmp(row->other_scope, "fault"))
				fail_msg("%s and %s conflict at %s", row->scope, row->other_scope, row->name);
			refills |= !strcmp(row->scope, "charge refill");
		}
		assert_true(refills);
		print_message("%u levels: %.3f transfers a page\n", settings[i].depth,
			      (double)report.transfers / (double)report.operations);
		/* One in 32 pages is charged for 32, at each level. */
		assert_true((double)report.transfers <
			    (double)report.operations * (settings[i].depth + 1) * 4 / 32);
		vsmp_report_free(&report);
	}
}

static void other_choices_meet(void **state)
{
	static const struct {
		struct setting setting;
		const char *at;
	} choices[] = {
	    {{"default charge_stock=none", CPUS, 1, FEW_PAGES}, "memory.usage"},
	    {{"default group_counter=res_counter", CPUS, 1, FEW_PAGES}, "memory.lock"},
	    {{"default lru_add=zone_lock", CPUS, 0, FEW_PAGES}, "lru_place"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		struct vsmp_report report;
		bool found = false;

		run(&choices[i].setting, &report);
		for (size_t j = 0; j < report.conflict_count; j++)
			found |= strstr(report.conflicts[j].name, choices[i].at) != NULL;
		if (!found) {
			for (size_t j = 0; j < report.conflict_count; j++)
				print_message("%s\n", report.conflicts[j].name);
			fail_msg("%s: no conflict at %s", choices[i].setting.policy, choices[i].at);
		}
		vsmp_report_free(&report);
	}
}

/* The row of a class of locks; all zeroes for one that nobody took. */
static struct vsmp_lock_row lock_of(const struct vsmp_report *report, const char *name)
{
	for (size_t i = 0; i < report->lock_count; i++)
		if (!strcmp(report->locks[i].name, name))
			return report->locks[i];
	return (struct vsmp_lock_row){.acquisitions = 0};
}

static uint64_t parts(uint64_t pages, uint64_t size)
{
	return (pages + size - 1) / size;
}

/*
 * How many calls of release_pages() of at most `size` pages one unmap makes: each batch of the gather is
 * handed over by itself, the one in the gather first, again after each flush.
 */
static uint64_t releases(uint64_t pages, uint64_t size)
{
	uint64_t calls = 0;

	while (pages) {
		for (unsigned batch = 0; batch <= GATHER_BATCHES_MAX && pages; batch++) {
			uint64_t room = batch ? GATHER_BATCH_PAGES : GATHER_LOCAL_PAGES;
			uint64_t now = pages < room ? pages : room;

			calls += parts(now, size);
			pages -= now;
		}
	}
	return calls;
}

/* One CPU, so that nothing but its own work takes the locks. */
static void locks_are_taken_as_seldom_as_they_should(void **state)
{
	static const struct {
		struct setting setting;
		unsigned release, run;
	} choices[] = {
	    {{"base_2014", 1, 1, PAGES}, PAGEVEC_SIZE, PAGEVEC_SIZE},
	    {{"base_2014 release_batch=gather", 1, 1, PAGES}, GATHER_BATCH_PAGES, PAGEVEC_SIZE},
	    {{"base_2014 release_batch=gather_unchunked", 1, 1, PAGES},
	     GATHER_BATCH_PAGES,
	     GATHER_BATCH_PAGES},
	    {{"base_2014 charge_stock=none release_batch=gather", 1, 2, FEW_PAGES},
	     GATHER_BATCH_PAGES,
	     PAGEVEC_SIZE},
	};
	uint64_t hold_max[ARRAY_SIZE(choices)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct setting *wanted = &choices[i].setting;
		bool stock = !strstr(wanted->policy, "none");
		uint64_t pages = wanted->pages, tables = parts(pages, 512);
		uint64_t adds = parts(pages, PAGEVEC_SIZE), charges, uncharges, lru, res;
		struct vsmp_lock_row row;
		struct vsmp_report report;

		run(wanted, &report);
		/* A page that waits in the pagevec at the unmap is put on the list for it. */
		lru = ROUNDS * (adds + releases(pages, choices[i].run));
		row = lock_of(&report, "lru_lock");
		print_message("%s: lru_lock %llu of %llu\n", wanted->policy,
			      (unsigned long long)row.acquisitions, (unsigned long long)lru);
		assert_int_equal(row.acquisitions, lru);
		hold_max[i] = row.hold_max_cycles;

		charges = stock ? parts(pages, 32) : pages + tables;
		uncharges = releases(pages, choices[i].release);
		row = lock_of(&report, "res_counter_lock");
		res = ROUNDS * wanted->depth * (charges + uncharges);
		print_message("  res_counter_lock %llu of about %llu\n", (unsigned long long)row.acquisitions,
			      (unsigned long long)res);
		/* Tables are charged, too, and one by one taken back into the stock, or not. */
		assert_in_range(row.acquisitions, res - ROUNDS * wanted->depth * tables,
				res + ROUNDS * wanted->depth * tables);
		vsmp_report_free(&report);
	}
	print_message("lru_lock held for at most %llu, %llu and %llu cycles\n",
		      (unsigned long long)hold_max[0], (unsigned long long)hold_max[1],
		      (unsigned long long)hold_max[2]);
	assert_true(hold_max[1] <= hold_max[0] * 2 && hold_max[2] > 8 * hold_max[1]);
}

static bool has_caller(const struct vsmp_report *report, const char *name, const char *caller)
{
	const struct vsmp_profile_row *row = fixture_symbol(report, name);

	for (size_t i = 0; i < row->caller_count; i++)
		if (!strcmp(row->callers[i].symbol, caller))
			return true;
	print_message("%s is not called by %s\n", name, caller);
	return false;
}

/* The functions are those of the kernel's own profile, from the lock to the call. */
static void the_way_down_is_that_of_the_kernel(void **state)
{
	static const struct setting wanted = {"base_2014", 2, 1, PAGES};
	static const char *const way[][2] = {
	    {"res_counter_uncharge_until", "res_counter_uncharge"},
	    {"res_counter_uncharge", "uncharge_batch"},
	    {"uncharge_batch", "uncharge_list"},
	    {"uncharge_list", "mem_cgroup_uncharge_list"},
	    {"mem_cgroup_uncharge_list", "release_pages"},
	    {"release_pages", "free_pages_and_swap_cache"},
	    {"free_pages_and_swap_cache", "tlb_flush_mmu_free"},
	    {"tlb_flush_mmu_free", "table_zap_pages"},
	    {"table_zap_pages", "unmap_single_vma"},
	    {"unmap_single_vma", "unmap_vmas"},
	    {"unmap_vmas", "unmap_region"},
	    {"tlb_flush_mmu_free", "tlb_flush_mmu"},
	    {"tlb_flush_mmu", "tlb_finish_mmu"},
	    {"tlb_finish_mmu", "unmap_region"},
	};
	struct vsmp_report report;

	(void)state;
	run(&wanted, &report);
	for (size_t i = 0; i < ARRAY_SIZE(way); i++)
		assert_true(has_caller(&report, way[i][0], way[i][1]));
	vsmp_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(default_faults_meet_at_refills_alone),
	    cmocka_unit_test(other_choices_meet),
	    cmocka_unit_test(locks_are_taken_as_seldom_as_they_should),
	    cmocka_unit_test(the_way_down_is_that_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
