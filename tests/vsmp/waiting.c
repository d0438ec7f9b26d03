/* SPDX-License-Identifier: MIT */
/*
 * Waiting: spinning on one line and on several, sleeping and waking, grace periods; and what happens when
 * nobody comes: a deadlock is found and told with every CPU's stack.
 */
#include <errno.h>

#include "tests/vsmp/fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "port/cpu.h"
#include "port/memory.h"
#include "port/rcu.h"
#include "port/spin.h"
#include "port/wait.h"

static _Alignas(64) _Atomic uint32_t word;
static _Alignas(64) _Atomic uint32_t other_word;
static _Alignas(64) _Atomic uint64_t wide;
static _Alignas(64) _Atomic uint32_t locks[2][16];

/* Each on a line of its own. */
static _Alignas(64) volatile uint64_t seen_at[2][8];

/* --- Spinning ------------------------------------------------------------------------------------------- */

static void spin_for_each_width(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 0) {
		for (uint32_t i = 1; i <= 100; i++) {
			port_spin_until_u32(&other_word, 0xffff, i);
			atomic_store(&wide, (uint64_t)i << 40 | 5);
		}
	} else {
		for (uint32_t i = 1; i <= 100; i++) {
			atomic_store(&other_word, 7u << 16 | i);
			assert_int_equal(port_spin_until_u64(&wide, ~0ull << 40, (uint64_t)i << 40) & 0xff,
					 5);
		}
	}
}

static void test_spinning(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		wide = 0;
		other_word = 0;
		fixture_create(2, 1, 1, 2, seed);
		assert_int_equal(vsmp_run(spin_for_each_width, NULL, 1000, NULL), 0);
		vsmp_destroy();
	}
}

/* Everybody waits for its turn on one line; siblings and sockets alike must be woken by each write. */
static void pass_the_token(unsigned cpu, void *argument)
{
	unsigned turns = *(unsigned *)argument;
	unsigned count = port_cpu_count();

	for (uint32_t i = 0; i < turns; i++) {
		port_spin_until_u32(&word, ~0u, i * count + cpu);
		atomic_store(&word, i * count + cpu + 1);
	}
}

static void test_token(void **state)
{
	unsigned turns = 20;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		word = 0;
		fixture_create(4, 4, 2, 32, seed);
		assert_int_equal(vsmp_run(pass_the_token, &turns, 1000, NULL), 0);
		vsmp_destroy();
		assert_int_equal(word, turns * 32);
	}
	word = 0;
	turns = 1;
	fixture_create(64, 16, 1, 1024, 1);
	assert_int_equal(vsmp_run(pass_the_token, &turns, 1000, NULL), 0);
	vsmp_destroy();
	assert_int_equal(word, 1024);
}

/* A loop that reads two lines must be woken by a write to either. */
static void relax_on_two_lines(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 0) {
		for (uint32_t i = 1; i <= 50; i++) {
			while (atomic_load(&word) < i && atomic_load(&other_word) < i)
				port_cpu_relax();
			atomic_store(&wide, i);
		}
	} else {
		for (uint32_t i = 1; i <= 50; i++) {
			atomic_store(i % 2 ? &word : &other_word, i);
			port_spin_until_u64(&wide, ~0ull, i);
		}
	}
}

static void test_relax_on_two_lines(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		word = 0;
		other_word = 0;
		wide = 0;
		fixture_create(2, 2, 1, 2, seed);
		assert_int_equal(vsmp_run(relax_on_two_lines, NULL, 1000, NULL), 0);
		vsmp_destroy();
	}
}

/* A turn of a loop has read memory that is then freed: nothing will ever be written there, and it goes on. */
static void relax_on_what_is_freed(unsigned cpu, void *argument)
{
	static _Atomic uint32_t *memory;

	(void)argument;
	if (cpu == 0) {
		memory = port_memory_alloc(64, 0, NULL);
		atomic_store(&word, 1);
		port_spin_until_u32(&word, ~0u, 2);
		port_rcu_synchronize();
		port_memory_free(memory, 64);
		atomic_store(&other_word, 1);
		return;
	}
	port_spin_until_u32(&word, ~0u, 1);
	for (bool first = true; !atomic_load(&other_word); first = false) {
		if (first) {
			port_rcu_read_lock();
			atomic_store(&word, 2 + atomic_load(memory));
			port_rcu_read_unlock();
		}
		port_cpu_relax();
	}
}

