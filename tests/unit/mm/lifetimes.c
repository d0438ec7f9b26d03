/* SPDX-License-Identifier: MIT */
/*
 * Frames, VMAs and nodes of trees and of page indices that are free: each can have another life, and under
 * the address sanitizer whoever reads one between two lives ends the program.
 */
#include "tests/unit/mm/frames_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "mm/object/index_nodes.h"
#include "mm/space/vma_cache.h"
#include "mm/space/vma_node.h"
#include "port/lifetime.h"
#include "tests/common/death.h"

/* Whose first byte and last byte are read. */
enum kind { FRAME, VMA, NODE, INDEX_NODE, KINDS };

static volatile char sink;

static void touch(volatile char *memory, size_t bytes)
{
	sink = memory[0];
	sink = memory[bytes - 1];
}

/* Takes an object, gives it back, and takes one again; touches it after `lives` of these three steps. */
static void live(enum kind kind, enum policy_frame_cache frame_cache, unsigned touch_after)
{
	const struct vma_shape shape = {.start = 4096, .end = 8192};
	struct frames *frames =
	    frames_create(&(struct frames_config){.own_frames = 100, .cache = frame_cache});
	struct vma_cache *vmas = vma_cache_create(NULL);
	struct vma_node_cache *nodes = vma_node_cache_create();
	struct index_nodes *index_nodes = index_nodes_create(frames);
	void *taken = NULL, *memory = NULL;
	size_t bytes = 0;

	assert_true(frames && vmas && nodes && index_nodes);
	for (unsigned step = 1; step <= 3; step++) {
		bool take = step != 2;

		switch (kind) {
		case FRAME:
			if (!take)
				frame_free(frames, taken);
			taken = take ? frame_alloc(frames) : taken;
			memory = page_address(frames, taken);
			bytes = PORT_PAGE_SIZE;
			break;
		case VMA:
			if (!take)
				vma_free(taken);
			memory = taken = take ? vma_create(vmas, &shape, 0) : taken;
			bytes = sizeof(struct vma);
			break;
		case INDEX_NODE:
			if (!take)
				index_node_put(index_nodes, taken);
			memory = taken = take ? index_node_get(index_nodes) : taken;
			bytes = sizeof(struct index_node);
			break;
		default:
			if (!take)
				vma_node_put(nodes, taken);
			memory = taken = take ? vma_node_get(nodes) : taken;
			bytes = sizeof(struct vma_node);
			break;
		}
		if (step == touch_after)
			touch(memory, bytes);
	}
	if (kind == FRAME)
		frame_free(frames, taken);
	else if (kind == VMA)
		vma_free(taken);
	else if (kind == INDEX_NODE)
		index_node_put(index_nodes, taken);
	else
		vma_node_put(nodes, taken);
	index_nodes_destroy(index_nodes);
	vma_node_cache_destroy(nodes);
	vma_cache_destroy(vmas);
	frames_destroy(frames);
}

static void each_life_is_whole(void **state)
{
	(void)state;
	assert_int_equal(host_open(1), 0);
	for (enum kind kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
			live(kind, all_frame_caches[i], 1);
			live(kind, all_frame_caches[i], 3);
		}
	host_close();
}

#ifdef HOST_ADDRESS_SANITIZER
static enum kind kind_touched;
static enum policy_frame_cache frame_cache_used;

static void touch_the_dead(void *argument)
{
	(void)argument;
	__sanitizer_set_death_callback(abort);
	if (host_open(1) == 0)
		live(kind_touched, frame_cache_used, 2);
}

static void between_lives_nobody_may_touch(void **state)
{
	(void)state;
	for (kind_touched = 0; kind_touched < KINDS; kind_touched++)
		for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
			frame_cache_used = all_frame_caches[i];
			expect_death(touch_the_dead, NULL, "use-after-poison", "touch");
		}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_life_is_whole),
#ifdef HOST_ADDRESS_SANITIZER
	    cmocka_unit_test(between_lives_nobody_may_touch),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
