/* SPDX-License-Identifier: MIT */
#include "lab/published.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT   CYAML_FLAG_POINTER
#define STRICT CYAML_FLAG_STRICT

static const struct cyaml_strval quantities[] = {{"seconds", PUBLISHED_SECONDS},
						 {"operations a second", PUBLISHED_RATE},
						 {"profile share", PUBLISHED_PROFILE_SHARE}};
static const char *const units[] = {
    [PUBLISHED_SECONDS] = "s", [PUBLISHED_RATE] = "1/s", [PUBLISHED_PROFILE_SHARE] = "%"};
static const struct cyaml_strval kinds[] = {{"predicted", PUBLISHED_PREDICTED}, {"fitted", PUBLISHED_FITTED}};

static const struct cyaml_schema_value function_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED)};

static const struct cyaml_schema_field published_fields[] = {
    CYAML_FIELD_STRING_PTR("variant", TEXT, struct published, variant, 1, CYAML_UNLIMITED),
    CYAML_FIELD_UINT("cpus", CYAML_FLAG_DEFAULT, struct published, cpus),
    CYAML_FIELD_ENUM("quantity", STRICT, struct published, quantity, quantities, CYAML_ARRAY_LEN(quantities)),
    CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, struct published, value),
    CYAML_FIELD_STRING_PTR("unit", TEXT, struct published, unit, 1, CYAML_UNLIMITED),
    CYAML_FIELD_ENUM("kind", STRICT, struct published, kind, kinds, CYAML_ARRAY_LEN(kinds)),
    CYAML_FIELD_STRING_PTR("source", TEXT, struct published, source, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("symbol", TEXT | CYAML_FLAG_OPTIONAL, struct published, symbol, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("caller", TEXT | CYAML_FLAG_OPTIONAL, struct published, caller, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("ours", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct published, ours,
			 &function_entry, 1, 16),
    CYAML_FIELD_SEQUENCE("of", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct published, of,
			 &function_entry, 1, 16),
    CYAML_FIELD_UINT("ticks", CYAML_FLAG_OPTIONAL, struct published, ticks),
    CYAML_FIELD_END};

static const struct cyaml_schema_value published_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct published, published_fields)};

static const struct cyaml_strval verdicts[] = {
    {"within noise", VERDICT_NOISE}, {"faster", VERDICT_FASTER}, {"slower", VERDICT_SLOWER}};

static const struct cyaml_schema_field verdict_fields[] = {
    CYAML_FIELD_STRING_PTR("variant", TEXT, struct published_verdict, variant, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("against", TEXT, struct published_verdict, against, 1, CYAML_UNLIMITED),
    CYAML_FIELD_UINT("cpus", CYAML_FLAG_DEFAULT, struct published_verdict, cpus),
    CYAML_FIELD_ENUM("verdict", STRICT, struct published_verdict, verdict, verdicts,
		     CYAML_ARRAY_LEN(verdicts)),
    CYAML_FIELD_STRING_PTR("source", TEXT, struct published_verdict, source, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END};

static const struct cyaml_schema_value verdict_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct published_verdict, verdict_fields)};

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
    CYAML_FIELD_IGNORE("shown", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_SEQUENCE("verdicts", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct published_list,
			 verdicts, &verdict_entry, 0, 64),
    CYAML_FIELD_END};

static const struct cyaml_schema_value schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct published_list, fields)};

/* Which keys a figure of its quantity has, besides those that all have. */
static int check_keys(struct document *document, const struct published *published, uint32_t index,
		      struct message *why)
{
	bool share = published->quantity == PUBLISHED_PROFILE_SHARE;
	const struct {
		const char *key;
		bool there, wanted;
	} keys[] = {{"symbol", published->symbol, share},
		    {"ours", published->ours, share},
		    {"caller", published->caller, share && published->of},
		    {"of", published->of, share && published->caller},
		    {"ticks", published->ticks, share && published->ticks}};
	char place[64];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].there == keys[i].wanted)
			continue;
		snprintf(place, sizeof(place), "published.%u%s%s", index, keys[i].there ? "." : "",
			 keys[i].there ? keys[i].key : "");
		return document_error(document, why, place, "a figure of %s%s %s the key \"%s\"",
				      published_quantity_name(published->quantity),
				      published->caller ? " of a caller" : "",
				      keys[i].wanted ? "needs" : "cannot have", keys[i].key);
	}
	return 0;
}

