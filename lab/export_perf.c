/* SPDX-License-Identifier: MIT */
/*
 * Call paths as `perf report --stdio -g caller` prints them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/export.h"

#define PERCENT_MIN 0.5 /* of all time; smaller functions are left out */
#define BRANCH_MIN  5.0 /* of the branch above */
#define DEPTH_MAX   40u

/* One call path that has not been walked to its outermost function yet. */
struct path {
	const char *start;
	const char
	    *end; /* behind the function that is looked at next, going outward; `start`: none is left */
	double ns;
};

/* Returns the function that ends at `end`, and its length. */
static const char *function_before(const struct path *path, size_t *length)
{
	const char *at = path->end;

	while (at > path->start && at[-1] != ';')
		at--;
	*length = (size_t)(path->end - at);
	return at;
}

static int by_function(const void *left, const void *right)
{
	const struct path *a = left, *b = right;
	size_t a_length, b_length;
	const char *one = function_before(a, &a_length), *other = function_before(b, &b_length);
	int order = memcmp(one, other, a_length < b_length ? a_length : b_length);

	return order ? order : (a_length > b_length) - (a_length < b_length);
}

struct group {
	size_t first, count;
	double ns;
};

static int by_time(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : a->first < b->first ? -1 : 1;
}

/* Groups paths by the function next outward, greatest time first. Returns the array, to free. */
static struct group *group_paths(struct path *paths, size_t count, size_t *groups)
{
	struct group *all = calloc(count + 1, sizeof(*all));

	if (!all)
		abort();
	*groups = 0;
	qsort(paths, count, sizeof(*paths), by_function);
	for (size_t i = 0; i < count; i++) {
		if (!i || by_function(&paths[i - 1], &paths[i]))
			all[(*groups)++].first = i;
		all[*groups - 1].count++;
		all[*groups - 1].ns += paths[i].ns;
	}
	qsort(all, *groups, sizeof(*all), by_time);
	return all;
}

/* Takes the innermost function off each path of a group; those that end here go to the front. Returns how
 * many go on. */
static size_t step_outward(struct path *paths, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		size_t length;
		const char *function = function_before(&paths[i], &length);
		struct path path = paths[i];

		path.end = function > path.start ? function - 1 : path.start;
		if (path.end > path.start)
			paths[left++] = path;
	}
	return left;
}

/* The way outward that all of `paths` go together; afterwards they part, or end. Returns how many are left.
 */
static size_t print_trunk(FILE *out, struct path *paths, size_t count, const char *indent)
{
	while (count) {
		size_t length;
		const char *name = function_before(&paths[0], &length);

		for (size_t i = 1; i < count; i++)
			if (by_function(&paths[0], &paths[i]))
				return count;
		fprintf(out, "%s%.*s\n", indent, (int)length, name);
		count = step_outward(paths, count);
	}
	return 0;
}

static void print_callers(FILE *out, struct path *paths, size_t count, double parent, char *indent,
			  unsigned depth)
{
	size_t groups, used = strlen(indent);
	struct group *all = group_paths(paths, count, &groups);

	for (size_t i = 0; i < groups && depth < DEPTH_MAX; i++) {
		struct path *of_group = &paths[all[i].first];
		double percent = 100 * all[i].ns / parent;
		size_t length, left;
		const char *name = function_before(of_group, &length);

		if (percent < BRANCH_MIN)
			break;
		fprintf(out, "%s|--%.2f%%--%.*s\n", indent, percent, (int)length, name);
		left = step_outward(of_group, all[i].count);
		strcpy(indent + used, i + 1 < groups ? "|          " : "           ");
		left = print_trunk(out, of_group, left, indent);
		if (left)
			print_callers(out, of_group, left, all[i].ns, indent, depth + 1);
		indent[used] = '\0';
	}
	free(all);
}

static void print_case(FILE *out, const struct export_case *one, struct path *paths, size_t count, double all)
{
	char indent[12 + DEPTH_MAX * 11 + 16];
	size_t groups;
	struct group *functions = group_paths(paths, count, &groups);

	fprintf(out,
		"# %s of %s on %s\n#\n# Overhead  Symbol, and who called it in percent of the line above\n"
		"# ........  ......\n#\n",
		one->label, result_text(one->study, "experiment"),
		result_text(one->study, "machine") ? result_text(one->study, "machine") : "this computer");
	for (size_t i = 0; i < groups; i++) {
		struct path *of_function = &paths[functions[i].first];
		size_t length, left;
		const char *name = function_before(of_function, &length);

		if (100 * functions[i].ns / all < PERCENT_MIN)
			break;
		fprintf(out, "%9.2f%%  %.*s\n", 100 * functions[i].ns / all, (int)length, name);
		left = step_outward(of_function, functions[i].count);
		strcpy(indent, "            ");
		left = print_trunk(out, of_function, left, indent);
		if (left)
			print_callers(out, of_function, left, functions[i].ns, indent, 0);
		fputc('\n', out);
	}
	free(functions);
	fputc('\n', out);
}

int export_perf(FILE *out, const struct export_case *cases, size_t count, struct message *why)
{
	size_t written = 0;

	for (size_t i = 0; i < count; i++) {
		const json_t *stacks = json_object_get(cases[i].result, "stacks");
		size_t paths_count = json_array_size(stacks);
		struct path *paths = calloc(paths_count + 1, sizeof(*paths));
		double all = 0;

		if (!paths)
			abort();
		for (size_t j = 0; j < paths_count; j++) {
			const char *text = result_text(json_array_get(stacks, j), "path");

			paths[j] = (struct path){text, text + strlen(text),
						 result_number(json_array_get(stacks, j), "ns")};
			all += paths[j].ns;
		}
		if (all > 0) {
			print_case(out, &cases[i], paths, paths_count, all);
			written++;
		}
		free(paths);
	}
	return written ? 0
		       : message_set(why, -ENOENT,
				     "there is no profile in these results; run with --profile --json FILE");
}
