/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/grow.h"
#include "vsmp/observe/pairmap.h"

/* Fewer are left out without a word. */
#define LEFT_OUT_MIN 8u

/* So many accesses of words that two CPUs dispute are shown besides those that depend on each other. */
#define EVENTS_FEW 30u

/* So many functions are named on the way to an access, the innermost. */
#define FUNCTIONS_MAX 8u

/* The last accesses of 8 bytes of memory, as numbers of events + 1. */
struct word {
	size_t write;
	size_t access[CHECK_CPUS_MAX];
	size_t count;
	bool disputed; /* two of its accesses depend on each other */
};

static struct {
	struct pairmap numbers; /* of words, + 1 */
	struct word *words;
	size_t count, room;
	bool *shown; /* of each event */
	struct rows *rows;
	bool failed; /* without memory */
} making;

/* --- Which events ----------------------------------------------------------------------------------------
 */

static bool is_access(const struct record_event *event)
{
	return event->event <= EXPLORE_MODIFY;
}

static bool writes(const struct record_event *event)
{
	return event->event == EXPLORE_WRITE || event->event == EXPLORE_STORE ||
	       event->event == EXPLORE_MODIFY;
}

/* Calls that begin something, and wait for nobody. */
static bool is_quiet(const struct record_event *event)
{
	return event->event == EXPLORE_CALL &&
	       (!strcmp(event->what, "port_rcu_read_lock") || !strcmp(event->what, "port_mmu_access_begin"));
}

static struct word *find_word(uint64_t address)
{
	uint64_t *number = pairmap_at(&making.numbers, address, 0);
	struct word *grown;

	if (!number)
		return NULL;
	if (*number)
		return &making.words[*number - 1];
	grown = grow_array(making.words, &making.room, making.count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	making.words = grown;
	grown[making.count] = (struct word){0};
	*number = ++making.count;
	return &grown[making.count - 1];
}

static void show_both(struct word *word, size_t earlier, size_t now)
{
	word->disputed = true;
	making.shown[earlier - 1] = true;
	making.shown[now - 1] = true;
}

static void note_access(struct word *word, const struct record_event *event, size_t now)
{
	for (unsigned cpu = 0; cpu < CHECK_CPUS_MAX; cpu++) {
		size_t earlier = word->access[cpu];

		if (cpu == event->cpu || !earlier)
			continue;
		if (writes(event) ? earlier >= word->write
				  : word->write && record.events[word->write - 1].cpu == cpu &&
					word->access[event->cpu] < word->write)
			show_both(word, writes(event) ? earlier : word->write, now);
	}
	word->access[event->cpu] = now;
	word->count++;
	if (writes(event))
		word->write = now;
}

static void choose_events(void)
{
	for (size_t i = 0; i < record.event_count && !making.failed; i++) {
		const struct record_event *event = &record.events[i];
		uint64_t last = (event->address + (event->bytes ? event->bytes - 1 : 0)) >> 3;

		if (!event->alone && !is_access(event) && !is_quiet(event))
			making.shown[i] = true;
		if (event->alone || !is_access(event))
			continue;
		for (uint64_t address = event->address >> 3; address <= last && !making.failed; address++) {
			struct word *word = find_word(address);

			making.failed = !word;
			if (word)
				note_access(word, event, i + 1);
		}
	}
}

/* How many accesses the words have together that are disputed and have at most `most` each. */
static size_t count_accesses(size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < making.count; i++)
		if (making.words[i].disputed && making.words[i].count <= most)
			count += making.words[i].count;
	return count;
}

/* Where there is room, all accesses of disputed words are shown; of those with the fewest first. */
static void choose_more(void)
{
	size_t most = 0;

	while (most < EVENTS_FEW && count_accesses(most + 1) <= EVENTS_FEW)
		most++;
	for (size_t i = 0; i < record.event_count; i++) {
		const struct record_event *event = &record.events[i];
		uint64_t number = pairmap_get(&making.numbers, event->address >> 3, 0);
		const struct word *word = number ? &making.words[number - 1] : NULL;

		if (is_access(event) && !event->alone && word && word->disputed && word->count <= most)
			making.shown[i] = true;
	}
}

/*
 * When the final condition does not hold: of what the CPUs wrote, that which was read last by whoever looked.
 * It tells where to begin. NULL: nothing.
 */
static const struct record_event *find_written(void)
{
	if (record.failure.kind != EXPLORE_CONDITION && !record.failure.alone)
		return NULL;
	for (size_t i = record.event_count; i-- > 0 && record.events[i].alone;) {
		const struct record_event *event = &record.events[i];
		uint64_t number = pairmap_get(&making.numbers, event->address >> 3, 0);

		if (is_access(event) && number && making.words[number - 1].write)
			return &record.events[making.words[number - 1].write - 1];
	}
	return NULL;
}

bool rows_failed_after(void)
{
	const struct record_failure *failure = &record.failure;

	return failure->alone || failure->kind == EXPLORE_CONDITION || failure->kind == EXPLORE_LEAK;
}

const struct record_event *rows_failing_access(void)
{
	const struct record_failure *failure = &record.failure;

	switch (failure->kind) {
	case EXPLORE_DATA_RACE:
	case EXPLORE_USE_AFTER_FREE:
	case EXPLORE_WILD_ACCESS:
		break;
	default:
		return NULL;
	}
	for (size_t i = record.event_count; i-- > 0;)
		if (record.events[i].cpu == failure->cpu && record.events[i].alone == failure->alone)
			return &record.events[i];
	return NULL;
}

