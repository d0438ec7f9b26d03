/* SPDX-License-Identifier: MIT */
/*
 * Random charges, releases, limits, births and deaths in a tree of groups, against a naive tree that counts
 * pages by walking over all of them. On one CPU every answer is known exactly, the group that refuses too.
 */
#include "tests/common/charge_ground.h"
#include "tests/unit/mm/fixture.h"

#define FRAMES 600u
#define GROUPS 10u
#define DEAD   64u
#define ROUNDS 4000u
#define BATCH  40u

/* Number 0 is the root. Numbers are used again, but not those of the dead that still have pages. */
struct naive {
	struct sf_group *group; /* NULL: destroyed */
	bool used;
	unsigned parent;
	uint64_t limit;
};

struct held {
	struct page *page;
	unsigned group;
};

struct stage {
	struct ground ground;
	struct random random;
	struct naive naive[DEAD];
	struct held held[FRAMES];
	unsigned count;
	unsigned refused, busy;
};

static bool is_below(const struct stage *stage, unsigned number, unsigned above)
{
	while (number != above && number)
		number = stage->naive[number].parent;
	return number == above;
}

static bool counts(const struct stage *stage, unsigned number)
{
	return number || stage->ground.policy.root_group == POLICY_ROOT_GROUP_CHARGED;
}

/* The pages of the group and all below, dead or alive. */
static uint64_t naive_usage(const struct stage *stage, unsigned number)
{
	uint64_t pages = 0;

	for (unsigned i = 0; i < stage->count; i++)
		pages += is_below(stage, stage->held[i].group, number);
	return counts(stage, number) ? pages : 0;
}

static bool has_live_child(const struct stage *stage, unsigned number)
{
	for (unsigned i = 1; i < DEAD; i++)
		if (stage->naive[i].group && stage->naive[i].parent == number)
			return true;
	return false;
}

/* Whether nothing names the number any more. */
static bool forgotten(const struct stage *stage, unsigned number)
{
	if (stage->naive[number].group)
		return false;
	for (unsigned i = 0; i < stage->count; i++)
		if (is_below(stage, stage->held[i].group, number))
			return false;
	return !has_live_child(stage, number);
}

/* A live group's number. */
static unsigned some_group(struct stage *stage)
{
	for (;;) {
		unsigned number = (unsigned)random_below(&stage->random, DEAD);

		if (stage->naive[number].group)
			return number;
	}
}

static void create(struct stage *stage)
{
	unsigned parent = some_group(stage), live = 0, free = 0;

	for (unsigned i = 1; i < DEAD; i++) {
		if (stage->naive[i].used && forgotten(stage, i))
			stage->naive[i].used = false;
		live += stage->naive[i].group != NULL;
		if (!stage->naive[i].used)
			free = i;
	}
	if (!free || live == GROUPS)
		return;
	stage->naive[free] = (struct naive){.group = group_create(stage->naive[parent].group),
					    .used = true,
					    .parent = parent,
					    .limit = COUNTER_UNLIMITED};
	assert_non_null(stage->naive[free].group);
}

static void destroy(struct stage *stage)
{
	unsigned number = some_group(stage);
	int error;

	if (!number)
		return;
	error = group_destroy(stage->naive[number].group);
	assert_int_equal(error, has_live_child(stage, number) ? -EBUSY : 0);
	if (!error)
		stage->naive[number].group = NULL;
}

static void set_limit(struct stage *stage)
{
	unsigned number = some_group(stage);
	uint64_t used = naive_usage(stage, number);
	uint64_t pages = random_below(&stage->random, 4) ? random_below(&stage->random, 2 * used + BATCH)
							 : COUNTER_UNLIMITED;
	bool busy = used > pages;
	int error = group_set_limit(stage->naive[number].group, pages);

	assert_int_equal(error, !number ? -EINVAL : busy ? -EBUSY : 0);
	stage->busy += error == -EBUSY;
	if (!error)
		stage->naive[number].limit = pages;
}

/* The lowest group, from `number` up, that has no room; 0: all have. */
static unsigned full_group(const struct stage *stage, unsigned number)
{
	for (; number; number = stage->naive[number].parent)
		if (naive_usage(stage, number) >= stage->naive[number].limit)
			return number;
	return 0;
}

