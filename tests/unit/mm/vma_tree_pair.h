/* SPDX-License-Identifier: MIT */
/*
 * A VMA tree beside a plain sorted array: the same changes to both, the same questions to both.
 */
#ifndef TESTS_UNIT_MM_VMA_TREE_PAIR_H
#define TESTS_UNIT_MM_VMA_TREE_PAIR_H

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/random.h"
#include "host/memory.h"
#include "mm/space/vma_node.h"
#include "mm/space/vma_tree.h"
#include "port/page.h"
#include "port/rcu.h"
#include "tests/common/on_cpus.h"

#define PAGE     PORT_PAGE_SIZE
#define VMAS_MAX 80000u
#define WITH_MAX 40u

/* A tree and what should be in it. */
struct pair {
	struct vma_node_cache *cache;
	struct vma_tree tree;
	struct vma *vmas[VMAS_MAX]; /* sorted */
	size_t count;
	uintptr_t end; /* all of it lies below */
	struct random random;
};

static struct pair pair;

static inline int open_pair(void **state)
{
	(void)state;
	memset(&pair, 0, sizeof(pair));
	if (host_open(1))
		return -1;
	pair.cache = vma_node_cache_create();
	vma_tree_init(&pair.tree, pair.cache);
	return pair.cache ? 0 : -1;
}

static inline int close_pair(void **state)
{
	(void)state;
	vma_tree_destroy(&pair.tree);
	for (size_t i = 0; i < pair.count; i++)
		free(pair.vmas[i]);
	port_rcu_barrier();
	vma_node_cache_destroy(pair.cache);
	if (host_memory_in_use_bytes())
		print_message("%zu bytes are still in use\n", host_memory_in_use_bytes());
	host_close();
	return host_memory_in_use_bytes() ? -1 : 0;
}

/* Below `bound`, which may be large. */
static inline uint64_t below(uint64_t bound)
{
	return random_next(&pair.random) % bound;
}

static inline struct vma *vma_make(uintptr_t start, uintptr_t end)
{
	struct vma *vma = aligned_alloc(_Alignof(struct vma), sizeof(*vma));

	assert_non_null(vma);
	memset(vma, 0, sizeof(*vma));
	vma->start = start;
	vma->end = end;
	return vma;
}

static inline void assert_tree_good(void)
{
	struct message why = {""};

	if (vma_tree_check(&pair.tree, &why))
		fail_msg("%s", why.text);
}

