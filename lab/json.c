/* SPDX-License-Identifier: MIT */
#include "lab/json.h"

#include <math.h>
#include <stdlib.h>

#include "lab/figures.h"
#include "lab/json_parts.h"
#include "lab/measured.h"
#include "lab/placement.h"
#include "lab/report.h"
#include "lab/scaling.h"
#include "lab/share.h"

/* What a rate or a figure of the profile is here; null for a time, which stands with the case, and where the
 * run cannot tell. */
static json_t *our_figure(const struct published *figure, const struct study_row *row)
{
	double ours = figure->quantity == PUBLISHED_SECONDS ? NAN : figure_ours(figure, row);

	return isnan(ours) ? json_null() : json_real(ours);
}

static json_t *our_ticks(const struct published *figure, const struct study_row *row,
			 const struct published_list *published)
{
	double ours = figure->ticks ? figure_ours_ticks(figure, row, published) : NAN;

	return isnan(ours) ? json_null() : json_real(ours);
}

static json_t *published_figures(const struct published_list *published, const struct study_row *row)
{
	json_t *array = json_array();

	for (uint32_t i = 0; published && i < published->published_count; i++) {
		const struct published *figure = &published->published[i];

		if (published_is_of(figure, row->what.variant->name, row->what.cpus))
			json_array_append_new(
			    array,
			    json_pack("{s:s, s:s?, s:s?, s:f, s:s, s:s, s:s, s:o, s:o, s:o}", "quantity",
				      published_quantity_name(figure->quantity), "symbol", figure->symbol,
				      "caller", figure->caller, "value", figure->value, "unit", figure->unit,
				      "source", figure->source, "kind", published_kind_name(figure->kind),
				      "ours", our_figure(figure, row), "ticks",
				      figure->ticks ? json_integer((json_int_t)figure->ticks) : json_null(),
				      "our_ticks", our_ticks(figure, row, published)));
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
	    "{s:s, s:o, s:i, s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
	    "variant", report_variant(&study->plan, &row->what).text, "options", settings(study, &row->what),
	    "cpus", (int)row->what.cpus, "operations", (json_int_t)row->observed->outcome.timing.operations,
	    "seconds", row->observed->outcome.timing.seconds, "ns_per_op", row->ns_per_operation,
	    "ops_per_second", row->operations_per_second, "samples", samples, "extrapolated_seconds",
	    study->plan.experiment->operations.published ? json_real(row->seconds) : json_null(),
	    "peak_retired_bytes", bytes_or_null(&row->observed->outcome.statistics), "transfers_per_op",
	    study->plan.machine && report->operations
		? json_real((double)report->transfers / (double)report->operations)
		: json_null(),
	    "conflicts_per_op", conflicts_per_operation(study, report), "dropped",
	    (json_int_t)report->dropped, "locks", json_locks(study, report), "profile", json_profile(report),
	    "published", published_figures(published, row), "stacks", json_stacks(study, report), "lines",
	    json_lines(study, report), "conflicts", json_conflicts(report));
}

static json_t *placement(const struct study_plan *plan)
{
	return plan->machine ? json_pack("{s:s, s:i}", "kind", placement_name(plan->placement.kind),
					 "cpus_per_socket", (int)plan->placement.cpus_per_socket)
			     : json_null();
}

static json_t *what_if(const struct study_plan *plan)
{
	const struct what_if *what_if = plan->what_if;
	json_t *speedups, *sets;

	if (!what_if)
		return json_null();
	speedups = json_array();
	sets = json_array();
	for (unsigned i = 0; i < what_if->speedup_count; i++)
		json_array_append_new(speedups, json_pack("{s:s, s:f}", "symbol", what_if->speedups[i].symbol,
							  "percent", what_if->speedups[i].percent));
	for (unsigned i = 0; i < what_if->set_count; i++)
		json_array_append_new(sets,
				      json_pack("{s:s, s:f, s:f, s:s}", "key",
						machine_figure_name(what_if->sets[i].figure), "value",
						what_if->sets[i].value, "was", what_if->sets[i].was, "unit",
						machine_figure_unit(plan->machine, what_if->sets[i].figure)));
	return json_pack("{s:o, s:o}", "speedups", speedups, "machine_set", sets);
}

