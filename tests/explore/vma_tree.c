/* SPDX-License-Identifier: MIT */
/*
 * mm/space/vma_tree.h: what is mapped before a change and after it is found all the time, by readers that
 * hold nothing, in a tree of two levels:
 *
 *   [0][1][2] ... [19]    CPU 0 takes 4 out, and puts 4 and 5 as one in their place; CPU 1 looks
 */
#include "mm/space/vma_tree.h"

#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"
#include "port/memory.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

#define VMAS 20u

static struct vma_node_cache *cache;
static struct vma_tree tree;
static struct vma *vma[VMAS], *joined;

static struct vma *make(unsigned first, unsigned end)
{
	struct vma *made = port_memory_alloc(sizeof(*made), PORT_NODE_FIRST_TOUCH, "struct vma");

	check_that(made);
	made->start = first * PAGE;
	made->end = end * PAGE;
	return made;
}

static int setup(struct message *why)
{
	struct vma_change change;

	cache = vma_node_cache_create();
	if (!cache)
		return message_set(why, -ENOMEM, "no memory");
	vma_tree_init(&tree, cache);
	for (unsigned i = 0; i < VMAS; i++)
		vma[i] = make(i, i + 1);
	joined = make(4, 6);
	check_that(!vma_tree_prepare(&tree, &change, 0, VMAS * PAGE, vma, VMAS));
	vma_tree_commit(&change);
	return 0;
}

static void change_tree(void)
{
	struct vma_change change;

	check_that(!vma_tree_prepare(&tree, &change, 4 * PAGE, 5 * PAGE, NULL, 0));
	vma_tree_commit(&change);
	check_that(!vma_tree_prepare(&tree, &change, 4 * PAGE, 6 * PAGE, &joined, 1));
	vma_tree_commit(&change);
	port_rcu_synchronize();
	port_rcu_poll();
}

static void look(void)
{
	const struct vma *found;

	port_rcu_read_lock();
	check_that(vma_tree_find(&tree, 3 * PAGE) == vma[3]);
	found = vma_tree_find(&tree, 5 * PAGE);
	check_that(found == vma[5] || found == joined);
	found = vma_tree_find(&tree, 4 * PAGE);
	check_that(!found || found == vma[4] || found == joined);
	port_rcu_read_unlock();
	port_rcu_read_lock();
	found = vma_tree_next(&tree, 5 * PAGE);
	check_that(found == vma[5] || found == joined);
	found = vma_tree_previous(&tree, 5 * PAGE);
	check_that(found == vma[3] || found == vma[4] || found == joined);
	port_rcu_read_unlock();
}

static bool holds(struct message *why)
{
	return !vma_tree_check(&tree, why) && fixture_equal("page 4's VMA is the joined one",
							    vma_tree_find(&tree, 4 * PAGE) == joined, 1, why);
}

static void teardown(void)
{
	vma_tree_destroy(&tree);
	port_rcu_barrier();
	vma_node_cache_destroy(cache);
	for (unsigned i = 0; i < VMAS; i++)
		port_memory_free(vma[i], sizeof(*vma[i]));
	port_memory_free(joined, sizeof(*joined));
}

const struct check vma_tree_reader_check = {
    .name = "vma-tree",
    .summary = "look-ups in the tree of VMAs against its changes",
    .setup = setup,
    .body = {change_tree, look},
    .holds = holds,
    .teardown = teardown,
};
