/* SPDX-License-Identifier: MIT */
#include "lab/report_comparison.h"

#include <math.h>
#include <string.h>

#include "lab/number.h"
#include "lab/table.h"

/* "slower by 5.2 %", or what could have been seen. */
static void verdict_cell(struct table *table, const struct comparison *comparison)
{
	double percent = 100 * fabs(comparison->ratio - 1);

	if (comparison->verdict != VERDICT_NOISE)
		table_cell(table, "%s by %s %%", verdict_name(comparison->verdict),
			   number_text(percent).text);
	else if (comparison->smallest > 0 && comparison->smallest < 1.0001)
		table_cell(table, "%s (0.01 %% would have shown)", verdict_name(comparison->verdict));
	else if (comparison->smallest > 0)
		table_cell(table, "%s (%s %% would have shown)", verdict_name(comparison->verdict),
			   number_text(100 * (comparison->smallest - 1)).text);
	else
		table_cell(table, "%s (too few repetitions to show anything)",
			   verdict_name(comparison->verdict));
}

static void probability_cell(struct table *table, double p)
{
	if (p < 1e-4)
		table_cell(table, "%.0e", p);
	else
		table_cell(table, "%.4f", p);
}

static bool differ(const struct comparable_pair *pair)
{
	return strcmp(result_text(pair->a, "variant"), result_text(pair->b, "variant"));
}

/* To the last digit, as only a simulation does. */
static bool any_repeats_itself(const struct comparable_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(result_text(pairs[i].study, "engine"), "vsmp") &&
		    json_equal(json_object_get(pairs[i].a, "samples"),
			       json_object_get(pairs[i].b, "samples")))
			return true;
	return false;
}

void report_comparison(FILE *out, unsigned width, const struct comparable_pair *pairs, size_t count)
{
	static const struct table_column columns[] = {
	    {"variant", TABLE_LEFT, 0, 0},        {"CPUs", TABLE_RIGHT, 0, 0},
	    {"A (ns/op)", TABLE_RIGHT, 3, 0},     {"B (ns/op)", TABLE_RIGHT, 3, 0},
	    {"runs", TABLE_RIGHT, 5, 0},          {"B/A", TABLE_RIGHT, 0, 0},
	    {"95 % interval", TABLE_RIGHT, 2, 0}, {"rank test", TABLE_RIGHT, 4, 0},
	    {"B is", TABLE_LEFT, 0, 1},
	};
	struct table *table = table_create(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < count; i++) {
		const struct comparable_pair *pair = &pairs[i];
		const struct comparison *comparison = &pair->comparison;

		table_cell(table, "%s%s%s", result_text(pair->a, "variant"), differ(pair) ? " -> " : "",
			   differ(pair) ? result_text(pair->b, "variant") : "");
		table_cell(table, "%.0f", result_number(pair->a, "cpus"));
		table_cell(table, "%s", number_text(comparison->median_a).text);
		table_cell(table, "%s", number_text(comparison->median_b).text);
		table_cell(table, "%zu, %zu", json_array_size(json_object_get(pair->a, "samples")),
			   json_array_size(json_object_get(pair->b, "samples")));
		table_cell(table, "%.4f", comparison->ratio);
		table_cell(table, "%.4f to %.4f", comparison->low, comparison->high);
		probability_cell(table, comparison->p);
		verdict_cell(table, comparison);
	}
	table_print(table, out, width);
	table_free(table);
	fputc('\n', out);
	table_text(
	    out, width, "",
	    "B/A is the ratio of the medians of time, the interval a bootstrap of it, the rank test the "
	    "probability that chance alone makes the ranks differ so (Mann and Whitney, two-sided). A "
	    "difference is told only where the interval leaves out 1 and the rank test is below %g; that "
	    "takes %d repetitions or more on each side. What \"would have shown\" is the smallest difference "
	    "that these repetitions, with the noise they have, would have been enough for.",
	    COMPARISON_RANK_LEVEL, COMPARISON_SAMPLES_MIN);
	if (any_repeats_itself(pairs, count))
		table_text(
		    out, width, "",
		    "Where A and B took exactly as long a simulation has repeated itself, with the same "
		    "seeds or where seeds change nothing. That is no measure of noise: another --seed "
		    "for one of them may be.");
}

json_t *json_comparison(const struct comparable_pair *pairs, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct comparable_pair *pair = &pairs[i];
		const struct comparison *comparison = &pair->comparison;

		json_array_append_new(
		    array, json_pack("{s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:o}",
				     "experiment", result_text(pair->study, "experiment"), "variant",
				     result_text(pair->a, "variant"), "other_variant",
				     result_text(pair->b, "variant"), "cpus",
				     (int)result_number(pair->a, "cpus"), "a_ns_per_op", comparison->median_a,
				     "b_ns_per_op", comparison->median_b, "ratio", comparison->ratio, "low",
				     comparison->low, "high", comparison->high, "p", comparison->p, "verdict",
				     verdict_name(comparison->verdict), "smallest_percent",
				     comparison->smallest > 0 ? json_real(100 * (comparison->smallest - 1))
							      : json_null()));
	}
	return json_pack("{s:i, s:o}", "schema", 1, "comparisons", array);
}
