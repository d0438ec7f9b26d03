/* SPDX-License-Identifier: MIT */
#include "lab/export.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_chosen(const struct export_choice *choice, const json_t *result)
{
	unsigned cpus = (unsigned)result_number(result, "cpus");

	if (choice->variant && strcmp(choice->variant, result_text(result, "variant")))
		return false;
	for (unsigned i = 0; i < choice->cpus->count; i++)
		if (choice->cpus->cpus[i] == cpus)
			return true;
	return !choice->cpus->count;
}

/* What tells cases of several studies apart: the experiment, the engine, or the file alone. */
static void label(struct export_case *one, const json_t *first, const char *path)
{
	const json_t *study = one->study;
	const char *before = "", *colon = "";

	if (!json_equal(json_object_get(study, "experiment"), json_object_get(first, "experiment")))
		before = result_text(study, "experiment");
	else if (!json_equal(json_object_get(study, "engine"), json_object_get(first, "engine")))
		before = result_text(study, "engine");
	else if (study != first)
		before = path;
	if (*before)
		colon = ": ";
	snprintf(one->label, sizeof(one->label), "%s%s%s, %.0f CPUs", before, colon,
		 result_text(one->result, "variant"), result_number(one->result, "cpus"));
	/* A semicolon ends a frame. */
	for (char *at = one->label; *at; at++)
		if (*at == ';')
			*at = ',';
}

struct export_case *export_cases(const struct export_choice *choice, size_t *count)
{
	struct export_case *cases = NULL;

	*count = 0;
	for (size_t i = 0; i < choice->count; i++)
		for (size_t j = 0; j < choice->files[i].count; j++) {
			const json_t *study = choice->files[i].studies[j];
			const json_t *results = json_object_get(study, "results");

			for (size_t k = 0; k < json_array_size(results); k++) {
				if (!is_chosen(choice, json_array_get(results, k)))
					continue;
				cases = realloc(cases, (*count + 1) * sizeof(*cases));
				if (!cases)
					abort();
				cases[*count] = (struct export_case){.study = study,
								     .result = json_array_get(results, k)};
				label(&cases[*count], choice->files[0].studies[0], choice->files[i].path);
				(*count)++;
			}
		}
	return cases;
}

int export_collapsed(FILE *out, const struct export_case *cases, size_t count, struct message *why)
{
	size_t written = 0;

	for (size_t i = 0; i < count; i++) {
		const json_t *stacks = json_object_get(cases[i].result, "stacks");

		for (size_t j = 0; j < json_array_size(stacks); j++) {
			const json_t *stack = json_array_get(stacks, j);
			long long ns = llround(result_number(stack, "ns"));

			if (!ns)
				continue;
			fprintf(out, "%s%s%s %lld\n", count > 1 ? cases[i].label : "", count > 1 ? ";" : "",
				result_text(stack, "path"), ns);
			written++;
		}
	}
	return written ? 0
		       : message_set(why, -ENOENT,
				     "there is no profile in these results; run with --profile --json FILE");
}

/* A field of CSV, quoted if it must be. */
static void field(FILE *out, const char *text, char end)
{
	if (!text)
		text = "";
	if (!strpbrk(text, ",\"\n\r")) {
		fprintf(out, "%s%c", text, end);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fprintf(out, "\"%c", end);
}

static void number_field(FILE *out, const json_t *object, const char *key, char end)
{
	if (json_is_number(json_object_get(object, key)))
		fprintf(out, "%.15g", result_number(object, key));
	fputc(end, out);
}

/* "layout=one touch=write" */
static void options_field(FILE *out, const json_t *result)
{
	char text[256] = "";
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(result, "options"), key, value)
	    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s=%s", *text ? " " : "", key,
		     json_string_value(value) ? json_string_value(value) : "");
	field(out, text, ',');
}

static void what_if_field(FILE *out, const json_t *study)
{
	const json_t *what_if = json_object_get(study, "what_if");
	char *text = json_is_object(what_if) ? json_dumps(what_if, JSON_COMPACT) : NULL;

	field(out, text, ',');
	free(text);
}

void export_csv(FILE *out, const struct export_case *cases, size_t count)
{
	fprintf(out, "experiment,engine,machine,what_if,variant,options,cpus,repetition,ns_per_op,"
		     "ops_per_second,transfers_per_op,conflicts_per_op\n");
	for (size_t i = 0; i < count; i++) {
		const json_t *result = cases[i].result;
		const json_t *samples = json_object_get(result, "samples");

		for (size_t j = 0; j < json_array_size(samples); j++) {
			double ns = json_number_value(json_array_get(samples, j));

			field(out, result_text(cases[i].study, "experiment"), ',');
			field(out, result_text(cases[i].study, "engine"), ',');
			field(out, result_text(cases[i].study, "machine"), ',');
			what_if_field(out, cases[i].study);
			field(out, result_text(result, "variant"), ',');
			options_field(out, result);
			fprintf(out, "%.0f,%zu,%.15g,%.15g,", result_number(result, "cpus"), j + 1, ns,
				1e9 * result_number(result, "cpus") / ns);
			/* The first repetition is the one that was observed. */
			number_field(out, j ? NULL : result, "transfers_per_op", ',');
			number_field(out, j ? NULL : result, "conflicts_per_op", '\n');
		}
	}
}
