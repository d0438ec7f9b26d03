/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/calls.h"
#include "vsmp/observe/callsite.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/texts.h"

/* Of a longer call path only the innermost functions are told. */
#define PATH_FUNCTIONS 128

struct total {
	uint32_t text;
	uint64_t self_cycles, total_cycles;
	unsigned on_path; /* how often the function stands on the path being walked */
};

struct profile {
	uint32_t *text_of;        /* per node: its function's name */
	uint32_t *total_of;       /* per node: index of its function's total */
	uint64_t *subtree_cycles; /* per node: with all below it */
	struct total *totals;
	size_t total_count, total_capacity;
	struct pairmap by_text; /* (text, 0) to index of total + 1 */
	struct pairmap callers; /* (function's total, caller's total) to cycles */
	uint64_t cycles;        /* of all nodes */
};

static int name_nodes(struct profile *profile)
{
	for (uint64_t i = 0; i < calls_count(); i++) {
		struct total *grown;
		uint64_t *index;
		uint32_t text;
		int error = callsite_function(calls_node(i), &text);

		if (error)
			return error;
		index = pairmap_at(&profile->by_text, text, 0);
		if (!index)
			return -ENOMEM;
		if (!*index) {
			grown = grow_array(profile->totals, &profile->total_capacity,
					   profile->total_count + 1, sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			profile->totals = grown;
			profile->totals[profile->total_count] = (struct total){.text = text};
			*index = ++profile->total_count;
		}
		profile->text_of[i] = text;
		profile->total_of[i] = (uint32_t)(*index - 1);
	}
	return 0;
}

/* Children have greater numbers than their parents. */
static void sum_subtrees(struct profile *profile)
{
	for (uint64_t i = calls_count(); i-- > 0;) {
		const struct call_node *node = calls_node(i);

		profile->subtree_cycles[i] += node->self_cycles;
		profile->cycles += node->self_cycles;
		if (node->parent)
			profile->subtree_cycles[node->parent->number] += profile->subtree_cycles[i];
	}
}

/* Counts a node's whole subtree for its function, unless the function is on the path already. */
static int count_node(struct profile *profile, const struct call_node *node)
{
	uint32_t index = profile->total_of[node->number];
	struct total *total = &profile->totals[index];
	uint64_t cycles = profile->subtree_cycles[node->number];
	uint64_t *from;

	total->self_cycles += node->self_cycles;
	if (total->on_path++)
		return 0;
	/* The root has no function: what runs there is its own, the functions below were called by nobody. */
	total->total_cycles += node->parent ? cycles : node->self_cycles;
	if (!node->parent || !node->parent->parent || !cycles)
		return 0;
	from = pairmap_at(&profile->callers, index, profile->total_of[node->parent->number]);
	if (!from)
		return -ENOMEM;
	*from += cycles;
	return 0;
}

/* Walks the tree from above without recursion: it may be as deep as the program's stacks were. */
static int count_tree(struct profile *profile)
{
	const struct call_node *node = calls_node(0);
	int error = count_node(profile, node);

	while (!error) {
		if (node->first_child) {
			node = node->first_child;
		} else {
			while (node->parent && !node->next_sibling) {
				profile->totals[profile->total_of[node->number]].on_path--;
				node = node->parent;
			}
			if (!node->parent)
				break;
			profile->totals[profile->total_of[node->number]].on_path--;
			node = node->next_sibling;
		}
		error = count_node(profile, node);
	}
	return error;
}

static int compare_callers(const void *left, const void *right)
{
	const struct vsmp_caller_row *a = left, *b = right;

	if (a->percent != b->percent)
		return a->percent > b->percent ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

static int compare_rows(const void *left, const void *right)
{
	const struct vsmp_profile_row *a = left, *b = right;

	if (a->self_percent != b->self_percent)
		return a->self_percent > b->self_percent ? -1 : 1;
	if (a->total_percent != b->total_percent)
		return a->total_percent > b->total_percent ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

static int compare_stacks(const void *left, const void *right)
{
	const struct vsmp_stack_row *a = left, *b = right;

	if (a->self_cycles != b->self_cycles)
		return a->self_cycles > b->self_cycles ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int compare_paths(const void *left, const void *right)
{
	return strcmp(((const struct vsmp_stack_row *)left)->path,
		      ((const struct vsmp_stack_row *)right)->path);
}

/* Gives each row its callers. row_of: per total, the number of its row + 1, or 0. */
static int add_callers(const struct profile *profile, struct vsmp_profile_row *rows, const uint32_t *row_of)
{
	for (size_t i = 0; i < profile->callers.capacity; i++) {
		const struct pairmap_entry *entry = &profile->callers.entries[i];
		const struct total *total = &profile->totals[entry->first];
		struct vsmp_profile_row *row;
		struct vsmp_caller_row *callers;
		size_t capacity;

		if (!entry->value)
			continue;
		row = &rows[row_of[entry->first] - 1];
		capacity = row->caller_count;
		callers = grow_array(row->callers, &capacity, row->caller_count + 1, sizeof(*callers));
		if (!callers)
			return -ENOMEM;
		row->callers = callers;
		callers[row->caller_count].percent =
		    100.0 * (double)entry->value / (double)total->total_cycles;
		callers[row->caller_count].symbol = strdup(texts_get(profile->totals[entry->second].text));
		if (!callers[row->caller_count].symbol)
			return -ENOMEM;
		row->caller_count++;
	}
	return 0;
}

static int fill_rows(const struct profile *profile, struct vsmp_report *report)
{
	uint32_t *row_of = calloc(profile->total_count, sizeof(*row_of));
	int error = row_of ? 0 : -ENOMEM;

	report->profile = calloc(profile->total_count, sizeof(*report->profile));
	if (!report->profile)
		error = -ENOMEM;
	for (size_t i = 0; i < profile->total_count && !error; i++) {
		const struct total *total = &profile->totals[i];
		struct vsmp_profile_row *row = &report->profile[report->profile_count];

		if (!total->total_cycles)
			continue;
		row->symbol = strdup(texts_get(total->text));
		if (!row->symbol) {
			error = -ENOMEM;
			break;
		}
		row->self_percent = 100.0 * (double)total->self_cycles / (double)profile->cycles;
		row->total_percent = 100.0 * (double)total->total_cycles / (double)profile->cycles;
		row_of[i] = (uint32_t)++report->profile_count;
	}
	if (!error)
		error = add_callers(profile, report->profile, row_of);
	free(row_of);
	if (error)
		return error;
	for (size_t i = 0; i < report->profile_count; i++)
		if (report->profile[i].caller_count)
			qsort(report->profile[i].callers, report->profile[i].caller_count,
			      sizeof(*report->profile[i].callers), compare_callers);
	if (report->profile_count)
		qsort(report->profile, report->profile_count, sizeof(*report->profile), compare_rows);
	return 0;
}

/* Returns "outer;inner;innermost" as a string to free, or NULL when there is no memory. */
static char *path_of(const struct profile *profile, const struct call_node *node)
{
	uint32_t text[PATH_FUNCTIONS];
	size_t depth = 0, bytes = sizeof("[deeper]");
	char *path;

	do {
		text[depth] = profile->text_of[node->number];
		bytes += strlen(texts_get(text[depth++])) + 1;
		node = node->parent;
	} while (node && node->parent && depth < PATH_FUNCTIONS);
	path = malloc(bytes);
	if (!path)
		return NULL;
	strcpy(path, node && node->parent ? "[deeper];" : "");
	while (depth-- > 0) {
		strcat(path, texts_get(text[depth]));
		if (depth)
			strcat(path, ";");
	}
	return path;
}

/* Different nodes have one path when their functions have one name. */
static void merge_equal_paths(struct vsmp_report *report)
{
	size_t kept = 0;

	qsort(report->stacks, report->stack_count, sizeof(*report->stacks), compare_paths);
	for (size_t i = 1; i < report->stack_count; i++) {
		if (!strcmp(report->stacks[i].path, report->stacks[kept].path)) {
			report->stacks[kept].self_cycles += report->stacks[i].self_cycles;
			free(report->stacks[i].path);
		} else {
			report->stacks[++kept] = report->stacks[i];
		}
	}
	report->stack_count = kept + 1;
}

static int fill_stacks(const struct profile *profile, struct vsmp_report *report)
{
	size_t capacity = 0;

	for (uint64_t i = 0; i < calls_count(); i++) {
		const struct call_node *node = calls_node(i);
		struct vsmp_stack_row *grown;
		char *path;

		if (!node->self_cycles)
			continue;
		grown = grow_array(report->stacks, &capacity, report->stack_count + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		report->stacks = grown;
		path = path_of(profile, node);
		if (!path)
			return -ENOMEM;
		report->stacks[report->stack_count++] =
		    (struct vsmp_stack_row){.path = path, .self_cycles = node->self_cycles};
	}
	merge_equal_paths(report);
	qsort(report->stacks, report->stack_count, sizeof(*report->stacks), compare_stacks);
	return 0;
}

int profile_report(struct vsmp_report *report)
{
	struct profile profile = {0};
	uint64_t nodes = calls_count();
	int error = -ENOMEM;

	profile.text_of = calloc(nodes, sizeof(*profile.text_of));
	profile.total_of = calloc(nodes, sizeof(*profile.total_of));
	profile.subtree_cycles = calloc(nodes, sizeof(*profile.subtree_cycles));
	if (profile.text_of && profile.total_of && profile.subtree_cycles)
		error = name_nodes(&profile);
	if (!error) {
		sum_subtrees(&profile);
		error = count_tree(&profile);
	}
	if (!error && profile.cycles)
		error = fill_rows(&profile, report);
	if (!error && profile.cycles)
		error = fill_stacks(&profile, report);
	free(profile.text_of);
	free(profile.total_of);
	free(profile.subtree_cycles);
	free(profile.totals);
	pairmap_free(&profile.by_text);
	pairmap_free(&profile.callers);
	return error;
}
