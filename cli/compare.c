/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json_file.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "lab/report_comparison.h"

enum key { KEY_VARIANT = 256, KEY_CPUS, KEY_WHAT_IF, KEY_JSON };

static const struct argp_option own[] = {
    {"variant", KEY_VARIANT, "A[,B]", 0,
     "only this variant; with two, A of the first file against B of the second, or both of one file", 1},
    {"cpus", KEY_CPUS, "LIST", 0, "only on so many CPUs: 1,2,4-64 (default: all that both have)", 1},
    {"what-if", KEY_WHAT_IF, NULL, 0, "also where one is a what-if run and the other none", 1},
    {"json", KEY_JSON, "FILE", 0, "write the results to FILE too, - for the output instead", 2},
    {0}};

struct values {
	const char *paths[2];
	unsigned count;
	char variants[128]; /* the two names, the comma between them a NUL */
	const char *variant, *other_variant, *json;
	struct cpu_list cpus;
	bool what_if;
};

static int take_variants(struct values *values, const char *text, struct message *why)
{
	char *comma;

	if (!*text || strlen(text) >= sizeof(values->variants))
		return message_set(why, -EINVAL, "--variant: \"%s\" is no name of a variant",
				   message_quote(text).text);
	strcpy(values->variants, text);
	values->variant = values->variants;
	values->other_variant = NULL;
	comma = strchr(values->variants, ',');
	if (!comma)
		return 0;
	*comma = '\0';
	values->other_variant = comma + 1;
	if (values->variant[0] && comma[1] && !strchr(comma + 1, ','))
		return 0;
	return message_set(why, -EINVAL, "--variant: \"%s\" must be one variant, or two with a comma between",
			   message_quote(text).text);
}

static int take(int key, const char *text, void *argument, struct message *why)
{
	struct values *values = argument;

	switch (key) {
	case KEY_VARIANT:
		return take_variants(values, text, why);
	case KEY_CPUS:
		return cpu_list_parse(&values->cpus, text, why);
	case KEY_WHAT_IF:
		values->what_if = true;
		return 0;
	case KEY_JSON:
		values->json = text;
		return 0;
	case ARGP_KEY_END:
		if (!values->count)
			return message_set(why, -EINVAL,
					   "a result must be named, as softfault run --json writes it");
		if (values->count == 1 && !values->other_variant)
			return message_set(
			    why, -EINVAL,
			    "one result is compared in itself: name two of its variants, --variant A,B");
		return 0;
	default:
		if (values->count == 2)
			return options_too_many(text, why);
		values->paths[values->count++] = text;
		return 0;
	}
}

static int show(const struct comparable_pair *pairs, size_t count, const struct values *values,
		struct message *why)
{
	if (!json_file_is_stdout(values->json)) {
		printf("%s: A is %s, B is %s\n\n", result_text(pairs[0].study, "experiment"),
		       values->paths[0], values->count > 1 ? values->paths[1] : "the same file");
		report_comparison(stdout, terminal_width(), pairs, count);
	}
	if (values->json && json_file_write(values->json, json_comparison(pairs, count), why))
		return command_fail(EXIT_RUN_FAILED, why);
	return command_end(0);
}

int command_compare(int argc, char **argv)
{
	static const struct options options = {
	    .command = "softfault compare",
	    .options = own,
	    .arguments = "A.json [B.json]",
	    .about =
		"Says whether B is faster or slower than A, or whether they differ by no more than noise. "
		"Runs that are not comparable are refused, with the reason.",
	    .take = take,
	};
	struct values values = {0};
	struct result_file a = {0}, b = {0};
	struct comparable_choice choice;
	struct comparable_pair *pairs = NULL;
	struct message why = {""};
	size_t count;
	int error, status = options_parse(&options, argc, argv, &values);

	if (status >= 0)
		return status;
	choice = (struct comparable_choice){values.variant,
					    values.other_variant ? values.other_variant : values.variant,
					    &values.cpus, values.what_if};
	error = result_file_read(&a, values.paths[0], &why);
	if (!error && values.count > 1)
		error = result_file_read(&b, values.paths[1], &why);
	if (!error)
		error = comparable_pairs(&a, values.count > 1 ? &b : &a, &choice, &pairs, &count, &why);
	if (!error && values.json)
		error = json_file_check(values.json, &why);
	status = error ? command_fail(EXIT_BAD_INPUT, &why) : show(pairs, count, &values, &why);
	free(pairs);
	result_file_close(&a);
	result_file_close(&b);
	return status;
}
