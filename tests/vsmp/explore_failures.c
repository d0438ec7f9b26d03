/* SPDX-License-Identifier: MIT */
/*
 * Each kind of failure is found by a check that is made to have it, in some seeds or in all; and whatever a
 * schedule came to, the next one begins from the state that setup made.
 */
#include <errno.h>

#include "tests/vsmp/explore_fixture.h"
#include "tests/vsmp/fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "port/cpu.h"
#include "port/memory.h"
#include "port/mmu.h"
#include "port/page.h"
#include "port/panic.h"
#include "port/rcu.h"
#include "port/spin.h"
#include "port/wait.h"
#include "vsmp/explore/record.h"

/* Not in the machine's tables by name: all that a check may write. */
static struct state {
	_Alignas(64) _Atomic uint32_t word, other_word;
	_Atomic uint32_t locks[2];
	uint32_t plain;
	_Alignas(64) unsigned char odd[777];
	unsigned char *memory, *doomed, *nothing;
} state;

#define MEMORY_BYTES 10000
#define DOOMED_BYTES 200

static int setup(struct message *why)
{
	(void)why;
	state.memory = port_memory_alloc(MEMORY_BYTES, 0, NULL);
	state.doomed = port_memory_alloc(DOOMED_BYTES, 0, "struct doomed");
	memset(state.memory, 0x5a, MEMORY_BYTES);
	memset(state.doomed, 0xa5, DOOMED_BYTES);
	memset(state.odd, 0x77, sizeof(state.odd));
	return 0;
}

static void teardown(void)
{
	port_memory_free(state.memory, MEMORY_BYTES);
	port_memory_free(state.doomed, DOOMED_BYTES);
}

/* Leaves marks everywhere, in sizes that do not fit. */
static void scribble(void)
{
	unsigned char *new = port_memory_alloc(5000, 0, NULL);

	memset(state.memory + 3 + 1000 * port_cpu(), (int)port_cpu(), 777);
	memset(state.odd + 5 + 200 * port_cpu(), 1, 99);
	memset(new, 1, 5000);
	port_memory_free(new, 5000);
	atomic_fetch_add(&state.word, 0);
}

/* --- The faults ----------------------------------------------------------------------------------------- */

static void race(void)
{
	scribble();
	state.plain++;
}

static void take(_Atomic uint32_t *lock)
{
	uint32_t expected = 0;

	while (!atomic_compare_exchange_strong(lock, &expected, 1)) {
		expected = 0;
		port_spin_until_u32(lock, ~0u, 0);
	}
}

static void take_crosswise(void)
{
	scribble();
	take(&state.locks[port_cpu()]);
	take(&state.locks[!port_cpu()]);
	atomic_store(&state.locks[!port_cpu()], 0);
	atomic_store(&state.locks[port_cpu()], 0);
}

/* Sleeps without looking again under a lock: the wake-up may come between the look and the sleep. */
static void sleep_late(void)
{
	scribble();
	if (!atomic_load(&state.word))
		while (!atomic_load(&state.other_word))
			port_wait(&state.word, 0);
}

static void wake_too_soon(void)
{
	port_wake(&state.word, 1);
	atomic_store(&state.other_word, 1);
	atomic_store(&state.word, 1);
}

static void sleep_for_ever(void)
{
	scribble();
	port_wait(&state.word, 0);
}

static void relax_for_ever(void)
{
	scribble();
	while (!atomic_load(&state.word))
		port_cpu_relax();
}

/* Each waits for the other to leave, and moves while it waits: nobody stands still. */
static void after_you(void)
{
	scribble();
	while (atomic_fetch_add(&state.word, 2) != 1)
		port_cpu_relax();
}

static void use_freed(void)
{
	scribble();
	if (port_cpu()) {
		port_memory_free(state.doomed, DOOMED_BYTES);
		atomic_store(&state.word, 1);
	} else {
		port_spin_until_u32(&state.word, ~0u, 1);
		state.doomed[100] = 1;
	}
}

static void free_twice(void)
{
	scribble();
	port_memory_free(state.doomed, DOOMED_BYTES);
	atomic_fetch_add(&state.word, 1);
}

