/* SPDX-License-Identifier: MIT */
/*
 * The reports of one run, as perf, lockstat and perf c2c would show them.
 */
#include "lab/report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lab/names.h"
#include "lab/number.h"
#include "lab/table.h"

/* What is less than this share of the time is left out of the profile. */
#define PROFILE_PERCENT_MIN 0.5
#define CHAIN_PERCENT_MIN   1.0
#define CHAINS_MAX          4
#define CHAIN_BYTES         1024
#define LINES_MAX           20
#define SCOPES_MAX          16
#define SITES_MAX           4

static double microseconds(const struct study *study, double cycles)
{
	return cycles / (1e3 * study->plan.machine->shape.gigahertz);
}

static const struct vsmp_report *report_of(const struct study_row *row)
{
	return &row->observed->report;
}

/* One path that ends in a function, with its share of the function's own time. */
struct chain {
	const char *path;
	uint64_t cycles;
};

static int by_cycles(const void *a, const void *b)
{
	const struct chain *one = a, *other = b;

	if (one->cycles != other->cycles)
		return one->cycles < other->cycles ? 1 : -1;
	return strcmp(one->path, other->path);
}

static bool ends_in(const char *path, const char *symbol)
{
	const char *last = strrchr(path, ';');

	return !strcmp(last ? last + 1 : path, symbol);
}

/* Turns "outer;inner;innermost" into "inner < outer". */
static void callers_of(const char *path, char *text, size_t size)
{
	size_t end = strlen(path), used = 0;

	text[0] = '\0';
	while (end && path[end - 1] != ';')
		end--;
	while (end && used < size) {
		size_t last = --end;

		while (end && path[end - 1] != ';')
			end--;
		used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? " < " : "",
					 (int)(last - end), path + end);
	}
}

static void profile_chains(struct table *table, const struct vsmp_report *report,
			   const struct vsmp_profile_row *row)
{
	struct chain *chains = calloc(report->stack_count + 1, sizeof(*chains));
	uint64_t total = 0;
	size_t count = 0;

	if (!chains)
		abort();
	for (size_t i = 0; i < report->stack_count; i++)
		if (ends_in(report->stacks[i].path, row->symbol)) {
			chains[count++] =
			    (struct chain){report->stacks[i].path, report->stacks[i].self_cycles};
			total += report->stacks[i].self_cycles;
		}
	qsort(chains, count, sizeof(*chains), by_cycles);
	for (size_t i = 0; i < count && i < CHAINS_MAX && total; i++) {
		double percent = 100.0 * (double)chains[i].cycles / (double)total;
		char text[CHAIN_BYTES];

		callers_of(chains[i].path, text, sizeof(text));
		if (percent >= CHAIN_PERCENT_MIN && *text)
			table_under(table, "  %s %% < %s", number_percent(percent).text, text);
	}
	for (size_t i = 0; i < row->caller_count && i < CHAINS_MAX && !total; i++)
		table_under(table, "  %s %% < %s", number_percent(row->callers[i].percent).text,
			    row->callers[i].symbol);
	free(chains);
}

static int by_self(const void *a, const void *b)
{
	const struct vsmp_profile_row *one = *(struct vsmp_profile_row *const *)a;
	const struct vsmp_profile_row *other = *(struct vsmp_profile_row *const *)b;

	if (one->self_percent != other->self_percent)
		return one->self_percent < other->self_percent ? 1 : -1;
	if (one->total_percent != other->total_percent)
		return one->total_percent < other->total_percent ? 1 : -1;
	return strcmp(one->symbol, other->symbol);
}

static void show_profile(FILE *out, unsigned width, const struct vsmp_report *report)
{
	static const struct table_column columns[] = {
	    {"self (%)", TABLE_RIGHT, 0, 0},
	    {"total (%)", TABLE_RIGHT, 0, 0},
	    {"function, and the callers of its own time", TABLE_LEFT, 0, 1}};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));
	struct vsmp_profile_row **rows = calloc(report->profile_count + 1, sizeof(struct vsmp_profile_row *));

	if (!rows)
		abort();
	for (size_t i = 0; i < report->profile_count; i++)
		rows[i] = &report->profile[i];
	qsort(rows, report->profile_count, sizeof(struct vsmp_profile_row *), by_self);
	for (size_t i = 0; i < report->profile_count; i++) {
		if (rows[i]->self_percent < PROFILE_PERCENT_MIN &&
		    rows[i]->total_percent < PROFILE_PERCENT_MIN)
			continue;
		table_cell(table, "%s", number_percent(rows[i]->self_percent).text);
		table_cell(table, "%s", number_percent(rows[i]->total_percent).text);
		table_cell(table, "%s", rows[i]->symbol);
		if (rows[i]->self_percent >= PROFILE_PERCENT_MIN)
			profile_chains(table, report, rows[i]);
	}
	fprintf(out, "Profile, of the time of all CPUs\n");
	table_print(table, out, width);
	table_free(table);
	free(rows);
}

