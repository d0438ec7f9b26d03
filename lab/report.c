/* SPDX-License-Identifier: MIT */
#include "lab/report.h"

#include <stdbool.h>
#include <string.h>

#include "lab/number.h"
#include "lab/scaling.h"
#include "lab/table.h"

const struct published_list *report_comparable(const struct study *study,
					       const struct published_list *published)
{
	const struct study_plan *plan = &study->plan;

	if (!plan->machine || strcmp(plan->machine->shape.name, plan->experiment->machine))
		return NULL;
	return published;
}

/* Whether all cases have the same choice of an option. */
static bool is_common(const struct study_plan *plan, unsigned option)
{
	for (size_t i = 1; i < plan->case_count; i++)
		if (plan->cases[i].settings.choice[option] != plan->cases[0].settings.choice[option])
			return false;
	return true;
}

static void show_settings(FILE *out, unsigned width, const struct study_plan *plan)
{
	const struct workload *workload = workload_find(plan->experiment->workload, NULL);
	char text[512];
	size_t used = 0;

	for (unsigned i = 0; i < workload->option_count; i++)
		used += (size_t)snprintf(
		    text + used, sizeof(text) - used, "%s%s %s", i ? ", " : "", workload->options[i].name,
		    is_common(plan, i) ? workload_choice(workload, &plan->cases[0].settings, i)
				       : "by variant");
	if (workload->option_count)
		table_text(out, width, "  ", "workload %s: %s", workload->name, text);
}

static void show_computer(FILE *out, unsigned width, const struct study *study)
{
	const struct computer *computer = &study->computer;
	char load[32] = "unknown";

	if (computer->load >= 0)
		snprintf(load, sizeof(load), "%.2f", computer->load);
	table_text(
	    out, width, "  ",
	    "this computer, engine %s, seed %llu: %u processors%s (%s), %s, clock governor %s, load %s "
	    "before the first run",
	    study->plan.engine->name, (unsigned long long)study->plan.seed, computer->processors,
	    computer->is_virtual ? " of a virtual machine" : "", computer->model, computer->kernel,
	    computer->governor, load);
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
		show_computer(out, width, study);
	show_settings(out, width, plan);
	report_what_if_changes(out, width, plan);
	if (plan->operations < experiment->operations.published)
		table_text(out, width, "  ",
			   "Each CPU %s %llu operations of the %llu that were published; times are "
			   "extrapolated to all "
			   "of them.",
			   simulated ? "simulated" : "did", (unsigned long long)plan->operations,
			   (unsigned long long)experiment->operations.published);
	fputc('\n', out);
}

/* The columns of a study's table; those that would be empty are not there. */
enum column {
	COLUMN_VARIANT,
	COLUMN_CPUS,
	COLUMN_OPERATION,
	COLUMN_MACHINE,
	COLUMN_EFFICIENCY,
	COLUMN_SECONDS,
	COLUMN_PUBLISHED,
	COLUMN_RATIO,
	COLUMN_TRANSFERS,
	COLUMN_RETIRED,
	COLUMN_FASTEST,
	COLUMN_SLOWEST,
	COLUMN_COUNTER,
	COLUMNS
};

static const struct table_column study_columns[COLUMNS] = {
    [COLUMN_VARIANT] = {"variant", TABLE_LEFT, 0, 0},
    [COLUMN_CPUS] = {"CPUs", TABLE_RIGHT, 0, 0},
    [COLUMN_OPERATION] = {"time/op (ns)", TABLE_RIGHT, 0, 0},
    [COLUMN_MACHINE] = {"machine (ops/s)", TABLE_RIGHT, 2, 0},
    [COLUMN_EFFICIENCY] = {"efficiency (%)", TABLE_RIGHT, 3, 0},
    [COLUMN_SECONDS] = {"time (s)", TABLE_RIGHT, 0, 0},
    [COLUMN_PUBLISHED] = {"published (s)", TABLE_RIGHT, 0, 0},
    [COLUMN_RATIO] = {"ratio", TABLE_RIGHT, 1, 0},
    [COLUMN_TRANSFERS] = {"transfers/op", TABLE_RIGHT, 3, 0},
    [COLUMN_RETIRED] = {"most retired (KiB)", TABLE_RIGHT, 4, 0},
    [COLUMN_FASTEST] = {"fastest/op (ns)", TABLE_RIGHT, 3, 0},
    [COLUMN_SLOWEST] = {"slowest/op (ns)", TABLE_RIGHT, 3, 0},
    [COLUMN_COUNTER] = {"faults counted by", TABLE_LEFT, 5, 0},
};

