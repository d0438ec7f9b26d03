/* SPDX-License-Identifier: MIT */
#include "tests/unit/mm/fixture.h"

#include "mm/memtype/interval.h"

#define NODES 200

/* The oracle: the overlapping nodes that are in the tree, in order, by looking at all of them. */
static bool comes_before(const struct interval *a, const struct interval *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->end != b->end)
		return a->end < b->end;
	return a < b;
}

static struct interval *naive_next(struct interval *nodes, const bool *in, const struct interval *after,
				   uint64_t start, uint64_t end)
{
	struct interval *best = NULL;

	for (int i = 0; i < NODES; i++) {
		if (!in[i] || nodes[i].start >= end || nodes[i].end <= start)
			continue;
		if (after && !comes_before(after, &nodes[i]))
			continue;
		if (!best || comes_before(&nodes[i], best))
			best = &nodes[i];
	}
	return best;
}

static void agrees_with_a_linear_search(void **state)
{
	static struct interval nodes[NODES];
	static bool in[NODES];
	struct interval_tree tree = {NULL};
	struct random random;
	uint64_t span = 0;

	(void)state;
	random_seed(&random, test_seed(11));
	for (int step = 0; step < 20000; step++) {
		int i = (int)random_below(&random, NODES);
		uint64_t start, end;
		struct interval *found;

		/* Dense and sparse times: equal intervals are common when the span is small. */
		if (step % 1000 == 0)
			span = 4 + random_below(&random, 400);
		if (in[i]) {
			interval_remove(&tree, &nodes[i]);
		} else {
			nodes[i].start = random_below(&random, (uint32_t)span);
			nodes[i].end = nodes[i].start + 1 + random_below(&random, 8);
			interval_insert(&tree, &nodes[i]);
		}
		in[i] = !in[i];
		assert_true(interval_tree_valid(&tree));

		start = random_below(&random, (uint32_t)span);
		end = start + 1 + random_below(&random, 20);
		found = interval_first(&tree, start, end);
		assert_ptr_equal(found, naive_next(nodes, in, NULL, start, end));
		while (found) {
			struct interval *next = interval_next(&tree, found, start, end);

			assert_ptr_equal(next, naive_next(nodes, in, found, start, end));
			found = next;
		}
		found = interval_exact(&tree, nodes[i].start, nodes[i].end);
		if (in[i])
			assert_true(found && found->start == nodes[i].start && found->end == nodes[i].end);
		else if (found)
			assert_true(in[found - nodes]);
	}
}

/* The validity check itself must be able to fail. */
static void damage_is_found(void **state)
{
	struct interval nodes[3] = {{.start = 1, .end = 5}, {.start = 2, .end = 3}, {.start = 4, .end = 9}};
	struct interval_tree tree = {NULL};

	(void)state;
	for (int i = 0; i < 3; i++)
		interval_insert(&tree, &nodes[i]);
	assert_true(interval_tree_valid(&tree));
	tree.root->max_end--;
	assert_false(interval_tree_valid(&tree));
	tree.root->max_end++;
	tree.root->height++;
	assert_false(interval_tree_valid(&tree));
	tree.root->height--;
	nodes[2].start = 0;
	assert_false(interval_tree_valid(&tree));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(agrees_with_a_linear_search),
	    cmocka_unit_test(damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
