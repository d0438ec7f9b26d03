/* SPDX-License-Identifier: MIT */
/*
 * Lock statistics, from made-up events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "port/trace.h"
#include "sync/ticket.h"
#include "vsmp/observe/observe.h"

#define CPUS 6

/* Nobody calls these; their addresses are what an entry tells. */
#define FUNCTION(name)                                         \
	static __attribute__((noinline, used)) int name(int x) \
	{                                                      \
		return x * __LINE__ + (int)sizeof(#name);      \
	}
FUNCTION(asks_first)
FUNCTION(asks_second)
FUNCTION(asks_third)

static int (*const asker[])(int) = {asks_first, asks_second, asks_third};
static const char *const asker_name[] = {"asks_first", "asks_second", "asks_third"};

static char locks[8];

static void enter(unsigned cpu, const void *function)
{
	observe_enter(cpu, function, 0, false);
}

static const struct vsmp_lock_row *find_row(const struct vsmp_report *report, const char *name, int shared)
{
	for (size_t i = 0; i < report->lock_count; i++)
		if (!strcmp(report->locks[i].name, name) && report->locks[i].shared == shared)
			return &report->locks[i];
	return NULL;
}

/* cpu 0: takes at 10, holds to 50; cpu 1: waits from 20 to 60, holds to 90. */
static void test_columns(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_lock_row *row;
	char same_name[] = "zone_lock";

	(void)state;
	assert_int_equal(observe_open(2, false, true, false, false), 0);
	enter(1, (const void *)(uintptr_t)asks_first);
	observe_lock_acquired(0, &locks[0], "zone_lock", false, 10, true, true);
	observe_lock_contended(1, &locks[0], same_name, false, 20);
	observe_lock_contended(1, &locks[0], same_name, false, 25);
	observe_lock_released(0, &locks[0], "zone_lock", false, 50, true);
	observe_lock_acquired(1, &locks[0], same_name, false, 60, true, true);
	observe_lock_released(1, &locks[0], same_name, false, 90, true);
	observe_lock_acquired(1, &locks[1], "zone_lock", true, 91, false, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.lock_count, 2);
	row = &report.locks[0];
	assert_string_equal(row->name, "zone_lock");
	assert_int_equal(row->shared, 0);
	assert_int_equal(row->acquisitions, 2);
	assert_int_equal(row->acquisition_bounces, 2);
	assert_int_equal(row->contentions, 1);
	assert_int_equal(row->contended_bounces, 1);
	assert_int_equal(row->wait_min_cycles, 40);
	assert_int_equal(row->wait_max_cycles, 40);
	assert_int_equal(row->wait_total_cycles, 40);
	assert_int_equal(row->hold_min_cycles, 30);
	assert_int_equal(row->hold_max_cycles, 40);
	assert_int_equal(row->hold_total_cycles, 70);
	assert_int_equal(row->site_count, 1);
	assert_string_equal(row->sites[0].symbol, "asks_first");
	assert_int_equal(row->sites[0].contentions, 1);
	row = &report.locks[1];
	assert_int_equal(row->shared, 1);
	assert_int_equal(row->acquisitions, 1);
	assert_int_equal(row->wait_min_cycles + row->wait_max_cycles + row->hold_min_cycles, 0);
	observe_report_free(&report);
	observe_close();
}

/* The site is who asked: the lock's own functions and the machine's beneath them do not count. */
static void test_sites(void **state)
{
	void (*volatile lock)(struct ticket *) = ticket_lock;
	void (*volatile trace)(const void *, const char *, int) = port_lock_contended;
	struct vsmp_report report = {0};

	(void)state;
	assert_int_equal(observe_open(1, false, true, false, false), 0);
	enter(0, (const void *)(uintptr_t)asks_third);
	enter(0, (const void *)(uintptr_t)asks_second);
	enter(0, (const void *)(uintptr_t)lock);
	enter(0, (const void *)(uintptr_t)trace);
	observe_lock_contended(0, &locks[0], "a", false, 0);
	observe_lock_acquired(0, &locks[0], "a", false, 5, false, true);
	observe_reset_stack(0);
	/* All of the stack belongs to the lock: then it is the innermost function. */
	enter(0, (const void *)(uintptr_t)lock);
	observe_lock_contended(0, &locks[1], "b", false, 0);
	observe_lock_acquired(0, &locks[1], "b", false, 4, false, true);
	observe_reset_stack(0);
	observe_lock_contended(0, &locks[2], "c", false, 0);
	observe_lock_acquired(0, &locks[2], "c", false, 3, false, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.lock_count, 3);
	assert_string_equal(report.locks[0].sites[0].symbol, "asks_second");
	assert_string_equal(report.locks[1].sites[0].symbol, "ticket_lock");
	assert_string_equal(report.locks[2].sites[0].symbol, "[no function]");
	observe_report_free(&report);
	observe_close();
}

/* Of a wait that was under way when the window began, the rest counts; of such a hold, nothing. */
static void test_windows(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_lock_row *row;

	(void)state;
	assert_int_equal(observe_open(1, false, true, false, false), 0);
	observe_lock_acquired(0, &locks[0], "outer", false, 1, false, false);
	observe_lock_contended(0, &locks[1], "inner", false, 10);
	observe_mark(0, 100, false);
	observe_lock_acquired(0, &locks[1], "inner", false, 130, false, true);
	observe_lock_released(0, &locks[0], "outer", false, 150, true);
	observe_mark(0, 160, true);
	observe_lock_released(0, &locks[1], "inner", false, 200, false);
	observe_lock_acquired(0, &locks[0], "outer", false, 210, false, false);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.lock_count, 1);
	row = find_row(&report, "inner", 0);
	assert_non_null(row);
	assert_int_equal(row->wait_total_cycles, 30);
	assert_int_equal(row->hold_total_cycles, 0);
	observe_report_free(&report);
	observe_close();
}

