/* SPDX-License-Identifier: MIT */
#include "lab/experiment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/files.h"
#include "lab/workload.h"

#define TEXT CYAML_FLAG_POINTER

/* More simulated operations than this would take days. */
#define OPERATIONS_MAX (1ull << 32)

static const struct cyaml_schema_value cpus_entry = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};

static const struct cyaml_schema_field operations_fields[] = {
    CYAML_FIELD_UINT("published", CYAML_FLAG_OPTIONAL, struct experiment, operations.published),
    CYAML_FIELD_UINT("simulated", CYAML_FLAG_DEFAULT, struct experiment, operations.simulated),
    CYAML_FIELD_UINT("warm_up", CYAML_FLAG_DEFAULT, struct experiment, operations.warm_up),
    CYAML_FIELD_UINT("sweep", CYAML_FLAG_DEFAULT, struct experiment, operations.sweep),
    CYAML_FIELD_UINT("sweep_warm_up", CYAML_FLAG_DEFAULT, struct experiment, operations.sweep_warm_up),
    CYAML_FIELD_BOOL("sweep_corners_only", CYAML_FLAG_OPTIONAL, struct experiment,
		     operations.sweep_corners_only),
    CYAML_FIELD_END};

static const struct cyaml_schema_field choice_fields[] = {
    CYAML_FIELD_STRING_PTR("field", TEXT, struct experiment_choice, field, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("choice", TEXT, struct experiment_choice, choice, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END};

static const struct cyaml_schema_value choice_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct experiment_choice, choice_fields)};

static const struct cyaml_schema_field option_fields[] = {
    CYAML_FIELD_STRING_PTR("option", TEXT, struct experiment_choice, field, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("choice", TEXT, struct experiment_choice, choice, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END};

static const struct cyaml_schema_value option_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct experiment_choice, option_fields)};

static const struct cyaml_schema_field variant_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct experiment_variant, name, 1, 63),
    CYAML_FIELD_STRING_PTR("base", TEXT, struct experiment_variant, base, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("what", TEXT, struct experiment_variant, what, 1, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("set", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct experiment_variant, set,
			 &choice_entry, 0, 64),
    CYAML_FIELD_SEQUENCE("options", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct experiment_variant,
			 options, &option_entry, 0, WORKLOAD_OPTIONS_MAX),
    CYAML_FIELD_END};

static const struct cyaml_schema_value variant_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct experiment_variant, variant_fields)};

static const struct cyaml_schema_field shown_case_fields[] = {
    CYAML_FIELD_STRING_PTR("variant", TEXT, struct experiment_shown_case, variant, 1, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("cpus", CYAML_FLAG_POINTER, struct experiment_shown_case, cpus, &cpus_entry, 1, 64),
    CYAML_FIELD_END};

static const struct cyaml_schema_value shown_case_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct experiment_shown_case, shown_case_fields)};

static const struct cyaml_schema_field shown_fields[] = {
    CYAML_FIELD_UINT("repetitions", CYAML_FLAG_OPTIONAL, struct experiment, shown.repetitions),
    CYAML_FIELD_SEQUENCE("cases", CYAML_FLAG_POINTER, struct experiment, shown.cases, &shown_case_entry, 1,
			 64),
    CYAML_FIELD_END};

