/* SPDX-License-Identifier: MIT */
#include "lab/wire.h"

#include <stdlib.h>
#include <string.h>

void wire_bytes(struct wire *wire, void *value, size_t bytes)
{
	if (wire->reading) {
		if (wire->failed || bytes > wire->bytes - wire->at) {
			wire->failed = true;
			memset(value, 0, bytes);
			return;
		}
		memcpy(value, wire->data + wire->at, bytes);
		wire->at += bytes;
		return;
	}
	if (wire->failed)
		return;
	if (bytes > wire->room - wire->bytes) {
		size_t room = 2 * (wire->bytes + bytes) + 4096;
		char *larger = realloc(wire->data, room);

		if (!larger) {
			wire->failed = true;
			return;
		}
		wire->data = larger;
		wire->room = room;
	}
	memcpy(wire->data + wire->bytes, value, bytes);
	wire->bytes += bytes;
}

void wire_string(struct wire *wire, char **text)
{
	size_t length = !wire->reading && *text ? strlen(*text) + 1 : 0;

	wire_bytes(wire, &length, sizeof(length));
	if (!wire->reading) {
		if (length)
			wire_bytes(wire, *text, length);
		return;
	}
	*text = NULL;
	if (!length)
		return;
	*text = length <= wire->bytes - wire->at ? malloc(length) : NULL;
	if (*text)
		wire_bytes(wire, *text, length);
	else
		wire->failed = true;
}

/* Each row is sent as it lies in memory; then what its pointers point to replaces them. */
typedef void wire_row(struct wire *wire, void *row);

static void *wire_rows(struct wire *wire, void *rows, size_t *count, size_t row_bytes, wire_row *strings)
{
	wire_bytes(wire, count, sizeof(*count));
	if (wire->reading) {
		rows = NULL;
		if (*count > (wire->bytes - wire->at) / row_bytes)
			wire->failed = true;
		else if (*count)
			rows = calloc(*count, row_bytes);
		if (!rows) {
			wire->failed = wire->failed || *count;
			*count = 0;
		}
	}
	for (size_t i = 0; i < *count; i++) {
		void *row = (char *)rows + i * row_bytes;

		wire_bytes(wire, row, row_bytes);
		strings(wire, row);
	}
	return rows;
}

static void caller_row(struct wire *wire, void *row)
{
	wire_string(wire, &((struct vsmp_caller_row *)row)->symbol);
}

static void profile_row(struct wire *wire, void *row)
{
	struct vsmp_profile_row *profile = row;

	wire_string(wire, &profile->symbol);
	profile->callers =
	    wire_rows(wire, profile->callers, &profile->caller_count, sizeof(*profile->callers), caller_row);
}

static void stack_row(struct wire *wire, void *row)
{
	wire_string(wire, &((struct vsmp_stack_row *)row)->path);
}

static void lock_site_row(struct wire *wire, void *row)
{
	wire_string(wire, &((struct vsmp_lock_site_row *)row)->symbol);
}

static void lock_row(struct wire *wire, void *row)
{
	struct vsmp_lock_row *lock = row;

	wire_string(wire, &lock->name);
	lock->sites = wire_rows(wire, lock->sites, &lock->site_count, sizeof(*lock->sites), lock_site_row);
}

static void line_site_row(struct wire *wire, void *row)
{
	wire_string(wire, &((struct vsmp_line_site_row *)row)->symbol);
}

static void line_row(struct wire *wire, void *row)
{
	struct vsmp_line_row *line = row;

	wire_string(wire, &line->name);
	line->sites = wire_rows(wire, line->sites, &line->site_count, sizeof(*line->sites), line_site_row);
}

static void conflict_row(struct wire *wire, void *row)
{
	struct vsmp_conflict_row *conflict = row;

	wire_string(wire, &conflict->scope);
	wire_string(wire, &conflict->other_scope);
	wire_string(wire, &conflict->name);
}

void wire_report(struct wire *wire, struct vsmp_report *report)
{
	wire_bytes(wire, &report->operations, sizeof(report->operations));
	wire_bytes(wire, &report->transfers, sizeof(report->transfers));
	wire_bytes(wire, &report->accesses, sizeof(report->accesses));
	wire_bytes(wire, &report->dropped, sizeof(report->dropped));
	wire_bytes(wire, &report->speedups_entered, sizeof(report->speedups_entered));
	wire_bytes(wire, &report->parameters_asked, sizeof(report->parameters_asked));
	report->profile =
	    wire_rows(wire, report->profile, &report->profile_count, sizeof(*report->profile), profile_row);
	report->stacks =
	    wire_rows(wire, report->stacks, &report->stack_count, sizeof(*report->stacks), stack_row);
	report->locks = wire_rows(wire, report->locks, &report->lock_count, sizeof(*report->locks), lock_row);
	report->lines = wire_rows(wire, report->lines, &report->line_count, sizeof(*report->lines), line_row);
	report->conflicts = wire_rows(wire, report->conflicts, &report->conflict_count,
				      sizeof(*report->conflicts), conflict_row);
}

void wire_report_free(struct vsmp_report *report)
{
	for (size_t i = 0; i < report->profile_count; i++) {
		for (size_t j = 0; j < report->profile[i].caller_count; j++)
			free(report->profile[i].callers[j].symbol);
		free(report->profile[i].callers);
		free(report->profile[i].symbol);
	}
	for (size_t i = 0; i < report->stack_count; i++)
		free(report->stacks[i].path);
	for (size_t i = 0; i < report->lock_count; i++) {
		for (size_t j = 0; j < report->locks[i].site_count; j++)
			free(report->locks[i].sites[j].symbol);
		free(report->locks[i].sites);
		free(report->locks[i].name);
	}
	for (size_t i = 0; i < report->line_count; i++) {
		for (size_t j = 0; j < report->lines[i].site_count; j++)
			free(report->lines[i].sites[j].symbol);
		free(report->lines[i].sites);
		free(report->lines[i].name);
	}
	for (size_t i = 0; i < report->conflict_count; i++) {
		free(report->conflicts[i].scope);
		free(report->conflicts[i].other_scope);
		free(report->conflicts[i].name);
	}
	free(report->profile);
	free(report->stacks);
	free(report->locks);
	free(report->lines);
	free(report->conflicts);
	memset(report, 0, sizeof(*report));
}
