/* SPDX-License-Identifier: MIT */
/*
 * Both frame caches under what faults and unmaps do to them: every CPU takes frames one by one, clearing
 * each, and gives them all back in one go. With magazines the CPUs do not meet; with a zone's lists they meet
 * at its lock, most of all where lists are emptied.
 */
#include "tests/vsmp/fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "port/mmu.h"
#include "port/page.h"
#include "port/trace.h"

#define HELD   600u /* frames that a CPU takes before it gives them back */
#define ROUNDS 6u
#define CPUS   256u

struct setting {
	enum policy_frame_cache cache;
	unsigned sockets, cores, cpus;
	uint64_t usable;   /* frames of each CPU */
	bool to_neighbour; /* frames are given back by the next CPU */
};

static const struct setting *setting;
static struct frames *frames;

/* What each CPU has taken, on lines of its own. */
static struct {
	CACHE_LINE_ALIGNED struct page *page[HELD];
} held[CPUS];

static void set_up(void *argument)
{
	struct frames_config config = {.own_frames = setting->cpus * setting->usable + 1,
				       .structure_only = true,
				       .cache = setting->cache};

	(void)argument;
	frames = frames_create(&config);
	assert_non_null(frames);
}

static void take(unsigned cpu)
{
	for (unsigned i = 0; i < HELD; i++) {
		struct page *page;

		port_scope_begin("fault");
		port_fault_enter();
		page = frame_alloc(frames);
		assert_non_null(page);
		port_page_clear(page_address(frames, page), 1);
		held[cpu].page[i] = page;
		port_scope_end();
	}
}

static void give(unsigned cpu)
{
	port_scope_begin("unmap");
	for (unsigned i = 0; i < HELD; i++)
		page_put(frames, held[cpu].page[i]);
	port_scope_end();
	vsmp_count_operations(HELD);
}

static void take_and_give(unsigned cpu, void *argument)
{
	(void)argument;
	vsmp_measure_begin();
	for (unsigned round = 0; round < ROUNDS; round++) {
		take(cpu);
		if (setting->to_neighbour)
			vsmp_barrier();
		give(setting->to_neighbour ? (cpu + 1) % setting->cpus : cpu);
		if (setting->to_neighbour)
			vsmp_barrier();
	}
	vsmp_measure_end();
}

static void tear_down(void *argument)
{
	struct message why = {""};

	(void)argument;
	if (frames_check(frames, 0, &why))
		fail_msg("%s", why.text);
	frames_destroy(frames);
}

static void run(const struct setting *wanted, struct vsmp_report *report)
{
	struct message why = {""};

	setting = wanted;
	fixture_create(wanted->sockets, wanted->cores, 1, wanted->cpus, 3);
	if (vsmp_setup(set_up, NULL, &why) || vsmp_run(take_and_give, NULL, 5000, &why))
		fail_msg("%s", why.text);
	memset(report, 0, sizeof(*report));
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->operations, wanted->cpus * HELD * ROUNDS);
	assert_int_equal(report->dropped, 0);
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
}

static double transfers_per_pair(const struct vsmp_report *report)
{
	double transfers = (double)report->transfers / (double)report->operations;

	print_message("%u CPUs, %s: %.4f transfers a pair of allocation and free\n", setting->cpus,
		      setting->cache == POLICY_FRAME_CACHE_ZONE ? "zone" : "magazine", transfers);
	return transfers;
}

/* The first touches of all frames included. Nothing that a fault or an unmap does meets another CPU's. */
static void magazines_do_not_meet(void **state)
{
	static const struct setting settings[] = {
	    {.sockets = 4, .cores = 16, .cpus = 64, .usable = 2 * HELD},
	    {.sockets = 16, .cores = 16, .cpus = 256, .usable = 2 * HELD},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct vsmp_report report;

		run(&settings[i], &report);
		assert_true(transfers_per_pair(&report) <= 0.02);
		for (size_t j = 0; j < report.conflict_count; j++)
			if (strcmp(report.conflicts[j].scope, "frame refill") ||
			    strcmp(report.conflicts[j].other_scope, "frame refill"))
				fail_msg("%s and %s conflict at %s", report.conflicts[j].scope,
					 report.conflicts[j].other_scope, report.conflicts[j].name);
		vsmp_report_free(&report);
	}
}

