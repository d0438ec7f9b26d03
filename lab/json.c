/* SPDX-License-Identifier: MIT */
#include "lab/json.h"

static json_t *locks(const struct study *study, const struct vsmp_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->lock_count; i++) {
		const struct vsmp_lock_row *lock = &report->locks[i];
		double gigahertz = study->plan.machine->shape.gigahertz;

		json_array_append_new(array,
				      json_pack("{s:o, s:I, s:I, s:f, s:f}", "name",
						json_sprintf("%s%s", lock->name, lock->shared ? "-R" : ""),
						"acquisitions", (json_int_t)lock->acquisitions, "contended",
						(json_int_t)lock->contentions, "wait_ns",
						(double)lock->wait_total_cycles / gigahertz, "hold_ns",
						(double)lock->hold_total_cycles / gigahertz));
	}
	return array;
}

static json_t *profile(const struct vsmp_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->profile_count; i++)
		json_array_append_new(array, json_pack("{s:s, s:f, s:f}", "symbol", report->profile[i].symbol,
						       "self", report->profile[i].self_percent, "total",
						       report->profile[i].total_percent));
	return array;
}

static json_t *published_figures(const struct published_list *published, const struct study_case *what)
{
	const struct published *figure =
	    published_find(published, what->variant->name, what->cpus, PUBLISHED_SECONDS);
	json_t *array = json_array();

	if (figure)
		json_array_append_new(array,
				      json_pack("{s:s, s:n, s:f, s:s, s:s, s:s}", "quantity",
						published_quantity_name(figure->quantity), "symbol", "value",
						figure->value, "unit", figure->unit, "source", figure->source,
						"kind", published_kind_name(figure->kind)));
	return array;
}

/* Line fills between CPUs whose operations conflicted on the line, for each operation. */
static json_t *conflicts_per_operation(const struct study *study, const struct vsmp_report *report)
{
	double transfers = 0;

	if (!study->plan.conflicts || !study->plan.machine || !report->operations)
		return json_null();
	for (size_t i = 0; i < report->conflict_count; i++)
		transfers += (double)report->conflicts[i].transfers;
	return json_real(transfers / (double)report->operations);
}

static json_t *result(const struct study *study, const struct study_row *row,
		      const struct published_list *published)
{
	const struct vsmp_report *report = &row->observed->report;
	json_t *samples = json_array();

	for (unsigned i = 0; i < study->plan.repetitions; i++)
		json_array_append_new(samples, json_real(row->samples_ns[i]));
	return json_pack("{s:s, s:i, s:I, s:f, s:f, s:f, s:o, s:f, s:o, s:o, s:I, s:o, s:o, s:o}", "variant",
			 row->what.variant->name, "cpus", (int)row->what.cpus, "operations",
			 (json_int_t)row->observed->timing.operations, "seconds",
			 row->observed->timing.seconds, "ns_per_op", row->ns_per_operation, "ops_per_second",
			 row->operations_per_second, "samples", samples, "extrapolated_seconds", row->seconds,
			 "transfers_per_op",
			 study->plan.machine && report->operations
			     ? json_real((double)report->transfers / (double)report->operations)
			     : json_null(),
			 "conflicts_per_op", conflicts_per_operation(study, report), "dropped",
			 (json_int_t)report->dropped, "locks", locks(study, report), "profile",
			 profile(report), "published", published_figures(published, &row->what));
}

json_t *json_study(const struct study *study, const struct published_list *published)
{
	const struct study_plan *plan = &study->plan;
	json_t *results = json_array();

	for (size_t i = 0; i < plan->case_count; i++)
		json_array_append_new(results, result(study, &study->rows[i], published));
	return json_pack("{s:i, s:s, s:s, s:s?, s:I, s:o}", "schema", 1, "experiment", plan->experiment->name,
			 "engine", plan->engine->name, "machine",
			 plan->machine ? plan->machine->shape.name : NULL, "seed", (json_int_t)plan->seed,
			 "results", results);
}

static json_t *range_or_null(const struct range *range)
{
	return range->count ? json_pack("{s:f, s:f}", "low", range->low, "high", range->high) : json_null();
}

json_t *json_prediction(const struct prediction *prediction, const struct published_list *published)
{
	const struct study *study = &prediction->study;
	json_t *object = json_study(study, published);
	json_t *growths = json_array();

	for (size_t i = 0; i < study->plan.case_count; i++)
		json_object_set_new(json_array_get(json_object_get(object, "results"), i), "range",
				    range_or_null(&prediction->seconds[i]));
	for (size_t i = 0; i < prediction->growth_count; i++) {
		const struct prediction_growth *growth = &prediction->growth[i];
		unsigned few = study->plan.cases[growth->from].cpus,
			 many = study->plan.cases[growth->to].cpus;
		const struct published *from =
		    published_find(published, growth->variant->name, few, PUBLISHED_SECONDS);
		const struct published *to =
		    published_find(published, growth->variant->name, many, PUBLISHED_SECONDS);

		json_array_append_new(
		    growths, json_pack("{s:s, s:i, s:i, s:f, s:o, s:o}", "variant", growth->variant->name,
				       "from", (int)few, "to", (int)many, "ratio", growth->ratio, "range",
				       range_or_null(&growth->range), "published",
				       from && to ? json_real(to->value / from->value) : json_null()));
	}
	json_object_set_new(object, "growth", growths);
	return object;
}
