/* SPDX-License-Identifier: MIT */
/*
 * Tags in the place of pages, and the marks of dirty ones: the page index answers as an array of entries and
 * one of marks do, with both policies, near the beginning and where the tree has had to grow.
 */
#include "tests/unit/mm/frames_fixture.h"

#include "mm/object/index_nodes.h"
#include "mm/object/page_index.h"
#include "port/rcu.h"

#define FRAMES 1024u
#define PLACES 700u

static struct {
	struct frames *frames;
	struct index_nodes *nodes;
	struct page_index index;
	struct random random;
	uint64_t at[PLACES]; /* rising */
	uintptr_t entry[PLACES];
	bool dirty[PLACES];
	uint64_t counted;
} naive;

static uint64_t below(uint64_t end)
{
	return random_below(&naive.random, end);
}

/* Neighbours, and gaps of every size. */
static void choose_places(void)
{
	uint64_t at = below(2) ? 0 : below(200);

	for (unsigned i = 0; i < PLACES; i++) {
		naive.at[i] = at;
		naive.entry[i] = 0;
		naive.dirty[i] = false;
		at += below(8) ? 1 : 1 + below(UINT64_C(1) << below(20));
	}
	naive.counted = 0;
}

static uintptr_t some_page(void)
{
	return index_entry_of_page(pfn_to_page(naive.frames, 1 + below(FRAMES - 1)));
}

static uintptr_t some_entry(void)
{
	switch (below(4)) {
	case 0:
		return 0;
	case 1:
		return index_entry_of_shadow(below(UINT64_C(1) << 48));
	case 2:
		return index_entry_of_swap(
		    swap_entry((unsigned)below(SWAP_AREAS_MAX), below(UINT64_C(1) << SWAP_SLOT_BITS)));
	default:
		return some_page();
	}
}

static void set(unsigned i, uintptr_t entry)
{
	naive.counted += (uint64_t)index_entry_counts(entry) - index_entry_counts(naive.entry[i]);
	naive.entry[i] = entry;
}

static void insert(unsigned i)
{
	uintptr_t page = some_page(), found = 1;
	int error = naive.index.ops->insert(&naive.index, naive.at[i], index_entry_page(page), &found);

	assert_int_equal(found, naive.entry[i]);
	assert_int_equal(error, index_entry_counts(naive.entry[i]) ? -EEXIST : 0);
	if (!error)
		set(i, page);
}

static void replace(unsigned i)
{
	uintptr_t to = some_entry(), wrong = some_entry();

	if (!naive.entry[i])
		return;
	if (wrong && wrong != naive.entry[i])
		assert_false(naive.index.ops->replace(&naive.index, naive.at[i], wrong, to));
	assert_true(naive.index.ops->replace(&naive.index, naive.at[i], naive.entry[i], to));
	set(i, to);
}

/* Pages become dirty while they are there; the mark outlives the page. */
static void mark(unsigned i)
{
	if (!index_entry_page(naive.entry[i]))
		return;
	page_index_mark_dirty(&naive.index, naive.at[i]);
	naive.dirty[i] = true;
}

static uint64_t some_end(unsigned i)
{
	return below(4) ? naive.at[i] + 1 + below(500) : PAGE_INDEX_END;
}

static void take(unsigned i)
{
	uint64_t at = naive.at[i], end = some_end(i);
	bool found = page_index_take_dirty(&naive.index, &at, end);

	while (i < PLACES && naive.at[i] < end && !naive.dirty[i])
		i++;
	if (i == PLACES || naive.at[i] >= end) {
		assert_false(found);
		assert_int_equal(at, end);
		return;
	}
	assert_true(found);
	assert_int_equal(at, naive.at[i]);
	naive.dirty[i] = false;
}

