/* SPDX-License-Identifier: MIT */
#include "lab/published.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT   CYAML_FLAG_POINTER
#define STRICT CYAML_FLAG_STRICT

static const struct cyaml_strval quantities[] = {{"seconds", PUBLISHED_SECONDS}};
static const char *const units[] = {[PUBLISHED_SECONDS] = "s"};
static const struct cyaml_strval kinds[] = {{"predicted", PUBLISHED_PREDICTED}, {"fitted", PUBLISHED_FITTED}};

static const struct cyaml_schema_field published_fields[] = {
    CYAML_FIELD_STRING_PTR("variant", TEXT, struct published, variant, 1, CYAML_UNLIMITED),
    CYAML_FIELD_UINT("cpus", CYAML_FLAG_DEFAULT, struct published, cpus),
    CYAML_FIELD_ENUM("quantity", STRICT, struct published, quantity, quantities, CYAML_ARRAY_LEN(quantities)),
    CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, struct published, value),
    CYAML_FIELD_STRING_PTR("unit", TEXT, struct published, unit, 1, CYAML_UNLIMITED),
    CYAML_FIELD_ENUM("kind", STRICT, struct published, kind, kinds, CYAML_ARRAY_LEN(kinds)),
    CYAML_FIELD_STRING_PTR("source", TEXT, struct published, source, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END};

static const struct cyaml_schema_value published_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct published, published_fields)};

/* The rest of the file is the experiment's, and was checked with it. */
static const struct cyaml_schema_field fields[] = {
    CYAML_FIELD_IGNORE("name", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("title", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("source", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("workload", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("machine", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("cpus", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("operations", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("variants", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_SEQUENCE("published", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct published_list,
			 published, &published_entry, 0, 256),
    CYAML_FIELD_END};

static const struct cyaml_schema_value schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct published_list, fields)};

static int check_one(struct document *document, const struct experiment *experiment,
		     const struct published_list *list, uint32_t index, struct message *why)
{
	const struct published *published = &list->published[index];
	struct message wrong = {""};
	char place[64];

	snprintf(place, sizeof(place), "published.%u.variant", index);
	if (!experiment_variant(experiment, published->variant, &wrong))
		return document_error(document, why, place, "%s", wrong.text);
	for (uint32_t i = 0; i < index; i++)
		if (published_find(list, published->variant, published->cpus, published->quantity) !=
		    published)
			return document_error(document, why, place,
					      "a second figure for \"%s\" on %u CPUs; one of the two must go",
					      message_quote(published->variant).text, published->cpus);
	snprintf(place, sizeof(place), "published.%u.cpus", index);
	if (!published->cpus || published->cpus > VSMP_CPUS_MAX)
		return document_error(document, why, place, "\"cpus\" is %u; it must be 1 to %u",
				      published->cpus, VSMP_CPUS_MAX);
	snprintf(place, sizeof(place), "published.%u.value", index);
	if (published->value <= 0)
		return document_error(document, why, place, "\"value\" is %g; it must be more than 0",
				      published->value);
	snprintf(place, sizeof(place), "published.%u.unit", index);
	if (strcmp(published->unit, units[published->quantity]))
		return document_error(document, why, place, "\"unit\" is \"%s\"; %s must be in %s",
				      message_quote(published->unit).text,
				      published_quantity_name(published->quantity),
				      units[published->quantity]);
	return 0;
}

int published_load(struct published_list **list, struct document *document,
		   const struct experiment *experiment, struct message *why)
{
	void *data = NULL;
	int error = document_load(document, &schema, &data, why);
	struct published_list *loaded = data;

	for (uint32_t i = 0; !error && i < loaded->published_count; i++)
		error = check_one(document, experiment, loaded, i, why);
	if (error) {
		published_free(loaded);
		return error;
	}
	*list = loaded;
	return 0;
}

void published_free(struct published_list *list)
{
	document_free(&schema, list);
}

const struct published *published_find(const struct published_list *list, const char *variant, unsigned cpus,
				       enum published_quantity quantity)
{
	for (uint32_t i = 0; list && i < list->published_count; i++)
		if (list->published[i].cpus == cpus && list->published[i].quantity == quantity &&
		    !strcmp(list->published[i].variant, variant))
			return &list->published[i];
	return NULL;
}

const char *published_quantity_name(enum published_quantity quantity)
{
	return quantities[quantity].str;
}

const char *published_kind_name(enum published_kind kind)
{
	return kinds[kind].str;
}
