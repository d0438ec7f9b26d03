/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/callsite.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "vsmp/observe/debuginfo.h"
#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/symbols.h"
#include "vsmp/observe/texts.h"

enum layer { LAYER_OTHER, LAYER_LOCKS, LAYER_MACHINE };

/* Function addresses to name << 2 | layer, plus 1. Kept: functions do not change. */
static struct pairmap known_functions;

/* True when the file stands in a folder of that name, not in one below it. */
static bool stands_in(const char *file, const char *folder)
{
	size_t length = strlen(folder);
	const char *end = strrchr(file, '/');

	if (!end || (size_t)(end - file) < length || memcmp(end - length, folder, length))
		return false;
	return end - length == file || end[-(ptrdiff_t)length - 1] == '/';
}

static enum layer layer_of(const void *function)
{
	const char *file = debuginfo_function_file(function);

	if (!file)
		return LAYER_OTHER;
	if (stands_in(file, "sync"))
		return LAYER_LOCKS;
	return stands_in(file, "port") || stands_in(file, "port_home") ? LAYER_MACHINE : LAYER_OTHER;
}

static int look_up(const struct call_node *node, uint32_t *text, enum layer *layer)
{
	char name[SYMBOLS_NAME_BYTES];
	uint64_t *known;

	if (!node->parent) {
		*layer = LAYER_OTHER;
		return texts_add("[no function]", text);
	}
	known = pairmap_at(&known_functions, (uintptr_t)node->function, 0);
	if (!known)
		return -ENOMEM;
	if (!*known) {
		symbols_function_name(node->function, name);
		if (texts_add(name, text))
			return -ENOMEM;
		*known = ((uint64_t)*text << 2 | layer_of(node->function)) + 1;
	}
	*text = (uint32_t)((*known - 1) >> 2);
	*layer = (*known - 1) & 3;
	return 0;
}

int callsite_function(const struct call_node *node, uint32_t *text)
{
	enum layer layer;

	return look_up(node, text, &layer);
}

static int look_up_outside(const struct call_node *node, enum layer first, enum layer last, uint32_t *text)
{
	const struct call_node *at = node;
	enum layer layer;
	int error;

	for (; at->parent; at = at->parent) {
		error = look_up(at, text, &layer);
		if (error || layer < first || layer > last)
			return error;
	}
	return callsite_function(node, text);
}

int callsite_of_lock(const struct call_node *node, uint32_t *text)
{
	return look_up_outside(node, LAYER_LOCKS, LAYER_MACHINE, text);
}

int callsite_of_line(const struct call_node *node, uint32_t *text)
{
	return look_up_outside(node, LAYER_MACHINE, LAYER_MACHINE, text);
}
