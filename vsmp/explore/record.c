/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/line.h"
#include "vsmp/observe/calls.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/observe.h"

#define FRAMES_PER_CHUNK 1024u
#define NO_EVENT         SIZE_MAX

/* Stacks: each CPU's, and that of setup, holds and teardown. */
#define ALONE  CHECK_CPUS_MAX
#define STACKS (CHECK_CPUS_MAX + 1)

struct chunk {
	struct chunk *next;
	size_t count;
	struct record_frame frames[FRAMES_PER_CHUNK];
};

enum record_level record_level;
struct record record;

static struct chunk *chunks;
static struct record_frame roots[STACKS], *cursors[STACKS];
static unsigned lost_depth[STACKS]; /* functions entered for which there was no memory */

/* An access whose value stands in memory only once the next thing happens. */
static size_t unmade = NO_EVENT;

static unsigned this_stack(void)
{
	return explore_alone ? ALONE : current_id;
}

static void free_frames(void)
{
	while (chunks) {
		struct chunk *next = chunks->next;

		free(chunks);
		chunks = next;
	}
	memset(roots, 0, sizeof(roots));
	memset(lost_depth, 0, sizeof(lost_depth));
	for (unsigned i = 0; i < STACKS; i++)
		cursors[i] = &roots[i];
}

void record_begin(void)
{
	free_frames();
	unmade = NO_EVENT;
	record.event_count = 0;
	record.segment_count = 0;
	record.steps = 0;
	record.incomplete = false;
	memset(record.cpus, 0, sizeof(record.cpus));
	memset(&record.failure, 0, sizeof(record.failure));
}

void record_close(void)
{
	record_level = RECORD_NOTHING;
	free_frames();
	free(record.events);
	free(record.segments);
	memset(&record, 0, sizeof(record));
}

static const char *end_of(const struct cpu *cpu)
{
	if (cpu->state == CPU_IDLE)
		return "";
	return cpu->state == CPU_READY ? NULL : cpu->waits_for;
}

void record_step(void)
{
	struct explore_segment *last = record.segments + record.segment_count, *grown;

	record.steps++;
	if (record.segment_count && last[-1].cpu == current_id) {
		last[-1].steps++;
		return;
	}
	if (record.segment_count)
		last[-1].end = end_of(&machine->cpus[last[-1].cpu]);
	grown = grow_array(record.segments, &record.segment_room, record.segment_count + 1, sizeof(*grown));
	if (!grown) {
		record.incomplete = true;
		return;
	}
	record.segments = grown;
	grown[record.segment_count++] = (struct explore_segment){.cpu = current_id, .steps = 1};
}

/* --- Values --------------------------------------------------------------------------------------------- */

/* Whether the machine has memory there, so that we may look. */
static bool can_read(const struct record_event *event)
{
	return event->bytes && event->bytes <= sizeof(uint64_t) && line_of(event->address) &&
	       line_of(event->address + event->bytes - 1);
}

static uint64_t read_value(const struct record_event *event)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)event->address, event->bytes);
	return value;
}

/* The plain store that was announced has been made by now. */
static void finish_store(void)
{
	struct record_event *event;

	if (unmade == NO_EVENT)
		return;
	event = &record.events[unmade];
	unmade = NO_EVENT;
	if (event->event == EXPLORE_WRITE && can_read(event)) {
		event->value = read_value(event);
		event->has = RECORD_VALUE;
	}
}

/* --- Events --------------------------------------------------------------------------------------------- */

static struct record_event *add_event(uintptr_t address, const void *pc, enum explore_event kind)
{
	struct observe_place place = observe_place_of(address);
	struct record_event *grown;

	finish_store();
	grown = grow_array(record.events, &record.event_room, record.event_count + 1, sizeof(*grown));
	if (!grown) {
		record.incomplete = true;
		return NULL;
	}
	record.events = grown;
	grown = &grown[record.event_count++];
	*grown = (struct record_event){.step = record.steps,
				       .frame = cursors[this_stack()],
				       .pc = pc,
				       .address = address,
				       .type_name = place.type_name,
				       .object = place.object,
				       .object_bytes = place.object_bytes,
				       .cpu = (uint8_t)current_id,
				       .alone = explore_alone,
				       .event = (uint8_t)kind};
	return grown;
}

void record_access(const struct explore_access *access)
{
	struct record_event *event;

	if (!explore_alone)
		record.cpus[current_id].pc = access->pc;
	if (record_level < RECORD_EVENTS)
		return;
	event = add_event(access->address, access->pc, access->event);
	if (!event)
		return;
	event->bytes = access->bytes;
	event->order = (uint8_t)access->order;
	if (access->event == EXPLORE_READ && can_read(event)) {
		event->value = read_value(event);
		event->has = RECORD_VALUE;
	}
	if (access->event == EXPLORE_MODIFY && can_read(event))
		event->before = read_value(event);
	unmade = record.event_count - 1;
}

