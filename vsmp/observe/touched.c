/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/grow.h"

/* --- Who touched which bytes -----------------------------------------------------------------------------
 */

static struct touched_scope *scope_of(struct touched_line *line, uint16_t scope)
{
	struct touched_scope *grown;

	for (size_t i = 0; i < line->scope_count; i++)
		if (line->scopes[i].scope == scope)
			return &line->scopes[i];
	grown = grow_array(line->scopes, &line->scope_capacity, line->scope_count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	line->scopes = grown;
	grown[line->scope_count] = (struct touched_scope){.scope = scope};
	return &grown[line->scope_count++];
}

static struct touched_cpu *cpu_of(struct touched_scope *scope, unsigned cpu)
{
	struct touched_cpu *grown;

	for (size_t i = 0; i < scope->count; i++)
		if (scope->cpus[i].cpu == cpu)
			return &scope->cpus[i];
	grown = grow_array(scope->cpus, &scope->capacity, scope->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	scope->cpus = grown;
	grown[scope->count] = (struct touched_cpu){.cpu = (uint16_t)cpu};
	return &grown[scope->count++];
}

static void find_twice(struct touched_scope *scope)
{
	line_bytes touched = 0, written = 0;

	for (size_t i = 0; i < scope->count; i++) {
		scope->touched_twice |= touched & scope->cpus[i].touched;
		scope->written_twice |= written & scope->cpus[i].written;
		touched |= scope->cpus[i].touched;
		written |= scope->cpus[i].written;
	}
}

static int note_bytes(struct touched_line *line, unsigned cpu, uint16_t scope_number, line_bytes bytes,
		      bool write)
{
	struct touched_scope *scope = scope_of(line, scope_number);
	struct touched_cpu *at;

	if (!scope)
		return -ENOMEM;
	if (!(bytes & ~scope->touched_twice) && (!write || !(bytes & ~scope->written_twice)))
		return 0;
	at = cpu_of(scope, cpu);
	if (!at)
		return -ENOMEM;
	if (!(bytes & ~at->touched) && (!write || !(bytes & ~at->written)))
		return 0;
	at->touched |= bytes;
	if (write)
		at->written |= bytes;
	find_twice(scope);
	return 0;
}

int touched_begin(struct touched_line *line, unsigned cpu, uint16_t scope_number, line_bytes touched,
		  line_bytes written)
{
	struct touched_scope *scope = scope_of(line, scope_number);
	struct touched_cpu *at = scope ? cpu_of(scope, cpu) : NULL;

	if (!at)
		return -ENOMEM;
	at->touched = touched;
	at->written = written;
	*(written ? &line->writer : &line->reader) =
	    (struct touched_by){.known = true, .cpu = (uint16_t)cpu, .scope = scope_number};
	return 0;
}

/* --- Pairs of scopes -------------------------------------------------------------------------------------
 */

static struct touched_pair *pair_of(struct touched_line *line, uint16_t scope, uint16_t other_scope)
{
	uint16_t low = scope < other_scope ? scope : other_scope;
	uint16_t high = scope < other_scope ? other_scope : scope;
	struct touched_pair *grown;

