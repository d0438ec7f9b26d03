/* SPDX-License-Identifier: MIT */
/*
 * The workload of groups on an engine that keeps book of every space, group and page, and on real threads.
 */
#include "tests/lab/fixture.h"

#include <errno.h>

#include "lab/workload.h"
#include "tests/lab/fake_engine.h"

#define PAGE_BYTES 4096u
#define CPUS       5u
#define GROUPS     32u
#define REAL       32768u
#define SHORT      1750u
#define WARM_UP    (2 * SHORT)

static struct {
	unsigned spaces, groups;
	unsigned parent[GROUPS], group[CPUS]; /* of a group; of a space */
	struct {
		unsigned space;
		uintptr_t start;
		uint64_t pages, touched, unmaps, begun;
		bool mapped;
	} task[CPUS];
	bool sticky;
	unsigned barriers;
	uint64_t faults;
	int group_error;
} book;

static int book_group_create(unsigned group, unsigned parent)
{
	assert_true(group > 0 && group < GROUPS && parent < group);
	book.groups++;
	book.parent[group] = parent;
	return book.group_error;
}

static int book_space_create_in(unsigned space, unsigned group)
{
	assert_int_equal(space, book.spaces);
	book.group[book.spaces++] = group;
	return 0;
}

static int book_space_create(unsigned space)
{
	return book_space_create_in(space, 0);
}

static void book_space_destroy(unsigned space)
{
	assert_true(space < CPUS);
	book.spaces--;
}

static unsigned task_at(uintptr_t address)
{
	return (unsigned)((address - ((uintptr_t)1 << 40)) / (256u << 20));
}

static int book_map(unsigned space, uintptr_t address, size_t length, bool shared)
{
	unsigned task = task_at(address);

	assert_false(shared || book.task[task].mapped);
	book.task[task].mapped = true;
	book.task[task].space = space;
	book.task[task].start = address;
	book.task[task].pages = length / PAGE_BYTES;
	book.task[task].touched = 0;
	return 0;
}

static int book_unmap(unsigned space, uintptr_t address, size_t length)
{
	unsigned task = task_at(address);

	assert_true(book.task[task].mapped && book.task[task].space == space &&
		    book.task[task].start == address && book.task[task].pages == length / PAGE_BYTES);
	book.task[task].mapped = false;
	book.task[task].unmaps++;
	return 0;
}

static int book_touch(unsigned space, uintptr_t address, bool write)
{
	unsigned task = task_at(address);

	assert_true(write && book.task[task].mapped && book.task[task].space == space);
	assert_int_equal(address, book.task[task].start + book.task[task].touched++ * PAGE_BYTES);
	assert_true(book.task[task].touched <= book.task[task].pages);
	book.faults += !book.sticky;
	return 0;
}

/* Reached by one body after the other. */
static void book_barrier(void)
{
	book.task[fake_cpu].begun = book.task[fake_cpu].touched;
	book.barriers++;
}

static void book_statistics(struct engine_statistics *statistics)
{
	*statistics = (struct engine_statistics){.faults = book.faults};
}

static int work(const struct workload_size *size, struct workload_outcome *outcome, struct message *why)
{
	struct engine engine = fake_engine;
	bool sticky = book.sticky;
	int group_error = book.group_error;

	memset(&book, 0, sizeof(book));
	book.sticky = sticky;
	book.group_error = group_error;
	fake_config.cpus = size->cpus;
	engine.group_create = book_group_create;
	engine.space_create_in = book_space_create_in;
	engine.space_create = book_space_create;
	engine.space_destroy = book_space_destroy;
	engine.map_anon = book_map;
	engine.unmap = book_unmap;
	engine.touch = book_touch;
	engine.barrier = book_barrier;
	engine.statistics = book_statistics;
	return workload_group_release.run(&engine, size, outcome, why);
}

static struct workload_size size_of(const char *group, const char *spaces)
{
	struct workload_size size = {.cpus = CPUS, .measured = 100, .warm_up = WARM_UP, .simulated = true};

	assert_int_equal(workload_choose(&workload_group_release, &size.settings, "group", group, NULL), 0);
	assert_int_equal(workload_choose(&workload_group_release, &size.settings, "spaces", spaces, NULL), 0);
	return size;
}

/* Runs it; the groups and spaces are then looked at by the caller. */
static void run_and_check(const char *group, const char *spaces)
{
	struct workload_size size = size_of(group, spaces);
	struct workload_outcome outcome = {0};
	struct message why = {""};
	uint64_t begun = 0;

	if (work(&size, &outcome, &why))
		fail_msg("%s", why.text);
	for (unsigned i = 0; i < CPUS; i++)
		begun += book.task[i].begun;
	assert_int_equal(outcome.timing.operations, CPUS * SHORT);
	assert_int_equal(outcome.statistics.faults, CPUS * (SHORT + WARM_UP) + begun);
	assert_int_equal(book.spaces, 0);
	for (unsigned i = 0; i < CPUS; i++) {
		assert_int_equal(book.task[i].space, strcmp(spaces, "one") ? i : 0);
		assert_false(book.task[i].mapped);
	}
}

