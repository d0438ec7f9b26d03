/* SPDX-License-Identifier: MIT */
#include "lab/json.h"

#include "lab/report.h"
#include "lab/share.h"

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

/* What a rate or a figure of the profile is here; null for others, and where no profile was taken. */
static json_t *our_figure(const struct published *figure, const struct study_row *row)
{
	const struct vsmp_report *report = &row->observed->report;
	double percent =
	    figure->quantity == PUBLISHED_PROFILE_SHARE
		? share_percent(report, figure->ours, figure->ours_count, figure->of, figure->of_count)
		: -1;

	if (figure->quantity == PUBLISHED_RATE)
		return json_real(row->operations_per_second);
	return percent < 0 ? json_null() : json_real(percent);
}

static json_t *published_figures(const struct published_list *published, const struct study_row *row)
{
	json_t *array = json_array();

	for (uint32_t i = 0; published && i < published->published_count; i++) {
		const struct published *figure = &published->published[i];

		if (published_is_of(figure, row->what.variant->name, row->what.cpus))
			json_array_append_new(
			    array,
			    json_pack("{s:s, s:s?, s:s?, s:f, s:s, s:s, s:s, s:o}", "quantity",
				      published_quantity_name(figure->quantity), "symbol", figure->symbol,
				      "caller", figure->caller, "value", figure->value, "unit", figure->unit,
				      "source", figure->source, "kind", published_kind_name(figure->kind),
				      "ours", our_figure(figure, row)));
	}
	return array;
}

/* How the workload was run. */
static json_t *settings(const struct study *study, const struct study_case *what)
{
	const struct workload *workload = workload_find(study->plan.experiment->workload, NULL);
	json_t *object = json_object();

	for (unsigned i = 0; i < workload->option_count; i++)
		json_object_set_new(object, workload->options[i].name,
				    json_string(workload_choice(workload, &what->settings, i)));
	return object;
}

static json_t *bytes_or_null(const struct engine_statistics *statistics)
{
	return statistics->has_retired ? json_integer((json_int_t)statistics->peak_retired_bytes)
				       : json_null();
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
	return json_pack(
	    "{s:s, s:o, s:i, s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "variant",
	    report_variant(&study->plan, &row->what).text, "options", settings(study, &row->what), "cpus",
	    (int)row->what.cpus, "operations", (json_int_t)row->observed->outcome.timing.operations,
	    "seconds", row->observed->outcome.timing.seconds, "ns_per_op", row->ns_per_operation,
	    "ops_per_second", row->operations_per_second, "samples", samples, "extrapolated_seconds",
	    study->plan.experiment->operations.published ? json_real(row->seconds) : json_null(),
	    "peak_retired_bytes", bytes_or_null(&row->observed->outcome.statistics), "transfers_per_op",
	    study->plan.machine && report->operations
		? json_real((double)report->transfers / (double)report->operations)
		: json_null(),
	    "conflicts_per_op", conflicts_per_operation(study, report), "dropped",
	    (json_int_t)report->dropped, "locks", locks(study, report), "profile", profile(report),
	    "published", published_figures(published, row));
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

/* To each published share and rate of a case, the range that ours takes. */
static void add_ranges(json_t *result, const struct prediction *prediction, size_t index,
		       const struct published_list *published)
{
	const struct study_case *what = &prediction->study.plan.cases[index];
	size_t at = 0;

	for (uint32_t i = 0; published && i < published->published_count; i++) {
		const struct published *figure = &published->published[i];
		struct range range;

		if (!published_is_of(figure, what->variant->name, what->cpus))
			continue;
		if (figure->quantity == PUBLISHED_PROFILE_SHARE)
			range = report_share_range(prediction, index, figure);
		else if (figure->quantity == PUBLISHED_RATE)
			range = report_rate_range(prediction, index);
		else
			range = (struct range){0};
		json_object_set_new(json_array_get(json_object_get(result, "published"), at++), "range",
				    range_or_null(&range));
	}
}

json_t *json_engines(const struct study *studies, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_study(&studies[i], NULL));
	return json_pack("{s:i, s:o}", "schema", 1, "engines", array);
}

json_t *json_prediction(const struct prediction *prediction, const struct published_list *published)
{
	const struct study *study = &prediction->study;
	json_t *object = json_study(study, published);
	json_t *growths = json_array();

	for (size_t i = 0; i < study->plan.case_count; i++) {
		json_t *one = json_array_get(json_object_get(object, "results"), i);

		json_object_set_new(one, "range",
				    study->plan.experiment->operations.published
					? range_or_null(&prediction->seconds[i])
					: json_null());
		add_ranges(one, prediction, i, published);
	}
	for (size_t i = 0; i < prediction->growth_count; i++) {
		const struct prediction_growth *growth = &prediction->growth[i];
		unsigned few = study->plan.cases[growth->from].cpus,
			 many = study->plan.cases[growth->to].cpus;
		const struct published *from = published_seconds(published, growth->variant->name, few);
		const struct published *to = published_seconds(published, growth->variant->name, many);

		json_array_append_new(
		    growths, json_pack("{s:s, s:i, s:i, s:f, s:o, s:o}", "variant", growth->variant->name,
				       "from", (int)few, "to", (int)many, "ratio", growth->ratio, "range",
				       range_or_null(&growth->range), "published",
				       from && to ? json_real(to->value / from->value) : json_null()));
	}
	json_object_set_new(object, "growth", growths);
	return object;
}