/* A lock may be released by another CPU than took it, or by one that nobody saw take it. */
static void test_foreign_release(void **state)
{
	struct vsmp_report report = {0};
	const struct vsmp_lock_row *row;

	(void)state;
	assert_int_equal(observe_open(3, false, true, false, false), 0);
	observe_lock_released(2, &locks[0], "baton", false, 1, true);
	observe_lock_acquired(0, &locks[0], "baton", false, 100, false, true);
	observe_lock_acquired(0, &locks[1], "baton", false, 110, false, true);
	observe_lock_released(2, &locks[0], "baton", false, 105, true);
	observe_lock_released(0, &locks[0], "baton", false, 300, true);
	observe_lock_released(1, &locks[1], "baton", false, 90, true);
	assert_int_equal(observe_report(&report), 0);
	row = find_row(&report, "baton", 0);
	assert_non_null(row);
	assert_int_equal(row->acquisitions, 2);
	assert_int_equal(row->hold_total_cycles, 5);
	assert_int_equal(row->hold_min_cycles, 0);
	observe_report_free(&report);
	observe_close();
}

static void test_not_asked_for(void **state)
{
	struct vsmp_report report = {0};

	(void)state;
	assert_int_equal(observe_open(1, true, false, true, true), 0);
	observe_lock_contended(0, &locks[0], "a", false, 0);
	observe_lock_acquired(0, &locks[0], "a", false, 5, false, true);
	observe_lock_released(0, &locks[0], "a", false, 9, true);
	assert_int_equal(observe_report(&report), 0);
	assert_int_equal(report.lock_count, 0);
	observe_report_free(&report);
	observe_close();
}

/* --- Against a naive reckoning ------------------------------------------------------------------------- */

#define STEPS 8000

static const char *const class_name[ARRAY_SIZE(locks)] = {"p", "q", "p", "r", "q", "p", "s", "s"};

enum what { CONTENDED, ACQUIRED, RELEASED };

struct event {
	enum what what;
	unsigned cpu, lock, site;
	bool shared, bounced, measuring;
	uint64_t now;
};

static struct event *events;
static size_t event_count;

static void tell(struct event event)
{
	const void *lock = &locks[event.lock];
	const char *name = class_name[event.lock];

	events[event_count++] = event;
	if (event.what == CONTENDED) {
		enter(event.cpu, (const void *)(uintptr_t)asker[event.site]);
		observe_lock_contended(event.cpu, lock, name, event.shared, event.now);
		observe_exit(event.cpu, 0, false);
	} else if (event.what == ACQUIRED) {
		observe_lock_acquired(event.cpu, lock, name, event.shared, event.now, event.bounced,
				      event.measuring);
	} else {
		observe_lock_released(event.cpu, lock, name, event.shared, event.now, event.measuring);
	}
}

/* Each CPU takes, waits for and releases locks at random; one wait at a time, shared holds may repeat. */
static void make_events(struct random *random)
{
	struct {
		uint64_t clock;
		bool waiting, shared;
		unsigned lock;
		unsigned held[2][ARRAY_SIZE(locks)];
	} cpu[CPUS] = {0};

	for (event_count = 0; event_count < STEPS;) {
		unsigned id = (unsigned)random_below(random, CPUS);
		struct event event = {.cpu = id,
				      .lock = (unsigned)random_below(random, ARRAY_SIZE(locks)),
				      .site = (unsigned)random_below(random, ARRAY_SIZE(asker)),
				      .shared = random_below(random, 3) == 0,
				      .bounced = random_below(random, 2) == 0,
				      .measuring = random_below(random, 4) != 0};

		cpu[id].clock += random_below(random, 100);
		event.now = cpu[id].clock;
		if (cpu[id].waiting) {
			event.what = ACQUIRED;
			event.lock = cpu[id].lock;
			event.shared = cpu[id].shared;
			cpu[id].waiting = false;
		} else if (cpu[id].held[event.shared][event.lock]) {
			event.what = RELEASED;
		} else {
			event.what = random_below(random, 2) ? CONTENDED : ACQUIRED;
		}
		if (event.what == CONTENDED) {
			cpu[id].waiting = true;
			cpu[id].lock = event.lock;
			cpu[id].shared = event.shared;
		} else {
			cpu[id].held[event.shared][event.lock] += event.what == ACQUIRED ? 1u : -1u;
		}
		tell(event);
	}
}