static void look(unsigned i)
{
	uint64_t at = naive.at[i], page_at = at, end = some_end(i);
	uintptr_t entry = page_index_next_entry(&naive.index, &at, end);
	struct page *page = page_index_next(&naive.index, &page_at, end);
	unsigned next = i;

	assert_int_equal(page_index_load(&naive.index, naive.at[i]), naive.entry[i]);
	while (next < PLACES && naive.at[next] < end && !naive.entry[next])
		next++;
	if (next < PLACES && naive.at[next] < end) {
		assert_int_equal(entry, naive.entry[next]);
		assert_int_equal(at, naive.at[next]);
	} else {
		assert_int_equal(entry, 0);
	}
	while (next < PLACES && naive.at[next] < end && !index_entry_page(naive.entry[next]))
		next++;
	if (next < PLACES && naive.at[next] < end) {
		assert_ptr_equal(page, index_entry_page(naive.entry[next]));
		assert_int_equal(page_at, naive.at[next]);
	} else {
		assert_null(page);
	}
}

static void one_step(void)
{
	unsigned i = (unsigned)below(PLACES);

	switch (below(6)) {
	case 0:
		insert(i);
		break;
	case 1:
		replace(i);
		break;
	case 2:
	case 3:
		mark(i);
		break;
	case 4:
		take(i);
		break;
	default:
		look(i);
	}
}

static void run(enum policy_page_index policy)
{
	struct message why = {""};

	naive.frames = open_frames(POLICY_FRAME_CACHE_MAGAZINE, FRAMES);
	naive.nodes = index_nodes_create(naive.frames);
	assert_non_null(naive.nodes);
	page_index_init(&naive.index, page_index_choices[policy], naive.nodes, true);
	choose_places();
	port_rcu_read_lock();
	for (unsigned step = 0; step < 20000; step++) {
		one_step();
		if (step % 512 == 0 && page_index_check(&naive.index, naive.counted, &why))
			fail_msg("%s", why.text);
	}
	/* Every mark is found once. */
	for (uint64_t at = 0; page_index_take_dirty(&naive.index, &at, PAGE_INDEX_END);) {
		unsigned i = 0;

		while (naive.at[i] != at)
			i++;
		assert_true(naive.dirty[i]);
		naive.dirty[i] = false;
	}
	for (unsigned i = 0; i < PLACES; i++) {
		assert_false(naive.dirty[i]);
		/* Shadows go with the nodes. */
		if (index_entry_counts(naive.entry[i]))
			assert_true(naive.index.ops->replace(&naive.index, naive.at[i], naive.entry[i], 0));
	}
	port_rcu_read_unlock();
	page_index_destroy(&naive.index);
	port_rcu_barrier();
	index_nodes_destroy(naive.nodes);
	close_frames(naive.frames);
}

static void it_agrees_with_arrays(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (unsigned round = 0; round < 6; round++) {
		random_seed(&naive.random, seed + round);
		run((enum policy_page_index)(round % 2));
	}
}

static void entries_say_what_they_are(void **state)
{
	struct swap_entry slot = swap_entry(7, (UINT64_C(1) << SWAP_SLOT_BITS) - 1);
	uintptr_t swap = index_entry_of_swap(slot), shadow = index_entry_of_shadow((UINT64_C(1) << 48) - 1);

	(void)state;
	assert_true(index_entry_is_swap(swap) && !index_entry_is_shadow(swap) && !index_entry_page(swap));
	assert_int_equal(index_entry_swap(swap).value, slot.value);
	assert_true(index_entry_is_shadow(shadow) && !index_entry_is_swap(shadow) &&
		    !index_entry_page(shadow));
	assert_int_equal(index_entry_shadow(shadow), (UINT64_C(1) << 48) - 1);
	assert_true(index_entry_counts(swap) && !index_entry_counts(shadow) && !index_entry_counts(0));
	assert_false(index_entry_is_swap(0) || index_entry_is_shadow(0) || index_entry_page(0));
}

static int open_machine(void **state)
{
	(void)state;
	return host_open(4);
}

static int close_machine(void **state)
{
	(void)state;
	host_close();
	return host_memory_in_use_bytes() ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_agrees_with_arrays),
	    cmocka_unit_test(entries_say_what_they_are),
	};

	return cmocka_run_group_tests(tests, open_machine, close_machine);
}
