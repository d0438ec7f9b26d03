/* SPDX-License-Identifier: MIT */
/*
 * Software TLBs: what they find, when they must forget it, and who waits for whom.
 */
#include "tests/unit/mm/fault_fixture.h"

#include "port/cpu.h"

#define FRAMES 1024u

static unsigned char *look(struct sf_tlb *tlb, uint64_t address, enum sf_access access)
{
	unsigned char *byte = sf_tlb_lookup(tlb, address, access, NULL);

	assert_non_null(byte);
	return byte;
}

static void finds_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system), *child = NULL;
	struct sf_signal signal = {0};
	struct sf_tlb *tlb = NULL;

	map_at(space, BASE, 600, RW, SF_MAP_PRIVATE);
	assert_int_equal(sf_tlb_create(space, &tlb), 0);
	for (unsigned page = 0; page < 600; page++)
		*look(tlb, BASE + page * PAGE + 3, SF_WRITE) = (unsigned char)page;
	for (unsigned page = 0; page < 600; page++)
		assert_int_equal(*look(tlb, BASE + page * PAGE + 3, SF_READ), (unsigned char)page);
	assert_ptr_equal(look(tlb, BASE, SF_READ), look(tlb, BASE, SF_WRITE));
	assert_null(sf_tlb_lookup(tlb, BASE - 1, SF_READ, &signal));
	assert_int_equal(signal.code, SEGV_MAPERR);
	assert_null(sf_tlb_lookup(tlb, BASE, SF_EXECUTE, &signal));
	assert_int_equal(signal.code, SEGV_ACCERR);
	assert_null(sf_tlb_lookup(tlb, UINT64_MAX, SF_READ, &signal));
	assert_int_equal(signal.code, SEGV_MAPERR);

	/* Rights that go are forgotten. */
	*look(tlb, BASE, SF_WRITE) = 9;
	assert_int_equal(sf_protect(space, BASE, PAGE, SF_PROT_READ), 0);
	assert_int_equal(*look(tlb, BASE, SF_READ), 9);
	assert_null(sf_tlb_lookup(tlb, BASE, SF_WRITE, &signal));
	assert_int_equal(signal.code, SEGV_ACCERR);
	assert_int_equal(sf_protect(space, BASE, PAGE, RW), 0);
	*look(tlb, BASE, SF_WRITE) = 10;

	/* So are pages that are shared from now on, and pages that are gone. */
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_int_equal(*look(tlb, BASE, SF_READ), 10);
	*look(tlb, BASE, SF_WRITE) = 11;
	assert_int_equal(*look(tlb, BASE, SF_READ), 11);
	assert_int_equal(get_byte(child, BASE), 10);
	sf_space_destroy(child);
	assert_int_equal(sf_unmap(space, BASE, PAGE), 0);
	assert_null(sf_tlb_lookup(tlb, BASE, SF_READ, &signal));
	assert_int_equal(signal.code, SEGV_MAPERR);

	/* The zero page gives way to one's own. */
	map_at(space, BASE, 1, RW, SF_MAP_PRIVATE);
	assert_int_equal(*look(tlb, BASE, SF_READ), 0);
	*look(tlb, BASE, SF_WRITE) = 12;
	assert_int_equal(*look(tlb, BASE, SF_READ), 12);

	/* A write to a page that is lazily free is seen. */
	assert_int_equal(sf_advise(space, BASE, PAGE, SF_ADVICE_FREE), 0);
	look(tlb, BASE, SF_READ);
	assert_false(system_pte(space, BASE) & PTE_DIRTY);
	*look(tlb, BASE, SF_WRITE) = 13;
	assert_true(system_pte(space, BASE) & PTE_DIRTY);

	/* Idle, it keeps what is still true. */
	sf_tlb_idle(tlb);
	sf_tlb_idle(tlb);
	assert_int_equal(*look(tlb, BASE, SF_READ), 13);
	sf_tlb_idle(tlb);
	put_byte(space, BASE + PAGE, 14);
	assert_int_equal(*look(tlb, BASE + PAGE, SF_READ), 14);
	sf_tlb_destroy(tlb);
	sf_tlb_destroy(NULL);
	sf_space_destroy(space);
}

static void what_is_found_is_true(void **state)
{
	(void)state;
	for_each_policy(FRAMES, finds_body);
}

