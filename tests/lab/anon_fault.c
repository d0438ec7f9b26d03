/* SPDX-License-Identifier: MIT */
/*
 * The workload of anonymous faults on an engine that keeps book of every page: what is touched, how often,
 * and what is given back, with each option.
 *
 *   AAAA....BBBB....CCCC....    slices of 2 MiB, one for each thread, each in 8 MiB of its own
 */
#include "tests/lab/fixture.h"

#include <errno.h>

#include "lab/workload.h"
#include "tests/lab/fake_engine.h"

#define PAGE_BYTES  4096u
#define BOOK_PAGES  65536u
#define TABLE_PAGES 512u

static struct {
	uintptr_t base; /* of the first mapping */
	bool mapped[BOOK_PAGES], present[BOOK_PAGES];
	unsigned char toucher[BOOK_PAGES]; /* CPU + 1 */
	unsigned touches[BOOK_PAGES];
	unsigned maps, unmaps, advices, barriers, reads, writes;
	uint64_t faults;
	bool sticky; /* advice is not followed */
} book;

static size_t page_at(uintptr_t address)
{
	size_t page;

	if (!book.base)
		book.base = address;
	page = (address - book.base) / PAGE_BYTES;
	assert_true(address >= book.base && page < BOOK_PAGES && !(address % PAGE_BYTES));
	return page;
}

static int book_map(unsigned space, uintptr_t address, size_t length, bool shared)
{
	size_t first = page_at(address);

	assert_int_equal(space, 0);
	assert_false(shared);
	book.maps++;
	for (size_t i = first; i < first + length / PAGE_BYTES; i++) {
		if (book.mapped[i])
			return -EEXIST;
		book.mapped[i] = true;
	}
	return 0;
}

static int book_unmap(unsigned space, uintptr_t address, size_t length)
{
	size_t first = page_at(address);

	assert_int_equal(space, 0);
	book.unmaps++;
	for (size_t i = first; i < first + length / PAGE_BYTES; i++)
		book.mapped[i] = book.present[i] = false;
	return 0;
}

static int book_dontneed(unsigned space, uintptr_t address, size_t length)
{
	size_t first = page_at(address);

	assert_int_equal(space, 0);
	book.advices++;
	for (size_t i = first; i < first + length / PAGE_BYTES && !book.sticky; i++)
		book.present[i] = false;
	return 0;
}

static int book_touch(unsigned space, uintptr_t address, bool write)
{
	size_t page = page_at(address);

	assert_int_equal(space, 0);
	if (!book.mapped[page])
		return -EFAULT;
	book.faults += !book.present[page];
	book.present[page] = true;
	book.touches[page]++;
	book.writes += write;
	book.reads += !write;
	if (book.toucher[page] && book.toucher[page] != fake_cpu + 1)
		fail_msg("CPU %u touches a page of CPU %u", fake_cpu, book.toucher[page] - 1u);
	book.toucher[page] = (unsigned char)(fake_cpu + 1);
	return 0;
}

static void book_statistics(struct engine_statistics *statistics)
{
	*statistics = (struct engine_statistics){
	    .faults = book.faults, .has_retired = true, .peak_retired_bytes = 12345};
}

static void book_barrier(void)
{
	book.barriers++;
}

static int work(int (*map)(unsigned space, uintptr_t address, size_t length, bool shared),
		const struct workload_size *size, struct workload_outcome *outcome, struct message *why)
{
	struct engine engine = fake_engine;

	memset(&book, 0, sizeof(book));
	memset(&fake, 0, sizeof(fake));
	fake.failing_space = ~0u;
	fake_config.cpus = size->cpus;
	engine.map_anon = map;
	engine.unmap = book_unmap;
	engine.dontneed = book_dontneed;
	engine.touch = book_touch;
	engine.statistics = book_statistics;
	engine.barrier = book_barrier;
	return workload_anon_fault.run(&engine, size, outcome, why);
}

static struct workload_size size_of(const char *const *options, size_t count)
{
	struct workload_size size = {.cpus = 3, .measured = 700, .warm_up = 100};

	for (size_t i = 0; i < count; i += 2)
		assert_int_equal(
		    workload_choose(&workload_anon_fault, &size.settings, options[i], options[i + 1], NULL),
		    0);
	return size;
}

/* Runs with `options`, a list of names and choices, and checks what holds for all of them. */
#define RUN(...)                                                              \
	do {                                                                  \
		static const char *const options[] = {__VA_ARGS__};           \
                                                                              \
		run_and_check(options, sizeof(options) / sizeof(options[0])); \
	} while (0)

static void run_and_check(const char *const *options, size_t count)
{
	struct workload_size size = size_of(options, count);
	struct workload_outcome outcome = {0};
	struct message why = {""};

	if (work(book_map, &size, &outcome, &why))
		fail_msg("%s", why.text);
	assert_int_equal(outcome.timing.operations, 3 * 700);
	assert_int_equal(book.reads + book.writes, 3 * 800);
	assert_int_equal(book.faults, 3 * 800);
	assert_int_equal(outcome.statistics.peak_retired_bytes, 12345);
	assert_int_equal(fake.spaces, 0);
	assert_int_equal(book.base % (TABLE_PAGES * PAGE_BYTES), 0);
	for (size_t table = 0; table < BOOK_PAGES; table += TABLE_PAGES) {
		unsigned char toucher = 0;

		for (size_t i = table; i < table + TABLE_PAGES; i++) {
			assert_false(book.mapped[i]);
			if (book.toucher[i] && toucher && book.toucher[i] != toucher)
				fail_msg("two CPUs touch pages of one page table");
			if (book.toucher[i])
				toucher = book.toucher[i];
		}
	}
}