static json_t *scaling_points(const struct scaling *scaling)
{
	json_t *array = json_array();

	for (size_t i = 0; i < scaling->count; i++)
		json_array_append_new(array,
				      json_pack("{s:i, s:f, s:f}", "cpus", (int)scaling->points[i].cpus,
						"ops_per_second", scaling->points[i].operations_per_second,
						"efficiency", scaling->points[i].efficiency));
	return array;
}

static json_t *scaling_fit(const struct scaling *scaling)
{
	if (!scaling->fitted)
		return json_null();
	return json_pack("{s:f, s:f, s:f, s:f, s:o}", "ops_per_second_alone", scaling->law.lambda,
			 "contention", scaling->law.sigma, "coherence", scaling->law.kappa, "worst_percent",
			 scaling->worst_percent, "peak_cpus",
			 scaling->law.peak > 0 ? json_real(scaling->law.peak) : json_null());
}

json_t *json_scaling(const struct study *study)
{
	json_t *array = json_array();
	size_t count;
	struct scaling *all = scaling_find(study, &count);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array,
				      json_pack("{s:s, s:o, s:o, s:i, s:s?, s:s?}", "variant", all[i].variant,
						"points", scaling_points(&all[i]), "fit",
						scaling_fit(&all[i]), "best_cpus", (int)all[i].best_cpus,
						"limiting_line", all[i].line, "limiting_lock", all[i].lock));
	free(all);
	return array;
}

json_t *json_study(const struct study *study, const struct published_list *published)
{
	const struct study_plan *plan = &study->plan;
	json_t *results = json_array();

	for (size_t i = 0; i < plan->case_count; i++) {
		json_t *one = result(study, &study->rows[i], published);

		json_object_set_new(one, "measured", measured_json(study, i));
		json_array_append_new(results, one);
	}
	return json_pack("{s:i, s:s, s:s, s:s?, s:I, s:o, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:o, s:o, s:o, "
			 "s:o, s:o, s:o}",
			 "schema", 1, "experiment", plan->experiment->name, "engine", plan->engine->name,
			 "machine", plan->machine ? plan->machine->shape.name : NULL, "seed",
			 (json_int_t)plan->seed, "results", results, "title", plan->experiment->title,
			 "source", plan->experiment->source, "workload", plan->experiment->workload,
			 "operation", workload_find(plan->experiment->workload, NULL)->operation,
			 "repetitions", (int)plan->repetitions, "operations_per_cpu",
			 (json_int_t)plan->operations, "warm_up_per_cpu", (json_int_t)study_warm_up(plan),
			 "published_operations",
			 plan->experiment->operations.published
			     ? json_integer((json_int_t)plan->experiment->operations.published)
			     : json_null(),
			 "placement", placement(plan), "machine_details", json_machine(study), "computer",
			 json_computer(study), "what_if", what_if(plan), "scaling", json_scaling(study));
}

json_t *json_what_if(const struct study *study, const struct study *as_is)
{
	json_t *object = json_study(study, NULL), *results = json_object_get(object, "results");

	for (size_t i = 0; i < study->plan.case_count; i++)
		json_object_set_new(json_array_get(results, i), "as_is_ns_per_op",
				    json_real(as_is->rows[i].ns_per_operation));
	return object;
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
		const struct published *from =
		    published_find(published, PUBLISHED_SECONDS, growth->variant->name, few);
		const struct published *to =
		    published_find(published, PUBLISHED_SECONDS, growth->variant->name, many);

		json_array_append_new(
		    growths, json_pack("{s:s, s:i, s:i, s:f, s:o, s:o}", "variant", growth->variant->name,
				       "from", (int)few, "to", (int)many, "ratio", growth->ratio, "range",
				       range_or_null(&growth->range), "published",
				       from && to ? json_real(to->value / from->value) : json_null()));
	}
	json_object_set_new(object, "growth", growths);
	return object;
}