static void several_body(struct sf_system *system)
{
	struct sf_space *space[2] = {fault_space(system), fault_space(system)};
	struct sf_tlb *tlb[3] = {NULL};

	for (int i = 0; i < 2; i++)
		map_at(space[i], BASE, 4, RW, SF_MAP_PRIVATE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sf_tlb_create(space[i / 2], &tlb[i]), 0);
	for (int i = 0; i < 3; i++)
		*look(tlb[i], BASE + i * PAGE, SF_WRITE) = (unsigned char)(i + 1);
	/* The thread's own do not make it wait. */
	sf_tlb_idle(tlb[1]);
	assert_int_equal(sf_unmap(space[0], BASE + 3 * PAGE, PAGE), 0);
	assert_int_equal(*look(tlb[1], BASE, SF_READ), 1);
	assert_int_equal(*look(tlb[0], BASE + PAGE, SF_READ), 2);
	sf_tlb_destroy(tlb[1]);
	assert_int_equal(sf_unmap(space[0], BASE, PAGE), 0);
	assert_null(sf_tlb_lookup(tlb[0], BASE, SF_READ, NULL));
	assert_int_equal(*look(tlb[2], BASE + 2 * PAGE, SF_READ), 3);
	sf_tlb_destroy(tlb[0]);
	sf_tlb_destroy(tlb[2]);
	sf_space_destroy(space[0]);
	sf_space_destroy(space[1]);
}

static void several_at_once(void **state)
{
	(void)state;
	for_each_policy(FRAMES, several_body);
}

/*
 * CPU 0 finds a byte and holds on to it; CPU 1 unmaps its page, maps another one there and fills all frames
 * with a pattern. While CPU 0 uses what it found, it must not see the pattern.
 */
struct stage {
	struct sf_system *system;
	struct sf_space *space;
	_Atomic unsigned step;
};

static void wait_for(struct stage *stage, unsigned step)
{
	while (atomic_load(&stage->step) < step)
		port_cpu_relax();
}

static void hold_and_unmap(unsigned cpu, void *argument)
{
	struct stage *stage = argument;

	if (cpu == 0) {
		struct sf_tlb *tlb = NULL;
		unsigned char *byte;

		assert_int_equal(sf_tlb_create(stage->space, &tlb), 0);
		*look(tlb, BASE, SF_WRITE) = 1;
		byte = look(tlb, BASE, SF_READ);
		atomic_store(&stage->step, 1);
		wait_for(stage, 2);
		for (int i = 0; i < 20000; i++) {
			assert_int_equal(*(volatile unsigned char *)byte, 1);
			assert_true(atomic_load(&stage->step) == 2);
			if (i % 100 == 0)
				port_cpu_relax();
		}
		/* Now it looks up again, and CPU 1 may go on: nothing is there yet, or what it wrote. */
		byte = sf_tlb_lookup(tlb, BASE, SF_READ, NULL);
		assert_true(!byte || *byte <= 1 || *byte == 0xee);
		sf_tlb_idle(tlb);
		wait_for(stage, 3);
		assert_int_equal(*look(tlb, BASE, SF_READ), 0xee);
		sf_tlb_destroy(tlb);
	} else if (cpu == 1) {
		wait_for(stage, 1);
		atomic_store(&stage->step, 2);
		assert_int_equal(sf_unmap(stage->space, BASE, PAGE), 0);
		map_at(stage->space, BASE, 512, RW, SF_MAP_PRIVATE);
		for (unsigned page = 0; page < 512; page++)
			put_byte(stage->space, BASE + page * PAGE, 0xee);
		atomic_store(&stage->step, 3);
	}
}

static void hold_body(struct sf_system *system)
{
	struct stage stage = {.system = system, .space = fault_space(system)};

	map_at(stage.space, BASE, 1, RW, SF_MAP_PRIVATE);
	assert_int_equal(host_run(hold_and_unmap, &stage), 0);
	sf_space_destroy(stage.space);
}

static void an_unmap_waits_for_who_holds_on(void **state)
{
	(void)state;
	for_each_policy(FRAMES, hold_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(what_is_found_is_true),
	    fault_test(several_at_once),
	    fault_test(an_unmap_waits_for_who_holds_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
