/* SPDX-License-Identifier: MIT */
/*
 * Page tables and insert_pfn(), without a space around them.
 */
#include "tests/unit/mm/fixture.h"

#include "mm/object/pfn.h"
#include "port/rcu.h"

#define OWN   64u
#define LARGE ((uintptr_t)512 * PAGE) /* what one last-level table maps */

struct bench {
	struct frames *frames;
	struct memtypes *memtypes;
	struct table table;
	struct pfn_mapping *mapping;
};

static struct bench bench_open(uintptr_t start, uintptr_t end, uint64_t own)
{
	struct bench bench;

	bench.frames = frames_create(&(struct frames_config){.own_frames = own, .exported_frames = 4096});
	assert_non_null(bench.frames);
	bench.memtypes = memtypes_create(bench.frames, POLICY_MEMTYPE_CMPXCHG);
	assert_non_null(bench.memtypes);
	assert_int_equal(table_init(&bench.table, bench.frames), 0);
	bench.mapping = pfn_mapping_create(bench.memtypes, start, end, own, true, pfn_mapping_fault);
	assert_non_null(bench.mapping);
	return bench;
}

static void bench_close(struct bench *bench)
{
	struct message why = {""};

	table_clear(&bench->table, 0, TABLE_ADDRESS_END);
	table_destroy(&bench->table);
	port_rcu_barrier();
	if (frames_check(bench->frames, 0, &why))
		fail_msg("%s", why.text);
	pfn_mapping_destroy(bench->mapping);
	memtypes_destroy(bench->memtypes);
	frames_destroy(bench->frames);
}

static int insert(struct bench *bench, uintptr_t address, uint64_t pfn)
{
	int error;

	port_rcu_read_lock();
	error = insert_pfn(bench->mapping, &bench->table, address, pfn);
	port_rcu_read_unlock();
	return error;
}

static uint64_t read_pte(struct bench *bench, uintptr_t address)
{
	uint64_t pte;

	port_rcu_read_lock();
	pte = table_read(&bench->table, address);
	port_rcu_read_unlock();
	return pte;
}

static void insert_checks_what_it_is_given(void **state)
{
	const uintptr_t start = 5 * LARGE - 2 * PAGE, end = 5 * LARGE + 2 * PAGE;
	struct bench bench = bench_open(start, end, OWN);

	(void)state;
	assert_int_equal(insert(&bench, start - PAGE, OWN), -EFAULT);
	assert_int_equal(insert(&bench, end, OWN), -EFAULT);
	assert_int_equal(insert(&bench, start + 1, OWN), -EINVAL);
	assert_int_equal(insert(&bench, start, OWN - 1), -EINVAL);
	assert_int_equal(insert(&bench, start, OWN + 4), -EINVAL);
	assert_int_equal(read_pte(&bench, start), 0);

	assert_int_equal(insert(&bench, start, OWN + 3), 0);
	assert_int_equal(pte_pfn(read_pte(&bench, start)), OWN + 3);
	assert_int_equal(insert(&bench, start, OWN + 2), -EBUSY);
	assert_int_equal(pte_pfn(read_pte(&bench, start)), OWN + 3);
	assert_int_equal(pfn_mapping_fault(bench.mapping, &bench.table, start), 0);
	assert_int_equal(insert(&bench, end - PAGE, OWN), 0);

	atomic_store(&bench.mapping->removed, true);
	assert_int_equal(insert(&bench, start + PAGE, OWN), -EAGAIN);
	assert_int_equal(read_pte(&bench, start + PAGE), 0);
	bench_close(&bench);
}

/* A frame's type reaches its PTE, and cannot change while it is mapped. */
static void the_type_reaches_the_pte(void **state)
{
	static const struct {
		enum memtype type;
		uint64_t bits;
	} types[] = {
	    {MEMTYPE_DEFAULT, 0}, {MEMTYPE_WB, 0}, {MEMTYPE_WC, PTE_PWT}, {MEMTYPE_UC_MINUS, PTE_PCD}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct bench bench = bench_open(LARGE, LARGE + 4 * PAGE, OWN);
		enum memtype granted;

		pfn_mapping_destroy(bench.mapping);
		if (types[i].type != MEMTYPE_DEFAULT)
			assert_int_equal(memtype_reserve(bench.memtypes, OWN * PAGE, (OWN + 4) * PAGE,
							 types[i].type, &granted),
					 0);
		bench.mapping =
		    pfn_mapping_create(bench.memtypes, LARGE, LARGE + 4 * PAGE, OWN, true, pfn_mapping_fault);
		assert_non_null(bench.mapping);
		assert_int_equal(insert(&bench, LARGE, OWN), 0);
		assert_int_equal(read_pte(&bench, LARGE) & PTE_MEMTYPE_MASK, types[i].bits);
		if (types[i].bits)
			assert_int_equal(memtype_free(bench.memtypes, OWN * PAGE, (OWN + 1) * PAGE), -EBUSY);
		bench_close(&bench);
	}
}