static void charge(struct stage *stage)
{
	unsigned number = some_group(stage), full = full_group(stage, number);
	struct charge charge = {.group = stage->naive[number].group};
	struct page *page = charged_page_alloc(stage->ground.frames, &charge);

	if (!page && !charge.over_limit) {
		assert_true(stage->count > FRAMES / 2);
		return;
	}
	assert_ptr_equal(charge.over_limit, full ? stage->naive[full].group : NULL);
	stage->refused += full != 0;
	assert_int_equal(page == NULL, full != 0);
	if (!page)
		return;
	if (random_below(&stage->random, 4))
		lru_add(stage->ground.frames->lru, page,
			(enum lru_list)random_below(&stage->random, LRU_LISTS));
	stage->held[stage->count++] = (struct held){page, number};
}

static struct page *take_held(struct stage *stage)
{
	unsigned which = (unsigned)random_below(&stage->random, stage->count);
	struct page *page = stage->held[which].page;

	stage->held[which] = stage->held[--stage->count];
	return page;
}

static void release_some(struct stage *stage)
{
	struct page *pages[BATCH];
	unsigned count = 0, wanted = 1 + (unsigned)random_below(&stage->random, BATCH);

	while (count < wanted && stage->count)
		pages[count++] = take_held(stage);
	release_pages(stage->ground.frames, pages, count);
}

static void check(struct stage *stage, bool drained)
{
	uint64_t slack = drained || stage->ground.policy.charge_stock == POLICY_CHARGE_STOCK_NONE
			     ? 0
			     : CHARGE_STOCK_PAGES * port_cpu_count();

	for (unsigned i = 0; i < DEAD; i++) {
		uint64_t pages = naive_usage(stage, i);

		if (!stage->naive[i].group)
			continue;
		assert_in_range(usage(stage->naive[i].group), pages, pages + (counts(stage, i) ? slack : 0));
		assert_true(usage(stage->naive[i].group) <= stage->naive[i].limit);
	}
	if (drained)
		assert_int_equal(lru_waiting(stage->ground.frames->lru), 0);
	assert_ground_good(&stage->ground, stage->count);
}

static void step(struct stage *stage, unsigned round)
{
	unsigned grow = round / 500 % 2 ? 73 : 50, what = (unsigned)random_below(&stage->random, 100);

	if (what < grow)
		charge(stage);
	else if (what < 75 && stage->count)
		page_put(stage->ground.frames, take_held(stage));
	else if (what < 80)
		release_some(stage);
	else if (what < 88)
		create(stage);
	else if (what < 92)
		destroy(stage);
	else if (what < 98)
		set_limit(stage);
	else
		groups_cpu_idle(stage->ground.groups);
	if (what >= 98 || round % 64 == 0)
		check(stage, what >= 98);
}

static void finish(struct stage *stage)
{
	while (stage->count)
		release_some(stage);
	check(stage, false);
	/* Leaves first. */
	for (unsigned left = DEAD; left; left--)
		for (unsigned i = 1; i < DEAD; i++)
			if (stage->naive[i].group && !has_live_child(stage, i)) {
				assert_int_equal(group_destroy(stage->naive[i].group), 0);
				stage->naive[i].group = NULL;
			}
	assert_false(groups_any_live(stage->ground.groups));
	ground_close(&stage->ground);
}

static void agrees_with_a_naive_tree(void **state)
{
	static struct stage stage;
	uint64_t seed = test_seed(1);

	(void)state;
	for (unsigned number = 0; number < CHARGE_POLICIES; number++) {
		struct policy policy = charge_policy(number);

		memset(&stage, 0, sizeof(stage));
		random_seed(&stage.random, seed + number);
		ground_open(&stage.ground, &policy, FRAMES + 1);
		stage.naive[0] = (struct naive){
		    .group = stage.ground.groups->root, .used = true, .limit = COUNTER_UNLIMITED};
		for (unsigned round = 0; round < ROUNDS; round++)
			step(&stage, round);
		assert_true(stage.refused && stage.busy);
		finish(&stage);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(agrees_with_a_naive_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