void record_made(const struct explore_access *access, uint64_t value)
{
	struct record_event *event;

	if (record_level < RECORD_EVENTS || unmade == NO_EVENT)
		return;
	event = &record.events[unmade];
	unmade = NO_EVENT;
	event->event = (uint8_t)access->event;
	if (access->event == EXPLORE_MODIFY && can_read(event)) {
		event->value = read_value(event);
		event->has = RECORD_CHANGE;
	} else if (access->event == EXPLORE_LOAD || access->event == EXPLORE_STORE) {
		event->value = value;
		event->has = RECORD_VALUE;
	}
}

void record_call(const char *what, const void *object, const void *pc)
{
	struct record_event *event;

	if (!explore_alone)
		record.cpus[current_id].pc = pc;
	if (record_level < RECORD_EVENTS)
		return;
	event = add_event((uintptr_t)object, pc, EXPLORE_CALL);
	if (event)
		event->what = what;
}

void record_free(const void *memory, size_t bytes, const void *pc)
{
	struct record_event *event = add_event((uintptr_t)memory, pc, EXPLORE_WRITE);

	if (!event)
		return;
	event->bytes = (uint32_t)bytes;
	event->what = "free";
}

/* --- Stacks --------------------------------------------------------------------------------------------- */

static struct record_frame *add_frame(struct record_frame *caller)
{
	struct record_frame *frame;

	if (!chunks || chunks->count == FRAMES_PER_CHUNK) {
		struct chunk *chunk = malloc(sizeof(*chunk));

		if (!chunk)
			return NULL;
		chunk->next = chunks;
		chunk->count = 0;
		chunks = chunk;
	}
	frame = &chunks->frames[chunks->count++];
	frame->caller = caller;
	frame->first_callee = NULL;
	frame->next = caller->first_callee;
	frame->depth = caller->depth + 1;
	caller->first_callee = frame;
	return frame;
}

void record_enter(const void *function, const void *call_site, const void *pc)
{
	unsigned stack = this_stack();
	struct record_frame *frame;

	if (record_level < RECORD_EVENTS)
		return;
	finish_store();
	if (lost_depth[stack]) {
		lost_depth[stack]++;
		return;
	}
	for (frame = cursors[stack]->first_callee; frame; frame = frame->next)
		if (frame->function == function && frame->call_site == call_site && frame->pc == pc)
			break;
	if (!frame) {
		frame = add_frame(cursors[stack]);
		if (!frame) {
			lost_depth[stack] = 1;
			record.incomplete = true;
			return;
		}
		frame->function = function;
		frame->call_site = call_site;
		frame->pc = pc;
	}
	cursors[stack] = frame;
}

void record_exit(void)
{
	unsigned stack = this_stack();

	if (record_level < RECORD_EVENTS)
		return;
	finish_store();
	if (lost_depth[stack])
		lost_depth[stack]--;
	else if (cursors[stack]->caller)
		cursors[stack] = cursors[stack]->caller;
}

/* --- Failures ------------------------------------------------------------------------------------------- */

/* True for what is found before the access is made that shows it. */
static bool found_before(enum explore_kind kind)
{
	return kind == EXPLORE_DATA_RACE || kind == EXPLORE_USE_AFTER_FREE || kind == EXPLORE_WILD_ACCESS;
}

static void note_other(struct record_failure *failure, const struct explore_place *other)
{
	unsigned count = 0;

	failure->other_cpu = other->cpu;
	failure->other_pc = other->pc;
	for (const struct call_node *node = other->stack; node && node->parent; node = node->parent)
		if (count + 1 < RECORD_STACK_MAX)
			failure->other_stack[count++] = node->function;
}

void record_failure(enum explore_kind kind, const struct explore_place *other, const char *text)
{
	struct record_failure *failure = &record.failure;

	if (!found_before(kind))
		finish_store();
	unmade = NO_EVENT;
	*failure = (struct record_failure){
	    .kind = kind, .cpu = current_id, .alone = explore_alone, .has_other = other != NULL};
	snprintf(failure->text, sizeof(failure->text), "%s", text);
	if (other)
		note_other(failure, other);
	/* What an experiment finds when its machine is gone is at no CPU. */
	record.cpu_count = machine ? machine->cpu_count : 0;
	for (unsigned id = 0; id < record.cpu_count; id++) {
		struct record_cpu *cpu = &record.cpus[id];

		cpu->function = calls_cursor(id)->function;
		cpu->frame = cursors[explore_alone && id == current_id ? ALONE : id];
		cpu->waits_for = machine->cpus[id].waits_for;
		cpu->returned = machine->cpus[id].state == CPU_IDLE;
	}
}
