/* SPDX-License-Identifier: MIT */
/*
 * The workload of faults on one shared object, on an engine that keeps book of every page: who touches what,
 * how often, and of what memory, with each option.
 *
 *   AAAAAAAABBBBBBBBCCCCCCCC    slices: each thread has one of its own
 *   XXXXXXXX                    same: there is one, of which every thread touches every page
 */
#include "tests/lab/fixture.h"

#include <errno.h>

#include "lab/workload.h"
#include "tests/lab/fake_engine.h"

#define PAGE_BYTES  4096u
#define TABLE_PAGES 512u
#define BOOK_PAGES  8192u
#define CPUS        3u

static struct {
	uintptr_t base; /* of the mapping */
	size_t pages;   /* that are mapped */
	bool present[BOOK_PAGES];
	unsigned touches[BOOK_PAGES], touchers[BOOK_PAGES]; /* a bit for each CPU */
	unsigned anon_maps, file_maps, unmaps, writes, checks;
	uint64_t faults, failing_touch, touched;
	bool prefilled;      /* no touch faults */
	unsigned others;     /* how often a body is told yet that others still measure */
	uint64_t file_bytes; /* of the file that is open */
} book;

static int book_map(unsigned space, uintptr_t address, size_t length)
{
	assert_int_equal(space, 0);
	assert_int_equal(book.pages, 0);
	assert_int_equal(address % (TABLE_PAGES * PAGE_BYTES), 0);
	assert_int_equal(length % (TABLE_PAGES * PAGE_BYTES), 0);
	book.base = address;
	book.pages = length / PAGE_BYTES;
	assert_true(book.pages <= BOOK_PAGES);
	return 0;
}

static int book_map_anon(unsigned space, uintptr_t address, size_t length, bool shared)
{
	assert_true(shared);
	book.anon_maps++;
	return book_map(space, address, length);
}

static int book_file_create(unsigned file, uint64_t bytes, bool on_disk)
{
	assert_int_equal(file, 0);
	assert_false(on_disk);
	assert_false(book.file_bytes);
	book.file_bytes = bytes;
	return 0;
}

static int book_file_map(unsigned space, uintptr_t address, size_t length, unsigned file, uint64_t offset)
{
	assert_int_equal(file, 0);
	assert_int_equal(book.file_bytes, length);
	assert_int_equal(offset, 0);
	book.file_maps++;
	return book_map(space, address, length);
}

static void book_file_close(unsigned file)
{
	assert_int_equal(file, 0);
	book.file_bytes = 0;
}

static int book_unmap(unsigned space, uintptr_t address, size_t length)
{
	assert_int_equal(space, 0);
	assert_true(address == book.base && length == book.pages * PAGE_BYTES);
	book.unmaps++;
	return 0;
}

static int book_touch(unsigned space, uintptr_t address, bool write)
{
	size_t page = (address - book.base) / PAGE_BYTES;

	assert_int_equal(space, 0);
	assert_true(address >= book.base && page < book.pages && !(address % PAGE_BYTES));
	if (++book.touched == book.failing_touch)
		return -ENOMEM;
	if (!book.present[page] && !book.prefilled)
		book.faults++;
	book.present[page] = true;
	book.touches[page]++;
	book.touchers[page] |= 1u << fake_cpu;
	book.writes += write;
	return 0;
}

static void book_statistics(struct engine_statistics *statistics)
{
	*statistics = (struct engine_statistics){
	    .faults = 7 + book.faults, .has_retired = true, .peak_retired_bytes = 12345};
}

static bool book_active(void)
{
	if (!book.others)
		return false;
	book.others--;
	return true;
}

static int book_check(struct message *why)
{
	(void)why;
	book.checks++;
	return 0;
}

static void open_book(void)
{
	memset(&book, 0, sizeof(book));
	memset(&fake, 0, sizeof(fake));
	fake.failing_space = ~0u;
}

static int work(const struct workload_size *size, struct workload_outcome *outcome, struct message *why)
{
	struct engine engine = fake_engine;

	fake_config.cpus = CPUS;
	engine.map_anon = book_map_anon;
	engine.file_create = book_file_create;
	engine.file_map = book_file_map;
	engine.file_close = book_file_close;
	engine.unmap = book_unmap;
	engine.touch = book_touch;
	engine.statistics = book_statistics;
	engine.measure_active = book_active;
	engine.check = book_check;
	return workload_shared_fault.run(&engine, size, outcome, why);
}

static struct workload_size size_of(const char *layout, const char *backing)
{
	struct workload_size size = {.cpus = CPUS, .measured = 700, .warm_up = 100};
	struct message why = {""};

	assert_int_equal(workload_choose(&workload_shared_fault, &size.settings, "layout", layout, &why), 0);
	assert_int_equal(workload_choose(&workload_shared_fault, &size.settings, "backing", backing, &why),
			 0);
	return size;
}

