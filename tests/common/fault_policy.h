/* SPDX-License-Identifier: MIT */
/*
 * What the tests of faults share, on real threads and on the virtual machine: a system for each combination
 * of vma_lookup and page_table_lock, and short words for calls that must succeed.
 */
#ifndef TESTS_COMMON_FAULT_POLICY_H
#define TESTS_COMMON_FAULT_POLICY_H

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "mm/charge/group.h"
#include "mm/system/system.h"
#include "mm/table/pte.h"

#define PAGE SF_PAGE_SIZE
#define BASE ((uint64_t)1 << 32)

#define RW (SF_PROT_READ | SF_PROT_WRITE)

#define LOOKUPS  5
#define LOCKS    3
#define RELEASES 3
#define STOCKS   3

static const char *const lookup_name[LOOKUPS] = {"rcu", "refcount", "per_vma", "rwsem_spin", "rwsem_xadd"};
static const char *const stock_name[STOCKS] = {"depot", "32", "none"};
static const char *const release_name[RELEASES] = {"gather", "gather_unchunked", "pagevec"};
static const char *const lock_name[LOCKS] = {"pte_bit", "split", "mm"};

/*
 * Every choice that a fault's path depends on, one after the other: all pairs of the first two; what is
 * charged and released, and how, changes along. Returns false when there are no more.
 */
static inline bool fault_policy(unsigned number, struct policy *policy, bool say)
{
	char text[POLICY_TEXT_BYTES];

	if (number >= LOOKUPS * LOCKS)
		return false;
	snprintf(text, sizeof(text),
		 "default vma_lookup=%s page_table_lock=%s group_counter=%s charge_stock=%s root_group=%s "
		 "release_batch=%s lru_add=%s",
		 lookup_name[number / LOCKS], lock_name[number % LOCKS],
		 number % 2 ? "res_counter" : "page_counter", stock_name[number / 3 % STOCKS],
		 number % 4 ? "charged" : "exempt", release_name[number / 2 % RELEASES],
		 number / 2 % 2 ? "zone_lock" : "per_cpu");
	if (say)
		print_message("%s\n", text);
	assert_int_equal(policy_parse(policy, text, NULL), 0);
	return true;
}

static inline struct sf_system *fault_system(const struct policy *policy, uint64_t frames)
{
	struct system_config config = {.policy = *policy, .own_frames = frames, .exported_frames = 64};
	struct sf_system *system = NULL;
	struct message why = {""};

	if (system_create(&config, &system, &why))
		fail_msg("%s", why.text);
	return system;
}

static inline void assert_good(struct sf_system *system)
{
	struct message why = {""};

	if (system_check(system, &why))
		fail_msg("%s", why.text);
}

/* The groups that fault_space() makes spaces in: the second below the first, which is below the root. */
static struct sf_group *fault_group[2];
static struct sf_system *fault_group_system; /* whose they are */

static inline void fault_system_end(struct sf_system *system)
{
	struct sf_system_statistics statistics;

	assert_good(system);
	for (unsigned i = 2; i-- && fault_group_system == system;) {
		struct sf_group_statistics left;

		/* What CPUs have charged ahead is given back. */
		assert_int_equal(sf_group_set_limit(fault_group[i], 0), 0);
		sf_group_statistics(fault_group[i], &left);
		assert_int_equal(left.usage, 0);
		assert_int_equal(sf_group_destroy(fault_group[i]), 0);
	}
	if (fault_group_system == system)
		fault_group_system = NULL;
	sf_system_statistics(system, &statistics);
	assert_int_equal(statistics.anonymous_frames, 0);
	assert_int_equal(statistics.table_frames, 0);
	assert_int_equal(statistics.pinned_frames, 0);
	system_destroy(system);
}

static inline struct sf_space *fault_space(struct sf_system *system)
{
	struct sf_space *space = NULL;

	if (!fault_group_system) {
		fault_group_system = system;
		assert_int_equal(sf_group_create(sf_group_root(system), &fault_group[0]), 0);
		assert_int_equal(sf_group_create(fault_group[0], &fault_group[1]), 0);
	}
	assert_ptr_equal(fault_group_system, system);
	assert_int_equal(sf_space_create_in(fault_group[1], &space), 0);
	return space;
}

static inline void map_at(struct sf_space *space, uint64_t address, uint64_t pages, int protection, int flags)
{
	uint64_t mapped;

	assert_int_equal(sf_map(space, address, pages * PAGE, protection,
				flags | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped),
			 0);
	assert_int_equal(mapped, address);
}

static inline void assert_touch(struct sf_space *space, uint64_t address, enum sf_access access)
{
	struct sf_signal signal = {0};
	int error = sf_touch(space, address, access, &signal);

	if (error)
		fail_msg("touch %#llx for %d: %d, signal %d code %d", (unsigned long long)address, access,
			 error, signal.signal, signal.code);
}

static inline void assert_fault(struct sf_space *space, uint64_t address, enum sf_access access, int number,
				int code)
{
	struct sf_signal signal = {0};

	assert_int_equal(sf_touch(space, address, access, &signal), -EFAULT);
	assert_int_equal(signal.signal, number);
	assert_int_equal(signal.code, code);
	assert_int_equal(signal.address, address);
}

static inline void put_byte(struct sf_space *space, uint64_t address, unsigned char value)
{
	assert_int_equal(sf_write(space, address, &value, 1, NULL), 1);
}

static inline unsigned char get_byte(struct sf_space *space, uint64_t address)
{
	unsigned char value = 0xee;

	assert_int_equal(sf_read(space, address, &value, 1, NULL), 1);
	return value;
}

#endif
