/* SPDX-License-Identifier: MIT */
/*
 * Finding VMAs on the virtual machine: once each CPU has the lines of the tree, finding moves no line; after
 * a change it moves those of the path that was replaced, and no others.
 */
#include "tests/vsmp/fixture.h"

#include "mm/space/vma_tree.h"
#include "port/memory.h"
#include "port/page.h"
#include "port/rcu.h"
#include "port/trace.h"
#include "sync/percpu.h"

#define CPUS  64u
#define VMAS  1000u
#define FINDS 4000u
#define SPAN  (VMAS * 4 * PORT_PAGE_SIZE)

static struct vma_node_cache *cache;
static struct vma_tree tree;
static struct vma *vmas[VMAS + 1];
static bool with_writer;

/* VMA i has pages 4 i to 4 i + 2; the last one is not in the tree at first. */
static void set_up(void *argument)
{
	struct vma_change change;

	(void)argument;
	cache = vma_node_cache_create();
	assert_non_null(cache);
	vma_tree_init(&tree, cache);
	for (unsigned i = 0; i <= VMAS; i++) {
		vmas[i] = port_memory_alloc(sizeof(*vmas[i]), PORT_NODE_FIRST_TOUCH, "struct vma");
		assert_non_null(vmas[i]);
		vmas[i]->start = i * 4 * PORT_PAGE_SIZE;
		vmas[i]->end = vmas[i]->start + 3 * PORT_PAGE_SIZE;
	}
	assert_int_equal(vma_tree_prepare(&tree, &change, 0, SPAN, vmas, VMAS), 0);
	vma_tree_commit(&change);
}

static void find_all(void)
{
	for (unsigned i = 0; i < VMAS; i++)
		assert_ptr_equal(vma_tree_find(&tree, vmas[i]->start + PORT_PAGE_SIZE), vmas[i]);
}

/* CPU 0 puts the last VMA in, or takes it out. */
static void change_once(unsigned turn)
{
	struct vma_change change;

	assert_int_equal(
	    vma_tree_prepare(&tree, &change, SPAN, SPAN + 4 * PORT_PAGE_SIZE, &vmas[VMAS], turn % 2 == 0), 0);
	vma_tree_commit(&change);
	port_rcu_poll();
}

static void find_at_random(unsigned cpu, void *argument)
{
	bool writes = with_writer && cpu == 0;
	struct random random;

	(void)argument;
	random_seed(&random, cpu);
	find_all();
	vsmp_barrier();
	vsmp_measure_begin();
	for (unsigned i = 0; i < FINDS; i++) {
		uint64_t at = random_below(&random, VMAS * 4);

		port_scope_begin("find");
		if (writes && i % 400 == 0)
			change_once(i / 400);
		port_rcu_read_lock();
		assert_ptr_equal(vma_tree_find(&tree, at * PORT_PAGE_SIZE),
				 at % 4 == 3 ? NULL : vmas[at / 4]);
		port_rcu_read_unlock();
		port_scope_end();
		vsmp_count_operations(1);
	}
	vsmp_measure_end();
}

static void tear_down(void *argument)
{
	struct message why = {""};

	(void)argument;
	if (vma_tree_check(&tree, &why))
		fail_msg("%s", why.text);
	vma_tree_destroy(&tree);
	port_rcu_barrier();
	vma_node_cache_destroy(cache);
	for (unsigned i = 0; i <= VMAS; i++)
		port_memory_free(vmas[i], sizeof(*vmas[i]));
}

static void run(bool writer, struct vsmp_report *report)
{
	struct message why = {""};

	with_writer = writer;
	fixture_create(4, 16, 1, CPUS, 3);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(find_at_random, NULL, 1000, &why))
		fail_msg("%s", why.text);
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->operations, CPUS * FINDS);
	assert_int_equal(report->dropped, 0);
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
}

static void finding_moves_no_line(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	run(false, &report);
	assert_int_equal(report.conflict_count, 0);
	assert_int_equal(report.transfers, 0);
	vsmp_report_free(&report);
}

/*
 * Ten changes, each of a root, an inner node or two, and a leaf or two, of four lines each: a reader fetches
 * at most those and the line with the root's address. The writer fetches nothing of the readers.
 */
static void a_change_moves_its_path(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	run(true, &report);
	print_message("%llu transfers\n", (unsigned long long)report.transfers);
	assert_true(report.transfers > 0);
	assert_true(report.transfers <= CPUS * 10 * (5 * 4 + 1));
	vsmp_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finding_moves_no_line),
	    cmocka_unit_test(a_change_moves_its_path),
	};

	return cmocka_run_group_tests_name("vsmp/vma_tree", tests, NULL, NULL);
}
