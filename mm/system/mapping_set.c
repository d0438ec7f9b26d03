/* SPDX-License-Identifier: MIT */
#include "mm/system/mapping_set.h"

#include <errno.h>

#include "port/memory.h"

static size_t set_bytes(size_t count)
{
	return sizeof(struct mapping_set) + count * sizeof(struct pfn_mapping *);
}

size_t mapping_set_search(const struct mapping_set *set, uintptr_t address)
{
	size_t low = 0, high = mapping_set_count(set);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->mapping[middle]->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct pfn_mapping *mapping_set_find(const struct mapping_set *set, uintptr_t address)
{
	size_t at = mapping_set_search(set, address);

	if (at == mapping_set_count(set) || set->mapping[at]->start > address)
		return NULL;
	return set->mapping[at];
}

int mapping_set_replace(const struct mapping_set *set, size_t at, size_t replace,
			struct pfn_mapping *const *with, size_t count, struct mapping_set **result)
{
	size_t old_count = mapping_set_count(set), new_count = old_count - replace + count, to = 0;

	*result = NULL;
	if (!new_count)
		return 0;
	*result = port_memory_alloc(set_bytes(new_count), PORT_NODE_FIRST_TOUCH, "struct mapping_set");
	if (!*result)
		return -ENOMEM;
	(*result)->count = new_count;
	for (size_t from = 0; from < at; from++)
		(*result)->mapping[to++] = set->mapping[from];
	for (size_t from = 0; from < count; from++)
		(*result)->mapping[to++] = with[from];
	for (size_t from = at + replace; from < old_count; from++)
		(*result)->mapping[to++] = set->mapping[from];
	return 0;
}

void mapping_set_free(struct mapping_set *set)
{
	if (set)
		port_memory_free(set, set_bytes(set->count));
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	mapping_set_free(container_of(head, struct mapping_set, rcu));
}

void mapping_set_retire(struct mapping_set *set)
{
	if (set)
		port_rcu_call(&set->rcu, free_after_grace_period);
}