static void run_over(void)
{
	scribble();
	state.memory[MEMORY_BYTES + 4096 * port_cpu()] = 1;
}

static void follow_nothing(void)
{
	scribble();
	state.nothing[8] = 1;
}

static void assert_wrong(void)
{
	scribble();
	check_that(atomic_fetch_add(&state.word, 1) == 0);
}

static void break_invariant(void)
{
	scribble();
	invariant(atomic_fetch_add(&state.word, 1) == 0);
}

static void disagree(void)
{
	scribble();
	check_equal(atomic_fetch_add(&state.word, 1), 0);
}

static void lose_count(void)
{
	scribble();
	atomic_store(&state.word, atomic_load(&state.word) + 1);
}

static bool counted(struct message *why)
{
	state.odd[0] = 9;
	if (state.word == 2)
		return true;
	message_set(why, 0, "counted %u of 2", state.word);
	return false;
}

static void forget(void)
{
	scribble();
	if (atomic_fetch_add(&state.word, 1) == 0)
		port_memory_alloc(128, 0, "struct forgotten");
}

static void sleep_as_reader(void)
{
	scribble();
	port_rcu_read_lock();
	port_wait(&state.word, 0);
	port_rcu_read_unlock();
}

static void synchronize_as_reader(void)
{
	scribble();
	port_rcu_read_lock();
	port_rcu_synchronize();
	port_rcu_read_unlock();
}

static void stop_reading_twice(void)
{
	scribble();
	port_rcu_read_lock();
	port_rcu_read_unlock();
	port_rcu_read_unlock();
}

static void read_for_ever(void)
{
	scribble();
	port_rcu_read_lock();
}

static void use_freed_in_teardown(void)
{
	teardown();
	state.memory[1] = 1;
}

static bool fail_in_holds(struct message *why)
{
	(void)why;
	check_that(!state.memory);
	return true;
}

static bool wait_in_holds(struct message *why)
{
	(void)why;
	port_spin_until_u32(&state.word, ~0u, 77);
	return true;
}

struct fault {
	const char *name;
	void (*body[2])(void);
	bool (*holds)(struct message *why);
	void (*teardown)(void);
	enum explore_kind kind;
	bool always;      /* in each schedule; otherwise in some, and not in others */
	const char *text; /* a part of the message */
};

static const struct fault faults[] = {
    {"race", {race, race}, NULL, NULL, EXPLORE_DATA_RACE, true, "write"},
    {"deadlock", {take_crosswise, take_crosswise}, NULL, NULL, EXPLORE_DEADLOCK, false, "2 of 2 CPUs wait"},
    {"lost wake-up", {sleep_late, wake_too_soon}, NULL, NULL, EXPLORE_LOST_WAKEUP, false, "CPU 0 sleeps"},
    {"asleep", {sleep_for_ever, scribble}, NULL, NULL, EXPLORE_DEADLOCK, true, "1 of 2 CPUs wait"},
    {"relax", {relax_for_ever, scribble}, NULL, NULL, EXPLORE_LIVELOCK, true, "no end after"},
    {"livelock", {after_you, after_you}, NULL, NULL, EXPLORE_LIVELOCK, true, "no end after"},
    {"use after free", {use_freed, use_freed}, NULL, NULL, EXPLORE_USE_AFTER_FREE, true, "byte 100"},
    {"double free", {free_twice, scribble}, NULL, teardown, EXPLORE_USE_AFTER_FREE, true, ""},
    {"overrun", {run_over, scribble}, NULL, NULL, EXPLORE_WILD_ACCESS, true, "never allocated"},
    {"NULL",
     {follow_nothing, scribble},
     NULL,
     NULL,
     EXPLORE_WILD_ACCESS,
     true,
     "no memory is at address 0x8"},
    {"check_that", {assert_wrong, assert_wrong}, NULL, NULL, EXPLORE_ASSERTION, true, "explore_failures.c:"},
    {"invariant",
     {break_invariant, break_invariant},
     NULL,
     NULL,
     EXPLORE_ASSERTION,
     true,
     "explore_failures.c:"},
    {"check_equal", {disagree, disagree}, NULL, NULL, EXPLORE_MODEL, true, "is 1 (0x1), the model says 0"},
    {"condition", {lose_count, lose_count}, counted, NULL, EXPLORE_CONDITION, false, "counted 1 of 2"},
    {"leak", {forget, forget}, NULL, NULL, EXPLORE_LEAK, true, "128 bytes for struct forgotten"},
    {"sleeping reader",
     {sleep_as_reader, scribble},
     NULL,
     NULL,
     EXPLORE_RCU_READER,
     true,
     "sleeps in a read"},
    {"waiting reader",
     {synchronize_as_reader, scribble},
     NULL,
     NULL,
     EXPLORE_RCU_READER,
     true,
     "grace period"},
    {"unpaired", {stop_reading_twice, scribble}, NULL, NULL, EXPLORE_RCU_READER, true, "is in none"},
    {"open section", {scribble, read_for_ever}, NULL, NULL, EXPLORE_RCU_READER, true, "CPU 1 has returned"},
    {"teardown", {scribble, scribble}, NULL, use_freed_in_teardown, EXPLORE_USE_AFTER_FREE, true, "byte 1 "},
    {"holds", {scribble, scribble}, fail_in_holds, NULL, EXPLORE_ASSERTION, true, "!state.memory"},
    {"alone", {scribble, scribble}, wait_in_holds, NULL, EXPLORE_DEADLOCK, true, "no other CPU runs"},
};

