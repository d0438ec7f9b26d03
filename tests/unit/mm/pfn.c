/* SPDX-License-Identifier: MIT */
/*
 * Page tables and insert_pfn(), without a space around them.
 */
#include "tests/unit/mm/fixture.h"

#include "mm/fault/insert_pfn.h"
#include "mm/object/pfn.h"
#include "mm/table/range.h"
#include "port/rcu.h"

#define OWN   64u
#define LARGE ((uintptr_t)512 * PAGE) /* what one last-level table maps */

struct bench {
	struct frames *frames;
	struct groups *groups;
	struct charge charge;
	struct memtypes *memtypes;
	struct table table;
	struct vma vma;
};

static void map(struct bench *bench, uintptr_t start, uintptr_t end, uint64_t pfn)
{
	bench->vma =
	    (struct vma){.start = start, .end = end, .flags = VM_PFN | VM_SHARED | VM_READ | VM_WRITE};
	bench->vma.object = pfn_object_create(bench->memtypes, pfn, (end - start) / PAGE);
	assert_non_null(bench->vma.object);
}

static void bench_open(struct bench *bench, uintptr_t start, uintptr_t end, uint64_t own)
{
	const struct policy policy = {.root_group = POLICY_ROOT_GROUP_CHARGED};

	bench->frames = frames_create(&(struct frames_config){.own_frames = own, .exported_frames = 4096});
	assert_non_null(bench->frames);
	bench->memtypes = memtypes_create(bench->frames, POLICY_MEMTYPE_CMPXCHG);
	assert_non_null(bench->memtypes);
	bench->groups = groups_create(bench->frames, &policy);
	assert_non_null(bench->groups);
	bench->charge = (struct charge){.group = bench->groups->root};
	assert_int_equal(
	    table_init(&bench->table, bench->frames, POLICY_PAGE_TABLE_LOCK_PTE_BIT, &bench->charge), 0);
	map(bench, start, end, own);
}

static void zap(struct bench *bench, uintptr_t start, uintptr_t end)
{
	struct gather gather;

	tlb_gather_mmu(&gather, &bench->table);
	table_zap(&bench->table, start, end, &gather);
	tlb_finish_mmu(&gather);
}

static void bench_close(struct bench *bench)
{
	struct message why = {""};

	zap(bench, 0, TABLE_ADDRESS_END);
	port_rcu_barrier();
	table_destroy(&bench->table);
	object_put(bench->vma.object);
	port_rcu_barrier();
	if (frames_check(bench->frames, 0, &why))
		fail_msg("%s", why.text);
	memtypes_destroy(bench->memtypes);
	groups_destroy(bench->groups);
	frames_destroy(bench->frames);
}

static int insert(struct bench *bench, uintptr_t address, uint64_t pfn)
{
	int error;

	port_rcu_read_lock();
	error = insert_pfn(&bench->vma, &bench->table, address, pfn, &bench->charge);
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
	struct bench bench;

	(void)state;
	bench_open(&bench, start, end, OWN);
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
	assert_int_equal(insert(&bench, end - PAGE, OWN), 0);

	atomic_store(&bench.vma.detached, true);
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
		struct bench bench;
		enum memtype granted;

		bench_open(&bench, LARGE, LARGE + 4 * PAGE, OWN);
		object_put(bench.vma.object);
		if (types[i].type != MEMTYPE_DEFAULT)
			assert_int_equal(memtype_reserve(bench.memtypes, OWN * PAGE, (OWN + 4) * PAGE,
							 types[i].type, &granted),
					 0);
		map(&bench, LARGE, LARGE + 4 * PAGE, OWN);
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
	struct bench bench;

	(void)state;
	bench_open(&bench, LARGE, 4 * LARGE, OWN);
	for (uintptr_t address = LARGE; address < 4 * LARGE; address += LARGE / 4)
		assert_int_equal(insert(&bench, address, OWN), 0);
	assert_table(&bench, 12, 3 + 3);
	zap(&bench, LARGE, 3 * LARGE + LARGE / 2);
	assert_table(&bench, 2, 3 + 1);
	/* The other half: the table stays, empty, since the range does not cover it. */
	zap(&bench, 3 * LARGE + LARGE / 2, 4 * LARGE);
	assert_table(&bench, 0, 3 + 1);
	/* What is not there is cleared too. */
	zap(&bench, 0, TABLE_ADDRESS_END);
	assert_table(&bench, 0, 3);
	bench_close(&bench);
}

/* Root, then 0 to 3 more frames for the levels below: what was built stays, and nothing else. */
static void running_out_of_frames_unwinds(void **state)
{
	(void)state;
	/* One frame is the zero page. */
	for (uint64_t own = 2; own <= 5; own++) {
		struct bench bench;

		bench_open(&bench, LARGE, LARGE + PAGE, own);
		assert_int_equal(insert(&bench, LARGE, own), own < 5 ? -ENOMEM : 0);
		assert_table(&bench, own < 5 ? 0 : 1, own - 1);
		bench_close(&bench);
	}
}

static void touches_set_accessed_and_dirty(void **state)
{
	struct bench bench;
	struct pte_ref ref;
	uint64_t pte, expected = pte_make_pfn(OWN, true, MEMTYPE_WB);

	(void)state;
	bench_open(&bench, LARGE, LARGE + PAGE, OWN);
	port_rcu_read_lock();
	assert_false(table_touch(&bench.table, LARGE, TOUCH_READ, &pte));
	assert_int_equal(pte_lock(&bench.table, LARGE, &bench.charge, &ref), 0);
	assert_false(table_touch(&bench.table, LARGE, TOUCH_READ, &pte));
	pte_set_unlock(&ref, expected & ~PTE_ACCESSED);
	assert_true(table_touch(&bench.table, LARGE + 17, TOUCH_READ, &pte));
	assert_int_equal(pte, expected);
	assert_int_equal(read_pte(&bench, LARGE), expected);
	assert_true(table_touch(&bench.table, LARGE, TOUCH_WRITE, &pte));
	assert_int_equal(read_pte(&bench, LARGE), expected | PTE_DIRTY);
	port_rcu_read_unlock();
	zap(&bench, LARGE, LARGE + PAGE);
	port_rcu_read_lock();

	assert_int_equal(pte_lock(&bench.table, LARGE, &bench.charge, &ref), 0);
	pte_set_unlock(&ref, pte_make_pfn(OWN, false, MEMTYPE_WB));
	assert_false(table_touch(&bench.table, LARGE, TOUCH_WRITE, &pte));
	assert_true(table_touch(&bench.table, LARGE, TOUCH_READ, &pte));
	assert_int_equal(read_pte(&bench, LARGE) & (PTE_DIRTY | PTE_WRITE), 0);
	port_rcu_read_unlock();
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
