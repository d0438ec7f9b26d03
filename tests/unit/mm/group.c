/* SPDX-License-Identifier: MIT */
/*
 * Groups as a program sees them: who is charged for what, what a limit does to whom, and what is left when a
 * group goes. In the drawings `root > a > b` is a tree, and a number in brackets a limit in pages.
 */
#include <inttypes.h>

#include "mm/system/internal.h"
#include "tests/common/charge_ground.h"
#include "tests/unit/mm/fixture.h"

#define FRAMES 1024u
#define AT     ((uint64_t)1 << 32)
#define RW     (SF_PROT_READ | SF_PROT_WRITE)

/* Root, two levels, and one last-level table. */
#define TABLES 4u

static struct sf_system *group_system(const struct policy *policy)
{
	struct system_config config = {.policy = *policy, .own_frames = FRAMES};
	struct sf_system *system = NULL;
	struct message why = {""};

	if (system_create(&config, &system, &why))
		fail_msg("%s", why.text);
	return system;
}

static struct sf_group *group_below(struct sf_group *parent)
{
	struct sf_group *group = NULL;

	assert_int_equal(sf_group_create(parent, &group), 0);
	return group;
}

static struct sf_space *space_in(struct sf_group *group)
{
	struct sf_space *space = NULL;

	assert_int_equal(sf_space_create_in(group, &space), 0);
	return space;
}

static void map_pages(struct sf_space *space, uint64_t pages, int kind)
{
	uint64_t mapped;

	assert_int_equal(sf_map(space, AT, pages * PAGE, RW, kind | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped),
			 0);
}

/* Writes to `count` pages from number `first` on. Returns how many could be had. */
static unsigned write_pages(struct sf_space *space, unsigned first, unsigned count)
{
	unsigned done = 0;

	while (done < count && !sf_touch(space, AT + (first + done) * PAGE, SF_WRITE, NULL))
		done++;
	return done;
}

/* In pages, with nothing in stock. */
static uint64_t used(struct sf_system *system, struct sf_group *group)
{
	struct sf_group_statistics statistics;

	system_cpu_idle(system);
	assert_system_good(system);
	sf_group_statistics(group, &statistics);
	assert_true(statistics.usage <= statistics.limit && statistics.usage <= statistics.peak);
	return statistics.usage / PAGE;
}

static int limit_pages(struct sf_group *group, uint64_t pages)
{
	return sf_group_set_limit(group, pages * PAGE);
}

/* Runs body(system, root counts) for each combination of the groups' policies. */
static void for_each_policy(void (*body)(struct sf_system *system, bool charged))
{
	for (unsigned number = 0; number < CHARGE_POLICIES; number++) {
		struct policy policy = charge_policy(number);
		struct sf_system *system = group_system(&policy);

		body(system, policy.root_group == POLICY_ROOT_GROUP_CHARGED);
		assert_system_good(system);
		system_destroy(system);
	}
}

/* root > a > b, a space in each. */
static void charges_whose_fault_it_is(struct sf_system *system, bool charged)
{
	struct sf_group *root = sf_group_root(system), *a = group_below(root), *b = group_below(a);
	struct sf_space *in_root, *in_a = space_in(a), *in_b = space_in(b), *child;
	uint64_t all = charged ? 1 : 0;

	assert_int_equal(sf_space_create(system, &in_root), 0);
	/* A space has a table from the beginning. */
	assert_int_equal(used(system, b), 1);
	assert_int_equal(used(system, a), 2);
	assert_int_equal(used(system, root), 3 * all);

	map_pages(in_b, 64, SF_MAP_PRIVATE);
	assert_int_equal(write_pages(in_b, 0, 40), 40);
	assert_int_equal(used(system, b), TABLES + 40);
	assert_int_equal(used(system, a), 1 + TABLES + 40);
	assert_int_equal(used(system, root), (2 + TABLES + 40) * all);
	/* The zero page is nobody's. */
	assert_int_equal(sf_touch(in_b, AT + 50 * PAGE, SF_READ, NULL), 0);
	assert_int_equal(used(system, b), TABLES + 40);

	/* A child is in the same group; it shares the pages, has tables of its own, and then a copy. */
	assert_int_equal(sf_space_fork(in_b, &child), 0);
	assert_int_equal(used(system, b), 2 * TABLES + 40);
	assert_int_equal(write_pages(child, 0, 3), 3);
	assert_int_equal(used(system, b), 2 * TABLES + 43);
	/* Whoever stays with the only mapping of a page writes in place. */
	assert_int_equal(write_pages(in_b, 0, 3), 3);
	assert_int_equal(used(system, b), 2 * TABLES + 43);

	/* A page stays charged where it is, also when its space leaves; what comes is the new group's. */
	sf_space_set_group(in_b, a);
	assert_int_equal(write_pages(in_b, 40, 5), 5);
	assert_int_equal(used(system, b), 2 * TABLES + 43);
	assert_int_equal(used(system, a), 1 + 2 * TABLES + 48);
	sf_space_destroy(in_b);
	assert_int_equal(used(system, b), TABLES + 40);
	assert_int_equal(used(system, a), 1 + TABLES + 40);
	sf_space_destroy(child);
	sf_space_destroy(in_a);
	assert_int_equal(used(system, a), 0);
	assert_int_equal(used(system, root), all);
	assert_int_equal(sf_group_destroy(b), 0);
	assert_int_equal(sf_group_destroy(a), 0);
	sf_space_destroy(in_root);
}

