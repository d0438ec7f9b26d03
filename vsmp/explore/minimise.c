/* SPDX-License-Identifier: MIT */
/*
 * Delta debugging over context switches. A schedule is a list of segments; a window of it is put in order by
 * letting each CPU take all its steps of the window at once, which makes the list shorter. Windows begin as
 * large as the list and become as small as three segments, below which nothing can be joined. What was really
 * run, not what was asked for, is the next list: CPUs wait for each other and end when they want.
 */
#include <stdlib.h>
#include <string.h>

#include "vsmp/explore/record.h"
#include "vsmp/observe/calls.h"

/* How much is tried, in steps of all runs together. */
#define STEPS_MAX 20000000u

/* How many first segments are tried as a schedule whose rest has no preemption. */
#define PREFIXES_MAX 64u

#define WINDOW_MIN 3u

/* How a schedule failed, as far as another must do the same. */
struct signature {
	enum explore_kind kind;
	const void *pc, *other_pc;
	const void *function;
	char text[sizeof(record.failure.text)];
};

static struct search {
	minimise_run *run;
	unsigned runs_max;
	struct signature wanted;
	struct explore_segment *best, *candidate;
	size_t count, candidate_count;
	uint64_t best_steps;
	unsigned runs;
	uint64_t steps;
} search;

static struct signature signature(void)
{
	const struct record_failure *failure = &record.failure;
	const struct record_cpu *cpu = &record.cpus[failure->cpu];
	struct signature made = {.kind = failure->kind, .pc = cpu->pc};

	made.other_pc = failure->other_pc;
	made.function = cpu->function;
	memcpy(made.text, failure->text, sizeof(made.text));
	return made;
}

static bool is_same(const struct signature *a, const struct signature *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case EXPLORE_DATA_RACE:
		/* Either side may have come first. */
		return (a->pc == b->pc && a->other_pc == b->other_pc) ||
		       (a->pc == b->other_pc && a->other_pc == b->pc);
	case EXPLORE_USE_AFTER_FREE:
	case EXPLORE_WILD_ACCESS:
	case EXPLORE_RCU_READER:
		return a->pc == b->pc;
	case EXPLORE_ASSERTION:
		return !strcmp(a->text, b->text);
	case EXPLORE_MODEL:
		return a->function == b->function;
	default:
		/* Where a CPU waits for ever is the same question in each of them. */
		return true;
	}
}

static bool is_spent(void)
{
	return search.runs >= search.runs_max || search.steps >= STEPS_MAX;
}

/* Runs a list, and tells whether it fails as it should. */
static bool fails(const struct explore_segment *segments, size_t count)
{
	struct signature found;

	search.runs++;
	search.run(segments, count);
	search.steps += record.steps;
	found = signature();
	return !record.incomplete && is_same(&found, &search.wanted);
}

/* Makes what has just run the best. Returns false without memory. */
static bool take_over(void)
{
	size_t bytes = record.segment_count * sizeof(*search.best);

	if (record.segment_count > search.count) {
		struct explore_segment *best = realloc(search.best, bytes);
		struct explore_segment *candidate = best ? realloc(search.candidate, bytes) : NULL;

		search.best = best ? best : search.best;
		search.candidate = candidate ? candidate : search.candidate;
		if (!best || !candidate)
			return false;
	}
	memcpy(search.best, record.segments, bytes);
	search.count = record.segment_count;
	search.best_steps = record.steps;
	return true;
}

/* Takes a list over when it fails as it should with fewer switches, or as few and in fewer steps. */
static bool try(const struct explore_segment *segments, size_t count)
{
	if (!fails(segments, count))
		return false;
	if (record.segment_count > search.count ||
	    (record.segment_count == search.count && record.steps >= search.best_steps))
		return false;
	return take_over();
}

