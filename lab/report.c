/* SPDX-License-Identifier: MIT */
#include "lab/report.h"

#include <stdbool.h>
#include <string.h>

#include "lab/number.h"
#include "lab/table.h"

const struct published_list *report_comparable(const struct study *study,
					       const struct published_list *published)
{
	const struct study_plan *plan = &study->plan;

	if (!plan->machine || strcmp(plan->machine->shape.name, plan->experiment->machine))
		return NULL;
	return published;
}

static void heading(FILE *out, unsigned width, const struct study *study)
{
	const struct study_plan *plan = &study->plan;
	const struct experiment *experiment = plan->experiment;
	bool simulated = plan->machine != NULL;

	table_text(out, width, "", "%s: %s", experiment->name, experiment->title);
	table_text(out, width, "  ", "after %s", experiment->source);
	if (simulated)
		table_text(out, width, "  ", "machine %s (%s), engine %s, seed %llu",
			   plan->machine->shape.name, plan->machine->title, plan->engine->name,
			   (unsigned long long)plan->seed);
	else
		table_text(out, width, "  ", "this computer, engine %s, seed %llu", plan->engine->name,
			   (unsigned long long)plan->seed);
	if (plan->operations < experiment->operations.published)
		table_text(out, width, "  ",
			   "Each CPU %s %llu operations of the %llu that were published; times are "
			   "extrapolated to all "
			   "of them.",
			   simulated ? "simulated" : "did", (unsigned long long)plan->operations,
			   (unsigned long long)experiment->operations.published);
	fputc('\n', out);
}

void report_study(FILE *out, unsigned width, const struct study *study,
		  const struct published_list *published)
{
	static const struct table_column all[] = {
	    {"variant", TABLE_LEFT, 0, 0},       {"CPUs", TABLE_RIGHT, 0, 0},
	    {"time/op (ns)", TABLE_RIGHT, 0, 0}, {"machine (ops/s)", TABLE_RIGHT, 2, 0},
	    {"time (s)", TABLE_RIGHT, 0, 0},     {"published (s)", TABLE_RIGHT, 0, 0},
	    {"ratio", TABLE_RIGHT, 1, 0},        {"transfers/op", TABLE_RIGHT, 3, 0},
	};
	static const struct table_column here[] = {
	    {"variant", TABLE_LEFT, 0, 0},          {"CPUs", TABLE_RIGHT, 0, 0},
	    {"time/op (ns)", TABLE_RIGHT, 0, 0},    {"machine (ops/s)", TABLE_RIGHT, 2, 0},
	    {"time (s)", TABLE_RIGHT, 0, 0},        {"fastest/op (ns)", TABLE_RIGHT, 3, 0},
	    {"slowest/op (ns)", TABLE_RIGHT, 3, 0},
	};
	bool simulated = study->plan.machine != NULL;
	struct table *table =
	    simulated ? table_create(all, ARRAY_SIZE(all)) : table_create(here, ARRAY_SIZE(here));

	heading(out, width, study);
	for (size_t i = 0; i < study->plan.case_count; i++) {
		const struct study_row *row = &study->rows[i];
		const struct published *figure =
		    published_find(published, row->what.variant->name, row->what.cpus, PUBLISHED_SECONDS);

		table_cell(table, "%s", row->what.variant->name);
		table_cell(table, "%u", row->what.cpus);
		table_cell(table, "%s", number_text(row->ns_per_operation).text);
		table_cell(table, "%.0f", row->operations_per_second);
		table_cell(table, "%s", number_text(row->seconds).text);
		if (!simulated) {
			struct range range = {0};

			for (unsigned j = 0; j < study->plan.repetitions; j++)
				range_add(&range, row->samples_ns[j]);
			table_cell(table, "%s", number_text(range.low).text);
			table_cell(table, "%s", number_text(range.high).text);
			continue;
		}
		table_cell(table, "%s", figure ? number_text(figure->value).text : "-");
		table_cell(table, "%s", figure ? number_text(row->seconds / figure->value).text : "-");
		table_cell(table, "%s",
			   row->observed->report.operations
			       ? number_text((double)row->observed->report.transfers /
					     (double)row->observed->report.operations)
				     .text
			       : "-");
	}
	table_print(table, out, width);
	table_free(table);
}

