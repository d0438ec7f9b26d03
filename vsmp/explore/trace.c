/* SPDX-License-Identifier: MIT */
/*
 * A row begins with the number of its step. Where columns would be too narrow, it is one list, with the CPU's
 * number in front.
 */
#include "vsmp/explore/trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/explore/rows.h"
#include "vsmp/explore/where.h"
#include "vsmp/explore/word.h"

#define ROWS_MAX    80u /* the last so many */
#define COLUMN_MIN  38u /* narrower ones are no columns but one list */
#define STEP_DIGITS 5u
#define CELL_BYTES  512u
#define STACK_MAX   64u

/* Of events that are left out so many functions are named, if there is room for them and for a line. */
#define LEFT_OUT_NAMES 3u
#define RIGHT_ROOM     20u

static struct {
	FILE *out;
	unsigned columns, column;                    /* widths of a row, and of one CPU's part of it */
	unsigned shown[CHECK_CPUS_MAX], shown_count; /* the CPUs that have a column */
	bool list;
	struct rows rows;
	size_t first; /* row to show */
} trace;

/* --- Text ------------------------------------------------------------------------------------------------
 */

static const char *order_of(const struct record_event *event)
{
	switch (event->order) {
	case __ATOMIC_RELAXED:
		return ".rlx";
	case __ATOMIC_CONSUME:
	case __ATOMIC_ACQUIRE:
		return ".acq";
	case __ATOMIC_RELEASE:
		return ".rel";
	case __ATOMIC_ACQ_REL:
		return ".a/r";
	default:
		return ".sc";
	}
}

static void describe_access(const struct record_event *event, char text[CELL_BYTES])
{
	static const char *const verbs[] = {[EXPLORE_READ] = "read",
					    [EXPLORE_WRITE] = "write",
					    [EXPLORE_LOAD] = "load",
					    [EXPLORE_STORE] = "store",
					    [EXPLORE_MODIFY] = "modify"};
	bool atomic = event->event >= EXPLORE_LOAD;
	bool stores = event->event == EXPLORE_WRITE || event->event == EXPLORE_STORE;
	char name[WORD_BYTES], value[WORD_BYTES], before[WORD_BYTES];
	int length;

	word_name(event, name);
	length = snprintf(text, CELL_BYTES, "%s%s %s", event->what ? event->what : verbs[event->event],
			  atomic ? order_of(event) : "", name);
	if (event->has == RECORD_NO_VALUE)
		return;
	word_value(event, event->value, value);
	if (event->has == RECORD_CHANGE) {
		word_value(event, event->before, before);
		snprintf(text + length, CELL_BYTES - (size_t)length, ": %s -> %s", before, value);
	} else {
		snprintf(text + length, CELL_BYTES - (size_t)length, stores ? " = %s" : " -> %s", value);
	}
}

static void describe(const struct record_event *event, char text[CELL_BYTES])
{
	char name[WORD_BYTES] = "";

	if (event->event == EXPLORE_FENCE) {
		snprintf(text, CELL_BYTES, "fence%s", order_of(event));
		return;
	}
	if (event->event != EXPLORE_CALL) {
		describe_access(event, text);
		return;
	}
	if (event->address)
		word_name(event, name);
	snprintf(text, CELL_BYTES, "%s(%s)", event->what, name);
}

/* The innermost place of an event that is not the machine's own. */
static unsigned find_places(const struct record_event *event, struct where *places, unsigned room)
{
	unsigned count = where_stack(event->frame, event->pc, places, room), skipped = 0;

	while (skipped + 1 < count && where_is_machine(&places[skipped]))
		skipped++;
	memmove(places, places + skipped, (count - skipped) * sizeof(*places));
	return count - skipped;
}

/* --- Lines -----------------------------------------------------------------------------------------------
 */

static void pad(unsigned count)
{
	while (count--)
		fputc(' ', trace.out);
}

static unsigned column_of(unsigned cpu)
{
	unsigned column = 0;

	while (column + 1 < trace.shown_count && trace.shown[column] != cpu)
		column++;
	return column;
}

/* What stands before a CPU's part of a row. */
static void begin_line(const struct row *row, bool numbered)
{
	if (numbered)
		fprintf(trace.out, "%*llu ", STEP_DIGITS, (unsigned long long)row->step);
	else
		pad(STEP_DIGITS + 1);
	if (trace.list) {
		fprintf(trace.out, "CPU %u  ", row->cpu);
		return;
	}
	for (unsigned column = 0; column < column_of(row->cpu); column++) {
		pad(trace.column);
		fputs(" | ", trace.out);
	}
}