#define SEEDS 200

static struct check check_of(const struct fault *fault)
{
	return (struct check){.name = fault->name,
			      .setup = setup,
			      .body = {fault->body[0], fault->body[1]},
			      .holds = fault->holds ? fault->holds : fixture_true,
			      .teardown = fault->teardown ? fault->teardown : teardown};
}

struct before {
	struct state state;
	unsigned char memory[MEMORY_BYTES], doomed[DOOMED_BYTES];
};

static void remember(struct before *before)
{
	memcpy(&before->state, &state, sizeof(state));
	memcpy(before->memory, state.memory, MEMORY_BYTES);
	memcpy(before->doomed, state.doomed, DOOMED_BYTES);
}

static void assert_back(const struct before *before)
{
	assert_memory_equal(&before->state, &state, sizeof(state));
	assert_memory_equal(before->memory, state.memory, MEMORY_BYTES);
	assert_memory_equal(before->doomed, state.doomed, DOOMED_BYTES);
}

static void find(const struct fault *fault, enum explore_strategy strategy)
{
	static struct before before;
	struct check check = check_of(fault);
	unsigned found = 0;

	fixture_open_as(&check, strategy, 2);
	remember(&before);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct explore_outcome outcome = explore_run(seed), again;

		if (outcome.kind != EXPLORE_NOTHING) {
			found++;
			if (outcome.kind != fault->kind || record.failure.kind != fault->kind ||
			    !strstr(record.failure.text, fault->text))
				fail_msg("%s: %s: %s", fault->name, explore_kind_name(outcome.kind),
					 record.failure.text);
		}
		assert_back(&before);
		again = explore_run(seed);
		assert_int_equal(again.kind, outcome.kind);
		assert_int_equal(again.fingerprint, outcome.fingerprint);
		assert_back(&before);
	}
	if (!found || (fault->always && found < SEEDS) || (!fault->always && found == SEEDS))
		fail_msg("%s: found in %u of %u schedules", fault->name, found, SEEDS);
	explore_close();
}

static void test_each_fault_is_found(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		find(&faults[i], EXPLORE_RANDOM);
		find(&faults[i], EXPLORE_PCT);
	}
}

/* What a forced schedule comes to is what it came to when it was free. */
static void test_forced_failure_is_the_same(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct check check = check_of(&faults[i]);

		fixture_open_as(&check, EXPLORE_RANDOM, 0);
		record_level = RECORD_STEPS;
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct explore_outcome outcome = explore_run(seed), forced;
			size_t count = record.segment_count;
			struct explore_segment *segments = calloc(count, sizeof(*segments));

			memcpy(segments, record.segments, count * sizeof(*segments));
			forced = explore_run_forced(segments, count);
			assert_int_equal(forced.kind, outcome.kind);
			assert_int_equal(forced.fingerprint, outcome.fingerprint);
			free(segments);
		}
		record_close();
		explore_close();
	}
}

