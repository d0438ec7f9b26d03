/* SPDX-License-Identifier: MIT */
/*
 * The page index answers as an array of pairs does, with both policies, at indices near and far; its nodes
 * come and go with no frame lost; and without a frame it refuses and is as before.
 */
#include "tests/unit/mm/frames_fixture.h"

#include <string.h>

#include "mm/object/index_nodes.h"
#include "mm/object/page_index.h"
#include "port/rcu.h"

#define FRAMES 8192u
#define KEPT   600u

struct pair {
	uint64_t at;
	struct page *page;
};

static struct {
	struct frames *frames;
	struct index_nodes *nodes;
	struct page_index index;
	struct pair pair[KEPT]; /* sorted */
	unsigned count;
	struct random random;
} naive;

static int open_machine(void **state)
{
	(void)state;
	return host_open(4);
}

static int close_machine(void **state)
{
	(void)state;
	host_memory_fail_never();
	host_close();
	return host_memory_in_use_bytes() ? -1 : 0;
}

static void open_index(enum policy_page_index policy, uint64_t frames)
{
	naive.frames = open_frames(POLICY_FRAME_CACHE_MAGAZINE, frames);
	naive.nodes = index_nodes_create(naive.frames);
	assert_non_null(naive.nodes);
	page_index_init(&naive.index, page_index_choices[policy], naive.nodes, policy == 0);
	naive.count = 0;
}

static void close_index(void)
{
	for (unsigned i = 0; i < naive.count; i++) {
		port_rcu_read_lock();
		assert_true(naive.index.ops->replace(&naive.index, naive.pair[i].at,
						     index_entry_of_page(naive.pair[i].page), 0));
		port_rcu_read_unlock();
	}
	page_index_destroy(&naive.index);
	port_rcu_barrier();
	index_nodes_destroy(naive.nodes);
	close_frames(naive.frames);
}

/* The first of the pairs at or after `at`. */
static unsigned lower(uint64_t at)
{
	unsigned i = 0;

	while (i < naive.count && naive.pair[i].at < at)
		i++;
	return i;
}

static bool naive_has(uint64_t at)
{
	unsigned i = lower(at);

	return i < naive.count && naive.pair[i].at == at;
}

/* Half of all indices lie close together; the others at every distance. */
static uint64_t some_index(void)
{
	uint64_t bits = random_below(&naive.random, 8);

	if (bits < 4)
		return random_below(&naive.random, 1000);
	if (bits == 4 && naive.count)
		return naive.pair[random_below(&naive.random, naive.count)].at +
		       random_below(&naive.random, 3);
	return random_below(&naive.random, UINT64_C(1) << (6 + random_below(&naive.random, 45))) %
	       PAGE_INDEX_END;
}

static void insert(uint64_t at)
{
	struct page *page = pfn_to_page(naive.frames, 1 + random_below(&naive.random, FRAMES));
	uintptr_t found = 0;
	unsigned i = lower(at);
	int error;

	port_rcu_read_lock();
	error = naive.index.ops->insert(&naive.index, at, page, &found);
	port_rcu_read_unlock();
	if (naive_has(at)) {
		assert_int_equal(error, -EEXIST);
		assert_int_equal(found, index_entry_of_page(naive.pair[i].page));
		return;
	}
	assert_int_equal(error, 0);
	memmove(&naive.pair[i + 1], &naive.pair[i], (naive.count - i) * sizeof(naive.pair[0]));
	naive.pair[i] = (struct pair){at, page};
	naive.count++;
}

static void remove_at(unsigned i)
{
	struct pair pair = naive.pair[i];
	uintptr_t entry = index_entry_of_page(pair.page);

	port_rcu_read_lock();
	/* Not another page, and not twice. */
	assert_false(naive.index.ops->replace(&naive.index, pair.at, entry + sizeof(struct page), 0));
	assert_true(naive.index.ops->replace(&naive.index, pair.at, entry, 0));
	assert_false(naive.index.ops->replace(&naive.index, pair.at, entry, 0));
	port_rcu_read_unlock();
	naive.count--;
	memmove(&naive.pair[i], &naive.pair[i + 1], (naive.count - i) * sizeof(naive.pair[0]));
}

static void compare_look(void)
{
	uint64_t at = some_index(), end = at + random_below(&naive.random, 3000), next = at;
	unsigned i = lower(at);
	struct page *page;

	port_rcu_read_lock();
	page = page_index_find(&naive.index, at);
	assert_ptr_equal(page, naive_has(at) ? naive.pair[i].page : NULL);
	page = page_index_next(&naive.index, &next, end);
	if (i < naive.count && naive.pair[i].at < end) {
		assert_ptr_equal(page, naive.pair[i].page);
		assert_int_equal(next, naive.pair[i].at);
	} else {
		assert_null(page);
	}
	port_rcu_read_unlock();
}

static void compare_all(void)
{
	struct message why = {""};
	uint64_t at = 0;

	port_rcu_read_lock();
	for (unsigned i = 0; i < naive.count; i++, at++) {
		assert_ptr_equal(page_index_next(&naive.index, &at, PAGE_INDEX_END), naive.pair[i].page);
		assert_int_equal(at, naive.pair[i].at);
	}
	assert_null(page_index_next(&naive.index, &at, PAGE_INDEX_END));
	assert_null(page_index_find(&naive.index, UINT64_MAX));
	port_rcu_read_unlock();
	if (page_index_check(&naive.index, naive.count, &why))
		fail_msg("%s", why.text);
	assert_int_equal(page_index_check(&naive.index, naive.count + 1, &why), -EINVAL);
}