/* Less than a page in every case is not worth a column. */
static bool has_retired(const struct study *study)
{
	for (size_t i = 0; i < study->plan.case_count; i++)
		if (study->rows[i].observed->outcome.statistics.peak_retired_bytes >= 4096)
			return true;
	return false;
}

static bool is_shown(const struct study *study, enum column column)
{
	bool simulated = study->plan.machine != NULL;
	bool extrapolated = study->plan.experiment->operations.published;

	switch (column) {
	case COLUMN_EFFICIENCY:
		return scaling_has_curve(study);
	case COLUMN_SECONDS:
		return extrapolated;
	case COLUMN_PUBLISHED:
	case COLUMN_RATIO:
		return extrapolated && simulated;
	case COLUMN_TRANSFERS:
		return simulated;
	case COLUMN_RETIRED:
		return has_retired(study);
	case COLUMN_FASTEST:
	case COLUMN_SLOWEST:
		return !simulated;
	case COLUMN_COUNTER:
		return study->plan.engine->kernel;
	default:
		return true;
	}
}

static struct range samples_of(const struct study *study, const struct study_row *row)
{
	struct range range = {0};

	for (unsigned i = 0; i < study->plan.repetitions; i++)
		range_add(&range, row->samples_ns[i]);
	return range;
}

struct report_label report_variant(const struct study_plan *plan, const struct study_case *what)
{
	const struct workload *workload = workload_find(plan->experiment->workload, NULL);
	struct report_label label;
	size_t used;

	snprintf(label.text, sizeof(label.text), "%s",
		 plan->engine->kernel ? "running kernel" : what->variant->name);
	used = strlen(label.text);
	for (unsigned i = 0; plan->engine->kernel && i < workload->option_count; i++)
		if (!is_common(plan, i) && used < sizeof(label.text))
			used += (size_t)snprintf(label.text + used, sizeof(label.text) - used, ", %s %s",
						 workload->options[i].name,
						 workload_choice(workload, &what->settings, i));
	return label;
}

const char *report_counter(enum engine_counter counter)
{
	static const char *const names[] = {[ENGINE_COUNTER_SYSTEM] = "itself",
					    [ENGINE_COUNTER_PERF] = "perf_event_open",
					    [ENGINE_COUNTER_RUSAGE] = "getrusage"};

	return names[counter];
}

static void study_cell(struct table *table, enum column column, const struct study *study,
		       const struct study_row *row, const struct published *figure)
{
	const struct engine_statistics *statistics = &row->observed->outcome.statistics;
	const struct vsmp_report *report = &row->observed->report;
	struct number number = {"-"};

	switch (column) {
	case COLUMN_VARIANT:
		table_cell(table, "%s", report_variant(&study->plan, &row->what).text);
		return;
	case COLUMN_CPUS:
		table_cell(table, "%u", row->what.cpus);
		return;
	case COLUMN_MACHINE:
		table_cell(table, "%.0f", row->operations_per_second);
		return;
	case COLUMN_COUNTER:
		table_cell(table, "%s", report_counter(statistics->counter));
		return;
	case COLUMN_EFFICIENCY:
		table_cell(table, "%.1f", 100 * scaling_efficiency(study, row));
		return;
	case COLUMN_OPERATION:
		number = number_text(row->ns_per_operation);
		break;
	case COLUMN_SECONDS:
		number = number_text(row->seconds);
		break;
	case COLUMN_PUBLISHED:
		if (figure)
			number = number_text(figure->value);
		break;
	case COLUMN_RATIO:
		if (figure)
			number = number_text(row->seconds / figure->value);
		break;
	case COLUMN_TRANSFERS:
		if (report->operations)
			number = number_text((double)report->transfers / (double)report->operations);
		break;
	case COLUMN_RETIRED:
		if (statistics->has_retired)
			number = number_text((double)statistics->peak_retired_bytes / 1024);
		break;
	case COLUMN_FASTEST:
		number = number_text(samples_of(study, row).low);
		break;
	case COLUMN_SLOWEST:
		number = number_text(samples_of(study, row).high);
		break;
	default:
		break;
	}
	table_cell(table, "%s", number.text);
}