/* --- Rows ------------------------------------------------------------------------------------------------
 */

static struct row *add(enum row_kind kind, const struct record_event *event)
{
	struct rows *rows = making.rows;
	struct row *grown = grow_array(rows->row, &rows->room, rows->count + 1, sizeof(*grown));

	if (!grown) {
		making.failed = true;
		return NULL;
	}
	rows->row = grown;
	grown[rows->count] =
	    (struct row){.kind = kind, .cpu = event->cpu, .step = event->step, .event = event, .count = 1};
	return &grown[rows->count++];
}

/* The last row, if it is of that kind and CPU. */
static struct row *last_row(enum row_kind kind, unsigned cpu)
{
	struct row *last = making.rows->count ? &making.rows->row[making.rows->count - 1] : NULL;

	return last && last->kind == kind && last->cpu == cpu ? last : NULL;
}

static void leave_out(const struct record_event *event, const struct record_frame *before)
{
	struct row *last = last_row(ROW_LEFT_OUT, event->cpu);

	if (last) {
		last->count++;
		return;
	}
	last = add(ROW_LEFT_OUT, event);
	if (last)
		last->frame = before;
}

/* What was left out is not worth a row. */
static void drop_short(void)
{
	struct rows *rows = making.rows;

	if (rows->count && rows->row[rows->count - 1].kind == ROW_LEFT_OUT &&
	    rows->row[rows->count - 1].count < LEFT_OUT_MIN)
		rows->count--;
}

static bool is_again(const struct row *row, const struct record_event *event)
{
	return row && row->event->pc == event->pc && row->event->address == event->address &&
	       row->event->value == event->value && row->event->event == event->event;
}

static bool is_within(const struct record_frame *frame, const struct record_frame *caller)
{
	while (frame && frame != caller)
		frame = frame->caller;
	return frame == caller;
}

static void add_function(const struct record_event *event, const struct record_frame *frame, bool entered)
{
	struct row *row = frame->caller ? add(ROW_FUNCTION, event) : NULL;

	if (!row)
		return;
	row->frame = frame;
	row->entered = entered;
}

/* A row for each function on the way from the frame of the last row to this one, the innermost of them. */
static void add_functions(const struct record_event *event, const struct record_frame *before)
{
	const struct record_frame *way[FUNCTIONS_MAX], *frame = event->frame;
	unsigned count = 0;

	if (before && is_within(before, frame)) {
		add_function(event, frame, false);
		return;
	}
	for (; frame && !(before && is_within(before, frame)); frame = frame->caller)
		if (count < FUNCTIONS_MAX)
			way[count++] = frame;
	while (count)
		add_function(event, way[--count], true);
}

static void show(const struct record_event *event, const struct record_frame **frame, bool switched,
		 bool marked)
{
	struct row *last;

	drop_short();
	last = last_row(ROW_EVENT, event->cpu);
	if (!marked && is_again(last, event)) {
		last->count++;
		return;
	}
	if (event->frame && (event->frame != *frame || switched))
		add_functions(event, *frame);
	*frame = event->frame;
	add(ROW_EVENT, event);
}

/* The segment of `cpu` that ends when another one's event comes. */
static size_t ended_segment(size_t from, unsigned cpu)
{
	while (from + 1 < record.segment_count && record.segments[from].cpu != cpu)
		from++;
	return from;
}

static void add_rows(const struct record_event *other)
{
	const struct record_event *failing = rows_failing_access(), *before = NULL;
	const struct record_event *written = find_written();
	const struct record_frame *frames[CHECK_CPUS_MAX] = {NULL};
	bool switched = false;
	size_t segment = 0;

	for (size_t i = 0; i < record.event_count && !making.failed; i++) {
		const struct record_event *event = &record.events[i];
		bool marked = event == failing || event == other || event == written;
		struct row *row;

		if (event->alone)
			continue;
		if (before && before->cpu != event->cpu) {
			drop_short();
			segment = ended_segment(segment, before->cpu);
			row = add(ROW_SWITCH, event);
			if (row)
				row->segment = segment++;
			switched = true;
		}
		before = event;
		if (marked || making.shown[i]) {
			show(event, &frames[event->cpu], switched, marked);
			switched = false;
		} else {
			leave_out(event, frames[event->cpu]);
		}
		if (event == other)
			add(ROW_OTHER, event);
		if (event == written)
			add(ROW_READ, event);
		if (event == failing)
			add(ROW_FAILURE, event);
	}
	drop_short();
}

/* Where the failure is no access: below all that was done before it. */
static void add_failure(void)
{
	struct row *row;

	if (rows_failing_access() || !record.event_count)
		return;
	row = add(ROW_FAILURE, &record.events[record.event_count - 1]);
	if (!row)
		return;
	row->cpu = record.failure.cpu;
	row->event = NULL;
}

int rows_make(struct rows *rows, const struct record_event *other)
{
	*rows = (struct rows){0};
	making.rows = rows;
	making.failed = false;
	making.shown = calloc(record.event_count + 1, sizeof(*making.shown));
	if (!making.shown)
		return -ENOMEM;
	choose_events();
	choose_more();
	add_rows(other);
	add_failure();
	free(making.shown);
	free(making.words);
	pairmap_free(&making.numbers);
	making.words = NULL;
	making.count = making.room = 0;
	return making.failed ? -ENOMEM : 0;
}
