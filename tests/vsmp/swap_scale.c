/* SPDX-License-Identifier: MIT */
/*
 * Slots as reclaim takes them and as faults give them back, by 64 CPUs at once, each with its own pages: they
 * meet only where a CPU takes a cluster.
 */
#include "tests/vsmp/fixture.h"

#include <string.h>

#include "base/compiler.h"
#include "mm/page/page_wait.h"
#include "mm/swap/swap.h"
#include "mm/swap/swap_memory.h"
#include "port/trace.h"

#define CPUS   64u
#define HELD   200u
#define ROUNDS 8u

static struct frames *frames;
static struct swap *swap;
static struct swap_statistics statistics;

static struct {
	CACHE_LINE_ALIGNED struct page *page[HELD];
} held[CPUS];

static void set_up(void *argument)
{
	struct frames_config config = {.own_frames = CPUS * 2 * HELD + 1, .structure_only = true};
	struct message why = {""};
	struct sf_backing *backing = swap_memory_create(*(uint64_t *)argument, true);

	frames = frames_create(&config);
	assert_non_null(frames);
	swap = swap_create(&(struct swap_config){.frames = frames, .read_ahead_pages = 8});
	assert_non_null(swap);
	assert_non_null(backing);
	if (swap_add_area(swap, &(struct swap_area_config){.backing = backing}, &why))
		fail_msg("%s", why.text);
}

static void out_and_in(unsigned cpu, void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < HELD; i++) {
		held[cpu].page[i] = frame_alloc(frames);
		invariant(held[cpu].page[i] && page_try_flag(held[cpu].page[i], PG_locked));
	}
	vsmp_barrier();
	vsmp_measure_begin();
	for (unsigned round = 0; round < ROUNDS; round++) {
		port_scope_begin("swap out");
		for (unsigned i = 0; i < HELD; i++) {
			struct page *page = held[cpu].page[i];

			invariant(!swap_add_page(swap, page));
			invariant(!swap_dup(swap, page_swap_entry(page)));
		}
		port_scope_end();
		port_scope_begin("swap in");
		for (unsigned i = 0; i < HELD; i++) {
			struct page *page = swap_find(swap, page_swap_entry(held[cpu].page[i]));

			invariant(page == held[cpu].page[i]);
			invariant(swap_put(swap, page_swap_entry(page)) && swap_take_page(swap, page));
			page_put(frames, page);
			page_put(frames, page);
		}
		port_scope_end();
		vsmp_count_operations(HELD);
	}
	vsmp_measure_end();
	for (unsigned i = 0; i < HELD; i++) {
		page_unlock(held[cpu].page[i]);
		page_put(frames, held[cpu].page[i]);
	}
}

static void tear_down(void *argument)
{
	struct message why = {""};
	uint64_t cached;

	(void)argument;
	swap_statistics(swap, &statistics);
	if (swap_check_begin(swap) || swap_check_end(swap, &cached, &why))
		fail_msg("%s", why.text);
	swap_destroy(swap);
	if (frames_check(frames, 0, &why))
		fail_msg("%s", why.text);
	frames_destroy(frames);
}

static void run(uint64_t slots, struct vsmp_report *report)
{
	struct message why = {""};

	fixture_create(4, 16, 1, CPUS, 3);
	if (vsmp_setup(set_up, &slots, &why) || vsmp_run(out_and_in, NULL, 5000, &why))
		fail_msg("%s", why.text);
	memset(report, 0, sizeof(*report));
	assert_int_equal(vsmp_report(report), 0);
	assert_int_equal(report->operations, CPUS * HELD * ROUNDS);
	assert_int_equal(report->dropped, 0);
	print_message("%llu slots: %.4f transfers a page out and in\n", (unsigned long long)slots,
		      (double)report->transfers / (double)report->operations);
	for (size_t i = 0; i < report->conflict_count; i++)
		print_message("  %s and %s at %s\n", report->conflicts[i].scope,
			      report->conflicts[i].other_scope, report->conflicts[i].name);
	if (vsmp_setup(tear_down, NULL, &why))
		fail_msg("%s", why.text);
	vsmp_destroy();
	assert_int_equal(statistics.used, 0);
}

static void cpus_meet_only_at_refills(void **state)
{
	struct vsmp_report report;

	(void)state;
	run(1 << 20, &report);
	assert_true((double)report.transfers / (double)report.operations <= 0.05);
	for (size_t i = 0; i < report.conflict_count; i++)
		if (strcmp(report.conflicts[i].scope, "swap refill") ||
		    strcmp(report.conflicts[i].other_scope, "swap refill"))
			fail_msg("%s and %s conflict at %s", report.conflicts[i].scope,
				 report.conflicts[i].other_scope, report.conflicts[i].name);
	vsmp_report_free(&report);
}

/* Nearly full, so that clusters go from CPU to CPU: they still move by the dozen. */
static void a_crowded_area_moves_clusters(void **state)
{
	struct vsmp_report report;

	(void)state;
	run(CPUS * 256, &report);
	assert_true((double)report.transfers / (double)report.operations <= 1);
	vsmp_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cpus_meet_only_at_refills),
	    cmocka_unit_test(a_crowded_area_moves_clusters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
