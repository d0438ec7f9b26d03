/* SPDX-License-Identifier: MIT */
/*
 * Every call on a space runs out of memory at every point, once, and of frames: it says so, nothing else has
 * changed, nothing leaks, and when there is enough it works.
 */
#include "tests/unit/mm/space_layout.h"

#include "mm/space/vma_cache.h"
#include "mm/space/vma_node_cache.h"

#define MOVE        (SF_REMAP_MAYMOVE | SF_REMAP_FIXED)
#define FRAMES_HELD 2048u

/*
 * AAAABBBBCCCC....DDDD....EEEE    A, C, E private, B read only, D shared; A, B, D and E with pages.
 */
static const char before[] = "AAAABBBBCCCC....DDDD....EEEE";

static void set_up(struct ground *ground)
{
	struct sf_space *space;

	*ground = ground_open();
	space = ground->space;
	map_private(space, 0, 12);
	for (unsigned page = 0; page < 8; page++)
		write_to(space, page);
	assert_int_equal(sf_protect(space, AT(4), 4 * PAGE, SF_PROT_READ), 0);
	assert_int_equal(map_at(space, 16, 4, READ_WRITE, SF_MAP_SHARED), 0);
	map_private(space, 24, 4);
	for (unsigned page = 16; page < 20; page++) {
		write_to(space, page);
		write_to(space, page + 8);
	}
	assert_drawn(space, before);
}

struct call {
	const char *name;
	int (*call)(struct sf_space *space);
	int error;          /* what a lack of memory is */
	const char *after;  /* the picture after success */
	const char *partly; /* another picture that a failure may leave, as Linux does */
	unsigned failures;  /* at least so many allocations can fail */
};

static int call_map(struct sf_space *space)
{
	return map_at(space, 12, 2, READ_WRITE, SF_MAP_PRIVATE);
}

static int call_map_over(struct sf_space *space)
{
	return map_at(space, 2, 16, SF_PROT_NONE, SF_MAP_PRIVATE);
}

static int call_map_shared(struct sf_space *space)
{
	return map_at(space, 20, 2, READ_WRITE, SF_MAP_SHARED);
}

static int call_unmap(struct sf_space *space)
{
	return sf_unmap(space, AT(1), 2 * PAGE);
}

static int call_unmap_all(struct sf_space *space)
{
	return sf_unmap(space, AT(1), 26 * PAGE);
}

static int call_protect(struct sf_space *space)
{
	return sf_protect(space, AT(1), 2 * PAGE, SF_PROT_NONE);
}

static int call_protect_two(struct sf_space *space)
{
	return sf_protect(space, AT(2), 4 * PAGE, SF_PROT_NONE);
}

static int call_grow(struct sf_space *space)
{
	uint64_t mapped;

	return sf_remap(space, AT(8), 4 * PAGE, 6 * PAGE, 0, 0, &mapped);
}

static int call_move(struct sf_space *space)
{
	uint64_t mapped;

	return sf_remap(space, AT(1), 2 * PAGE, 3 * PAGE, MOVE, AT(30), &mapped);
}

static int call_move_far(struct sf_space *space)
{
	uint64_t mapped;

	return sf_remap(space, AT(17), 2 * PAGE, 2 * PAGE, MOVE, WINDOW * 2, &mapped);
}

static int call_keep(struct sf_space *space)
{
	uint64_t mapped;

	return sf_remap(space, AT(24), 4 * PAGE, 4 * PAGE, MOVE | SF_REMAP_DONTUNMAP, AT(30), &mapped);
}

static int call_lock(struct sf_space *space)
{
	return sf_lock(space, AT(17), 2 * PAGE);
}

static int call_hint(struct sf_space *space)
{
	return sf_advise(space, AT(17), 2 * PAGE, SF_ADVICE_HUGEPAGE);
}

static int call_fork(struct sf_space *space)
{
	struct sf_space *child;
	int error = sf_space_fork(space, &child);

	if (!error) {
		assert_drawn(child, before);
		sf_space_destroy(child);
	}
	return error;
}