static double line_transfers(const struct vsmp_report *report, const char *type)
{
	uint64_t transfers = 0;

	for (size_t i = 0; i < report->line_count; i++)
		if (strstr(report->lines[i].name, type))
			transfers += report->lines[i].transfers;
	return (double)transfers / (double)report->operations;
}

/* Frames given back elsewhere: their struct pages must move, what the allocator adds is small. */
static void magazines_move_whole(void **state)
{
	static const struct setting wanted = {
	    .sockets = 4, .cores = 16, .cpus = 64, .usable = 2 * HELD, .to_neighbour = true};
	struct vsmp_report report;

	(void)state;
	run(&wanted, &report);
	print_message(
	    "frames given back by the neighbour: %.4f of the allocator's lines, %.3f of struct page\n",
	    line_transfers(&report, "struct frame_"), line_transfers(&report, "struct page"));
	assert_true(line_transfers(&report, "struct frame_") <= 0.02);
	vsmp_report_free(&report);
}

static const struct vsmp_lock_row *find_lock(const struct vsmp_report *report, const char *name)
{
	for (size_t i = 0; i < report->lock_count; i++)
		if (!strcmp(report->locks[i].name, name))
			return &report->locks[i];
	fail_msg("no lock %s", name);
	return NULL;
}

static double caller_percent(const struct vsmp_profile_row *row, const char *caller)
{
	for (size_t i = 0; i < row->caller_count; i++)
		if (!strcmp(row->callers[i].symbol, caller))
			return row->callers[i].percent;
	return 0;
}

/* On 64 CPUs every batch waits, both ways. */
static void zones_meet_at_the_lock(void **state)
{
	/* Zones large enough for a batch of 31. */
	static const struct setting wanted = {
	    .cache = POLICY_FRAME_CACHE_ZONE, .sockets = 4, .cores = 16, .cpus = 64, .usable = 1 << 14};
	const struct vsmp_lock_row *lock;
	struct vsmp_report report;

	(void)state;
	run(&wanted, &report);
	assert_true(transfers_per_pair(&report) > 1);
	lock = find_lock(&report, "zone_lock");
	assert_in_range(lock->acquisitions, report.operations / 31, report.operations * 2 / 31 + 64 * 2);
	assert_true(lock->contentions > lock->acquisitions / 2);
	vsmp_report_free(&report);
}

/* On 8 CPUs in two sockets it is the emptied lists that wait, and the functions are those of the kernel's own
 * profile. */
static void emptied_lists_wait_most(void **state)
{
	static const struct setting wanted = {
	    .cache = POLICY_FRAME_CACHE_ZONE, .sockets = 2, .cores = 4, .cpus = 8, .usable = 1 << 17};
	const struct vsmp_profile_row *spin, *bulk;
	struct vsmp_report report;
	double waits;

	(void)state;
	run(&wanted, &report);
	spin = fixture_symbol(&report, "spin_lock");
	bulk = fixture_symbol(&report, "free_pcppages_bulk");
	waits = caller_percent(spin, "free_pcppages_bulk");
	print_message(
	    "spin_lock %.1f %% of all time, %.1f %% of it by free_pcppages_bulk, which works %.1f %%\n",
	    spin->total_percent, waits, bulk->total_percent - spin->total_percent * waits / 100);
	assert_true(waits > 66);
	assert_true(bulk->total_percent > spin->total_percent * waits / 100 + 1);
	assert_true(caller_percent(bulk, "free_hot_cold_page") > 99.9);
	assert_true(caller_percent(fixture_symbol(&report, "rmqueue_bulk"), "buffered_rmqueue") > 99.9);
	assert_true(caller_percent(fixture_symbol(&report, "buffered_rmqueue"), "get_page_from_freelist") >
		    99.9);
	assert_string_equal(find_lock(&report, "zone_lock")->sites[0].symbol, "free_pcppages_bulk");
	vsmp_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(magazines_do_not_meet),
	    cmocka_unit_test(magazines_move_whole),
	    cmocka_unit_test(zones_meet_at_the_lock),
	    cmocka_unit_test(emptied_lists_wait_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