static void prediction_row(struct table *table, const char *variant, const char *cpus, double published,
			   double ours, const struct range *range, const char *unit, const char *kind)
{
	table_cell(table, "%s", variant);
	table_cell(table, "%s", cpus);
	table_cell(table, "%s%s", number_text(published).text, unit);
	table_cell(table, "%s%s", number_text(ours).text, unit);
	table_cell(table, "%s", number_text(ours / published).text);
	table_cell(table, "%s", kind);
	if (range->count)
		table_cell(table, "%s to %s%s", number_text(range->low).text, number_text(range->high).text,
			   unit);
	else
		table_cell(table, "-");
}

void report_prediction(FILE *out, unsigned width, const struct prediction *prediction,
		       const struct published_list *published)
{
	static const struct table_column columns[] = {
	    {"variant", TABLE_LEFT, 0, 0},
	    {"CPUs", TABLE_RIGHT, 0, 0},
	    {"published", TABLE_RIGHT, 0, 0},
	    {"ours", TABLE_RIGHT, 0, 0},
	    {"ours/published", TABLE_RIGHT, 2, 0},
	    {"kind", TABLE_LEFT, 3, 0},
	    {"range over assumptions", TABLE_RIGHT, 1, 0},
	};
	const struct study *study = &prediction->study;
	struct table *table = table_create(columns, ARRAY_SIZE(columns));

	heading(out, width, study);
	for (size_t i = 0; i < study->plan.case_count; i++) {
		const struct study_row *row = &study->rows[i];
		const struct published *figure =
		    published_find(published, row->what.variant->name, row->what.cpus, PUBLISHED_SECONDS);
		char cpus[16];

		snprintf(cpus, sizeof(cpus), "%u", row->what.cpus);
		if (figure)
			prediction_row(table, row->what.variant->name, cpus, figure->value, row->seconds,
				       &prediction->seconds[i], " s", published_kind_name(figure->kind));
	}
	for (size_t i = 0; i < prediction->growth_count; i++) {
		const struct prediction_growth *growth = &prediction->growth[i];
		const char *variant = growth->variant->name;
		unsigned few = study->plan.cases[growth->from].cpus,
			 many = study->plan.cases[growth->to].cpus;
		const struct published *from = published_find(published, variant, few, PUBLISHED_SECONDS);
		const struct published *to = published_find(published, variant, many, PUBLISHED_SECONDS);
		char cpus[32];

		snprintf(cpus, sizeof(cpus), "%u to %u", few, many);
		if (from && to)
			prediction_row(table, variant, cpus, to->value / from->value, growth->ratio,
				       &growth->range, "x", published_kind_name(PUBLISHED_PREDICTED));
	}
	table_print(table, out, width);
	table_free(table);
	fputc('\n', out);
	if (prediction->points)
		table_text(
		    out, width, "",
		    "The range spans %zu more runs of each case. The points tried, in the plausible ranges "
		    "of what is assumed about the machine: one figure at a time at either end; all at the "
		    "end that lengthens times, and all at the other; and for the time on the most CPUs, and "
		    "for the growth, each figure at the end that by itself lowered it, and at the end that "
		    "by itself raised it%s. \"fitted\": a figure of the machine was chosen so that this one "
		    "comes out; \"predicted\": nothing was.",
		    prediction->points,
		    study->plan.machine->home_assumed
			? "; all but the single figures with either home of the kernel's globals"
			: "");
}

static void list_figures(FILE *out, unsigned width, const struct machine *machine, enum provenance provenance,
			 const char *what)
{
	char names[4096] = "";
	unsigned count = 0;

	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		if (machine->figure[i].provenance != provenance)
			continue;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", count ? ", " : "",
			 machine_figure_name(i));
		count++;
	}
	if (count)
		table_text(out, width, "  ", "%u %s%s%s", count, what,
			   provenance == PROVENANCE_SOURCED ? "" : ": ",
			   provenance == PROVENANCE_SOURCED ? "" : names);
}

void report_machine(FILE *out, unsigned width, const struct machine *machine)
{
	table_text(out, width, "", "Figures of machine %s (%s):", machine->shape.name, machine->path);
	list_figures(out, width, machine, PROVENANCE_SOURCED, "sourced");
	list_figures(out, width, machine, PROVENANCE_FITTED, "fitted");
	list_figures(out, width, machine, PROVENANCE_ASSUMED, "assumed");
	table_text(out, width, "  ", "topology: %s; protocol: %s; home of the kernel's globals: %s",
		   machine->topology_assumed ? "assumed" : "sourced",
		   machine->protocol_assumed ? "assumed" : "sourced",
		   machine->home_assumed ? "assumed, both tried" : "not in question");
}