/* Takes all from some index on away, and then the nodes. */
static void cut(void)
{
	uint64_t from = random_below(&naive.random, 3) ? some_index() : 0;
	uint64_t before, after;
	bool prunable;

	port_rcu_read_lock();
	before = page_index_nodes(&naive.index);
	while (naive.count && naive.pair[naive.count - 1].at >= from)
		remove_at(naive.count - 1);
	prunable = page_index_prunable(&naive.index, from);
	page_index_prune(&naive.index, from);
	after = page_index_nodes(&naive.index);
	assert_int_equal(prunable, after < before);
	assert_false(page_index_prunable(&naive.index, from));
	port_rcu_read_unlock();
	port_rcu_synchronize();
	port_rcu_poll();
	/* Frames have the nodes that are in use, and no more than some free ones. */
	assert_true(frames_counted(naive.frames, FRAMES_INDEX) * 7 >= after);
}

static void it_agrees_with_an_array(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int policy = 0; policy < 2; policy++) {
		bool growing = true;

		open_index((enum policy_page_index)policy, FRAMES);
		random_seed(&naive.random, seed);
		for (unsigned round = 0; round < 40000; round++) {
			if (naive.count == KEPT - 1)
				growing = false;
			if (naive.count < 5)
				growing = true;
			if (random_below(&naive.random, 10) < (growing ? 7u : 3u))
				insert(some_index());
			else if (naive.count)
				remove_at((unsigned)random_below(&naive.random, naive.count));
			compare_look();
			if (random_below(&naive.random, 500) == 0)
				cut();
			if (round % 256 == 0)
				compare_all();
		}
		compare_all();
		close_index();
	}
}

/* With each number of frames that is too small: what fails has changed nothing, and nodes on the way serve.
 */
static void it_refuses_without_frames(void **state)
{
	static const uint64_t at[] = {0, 63, 64, 5000, UINT64_C(1) << 40, PAGE_INDEX_END - 1, 1 << 20, 70};

	(void)state;
	for (int policy = 0; policy < 2; policy++) {
		unsigned failures = 0;

		for (unsigned left = 0; left < 16; left++) {
			struct page *held[64], *page;
			uintptr_t found;
			unsigned taken = 0;

			open_index((enum policy_page_index)policy, 64);
			random_seed(&naive.random, 3);
			page = pfn_to_page(naive.frames, 1);
			while (taken < 64 && (held[taken] = frame_alloc(naive.frames)))
				taken++;
			for (unsigned i = 0; i < left; i++)
				frame_free(naive.frames, held[--taken]);
			for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
				int error;

				port_rcu_read_lock();
				error = naive.index.ops->insert(&naive.index, at[i], page, &found);
				assert_ptr_equal(page_index_find(&naive.index, at[i]), error ? NULL : page);
				port_rcu_read_unlock();
				if (!error) {
					unsigned place = lower(at[i]);

					memmove(&naive.pair[place + 1], &naive.pair[place],
						(naive.count - place) * sizeof(naive.pair[0]));
					naive.pair[place] = (struct pair){at[i], page};
					naive.count++;
				} else {
					assert_int_equal(error, -ENOMEM);
					failures++;
				}
				compare_all();
			}
			while (taken)
				frame_free(naive.frames, held[--taken]);
			close_index();
		}
		assert_true(failures > 8);
	}
}

/* Nodes of one frame that come back from several CPUs take it along when the last one does. */
static struct index_node *shared_nodes[7 * 4];

static void give_back_a_part(unsigned cpu, void *argument)
{
	(void)argument;
	for (unsigned i = cpu; i < ARRAY_SIZE(shared_nodes); i += 4)
		index_node_put(naive.nodes, shared_nodes[i]);
}

static void frames_go_back(void **state)
{
	(void)state;
	open_index(POLICY_PAGE_INDEX_LOCKLESS, FRAMES);
	for (unsigned i = 0; i < ARRAY_SIZE(shared_nodes); i++) {
		shared_nodes[i] = index_node_get(naive.nodes);
		assert_non_null(shared_nodes[i]);
		for (unsigned slot = 0; slot < INDEX_SLOTS; slot++)
			assert_int_equal(atomic_load(&shared_nodes[i]->slot[slot]), 0);
		memset((void *)shared_nodes[i]->slot, 0x5a, sizeof(shared_nodes[i]->slot));
	}
	assert_int_equal(frames_counted(naive.frames, FRAMES_INDEX), 4);
	run_cpus(give_back_a_part, NULL);
	index_nodes_drain(naive.nodes);
	assert_int_equal(frames_counted(naive.frames, FRAMES_INDEX), 0);
	assert_frames_good(naive.frames, 0);
	/* A list that is full gives back by itself. */
	for (unsigned i = 0; i < ARRAY_SIZE(shared_nodes); i++)
		shared_nodes[i] = index_node_get(naive.nodes);
	assert_int_equal(index_nodes_preload(naive.nodes, 21), 0);
	assert_int_equal(frames_counted(naive.frames, FRAMES_INDEX), 7);
	for (unsigned i = 0; i < ARRAY_SIZE(shared_nodes); i++)
		index_node_put(naive.nodes, shared_nodes[i]);
	assert_true(frames_counted(naive.frames, FRAMES_INDEX) < 7);
	close_index();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_agrees_with_an_array),
	    cmocka_unit_test(it_refuses_without_frames),
	    cmocka_unit_test(frames_go_back),
	};

	return cmocka_run_group_tests(tests, open_machine, close_machine);
}
