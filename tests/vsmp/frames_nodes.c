/* SPDX-License-Identifier: MIT */
/*
 * Which memory node a frame comes from: the CPU's own first, then the others from near to far, whatever the
 * frame cache; and where it goes when a CPU of another node gives it back.
 *
 *   node    0 - 1        distances: neighbours 1, across 2; node 3 is far from node 0 (3) and near to 2
 *           |   |
 *           3...2
 */
#include "tests/vsmp/fixture.h"

#include <stdlib.h>

#include "mm/page/frames.h"
#include "port/cpu.h"

#define NODES  4u
#define CPUS   8u
#define ZONE   2048u /* frames of a node, but for the zero page */
#define FRAMES (NODES * ZONE)

static const enum policy_frame_cache caches[] = {POLICY_FRAME_CACHE_MAGAZINE, POLICY_FRAME_CACHE_ZONE};

static const uint8_t distance[NODES][NODES] = {{0, 1, 2, 3}, {1, 0, 1, 2}, {2, 1, 0, 1}, {3, 2, 1, 0}};

static struct frames *frames;
static struct page *held[FRAMES];
static struct random random_state;

static void create(void)
{
	struct vsmp_config config = {.machine = &fixture_machine,
				     .placement = {.kind = VSMP_FILL},
				     .cpus = CPUS,
				     .seed = 1,
				     .home_socket = -1};
	struct message why = {""};

	fixture_shape(NODES, CPUS / NODES, 1);
	for (unsigned a = 0; a < NODES; a++)
		for (unsigned b = 0; b < NODES; b++)
			fixture_machine.hops[a][b] = distance[a][b];
	if (vsmp_create(&config, &why))
		fail_msg("%s", why.text);
	random_seed(&random_state, 7);
}

static void open_frames(void *argument)
{
	const enum policy_frame_cache *cache = argument;
	struct frames_config config = {.own_frames = FRAMES, .structure_only = true, .cache = *cache};

	frames = frames_create(&config);
	assert_non_null(frames);
}

static void check(uint64_t in_use)
{
	struct message why = {""};

	if (frames_check(frames, in_use, &why))
		fail_msg("%s", why.text);
}

static void close_frames(void *argument)
{
	(void)argument;
	check(0);
	frames_destroy(frames);
}

/* One CPU takes all there is. */
static void take_all(unsigned cpu, void *argument)
{
	unsigned only = *(const unsigned *)argument;
	unsigned own = port_cpu_node(cpu), last = 0;
	uint64_t count = 0, of_node[NODES] = {0};
	struct page *page;

	if (cpu != only)
		return;
	while ((page = frame_alloc(frames))) {
		unsigned node = frame_node(frames, page_to_pfn(frames, page));

		/* Never nearer again than the one before; but what is left of a magazine to send home is
		 * last. */
		assert_true(distance[own][node] >= last || count >= FRAMES - 64);
		last = distance[own][node];
		of_node[node]++;
		held[count++] = page;
	}
	assert_int_equal(count, FRAMES - 1);
	for (unsigned node = 0; node < NODES; node++)
		assert_int_equal(of_node[node], ZONE - (node == 0));
	check(FRAMES - 1);
	/* Back in any order: each goes home, so that the next round finds the same. */
	while (count) {
		uint64_t which = random_below(&random_state, count);

		frame_free(frames, held[which]);
		held[which] = held[--count];
	}
	check(0);
}

/* A machine for each CPU that takes all: what others hold back would be missed. */
static void near_frames_come_first(void **state)
{
	struct message why = {""};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++)
		for (unsigned cpu = 0; cpu < CPUS; cpu++) {
			create();
			assert_int_equal(vsmp_setup(open_frames, (void *)&caches[i], &why), 0);
			for (int round = 0; round < 2; round++)
				assert_int_equal(vsmp_run(take_all, &cpu, 0, &why), 0);
			assert_int_equal(vsmp_setup(close_frames, NULL, &why), 0);
			vsmp_destroy();
		}
}

#define MOVED 1000u

/* CPU 0, of node 0, takes frames of its own; CPU 7, of node 3, gives them back. */
static void move(unsigned cpu, void *argument)
{
	unsigned *foreign = argument;

	for (unsigned i = 0; cpu == 0 && i < MOVED; i++) {
		held[i] = frame_alloc(frames);
		assert_non_null(held[i]);
		*foreign += frame_node(frames, page_to_pfn(frames, held[i])) != 0;
	}
	vsmp_barrier();
	for (unsigned i = 0; cpu == CPUS - 1 && i < MOVED; i++)
		frame_free(frames, held[i]);
	/* And finds frames of its own node all the same. */
	for (unsigned i = 0; cpu == CPUS - 1 && i < MOVED; i++) {
		held[i] = frame_alloc(frames);
		assert_int_equal(frame_node(frames, page_to_pfn(frames, held[i])), NODES - 1);
	}
	for (unsigned i = 0; cpu == CPUS - 1 && i < MOVED; i++)
		frame_free(frames, held[i]);
}

static void frames_go_home(void **state)
{
	struct message why = {""};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		unsigned foreign = 0;

		create();
		assert_int_equal(vsmp_setup(open_frames, (void *)&caches[i], &why), 0);
		for (int round = 0; round < 10; round++)
			assert_int_equal(vsmp_run(move, &foreign, 0, &why), 0);
		/* What CPU 7 still holds of node 0 is less than what node 0 has left. */
		assert_int_equal(foreign, 0);
		assert_int_equal(vsmp_setup(close_frames, NULL, &why), 0);
		vsmp_destroy();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(near_frames_come_first),
	    cmocka_unit_test(frames_go_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