/* 100 pages; then 512 and 188. */
static void touches_and_gives_back_as_the_program_did(void **state)
{
	(void)state;
	RUN("layout", "one");
	assert_int_equal(book.maps, 1);
	assert_int_equal(book.advices, 3 * 3);
	assert_int_equal(book.writes, 3 * 800);
	/* Before and after the touches of a round, and before the window. */
	assert_int_equal(book.barriers, 3 * (3 * 2 + 1));
	assert_int_equal(book.touches[0], 3);
	assert_int_equal(book.touches[511], 1);
	assert_int_equal(book.touches[512], 0);
	assert_int_equal(book.touches[2048], 3);
}

static void maps_a_vma_for_each(void **state)
{
	(void)state;
	RUN("layout", "each", "touch", "read");
	assert_int_equal(book.maps, 3);
	assert_int_equal(book.reads, 3 * 800);
	/* The last unmap is of all at once. */
	assert_int_equal(book.unmaps, 1);
}

static void unmaps_and_maps_anew(void **state)
{
	(void)state;
	RUN("give_back", "unmap");
	assert_int_equal(book.maps, 1 + 3 * 3);
	assert_int_equal(book.unmaps, 1 + 3 * 3);
	assert_int_equal(book.advices, 0);
	RUN("give_back", "unmap", "layout", "each");
	assert_int_equal(book.maps, 3 + 3 * 3);
}

static void never_comes_back_to_a_page(void **state)
{
	(void)state;
	RUN("give_back", "never", "pace", "apart");
	assert_int_equal(book.advices, 0);
	assert_int_equal(book.barriers, 0);
	for (size_t i = 0; i < BOOK_PAGES; i++)
		assert_true(book.touches[i] <= 1);
}

static int sticky_map(unsigned space, uintptr_t address, size_t length, bool shared)
{
	book.sticky = true;
	return book_map(space, address, length, shared);
}

static void refuses_touches_that_do_not_fault(void **state)
{
	struct workload_size size = {.cpus = 1, .measured = 512, .warm_up = 512};
	struct workload_outcome outcome;
	struct message why = {""};

	(void)state;
	assert_int_equal(work(sticky_map, &size, &outcome, &why), -EIO);
	assert_string_equal(why.text,
			    "only 512 of 1024 touches faulted: this measures something else than faults");
}

static int no_map(unsigned space, uintptr_t address, size_t length, bool shared)
{
	(void)space;
	(void)address;
	(void)length;
	(void)shared;
	return -ENOMEM;
}

static void tells_what_failed(void **state)
{
	struct workload_size size = {.cpus = 2, .measured = 1};
	struct workload_outcome outcome;
	struct message why = {""};

	(void)state;
	assert_int_equal(work(no_map, &size, &outcome, &why), -ENOMEM);
	assert_string_equal(why.text, "CPU 0 failed while mapping the memory of all: Cannot allocate memory");
	assert_non_null(workload_anon_fault.refusal(&fake_engine));
	assert_null(workload_anon_fault.refusal(&engine_linux));
}

static void knows_its_options(void **state)
{
	struct workload_settings settings = {{0}};
	struct message why = {""};

	(void)state;
	assert_int_equal(workload_choose(&workload_anon_fault, &settings, "layout", "each", &why), 0);
	assert_string_equal(workload_choice(&workload_anon_fault, &settings, 0), "each");
	assert_string_equal(workload_choice(&workload_anon_fault, &settings, 1), "write");
	assert_int_equal(workload_choose(&workload_anon_fault, &settings, "layout", "echo", &why), -ENOENT);
	assert_string_equal(why.text,
			    "layout cannot be \"echo\"; did you mean \"each\"? there are: one, each");
	assert_int_equal(workload_choose(&workload_anon_fault, &settings, "layot", "each", &why), -ENOENT);
	assert_string_equal(why.text,
			    "workload anon_fault has no option \"layot\"; did you mean \"layout\"? there "
			    "are: layout, touch, give_back, pace");
	assert_int_equal(workload_choose(&workload_pfn_insert, &settings, "layout", "each", &why), -ENOENT);
	assert_string_equal(why.text, "workload pfn_insert has no options, so no \"layout\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(touches_and_gives_back_as_the_program_did),
	    cmocka_unit_test(maps_a_vma_for_each),
	    cmocka_unit_test(unmaps_and_maps_anew),
	    cmocka_unit_test(never_comes_back_to_a_page),
	    cmocka_unit_test(refuses_touches_that_do_not_fault),
	    cmocka_unit_test(tells_what_failed),
	    cmocka_unit_test(knows_its_options),
	};

	return cmocka_run_group_tests_name("lab/anon_fault", tests, NULL, NULL);
}
