/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/conflicts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/linemap.h"
#include "vsmp/observe/observe.h"
#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/texts.h"
#include "vsmp/observe/touched.h"

enum record_state {
	RECORD_UNTOUCHED = 0, /* in its present life */
	RECORD_PRIVATE,       /* one CPU in one scope has touched it: the common case, kept small */
	RECORD_SHARED
};

struct record {
	union {
		line_bytes touched;        /* private */
		struct touched_line *line; /* shared */
	};
	line_bytes written;  /* private */
	uint16_t cpu, scope; /* private */
	uint16_t state;
};

/* The scope that a CPU was in last, so that its name has to be looked at only when it changes. */
struct scope_memory {
	const char *name;
	uint16_t number;
};

static struct {
	struct scope_memory *cpus; /* NULL: nothing is collected */
	struct linemap map;        /* to struct record */
	uint32_t *scopes;          /* their names' texts */
	size_t scope_count, scope_capacity;
	struct pairmap by_pointer; /* (name's address, 0) to scope + 1 */
	struct pairmap by_text;    /* (name's text, 0) to scope + 1 */
	uint64_t dropped;
} seen;

int conflicts_open(unsigned cpus)
{
	memset(&seen, 0, sizeof(seen));
	linemap_open(&seen.map, sizeof(struct record));
	seen.cpus = calloc(cpus, sizeof(*seen.cpus));
	return seen.cpus ? 0 : -ENOMEM;
}

static void free_record(uint64_t number, void *memory, void *context)
{
	struct record *record = memory;

	(void)number, (void)context;
	if (record->state == RECORD_SHARED) {
		touched_free(record->line);
		free(record->line);
	}
}

void conflicts_close(void)
{
	linemap_each(&seen.map, free_record, NULL);
	linemap_close(&seen.map);
	free(seen.cpus);
	free(seen.scopes);
	pairmap_free(&seen.by_pointer);
	pairmap_free(&seen.by_text);
	memset(&seen, 0, sizeof(seen));
}

uint64_t conflicts_dropped(void)
{
	return seen.dropped;
}

static void renew_record(uint64_t number, void *memory, void *context)
{
	struct record *record = memory;

	(void)number, (void)context;
	if (record->state == RECORD_PRIVATE)
		record->state = RECORD_UNTOUCHED;
	else if (record->state == RECORD_SHARED && touched_renew(record->line))
		seen.dropped++;
}

void conflicts_renew(uint64_t first, uint64_t lines)
{
	linemap_each_in(&seen.map, first, lines, renew_record, NULL);
}