/* And what stands after it, which took `used` characters. */
static void end_line(const struct row *row, unsigned used)
{
	unsigned column = column_of(row->cpu) + 1;

	if (!trace.list && column < trace.shown_count) {
		pad(used < trace.column ? trace.column - used : 0);
		fputs(" |", trace.out);
		for (column++; column < trace.shown_count; column++) {
			pad(trace.column + 1);
			fputs(" |", trace.out);
		}
	}
	fputc('\n', trace.out);
}

/* How much of a text fits into `room`: up to a space or dot, if there is one in its second half. */
static size_t fit(const char *text, size_t room)
{
	size_t length = strlen(text), at = room;

	if (length <= room)
		return length;
	while (at > room / 2 && text[at] != ' ' && text[at] != '.')
		at--;
	return at > room / 2 ? at : room;
}

/*
 * A CPU's part of a row: text from the left, in as many lines as it takes, and `right` at the end of the
 * last.
 */
static void print_cell(const struct row *row, unsigned indent, const char *text, const char *right)
{
	size_t right_length = strlen(right);

	for (bool first = true;; first = false) {
		unsigned room = trace.column - indent;
		size_t length = fit(text, room);
		bool last = !text[length] && (!right_length || length + 2 + right_length <= room || !length);

		begin_line(row, first && row->kind == ROW_EVENT);
		pad(indent);
		fprintf(trace.out, "%.*s", (int)length, text);
		if (last && right_length) {
			pad(room > length + right_length ? room - (unsigned)(length + right_length) : 0);
			fputs(right, trace.out);
			length = room;
		}
		end_line(row, indent + (unsigned)length);
		if (last)
			return;
		text += length;
		text += strspn(text, " ");
		indent += first ? 2 : 0;
	}
}

/* --- Rows ------------------------------------------------------------------------------------------------
 */

static void place_text(const struct where *place, char text[CELL_BYTES])
{
	text[0] = '\0';
	if (place->file)
		snprintf(text, CELL_BYTES, "%s:%d", where_short_file(place), place->line);
}

static void print_event(const struct row *row)
{
	struct where places[STACK_MAX];
	char text[CELL_BYTES], right[CELL_BYTES] = "";

	describe(row->event, text);
	if (row->count > 1)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (%zu times)", row->count);
	if (find_places(row->event, places, STACK_MAX))
		place_text(&places[0], right);
	print_cell(row, 2, text, right);
}

/* A function that was called, and from where; or one that goes on. */
static void print_function(const struct row *row)
{
	char text[CELL_BYTES], name[SYMBOLS_NAME_BYTES], right[CELL_BYTES] = "";
	struct where place;

	symbols_function_name(row->frame->function, name);
	snprintf(text, sizeof(text), row->entered ? "> %s" : "%s:", name);
	where_called(row->frame, &place);
	if (row->entered && row->frame->caller->caller)
		place_text(&place, right);
	print_cell(row, 0, text, right);
}

/* The outermost function around `frame` that was entered since `before`; `frame` itself if none was. */
static const struct record_frame *entered_since(const struct record_frame *frame,
						const struct record_frame *before)
{
	const struct record_frame *outermost = frame;

	for (; frame && frame->caller; frame = frame->caller) {
		const struct record_frame *at = before;

		while (at && at != frame)
			at = at->caller;
		if (at)
			break;
		outermost = frame;
	}
	return outermost;
}

/* How many, and in which functions, as far as they have room; and from where the first was called. */
static void print_left_out(const struct row *row)
{
	const struct record_frame *named[LEFT_OUT_NAMES];
	char text[CELL_BYTES], right[CELL_BYTES] = "";
	int length = snprintf(text, sizeof(text), "... %zu more in", row->count);
	struct where place;
	unsigned count = 0;

	for (size_t i = 0; i < row->count && count < LEFT_OUT_NAMES; i++) {
		const struct record_frame *frame = entered_since(row->event[i].frame, row->frame);
		char name[SYMBOLS_NAME_BYTES];
		bool again = !frame || !frame->caller;

		for (unsigned j = 0; j < count && !again; j++)
			again = named[j]->function == frame->function;
		if (again)
			continue;
		symbols_function_name(frame->function, name);
		if (count && (size_t)length + strlen(name) + RIGHT_ROOM > trace.column)
			break;
		length +=
		    snprintf(text + length, sizeof(text) - (size_t)length, "%s %s", count ? "," : "", name);
		named[count++] = frame;
	}
	if (count && named[0]->caller->caller) {
		where_called(named[0], &place);
		place_text(&place, right);
	}
	print_cell(row, 2, text, right);
}

