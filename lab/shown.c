/* SPDX-License-Identifier: MIT */
#include "lab/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/comparison.h"
#include "lab/measured.h"
#include "lab/number.h"
#include "lab/report.h"
#include "lab/table.h"

#define LINES_MAX 5u

static bool has_case(const struct study_plan *plan, const struct experiment_variant *variant, unsigned cpus)
{
	for (size_t i = 0; i < plan->case_count; i++)
		if (plan->cases[i].variant == variant && plan->cases[i].cpus == cpus)
			return true;
	return false;
}

/* Both sides of each verdict, each once. */
static int plan_judged(struct shown *shown, const struct study_plan *plan,
		       const struct published_list *published, struct message *why)
{
	const struct experiment *experiment = plan->experiment;
	struct study_plan *judged = &shown->judged_plan;

	*judged = *plan;
	judged->case_count = 0;
	judged->profile = false;
	if (experiment->shown.repetitions > plan->repetitions)
		judged->repetitions = experiment->shown.repetitions;
	shown->judged_cases = calloc(2 * published->verdicts_count + 1, sizeof(*shown->judged_cases));
	judged->cases = shown->judged_cases;
	if (!shown->judged_cases)
		return message_set(why, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < 2 * published->verdicts_count; i++) {
		const struct published_verdict *verdict = &published->verdicts[i / 2];
		const struct experiment_variant *variant =
		    experiment_variant(experiment, i % 2 ? verdict->variant : verdict->against, why);

		if (!has_case(judged, variant, verdict->cpus))
			shown->judged_cases[judged->case_count++] =
			    study_case(experiment, variant, verdict->cpus);
	}
	return 0;
}

int shown_run(struct shown *shown, void (*progress)(size_t done, size_t count), struct message *why)
{
	int error = shown->plan.case_count ? study_run(&shown->study, &shown->plan, progress, why) : 0;

	if (!error && shown->judged_plan.case_count)
		error = study_run(&shown->judged, &shown->judged_plan, progress, why);
	return error;
}

int shown_plan(struct shown *shown, const struct study_plan *plan, const struct published_list *published,
	       struct message *why)
{
	const struct experiment *experiment = plan->experiment;
	unsigned most = machine_cpus(plan->machine, &plan->placement);
	size_t room = 1;

	for (uint32_t i = 0; i < experiment->shown.cases_count; i++)
		room += experiment->shown.cases[i].cpus_count;
	shown->plan = *plan;
	shown->plan.case_count = 0;
	shown->plan.locks = shown->plan.lines = true;
	shown->cases = calloc(room, sizeof(*shown->cases));
	shown->plan.cases = shown->cases;
	if (!shown->cases)
		return message_set(why, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < experiment->shown.cases_count; i++) {
		const struct experiment_shown_case *wanted = &experiment->shown.cases[i];

		for (uint32_t j = 0; j < wanted->cpus_count; j++) {
			if (wanted->cpus[j] > most)
				return message_set(why, -EINVAL, "%s: machine %s has fewer CPUs than %u",
						   experiment->name, plan->machine->shape.name,
						   wanted->cpus[j]);
			shown->cases[shown->plan.case_count++] =
			    study_case(experiment, experiment_variant(experiment, wanted->variant, why),
				       wanted->cpus[j]);
		}
	}
	return published ? plan_judged(shown, plan, published, why) : 0;
}

void shown_free(struct shown *shown)
{
	study_free(&shown->study);
	study_free(&shown->judged);
	free(shown->cases);
	free(shown->judged_cases);
	memset(shown, 0, sizeof(*shown));
}

/* Of the first variant, the case on the most CPUs. */
static const struct study_row *largest(const struct study *study)
{
	const struct study_row *found = &study->rows[0];

	for (size_t i = 1; i < study->plan.case_count; i++)
		if (study->rows[i].what.variant == found->what.variant &&
		    study->rows[i].what.cpus > found->what.cpus)
			found = &study->rows[i];
	return found;
}

static int by_wait(const void *left, const void *right)
{
	const struct vsmp_line_row *const *one = left, *const *other = right;

	if ((*one)->wait_cycles != (*other)->wait_cycles)
		return (*one)->wait_cycles < (*other)->wait_cycles ? 1 : -1;
	return strcmp((*one)->name, (*other)->name);
}