static void time_columns(struct table *table, const struct study *study, uint64_t least, uint64_t most,
			 uint64_t total, uint64_t count)
{
	table_cell(table, "%s", count ? number_text(microseconds(study, (double)least)).text : "0");
	table_cell(table, "%s", number_text(microseconds(study, (double)most)).text);
	table_cell(table, "%s", number_text(microseconds(study, (double)total)).text);
	table_cell(table, "%s",
		   count ? number_text(microseconds(study, (double)total / (double)count)).text : "0");
}

static void show_locks(FILE *out, unsigned width, const struct study *study, const struct vsmp_report *report)
{
	static const struct table_column columns[] = {
	    {"class name", TABLE_LEFT, 0, 0},    {"con-bounces", TABLE_RIGHT, 4, 0},
	    {"contentions", TABLE_RIGHT, 0, 0},  {"waittime-min", TABLE_RIGHT, 9, 0},
	    {"waittime-max", TABLE_RIGHT, 7, 0}, {"waittime-total", TABLE_RIGHT, 2, 0},
	    {"waittime-avg", TABLE_RIGHT, 0, 0}, {"acq-bounces", TABLE_RIGHT, 3, 0},
	    {"acquisitions", TABLE_RIGHT, 0, 0}, {"holdtime-min", TABLE_RIGHT, 8, 0},
	    {"holdtime-max", TABLE_RIGHT, 6, 0}, {"holdtime-total", TABLE_RIGHT, 5, 0},
	    {"holdtime-avg", TABLE_RIGHT, 1, 0},
	};
	struct table *table;

	if (!report->lock_count) {
		fprintf(out, "Locks: none was taken\n");
		return;
	}
	table = table_create(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < report->lock_count; i++) {
		const struct vsmp_lock_row *lock = &report->locks[i];

		table_cell(table, "%s%s", lock->name, lock->shared ? "-R" : "");
		table_cell(table, "%llu", (unsigned long long)lock->contended_bounces);
		table_cell(table, "%llu", (unsigned long long)lock->contentions);
		time_columns(table, study, lock->wait_min_cycles, lock->wait_max_cycles,
			     lock->wait_total_cycles, lock->contentions);
		table_cell(table, "%llu", (unsigned long long)lock->acquisition_bounces);
		table_cell(table, "%llu", (unsigned long long)lock->acquisitions);
		time_columns(table, study, lock->hold_min_cycles, lock->hold_max_cycles,
			     lock->hold_total_cycles, lock->acquisitions);
	}
	fprintf(out, "Locks, times in microseconds\n");
	table_print(table, out, width);
	table_free(table);
	for (size_t i = 0; i < report->lock_count; i++)
		for (size_t j = 0; j < report->locks[i].site_count && j < SITES_MAX; j++)
			table_text(out, width, "  ", "%s%s: %llu contentions in %s", report->locks[i].name,
				   report->locks[i].shared ? "-R" : "",
				   (unsigned long long)report->locks[i].sites[j].contentions,
				   report->locks[i].sites[j].symbol);
}

static void show_lines(FILE *out, unsigned width, const struct study *study, const struct vsmp_report *report)
{
	static const struct table_column columns[] = {
	    {"transfers/op", TABLE_RIGHT, 0, 0},
	    {"lines", TABLE_RIGHT, 2, 0},
	    {"invalidations", TABLE_RIGHT, 4, 0},
	    {"wait/transfer (us)", TABLE_RIGHT, 3, 0},
	    {"readers", TABLE_RIGHT, 1, 0},
	    {"writers", TABLE_RIGHT, 1, 0},
	    {"what is there, and from where it is used", TABLE_LEFT, 0, 1},
	};
	double operations = report->operations ? (double)report->operations : 1;
	struct table *table;

	if (!report->line_count) {
		fprintf(out, "Contended lines: none\n");
		return;
	}
	table = table_create(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < report->line_count && i < LINES_MAX; i++) {
		const struct vsmp_line_row *line = &report->lines[i];

		table_cell(table, "%s", number_text((double)line->transfers / operations).text);
		table_cell(table, "%llu", (unsigned long long)line->lines);
		table_cell(table, "%llu", (unsigned long long)line->invalidations);
		table_cell(table, "%s",
			   line->transfers ? number_text(microseconds(study, (double)line->wait_cycles /
										 (double)line->transfers))
						 .text
					   : "0");
		table_cell(table, "%u", line->readers);
		table_cell(table, "%u", line->writers);
		table_cell(table, "%s", line->name);
		for (size_t j = 0; j < line->site_count && j < SITES_MAX; j++)
			table_under(table, "  %s %% %s in %s",
				    number_percent(line->transfers
						       ? 100.0 * (double)line->sites[j].transfers /
							     (double)line->transfers
						       : 0)
					.text,
				    line->sites[j].writes ? "writes" : "reads", line->sites[j].symbol);
	}
	fprintf(out, "Contended lines: %zu\n", report->line_count);
	table_print(table, out, width);
	table_free(table);
	if (report->line_count > LINES_MAX)
		fprintf(out, "(and %zu more)\n", report->line_count - LINES_MAX);
}