/* Shared memory is charged to who touches it first, whoever has it longest. root > a, root > b. */
static void charges_shared_pages_once(struct sf_system *system, bool charged)
{
	struct sf_group *a = group_below(sf_group_root(system)), *b = group_below(sf_group_root(system));
	struct sf_space *first = space_in(a), *second;

	(void)charged;
	map_pages(first, 64, SF_MAP_SHARED);
	assert_int_equal(write_pages(first, 0, 10), 10);
	assert_int_equal(used(system, a), TABLES + 10);
	assert_int_equal(sf_space_fork(first, &second), 0);
	assert_int_equal(used(system, a), TABLES + 10 + 1);
	sf_space_set_group(second, b);
	assert_int_equal(write_pages(second, 0, 20), 20);
	/* The second's first table was charged at the fork. */
	assert_int_equal(used(system, a), TABLES + 10 + 1);
	assert_int_equal(used(system, b), TABLES - 1 + 10);
	sf_space_destroy(first);
	assert_int_equal(used(system, a), 10 + 1);
	sf_space_destroy(second);
	assert_int_equal(used(system, a), 0);
	assert_int_equal(used(system, b), 0);
	assert_int_equal(sf_group_destroy(a), 0);
	assert_int_equal(sf_group_destroy(b), 0);
}

static void assert_full(struct sf_space *space, unsigned page, struct sf_group *group)
{
	struct sf_group_statistics before, after;
	struct sf_signal signal = {.signal = 1};
	struct sf_pin pin;
	char byte = 1;

	sf_group_statistics(group, &before);
	assert_int_equal(sf_touch(space, AT + page * PAGE, SF_WRITE, &signal), -ENOMEM);
	assert_int_equal(signal.signal, 0);
	assert_ptr_equal(signal.group, group);
	signal = (struct sf_signal){.signal = 1};
	assert_int_equal(sf_write(space, AT + page * PAGE, &byte, 1, &signal), 0);
	assert_ptr_equal(signal.group, group);
	signal = (struct sf_signal){.signal = 1};
	assert_null(sf_pin(space, AT + page * PAGE, SF_WRITE, &pin, &signal));
	assert_ptr_equal(signal.group, group);
	assert_int_equal(sf_advise(space, AT + page * PAGE, PAGE, SF_ADVICE_POPULATE_WRITE), -ENOMEM);
	sf_group_statistics(group, &after);
	assert_int_equal(after.out_of_memory - before.out_of_memory, 4);
	/* Each is refused again after each of three rounds of reclaim that find nothing. */
	assert_int_equal(after.limit_hits - before.limit_hits, 4 * (1 + 3));
	assert_true(after.failures >= before.failures + 4);
}