static const struct cyaml_schema_field fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct experiment, name, 1, 63),
    CYAML_FIELD_STRING_PTR("title", TEXT, struct experiment, title, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("source", TEXT, struct experiment, source, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("workload", TEXT, struct experiment, workload, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("machine", TEXT, struct experiment, machine, 1, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("cpus", CYAML_FLAG_POINTER, struct experiment, cpus, &cpus_entry, 1, 64),
    DOCUMENT_GROUP("operations", struct experiment, operations_fields),
    CYAML_FIELD_SEQUENCE("variants", CYAML_FLAG_POINTER, struct experiment, variants, &variant_entry, 1, 64),
    DOCUMENT_OPTIONAL_GROUP("shown", struct experiment, shown_fields),
    CYAML_FIELD_IGNORE("published", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("verdicts", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_END};

static const struct cyaml_schema_value schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct experiment, fields)};

static int make_policy(const struct experiment_variant *variant, struct policy *policy, uint32_t *at,
		       struct message *why)
{
	int error = policy_base(policy, variant->base, why);

	*at = 0;
	for (uint32_t i = 0; !error && i < variant->set_count; i++) {
		error = policy_set(policy, variant->set[i].field, variant->set[i].choice, why);
		*at = i + 1;
	}
	if (!error) {
		*at = 0;
		error = policy_check(policy, why);
	}
	return error;
}

static int check_options(struct document *document, const struct experiment *experiment, uint32_t index,
			 struct message *why)
{
	const struct experiment_variant *variant = &experiment->variants[index];
	const struct workload *workload = workload_find(experiment->workload, NULL);
	struct workload_settings settings = {{0}};
	struct message wrong = {""};
	char place[64];

	for (uint32_t i = 0; i < variant->options_count; i++) {
		if (!workload_choose(workload, &settings, variant->options[i].field,
				     variant->options[i].choice, &wrong))
			continue;
		snprintf(place, sizeof(place), "variants.%u.options.%u", index, i);
		return document_error(document, why, place, "variant \"%s\": %s", variant->name, wrong.text);
	}
	return 0;
}

static int check_variants(struct document *document, const struct experiment *experiment, struct message *why)
{
	for (uint32_t i = 0; i < experiment->variants_count; i++) {
		const struct experiment_variant *variant = &experiment->variants[i];
		struct message wrong = {""};
		struct policy policy;
		char place[64];
		uint32_t at;

		for (uint32_t j = 0; j < i; j++)
			if (!strcmp(experiment->variants[j].name, variant->name)) {
				snprintf(place, sizeof(place), "variants.%u.name", i);
				return document_error(
				    document, why, place,
				    "a second variant is called \"%s\"; each needs its own name",
				    message_quote(variant->name).text);
			}
		if (check_options(document, experiment, i, why))
			return -EINVAL;
		if (!make_policy(variant, &policy, &at, &wrong))
			continue;
		if (at)
			snprintf(place, sizeof(place), "variants.%u.set.%u", i, at - 1);
		else
			snprintf(place, sizeof(place), "variants.%u.base", i);
		return document_error(document, why, place, "variant \"%s\": %s",
				      message_quote(variant->name).text, wrong.text);
	}
	return 0;
}

static int check_numbers(struct document *document, const struct experiment *experiment, struct message *why)
{
	const struct {
		const char *key;
		uint64_t value, least;
	} numbers[] = {{"published", experiment->operations.published, 0},
		       {"simulated", experiment->operations.simulated, 1},
		       {"warm_up", experiment->operations.warm_up, 0},
		       {"sweep", experiment->operations.sweep, 1},
		       {"sweep_warm_up", experiment->operations.sweep_warm_up, 0}};
	char place[64];

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].value >= numbers[i].least && numbers[i].value <= OPERATIONS_MAX)
			continue;
		snprintf(place, sizeof(place), "operations.%s", numbers[i].key);
		return document_error(document, why, place, "\"%s\" is %llu; it must be %llu to %llu",
				      numbers[i].key, (unsigned long long)numbers[i].value,
				      (unsigned long long)numbers[i].least, OPERATIONS_MAX);
	}
	for (uint32_t i = 0; i < experiment->cpus_count; i++) {
		snprintf(place, sizeof(place), "cpus.%u", i);
		if (!experiment->cpus[i] || experiment->cpus[i] > VSMP_CPUS_MAX)
			return document_error(document, why, place, "\"cpus\" has %u; it must be 1 to %u",
					      experiment->cpus[i], VSMP_CPUS_MAX);
		if (i && experiment->cpus[i] <= experiment->cpus[i - 1])
			return document_error(document, why, place,
					      "\"cpus\" has %u after %u; they must grow", experiment->cpus[i],
					      experiment->cpus[i - 1]);
	}
	return 0;
}

/* More repetitions than this would take days. */
#define REPETITIONS_MAX 1000u