/* How many lines each two operations meet on. */
static void show_matrix(FILE *out, unsigned width, const struct vsmp_report *report)
{
	struct table_column columns[SCOPES_MAX + 1] = {{"lines", TABLE_LEFT, 0, 0}};
	struct names scopes = {0};
	struct table *table;

	for (size_t i = 0; i < report->conflict_count; i++)
		if (names_add(&scopes, report->conflicts[i].scope) ||
		    names_add(&scopes, report->conflicts[i].other_scope))
			abort();
	names_sort(&scopes);
	if (scopes.count > 1 && scopes.count <= SCOPES_MAX) {
		for (size_t i = 0; i < scopes.count; i++)
			columns[i + 1] = (struct table_column){scopes.name[i], TABLE_RIGHT, 0, 0};
		table = table_create(columns, scopes.count + 1);
		for (size_t i = 0; i < scopes.count; i++) {
			table_cell(table, "%s", scopes.name[i]);
			for (size_t j = 0; j < scopes.count; j++) {
				uint64_t lines = 0;

				for (size_t k = 0; k < report->conflict_count; k++) {
					const struct vsmp_conflict_row *conflict = &report->conflicts[k];

					if ((!strcmp(conflict->scope, scopes.name[i]) &&
					     !strcmp(conflict->other_scope, scopes.name[j])) ||
					    (!strcmp(conflict->scope, scopes.name[j]) &&
					     !strcmp(conflict->other_scope, scopes.name[i])))
						lines += conflict->lines;
				}
				table_cell(table, "%llu", (unsigned long long)lines);
			}
		}
		table_print(table, out, width);
		table_free(table);
		fputc('\n', out);
	}
	names_free(&scopes);
}

static void show_conflicts(FILE *out, unsigned width, const struct vsmp_report *report)
{
	static const struct table_column columns[] = {
	    {"operation", TABLE_LEFT, 0, 0},  {"with", TABLE_LEFT, 0, 0},
	    {"sharing", TABLE_LEFT, 1, 0},    {"lines", TABLE_RIGHT, 0, 0},
	    {"transfers", TABLE_RIGHT, 2, 0}, {"what is there", TABLE_LEFT, 0, 1},
	};
	struct table *table;

	if (!report->conflict_count) {
		fprintf(out, "Conflicts between operations: none\n");
		return;
	}
	table = table_create(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < report->conflict_count; i++) {
		const struct vsmp_conflict_row *conflict = &report->conflicts[i];

		table_cell(table, "%s", conflict->scope);
		table_cell(table, "%s", conflict->other_scope);
		table_cell(table, "%s", conflict->true_sharing ? "true" : "false");
		table_cell(table, "%llu", (unsigned long long)conflict->lines);
		table_cell(table, "%llu", (unsigned long long)conflict->transfers);
		table_cell(table, "%s", conflict->name);
	}
	fprintf(out, "Conflicts between operations\n");
	show_matrix(out, width, report);
	table_print(table, out, width);
	table_free(table);
}

void report_observations(FILE *out, unsigned width, const struct study *study)
{
	const struct study_plan *plan = &study->plan;

	for (size_t i = 0; i < plan->case_count; i++) {
		const struct study_row *row = &study->rows[i];

		if (plan->profile || plan->locks || plan->lines || plan->conflicts)
			fprintf(out, "\n--- %s, %u CPUs\n", report_variant(plan, &row->what).text,
				row->what.cpus);
		if (report_of(row)->dropped)
			table_text(
			    out, width, "",
			    "warning: %s, %u CPUs: there was no memory to keep %llu of the observed events; "
			    "what is shown of this case tells too little",
			    report_variant(plan, &row->what).text, row->what.cpus,
			    (unsigned long long)report_of(row)->dropped);
		if (plan->profile) {
			fputc('\n', out);
			show_profile(out, width, report_of(row));
		}
		if (plan->locks) {
			fputc('\n', out);
			show_locks(out, width, study, report_of(row));
		}
		if (plan->lines) {
			fputc('\n', out);
			show_lines(out, width, study, report_of(row));
		}
		if (plan->conflicts) {
			fputc('\n', out);
			show_conflicts(out, width, report_of(row));
		}
	}
}
