/* SPDX-License-Identifier: MIT */
/*
 * Who waits for whom: what takes a page or a right away returns only when an access section that was open has
 * been left; what takes a VMA away returns only when a fault has let go of it, unless the choice is `rcu`.
 */
#include "tests/unit/mm/fault_fixture.h"

#include "mm/fault/lookup.h"
#include "mm/space/space.h"
#include "port/cpu.h"
#include "port/mmu.h"

#define FRAMES 256u

static struct {
	struct sf_system *system;
	struct sf_space *space;
	void (*operation)(void);
	bool must_wait;
	_Atomic unsigned step; /* 1: in the way, 2: begun, 3: returned */
} stage;

static void wait_for(unsigned step)
{
	while (atomic_load(&stage.step) < step)
		port_cpu_relax();
}

/* The other thread has begun; gives it every chance to return. */
static void stay_in_the_way(void)
{
	wait_for(2);
	if (!stage.must_wait)
		wait_for(3);
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(atomic_load(&stage.step), stage.must_wait ? 2 : 3);
		port_cpu_relax();
	}
}

static void operate(void)
{
	wait_for(1);
	atomic_store(&stage.step, 2);
	stage.operation();
	atomic_store(&stage.step, 3);
}

/* --- Sections ------------------------------------------------------------------------------------------- */

static struct sf_space *child;

static void unmap(void)
{
	assert_int_equal(sf_unmap(stage.space, BASE, 2 * PAGE), 0);
}

static void give_back(void)
{
	assert_int_equal(sf_advise(stage.space, BASE, PAGE, SF_ADVICE_DONTNEED), 0);
}

static void free_lazily(void)
{
	assert_int_equal(sf_advise(stage.space, BASE, PAGE, SF_ADVICE_FREE), 0);
}

static void protect(void)
{
	assert_int_equal(sf_protect(stage.space, BASE, PAGE, SF_PROT_READ), 0);
}

static void fork_it(void)
{
	struct sf_space *other = NULL;

	assert_int_equal(sf_space_fork(stage.space, &other), 0);
	sf_space_destroy(other);
}

static void move(void)
{
	uint64_t mapped;

	assert_int_equal(
	    sf_remap(stage.space, BASE, PAGE, PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED, 2 * BASE, &mapped), 0);
}

/* The page is shared with the child. */
static void copy(void)
{
	put_byte(stage.space, BASE + PAGE, 2);
}

static void replace_zero_page(void)
{
	put_byte(stage.space, BASE + 2 * PAGE, 1);
}

static void grow_nothing(void)
{
	put_byte(stage.space, BASE + 3 * PAGE, 1);
	assert_int_equal(sf_protect(stage.space, BASE + 4 * PAGE, PAGE, SF_PROT_READ), 0);
}

static void in_a_section(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 1) {
		assert_touch(stage.space, BASE, SF_READ);
		port_mmu_access_begin();
		atomic_store(&stage.step, 1);
		stay_in_the_way();
		port_mmu_access_end();
	} else if (cpu == 0) {
		operate();
	}
}

static void sections_body(struct sf_system *system)
{
	static const struct {
		void (*operation)(void);
		bool must_wait;
	} operations[] = {
	    {unmap, true},   {give_back, true},         {free_lazily, true},
	    {protect, true}, {fork_it, true},           {move, true},
	    {copy, true},    {replace_zero_page, true}, {grow_nothing, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		stage.system = system;
		stage.space = fault_space(system);
		map_at(stage.space, BASE, 5, RW, SF_MAP_PRIVATE);
		put_byte(stage.space, BASE + PAGE, 1);
		assert_int_equal(sf_space_fork(stage.space, &child), 0);
		put_byte(stage.space, BASE, 1);
		assert_touch(stage.space, BASE + 2 * PAGE, SF_READ);
		stage.operation = operations[i].operation;
		stage.must_wait = operations[i].must_wait;
		atomic_store(&stage.step, 0);
		assert_int_equal(host_run(in_a_section, NULL), 0);
		assert_good(system);
		sf_space_destroy(child);
		sf_space_destroy(stage.space);
	}
}

static void what_takes_away_waits_for_sections(void **state)
{
	struct policy policy;

	(void)state;
	/* The locks do not matter here. */
	for (unsigned number = 0; fault_policy(number, &policy, false); number += LOCKS) {
		struct sf_system *system = fault_system(&policy, FRAMES);

		sections_body(system);
		fault_system_end(system);
	}
}

/* --- VMAs ----------------------------------------------------------------------------------------------- */

static void in_a_fault(unsigned cpu, void *argument)
{
	const struct vma_lookup_ops *ops = stage.space->parts.lookup;

	(void)argument;
	if (cpu == 1) {
		struct fault fault = {.space = stage.space, .address = BASE, .touch = TOUCH_WRITE};

		ops->find(&fault);
		assert_non_null(fault.vma);
		assert_int_equal(fault.vma->start, BASE);
		assert_false(atomic_load(&fault.vma->detached));
		atomic_store(&stage.step, 1);
		stay_in_the_way();
		if (!stage.must_wait)
			assert_true(atomic_load(&fault.vma->detached));
		ops->put(&fault);
	} else if (cpu == 0) {
		operate();
	}
}

static void what_takes_a_vma_away_waits_for_its_faults(void **state)
{
	struct policy policy;

	(void)state;
	for (unsigned number = 0; fault_policy(number, &policy, true); number += LOCKS) {
		stage.system = fault_system(&policy, FRAMES);
		stage.space = fault_space(stage.system);
		map_at(stage.space, BASE, 2, RW, SF_MAP_PRIVATE);
		put_byte(stage.space, BASE, 1);
		stage.operation = unmap;
		stage.must_wait = policy.vma_lookup != POLICY_VMA_LOOKUP_RCU;
		atomic_store(&stage.step, 0);
		assert_int_equal(host_run(in_a_fault, NULL), 0);
		sf_space_destroy(stage.space);
		fault_system_end(stage.system);
	}
}

/* A VMA that is gone cannot be held: the choice comes back empty-handed, and the lock finds what is there. */
static void a_lookup_after_the_end_takes_the_lock(void **state)
{
	struct policy policy;

	(void)state;
	for (unsigned number = 0; fault_policy(number, &policy, false); number += LOCKS) {
		struct sf_system *system = fault_system(&policy, FRAMES);
		struct sf_space *space = fault_space(system);
		const struct vma_lookup_ops *ops = space->parts.lookup;
		struct fault fault = {.space = space, .address = BASE, .touch = TOUCH_WRITE};

		map_at(space, BASE, 2, RW, SF_MAP_PRIVATE);
		down_write(&space->lock);
		ops->detach(vma_tree_find(&space->tree, BASE));
		if (ops->find != lookup_find_locked) {
			ops->find(&fault);
			assert_true(!fault.vma || policy.vma_lookup == POLICY_VMA_LOOKUP_RCU);
			assert_false(fault.locked);
			ops->put(&fault);
		}
		ops->reattach(vma_tree_find(&space->tree, BASE));
		up_write(&space->lock);

		fault.must_lock = true;
		ops->find(&fault);
		assert_true(fault.locked && fault.vma);
		ops->put(&fault);
		assert_false(fault.locked);
		assert_touch(space, BASE, SF_WRITE);
		sf_space_destroy(space);
		fault_system_end(system);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(what_takes_away_waits_for_sections),
	    fault_test(what_takes_a_vma_away_waits_for_its_faults),
	    fault_test(a_lookup_after_the_end_takes_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
