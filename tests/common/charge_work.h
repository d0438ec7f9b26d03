/* SPDX-License-Identifier: MIT */
/*
 * Charges on all CPUs while groups are made, limited and destroyed, and stocks are drained by others; on real
 * threads and on the virtual machine. A group is used as a space's is: read in an RCU read section, replaced
 * by one CPU, which waits for a grace period before it destroys the old one. Its pages live on, in the hands
 * of all CPUs. What is checked on the way is checked by invariant().
 */
#ifndef TESTS_COMMON_CHARGE_WORK_H
#define TESTS_COMMON_CHARGE_WORK_H

#include "base/random.h"
#include "port/cpu.h"
#include "sync/rcu.h"
#include "tests/common/charge_ground.h"

#define CHARGE_CPUS 6u
#define FRAMES      3000u
#define SLOTS       4u   /* groups in use at a time, below one */
#define BATCH       20u  /* pages that are released together */
#define SHARED      64u  /* places through which pages come to other CPUs */
#define LIMIT       700u /* of all, for good */

/* A group in use. */
struct place {
	struct sf_group *_Atomic group;
};

struct charge_stage {
	struct ground ground;
	uint64_t seed;
	unsigned rounds;
	struct sf_group *top;
	struct place place[SLOTS];
	struct page *_Atomic shared[SHARED];
	/* Pages that are charged below `top` for certain: counted after the charge, and out before the end.
	 */
	_Atomic uint64_t charged;
	_Atomic unsigned refused, destroyed, stopped;
};

static inline struct page *charge_one(struct charge_stage *stage, struct random *random)
{
	struct place *place = &stage->place[random_below(random, SLOTS)];
	struct charge charge = {.group = NULL};
	struct page *page;

	port_rcu_read_lock();
	charge.group = rcu_dereference(&place->group);
	page = charged_page_alloc(stage->ground.frames, &charge);
	port_rcu_read_unlock();
	if (!page) {
		atomic_fetch_add_explicit(&stage->refused, charge.over_limit != NULL, memory_order_relaxed);
		return NULL;
	}
	invariant(atomic_fetch_add(&stage->charged, 1) < LIMIT);
	if (random_below(random, 8))
		lru_add(stage->ground.frames->lru, page, LRU_INACTIVE);
	return page;
}

static inline void release_batch(struct charge_stage *stage, struct page **pages, unsigned count)
{
	atomic_fetch_sub(&stage->charged, count);
	if (count > 1)
		release_pages(stage->ground.frames, pages, count);
	else if (count)
		page_put(stage->ground.frames, pages[0]);
}

static inline void use_groups(struct charge_stage *stage, struct random *random)
{
	struct page *own[LIMIT];
	unsigned count = 0;

	for (unsigned round = 0; round < stage->rounds; round++) {
		unsigned what = (unsigned)random_below(random, 100);

		if (what < 60 && count < LIMIT) {
			own[count] = charge_one(stage, random);
			count += own[count] != NULL;
		} else if (what < 75 && count) {
			/* Somebody else releases it. */
			own[count - 1] =
			    atomic_exchange_explicit(&stage->shared[random_below(random, SHARED)],
						     own[count - 1], memory_order_acq_rel);
			count -= own[count - 1] == NULL;
		} else if (what < 98) {
			unsigned batch = (unsigned)random_below(random, BATCH);

			batch = batch < count ? batch : count;
			count -= batch;
			release_batch(stage, own + count, batch);
		} else {
			groups_cpu_idle(stage->ground.groups);
		}
	}
	while (count) {
		count--;
		release_batch(stage, own + count, 1);
	}
}

static inline void replace(struct charge_stage *stage, struct random *random)
{
	struct place *place = &stage->place[random_below(random, SLOTS)];
	struct sf_group *fresh = group_create(stage->top), *old;

	invariant(fresh);
	old = atomic_exchange_explicit(&place->group, fresh, memory_order_acq_rel);
	port_rcu_synchronize();
	invariant(group_destroy(old) == 0);
	atomic_fetch_add_explicit(&stage->destroyed, 1, memory_order_relaxed);
}

static inline void change_groups(struct charge_stage *stage, struct random *random)
{
	while (atomic_load(&stage->stopped) < CHARGE_CPUS - 2) {
		struct sf_group *group = atomic_load_explicit(
		    &stage->place[random_below(random, SLOTS)].group, memory_order_relaxed);
		uint64_t limit = random_below(random, LIMIT);
		int error = group_set_limit(group, limit);

		invariant(error == 0 || error == -EBUSY);
		if (!error)
			invariant(atomic_load(&group->memory.watermark) <= LIMIT);
		if (random_below(random, 4) == 0)
			replace(stage, random);
		port_rcu_poll();
	}
}

static inline void drain(struct charge_stage *stage, struct random *random)
{
	while (atomic_load(&stage->stopped) < CHARGE_CPUS - 2) {
		if (random_below(random, 2))
			drain_stock(stage->ground.groups, (unsigned)random_below(random, CHARGE_CPUS));
		else
			drain_all_stock(stage->top);
		port_cpu_relax();
	}
}

static inline void charge_work(unsigned cpu, void *argument)
{
	struct charge_stage *stage = argument;
	struct random random;

	random_seed(&random, stage->seed + cpu);
	if (cpu == 0) {
		change_groups(stage, &random);
	} else if (cpu == 1) {
		drain(stage, &random);
	} else {
		use_groups(stage, &random);
		atomic_fetch_add(&stage->stopped, 1);
	}
}

static inline void charge_stage_open(struct charge_stage *stage, const struct policy *policy)
{
	memset(stage, 0, sizeof(*stage));
	ground_open(&stage->ground, policy, FRAMES);
	stage->top = group_create(stage->ground.groups->root);
	assert_non_null(stage->top);
	assert_int_equal(group_set_limit(stage->top, LIMIT), 0);
	for (unsigned i = 0; i < SLOTS; i++) {
		atomic_init(&stage->place[i].group, group_create(stage->top));
		assert_non_null(atomic_load(&stage->place[i].group));
	}
}

static inline void charge_stage_close(struct charge_stage *stage)
{
	uint64_t used = 0;

	for (unsigned i = 0; i < SHARED; i++)
		used += atomic_load(&stage->shared[i]) != NULL;
	assert_ground_good(&stage->ground, used);
	assert_in_range(usage(stage->top), used, used + CHARGE_CPUS * CHARGE_STOCK_PAGES);
	for (unsigned cpu = 0; cpu < CHARGE_CPUS; cpu++)
		drain_stock(stage->ground.groups, cpu);
	assert_int_equal(usage(stage->top), used);
	assert_in_range(atomic_load(&stage->top->memory.watermark), used, LIMIT);
	for (unsigned i = 0; i < SHARED; i++)
		if (atomic_load(&stage->shared[i]))
			page_put(stage->ground.frames, atomic_load(&stage->shared[i]));
	for (unsigned i = 0; i < SLOTS; i++)
		assert_int_equal(group_destroy(atomic_load(&stage->place[i].group)), 0);
	drain_all_stock(stage->top);
	assert_int_equal(usage(stage->top), 0);
	assert_int_equal(group_destroy(stage->top), 0);
	ground_close(&stage->ground);
}

#endif