/* root > a [60] > b [30], c: b is full first, then a, whose other group fills it. */
static void limits_are_kept(struct sf_system *system, bool charged)
{
	struct sf_group *a = group_below(sf_group_root(system)), *b = group_below(a), *c = group_below(a);
	struct sf_space *in_b, *in_c;
	struct sf_group_statistics statistics;

	(void)charged;
	assert_int_equal(limit_pages(a, 60), 0);
	assert_int_equal(limit_pages(b, 30), 0);
	in_b = space_in(b);
	in_c = space_in(c);
	map_pages(in_b, 64, SF_MAP_PRIVATE);
	map_pages(in_c, 64, SF_MAP_PRIVATE);
	assert_int_equal(write_pages(in_b, 0, 64), 30 - TABLES);
	assert_full(in_b, 40, b);
	assert_int_equal(used(system, b), 30);
	assert_int_equal(write_pages(in_c, 0, 64), 30 - TABLES);
	assert_full(in_c, 40, a);
	assert_int_equal(used(system, a), 60);
	assert_int_equal(used(system, c), 30);

	/* What one gives back the other may have. */
	assert_int_equal(sf_advise(in_b, AT, 10 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(used(system, a), 50);
	assert_int_equal(write_pages(in_c, 30 - TABLES, 20), 10);
	assert_full(in_b, 0, a);

	/* A limit goes down to what is used and no further. */
	assert_int_equal(limit_pages(a, 59), -EBUSY);
	assert_int_equal(limit_pages(b, 20), 0);
	assert_int_equal(limit_pages(b, 19), -EBUSY);
	assert_int_equal(limit_pages(c, UINT64_MAX / PAGE), 0);
	sf_group_statistics(b, &statistics);
	assert_int_equal(statistics.limit, 20 * PAGE);
	assert_int_equal(statistics.peak, 30 * PAGE);
	assert_int_equal(limit_pages(a, 70), 0);
	assert_full(in_b, 0, b);
	assert_int_equal(sf_group_set_limit(b, SF_GROUP_UNLIMITED), 0);
	sf_group_statistics(b, &statistics);
	assert_int_equal(statistics.limit, SF_GROUP_UNLIMITED);
	/* Ten come back, and the others are there. */
	assert_int_equal(write_pages(in_b, 0, 64), 30 - TABLES);
	assert_full(in_b, 40, a);

	sf_space_destroy(in_b);
	sf_space_destroy(in_c);
	assert_int_equal(used(system, a), 0);
	assert_int_equal(sf_group_destroy(b), 0);
	assert_int_equal(sf_group_destroy(c), 0);
	assert_int_equal(sf_group_destroy(a), 0);
}

/* Tables, copies and forks need room as well. root > a. */
static void all_that_is_made_needs_room(struct sf_system *system, bool charged)
{
	struct sf_group *a = group_below(sf_group_root(system));
	struct sf_space *space = space_in(a), *child = NULL;
	struct sf_signal signal;
	uint64_t mapped;

	(void)charged;
	map_pages(space, 64, SF_MAP_PRIVATE);
	/* One table is there, three are to come. */
	for (uint64_t pages = 1; pages < TABLES; pages++) {
		assert_int_equal(limit_pages(a, pages), 0);
		assert_int_equal(sf_touch(space, AT, SF_READ, &signal), -ENOMEM);
		assert_ptr_equal(signal.group, a);
		assert_int_equal(used(system, a), pages);
	}
	assert_int_equal(limit_pages(a, TABLES + 8), 0);
	assert_int_equal(write_pages(space, 0, 64), 8);
	/* For a child there is no room, nor for a place elsewhere, nor for a space. */
	assert_int_equal(sf_space_fork(space, &child), -ENOMEM);
	assert_int_equal(sf_space_create_in(a, &child), -ENOMEM);
	assert_int_equal(
	    sf_remap(space, AT, 64 * PAGE, 64 * PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED, 2 * AT, &mapped),
	    -ENOMEM);
	assert_int_equal(used(system, a), TABLES + 8);
	assert_int_equal(limit_pages(a, 2 * TABLES + 8), 0);
	assert_int_equal(sf_space_fork(space, &child), 0);
	/* Nor for a copy; whoever is alone needs none. */
	assert_int_equal(sf_touch(child, AT, SF_WRITE, &signal), -ENOMEM);
	assert_ptr_equal(signal.group, a);
	sf_space_destroy(space);
	assert_int_equal(write_pages(child, 0, 8), 8);
	assert_int_equal(used(system, a), TABLES + 8);
	sf_space_destroy(child);
	assert_int_equal(sf_group_destroy(a), 0);
}

/* root > a [limit] > b: b goes, its pages stay, with a. */
static void what_a_group_leaves_is_its_parents(struct sf_system *system, bool charged)
{
	struct sf_group *a = group_below(sf_group_root(system)), *b = group_below(a), *c;
	struct sf_space *space = space_in(b), *other;

	(void)charged;
	map_pages(space, 64, SF_MAP_PRIVATE);
	assert_int_equal(write_pages(space, 0, 20), 20);
	assert_int_equal(sf_group_destroy(a), -EBUSY);
	assert_int_equal(sf_group_destroy(b), -EBUSY);
	assert_int_equal(sf_group_destroy(sf_group_root(system)), -EINVAL);
	assert_int_equal(limit_pages(sf_group_root(system), 100), -EINVAL);
	sf_space_set_group(space, a);
	assert_int_equal(sf_group_destroy(b), 0);
	assert_int_equal(used(system, a), TABLES + 20);
	assert_int_equal(limit_pages(a, TABLES + 19), -EBUSY);
	assert_int_equal(limit_pages(a, TABLES + 25), 0);
	assert_int_equal(write_pages(space, 20, 20), 5);

	/* Both are dead, one after the other, and the pages still there. */
	c = group_below(sf_group_root(system));
	sf_space_set_group(space, c);
	assert_int_equal(sf_group_destroy(a), 0);
	assert_int_equal(used(system, c), 0);
	assert_int_equal(sf_space_fork(space, &other), 0);
	sf_space_destroy(space);
	assert_int_equal(used(system, c), TABLES);
	assert_int_equal(write_pages(other, 0, 40), 40);
	assert_int_equal(used(system, c), TABLES + 15);
	sf_space_destroy(other);
	assert_int_equal(used(system, c), 0);
	assert_int_equal(sf_group_destroy(c), 0);
	if (charged)
		assert_int_equal(used(system, sf_group_root(system)), 0);
}

static void soft_guarantees_are_kept_in_mind(struct sf_system *system, bool charged)
{
	struct sf_group *a = group_below(sf_group_root(system));
	struct sf_group_statistics statistics;

	(void)charged;
	sf_group_set_low(a, 3 * PAGE + 5);
	sf_group_statistics(a, &statistics);
	assert_int_equal(statistics.low, 3 * PAGE);
	sf_group_set_low(a, SF_GROUP_UNLIMITED);
	sf_group_statistics(a, &statistics);
	assert_int_equal(statistics.low, SF_GROUP_UNLIMITED);
	assert_int_equal(sf_group_destroy(a), 0);
}

#define BODY_TEST(body)                       \
	static void test_##body(void **state) \
	{                                     \
		(void)state;                  \
		for_each_policy(body);        \
	}
BODY_TEST(charges_whose_fault_it_is)
BODY_TEST(charges_shared_pages_once)
BODY_TEST(limits_are_kept)
BODY_TEST(all_that_is_made_needs_room)
BODY_TEST(what_a_group_leaves_is_its_parents)
BODY_TEST(soft_guarantees_are_kept_in_mind)

/* Every allocation fails once; nothing is kept. */
static void making_a_group_may_fail(void **state)
{
	(void)state;
	for (unsigned number = 0; number < CHARGE_POLICIES; number += 8) {
		struct policy policy = charge_policy(number);
		struct sf_system *system = group_system(&policy);
		struct sf_group *group;
		size_t before = host_memory_in_use_bytes();
		unsigned failures = 0;
		int error;

		do {
			host_memory_fail_after(failures);
			error = sf_group_create(sf_group_root(system), &group);
			host_memory_fail_never();
			if (error) {
				assert_int_equal(error, -ENOMEM);
				assert_int_equal(host_memory_in_use_bytes(), before);
				assert_system_good(system);
				failures++;
			}
		} while (error);
		/* The group, a table, and lists. */
		assert_true(failures >= 3);
		assert_int_equal(sf_group_destroy(group), 0);
		port_rcu_barrier();
		assert_int_equal(host_memory_in_use_bytes(), before);
		system_destroy(system);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(test_charges_whose_fault_it_is),
	    mm_test(test_charges_shared_pages_once),
	    mm_test(test_limits_are_kept),
	    mm_test(test_all_that_is_made_needs_room),
	    mm_test(test_what_a_group_leaves_is_its_parents),
	    mm_test(test_soft_guarantees_are_kept_in_mind),
	    mm_test(making_a_group_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
