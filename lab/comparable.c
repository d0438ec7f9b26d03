/* SPDX-License-Identifier: MIT */
#include "lab/comparable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A value of any type as a person reads it, short. */
struct shown {
	char text[160];
};

static struct shown show(const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	struct shown shown;

	if (json_is_string(value))
		snprintf(shown.text, sizeof(shown.text), "%s", json_string_value(value));
	else
		snprintf(shown.text, sizeof(shown.text), "%s", json_is_null(value) || !text ? "none" : text);
	free(text);
	return shown;
}

static int differ(const char *what, const json_t *a, const json_t *b, struct message *why)
{
	return message_set(why, -EINVAL, "these runs cannot be compared: %s: %s and %s", what, show(a).text,
			   show(b).text);
}

/* Each figure of the machine but for where it comes from. */
static int compare_figures(const json_t *a, const json_t *b, struct message *why)
{
	const json_t *one = json_object_get(a, "figures"), *other = json_object_get(b, "figures");

	if (json_array_size(one) != json_array_size(other))
		return differ("number of the machine's figures", json_object_get(a, "title"),
			      json_object_get(b, "title"), why);
	for (size_t i = 0; i < json_array_size(one); i++) {
		const json_t *mine = json_array_get(one, i), *yours = json_array_get(other, i);
		char what[96];

		snprintf(what, sizeof(what), "the machine's %s", result_text(mine, "name"));
		if (!json_equal(json_object_get(mine, "name"), json_object_get(yours, "name")) ||
		    !json_equal(json_object_get(mine, "value"), json_object_get(yours, "value")))
			return differ(what, json_object_get(mine, "value"), json_object_get(yours, "value"),
				      why);
	}
	return 0;
}

/* The computer, but for its load, which never is the same. */
static int compare_computers(const json_t *a, const json_t *b, struct message *why)
{
	static const struct {
		const char *key, *what;
	} parts[] = {{"model", "the computer's processor"},
		     {"processors", "the computer's number of processors"},
		     {"kernel", "the computer's kernel"},
		     {"governor", "the computer's clock governor"},
		     {"virtual", "whether the computer is virtual"}};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!json_equal(json_object_get(a, parts[i].key), json_object_get(b, parts[i].key)))
			return differ(parts[i].what, json_object_get(a, parts[i].key),
				      json_object_get(b, parts[i].key), why);
	return 0;
}

static int compare_studies(const json_t *a, const json_t *b, const struct comparable_choice *choice,
			   struct message *why)
{
	static const struct {
		const char *key, *what;
	} parts[] = {{"experiment", "experiment"},
		     {"workload", "workload"},
		     {"engine", "engine"},
		     {"machine", "machine"},
		     {"placement", "placement of the CPUs"},
		     {"operations_per_cpu", "operations of each CPU"},
		     {"warm_up_per_cpu", "operations of the warm-up"}};
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!json_equal(json_object_get(a, parts[i].key), json_object_get(b, parts[i].key)))
			return differ(parts[i].what, json_object_get(a, parts[i].key),
				      json_object_get(b, parts[i].key), why);
	if (!choice->what_if && !json_equal(json_object_get(a, "what_if"), json_object_get(b, "what_if"))) {
		error = differ("what-if", json_object_get(a, "what_if"), json_object_get(b, "what_if"), why);
		if (why)
			strncat(why->text, "; --what-if compares them nevertheless",
				sizeof(why->text) - strlen(why->text) - 1);
		return error;
	}
	if (json_is_object(json_object_get(a, "computer")))
		return compare_computers(json_object_get(a, "computer"), json_object_get(b, "computer"), why);
	if (choice->what_if)
		return 0;
	return compare_figures(json_object_get(a, "machine_details"), json_object_get(b, "machine_details"),
			       why);
}

/* Whether a result is one that was asked for. */
static bool is_chosen(const json_t *result, const char *variant, const struct cpu_list *cpus)
{
	unsigned count = (unsigned)result_number(result, "cpus");

	if (variant && strcmp(variant, result_text(result, "variant")))
		return false;
	for (unsigned i = 0; i < cpus->count; i++)
		if (cpus->cpus[i] == count)
			return true;
	return !cpus->count;
}

