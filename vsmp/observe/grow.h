/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow by doubling.
 */
#ifndef VSMP_OBSERVE_GROW_H
#define VSMP_OBSERVE_GROW_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Makes room for `count` elements of `element_bytes` in `array` (NULL at first), whose room is *capacity
 * elements. Returns the array, moved perhaps, or NULL when there is no memory: then the old one stands.
 */
static inline void *grow_array(void *array, size_t *capacity, size_t count, size_t element_bytes)
{
	size_t room = *capacity ? *capacity : 4;
	void *grown;

	if (array && count <= *capacity)
		return array;
	while (room < count)
		room *= 2;
	grown = realloc(array, room * element_bytes);
	if (grown)
		*capacity = room;
	return grown;
}

#endif