void report_study(FILE *out, unsigned width, const struct study *study,
		  const struct published_list *published)
{
	struct table_column shown[COLUMNS];
	enum column kinds[COLUMNS];
	struct table *table;
	size_t count = 0;

	for (enum column column = 0; column < COLUMNS; column++) {
		if (!is_shown(study, column))
			continue;
		shown[count] = study_columns[column];
		kinds[count++] = column;
	}
	table = table_create(shown, count);
	heading(out, width, study);
	for (size_t i = 0; i < study->plan.case_count; i++) {
		const struct study_row *row = &study->rows[i];
		const struct published *figure =
		    published_find(published, PUBLISHED_SECONDS, row->what.variant->name, row->what.cpus);

		for (size_t j = 0; j < count; j++)
			study_cell(table, kinds[j], study, row, figure);
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

static void show_seconds(FILE *out, unsigned width, const struct prediction *prediction,
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

	for (size_t i = 0; i < study->plan.case_count; i++) {
		const struct study_row *row = &study->rows[i];
		const struct published *figure =
		    published_find(published, PUBLISHED_SECONDS, row->what.variant->name, row->what.cpus);
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
		const struct published *from = published_find(published, PUBLISHED_SECONDS, variant, few);
		const struct published *to = published_find(published, PUBLISHED_SECONDS, variant, many);
		char cpus[32];

		snprintf(cpus, sizeof(cpus), "%u to %u", few, many);
		if (from && to)
			prediction_row(table, variant, cpus, to->value / from->value, growth->ratio,
				       &growth->range, "x", published_kind_name(PUBLISHED_PREDICTED));
	}
	table_print(table, out, width);
	table_free(table);
	fputc('\n', out);
}

static void describe_range(FILE *out, unsigned width, const struct prediction *prediction)
{
	const struct study_plan *plan = &prediction->study.plan;
	bool corners_only = plan->experiment->operations.sweep_corners_only;
	const char *other_home =
	    plan->machine->home_assumed ? " with either home of the kernel's globals" : "";
	char extremes[320] = "";

	if (!corners_only)
		snprintf(
		    extremes, sizeof(extremes),
		    "; and for the time on the most CPUs%s, each figure at the end that by itself lowered "
		    "it, and at the end that by itself raised it%s%s",
		    prediction->growth_count ? ", and for the growth" : "",
		    *other_home ? "; all but the single figures" : "", other_home);
	table_text(out, width, "",
		   "The range spans %zu points in the plausible ranges of what is assumed about the machine: "
		   "%sall at "
		   "the end that lengthens times, and all at the other%s%s. %s\"fitted\": a figure of the "
		   "machine was chosen so that this one comes out; "
		   "\"predicted\": nothing was.",
		   prediction->points, corners_only ? "" : "one figure at a time at either end; ",
		   corners_only ? other_home : "", extremes,
		   corners_only
		       ? ""
		       : "Where a point differs in nothing that a case asks the machine for, it is not run "
			 "again. ");
}

void report_prediction(FILE *out, unsigned width, const struct prediction *prediction,
		       const struct published_list *published)
{
	heading(out, width, &prediction->study);
	if (published_has(published, PUBLISHED_SECONDS))
		show_seconds(out, width, prediction, published);
	if (published_has(published, PUBLISHED_RATE))
		report_rates(out, width, prediction, published);
	if (published_has(published, PUBLISHED_PROFILE_SHARE))
		report_shares(out, width, prediction, published);
	if (published_has_ticks(published))
		report_ticks(out, width, prediction, published);
	if (prediction->points)
		describe_range(out, width, prediction);
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
