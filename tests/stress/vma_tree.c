/* SPDX-License-Identifier: MIT */
/*
 * Readers walk a VMA tree under RCU while writers change it. Places that are mapped before and after every
 * change must be found all the time, and no VMA may be seen after it was freed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "host/memory.h"
#include "mm/space/vma_tree.h"
#include "port/cpu.h"
#include "port/page.h"
#include "port/panic.h"
#include "sync/rwsem.h"
#include "tests/common/on_cpus.h"

#define PAGE    PORT_PAGE_SIZE
#define CPUS    5u
#define WRITERS 2u
#define CHANGES 1500u
#define ANCHORS 300u
#define POISON  UINT64_C(0xdeadbeefdeadbeef)
#define END     ((uintptr_t)ANCHORS * 4 * PAGE)

/*
 * Page 4 i is the anchor, always mapped, by one VMA after the other; the three pages behind it come and go,
 * as VMAs of their own or as part of one that holds anchors too.
 *
 *      A  .  B  .  A  C  .  .  A  D  D  .  EEEEEEEEEE ...
 */
static struct {
	struct vma_node_cache *cache;
	struct vma_tree tree;
	struct rwsem lock;
	struct lock_nodes lock_nodes;
	uint64_t seed;
	_Atomic unsigned writers_done;
	_Atomic uint64_t made, freed, looks;
} stage;

static struct vma *vma_make(uintptr_t start, uintptr_t end)
{
	struct vma *vma = aligned_alloc(_Alignof(struct vma), sizeof(*vma));

	invariant(vma);
	memset(vma, 0, sizeof(*vma));
	vma->start = start;
	vma->end = end;
	vma->page_offset = start ^ end ^ POISON;
	atomic_fetch_add(&stage.made, 1);
	return vma;
}

static void vma_free(struct port_rcu_head *head)
{
	struct vma *vma = container_of(head, struct vma, rcu);

	invariant(vma->page_offset == (vma->start ^ vma->end ^ POISON));
	/* A reader that comes too late finds this, or the sanitizer finds the reader. */
	memset(vma, 0xfb, sizeof(*vma));
	free(vma);
	atomic_fetch_add(&stage.freed, 1);
}

static void assert_alive(const struct vma *vma)
{
	invariant(vma->start < vma->end && vma->end <= END);
	invariant(vma->page_offset == (vma->start ^ vma->end ^ POISON));
}

/* What comes into [start, end): every anchor, and some of the other pages. */
static size_t fill(struct random *random, struct vma **with, uintptr_t start, uintptr_t end)
{
	size_t count = 0;
	uintptr_t place = start;

	while (place < end) {
		uintptr_t next_anchor = (place / (4 * PAGE) + 1) * 4 * PAGE, stop;

		if (place % (4 * PAGE)) {
			/* Behind an anchor: a hole, or a VMA. */
			stop = place + (1 + random_below(random, 3)) * PAGE;
			if (stop > next_anchor)
				stop = next_anchor;
			if (stop > end)
				stop = end;
			if (random_below(random, 3))
				with[count++] = vma_make(place, stop);
		} else {
			stop = place + (1 + random_below(random, random_below(random, 8) ? 4 : 24)) * PAGE;
			if (stop > end)
				stop = end;
			with[count++] = vma_make(place, stop);
		}
		place = stop;
	}
	return count;
}

/* Makes the range greater until no VMA crosses its borders. */
static void widen(uintptr_t *start, uintptr_t *end)
{
	struct vma *vma = vma_tree_find(&stage.tree, *start);

	if (vma)
		*start = vma->start;
	vma = vma_tree_previous(&stage.tree, *end);
	if (vma && vma->end > *end)
		*end = (vma->end + 4 * PAGE - 1) / (4 * PAGE) * (4 * PAGE);
	vma = vma_tree_previous(&stage.tree, *end);
	if (vma && vma->end > *end)
		*end = vma->end;
}

static void change_once(struct random *random)
{
	static struct vma *with[WRITERS][ANCHORS * 4], *old[ANCHORS * 4]; /* by the lock */
	struct vma_change change;
	size_t counts[WRITERS] = {0}, old_count = 0;
	unsigned parts = 1 + (random_below(random, 4) == 0);
	bool cancel = random_below(random, 8) == 0;

	down_write(&stage.lock);
	for (unsigned part = 0; part < parts; part++) {
		/* The two parts of one change lie in different halves. */
		uint64_t half = parts == 1 ? ANCHORS : ANCHORS / 2;
		uint64_t first = part * half + random_below(random, half - 1);
		uint64_t blocks = 1 + random_below(random, random_below(random, 16) ? 3 : 60);
		uintptr_t start = first * 4 * PAGE, end;

		if (first + blocks > part * half + half)
			blocks = part * half + half - first;
		end = (first + blocks) * 4 * PAGE;
		widen(&start, &end);
		if (part == 1 && start < END / 2)
			break;
		if (parts == 2 && part == 0 && end > END / 2) {
			parts = 0;
			break;
		}
		for (struct vma *vma = vma_tree_next(&stage.tree, start); vma && vma->start < end;
		     vma = vma_tree_next(&stage.tree, vma->end))
			old[old_count++] = vma;
		counts[part] = fill(random, with[part], start, end);
		if (part == 0)
			invariant(!vma_tree_prepare(&stage.tree, &change, start, end, with[0], counts[0]));
		else
			invariant(!vma_tree_prepare_more(&change, start, end, with[1], counts[1]));
	}
	if (parts && cancel) {
		vma_tree_cancel(&change);
		for (unsigned part = 0; part < WRITERS; part++)
			for (size_t i = 0; i < counts[part]; i++)
				vma_free(&with[part][i]->rcu);
	} else if (parts) {
		vma_tree_commit(&change);
		for (size_t i = 0; i < old_count; i++) {
			atomic_store(&old[i]->detached, true);
			port_rcu_call(&old[i]->rcu, vma_free);
		}
	}
	up_write(&stage.lock);
}

