/* SPDX-License-Identifier: MIT */
/*
 * Accesses of memory that nobody owns: freed, in a cache of free objects, never allocated, behind the end.
 */
#include "tests/vsmp/explore_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "mm/page/frames.h"
#include "mm/space/vma_cache.h"
#include "mm/space/vma_node.h"
#include "port/lifetime.h"
#include "port/memory.h"
#include "sync/ticket.h"
#include "vsmp/explore/run.h"

#define UNSEEN __attribute__((noinline, no_sanitize("thread"), no_instrument_function))

#define BYTES 40u

/* A variant of the program, the same for all its schedules unless said otherwise. */
static volatile unsigned variant;

UNSEEN static void set_variant(unsigned to)
{
	variant = to;
}

UNSEEN static unsigned get_variant(void)
{
	return variant;
}

static struct {
	_Alignas(64) _Atomic uint32_t flag;
	_Alignas(64) struct ticket ticket;
	_Alignas(64) char *object;
	char *free_object; /* protected by the ticket */
	_Alignas(64) char sink[2][64];
} s;

static void use(const volatile char *memory)
{
	s.sink[port_cpu()][0] = *memory;
}

static int make_object(struct message *why)
{
	(void)why;
	s.object = port_memory_alloc(BYTES, PORT_NODE_FIRST_TOUCH, "struct thing");
	s.free_object = NULL;
	return s.object ? 0 : -1;
}

static void free_object(void)
{
	port_memory_free(s.object, BYTES);
}

/* --- Freed memory --------------------------------------------------------------------------------------- */

enum { FREE_BEFORE, FREE_UNORDERED, USE_ONLY, BEHIND_THE_END, NOWHERE };

static void free_it(void)
{
	unsigned how = get_variant();

	if (how == FREE_BEFORE || how == FREE_UNORDERED)
		port_memory_free(s.object, BYTES);
	atomic_store_explicit(&s.flag, 1, memory_order_release);
}

static void use_it(void)
{
	unsigned how = get_variant();

	if (how == FREE_UNORDERED)
		use(s.object + BYTES - 1);
	else if (!atomic_load_explicit(&s.flag, memory_order_acquire))
		return;
	else if (how == FREE_BEFORE || how == USE_ONLY)
		use(s.object + BYTES - 1);
	else if (how == BEHIND_THE_END)
		use(s.object + BYTES);
	else
		use(s.object + (1 << 30));
}

static void test_freed_memory(void **state)
{
	struct check check = {.name = "freed memory", .setup = make_object, .body = {free_it, use_it}};
	struct message text = {""};
	unsigned raced = 0, used = 0;

	(void)state;
	set_variant(FREE_BEFORE);
	fixture_explore(&check, 50, EXPLORE_USE_AFTER_FREE);
	check.teardown = free_object;
	set_variant(USE_ONLY);
	fixture_explore(&check, 50, EXPLORE_NOTHING);
	set_variant(BEHIND_THE_END);
	fixture_explore(&check, 50, EXPLORE_WILD_ACCESS);
	set_variant(NOWHERE);
	fixture_explore(&check, 50, EXPLORE_WILD_ACCESS);

	/* Whichever comes first, it is found. */
	set_variant(FREE_UNORDERED);
	fixture_open(&check);
	for (uint64_t seed = 1; seed <= 50; seed++) {
		assert_int_equal(explore_run(seed).kind, EXPLORE_USE_AFTER_FREE);
		assert_true(explore_has_failed(&text));
		raced += strstr(text.text, ", which nothing orders") != NULL;
		used += strstr(text.text,
			       "byte 39 of a block of 40 bytes for struct thing that CPU 0 freed") != NULL;
	}
	explore_close();
	assert_int_equal(raced + used, 50);
	assert_true(raced && used);
}

/* --- A cache of one object ------------------------------------------------------------------------------ */

enum { IN_ORDER, NO_LOCK, AFTER_PUT, TWICE };

static void put(char *object)
{
	port_memory_dead(object, BYTES, "test object");
	ticket_lock(&s.ticket);
	s.free_object = object;
	ticket_unlock(&s.ticket);
}