static void test_relax_on_what_is_freed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		word = other_word = 0;
		fixture_create(2, 1, 1, 2, seed);
		assert_int_equal(vsmp_run(relax_on_what_is_freed, NULL, 1000, NULL), 0);
		vsmp_destroy();
	}
}

/* Loops that try to take a word by compare-and-swap, as simple spinlocks do. */
static uint64_t counter;

static void try_locks(unsigned cpu, void *argument)
{
	(void)cpu;
	(void)argument;
	for (unsigned i = 0; i < 30; i++) {
		uint32_t expected = 0;

		while (!atomic_compare_exchange_strong(&word, &expected, 1)) {
			expected = 0;
			port_cpu_relax();
		}
		counter++;
		atomic_store(&word, 0);
	}
}

static void test_compare_and_swap_loops(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		word = 0;
		counter = 0;
		fixture_create(4, 4, 1, 16, seed);
		assert_int_equal(vsmp_run(try_locks, NULL, 1000, NULL), 0);
		vsmp_destroy();
		assert_int_equal(counter, 16 * 30);
	}
}

/* --- Sleeping ------------------------------------------------------------------------------------------- */

static void sleep_and_wake(unsigned cpu, void *argument)
{
	(void)argument;
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t turn = i * port_cpu_count() + cpu, now;

		while ((now = atomic_load(&word)) != turn)
			port_wait(&word, now);
		atomic_store(&word, turn + 1);
		port_wake(&word, ~0u);
	}
}

static void test_sleeping(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		word = 0;
		fixture_create(2, 4, 1, 8, seed);
		assert_int_equal(vsmp_run(sleep_and_wake, NULL, 5000, NULL), 0);
		vsmp_destroy();
		assert_int_equal(word, 8 * 40);
	}
}

/* --- Grace periods -------------------------------------------------------------------------------------- */

struct guarded {
	struct port_rcu_head head;
	_Atomic uint32_t freed;
};

static struct guarded guarded[2];
static struct guarded *_Atomic published;
static unsigned callbacks;

static void free_guarded(struct port_rcu_head *head)
{
	callbacks++;
	atomic_store(&((struct guarded *)head)->freed, 1);
}

/* CPU 0 replaces the object again and again; the others must never see it freed inside a read section. */
static void read_and_replace(unsigned cpu, void *argument)
{
	struct random random = {.state = cpu + *(uint64_t *)argument};

	for (unsigned i = 0; i < 60; i++) {
		if (cpu == 0) {
			struct guarded *old = atomic_load(&published);
			struct guarded *new = old == &guarded[0] ? &guarded[1] : &guarded[0];

			new->freed = 0;
			atomic_store(&published, new);
			if (i % 2) {
				port_rcu_synchronize();
				atomic_store(&old->freed, 1);
			} else {
				port_rcu_call(&old->head, free_guarded);
				port_rcu_barrier();
				assert_int_equal(old->freed, 1);
			}
		} else {
			struct guarded *mine;

			port_rcu_read_lock();
			assert_true(port_rcu_read_held());
			mine = atomic_load(&published);
			for (uint64_t turns = random_below(&random, 200); turns; turns--)
				assert_int_equal(atomic_load(&mine->freed), 0);
			port_rcu_read_unlock();
		}
	}
}

static void test_grace_periods(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		guarded[0].freed = 0;
		published = &guarded[0];
		callbacks = 0;
		fixture_create(2, 4, 1, 8, seed);
		assert_int_equal(vsmp_run(read_and_replace, &seed, 5000, NULL), 0);
		vsmp_destroy();
		assert_int_equal(callbacks, 30);
	}
}

