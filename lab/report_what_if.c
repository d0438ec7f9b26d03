/* SPDX-License-Identifier: MIT */
#include "lab/report.h"

#include "lab/number.h"
#include "lab/table.h"

void report_what_if_changes(FILE *out, unsigned width, const struct study_plan *plan)
{
	const struct what_if *what_if = plan->what_if;

	for (unsigned i = 0; what_if && i < what_if->speedup_count; i++)
		table_text(out, width, "  ", "WHAT IF: %s, with all that it calls, cost %g %% %s",
			   what_if->speedups[i].symbol,
			   what_if->speedups[i].percent < 0 ? -what_if->speedups[i].percent
							    : what_if->speedups[i].percent,
			   what_if->speedups[i].percent < 0 ? "more" : "less");
	for (unsigned i = 0; what_if && i < what_if->set_count; i++) {
		const struct what_if_set *set = &what_if->sets[i];

		table_text(out, width, "  ", "WHAT IF: %s of machine %s were %g %s, and not %g",
			   machine_figure_name(set->figure), plan->machine->shape.name, set->value,
			   machine_figure_unit(plan->machine, set->figure), set->was);
	}
}

void report_what_if(FILE *out, unsigned width, const struct study *as_is, const struct study *changed)
{
	static const struct table_column columns[] = {
	    {"variant", TABLE_LEFT, 0, 0},           {"CPUs", TABLE_RIGHT, 0, 0},
	    {"as it is (ns/op)", TABLE_RIGHT, 0, 0}, {"what if (ns/op)", TABLE_RIGHT, 0, 0},
	    {"less time (%)", TABLE_RIGHT, 0, 0},    {"more ops/s (%)", TABLE_RIGHT, 1, 0},
	};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));
	const struct what_if *what_if = changed->plan.what_if;
	unsigned entered = 0;
	uint64_t asked = 0;

	for (size_t i = 0; i < changed->plan.case_count; i++) {
		const struct study_row *before = &as_is->rows[i], *after = &changed->rows[i];
		double ratio = after->ns_per_operation / before->ns_per_operation;

		table_cell(table, "%s", report_variant(&changed->plan, &after->what).text);
		table_cell(table, "%u", after->what.cpus);
		table_cell(table, "%s", number_text(before->ns_per_operation).text);
		table_cell(table, "%s", number_text(after->ns_per_operation).text);
		table_cell(table, "%s", number_percent(100 * (1 - ratio)).text);
		table_cell(table, "%s", number_percent(100 * (1 / ratio - 1)).text);
		entered |= after->observed->report.speedups_entered;
		asked |= after->observed->report.parameters_asked;
	}
	fputc('\n', out);
	report_what_if_changes(out, width, &changed->plan);
	fputc('\n', out);
	table_print(table, out, width);
	table_free(table);
	for (unsigned i = 0; i < what_if->speedup_count; i++)
		if (!(entered >> i & 1))
			table_text(out, width, "", "%s was never called, in no case.",
				   what_if->speedups[i].symbol);
	for (unsigned i = 0; i < what_if->set_count; i++)
		if (!machine_figure_counts(what_if->sets[i].figure, asked))
			table_text(out, width, "", "%s counted for nothing, in no case.",
				   machine_figure_name(what_if->sets[i].figure));
}