static void put_it(void)
{
	unsigned how = get_variant();

	s.object[3] = 1;
	if (how == NO_LOCK) {
		port_memory_dead(s.object, BYTES, "test object");
		atomic_store_explicit(&s.flag, 1, memory_order_relaxed);
		return;
	}
	put(s.object);
	if (how == AFTER_PUT)
		use(s.object + 8);
	if (how == TWICE)
		port_memory_dead(s.object, BYTES, "test object");
}

static void take_it(void)
{
	char *object = NULL;

	if (get_variant() == NO_LOCK) {
		if (atomic_load_explicit(&s.flag, memory_order_relaxed))
			object = s.object;
	} else {
		ticket_lock(&s.ticket);
		object = s.free_object;
		s.free_object = NULL;
		ticket_unlock(&s.ticket);
	}
	if (!object)
		return;
	port_memory_alive(object, BYTES);
	/* The new life alone is enough to race with the end of the old one. */
	if (get_variant() != NO_LOCK)
		object[3] = 2;
}

static void test_cache(void **state)
{
	struct check check = {
	    .name = "cache", .setup = make_object, .body = {put_it, take_it}, .teardown = free_object};

	(void)state;
	set_variant(IN_ORDER);
	fixture_explore(&check, 100, EXPLORE_NOTHING);
	set_variant(NO_LOCK);
	fixture_explore(&check, 100, EXPLORE_USE_AFTER_FREE);
	set_variant(TWICE);
	fixture_open(&check);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		enum explore_kind kind = explore_run(seed).kind;

		/* Also if the other has taken it in between. */
		assert_int_equal(kind, EXPLORE_USE_AFTER_FREE);
	}
	explore_close();
	set_variant(AFTER_PUT);
	fixture_open(&check);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		enum explore_kind kind = explore_run(seed).kind;

		assert_true(kind == EXPLORE_USE_AFTER_FREE || kind == EXPLORE_DATA_RACE);
	}
	explore_close();
}

/* --- What setup leaves ---------------------------------------------------------------------------------- */

static int make_dead(struct message *why)
{
	int error = make_object(why);

	if (!error)
		port_memory_dead(s.object, BYTES / 2, "test object");
	return error;
}

static void revive(void)
{
	unsigned how = get_variant();

	if (how == 1)
		port_memory_alive(s.object, BYTES / 2);
	/* What lives and dies in the other half of the line changes nothing. */
	if (how == 2)
		port_memory_dead(s.object + BYTES / 2, BYTES / 2, "test object");
	if (how != 0)
		use(s.object);
}

static void nothing(void)
{
}

static void test_setup_state(void **state)
{
	struct check check = {
	    .name = "setup", .setup = make_dead, .body = {revive, nothing}, .teardown = free_object};

	(void)state;
	set_variant(0);
	fixture_open(&check);
	for (uint64_t seed = 1; seed <= 30; seed++) {
		unsigned how = 1 + seed % 3;

		set_variant(how);
		assert_int_equal(explore_run(seed).kind, how == 1 ? EXPLORE_NOTHING : EXPLORE_USE_AFTER_FREE);
	}
	explore_close();
}

/* --- Frames, VMAs, nodes -------------------------------------------------------------------------------- */

enum kind { FRAME, VMA, NODE, KINDS };

static struct frames *frames;
static struct vma_cache *vmas;
static struct vma_node_cache *nodes;
static void *taken;

static int make_caches(struct message *why)
{
	const struct vma_shape shape = {.start = 4096, .end = 8192};

	(void)why;
	frames = frames_create(&(struct frames_config){.own_frames = 100});
	vmas = vma_cache_create(NULL);
	nodes = vma_node_cache_create();
	if (!frames || !vmas || !nodes)
		return -1;
	switch (get_variant() % KINDS) {
	case FRAME:
		taken = frame_alloc(frames);
		break;
	case VMA:
		taken = vma_create(vmas, &shape, 0);
		break;
	default:
		taken = vma_node_get(nodes);
		break;
	}
	return taken ? 0 : -1;
}

static void drop_caches(void)
{
	vma_node_cache_destroy(nodes);
	vma_cache_destroy(vmas);
	frames_destroy(frames);
}

