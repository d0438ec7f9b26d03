/* SPDX-License-Identifier: MIT */
/*
 * The VMA tree answers as an array does, whatever was put in and taken out; and its check finds damage.
 */
#include "tests/unit/mm/vma_tree_pair.h"

/* Grows to about `most` VMAs and shrinks to none, some times. */
static void agree_with_an_array(uintptr_t end, size_t most, unsigned rounds, unsigned looks)
{
	bool growing = true;

	random_seed(&pair.random, test_seed() + most);
	pair.end = end;
	for (unsigned i = 0; i < rounds; i++) {
		size_t remove = (size_t)below(growing ? 3 : 1 + most / 8),
		       add = (size_t)below(growing ? 12 : 3);

		if (below(50) == 0)
			remove = (size_t)below(pair.count + 1);
		replace(remove, add);
		if (growing ? pair.count >= most : pair.count == 0)
			growing = !growing;
		assert_tree_good();
		compare_lookups(looks);
		compare_gaps(looks / 4);
		if (i % 16 == 0)
			compare_all();
	}
}

static void small_trees_agree(void **state)
{
	(void)state;
	/* So small a range that gaps are often too small, and that it is full now and then. */
	agree_with_an_array(60 * PAGE, 30, 8000, 30);
}

static void larger_trees_agree(void **state)
{
	(void)state;
	agree_with_an_array((uintptr_t)1 << 47, 700, 3000, 40);
}

/* Gaps that are too large for the nodes' 32 bits. */
static void sparse_trees_agree(void **state)
{
	(void)state;
	agree_with_an_array((uintptr_t)1 << 62, 40, 4000, 40);
}

/* From 0 to 70,000 VMAs and back; each single check costs O(n), so there are few. */
static void the_largest_tree_agrees(void **state)
{
	static const struct {
		size_t until, remove, add;
	} phases[] = {{30000, 1, 20}, {70000, 2, 30}, {50000, 20, 3}, {65530, 1, 9}, {0, 60, 1}};
	unsigned turn = 0;

	(void)state;
	random_seed(&pair.random, test_seed());
	pair.end = (uintptr_t)1 << 47;
	for (unsigned phase = 0; phase < ARRAY_SIZE(phases); phase++) {
		bool growing = phases[phase].add > phases[phase].remove;

		while (growing ? pair.count < phases[phase].until : pair.count > phases[phase].until) {
			replace((size_t)below(phases[phase].remove + 1),
				(size_t)below(phases[phase].add + 1));
			if (turn++ % 512 == 0) {
				assert_tree_good();
				compare_lookups(200);
				compare_gaps(3);
			}
		}
		assert_tree_good();
		compare_all();
		compare_lookups(2000);
		compare_gaps(20);
	}
	assert_int_equal(pair.count, 0);
}

/* mmap downwards without a hole, as programs do it, and what a fork puts into an empty tree at once. */
static void full_nodes_where_programs_fill_them(void **state)
{
	enum { COUNT = 65530 };
	struct vma_tree copy;
	struct vma_change change;
	size_t before, bytes, bulk;

	(void)state;
	pair.end = (uintptr_t)1 << 47;
	before = host_memory_in_use_bytes();
	for (size_t i = 0; i < COUNT; i++) {
		uintptr_t start = pair.end - (i + 1) * 2 * PAGE;

		pair.vmas[COUNT - 1 - i] = vma_make(start, start + PAGE);
		assert_int_equal(
		    vma_tree_prepare(&pair.tree, &change, start, start + PAGE, &pair.vmas[COUNT - 1 - i], 1),
		    0);
		vma_tree_commit(&change);
		if (i % 64 == 0)
			port_rcu_barrier();
	}
	pair.count = COUNT;
	assert_tree_good();
	compare_all();
	port_rcu_barrier();
	vma_node_cache_drain(pair.cache);
	bytes = host_memory_in_use_bytes() - before;

	before = host_memory_in_use_bytes();
	vma_tree_init(&copy, pair.cache);
	assert_int_equal(vma_tree_prepare(&copy, &change, 0, pair.end, pair.vmas, COUNT), 0);
	vma_tree_commit(&change);
	bulk = host_memory_in_use_bytes() - before;
	assert_int_equal(vma_tree_check(&copy, NULL), 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_ptr_equal(vma_tree_find(&copy, pair.vmas[i]->end - 1), pair.vmas[i]);
	vma_tree_destroy(&copy);
	print_message("%d VMAs: %zu bytes one by one, %zu at once\n", COUNT, bytes, bulk);
	/* 12 entries in 256 bytes, two thirds in use at least; a tenth for the upper levels and some. */
	assert_true(bytes < COUNT * 256 / 8 * 23 / 20);
	assert_true(bulk < COUNT * 256 / 12 * 23 / 20);
}

static struct vma_node *root_node(void)
{
	return atomic_load(&pair.tree.root);
}

static void assert_found(bool broken)
{
	struct message why = {""};

	assert_int_equal(vma_tree_check(&pair.tree, &why), broken ? -EINVAL : 0);
	assert_int_equal(why.text[0] != 0, broken);
}

/* The check itself must be able to fail. */
static void damage_is_found(void **state)
{
	struct vma_node *node, *leaf;
	struct vma *vma;

	(void)state;
	random_seed(&pair.random, 1);
	pair.end = (uintptr_t)1 << 40;
	while (pair.count < 400)
		replace(0, 3);
	node = root_node();
	assert_true(node->level >= 1);
	for (leaf = node; leaf->level;)
		leaf = leaf->children[1];
	vma = leaf->vmas[2];

#define damage(lvalue, change)                          \
	do {                                            \
		const __typeof__(lvalue) kept = lvalue; \
		assert_found(false);                    \
		lvalue = kept + (change);               \
		assert_found(true);                     \
		lvalue = kept;                          \
	} while (0)

	damage(node->keys[1], PAGE);
	damage(node->gaps[1], 1);
	damage(leaf->keys[0], -PAGE);
	damage(leaf->gaps[0], 1);
	damage(leaf->gaps[3], 1);
	damage(leaf->count, 1);
	damage(leaf->count, -leaf->count + VMA_NODE_MIN - 1);
	damage(leaf->level, 1);
	damage(leaf->fresh, 1);
	damage(leaf->dropped, 1);
	damage(vma->end, leaf->vmas[3]->end - leaf->vmas[2]->end);
	damage(vma->start, PAGE);
#undef damage
	assert_found(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(small_trees_agree, open_pair, close_pair),
	    cmocka_unit_test_setup_teardown(larger_trees_agree, open_pair, close_pair),
	    cmocka_unit_test_setup_teardown(sparse_trees_agree, open_pair, close_pair),
	    cmocka_unit_test_setup_teardown(the_largest_tree_agrees, open_pair, close_pair),
	    cmocka_unit_test_setup_teardown(full_nodes_where_programs_fill_them, open_pair, close_pair),
	    cmocka_unit_test_setup_teardown(damage_is_found, open_pair, close_pair),
	};

	return cmocka_run_group_tests_name("mm/vma_tree", tests, NULL, NULL);
}