static void test_inverted_condition_fails(void **unused)
{
	struct check check =
	    check_of(&(struct fault){"right", {scribble, scribble}, .kind = EXPLORE_NOTHING});
	struct explore_config config = {.check = &check, .invert = true};
	struct message why = {""};

	(void)unused;
	assert_int_equal(explore_open(&config, &why), 0);
	assert_int_equal(explore_run(1).kind, EXPLORE_CONDITION);
	explore_close();
	fixture_open_as(&check, EXPLORE_RANDOM, 0);
	for (uint64_t seed = 1; seed <= 100; seed++)
		assert_int_equal(explore_run(seed).kind, EXPLORE_NOTHING);
	explore_close();
}

/* --- One schedule of what runs by itself ---------------------------------------------------------------- */

static void set_up_alone(void *unused)
{
	(void)unused;
	state.plain = 0;
}

static void run_race(unsigned cpu, void *unused)
{
	(void)cpu;
	(void)unused;
	vsmp_barrier();
	vsmp_measure_begin();
	vsmp_count_operations(1);
	atomic_fetch_add(&state.word, 1);
	vsmp_measure_end();
	while (vsmp_measure_active())
		atomic_fetch_add(&state.word, 1);
	atomic_fetch_add(&state.word, 1);
	state.plain++;
}

static void run_well(unsigned cpu, void *unused)
{
	(void)cpu;
	(void)unused;
	vsmp_barrier();
	atomic_fetch_add(&state.word, 1);
}

static void test_schedule_of_a_run(void **unused)
{
	struct message why = {""};
	struct explore_outcome first, second;

	(void)unused;
	explore_schedule_begin(EXPLORE_PCT, 3, 20, 5);
	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_setup(set_up_alone, NULL, &why), 0);
	assert_int_equal(vsmp_run(run_well, NULL, 100, &why), 0);
	vsmp_destroy();
	first = explore_schedule_end(NULL);
	assert_int_equal(first.kind, EXPLORE_NOTHING);
	assert_in_range(first.steps, 12, 20);

	for (int again = 0; again < 2; again++) {
		explore_schedule_begin(EXPLORE_RANDOM, 1, 20, 9);
		fixture_create(1, 4, 1, 4, 1);
		assert_int_equal(vsmp_run(run_race, NULL, 100, &why), -EFAULT);
		assert_memory_equal(why.text, "data race: ", 11);
		assert_int_equal(vsmp_run(run_well, NULL, 100, &why), -EDEADLK);
		vsmp_destroy();
		second = explore_schedule_end(NULL);
		assert_int_equal(second.kind, EXPLORE_DATA_RACE);
		if (again)
			assert_int_equal(second.fingerprint, first.fingerprint);
		first = second;
	}

	explore_schedule_begin(EXPLORE_RANDOM, 1, 20, 9);
	fixture_shape(1, 16, 1);
	assert_int_equal(vsmp_create(&(struct vsmp_config){.machine = &fixture_machine, .cpus = 16}, &why),
			 -EINVAL);
	assert_string_equal(why.text, "a machine that explores has at most 8 CPUs, not 16");
	/* What nobody has seen while it ran is what the run says of itself. */
	assert_int_equal(explore_schedule_end(why.text).kind, EXPLORE_CONDITION);
	/* And then the machine counts cycles again. */
	fixture_create(1, 4, 1, 4, 1);
	assert_int_equal(vsmp_run(run_race, NULL, 0, &why), 0);
	assert_true(vsmp_window_cycles(1) > 0);
	vsmp_destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_fault_is_found),
	    cmocka_unit_test(test_forced_failure_is_the_same),
	    cmocka_unit_test(test_inverted_condition_fails),
	    cmocka_unit_test(test_schedule_of_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