static void give_back(void)
{
	unsigned kind = get_variant() % KINDS;

	if (kind == FRAME)
		frame_free(frames, taken);
	else if (kind == VMA)
		vma_free(taken);
	else
		vma_node_put(nodes, taken);
	if (get_variant() >= KINDS)
		use(kind == FRAME ? page_address(frames, taken) : taken);
}

static void test_objects(void **state)
{
	struct check check = {
	    .name = "objects", .setup = make_caches, .body = {give_back, nothing}, .teardown = drop_caches};

	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		set_variant(kind);
		fixture_explore(&check, 3, EXPLORE_NOTHING);
		set_variant(kind + KINDS);
		fixture_explore(&check, 3, EXPLORE_USE_AFTER_FREE);
	}
}

/* --- Random lives against an oracle of bytes ------------------------------------------------------------ */

#define AREA_BYTES 300u
#define OPS        60u

enum action { DEAD, ALIVE, TOUCH };

static struct op {
	enum action action;
	unsigned from, bytes;
} ops[OPS];
static unsigned ops_done;

UNSEEN static struct op next_op(void)
{
	return ops[ops_done++];
}

UNSEEN static bool any_op(void)
{
	return ops_done < OPS;
}

static int make_area(struct message *why)
{
	(void)why;
	s.object = port_memory_alloc(AREA_BYTES, PORT_NODE_FIRST_TOUCH, NULL);
	return s.object ? 0 : -1;
}

static void free_area(void)
{
	port_memory_free(s.object, AREA_BYTES);
}

static void run_ops(void)
{
	while (any_op()) {
		struct op op = next_op();

		if (op.action == DEAD)
			port_memory_dead(s.object + op.from, op.bytes, "test object");
		else if (op.action == ALIVE)
			port_memory_alive(s.object + op.from, op.bytes);
		else
			memset(s.object + op.from, 1, op.bytes);
	}
}

/* Returns how many operations go well before one touches a dead byte, or OPS. */
static unsigned oracle(void)
{
	bool dead[AREA_BYTES] = {false};

	for (unsigned i = 0; i < OPS; i++)
		for (unsigned at = ops[i].from; at < ops[i].from + ops[i].bytes; at++) {
			if (dead[at] && ops[i].action != ALIVE)
				return i;
			if (ops[i].action != TOUCH)
				dead[at] = ops[i].action == DEAD;
		}
	return OPS;
}

UNSEEN static void make_ops(struct random *random, bool dies)
{
	for (unsigned i = 0; i < OPS; i++) {
		ops[i].action = dies ? (enum action)random_below(random, TOUCH + 1) : TOUCH;
		ops[i].from = (unsigned)random_below(random, AREA_BYTES);
		ops[i].bytes = 1 + (unsigned)random_below(random, (AREA_BYTES - ops[i].from) % 80 + 1);
		if (ops[i].from + ops[i].bytes > AREA_BYTES)
			ops[i].bytes = AREA_BYTES - ops[i].from;
		if (ops[i].action == DEAD)
			ops[i].bytes = 1 + ops[i].bytes % 8;
		if (ops[i].from + ops[i].bytes > AREA_BYTES)
			ops[i].bytes = AREA_BYTES - ops[i].from;
	}
	ops_done = 0;
}

static void test_random_lives(void **state)
{
	struct check check = {
	    .name = "lives", .setup = make_area, .body = {run_ops, nothing}, .teardown = free_area};
	struct random random;
	unsigned longest = 0;

	(void)state;
	random_seed(&random, 1);
	make_ops(&random, false);
	fixture_open(&check);
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		unsigned wanted;
		enum explore_kind kind;

		random_seed(&random, seed);
		make_ops(&random, true);
		wanted = oracle();
		kind = explore_run(seed).kind;
		longest = wanted > longest ? wanted : longest;
		if (kind != (wanted < OPS ? EXPLORE_USE_AFTER_FREE : EXPLORE_NOTHING) ||
		    ops_done != (wanted < OPS ? wanted + 1 : OPS))
			fail_msg("seed %llu: ends at operation %u as: %s; should at %u",
				 (unsigned long long)seed, ops_done, explore_kind_name(kind), wanted);
	}
	explore_close();
	assert_true(longest > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_freed_memory), cmocka_unit_test(test_cache),
	    cmocka_unit_test(test_setup_state),  cmocka_unit_test(test_objects),
	    cmocka_unit_test(test_random_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