static void print_rule(const char *format, ...) PRINTF_LIKE(1, 2);

static void print_rule(const char *format, ...)
{
	unsigned used = STEP_DIGITS + 4;
	va_list arguments;

	pad(STEP_DIGITS + 1);
	fputs("-- ", trace.out);
	va_start(arguments, format);
	used += (unsigned)vfprintf(trace.out, format, arguments);
	va_end(arguments);
	for (; used < trace.columns; used++)
		fputc('-', trace.out);
	fputc('\n', trace.out);
}

static void print_switch(const struct row *row)
{
	const struct explore_segment *segment = &record.segments[row->segment];

	if (!record.segment_count)
		return;
	if (!segment->end)
		print_rule("CPU %u is preempted, CPU %u runs ", segment->cpu, row->cpu);
	else if (!*segment->end)
		print_rule("CPU %u has returned, CPU %u runs ", segment->cpu, row->cpu);
	else
		print_rule("CPU %u waits %s, CPU %u runs ", segment->cpu, segment->end, row->cpu);
}

static void print_failure(const struct row *row)
{
	const struct record_cpu *cpu = &record.cpus[row->cpu];
	struct where places[STACK_MAX];
	char right[CELL_BYTES] = "";

	if (rows_failed_after()) {
		print_rule("all CPUs have returned: %s ", explore_kind_name(record.failure.kind));
		return;
	}
	if (row->event) {
		print_cell(row, 2, "^ FAILS HERE", "");
		return;
	}
	if (where_stack(cpu->frame, cpu->pc, places, STACK_MAX))
		place_text(&places[0], right);
	print_cell(row, 2, "FAILS HERE", right);
}

static void print_row(const struct row *row)
{
	switch (row->kind) {
	case ROW_EVENT:
		print_event(row);
		break;
	case ROW_FUNCTION:
		print_function(row);
		break;
	case ROW_LEFT_OUT:
		print_left_out(row);
		break;
	case ROW_SWITCH:
		print_switch(row);
		break;
	case ROW_OTHER:
		print_cell(row, 2, "^ the other side", "");
		break;
	case ROW_READ:
		print_cell(row, 2, "^ what the condition read last", "");
		break;
	case ROW_FAILURE:
		print_failure(row);
		break;
	}
}

/* --- All -------------------------------------------------------------------------------------------------
 */

static void print_header(void)
{
	pad(STEP_DIGITS - 4);
	fputs("step", trace.out);
	for (unsigned column = 0; column < trace.shown_count && !trace.list; column++) {
		int used = fprintf(trace.out, " CPU %u", trace.shown[column]);

		if (column + 1 == trace.shown_count)
			break;
		pad(trace.column + 1 - (unsigned)used);
		fputs(" |", trace.out);
	}
	fputc('\n', trace.out);
}

/* Each CPU of which something is shown has a column. */
static void lay_out(unsigned columns)
{
	unsigned left = columns - STEP_DIGITS - 1, gaps;
	bool seen[CHECK_CPUS_MAX] = {false};

	for (size_t i = trace.first; i < trace.rows.count; i++)
		seen[trace.rows.row[i].cpu] = true;
	for (unsigned cpu = 0; cpu < CHECK_CPUS_MAX; cpu++)
		if (seen[cpu])
			trace.shown[trace.shown_count++] = cpu;
	if (!trace.shown_count)
		trace.shown_count = 1;
	gaps = 3 * (trace.shown_count - 1);
	trace.column = left > gaps ? (left - gaps) / trace.shown_count : 0;
	trace.list = trace.column < COLUMN_MIN;
	if (trace.list)
		trace.column = left - (unsigned)strlen("CPU 0  ");
}

int trace_print(FILE *out, unsigned columns, const struct record_event *other)
{
	trace.out = out;
	trace.columns = columns;
	trace.shown_count = 0;
	if (rows_make(&trace.rows, other)) {
		free(trace.rows.row);
		return -ENOMEM;
	}
	trace.first = trace.rows.count > ROWS_MAX ? trace.rows.count - ROWS_MAX : 0;
	lay_out(columns);
	word_begin();
	for (size_t i = trace.first; i < trace.rows.count; i++)
		if (trace.rows.row[i].kind == ROW_EVENT)
			word_number(trace.rows.row[i].event);
	print_header();
	if (trace.first)
		fprintf(out, "%*s... %llu earlier steps\n", STEP_DIGITS + 1, "",
			(unsigned long long)trace.rows.row[trace.first].step);
	for (size_t i = trace.first; i < trace.rows.count; i++)
		print_row(&trace.rows.row[i]);
	word_begin();
	free(trace.rows.row);
	return 0;
}
