/* SPDX-License-Identifier: MIT */
/*
 * What finding a VMA costs on the real machine, against a binary search of an array, which is the least that
 * one can do with memory that never changes; and what one change costs. Fails when a find takes more than
 * RATIO_MAX times as long as the search.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "host/cpu.h"
#include "mm/space/vma_tree.h"
#include "port/page.h"
#include "port/rcu.h"

#define FINDS     2000000u
#define CHANGES   50000u
#define ROUNDS    5
#define RATIO_MAX 2.0

struct element {
	uintptr_t start;
	struct vma *vma;
};

static struct element *array;
static struct vma **vmas;
static size_t count;
static struct vma_tree tree;

static struct vma *array_find(uintptr_t address)
{
	size_t low = 0, high = count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (array[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	return address - array[low].start < array[low].vma->end - array[low].start ? array[low].vma : NULL;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* The least of some rounds, as the machine may be shared. The same addresses in both. */
static double find_ns(bool in_tree)
{
	double least = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct random random;
		uintptr_t found = 0;
		double ns = now_ns();

		random_seed(&random, 1);
		for (unsigned i = 0; i < FINDS; i++) {
			uintptr_t address = random_below(&random, count * 2) * PORT_PAGE_SIZE;
			struct vma *vma;

			if (in_tree) {
				port_rcu_read_lock();
				vma = vma_tree_find(&tree, address);
				port_rcu_read_unlock();
			} else {
				vma = array_find(address);
			}
			found += vma ? 1 : 0;
		}
		ns = (now_ns() - ns) / FINDS;
		if (found == 0 || found == FINDS) {
			fprintf(stderr, "vma_tree: found %zu of %u\n", (size_t)found, FINDS);
			exit(1);
		}
		if (round == 0 || ns < least)
			least = ns;
	}
	return least;
}

/* Replaces one VMA by another of the same range. */
static double change_ns(void)
{
	struct random random;
	double ns = now_ns();

	random_seed(&random, 2);
	for (unsigned i = 0; i < CHANGES; i++) {
		struct vma **vma = &vmas[random_below(&random, count)];
		struct vma_change change;

		if (vma_tree_prepare(&tree, &change, (*vma)->start, (*vma)->end, vma, 1)) {
			fprintf(stderr, "vma_tree: no memory\n");
			exit(1);
		}
		vma_tree_commit(&change);
		port_rcu_poll();
	}
	return (now_ns() - ns) / CHANGES;
}

/* VMA i has page 2 i. Put in one by one in a random order, as a program's mappings come. */
static void fill(void)
{
	struct random random;

	random_seed(&random, 3);
	array = calloc(count, sizeof(*array));
	vmas = calloc(count, sizeof(*vmas));
	for (size_t i = 0; i < count; i++) {
		vmas[i] = aligned_alloc(_Alignof(struct vma), sizeof(*vmas[i]));
		vmas[i]->start = i * 2 * PORT_PAGE_SIZE;
		vmas[i]->end = vmas[i]->start + PORT_PAGE_SIZE;
		array[i] = (struct element){vmas[i]->start, vmas[i]};
	}
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)random_below(&random, i);
		struct vma *vma = vmas[i - 1];

		vmas[i - 1] = vmas[other];
		vmas[other] = vma;
	}
	for (size_t i = 0; i < count; i++) {
		struct vma_change change;

		if (vma_tree_prepare(&tree, &change, vmas[i]->start, vmas[i]->end, &vmas[i], 1))
			exit(1);
		vma_tree_commit(&change);
		port_rcu_poll();
	}
}

int main(void)
{
	static const size_t counts[] = {10, 100, 1000, 65530};
	struct vma_node_cache *cache;
	int failed = 0;

	if (host_open(1) || !(cache = vma_node_cache_create()))
		return 1;
	printf("%-10s %12s %12s %8s %12s\n", "VMAs", "find ns", "array ns", "ratio", "change ns");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		double in_array, in_tree;

		count = counts[i];
		vma_tree_init(&tree, cache);
		fill();
		in_array = find_ns(false);
		in_tree = find_ns(true);
		printf("%-10zu %12.1f %12.1f %8.2f", count, in_tree, in_array, in_tree / in_array);
		printf(" %12.0f\n", change_ns());
		if (in_tree > RATIO_MAX * in_array) {
			fprintf(stderr, "vma_tree: a find among %zu VMAs takes %.1f ns; at most %.1f\n",
				count, in_tree, RATIO_MAX * in_array);
			failed = 1;
		}
		vma_tree_destroy(&tree);
		for (size_t at = 0; at < count; at++)
			free(vmas[at]);
		free(vmas);
		free(array);
	}
	port_rcu_barrier();
	vma_node_cache_destroy(cache);
	host_close();
	return failed;
}