static void print_lines(FILE *out, unsigned width, const struct study *study)
{
	static const struct table_column columns[] = {
	    {"of all time waiting (%)", TABLE_RIGHT, 1, 0},
	    {"transfers/op", TABLE_RIGHT, 0, 0},
	    {"the lines on which CPUs waited most", TABLE_LEFT, 0, 1},
	};
	const struct study_row *row = largest(study);
	const struct vsmp_report *report = &row->observed->report;
	const struct engine_timing *timing = &row->observed->outcome.timing;
	double all = timing->cpu_seconds_per_operation * (double)timing->operations * 1e9 *
		     study->plan.machine->shape.gigahertz;
	const struct vsmp_line_row **lines = calloc(report->line_count + 1, sizeof(*lines));
	struct table *table;

	if (!lines)
		abort();
	for (size_t i = 0; i < report->line_count; i++)
		lines[i] = &report->lines[i];
	qsort(lines, report->line_count, sizeof(*lines), by_wait);
	table = table_create(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < report->line_count && i < LINES_MAX; i++) {
		table_cell(table, "%s", number_percent(100 * (double)lines[i]->wait_cycles / all).text);
		table_cell(table, "%s",
			   number_text((double)lines[i]->transfers / (double)report->operations).text);
		table_cell(table, "%s", lines[i]->name);
	}
	if (report->line_count) {
		fprintf(out, "\n%s on %u CPUs:\n", row->what.variant->name, row->what.cpus);
		table_print(table, out, width);
	}
	table_free(table);
	free(lines);
}

static const struct study_row *row_of(const struct study *study, const char *variant, unsigned cpus)
{
	for (size_t i = 0; i < study->plan.case_count; i++)
		if (study->rows[i].what.cpus == cpus && !strcmp(study->rows[i].what.variant->name, variant))
			return &study->rows[i];
	return NULL;
}

/* Returns false where a case of it is not shown. */
static bool compare(const struct study *study, const struct published_verdict *verdict,
		    struct comparison *comparison)
{
	const struct study_row *a = row_of(study, verdict->against, verdict->cpus);
	const struct study_row *b = row_of(study, verdict->variant, verdict->cpus);
	unsigned repetitions = study->plan.repetitions;

	if (!a || !b)
		return false;
	compare_samples(a->samples_ns, repetitions, b->samples_ns, repetitions, comparison);
	return true;
}

static void print_verdicts(FILE *out, unsigned width, const struct study *study,
			   const struct published_list *published)
{
	static const struct table_column columns[] = {
	    {"variant", TABLE_LEFT, 0, 0},      {"against", TABLE_LEFT, 0, 0},
	    {"CPUs", TABLE_RIGHT, 2, 0},        {"runs of each", TABLE_RIGHT, 4, 0},
	    {"time, ratio", TABLE_RIGHT, 0, 0}, {"95 % interval", TABLE_RIGHT, 1, 0},
	    {"rank test", TABLE_RIGHT, 3, 0},   {"published", TABLE_LEFT, 0, 0},
	    {"ours", TABLE_LEFT, 0, 0},         {"would have shown (%)", TABLE_RIGHT, 0, 0},
	};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));
	bool any = false;

	for (uint32_t i = 0; i < published->verdicts_count; i++) {
		const struct published_verdict *verdict = &published->verdicts[i];
		struct comparison comparison;

		if (!compare(study, verdict, &comparison))
			continue;
		any = true;
		table_cell(table, "%s", verdict->variant);
		table_cell(table, "%s", verdict->against);
		table_cell(table, "%u", verdict->cpus);
		table_cell(table, "%u", study->plan.repetitions);
		table_cell(table, "%.4f", comparison.ratio);
		table_cell(table, "%.4f to %.4f", comparison.low, comparison.high);
		table_cell(table, "%.4f", comparison.p);
		table_cell(table, "%s", verdict_name(verdict->verdict));
		table_cell(table, "%s", verdict_name(comparison.verdict));
		table_cell(table, "%s",
			   comparison.smallest > 0 ? number_text(100 * (comparison.smallest - 1)).text : "-");
	}
	if (any) {
		fputc('\n', out);
		table_print(table, out, width);
	}
	table_free(table);
}

void shown_print(FILE *out, unsigned width, const struct shown *shown, const struct published_list *published)
{
	if (!shown->plan.case_count)
		return;
	report_study(out, width, &shown->study, NULL);
	report_scaling(out, width, &shown->study);
	print_lines(out, width, &shown->study);
	measured_print(out, width, &shown->study);
	measured_print_alone(out, width, &shown->study);
	if (published)
		print_verdicts(out, width, &shown->judged, published);
}

json_t *shown_verdicts_json(const struct shown *shown, const struct published_list *published)
{
	json_t *array = json_array();

	for (uint32_t i = 0; shown->plan.case_count && published && i < published->verdicts_count; i++) {
		const struct published_verdict *verdict = &published->verdicts[i];
		struct comparison comparison;

		if (compare(&shown->judged, verdict, &comparison))
			json_array_append_new(
			    array, json_pack("{s:s, s:s, s:i, s:s, s:s, s:f, s:f, s:f, s:f, s:s}", "variant",
					     verdict->variant, "against", verdict->against, "cpus",
					     (int)verdict->cpus, "published", verdict_name(verdict->verdict),
					     "source", verdict->source, "ratio", comparison.ratio, "low",
					     comparison.low, "high", comparison.high, "p", comparison.p,
					     "ours", verdict_name(comparison.verdict)));
	}
	return array;
}