static int count_entries(void *argument, uintptr_t address, uint64_t pte, struct message *why)
{
	(void)address;
	(void)pte;
	(void)why;
	(*(int *)argument)++;
	return 0;
}

static void assert_table(struct bench *bench, int entries, uint64_t frames)
{
	struct message why = {""};
	uint64_t frames_used = 0;
	int counted = 0;

	port_rcu_barrier();
	if (table_check(&bench->table, count_entries, &counted, &frames_used, &why) ||
	    frames_check(bench->frames, frames, &why))
		fail_msg("%s", why.text);
	assert_int_equal(counted, entries);
	assert_int_equal(frames_used, frames);
}

/*
 * Last-level tables, each letter half of one:   AABBCC
 *   cleared                                      xxxx-   one and two halves: A's and B's tables go
 */
static void whole_tables_are_given_back(void **state)
{
	struct bench bench = bench_open(LARGE, 4 * LARGE, OWN);

	(void)state;
	for (uintptr_t address = LARGE; address < 4 * LARGE; address += LARGE / 4)
		assert_int_equal(insert(&bench, address, OWN), 0);
	assert_table(&bench, 12, 3 + 3);
	table_clear(&bench.table, LARGE, 3 * LARGE + LARGE / 2);
	assert_table(&bench, 2, 3 + 1);
	/* The other half: the table stays, empty, since the range does not cover it. */
	table_clear(&bench.table, 3 * LARGE + LARGE / 2, 4 * LARGE);
	assert_table(&bench, 0, 3 + 1);
	/* What is not there is cleared too. */
	table_clear(&bench.table, 0, TABLE_ADDRESS_END);
	assert_table(&bench, 0, 3);
	bench_close(&bench);
}

/* Root, then 0 to 3 more frames for the levels below: what was built stays, and nothing else. */
static void running_out_of_frames_unwinds(void **state)
{
	(void)state;
	for (uint64_t own = 1; own <= 4; own++) {
		struct bench bench = bench_open(LARGE, LARGE + PAGE, own);

		assert_int_equal(insert(&bench, LARGE, own), own < 4 ? -ENOMEM : 0);
		assert_table(&bench, own < 4 ? 0 : 1, own);
		bench_close(&bench);
	}
}

static void touches_set_accessed_and_dirty(void **state)
{
	struct bench bench = bench_open(LARGE, LARGE + PAGE, OWN);
	struct pte_ref ref;
	uint64_t pte, expected = pte_make_pfn(OWN, true, MEMTYPE_WB);

	(void)state;
	assert_false(table_touch(&bench.table, LARGE, false, &pte));
	assert_int_equal(pte_lock(&bench.table, LARGE, &ref), 0);
	assert_false(table_touch(&bench.table, LARGE, false, &pte));
	pte_install(&bench.table, &ref, expected & ~PTE_ACCESSED);
	pte_unlock(&ref);
	assert_true(table_touch(&bench.table, LARGE + 17, false, &pte));
	assert_int_equal(pte, expected);
	assert_int_equal(read_pte(&bench, LARGE), expected);
	assert_true(table_touch(&bench.table, LARGE, true, &pte));
	assert_int_equal(read_pte(&bench, LARGE), expected | PTE_DIRTY);
	table_clear(&bench.table, LARGE, LARGE + PAGE);

	assert_int_equal(pte_lock(&bench.table, LARGE, &ref), 0);
	pte_install(&bench.table, &ref, pte_make_pfn(OWN, false, MEMTYPE_WB));
	pte_unlock(&ref);
	assert_false(table_touch(&bench.table, LARGE, true, &pte));
	assert_true(table_touch(&bench.table, LARGE, false, &pte));
	assert_int_equal(read_pte(&bench, LARGE) & (PTE_DIRTY | PTE_WRITE), 0);
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(insert_checks_what_it_is_given), mm_test(the_type_reaches_the_pte),
	    mm_test(whole_tables_are_given_back),    mm_test(running_out_of_frames_unwinds),
	    mm_test(touches_set_accessed_and_dirty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