/* How many VMAs of the array start before `address`. */
static inline size_t array_before(uintptr_t address)
{
	size_t low = 0, high = pair.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (pair.vmas[middle]->start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline struct vma *array_next(uintptr_t address)
{
	size_t at = array_before(address);

	if (at > 0 && pair.vmas[at - 1]->end > address)
		return pair.vmas[at - 1];
	return at < pair.count ? pair.vmas[at] : NULL;
}

static inline struct vma *array_find(uintptr_t address)
{
	struct vma *vma = array_next(address);

	return vma && vma->start <= address ? vma : NULL;
}

static inline struct vma *array_previous(uintptr_t address)
{
	size_t at = array_before(address);

	return at > 0 ? pair.vmas[at - 1] : NULL;
}

/* Looks at every gap from the top, or from the bottom. */
static inline uintptr_t array_gap(uintptr_t low, uintptr_t high, uintptr_t length, bool topdown)
{
	for (size_t turn = 0; turn <= pair.count; turn++) {
		size_t i = topdown ? pair.count - turn : turn;
		uintptr_t start = i > 0 ? pair.vmas[i - 1]->end : 0;
		uintptr_t end = i < pair.count ? pair.vmas[i]->start : UINTPTR_MAX;

		start = start < low ? low : start;
		end = end > high ? high : end;
		if (end > start && end - start >= length)
			return topdown ? end - length : start;
	}
	return UINTPTR_MAX;
}

/* The range and the VMAs of a replacement; those that go are [from, to) of the array. */
struct replacement {
	uintptr_t start, end;
	size_t from, to;
	struct vma *with[WITH_MAX];
	size_t count;
};

/*
 * Chooses a range that no VMA crosses: around some of the VMAs, or in a gap, or up to the end of all; and
 * fills it with `count` VMAs or fewer, adjacent ones and ones with gaps.
 *
 *      AAA  BB CCCC     DDD
 *         [           )             the borders are drawn at random between A's end and B's start, and so on
 */
static inline void choose_replacement(struct replacement *replacement, size_t remove, size_t add)
{
	uintptr_t low, high, place, room;

	*replacement = (struct replacement){0};
	replacement->from = (size_t)below(pair.count + 1);
	replacement->to = replacement->from + remove;
	if (replacement->to > pair.count)
		replacement->to = pair.count;
	low = replacement->from > 0 ? pair.vmas[replacement->from - 1]->end : 0;
	high = replacement->from < replacement->to ? pair.vmas[replacement->from]->start
	       : replacement->from < pair.count    ? pair.vmas[replacement->from]->start
						   : pair.end;
	replacement->start = below(2) ? low : low + below((high - low) / PAGE + 1) * PAGE;
	low = replacement->from < replacement->to ? pair.vmas[replacement->to - 1]->end : replacement->start;
	high = replacement->to < pair.count ? pair.vmas[replacement->to]->start : pair.end;
	replacement->end = below(2) ? high : low + below((high - low) / PAGE + 1) * PAGE;
	if (replacement->end == replacement->start)
		return;
	place = replacement->start;
	for (size_t i = 0; i < add; i++) {
		uintptr_t pages;

		room = (replacement->end - place) / PAGE;
		if (room == 0)
			break;
		if (below(2)) {
			place += below((room + 1) / 2) * PAGE;
			room = (replacement->end - place) / PAGE;
		}
		pages = 1 + below(below(4) && room > 8 ? 8 : room / (add - i) + 1);
		if (pages > room)
			pages = room;
		if (pages == 0)
			break;
		replacement->with[replacement->count++] = vma_make(place, place + pages * PAGE);
		place += pages * PAGE;
	}
}

/* The same on the array. */
static inline void replace_in_array(const struct replacement *replacement)
{
	size_t tail = pair.count - replacement->to;

	for (size_t i = replacement->from; i < replacement->to; i++)
		free(pair.vmas[i]);
	assert_true(replacement->from + replacement->count + tail <= VMAS_MAX);
	memmove(&pair.vmas[replacement->from + replacement->count], &pair.vmas[replacement->to],
		tail * sizeof(pair.vmas[0]));
	memcpy(&pair.vmas[replacement->from], replacement->with,
	       replacement->count * sizeof(replacement->with[0]));
	pair.count = replacement->from + replacement->count + tail;
}

static inline void drop_replacement(const struct replacement *replacement)
{
	for (size_t i = 0; i < replacement->count; i++)
		free(replacement->with[i]);
}

/* One replacement in both. */
static inline void replace(size_t remove, size_t add)
{
	struct replacement replacement;
	struct vma_change change;

	choose_replacement(&replacement, remove, add);
	if (replacement.start == replacement.end)
		return;
	assert_int_equal(vma_tree_prepare(&pair.tree, &change, replacement.start, replacement.end,
					  replacement.with, replacement.count),
			 0);
	vma_tree_commit(&change);
	port_rcu_poll();
	replace_in_array(&replacement);
}

/* An address at the border of a VMA, or anywhere. */
static inline uintptr_t some_address(void)
{
	const struct vma *vma;

	if (!pair.count || below(3) == 0)
		return below(pair.end);
	vma = pair.vmas[below(pair.count)];
	return (below(2) ? vma->start : vma->end) + below(3) - 1;
}

static inline void compare_lookups(unsigned looks)
{
	static const uintptr_t edges[] = {0, 1, UINTPTR_MAX, UINTPTR_MAX - 1, (uintptr_t)1 << 47};

	for (unsigned i = 0; i < looks; i++) {
		uintptr_t address = i < 5 ? edges[i] : some_address();

		assert_ptr_equal(vma_tree_find(&pair.tree, address), array_find(address));
		assert_ptr_equal(vma_tree_next(&pair.tree, address), array_next(address));
		assert_ptr_equal(vma_tree_previous(&pair.tree, address), array_previous(address));
	}
}

static inline void compare_gaps(unsigned looks)
{
	for (unsigned i = 0; i < looks; i++) {
		uintptr_t low = below(4) ? below(pair.end) / PAGE * PAGE : 0;
		uintptr_t high = below(4) ? low + below(pair.end - low) / PAGE * PAGE : pair.end;
		uintptr_t length = (below(8) ? 1 + below(40) : 1 + below(pair.end / PAGE)) * PAGE;

		assert_int_equal(vma_tree_gap_topdown(&pair.tree, low, high, length),
				 array_gap(low, high, length, true));
		assert_int_equal(vma_tree_gap_bottomup(&pair.tree, low, high, length),
				 array_gap(low, high, length, false));
	}
}

/* Every VMA in order, by the loop of the header's comment. */
static inline void compare_all(void)
{
	size_t i = 0;

	for (struct vma *vma = vma_tree_next(&pair.tree, 0); vma; vma = vma_tree_next(&pair.tree, vma->end))
		assert_ptr_equal(vma, pair.vmas[i++]);
	assert_int_equal(i, pair.count);
}

#endif