static int check_shown(struct document *document, const struct experiment *experiment, struct message *why)
{
	char place[64];

	if (experiment->shown.repetitions > REPETITIONS_MAX)
		return document_error(document, why, "shown.repetitions",
				      "\"repetitions\" is %u; it must be 1 to %u",
				      experiment->shown.repetitions, REPETITIONS_MAX);
	for (uint32_t i = 0; i < experiment->shown.cases_count; i++) {
		const struct experiment_shown_case *shown = &experiment->shown.cases[i];
		struct message wrong = {""};

		snprintf(place, sizeof(place), "shown.cases.%u.variant", i);
		if (!experiment_variant(experiment, shown->variant, &wrong))
			return document_error(document, why, place, "%s", wrong.text);
		for (uint32_t j = 0; j < shown->cpus_count; j++) {
			snprintf(place, sizeof(place), "shown.cases.%u.cpus.%u", i, j);
			if (!shown->cpus[j] || shown->cpus[j] > VSMP_CPUS_MAX)
				return document_error(document, why, place,
						      "\"cpus\" has %u; it must be 1 to %u", shown->cpus[j],
						      VSMP_CPUS_MAX);
		}
	}
	return 0;
}

static int check(struct document *document, const struct experiment *experiment, struct message *why)
{
	const char *path = document_path(document);
	const char *base = strrchr(path, '/');
	struct message wrong = {""};
	int error;

	base = base ? base + 1 : path;
	if (strncmp(base, experiment->name, strlen(experiment->name)) ||
	    strcmp(base + strlen(experiment->name), ".yaml"))
		return document_error(
		    document, why, "name", "the experiment is called \"%s\"; its file must be called %s.yaml",
		    message_quote(experiment->name).text, message_quote(experiment->name).text);
	if (!workload_find(experiment->workload, &wrong))
		return document_error(document, why, "workload", "%s", wrong.text);
	error = check_numbers(document, experiment, why);
	if (!error)
		error = check_variants(document, experiment, why);
	return error ? error : check_shown(document, experiment, why);
}

int experiment_load(struct experiment **experiment, const char *name, struct document **document,
		    struct message *why)
{
	struct document *opened = NULL;
	void *data = NULL;
	char *path;
	int error = files_find("experiments", name, &path, why);

	if (error)
		return error;
	error = document_open(&opened, path, "docs/EXPERIMENTS.md", why);
	free(path);
	if (!error)
		error = document_load(opened, &schema, &data, why);
	if (!error)
		error = check(opened, data, why);
	if (error || !document)
		document_close(opened);
	else
		*document = opened;
	if (error) {
		experiment_free(data);
		return error;
	}
	*experiment = data;
	return 0;
}

void experiment_free(struct experiment *experiment)
{
	document_free(&schema, experiment);
}

const struct experiment_variant *experiment_variant(const struct experiment *experiment, const char *name,
						    struct message *why)
{
	const char *names[64];
	char suggestion[MESSAGE_BYTES / 2];

	for (uint32_t i = 0; i < experiment->variants_count; i++) {
		names[i] = experiment->variants[i].name;
		if (!strcmp(names[i], name))
			return &experiment->variants[i];
	}
	names_suggest(suggestion, sizeof(suggestion), name, names, experiment->variants_count);
	message_set(why, -ENOENT, "experiment %s has no variant \"%s\"; %s",
		    message_quote(experiment->name).text, message_quote(name).text, suggestion);
	return NULL;
}

void experiment_policy(const struct experiment_variant *variant, struct policy *policy)
{
	uint32_t at;

	make_policy(variant, policy, &at, NULL);
}

void experiment_settings(const struct experiment *experiment, const struct experiment_variant *variant,
			 struct workload_settings *settings)
{
	const struct workload *workload = workload_find(experiment->workload, NULL);

	memset(settings, 0, sizeof(*settings));
	for (uint32_t i = 0; i < variant->options_count; i++)
		workload_choose(workload, settings, variant->options[i].field, variant->options[i].choice,
				NULL);
}
