/* SPDX-License-Identifier: MIT */
#include "lab/json_parts.h"

static double nanoseconds(const struct study *study, uint64_t cycles)
{
	return (double)cycles / study->plan.machine->shape.gigahertz;
}

static json_t *lock_sites(const struct vsmp_lock_row *lock)
{
	json_t *array = json_array();

	for (size_t i = 0; i < lock->site_count; i++)
		json_array_append_new(array, json_pack("{s:s, s:I}", "symbol", lock->sites[i].symbol,
						       "contended", (json_int_t)lock->sites[i].contentions));
	return array;
}

json_t *json_locks(const struct study *study, const struct vsmp_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->lock_count; i++) {
		const struct vsmp_lock_row *lock = &report->locks[i];

		json_array_append_new(
		    array,
		    json_pack("{s:o, s:I, s:I, s:f, s:f, s:I, s:I, s:f, s:f, s:o}", "name",
			      json_sprintf("%s%s", lock->name, lock->shared ? "-R" : ""), "acquisitions",
			      (json_int_t)lock->acquisitions, "contended", (json_int_t)lock->contentions,
			      "wait_ns", nanoseconds(study, lock->wait_total_cycles), "hold_ns",
			      nanoseconds(study, lock->hold_total_cycles), "contended_bounces",
			      (json_int_t)lock->contended_bounces, "acquisition_bounces",
			      (json_int_t)lock->acquisition_bounces, "wait_max_ns",
			      nanoseconds(study, lock->wait_max_cycles), "hold_max_ns",
			      nanoseconds(study, lock->hold_max_cycles), "sites", lock_sites(lock)));
	}
	return array;
}

json_t *json_profile(const struct vsmp_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->profile_count; i++)
		json_array_append_new(array, json_pack("{s:s, s:f, s:f}", "symbol", report->profile[i].symbol,
						       "self", report->profile[i].self_percent, "total",
						       report->profile[i].total_percent));
	return array;
}

/* perf's samples, on the running kernel, are counts: there "ns" is that count. */
json_t *json_stacks(const struct study *study, const struct vsmp_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->stack_count; i++) {
		uint64_t cycles = report->stacks[i].self_cycles;

		json_array_append_new(
		    array, json_pack("{s:s, s:f}", "path", report->stacks[i].path, "ns",
				     study->plan.machine ? nanoseconds(study, cycles) : (double)cycles));
	}
	return array;
}

static json_t *line_sites(const struct vsmp_line_row *line)
{
	json_t *array = json_array();

	for (size_t i = 0; i < line->site_count; i++)
		json_array_append_new(array, json_pack("{s:s, s:b, s:I}", "symbol", line->sites[i].symbol,
						       "writes", line->sites[i].writes, "transfers",
						       (json_int_t)line->sites[i].transfers));
	return array;
}

json_t *json_lines(const struct study *study, const struct vsmp_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->line_count; i++) {
		const struct vsmp_line_row *line = &report->lines[i];

		json_array_append_new(
		    array, json_pack("{s:s, s:I, s:I, s:I, s:f, s:i, s:i, s:o}", "name", line->name, "lines",
				     (json_int_t)line->lines, "transfers", (json_int_t)line->transfers,
				     "invalidations", (json_int_t)line->invalidations, "wait_ns",
				     nanoseconds(study, line->wait_cycles), "readers", (int)line->readers,
				     "writers", (int)line->writers, "sites", line_sites(line)));
	}
	return array;
}

json_t *json_conflicts(const struct vsmp_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->conflict_count; i++) {
		const struct vsmp_conflict_row *conflict = &report->conflicts[i];

		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "operation",
						conflict->scope, "with", conflict->other_scope, "sharing",
						conflict->true_sharing ? "true" : "false", "name",
						conflict->name, "lines", (json_int_t)conflict->lines,
						"transfers", (json_int_t)conflict->transfers));
	}
	return array;
}
