/* SPDX-License-Identifier: MIT */
/*
 * From the number of a cache line to a small record of fixed size. Records of 64 neighbouring lines stand
 * together, so that one look-up finds, or forgets, a page of them.
 */
#ifndef VSMP_OBSERVE_LINEMAP_H
#define VSMP_OBSERVE_LINEMAP_H

#include <stddef.h>
#include <stdint.h>

#include "vsmp/observe/pairmap.h"

#define LINEMAP_GROUP 64u

struct linemap_group {
	uint64_t number;              /* line / LINEMAP_GROUP */
	uint8_t index[LINEMAP_GROUP]; /* 1 + place in records, 0: the line has none */
	uint8_t count, capacity;      /* of records */
	unsigned char *records;
};

struct linemap {
	size_t record_bytes;
	struct linemap_group **groups; /* in the order they came */
	size_t count, capacity;
	struct pairmap by_number; /* (group number, 0) to the address of the group */
	struct linemap_group *last;
};

/* Makes `map` empty, for records of `record_bytes`. */
void linemap_open(struct linemap *map, size_t record_bytes);

/* Frees the map; not what the records point to. */
void linemap_close(struct linemap *map);

/*
 * Returns the record of `line`, zeroed when it is new; valid until the next call. NULL when there is no
 * memory.
 */
void *linemap_at(struct linemap *map, uint64_t line);

/* Calls visit() for each record, in no order that means anything; visit() may not add records. */
void linemap_each(struct linemap *map, void (*visit)(uint64_t line, void *record, void *context),
		  void *context);

/* The same for the records of lines first to first + lines - 1. */
void linemap_each_in(struct linemap *map, uint64_t first, uint64_t lines,
		     void (*visit)(uint64_t line, void *record, void *context), void *context);

#endif
