/* SPDX-License-Identifier: MIT */
/*
 * Every call that is about objects runs out of memory at every point, once: it says so, nothing else has
 * changed, nothing leaks, and when there is enough it works. And frames run out in the middle of a fault.
 */
#include "tests/common/memory_backing.h"
#include "tests/unit/mm/object_fixture.h"

#include "mm/page/frames.h"
#include "mm/space/vma_cache.h"
#include "mm/space/vma_node_cache.h"
#include "mm/system/internal.h"

#define HERE  BASE
#define THERE (BASE + 64 * PAGE)

static struct ground {
	struct sf_system *system;
	struct sf_space *space;
	struct sf_object *object, *made;
	struct memory_backing file;
} ground;

/* S S S S . P P    of one object; some pages of both, some copied. */
static void set_up(const char *policy)
{
	ground.system = object_system(policy, 256);
	ground.space = fault_space(ground.system);
	ground.object = object_open(ground.system, 8 * PAGE, 0);
	ground.made = NULL;
	memory_backing_open(&ground.file, 2 * PAGE, 8 * PAGE);
	map_object_at(ground.space, HERE, 4, RW, SHARED, ground.object, 0);
	map_object_at(ground.space, HERE + 5 * PAGE, 2, RW, PRIVATE, ground.object, 0);
	for (unsigned page = 0; page < 7; page++)
		if (page != 4)
			put_byte(ground.space, HERE + page * PAGE, (unsigned char)(page + 1));
}

static void assert_as_before(void)
{
	struct sf_object_statistics statistics;

	assert_good(ground.system);
	assert_null(ground.made);
	sf_object_statistics(ground.object, &statistics);
	assert_int_equal(statistics.mappings, 2);
	for (unsigned page = 0; page < 7; page++)
		if (page != 4)
			assert_int_equal(get_byte(ground.space, HERE + page * PAGE), page + 1);
}

static void tear_down(void)
{
	assert_good(ground.system);
	sf_space_destroy(ground.space);
	sf_object_close(ground.object);
	sf_object_close(ground.made);
	object_system_end(ground.system);
	memory_backing_close(&ground.file);
}

/* Gives back what waits to be used again, so that every object has to be asked for. */
static size_t drain(void)
{
	port_rcu_barrier();
	vma_cache_drain(ground.system->parts.vma_cache);
	vma_node_cache_drain(ground.system->parts.node_cache);
	return host_memory_in_use_bytes();
}

static int call_create(void)
{
	return sf_object_create(ground.system, PAGE, 0, &ground.made);
}

static int call_create_limited(void)
{
	return sf_object_create(ground.system, PAGE, PAGE, &ground.made);
}

static int call_open(void)
{
	return sf_file_open(ground.system, &ground.file.backing, &ground.made);
}

static int map_object(uint64_t address, int flags)
{
	uint64_t mapped;

	return sf_map_object(ground.space, address, PAGE, RW, flags | SF_MAP_FIXED, ground.object, 5 * PAGE,
			     &mapped);
}

static int call_map(void)
{
	return map_object(THERE, SHARED);
}

static int call_map_private(void)
{
	return map_object(THERE, PRIVATE);
}

static int call_map_over(void)
{
	return map_object(HERE + PAGE, SHARED);
}

static int call_map_shared_anonymous(void)
{
	uint64_t mapped;

	return sf_map(ground.space, 0, PAGE, RW, SHARED | SF_MAP_ANONYMOUS, &mapped);
}

static int call_unmap(void)
{
	return sf_unmap(ground.space, HERE + PAGE, PAGE);
}

static int call_protect(void)
{
	return sf_protect(ground.space, HERE + 5 * PAGE, PAGE, SF_PROT_READ);
}

static int call_move(void)
{
	uint64_t mapped;

	return sf_remap(ground.space, HERE + PAGE, 2 * PAGE, 2 * PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED,
			THERE, &mapped);
}