/* The window of few tasks is a whole round, wherever in it each begins. */
static void goes_round_in_step_with_nobody(void **state)
{
	(void)state;
	run_and_check("root", "each");
	assert_int_equal(book.groups, 0);
	for (unsigned i = 0; i < CPUS; i++) {
		assert_int_equal(book.task[i].pages, SHORT);
		/* Three, or where it began with nothing two; and one at the end. */
		assert_int_equal(book.task[i].unmaps, book.task[i].begun ? 4 : 3);
	}
	assert_int_equal(book.barriers, CPUS);
	/* 0.618 of a round apart from the next: with five, none is nearer to another than an eighth. */
	for (unsigned i = 0; i < CPUS; i++)
		for (unsigned j = 0; j < i; j++) {
			uint64_t apart = book.task[i].begun > book.task[j].begun
					     ? book.task[i].begun - book.task[j].begun
					     : book.task[j].begun - book.task[i].begun;

			assert_in_range(apart, SHORT / 8, SHORT - 1);
		}
}

static void puts_spaces_into_groups(void **state)
{
	(void)state;
	run_and_check("one", "each");
	assert_int_equal(book.groups, 1);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(book.group[i], 1);
	run_and_check("each", "each");
	assert_int_equal(book.groups, CPUS);
	for (unsigned i = 0; i < CPUS; i++)
		assert_true(book.group[i] == i + 1 && !book.parent[i + 1]);
	run_and_check("deep", "one");
	assert_int_equal(book.groups, 3);
	assert_true(book.group[0] == 3 && book.parent[3] == 2 && book.parent[2] == 1 && !book.parent[1]);
}

static void rounds_are_real_on_a_computer_or_where_asked(void **state)
{
	struct workload_size size = size_of("root", "each");
	struct workload_outcome outcome;
	struct message why = {""};

	(void)state;
	for (unsigned simulated = 0; simulated < 2; simulated++) {
		size.simulated = simulated;
		if (simulated)
			workload_choose(&workload_group_release, &size.settings, "round", "real", NULL);
		assert_int_equal(work(&size, &outcome, &why), 0);
		assert_int_equal(workload_group_release.gather_batches(&size), 0);
		assert_int_equal(workload_group_release.pcp_batches(&size), 0);
		assert_int_equal(book.task[0].pages, REAL);
		assert_int_equal(outcome.timing.operations, CPUS * REAL);
	}
}

/* Two rounds of so many pages as fill a pagevec, and charge a stock and more. */
static void rounds_are_small_in_exploration(void **state)
{
	struct workload_size size = size_of("one", "each");
	struct workload_outcome outcome;
	struct message why = {""};

	(void)state;
	size.small = true;
	size.measured = 4;
	size.warm_up = 0;
	assert_int_equal(work(&size, &outcome, &why), 0);
	for (unsigned i = 0; i < CPUS; i++) {
		assert_int_equal(book.task[i].pages, 20);
		assert_in_range(book.task[i].unmaps, 2, 3);
	}
	assert_int_equal(outcome.timing.operations, CPUS * 2 * 20);
}

static void tells_what_failed(void **state)
{
	struct workload_size size = size_of("one", "each");
	struct workload_outcome outcome;
	struct message why = {""};

	(void)state;
	book.group_error = -EACCES;
	assert_int_equal(work(&size, &outcome, &why), -EACCES);
	assert_string_equal(why.text, "a memory group cannot be made: Permission denied");
	book.group_error = 0;
	book.sticky = true;
	assert_int_equal(work(&size, &outcome, &why), -EIO);
	assert_non_null(strstr(why.text, "only 0 of"));
	book.sticky = false;
	assert_int_equal(workload_group_release.run(&fake_engine, &size, &outcome, &why), -EOPNOTSUPP);
	assert_string_equal(why.text, "engine fake has no memory groups");
	assert_non_null(workload_group_release.refusal(&fake_engine));
}

/* On real threads, with the check of usage against charged pages before and after all is unmapped. */
static void keeps_book_on_real_threads(void **state)
{
	static const char *const groups[] = {"root", "one", "each", "deep"};
	struct message why = {""};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(groups); i++) {
		struct workload_size size = size_of(groups[i / 2], i % 2 ? "one" : "each");
		struct workload_outcome outcome;
		struct engine_config config = {.seed = 1, .structure_only = true, .home_socket = -1};

		size.cpus = 2;
		config.cpus = size.cpus;
		config.memory_bytes = workload_group_release.memory_bytes(&size);
		config.gather_batches = workload_group_release.gather_batches(&size);
		config.pcp_batches = workload_group_release.pcp_batches(&size);
		assert_int_equal(config.gather_batches, 1);
		assert_int_equal(config.pcp_batches, 1);
		assert_int_equal(
		    policy_parse(&config.policy, i % 2 ? "base_2014 root_group=charged" : "default", &why),
		    0);
		assert_int_equal(engine_host.open(&config, &why), 0);
		if (workload_group_release.run(&engine_host, &size, &outcome, &why))
			fail_msg("%s", why.text);
		assert_int_equal(outcome.timing.operations, 2 * SHORT);
		engine_host.close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(goes_round_in_step_with_nobody),
	    cmocka_unit_test(puts_spaces_into_groups),
	    cmocka_unit_test(rounds_are_real_on_a_computer_or_where_asked),
	    cmocka_unit_test(rounds_are_small_in_exploration),
	    cmocka_unit_test(tells_what_failed),
	    cmocka_unit_test(keeps_book_on_real_threads),
	};

	return cmocka_run_group_tests_name("lab/group_release", tests, NULL, NULL);
}
