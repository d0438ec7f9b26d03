/* SPDX-License-Identifier: MIT */
/*
 * Changes of the VMA tree that fail, that are cancelled, and that are made of several parts.
 */
#include "tests/unit/mm/vma_tree_pair.h"

/*
 * Every allocation of a change fails once; then the tree is as it was and nothing leaks. In the end the
 * change is cancelled, or goes through.
 */
static void failures_and_cancels_change_nothing(void **state)
{
	unsigned failures = 0;

	(void)state;
	random_seed(&pair.random, test_seed());
	pair.end = (uintptr_t)1 << 40;
	for (unsigned i = 0; i < 3000; i++) {
		struct replacement replacement;
		struct vma_change change;
		size_t before, remove;
		int error;

		remove = (size_t)below(below(30) ? 3 : 200);
		choose_replacement(&replacement, remove, (size_t)below(12));
		if (replacement.start == replacement.end)
			continue;
		port_rcu_barrier();
		vma_node_cache_drain(pair.cache);
		before = host_memory_in_use_bytes();
		for (unsigned allowed = 0;; allowed++) {
			host_memory_fail_after(allowed);
			error = vma_tree_prepare(&pair.tree, &change, replacement.start, replacement.end,
						 replacement.with, replacement.count);
			host_memory_fail_never();
			if (!error)
				break;
			assert_int_equal(error, -ENOMEM);
			failures++;
			vma_node_cache_drain(pair.cache);
			assert_int_equal(host_memory_in_use_bytes(), before);
			assert_tree_good();
		}
		compare_lookups(5);
		if (below(3)) {
			vma_tree_commit(&change);
			replace_in_array(&replacement);
		} else {
			vma_tree_cancel(&change);
			vma_node_cache_drain(pair.cache);
			assert_int_equal(host_memory_in_use_bytes(), before);
			drop_replacement(&replacement);
		}
		assert_tree_good();
		compare_lookups(10);
	}
	compare_all();
	print_message("%u failures, %zu VMAs in the end\n", failures, pair.count);
	assert_true(failures > 3000);
}

/* Adds a part to the change once every allocation has failed. Returns false if it gives up before. */
static bool prepare_part(struct vma_change *change, const struct replacement *part)
{
	for (unsigned allowed = 0;; allowed++) {
		int error;

		host_memory_fail_after(allowed);
		error = vma_tree_prepare_more(change, part->start, part->end, part->with, part->count);
		host_memory_fail_never();
		if (!error)
			return true;
		assert_int_equal(error, -ENOMEM);
		vma_node_cache_drain(pair.cache);
		if (below(8) == 0)
			return false;
	}
}

/*
 * A change of several replacements, each made as if those before it were committed. It fails at every
 * allocation; what was prepared before can then still be committed or cancelled.
 */
static void replacements_add_up(void **state)
{
	(void)state;
	random_seed(&pair.random, test_seed());
	pair.end = (uintptr_t)1 << 40;
	for (unsigned i = 0; i < 200; i++)
		replace(0, 3);
	for (unsigned i = 0; i < 1500; i++) {
		struct replacement parts[4];
		unsigned part, count = 1 + (unsigned)below(ARRAY_SIZE(parts));
		struct vma *saved[2000];
		size_t saved_count = pair.count, before;
		struct vma_change change;
		bool cancel = below(3) == 0;
		struct vma_node *root = atomic_load(&pair.tree.root);

		port_rcu_barrier();
		vma_node_cache_drain(pair.cache);
		before = host_memory_in_use_bytes();
		assert_true(saved_count <= ARRAY_SIZE(saved));
		for (size_t at = 0; at < saved_count; at++)
			saved[at] = vma_make(pair.vmas[at]->start, pair.vmas[at]->end);

		/* A change that does nothing so far. */
		assert_int_equal(vma_tree_prepare(&pair.tree, &change, pair.end, pair.end + PAGE, NULL, 0),
				 0);
		for (part = 0; part < count; part++) {
			size_t remove = (size_t)below(pair.count > 400 ? 30 : 4);

			choose_replacement(&parts[part], remove, (size_t)below(9));
			if (parts[part].start == parts[part].end)
				continue;
			if (prepare_part(&change, &parts[part]))
				replace_in_array(&parts[part]);
			else
				drop_replacement(&parts[part]);
		}
		assert_ptr_equal(atomic_load(&pair.tree.root), root);
		if (!cancel) {
			vma_tree_commit(&change);
			for (size_t at = 0; at < saved_count; at++)
				free(saved[at]);
		} else {
			vma_tree_cancel(&change);
			vma_node_cache_drain(pair.cache);
			assert_int_equal(host_memory_in_use_bytes(), before);
			vma_tree_destroy(&pair.tree);
			for (size_t at = 0; at < pair.count; at++)
				free(pair.vmas[at]);
			memcpy(pair.vmas, saved, saved_count * sizeof(saved[0]));
			pair.count = saved_count;
			assert_int_equal(
			    vma_tree_prepare(&pair.tree, &change, 0, pair.end, pair.vmas, pair.count), 0);
			vma_tree_commit(&change);
		}
		assert_tree_good();
		compare_all();
		compare_lookups(20);
		compare_gaps(5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(failures_and_cancels_change_nothing, open_pair, close_pair),
	    cmocka_unit_test_setup_teardown(replacements_add_up, open_pair, close_pair),
	};

	return cmocka_run_group_tests_name("mm/vma_tree_change", tests, NULL, NULL);
}
