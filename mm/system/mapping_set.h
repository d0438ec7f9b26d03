/* SPDX-License-Identifier: MIT */
/*
 * A space's mappings: an array, sorted by address, that is never changed. A writer, alone by the space's
 * lock, makes a new one and publishes it; readers find the one that is current inside an RCU read section.
 * NULL stands for a space without mappings. Good for few mappings: a change copies all pointers.
 */
#ifndef MM_SYSTEM_MAPPING_SET_H
#define MM_SYSTEM_MAPPING_SET_H

#include <stddef.h>
#include <stdint.h>

#include "mm/object/pfn.h"

struct mapping_set {
	struct port_rcu_head rcu;
	size_t count;
	struct pfn_mapping *mapping[]; /* by address; they do not overlap */
};

/* How many mappings `set` has; it may be NULL here and below. */
static inline size_t mapping_set_count(const struct mapping_set *set)
{
	return set ? set->count : 0;
}

/* Returns the place of the first mapping that ends after `address`, or the count. */
size_t mapping_set_search(const struct mapping_set *set, uintptr_t address);

/* Returns the mapping of `address`, or NULL. */
struct pfn_mapping *mapping_set_find(const struct mapping_set *set, uintptr_t address);

/*
 * Makes the set in which `replace` mappings from place `at` on have given way to `with`, of which there are
 * `count`. Returns 0 with the set in *result (NULL if it is empty), or -ENOMEM. Not from the fault path.
 */
int mapping_set_replace(const struct mapping_set *set, size_t at, size_t replace,
			struct pfn_mapping *const *with, size_t count, struct mapping_set **result);

/* Frees the set, not the mappings: at once, or after a grace period. */
void mapping_set_free(struct mapping_set *set);
void mapping_set_retire(struct mapping_set *set);

#endif
