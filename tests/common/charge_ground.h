/* SPDX-License-Identifier: MIT */
/*
 * Frames and groups without a system around them, for each combination of the policies that groups have.
 */
#ifndef TESTS_COMMON_CHARGE_GROUND_H
#define TESTS_COMMON_CHARGE_GROUND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "mm/charge/charge.h"
#include "mm/charge/release.h"
#include "mm/charge/stock.h"

#define CHARGE_POLICIES 72u

/* Combination `number` of group_counter, charge_stock, root_group, release_batch and lru_add. */
static inline struct policy charge_policy(unsigned number)
{
	return (struct policy){
	    .group_counter = (enum policy_group_counter)(number % 2),
	    .root_group = (enum policy_root_group)(number / 2 % 2),
	    .lru_add = (enum policy_lru_add)(number / 4 % 2),
	    .charge_stock = (enum policy_charge_stock)(number / 8 % 3),
	    .release_batch = (enum policy_release_batch)(number / 24),
	};
}

struct ground {
	struct policy policy;
	struct frames *frames;
	struct groups *groups;
};

static inline void ground_open(struct ground *ground, const struct policy *policy, uint64_t own)
{
	ground->policy = *policy;
	ground->frames = frames_create(&(struct frames_config){
	    .own_frames = own, .cache = policy->frame_cache, .lru_add = policy->lru_add});
	assert_non_null(ground->frames);
	ground->groups = groups_create(ground->frames, policy);
	assert_non_null(ground->groups);
}

static inline void assert_ground_good(struct ground *ground, uint64_t in_use)
{
	struct message why = {""};

	port_rcu_barrier();
	if (groups_check(ground->groups, &why) || frames_check(ground->frames, in_use, &why))
		fail_msg("%s", why.text);
}

static inline void ground_close(struct ground *ground)
{
	assert_ground_good(ground, 0);
	groups_destroy(ground->groups);
	frames_destroy(ground->frames);
}

static inline uint64_t usage(const struct sf_group *group)
{
	return atomic_load(&group->memory.usage);
}

#endif
