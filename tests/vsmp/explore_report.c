/* SPDX-License-Identifier: MIT */
/*
 * Reports: what they say of a failure, that they say it with as few context switches as the failure needs,
 * that a second one is the same, and that a replay that goes another way is told.
 */
#include "tests/vsmp/explore_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "port/memory.h"
#include "port/wait.h"
#include "vsmp/explore/record.h"

#define SEEDS 2000

struct counter {
	_Atomic uint32_t value;
	uint32_t plain;
	struct counter *next;
};

static struct state {
	struct counter counters[4];
	_Atomic uint32_t noise[2];
	struct counter *made;
} state;

/* --- A lost update: two switches, whatever else the CPUs do ----------------------------------------------
 */

static void make_noise(void)
{
	for (int i = 0; i < 20; i++)
		atomic_fetch_add(&state.noise[i & 1], 1);
}

static void add_in_two_steps(void)
{
	uint32_t value;

	make_noise();
	value = atomic_load_explicit(&state.counters[2].value, memory_order_relaxed);
	make_noise();
	atomic_store_explicit(&state.counters[2].value, value + 1, memory_order_release);
	make_noise();
}

static bool both_counted(struct message *why)
{
	uint32_t value = atomic_load(&state.counters[2].value);

	if (value != 2)
		message_set(why, -1, "counted %u, not 2", value);
	return value == 2;
}

static struct check lost_update = {
    .name = "lost-update", .body = {add_in_two_steps, add_in_two_steps}, .holds = both_counted};

static struct explore_outcome find(uint64_t *seed)
{
	struct explore_outcome outcome;

	for (*seed = 1; *seed <= SEEDS; ++*seed) {
		outcome = explore_run(*seed);
		if (outcome.kind != EXPLORE_NOTHING)
			return outcome;
	}
	fail_msg("none of %d schedules fails", SEEDS);
	return outcome;
}

static char *report(uint64_t seed, const struct explore_outcome *expected, unsigned columns,
		    enum explore_kind kind)
{
	struct explore_outcome outcome;
	char *text;

	assert_int_equal(explore_report(seed, expected, columns, &text, &outcome), 0);
	assert_int_equal(outcome.kind, kind);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("a \"%s\" in:\n%s", part, text);
}

/* The interleaving's rows. */
static void assert_widths(const char *text, size_t columns)
{
	text = strstr(text, "\n step");
	assert_non_null(text);
	for (text++; *text; text += strcspn(text, "\n") + 1)
		if (strcspn(text, "\n") > columns)
			fail_msg("wider than %zu: %.*s", columns, (int)strcspn(text, "\n"), text);
}

static void a_random_schedule_is_minimised(void **unused)
{
	struct explore_outcome outcome;
	uint64_t seed;
	char *text;

	(void)unused;
	fixture_open(&lost_update);
	outcome = find(&seed);
	assert_int_equal(outcome.kind, EXPLORE_CONDITION);
	text = report(seed, &outcome, 0, EXPLORE_CONDITION);
	assert_has(text, "condition: counted 1, not 2\n");
	assert_has(text, ", 2 context switches\n");
	assert_has(text, "load.rlx state.counters[2].value -> 0");
	assert_has(text, "store.rel state.counters[2].value = 1");
	assert_has(text, "explore_report.c:");
	assert_widths(text, 110);
	free(text);
	explore_close();
}

static void a_report_is_the_same_again(void **unused)
{
	struct explore_outcome outcome;
	char *first, *second;
	uint64_t seed;

	(void)unused;
	fixture_open_as(&lost_update, EXPLORE_PCT, 3);
	outcome = find(&seed);
	first = report(seed, &outcome, 90, EXPLORE_CONDITION);
	explore_run(seed + 1);
	second = report(seed, &outcome, 90, EXPLORE_CONDITION);
	assert_string_equal(first, second);
	free(second);
	/* And after a report the schedules are what they were before. */
	assert_int_equal(explore_run(seed).fingerprint, outcome.fingerprint);
	explore_close();

	fixture_open_as(&lost_update, EXPLORE_PCT, 3);
	second = report(seed, NULL, 90, EXPLORE_CONDITION);
	assert_string_equal(first, second);
	free(first);
	free(second);
	explore_close();
}