static const struct call calls[] = {
    {"map", call_map, -ENOMEM, "AAAABBBBCCCCCC..DDDD....EEEE", NULL, 2},
    {"map over", call_map_over, -ENOMEM, "AABBBBBBBBBBBBBBBBCC....DDDD", NULL, 4},
    {"map shared", call_map_shared, -ENOMEM, "AAAABBBBCCCC....DDDDEE..FFFF", NULL, 3},
    {"unmap", call_unmap, -ENOMEM, "A..BCCCCDDDD....EEEE....FFFF", NULL, 3},
    {"unmap all", call_unmap_all, -ENOMEM, "A..........................B", NULL, 3},
    {"protect", call_protect, -ENOMEM, "ABBCDDDDEEEE....FFFF....GGGG", NULL, 4},
    {"protect two", call_protect_two, -ENOMEM, "AABBBBCCDDDD....EEEE....FFFF", "AABBCCCCDDDD....EEEE....FFFF",
     6},
    {"grow", call_grow, -ENOMEM, "AAAABBBBCCCCCC..DDDD....EEEE", NULL, 2},
    {"move", call_move, -ENOMEM, "A..BCCCCDDDD....EEEE....FFFF..GGG", NULL, 4},
    {"move far", call_move_far, -ENOMEM, "AAAABBBBCCCC....D..E....FFFF", NULL, 4},
    {"keep", call_keep, -ENOMEM, "AAAABBBBCCCC....DDDD....EEEE..FFFF", NULL, 3},
    {"lock", call_lock, -ENOMEM, "AAAABBBBCCCC....DEEF....GGGG", NULL, 4},
    {"hint", call_hint, -EAGAIN, "AAAABBBBCCCC....DEEF....GGGG", NULL, 4},
    {"fork", call_fork, -ENOMEM, before, NULL, 8},
};

/* Gives back what waits to be used again, so that every object has to be asked for. */
static size_t drain(struct sf_system *system)
{
	port_rcu_barrier();
	vma_cache_drain(system->parts.vma_cache);
	vma_node_cache_drain(system->parts.node_cache);
	return host_memory_in_use_bytes();
}

static void assert_failed(struct ground *ground, const struct call *call, int error)
{
	assert_int_equal(error, call->error);
	if (!call->partly || strncmp(draw(ground->space), call->partly, strlen(call->partly)))
		assert_drawn(ground->space, before);
	assert_system_good(ground->system);
}

static void every_allocation_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];
		unsigned failures = 0;
		struct ground ground;
		int error;

		print_message("%s\n", call->name);
		for (;; failures++) {
			size_t in_use;

			set_up(&ground);
			in_use = drain(ground.system);
			host_memory_fail_after(failures);
			error = call->call(ground.space);
			host_memory_fail_never();
			if (!error)
				break;
			assert_failed(&ground, call, error);
			if (!strcmp(draw(ground.space), before))
				assert_int_equal(drain(ground.system), in_use);
			ground_close(&ground);
		}
		assert_drawn_good(&ground, call->after);
		assert_true(failures >= call->failures);
		ground_close(&ground);
	}
}

/* Takes all frames but `left`, calls, and gives them back. */
static int call_with_frames(struct ground *ground, const struct call *call, unsigned left)
{
	static struct page *held[FRAMES_HELD];
	struct frames *frames = ground->system->frames;
	unsigned count = 0;
	int error;

	while (count < FRAMES_HELD && (held[count] = frame_alloc(frames)))
		count++;
	assert_true(count > left && count < FRAMES_HELD);
	for (unsigned i = 0; i < left; i++)
		frame_free(frames, held[--count]);
	error = call->call(ground->space);
	while (count)
		frame_free(frames, held[--count]);
	return error;
}

static int call_populate(struct sf_space *space)
{
	return sf_advise(space, AT(8), 4 * PAGE, SF_ADVICE_POPULATE_WRITE);
}

static int call_lock_untouched(struct sf_space *space)
{
	int error = sf_lock(space, AT(8), 4 * PAGE);

	/* The range is locked by then, as on Linux; only pages are missing. */
	assert_int_equal(sf_unlock(space, AT(8), 4 * PAGE), 0);
	return error;
}

static int call_map_populated(struct sf_space *space)
{
	/* Says nothing of pages that it cannot have. */
	return map_at(space, 12, 2, READ_WRITE, SF_MAP_PRIVATE | SF_MAP_POPULATE);
}

static void frames_run_out(void **state)
{
	static const struct call more[] = {
	    {"populate", call_populate, -ENOMEM, before, NULL, 4},
	    {"lock", call_lock_untouched, -EAGAIN, before, NULL, 4},
	    {"map populated", call_map_populated, 0, "AAAABBBBCCCCCC..DDDD....EEEE", NULL, 0},
	    {"fork", call_fork, -ENOMEM, before, NULL, 4},
	    {"move far", call_move_far, -ENOMEM, "AAAABBBBCCCC....D..E....FFFF", NULL, 3},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(more); i++) {
		unsigned left = 0;
		struct ground ground;
		int error;

		print_message("%s\n", more[i].name);
		for (;; left++) {
			set_up(&ground);
			error = call_with_frames(&ground, &more[i], left);
			if (!error)
				break;
			assert_failed(&ground, &more[i], error);
			for (unsigned page = 0; page < 8; page++)
				assert_int_equal(touch(ground.space, AT(page), page < 4), 0);
			ground_close(&ground);
		}
		assert_drawn_good(&ground, more[i].after);
		assert_int_equal(left, more[i].failures);
		ground_close(&ground);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(every_allocation_fails),
	    mm_test(frames_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
