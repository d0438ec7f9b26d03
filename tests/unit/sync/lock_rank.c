/* SPDX-License-Identifier: MIT */
/*
 * The lock-rank checker fires, and names the locks. The checks are on in this file whatever the build.
 */
#ifndef SYNC_DEBUG
#define SYNC_DEBUG
#endif

#include "sync/lock_rank.h"

#include "base/compiler.h"
#include "host/cpu.h"
#include "port/rcu.h"
#include "sync/mcs_lock.h"
#include "sync/rwlock.h"
#include "sync/rwsem.h"
#include "sync/spinlock.h"
#include "tests/common/death.h"

static struct lock_nodes nodes;
static struct spinlock outer, inner, innermost, unranked;
static struct rwlock inner_rwlock;
static struct mcs_lock outer_mcs;
static struct rwsem outer_sem, inner_sem;

static void open_machine(void)
{
	/* In a child of a death test nobody may assert. */
	if (host_open(1) || lock_nodes_open(&nodes))
		_exit(1);
	spin_lock_init(&outer, LOCK_RANK_TEST_OUTER);
	spin_lock_init(&inner, LOCK_RANK_TEST_INNER);
	spin_lock_init(&innermost, LOCK_RANK_TEST_INNERMOST);
	spin_lock_init(&unranked, LOCK_RANK_NONE);
	rwlock_init(&inner_rwlock, LOCK_RANK_TEST_INNER);
	mcs_lock_init(&outer_mcs, LOCK_RANK_TEST_OUTER, &nodes);
	rwsem_init(&outer_sem, &rwsem_xadd_ops, LOCK_RANK_TEST_OUTER, &nodes);
	rwsem_init(&inner_sem, &rwsem_spin_ops, LOCK_RANK_TEST_INNER, &nodes);
}

static void right_order_passes(void **state)
{
	(void)state;
	open_machine();
	for (int round = 0; round < 3; round++) {
		down_write(&outer_sem);
		down_read(&inner_sem);
		spin_lock(&innermost);
		/* An unranked lock fits anywhere, and a trylock may go against the order. */
		spin_lock(&unranked);
		assert_true(read_trylock(&inner_rwlock));
		assert_true(mcs_trylock(&outer_mcs));
		/* Released in any order. */
		up_write(&outer_sem);
		read_unlock(&inner_rwlock);
		spin_unlock(&innermost);
		mcs_unlock(&outer_mcs);
		up_read(&inner_sem);
		spin_unlock(&unranked);
	}
	mcs_lock(&outer_mcs);
	write_lock(&inner_rwlock);
	write_unlock(&inner_rwlock);
	mcs_unlock(&outer_mcs);
	lock_nodes_close(&nodes);
	host_close();
}

static void take_outer_inside_inner(void *unused)
{
	(void)unused;
	open_machine();
	spin_lock(&inner);
	spin_lock(&outer);
}

static void take_outer_mcs_inside_inner_rwlock(void *unused)
{
	(void)unused;
	open_machine();
	read_lock(&inner_rwlock);
	mcs_lock(&outer_mcs);
}

static void take_equal_rank(void *unused)
{
	(void)unused;
	open_machine();
	write_lock(&inner_rwlock);
	spin_lock(&inner);
}

static void take_behind_trylock(void *unused)
{
	(void)unused;
	open_machine();
	if (!spin_trylock(&innermost))
		_exit(1);
	spin_lock(&inner);
}

static void take_twice(void *unused)
{
	(void)unused;
	open_machine();
	spin_lock(&unranked);
	spin_lock(&unranked);
}

static void take_semaphores_in_wrong_order(void *unused)
{
	(void)unused;
	open_machine();
	down_read(&inner_sem);
	down_write(&outer_sem);
}

static void release_not_held(void *unused)
{
	(void)unused;
	open_machine();
	spin_lock(&outer);
	read_unlock(&inner_rwlock);
}

static void release_nothing_held(void *unused)
{
	(void)unused;
	open_machine();
	up_read(&outer_sem);
}

static void sleep_with_spinlock(void *unused)
{
	(void)unused;
	open_machine();
	spin_lock(&outer);
	down_read(&inner_sem);
}

static void sleep_in_read_section(void *unused)
{
	(void)unused;
	open_machine();
	port_rcu_read_lock();
	down_write(&outer_sem);
}

static void each_fault_is_reported(void **state)
{
	static const struct {
		void (*body)(void *unused);
		const char *text, *other_text;
	} faults[] = {
	    {take_outer_inside_inner, "lock order: taking test_outer_lock at 0x",
	     " while holding test_inner_lock at 0x"},
	    {take_outer_mcs_inside_inner_rwlock, "lock order: taking test_outer_lock at 0x",
	     " while holding test_inner_lock at 0x"},
	    {take_equal_rank, "lock order: taking test_inner_lock at 0x",
	     " while holding test_inner_lock at 0x"},
	    {take_behind_trylock, "lock order: taking test_inner_lock at 0x",
	     " while holding test_innermost_lock at 0x"},
	    {take_twice, "lock taken twice: unranked at 0x", "held as unranked at 0x"},
	    {take_semaphores_in_wrong_order, "lock order: taking test_outer_lock at 0x",
	     " while holding test_inner_lock at 0x"},
	    {release_not_held, "releasing a lock that this CPU does not hold: test_inner_lock at 0x",
	     "last taken is test_outer_lock at 0x"},
	    {release_nothing_held, "releasing a lock that this CPU does not hold: test_outer_lock at 0x", ""},
	    {sleep_with_spinlock, "about to sleep while holding test_outer_lock at 0x", ""},
	    {sleep_in_read_section, "about to sleep inside an RCU read section", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		expect_death(faults[i].body, NULL, faults[i].text, faults[i].other_text);
}

static void every_rank_has_a_name(void **state)
{
	(void)state;
	for (unsigned rank = 0; rank < LOCK_RANK_COUNT; rank++) {
		assert_non_null(lock_rank_name[rank]);
		for (unsigned other = 0; other < rank; other++)
			assert_string_not_equal(lock_rank_name[rank], lock_rank_name[other]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(right_order_passes),
	    cmocka_unit_test(each_fault_is_reported),
	    cmocka_unit_test(every_rank_has_a_name),
	};

	return cmocka_run_group_tests_name("sync/lock_rank", tests, NULL, NULL);
}