static int look_up_scope(const char *name, uint16_t *number)
{
	uint64_t *known = pairmap_at(&seen.by_pointer, (uintptr_t)name, 0), *same;
	uint32_t text, *grown;

	if (!known)
		return -ENOMEM;
	if (!*known) {
		if (texts_add(name, &text))
			return -ENOMEM;
		same = pairmap_at(&seen.by_text, text, 0);
		if (!same)
			return -ENOMEM;
		if (!*same) {
			if (seen.scope_count > UINT16_MAX)
				return -ENOMEM;
			grown = grow_array(seen.scopes, &seen.scope_capacity, seen.scope_count + 1,
					   sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			seen.scopes = grown;
			grown[seen.scope_count++] = text;
			*same = seen.scope_count;
		}
		*known = *same;
	}
	*number = (uint16_t)(*known - 1);
	return 0;
}

/* Makes a record shared, with what its one CPU has done. */
static int share(struct record *record)
{
	struct touched_line *line = calloc(1, sizeof(*line));

	if (!line)
		return -ENOMEM;
	if (touched_begin(line, record->cpu, record->scope, record->touched, record->written)) {
		touched_free(line);
		free(line);
		return -ENOMEM;
	}
	record->line = line;
	record->state = RECORD_SHARED;
	return 0;
}

static int note_shared(struct touched_line *line, unsigned cpu, uint16_t scope, uint64_t number,
		       unsigned offset, unsigned bytes, bool write, bool transferred)
{
	if (unlikely(!line->place_known)) {
		if (naming_place_of(number, offset, &line->place))
			return -ENOMEM;
		line->place_known = true;
	}
	return touched_access(line, cpu, scope, offset, bytes, write, transferred);
}

void observe_access(unsigned cpu, const char *scope_name, uint64_t number, unsigned offset, unsigned bytes,
		    bool write, bool transferred)
{
	line_bytes touched = line_bytes_of(offset, bytes);
	struct scope_memory *scope;
	struct record *record;

	if (!seen.cpus)
		return;
	scope = &seen.cpus[cpu];
	if (unlikely(scope->name != scope_name)) {
		if (look_up_scope(scope_name, &scope->number)) {
			seen.dropped++;
			return;
		}
		scope->name = scope_name;
	}
	record = linemap_at(&seen.map, number);
	if (unlikely(!record)) {
		seen.dropped++;
		return;
	}
	if (record->state == RECORD_UNTOUCHED) {
		*record =
		    (struct record){.cpu = (uint16_t)cpu, .scope = scope->number, .state = RECORD_PRIVATE};
	} else if (record->state == RECORD_PRIVATE &&
		   (record->cpu != cpu || record->scope != scope->number) && share(record)) {
		seen.dropped++;
		return;
	}
	if (record->state == RECORD_PRIVATE) {
		record->touched |= touched;
		record->written |= write ? touched : 0;
	} else if (note_shared(record->line, cpu, scope->number, number, offset, bytes, write, transferred)) {
		seen.dropped++;
	}
}

/* --- The report ------------------------------------------------------------------------------------------
 */

/* The lines of one row. */
struct conflict_group {
	struct vsmp_conflict_row row; /* names come last */
	uint32_t scope, other_scope;  /* texts */
	uint64_t last_line;           /* + 1: the line counted last, which may have had several lives */
	struct naming_tally fields;
};

struct conflict_groups {
	struct conflict_group *groups;
	size_t count, capacity;
	struct pairmap by_scopes; /* (scopes, true sharing) to number of the pair, from 1 */
	struct pairmap
	    by_field; /* (that number, field) to group + 1; a field's base and field are one number */
	struct pairmap fields; /* (base, field) to its number, from 1 */
	int error;
};

/* Finds the number that a map has for a pair of keys, or gives it the next one; 0 without memory. */
static uint64_t number_of(struct pairmap *map, uint64_t first, uint64_t second)
{
	uint64_t next = map->count + 1, *number = pairmap_at(map, first, second);

	if (number && !*number)
		*number = next;
	return number ? *number : 0;
}

static struct conflict_group *group_of(struct conflict_groups *groups, const struct touched_pair *pair,
				       struct naming_field field)
{
	bool true_sharing = pair->same != 0;
	uint64_t scopes =
	    number_of(&groups->by_scopes, (uint64_t)pair->scope << 16 | pair->other_scope, true_sharing);
	uint64_t field_number = number_of(&groups->fields, field.base, field.field);
	uint64_t *index = scopes && field_number ? pairmap_at(&groups->by_field, scopes, field_number) : NULL;
	struct conflict_group *grown, *group;

	if (!index)
		return NULL;
	if (*index)
		return &groups->groups[*index - 1];
	grown = grow_array(groups->groups, &groups->capacity, groups->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	groups->groups = grown;
	group = &grown[groups->count];
	*group = (struct conflict_group){
	    .row.true_sharing = true_sharing,
	    .scope = seen.scopes[pair->scope],
	    .other_scope = seen.scopes[pair->other_scope],
	};
	*index = ++groups->count;
	return group;
}

/* Names the bytes that conflict: as they were asked for, when they moved, and else byte by byte. */
static int name_bytes(const struct touched_pair *pair, struct naming_tally *tally, uint64_t *transfers)
{
	line_bytes left = pair->same ? pair->same : pair->near;
	struct naming_field field;
	int error = 0;

	for (size_t i = 0; i < pair->move_count && !error; i++) {
		const struct touched_move *move = &pair->moves[i];
		line_bytes bytes = line_bytes_of(move->offset, move->bytes);

		*transfers += move->transfers;
		if (!(bytes & (pair->same ? pair->same : pair->near)))
			continue;
		left &= ~bytes;
		error = naming_field(&pair->place, move->offset, move->bytes, &field);
		if (!error)
			error = naming_count(tally, field, move->transfers);
	}
	for (unsigned byte = 0; byte < CACHE_LINE_BYTES && !error; byte++) {
		if (!(left >> byte & 1))
			continue;
		error = naming_field(&pair->place, byte, 1, &field);
		if (!error)
			error = naming_count(tally, field, 0);
	}
	return error;
}

static int add_pair(struct conflict_groups *groups, uint64_t line, const struct touched_pair *pair)
{
	struct naming_tally tally = {0};
	uint64_t transfers = 0;
	struct conflict_group *group;
	int error = name_bytes(pair, &tally, &transfers);

	if (!error) {
		group = group_of(groups, pair, naming_main(&tally));
		error = group ? naming_merge(&group->fields, &tally) : -ENOMEM;
	}
	if (!error) {
		group->row.lines += group->last_line != line + 1;
		group->last_line = line + 1;
		group->row.transfers += transfers;
	}
	naming_free(&tally);
	return error;
}

static void group_record(uint64_t number, void *memory, void *context)
{
	struct conflict_groups *groups = context;
	struct record *record = memory;

	if (groups->error || record->state != RECORD_SHARED)
		return;
	groups->error = touched_judge(record->line);
	for (size_t i = 0; i < record->line->pair_count && !groups->error; i++)
		if (record->line->pairs[i].near)
			groups->error = add_pair(groups, number, &record->line->pairs[i]);
}

static int compare_rows(const void *left, const void *right)
{
	const struct vsmp_conflict_row *a = left, *b = right;
	int order;

	if (a->transfers != b->transfers)
		return a->transfers > b->transfers ? -1 : 1;
	if (a->lines != b->lines)
		return a->lines > b->lines ? -1 : 1;
	order = strcmp(a->scope, b->scope);
	if (!order)
		order = strcmp(a->other_scope, b->other_scope);
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : b->true_sharing - a->true_sharing;
}

static int add_row(struct vsmp_report *report, struct conflict_group *group)
{
	struct vsmp_conflict_row *row = &report->conflicts[report->conflict_count++];
	const char *scope = texts_get(group->scope), *other = texts_get(group->other_scope);
	bool in_order = strcmp(scope, other) <= 0;

	*row = group->row;
	row->scope = strdup(in_order ? scope : other);
	row->other_scope = strdup(in_order ? other : scope);
	/* Who never moved the line may still be half of the conflict. */
	row->name = naming_join(&group->fields, false);
	return row->scope && row->other_scope && row->name ? 0 : -ENOMEM;
}

int conflicts_report(struct vsmp_report *report)
{
	struct conflict_groups groups = {0};

	linemap_each(&seen.map, group_record, &groups);
	if (!groups.error && groups.count) {
		report->conflicts = calloc(groups.count, sizeof(*report->conflicts));
		groups.error = report->conflicts ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < groups.count; i++) {
		if (!groups.error)
			groups.error = add_row(report, &groups.groups[i]);
		naming_free(&groups.groups[i].fields);
	}
	free(groups.groups);
	pairmap_free(&groups.by_scopes);
	pairmap_free(&groups.by_field);
	pairmap_free(&groups.fields);
	if (!groups.error && report->conflict_count)
		qsort(report->conflicts, report->conflict_count, sizeof(*report->conflicts), compare_rows);
	return groups.error;
}