static bool is_pair(const json_t *a, const json_t *b, const struct comparable_choice *choice)
{
	if (result_number(a, "cpus") != result_number(b, "cpus") ||
	    !is_chosen(b, choice->other_variant, choice->cpus))
		return false;
	return choice->other_variant || !strcmp(result_text(a, "variant"), result_text(b, "variant"));
}

static double *samples_of(const json_t *result, size_t *count)
{
	const json_t *array = json_object_get(result, "samples");
	double *samples = calloc(json_array_size(array) + 1, sizeof(*samples));

	if (!samples)
		abort();
	*count = json_array_size(array);
	for (size_t i = 0; i < *count; i++)
		samples[i] = json_number_value(json_array_get(array, i));
	return samples;
}

static void compare(struct comparable_pair *pair)
{
	size_t a_count, b_count;
	double *a = samples_of(pair->a, &a_count), *b = samples_of(pair->b, &b_count);

	compare_samples(a, a_count, b, b_count, &pair->comparison);
	free(a);
	free(b);
}

static int add_pair(struct comparable_pair **pairs, size_t *count, const json_t *study, const json_t *a,
		    const json_t *b, struct message *why)
{
	struct comparable_pair *grown = realloc(*pairs, (*count + 1) * sizeof(*grown));

	if (!grown)
		return message_set(why, -ENOMEM, "out of memory");
	*pairs = grown;
	if (!json_equal(json_object_get(a, "options"), json_object_get(b, "options")))
		return differ("options of the workload", json_object_get(a, "options"),
			      json_object_get(b, "options"), why);
	grown[*count] = (struct comparable_pair){.study = study, .a = a, .b = b};
	compare(&grown[(*count)++]);
	return 0;
}

static int pair_results(const json_t *study, const json_t *other, const struct comparable_choice *choice,
			struct comparable_pair **pairs, size_t *count, struct message *why)
{
	const json_t *from = json_object_get(study, "results"), *to = json_object_get(other, "results");
	int error = 0;

	for (size_t i = 0; i < json_array_size(from) && !error; i++) {
		const json_t *a = json_array_get(from, i);

		for (size_t j = 0; j < json_array_size(to) && !error; j++)
			if (is_chosen(a, choice->variant, choice->cpus) &&
			    is_pair(a, json_array_get(to, j), choice))
				error = add_pair(pairs, count, study, a, json_array_get(to, j), why);
	}
	return error;
}

/* "lock on 32, lock on 256": the cases of a file. */
static void list_cases(const struct result_file *file, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < file->count; i++) {
		const json_t *results = json_object_get(file->studies[i], "results");

		for (size_t j = 0; j < json_array_size(results) && used < size; j++)
			used += (size_t)snprintf(text + used, size - used, "%s%s on %.0f", used ? ", " : "",
						 result_text(json_array_get(results, j), "variant"),
						 result_number(json_array_get(results, j), "cpus"));
	}
}

static int no_pair(const struct result_file *a, const struct result_file *b, struct message *why)
{
	char of_a[320], of_b[320];

	list_cases(a, of_a, sizeof(of_a));
	list_cases(b, of_b, sizeof(of_b));
	return message_set(
	    why, -EINVAL,
	    "these runs cannot be compared: no variant and number of CPUs that were asked for are "
	    "in both; %s has %s; %s has %s",
	    a->path, of_a, b->path, of_b);
}

static bool is_same_study(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "experiment"), json_object_get(b, "experiment")) &&
	       json_equal(json_object_get(a, "engine"), json_object_get(b, "engine"));
}

int comparable_pairs(const struct result_file *a, const struct result_file *b,
		     const struct comparable_choice *choice, struct comparable_pair **pairs, size_t *count,
		     struct message *why)
{
	bool single = a->count == 1 && b->count == 1;
	int error = 0;

	*pairs = NULL;
	*count = 0;
	for (size_t i = 0; i < a->count && !error; i++)
		for (size_t j = 0; j < b->count && !error; j++) {
			if (!single && !is_same_study(a->studies[i], b->studies[j]))
				continue;
			error = compare_studies(a->studies[i], b->studies[j], choice, why);
			if (!error)
				error = pair_results(a->studies[i], b->studies[j], choice, pairs, count, why);
		}
	if (!error && !*count)
		error = no_pair(a, b, why);
	if (error) {
		free(*pairs);
		*pairs = NULL;
	}
	return error;
}