static void add(unsigned cpu, uint64_t steps)
{
	struct explore_segment *last = &search.candidate[search.candidate_count];

	if (search.candidate_count && last[-1].cpu == cpu) {
		last[-1].steps += steps;
		return;
	}
	*last = (struct explore_segment){.cpu = cpu, .steps = steps};
	search.candidate_count++;
}

/* All that one CPU does in the window. */
static void add_joined(unsigned cpu, size_t at, size_t width)
{
	uint64_t steps = 0;

	for (size_t i = at; i < at + width; i++)
		if (search.best[i].cpu == cpu)
			steps += search.best[i].steps;
	add(cpu, steps);
}

/* True when the segment's CPU has none earlier (or, `backward`, later) in the window. */
static bool is_first(size_t i, size_t at, size_t width, bool backward)
{
	size_t from = backward ? i + 1 : at, to = backward ? at + width : i;

	for (size_t j = from; j < to; j++)
		if (search.best[j].cpu == search.best[i].cpu)
			return false;
	return true;
}

/*
 * The best list with a window put in order: CPUs in the order in which they first come in it, or last.
 * Returns whether that makes it any shorter.
 */
static bool join(size_t at, size_t width, bool last)
{
	search.candidate_count = 0;
	for (size_t i = 0; i < at; i++)
		add(search.best[i].cpu, search.best[i].steps);
	for (size_t i = at; i < at + width; i++)
		if (is_first(i, at, width, last))
			add_joined(search.best[i].cpu, at, width);
	for (size_t i = at + width; i < search.count; i++)
		add(search.best[i].cpu, search.best[i].steps);
	return search.candidate_count < search.count;
}

/* The list without one segment, whose steps come when nobody else has any. */
static bool leave_out(size_t at)
{
	search.candidate_count = 0;
	for (size_t i = 0; i < search.count; i++)
		if (i != at)
			add(search.best[i].cpu, search.best[i].steps);
	return search.candidate_count > 0;
}

static bool try_windows(void)
{
	bool improved = false;

	for (size_t width = search.count; width >= WINDOW_MIN; width = width > 8 ? width / 2 : width - 1) {
		for (size_t at = 0; at + width <= search.count && !is_spent();) {
			bool shorter = false;

			for (int last = 0; last < 2 && !shorter; last++)
				shorter =
				    join(at, width, last) && try(search.candidate, search.candidate_count);
			improved = improved || shorter;
			at += shorter ? 0 : width > 8 ? width / 2 : 1;
		}
	}
	return improved;
}

static bool try_leaving_out(void)
{
	bool improved = false;

	for (size_t at = search.count; at-- > 0 && !is_spent();)
		if (at < search.count && leave_out(at) && try(search.candidate, search.candidate_count))
			improved = true;
	return improved;
}

static void try_prefixes(void)
{
	for (size_t count = 0; count < search.count && count < PREFIXES_MAX && !is_spent(); count++) {
		memcpy(search.candidate, search.best, count * sizeof(*search.candidate));
		if (try(search.candidate, count))
			return;
	}
}

static bool look(void)
{
	bool improved = true;

	if (!fails(search.best, search.count) || !take_over())
		return false;
	try_prefixes();
	while (improved && !is_spent()) {
		improved = try_windows();
		improved = try_leaving_out() || improved;
	}
	record_level = RECORD_EVENTS;
	return fails(search.best, search.count);
}

bool minimise(minimise_run *run, unsigned runs_max)
{
	size_t bytes = record.segment_count * sizeof(*search.best);
	bool found;

	if (record.incomplete || !record.segment_count)
		return false;
	search = (struct search){.run = run,
				 .runs_max = runs_max,
				 .wanted = signature(),
				 .best = malloc(bytes),
				 .candidate = malloc(bytes),
				 .count = record.segment_count};
	if (search.best && search.candidate)
		memcpy(search.best, record.segments, bytes);
	record_level = RECORD_STEPS;
	found = search.best && search.candidate && look();
	free(search.best);
	free(search.candidate);
	return found;
}