static void wait_for_reader(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 0) {
		seen_at[0][0] = 1; /* the line is here from now on, and the last store a hit */
		port_rcu_read_lock();
		atomic_store(&word, 1);
		for (unsigned i = 0; i < 1000; i++)
			atomic_fetch_add(&other_word, 1);
		seen_at[0][0] = vsmp_now_cycles();
		port_rcu_read_unlock();
	} else {
		port_spin_until_u32(&word, ~0u, 1);
		port_rcu_synchronize();
		seen_at[1][0] = vsmp_now_cycles();
	}
}

static void test_grace_period_takes_its_time(void **state)
{
	(void)state;
	word = 0;
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(vsmp_run(wait_for_reader, NULL, 0, NULL), 0);
	vsmp_destroy();
	/* a hit lies between the reader's look at its clock and its exit */
	assert_int_equal(seen_at[1][0], seen_at[0][0] + 4 + 10000);
}

/* --- Deadlocks ------------------------------------------------------------------------------------------ */

static __attribute__((noinline)) void take_second(_Atomic uint32_t *lock)
{
	uint32_t expected = 0;

	while (!atomic_compare_exchange_strong(lock, &expected, 1)) {
		expected = 0;
		port_spin_until_u32(lock, ~0u, 0);
	}
}

static void take_crosswise(unsigned cpu, void *argument)
{
	(void)argument;
	take_second(&locks[cpu][0]);
	/* Long enough for the other to have taken its own. */
	for (unsigned i = 0; i < 1000; i++)
		atomic_fetch_add(&wide, 1);
	take_second(&locks[!cpu][0]);
}

static void test_deadlock(void **state)
{
	struct message why = {""};

	(void)state;
	memset(locks, 0, sizeof(locks));
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(vsmp_run(take_crosswise, NULL, 0, &why), -EDEADLK);
	assert_string_equal(why.text, "deadlock: 2 of 2 CPUs wait, and no CPU can run");
	assert_non_null(strstr(vsmp_deadlock_report(), "CPU 0 waits for a word to change (spinning)"));
	assert_non_null(strstr(vsmp_deadlock_report(), "CPU 1 waits for a word to change (spinning)"));
	assert_non_null(strstr(vsmp_deadlock_report(), "take_second"));
	assert_non_null(strstr(vsmp_deadlock_report(), "take_crosswise"));
	assert_int_equal(vsmp_run(take_crosswise, NULL, 0, &why), -EDEADLK);
	vsmp_destroy();
	assert_null(vsmp_deadlock_report());
}

/* The sleeper looks, then falls asleep; a waker that wakes before it writes comes too early for good. */
static void lose_a_wake_up(unsigned cpu, void *argument)
{
	(void)argument;
	if (cpu == 0) {
		while (!atomic_load(&word))
			port_wait(&word, 0);
	} else {
		port_wake(&word, 1);
		for (unsigned i = 0; i < 1000; i++)
			atomic_fetch_add(&wide, 1);
		/* the write that the wake-up should have followed never comes */
	}
}

static void test_lost_wake_up(void **state)
{
	struct message why = {""};

	(void)state;
	word = 0;
	fixture_create(1, 2, 1, 2, 1);
	assert_int_equal(vsmp_run(lose_a_wake_up, NULL, 0, &why), -EDEADLK);
	assert_string_equal(why.text, "deadlock: 1 of 2 CPUs wait, and no CPU can run");
	assert_non_null(strstr(vsmp_deadlock_report(), "CPU 0 waits to be woken (sleeping)"));
	assert_non_null(strstr(vsmp_deadlock_report(), "lose_a_wake_up"));
	vsmp_destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_spinning),
	    cmocka_unit_test(test_token),
	    cmocka_unit_test(test_relax_on_two_lines),
	    cmocka_unit_test(test_relax_on_what_is_freed),
	    cmocka_unit_test(test_compare_and_swap_loops),
	    cmocka_unit_test(test_sleeping),
	    cmocka_unit_test(test_grace_periods),
	    cmocka_unit_test(test_grace_period_takes_its_time),
	    cmocka_unit_test(test_deadlock),
	    cmocka_unit_test(test_lost_wake_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
