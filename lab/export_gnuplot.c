/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "lab/export.h"

/* A text between single quotes, where gnuplot looks at nothing but the quote. */
static void quote(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

static bool is_first_of_curve(const struct export_case *cases, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (cases[i].study == cases[index].study &&
		    !strcmp(result_text(cases[i].result, "variant"),
			    result_text(cases[index].result, "variant")))
			return false;
	return true;
}

static void span(const json_t *result, double *least, double *most)
{
	const json_t *samples = json_object_get(result, "samples");
	double cpus = result_number(result, "cpus");

	*least = *most = result_number(result, "ops_per_second");
	for (size_t i = 0; i < json_array_size(samples); i++) {
		double here = 1e9 * cpus / json_number_value(json_array_get(samples, i));

		*least = here < *least ? here : *least;
		*most = here > *most ? here : *most;
	}
}

static void data(FILE *out, const struct export_case *cases, size_t count, size_t first)
{
	for (size_t i = first; i < count; i++) {
		double least, most;

		if (cases[i].study != cases[first].study ||
		    strcmp(result_text(cases[i].result, "variant"),
			   result_text(cases[first].result, "variant")))
			continue;
		span(cases[i].result, &least, &most);
		fprintf(out, "%.0f %.15g %.15g %.15g\n", result_number(cases[i].result, "cpus"),
			result_number(cases[i].result, "ops_per_second"), least, most);
	}
	fprintf(out, "e\n");
}

/* The label of a case is that of its curve, without the number of CPUs. */
static void curve_name(FILE *out, const struct export_case *one)
{
	char name[sizeof(one->label)];
	char *comma;

	strcpy(name, one->label);
	comma = strrchr(name, ',');
	if (comma)
		*comma = '\0';
	quote(out, name);
}

static const json_t *law_of(const struct export_case *one)
{
	const json_t *scaling = json_object_get(one->study, "scaling");

	for (size_t i = 0; i < json_array_size(scaling); i++) {
		const json_t *curve = json_array_get(scaling, i);
		const char *variant = result_text(curve, "variant");

		if (variant && !strcmp(variant, result_text(one->result, "variant")) &&
		    json_is_object(json_object_get(curve, "fit")))
			return json_object_get(curve, "fit");
	}
	return NULL;
}

void export_gnuplot(FILE *out, const char *path, const struct export_case *cases, size_t count)
{
	const json_t *first = cases[0].study;
	unsigned curve = 0;

	fprintf(
	    out,
	    "set terminal svg size 900,600 dynamic background '#ffffff' font 'sans-serif,14'\nset output ");
	quote(out, path);
	fprintf(out, "\nset title ");
	quote(out,
	      result_text(first, "title") ? result_text(first, "title") : result_text(first, "experiment"));
	fprintf(out, " noenhanced\nset xlabel 'CPUs'\nset ylabel ");
	quote(out, result_text(first, "operation"));
	fprintf(out, ".'s in a second'\nset logscale x 2\nset logscale y\nset format y '%%.0s %%c'\n"
		     "set grid\nset key outside below noenhanced\n"
		     "law(n, l, s, k) = l * n / (1 + s * (n - 1) + k * n * (n - 1))\nplot ");
	for (size_t i = 0; i < count; i++) {
		const json_t *law = law_of(&cases[i]);

		if (!is_first_of_curve(cases, i))
			continue;
		curve++;
		fprintf(out, "%s'-' using 1:2:3:4 with yerrorlines lc %u pt 7 title ",
			curve > 1 ? ", \\\n  " : "", curve);
		curve_name(out, &cases[i]);
		if (law)
			fprintf(out, ", \\\n  law(x, %.15g, %.15g, %.15g) with lines lc %u dt 3 notitle",
				result_number(law, "ops_per_second_alone"), result_number(law, "contention"),
				result_number(law, "coherence"), curve);
	}
	fputc('\n', out);
	for (size_t i = 0; i < count; i++)
		if (is_first_of_curve(cases, i))
			data(out, cases, count, i);
}
