/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json_file.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "lab/experiment.h"
#include "lab/explore.h"
#include "lab/files.h"
#include "lab/machine.h"
#include "lab/table.h"

#define KEY_JSON 'j'

enum kind { EXPERIMENTS, MACHINES, CHECKS, VARIANTS };

static const char *const kinds[] = {
    [EXPERIMENTS] = "experiments", [MACHINES] = "machines", [CHECKS] = "checks", [VARIANTS] = "variants"};

struct values {
	unsigned arguments;
	enum kind kind;
	const char *experiment;
	const char *json;
};

static int take(int key, const char *text, void *argument, struct message *why)
{
	struct values *values = argument;
	char suggestion[MESSAGE_BYTES / 2];

	switch (key) {
	case KEY_JSON:
		values->json = text;
		return 0;
	case ARGP_KEY_END:
		if (values->arguments == 1 && values->kind == VARIANTS)
			return message_set(why, -EINVAL,
					   "list variants needs an experiment: list variants EXPERIMENT");
		return 0;
	default:
		if (values->arguments++) {
			if (values->arguments > 2 || values->kind != VARIANTS)
				return options_too_many(text, why);
			values->experiment = text;
			return 0;
		}
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (!strcmp(text, kinds[i])) {
				values->kind = (enum kind)i;
				return 0;
			}
		names_suggest(suggestion, sizeof(suggestion), text, kinds, ARRAY_SIZE(kinds));
		return message_set(why, -EINVAL, "\"%s\" cannot be listed; %s", message_quote(text).text,
				   suggestion);
	}
}

static const struct table_column columns[] = {{"name", TABLE_LEFT, 0, 0}, {"what it is", TABLE_LEFT, 0, 1}};

static void add(struct table *table, json_t *array, const char *name, const char *what)
{
	table_cell(table, "%s", name);
	table_cell(table, "%s", what);
	json_array_append_new(array, json_pack("{s:s, s:s}", "name", name, "what", what));
}

static int add_file(enum kind kind, const char *name, struct table *table, json_t *array, struct message *why)
{
	struct experiment *experiment;
	struct machine *machine;
	int error;

	if (kind == EXPERIMENTS) {
		error = experiment_load(&experiment, name, NULL, why);
		if (error)
			return error;
		add(table, array, name, experiment->title);
		experiment_free(experiment);
		return 0;
	}
	error = machine_load(&machine, name, why);
	if (error)
		return error;
	add(table, array, name, machine->title);
	machine_free(machine);
	return 0;
}

static int add_variants(const char *name, struct table *table, json_t *array, struct message *why)
{
	struct experiment *experiment;
	int error = experiment_load(&experiment, name, NULL, why);

	if (error)
		return error;
	for (uint32_t i = 0; i < experiment->variants_count; i++)
		add(table, array, experiment->variants[i].name, experiment->variants[i].what);
	experiment_free(experiment);
	return 0;
}

/* The policies that the check is explored under where none is named. */
static json_t *variants_of(const struct check *check)
{
	json_t *array = json_array();

	for (const char *const *variant = check->variants; variant && *variant; variant++)
		json_array_append_new(array, json_string(*variant));
	if (!check->variants)
		json_array_append_new(array, json_string("default"));
	return array;
}

static void add_checks(struct table *table, json_t *array)
{
	char what[MESSAGE_BYTES];
	json_t *made;

	for (const struct check *const *at = engine_explorer.checks; *at; at++) {
		snprintf(what, sizeof(what), "%s%s", (*at)->planted_kind ? "planted fault: " : "",
			 (*at)->summary);
		add(table, array, (*at)->name, what);
		made = json_array_get(array, json_array_size(array) - 1);
		json_object_set_new(made, "planted", json_boolean((*at)->planted_kind != NULL));
		json_object_set_new(made, "variants", variants_of(*at));
	}
}

static int list(enum kind kind, const struct values *values, json_t *object, struct message *why)
{
	struct table *table = table_create(columns, ARRAY_SIZE(columns));
	json_t *array = json_array();
	struct names names = {0};
	int error;

	if (kind == VARIANTS) {
		error = add_variants(values->experiment, table, array, why);
	} else if (kind == CHECKS) {
		error = 0;
		add_checks(table, array);
	} else {
		error = files_list(kinds[kind], &names, why);
		for (size_t i = 0; !error && i < names.count; i++)
			error = add_file(kind, names.name[i], table, array, why);
		names_free(&names);
	}
	json_object_set_new(object, kinds[kind], array);
	if (!error && !json_file_is_stdout(values->json)) {
		if (!values->arguments)
			printf("%s%s:\n", kind ? "\n" : "", kinds[kind]);
		table_print(table, stdout, terminal_width());
	}
	table_free(table);
	return error;
}

int command_list(int argc, char **argv)
{
	static const struct argp_option own[] = {
	    {"json", KEY_JSON, "FILE", 0, "write the list to FILE too, - for the output instead", 0}, {0}};
	static const struct options options = {
	    .command = "softfault list",
	    .options = own,
	    .arguments = "[experiments|machines|checks|variants EXPERIMENT]",
	    .about = "Lists experiments, machines and checks, or the variants of an experiment.",
	    .take = take,
	};
	struct values values = {0};
	struct message why = {""};
	json_t *object;
	int error = 0;
	int status = options_parse(&options, argc, argv, &values);

	if (status >= 0)
		return status;
	if (values.json && json_file_check(values.json, &why))
		return command_fail(EXIT_BAD_INPUT, &why);
	object = json_pack("{s:i}", "schema", 1);
	if (values.arguments) {
		error = list(values.kind, &values, object, &why);
	} else {
		error = list(EXPERIMENTS, &values, object, &why);
		if (!error)
			error = list(MACHINES, &values, object, &why);
	}
	if (error) {
		json_decref(object);
		return command_fail(EXIT_BAD_INPUT, &why);
	}
	if (!values.json)
		json_decref(object);
	else if (json_file_write(values.json, object, &why))
		return command_fail(EXIT_RUN_FAILED, &why);
	return command_end(0);
}