static bool same_text(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

static bool is_same_figure(const struct published *one, const struct published *other)
{
	return published_is_of(one, other->variant, other->cpus) && one->quantity == other->quantity &&
	       same_text(one->symbol, other->symbol) && same_text(one->caller, other->caller);
}

static int check_value(struct document *document, const struct experiment *experiment,
		       const struct published *published, uint32_t index, struct message *why)
{
	char place[64];

	snprintf(place, sizeof(place), "published.%u.value", index);
	if (published->value <= 0)
		return document_error(document, why, place, "\"value\" is %g; it must be more than 0",
				      published->value);
	if (published->quantity == PUBLISHED_PROFILE_SHARE && published->value > 100)
		return document_error(document, why, place, "\"value\" is %g; a share is 100 %% at the most",
				      published->value);
	snprintf(place, sizeof(place), "published.%u.unit", index);
	if (strcmp(published->unit, units[published->quantity]))
		return document_error(document, why, place, "\"unit\" is \"%s\"; %s must be in %s",
				      published->unit, published_quantity_name(published->quantity),
				      units[published->quantity]);
	snprintf(place, sizeof(place), "published.%u.quantity", index);
	if (published->quantity == PUBLISHED_SECONDS && !experiment->operations.published)
		return document_error(document, why, place,
				      "seconds are for a number of operations; \"operations\" lacks the "
				      "key \"published\"");
	return 0;
}

double published_all_ticks(const struct published *published)
{
	return (double)published->ticks / published->value * 100;
}

/* Figures of one case in ticks must make out the same number of them in all, but for how shares were rounded.
 */
static int check_ticks(struct document *document, const struct published_list *list, uint32_t index,
		       struct message *why)
{
	const struct published *published = &list->published[index];
	char place[64];

	for (uint32_t i = 0; published->ticks && !published->caller && i < index; i++) {
		const struct published *other = &list->published[i];

		if (!other->ticks || other->caller ||
		    !published_is_of(other, published->variant, published->cpus) ||
		    fabs(published_all_ticks(other) / published_all_ticks(published) - 1) < 0.01)
			continue;
		snprintf(place, sizeof(place), "published.%u.ticks", index);
		return document_error(
		    document, why, place, "%llu ticks are %g %% of %.0f; those of \"%s\" are of %.0f",
		    (unsigned long long)published->ticks, published->value, published_all_ticks(published),
		    message_quote(other->symbol).text, published_all_ticks(other));
	}
	return 0;
}

static int check_one(struct document *document, const struct experiment *experiment,
		     const struct published_list *list, uint32_t index, struct message *why)
{
	const struct published *published = &list->published[index];
	struct message wrong = {""};
	char place[64];
	int error;

	snprintf(place, sizeof(place), "published.%u.variant", index);
	if (!experiment_variant(experiment, published->variant, &wrong))
		return document_error(document, why, place, "%s", wrong.text);
	for (uint32_t i = 0; i < index; i++)
		if (is_same_figure(&list->published[i], published))
			return document_error(document, why, place,
					      "a second figure for \"%s\" on %u CPUs; one of the two must go",
					      message_quote(published->variant).text, published->cpus);
	snprintf(place, sizeof(place), "published.%u.cpus", index);
	if (!published->cpus || published->cpus > VSMP_CPUS_MAX)
		return document_error(document, why, place, "\"cpus\" is %u; it must be 1 to %u",
				      published->cpus, VSMP_CPUS_MAX);
	error = check_value(document, experiment, published, index, why);
	if (!error)
		error = check_keys(document, published, index, why);
	return error ? error : check_ticks(document, list, index, why);
}

/* Both sides must be shown, or nothing could be set beside it. */
static int check_verdict(struct document *document, const struct experiment *experiment,
			 const struct published_verdict *verdict, uint32_t index, struct message *why)
{
	const char *const sides[] = {verdict->variant, verdict->against};
	char place[64];

	for (size_t side = 0; side < ARRAY_SIZE(sides); side++) {
		bool shown = false;

		for (uint32_t i = 0; i < experiment->shown.cases_count; i++) {
			const struct experiment_shown_case *one = &experiment->shown.cases[i];

			for (uint32_t j = 0; j < one->cpus_count; j++)
				shown = shown ||
					(one->cpus[j] == verdict->cpus && !strcmp(one->variant, sides[side]));
		}
		if (shown)
			continue;
		snprintf(place, sizeof(place), "verdicts.%u.%s", index, side ? "against" : "variant");
		return document_error(document, why, place,
				      "\"%s\" on %u CPUs is not among the cases of \"shown\"",
				      message_quote(sides[side]).text, verdict->cpus);
	}
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
	for (uint32_t i = 0; !error && i < loaded->verdicts_count; i++)
		error = check_verdict(document, experiment, &loaded->verdicts[i], i, why);
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

bool published_is_of(const struct published *published, const char *variant, unsigned cpus)
{
	return published->cpus == cpus && !strcmp(published->variant, variant);
}

const struct published *published_find(const struct published_list *list, enum published_quantity quantity,
				       const char *variant, unsigned cpus)
{
	for (uint32_t i = 0; list && i < list->published_count; i++)
		if (list->published[i].quantity == quantity &&
		    published_is_of(&list->published[i], variant, cpus))
			return &list->published[i];
	return NULL;
}

bool published_has(const struct published_list *list, enum published_quantity quantity)
{
	for (uint32_t i = 0; list && i < list->published_count; i++)
		if (list->published[i].quantity == quantity)
			return true;
	return false;
}

bool published_has_ticks(const struct published_list *list)
{
	for (uint32_t i = 0; i < list->published_count; i++)
		if (list->published[i].ticks)
			return true;
	return false;
}

const char *published_quantity_name(enum published_quantity quantity)
{
	return quantities[quantity].str;
}

const char *published_kind_name(enum published_kind kind)
{
	return kinds[kind].str;
}
