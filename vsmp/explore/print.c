/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/explore/record.h"
#include "vsmp/explore/rows.h"
#include "vsmp/explore/trace.h"
#include "vsmp/explore/where.h"
#include "vsmp/explore/word.h"
#include "vsmp/observe/debuginfo.h"
#include "vsmp/observe/symbols.h"

#define COLUMNS_MIN     60u  /* narrower reports are this wide */
#define COLUMNS_DEFAULT 110u /* where nobody knows */
#define STACK_MAX       64u

static void print_place(FILE *out, const struct where *place)
{
	if (place->file)
		fprintf(out, "    %-32s %s:%d\n", place->function, place->file, place->line);
	else
		fprintf(out, "    %s\n", place->function);
}

static void print_frames(FILE *out, const struct record_frame *frame, const void *pc)
{
	struct where places[STACK_MAX];
	unsigned count = where_stack(frame, pc, places, STACK_MAX);

	for (unsigned i = 0; i < count; i++)
		print_place(out, &places[i]);
	if (!count)
		fputs("    [no function]\n", out);
}

/* The other side's stack, of which only the innermost line is known. */
static void print_functions(FILE *out)
{
	const void *const *function = record.failure.other_stack;
	struct where place;

	where_pc(record.failure.other_pc, &place);
	for (bool first = true; *function; function++, first = false) {
		char name[SYMBOLS_NAME_BYTES];

		symbols_function_name(*function, name);
		if (first && place.file)
			print_place(out, &place);
		if (!first || !place.file || strcmp(name, place.function))
			fprintf(out, "    %s\n", name);
	}
}

/* The failure's other side among the events: the last of that CPU, place and memory. */
static const struct record_event *find_other(void)
{
	const struct record_failure *failure = &record.failure;
	const struct record_event *nearest = NULL;

	for (size_t i = record.event_count; failure->has_other && i-- > 0;) {
		const struct record_event *event = &record.events[i];

		if (event->cpu == failure->other_cpu && event->pc == failure->other_pc) {
			nearest = event;
			break;
		}
	}
	return nearest;
}

static const char *name_other(void)
{
	switch (record.failure.kind) {
	case EXPLORE_DATA_RACE:
		return "the other access";
	case EXPLORE_USE_AFTER_FREE:
		return "freed before";
	default:
		return "the other side";
	}
}

static void print_stacks(FILE *out, const struct record_event *other)
{
	const struct record_failure *failure = &record.failure;
	const struct record_cpu *cpu = &record.cpus[failure->cpu];

	if (rows_failed_after())
		fputs("\n  found when all CPUs had returned\n", out);
	if (cpu->frame && cpu->frame->caller) {
		fprintf(out, "\n  CPU %u:\n", failure->cpu);
		print_frames(out, cpu->frame, cpu->pc);
	}
	if (!failure->has_other)
		return;
	fprintf(out, "\n  %s, CPU %u:\n", name_other(), failure->other_cpu);
	if (other)
		print_frames(out, other->frame, other->pc);
	else
		print_functions(out);
}

/* Where everybody stands who will not go on. */
static void print_waiting(FILE *out)
{
	for (unsigned id = 0; id < record.cpu_count; id++) {
		const struct record_cpu *cpu = &record.cpus[id];

		if (cpu->returned)
			fprintf(out, "\n  CPU %u has returned\n", id);
		else
			fprintf(out, "\n  CPU %u %s%s:\n", id, cpu->waits_for ? "waits " : "can run",
				cpu->waits_for ? cpu->waits_for : "");
		if (!cpu->returned)
			print_frames(out, cpu->frame, cpu->pc);
	}
}

/* The name of what an access failed at. */
static void print_memory(FILE *out)
{
	const struct record_event *event = rows_failing_access();
	char name[WORD_BYTES];

	if (!event)
		return;
	word_begin();
	word_number(event);
	word_name(event, name);
	word_begin();
	fprintf(out, "  at %s\n", name);
}

static bool is_of_all(enum explore_kind kind)
{
	return kind == EXPLORE_DEADLOCK || kind == EXPLORE_LOST_WAKEUP || kind == EXPLORE_LIVELOCK;
}

char *print_report(const char *title, unsigned columns)
{
	const struct record_failure *failure = &record.failure;
	const struct record_event *other = find_other();
	size_t switches = record.segment_count ? record.segment_count - 1 : 0;
	char *text = NULL;
	size_t bytes;
	bool failed;
	FILE *out;

	columns = !columns ? COLUMNS_DEFAULT : columns < COLUMNS_MIN ? COLUMNS_MIN : columns;
	if (debuginfo_open())
		return NULL;
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	fprintf(out, "%s: %s\n  %s\n", explore_kind_name(failure->kind), failure->text, title);
	print_memory(out);
	if (is_of_all(failure->kind))
		print_waiting(out);
	else
		print_stacks(out, other);
	fprintf(out, "\n  The shortest schedule found that fails so: %llu steps, %zu context switch%s\n\n",
		(unsigned long long)record.steps, switches, switches == 1 ? "" : "es");
	failed = trace_print(out, columns, other);
	failed = fclose(out) || failed;
	if (failed) {
		free(text);
		return NULL;
	}
	return text;
}