static void run_well(const struct workload_size *size)
{
	struct workload_outcome outcome = {0};
	struct message why = {""};

	if (work(size, &outcome, &why))
		fail_msg("%s", why.text);
	assert_int_equal(outcome.timing.operations, CPUS * 700);
	assert_int_equal(outcome.statistics.peak_retired_bytes, 12345);
	assert_int_equal(book.writes, 0);
	assert_int_equal(book.unmaps, 1);
	assert_int_equal(book.checks, 2);
	assert_int_equal(fake.spaces, 0);
}

static void each_reads_its_own_slice(void **state)
{
	struct workload_size size = size_of("slices", "anon");

	(void)state;
	open_book();
	run_well(&size);
	assert_int_equal(book.anon_maps, 1);
	assert_int_equal(book.file_maps, 0);
	assert_int_equal(book.pages, CPUS * 1024);
	for (size_t page = 0; page < book.pages; page++) {
		bool touched = page % 1024 < 800;

		assert_int_equal(book.touches[page], touched);
		assert_int_equal(book.touchers[page], touched ? 1u << page / 1024 : 0);
	}
}

static void all_read_every_page(void **state)
{
	struct workload_size size = size_of("same", "file");

	(void)state;
	open_book();
	run_well(&size);
	assert_int_equal(book.anon_maps, 0);
	assert_int_equal(book.file_maps, 1);
	assert_int_equal(book.pages, 1024);
	for (size_t page = 0; page < book.pages; page++)
		assert_int_equal(book.touchers[page], page < 800 ? (1u << CPUS) - 1 : 0);
}

/* It is 1,536 pages that were published: so large is a slice, and so far a thread goes while others measure.
 */
static void slices_are_as_large_as_published(void **state)
{
	struct workload_size size = size_of("slices", "anon");

	(void)state;
	size.published = 1500;
	assert_int_equal(workload_shared_fault.memory_bytes(&size) - (CPUS * 1536u * PAGE_BYTES), 256 << 20);
	open_book();
	book.others = 30;
	run_well(&size);
	assert_int_equal(book.pages, CPUS * 1536);
	assert_int_equal(book.touches[829], 1);
	assert_int_equal(book.touches[830], 0);
	open_book();
	book.others = 1000;
	run_well(&size);
	assert_int_equal(book.touches[1535], 1);
	assert_int_equal(book.touchers[1535], 1);
}

static void refuses_touches_that_do_not_fault(void **state)
{
	struct workload_size size = size_of("slices", "anon");
	struct workload_outcome outcome;
	struct message why = {""};

	(void)state;
	open_book();
	book.prefilled = true;
	assert_int_equal(work(&size, &outcome, &why), -EIO);
	assert_string_equal(why.text,
			    "only 0 faults on 2400 pages: this measures something else than faults");
	size = size_of("same", "anon");
	open_book();
	book.prefilled = true;
	assert_int_equal(work(&size, &outcome, &why), -EIO);
	assert_string_equal(why.text, "only 0 faults on 800 pages: this measures something else than faults");
}

static void tells_what_failed(void **state)
{
	struct workload_size size = size_of("slices", "anon");
	struct workload_outcome outcome;
	struct message why = {""};

	(void)state;
	open_book();
	book.failing_touch = 900;
	assert_int_equal(work(&size, &outcome, &why), -ENOMEM);
	assert_string_equal(why.text, "CPU 1 failed while touching a page: Cannot allocate memory");
	open_book();
	fake.failing_space = 0;
	fake.failing_error = -ENOMEM;
	assert_int_equal(work(&size, &outcome, &why), -ENOMEM);
	assert_string_equal(why.text, "CPU 0 failed while making the address space: Cannot allocate memory");
	assert_int_equal(book.touched, 0);
}

static void knows_what_can_run_it(void **state)
{
	struct engine engine = fake_engine;

	(void)state;
	assert_non_null(workload_shared_fault.refusal(&engine));
	engine.map_anon = book_map_anon;
	assert_non_null(workload_shared_fault.refusal(&engine));
	assert_null(workload_shared_fault.refusal(&engine_linux));
	assert_null(workload_shared_fault.refusal(&engine_host));
	assert_null(workload_shared_fault.refusal(&engine_vsmp));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_reads_its_own_slice),
	    cmocka_unit_test(all_read_every_page),
	    cmocka_unit_test(slices_are_as_large_as_published),
	    cmocka_unit_test(refuses_touches_that_do_not_fault),
	    cmocka_unit_test(tells_what_failed),
	    cmocka_unit_test(knows_what_can_run_it),
	};

	return cmocka_run_group_tests_name("lab/shared_fault", tests, NULL, NULL);
}