static const struct event *find_before(size_t index, enum what what)
{
	const struct event *event = &events[index];

	while (index-- > 0) {
		const struct event *earlier = &events[index];

		if (earlier->cpu == event->cpu && earlier->lock == event->lock &&
		    earlier->shared == event->shared && earlier->what != RELEASED)
			return earlier->what == what ? earlier : NULL;
	}
	return NULL;
}

static void add_span(uint64_t cycles, uint64_t *minimum, uint64_t *maximum, uint64_t *total)
{
	*total += cycles;
	if (cycles < *minimum)
		*minimum = cycles;
	if (cycles > *maximum)
		*maximum = cycles;
}

static void reckon(const char *name, bool shared, struct vsmp_lock_row *row, uint64_t *sites)
{
	*row = (struct vsmp_lock_row){.wait_min_cycles = UINT64_MAX, .hold_min_cycles = UINT64_MAX};
	for (size_t i = 0; i < event_count; i++) {
		const struct event *event = &events[i], *before;

		if (strcmp(class_name[event->lock], name) || event->shared != shared || !event->measuring ||
		    event->what == CONTENDED)
			continue;
		if (event->what == RELEASED) {
			before = find_before(i, ACQUIRED);
			if (before->measuring)
				add_span(event->now - before->now, &row->hold_min_cycles,
					 &row->hold_max_cycles, &row->hold_total_cycles);
			continue;
		}
		row->acquisitions++;
		row->acquisition_bounces += event->bounced;
		before = find_before(i, CONTENDED);
		if (!before)
			continue;
		row->contentions++;
		row->contended_bounces += event->bounced;
		sites[before->site]++;
		add_span(event->now - before->now, &row->wait_min_cycles, &row->wait_max_cycles,
			 &row->wait_total_cycles);
	}
}

static void compare(const struct vsmp_lock_row *row, const struct vsmp_lock_row *other, const uint64_t *sites)
{
	uint64_t contentions = 0;

	assert_int_equal(row->contended_bounces, other->contended_bounces);
	assert_int_equal(row->contentions, other->contentions);
	assert_int_equal(row->wait_min_cycles, other->wait_min_cycles);
	assert_int_equal(row->wait_max_cycles, other->wait_max_cycles);
	assert_int_equal(row->wait_total_cycles, other->wait_total_cycles);
	assert_int_equal(row->acquisition_bounces, other->acquisition_bounces);
	assert_int_equal(row->acquisitions, other->acquisitions);
	assert_int_equal(row->hold_min_cycles, other->hold_min_cycles);
	assert_int_equal(row->hold_max_cycles, other->hold_max_cycles);
	assert_int_equal(row->hold_total_cycles, other->hold_total_cycles);
	for (size_t i = 0; i < row->site_count; i++) {
		contentions += row->sites[i].contentions;
		if (i)
			assert_true(row->sites[i - 1].contentions >= row->sites[i].contentions);
		for (unsigned site = 0; site < ARRAY_SIZE(asker); site++)
			if (!strcmp(row->sites[i].symbol, asker_name[site]))
				assert_int_equal(row->sites[i].contentions, sites[site]);
	}
	assert_int_equal(contentions, row->contentions);
}

static void test_against_naive(void **state)
{
	(void)state;
	events = calloc(STEPS + 1, sizeof(*events));
	assert_non_null(events);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct vsmp_report report = {0};
		struct random random;

		print_message("seed %llu\n", (unsigned long long)seed);
		random_seed(&random, seed);
		assert_int_equal(observe_open(CPUS, false, true, false, false), 0);
		make_events(&random);
		assert_int_equal(observe_report(&report), 0);
		assert_int_equal(report.lock_count, 8);
		for (size_t i = 0; i < report.lock_count; i++) {
			uint64_t sites[ARRAY_SIZE(asker)] = {0};
			struct vsmp_lock_row row;

			reckon(report.locks[i].name, report.locks[i].shared, &row, sites);
			compare(&report.locks[i], &row, sites);
			if (i)
				assert_true(report.locks[i - 1].wait_total_cycles >=
					    report.locks[i].wait_total_cycles);
		}
		observe_report_free(&report);
		observe_close();
	}
	free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_columns),       cmocka_unit_test(test_sites),
	    cmocka_unit_test(test_windows),       cmocka_unit_test(test_foreign_release),
	    cmocka_unit_test(test_not_asked_for), cmocka_unit_test(test_against_naive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