	for (size_t i = 0; i < line->pair_count; i++) {
		struct touched_pair *pair = &line->pairs[i];

		if (pair->scope == low && pair->other_scope == high &&
		    naming_same_place(&pair->place, &line->place))
			return pair;
	}
	grown = grow_array(line->pairs, &line->pair_capacity, line->pair_count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	line->pairs = grown;
	grown[line->pair_count] =
	    (struct touched_pair){.place = line->place, .scope = low, .other_scope = high};
	return &grown[line->pair_count++];
}

static int count_move(struct touched_pair *pair, unsigned offset, unsigned bytes)
{
	struct touched_move *grown;

	for (size_t i = 0; i < pair->move_count; i++) {
		if (pair->moves[i].offset == offset && pair->moves[i].bytes == bytes) {
			pair->moves[i].transfers++;
			return 0;
		}
	}
	grown = grow_array(pair->moves, &pair->move_capacity, pair->move_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pair->moves = grown;
	grown[pair->move_count++] =
	    (struct touched_move){.offset = (uint8_t)offset, .bytes = (uint8_t)bytes, .transfers = 1};
	return 0;
}

/*
 * Counts a fill for the scope that it came from: that of the last writer, or, for a writer that only threw
 * out readers, that of the last of them. A fill that no scope's write explains is nobody's conflict.
 */
static int note_transfer(struct touched_line *line, unsigned cpu, uint16_t scope, unsigned offset,
			 unsigned bytes, bool write)
{
	const struct touched_by *from = NULL;
	struct touched_pair *pair;

	if (line->writer.known && line->writer.cpu != cpu)
		from = &line->writer;
	else if (write && line->reader.known && line->reader.cpu != cpu)
		from = &line->reader;
	else if (write && line->other_reader.known)
		from = &line->other_reader;
	if (!from)
		return 0;
	pair = pair_of(line, scope, from->scope);
	return pair ? count_move(pair, offset, bytes) : -ENOMEM;
}

int touched_access(struct touched_line *line, unsigned cpu, uint16_t scope, unsigned offset, unsigned bytes,
		   bool write, bool transferred)
{
	struct touched_by by = {.known = true, .cpu = (uint16_t)cpu, .scope = scope};
	int error = 0;

	if (transferred)
		error = note_transfer(line, cpu, scope, offset, bytes, write);
	if (write) {
		line->writer = by;
		line->reader.known = line->other_reader.known = false;
	} else {
		if (line->reader.known && line->reader.cpu != cpu)
			line->other_reader = line->reader;
		line->reader = by;
	}
	return error ? error : note_bytes(line, cpu, scope, line_bytes_of(offset, bytes), write);
}

/* What two CPUs' accesses mean for each other. */
static void meet(const struct touched_cpu *a, const struct touched_cpu *b, line_bytes *same, line_bytes *near)
{
	if (a->cpu == b->cpu || !(a->written || b->written))
		return;
	*same |= (a->written & b->touched) | (a->touched & b->written);
	if (a->written)
		*near |= a->written | b->touched;
	if (b->written)
		*near |= b->written | a->touched;
}

static int judge_scopes(struct touched_line *line, const struct touched_scope *a,
			const struct touched_scope *b)
{
	line_bytes same = 0, near = 0;
	struct touched_pair *pair;

	for (size_t i = 0; i < a->count; i++)
		for (size_t j = a == b ? i + 1 : 0; j < b->count; j++)
			meet(&a->cpus[i], &b->cpus[j], &same, &near);
	if (!near)
		return 0;
	pair = pair_of(line, a->scope, b->scope);
	if (!pair)
		return -ENOMEM;
	pair->same |= same;
	pair->near |= near;
	return 0;
}

int touched_judge(struct touched_line *line)
{
	int error = 0;

	for (size_t i = 0; i < line->scope_count && !error; i++)
		for (size_t j = i; j < line->scope_count && !error; j++)
			error = judge_scopes(line, &line->scopes[i], &line->scopes[j]);
	return error;
}

static void free_scopes(struct touched_line *line)
{
	for (size_t i = 0; i < line->scope_count; i++)
		free(line->scopes[i].cpus);
	free(line->scopes);
	line->scopes = NULL;
	line->scope_count = line->scope_capacity = 0;
}

int touched_renew(struct touched_line *line)
{
	int error = touched_judge(line);

	free_scopes(line);
	line->place_known = false;
	line->writer.known = line->reader.known = line->other_reader.known = false;
	return error;
}

void touched_free(struct touched_line *line)
{
	free_scopes(line);
	for (size_t i = 0; i < line->pair_count; i++)
		free(line->pairs[i].moves);
	free(line->pairs);
}