static int call_fork(void)
{
	struct sf_space *child;
	int error = sf_space_fork(ground.space, &child);

	if (!error) {
		assert_int_equal(get_byte(child, HERE), 1);
		assert_int_equal(get_byte(child, HERE + 5 * PAGE), 6);
		sf_space_destroy(child);
	}
	return error;
}

/* These ask the machine for nothing. */
static int call_resize(void)
{
	return sf_object_resize(ground.object, PAGE);
}

static int call_punch(void)
{
	return sf_advise(ground.space, HERE, 2 * PAGE, SF_ADVICE_REMOVE);
}

static int call_write(void)
{
	return sf_object_write(ground.object, 7 * PAGE, "x", 1) == 1 ? 0 : -ENOMEM;
}

static const struct {
	const char *name;
	int (*call)(void);
	unsigned failures; /* exactly so many allocations can fail */
} calls[] = {
    {"create", call_create, 1},
    {"create with a limit", call_create_limited, 6},
    {"open", call_open, 1},
    {"map", call_map, 2},
    {"map private", call_map_private, 3},
    {"map over", call_map_over, 4},
    {"map shared anonymous", call_map_shared_anonymous, 3},
    {"unmap", call_unmap, 3},
    {"protect", call_protect, 3},
    {"move", call_move, 5},
    {"resize", call_resize, 0},
    {"punch", call_punch, 0},
    {"write", call_write, 0},
};

static void fail_each(const char *name, int (*call)(void), unsigned least, unsigned most)
{
	unsigned failures = 0;
	int error;

	print_message("%s\n", name);
	for (;; failures++) {
		size_t in_use;

		set_up("default");
		in_use = drain();
		host_memory_fail_after(failures);
		error = call();
		host_memory_fail_never();
		if (!error)
			break;
		assert_int_equal(error, -ENOMEM);
		assert_as_before();
		assert_int_equal(drain(), in_use);
		tear_down();
	}
	tear_down();
	assert_true(failures >= least && failures <= most);
}

static void every_allocation_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		fail_each(calls[i].name, calls[i].call, calls[i].failures, calls[i].failures);
	fail_each("fork", call_fork, 8, 100);
}

static int touch_far(void)
{
	int error;

	/* A second level of the index, and of the page table. */
	map_object_at(ground.space, HERE + 4096 * PAGE, 8, RW, SHARED, ground.object, 4096 * PAGE);
	assert_int_equal(sf_object_resize(ground.object, 4200 * PAGE), 0);
	error = sf_touch(ground.space, HERE + 4097 * PAGE, SF_WRITE, NULL);
	assert_int_equal(sf_unmap(ground.space, HERE + 4096 * PAGE, 8 * PAGE), 0);
	return error;
}

static int copy_private(void)
{
	return sf_touch(ground.space, HERE + 6 * PAGE, SF_WRITE, NULL);
}

/* Calls with `left` free frames. */
static int call_with_frames(int (*call)(void), unsigned left)
{
	static struct page *held[256];
	struct frames *frames = ground.system->frames;
	unsigned count = 0;
	int error;

	while (count < ARRAY_SIZE(held) && (held[count] = frame_alloc(frames)))
		count++;
	for (unsigned i = 0; i < left; i++)
		frame_free(frames, held[--count]);
	error = call();
	while (count)
		frame_free(frames, held[--count]);
	return error;
}

static void frames_run_out(void **state)
{
	static int (*const touches[])(void) = {touch_far, copy_private};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(touches); i++) {
		for (size_t policy = 0; policy < ARRAY_SIZE(object_policies); policy++) {
			unsigned left = 0;
			int error;

			do {
				set_up(object_policies[policy]);
				assert_int_equal(
				    sf_advise(ground.space, HERE + 6 * PAGE, PAGE, SF_ADVICE_DONTNEED), 0);
				error = call_with_frames(touches[i], left);
				assert_true(!error || error == -ENOMEM);
				assert_good(ground.system);
				assert_int_equal(get_byte(ground.space, HERE), 1);
				tear_down();
				left++;
			} while (error);
			assert_true(left > 1 && left < 9);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(every_allocation_fails),
	    fault_test(frames_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