static void another_way_is_told(void **unused)
{
	struct explore_outcome outcome;
	uint64_t seed;
	char *text;

	(void)unused;
	fixture_open(&lost_update);
	outcome = find(&seed);
	outcome.fingerprint++;
	text = report(seed, &outcome, 0, EXPLORE_REPLAY);
	assert_has(text, "replay: ");
	free(text);
	outcome.fingerprint--;
	outcome.kind = EXPLORE_LEAK;
	free(report(seed, &outcome, 0, EXPLORE_REPLAY));
	explore_close();
}

static void no_failure_is_told(void **unused)
{
	char *text;

	(void)unused;
	/* Without a preemption. */
	fixture_open_as(&lost_update, EXPLORE_PCT, 1);
	text = report(1, NULL, 0, EXPLORE_NOTHING);
	assert_has(text, "no failure in ");
	free(text);
	explore_close();
}

static void narrow_ones_are_a_list(void **unused)
{
	struct explore_outcome outcome;
	uint64_t seed;
	char *text;

	(void)unused;
	fixture_open(&lost_update);
	outcome = find(&seed);
	text = report(seed, &outcome, 70, EXPLORE_CONDITION);
	assert_has(text, "CPU 0    load.rlx state.counters[2].value");
	assert_has(text, "CPU 1    load.rlx state.counters[2].value");
	assert_has_not(text, " | ");
	assert_widths(text, 70);
	free(text);
	text = report(seed, &outcome, 1, EXPLORE_CONDITION);
	assert_widths(text, 60);
	free(text);
	explore_close();
}

/* --- Both sides, and what they touch -----------------------------------------------------------------------
 */

static int make_counter(struct message *why)
{
	state.made = port_memory_alloc(sizeof(*state.made), PORT_NODE_FIRST_TOUCH, "struct counter");
	return state.made ? 0 : message_set(why, -1, "no memory");
}

static void free_counter(void)
{
	port_memory_free(state.made, sizeof(*state.made));
	atomic_store_explicit(&state.noise[0], 1, memory_order_relaxed);
}

static void use_counter(void)
{
	if (atomic_load_explicit(&state.noise[0], memory_order_relaxed))
		atomic_fetch_add(&state.made->value, 1);
}

static struct check use_after_free = {
    .name = "use-after-free", .setup = make_counter, .body = {free_counter, use_counter}};

static void both_stacks_are_there(void **unused)
{
	struct explore_outcome outcome;
	uint64_t seed;
	char *text;

	(void)unused;
	fixture_open(&use_after_free);
	outcome = find(&seed);
	text = report(seed, &outcome, 0, outcome.kind);
	assert_int_equal(outcome.kind, EXPLORE_USE_AFTER_FREE);
	assert_has(text, "  at counter.value\n");
	assert_has(text, "\n  CPU 1:\n    use_counter  ");
	assert_has(text, "\n  freed before, CPU 0:\n    free_counter  ");
	assert_has(text, "free counter");
	assert_has(text, "^ FAILS HERE");
	free(text);
	explore_close();
}

static void sleep_for_ever(void)
{
	port_wait(&state.noise[1], 0);
}

static struct check deadlock = {.name = "deadlock", .body = {sleep_for_ever, make_noise, sleep_for_ever}};

static void every_cpu_that_waits_is_there(void **unused)
{
	struct explore_outcome outcome;
	uint64_t seed;
	char *text;

	(void)unused;
	fixture_open(&deadlock);
	outcome = find(&seed);
	text = report(seed, &outcome, 0, outcome.kind);
	assert_has(text, " waits to be woken (sleeping):\n    sleep_for_ever  ");
	free(text);
	explore_close();
}

static void nothing_is_kept(void **unused)
{
	(void)unused;
	assert_int_equal(record_level, RECORD_NOTHING);
	assert_null(record.events);
	assert_null(record.segments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_random_schedule_is_minimised),
	    cmocka_unit_test(a_report_is_the_same_again),
	    cmocka_unit_test(another_way_is_told),
	    cmocka_unit_test(no_failure_is_told),
	    cmocka_unit_test(narrow_ones_are_a_list),
	    cmocka_unit_test(both_stacks_are_there),
	    cmocka_unit_test(every_cpu_that_waits_is_there),
	    cmocka_unit_test(nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