/* With the lock for reading: the nodes' own numbers, and gaps. */
static void look_locked(struct random *random)
{
	uintptr_t found, length = (1 + random_below(random, 3)) * PAGE;

	down_read(&stage.lock);
	invariant(!vma_tree_check(&stage.tree, NULL));
	found = vma_tree_gap_topdown(&stage.tree, 0, END, length);
	if (found != UINTPTR_MAX) {
		const struct vma *vma = vma_tree_next(&stage.tree, found);

		invariant(!vma || vma->start >= found + length);
	}
	up_read(&stage.lock);
}

static void look(struct random *random)
{
	uintptr_t anchor = random_below(random, ANCHORS) * 4 * PAGE, address = random_below(random, END);
	const struct vma *vma;

	port_rcu_read_lock();
	for (unsigned i = 0; i < 8; i++) {
		vma = vma_tree_find(&stage.tree, anchor + i);
		invariant(vma && vma->start <= anchor && vma->end > anchor);
		assert_alive(vma);
		vma = vma_tree_find(&stage.tree, address);
		if (vma) {
			invariant(vma->start <= address && vma->end > address);
			assert_alive(vma);
		}
		/* No anchor lies between an address and what comes next to it. */
		vma = vma_tree_next(&stage.tree, address);
		if (vma) {
			assert_alive(vma);
			invariant(vma->end > address);
			invariant(vma->start <= (address / (4 * PAGE) + 1) * 4 * PAGE);
		} else {
			invariant(address / (4 * PAGE) == ANCHORS - 1);
		}
		vma = vma_tree_previous(&stage.tree, address + 1);
		invariant(vma && vma->start <= address && vma->end > address / (4 * PAGE) * 4 * PAGE);
		assert_alive(vma);
		address = random_below(random, END);
	}
	port_rcu_read_unlock();
	atomic_fetch_add_explicit(&stage.looks, 1, memory_order_relaxed);
}

static void work(unsigned cpu, void *argument)
{
	struct random random;

	(void)argument;
	random_seed(&random, stage.seed + cpu);
	if (cpu < WRITERS) {
		for (unsigned i = 0; i < CHANGES; i++) {
			uint64_t looks = atomic_load(&stage.looks);

			change_once(&random);
			port_rcu_poll();
			/* However few processors there are, readers meet many different trees. */
			while (i % 4 == 0 && atomic_load(&stage.looks) == looks)
				port_cpu_relax();
		}
		atomic_fetch_add(&stage.writers_done, 1);
		return;
	}
	for (unsigned turn = 0; atomic_load(&stage.writers_done) != WRITERS; turn++) {
		if (turn % 256 == 0)
			look_locked(&random);
		else
			look(&random);
	}
}

static void what_stays_is_always_found(void **state)
{
	static struct vma *first[ANCHORS * 4];
	struct vma_change change;
	struct random random;
	size_t count;

	(void)state;
	memset(&stage, 0, sizeof(stage));
	stage.seed = test_seed() * CPUS;
	assert_int_equal(host_open(CPUS), 0);
	stage.cache = vma_node_cache_create();
	assert_non_null(stage.cache);
	vma_tree_init(&stage.tree, stage.cache);
	assert_int_equal(lock_nodes_open(&stage.lock_nodes), 0);
	rwsem_init(&stage.lock, &rwsem_xadd_ops, LOCK_RANK_TEST_OUTER, &stage.lock_nodes);
	random_seed(&random, stage.seed + CPUS);
	count = fill(&random, first, 0, END);
	assert_int_equal(vma_tree_prepare(&stage.tree, &change, 0, END, first, count), 0);
	vma_tree_commit(&change);
	run_cpus(work, NULL);
	assert_int_equal(vma_tree_check(&stage.tree, NULL), 0);
	print_message("%llu looks, %llu VMAs\n", (unsigned long long)atomic_load(&stage.looks),
		      (unsigned long long)atomic_load(&stage.made));

	for (struct vma *vma = vma_tree_next(&stage.tree, 0); vma;) {
		struct vma *next = vma_tree_next(&stage.tree, vma->end);

		vma_free(&vma->rcu);
		vma = next;
	}
	vma_tree_destroy(&stage.tree);
	port_rcu_barrier();
	assert_int_equal(atomic_load(&stage.freed), atomic_load(&stage.made));
	vma_node_cache_destroy(stage.cache);
	lock_nodes_close(&stage.lock_nodes);
	host_close();
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_stays_is_always_found)};

	return cmocka_run_group_tests_name("stress/vma_tree", tests, NULL, NULL);
}
