/* SPDX-License-Identifier: MIT */
/*
 * Names for what stands at cache lines. Where a line belongs is asked while its memory is alive and noted as
 * plain numbers; the names are made of that at the end, when debug information may be read.
 */
#ifndef VSMP_OBSERVE_NAMING_H
#define VSMP_OBSERVE_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a line belongs. */
struct naming_place {
	uint64_t offset; /* of the line's first byte in its object; a global's line: its address */
	uint32_t type;   /* text of the type's name, or one of: */
#define NAMING_GLOBAL  UINT32_MAX
#define NAMING_UNTYPED (UINT32_MAX - 1)
};

/* Asks the core where byte `offset` of `line` belongs, on any stack. Returns 0 or -ENOMEM. */
int naming_place_of(uint64_t line, unsigned offset, struct naming_place *place);

static inline bool naming_same_place(const struct naming_place *a, const struct naming_place *b)
{
	return a->type == b->type && a->offset == b->offset;
}

/* A field: the texts of a debuginfo_name. */
struct naming_field {
	uint32_t base, field;
};

/* Names the `bytes` bytes at `offset` (0 to 63) of the line at `place`. Returns 0 or -ENOMEM. */
int naming_field(const struct naming_place *place, unsigned offset, unsigned bytes,
		 struct naming_field *field);

/* Which fields something happened to, and how often. A zeroed struct is empty. */
struct naming_tally {
	struct naming_entry {
		struct naming_field field;
		uint64_t weight;
	} * entries;
	size_t count, capacity;
};

/* Adds `weight`, which may be 0, to a field. Returns 0 or -ENOMEM. */
int naming_count(struct naming_tally *tally, struct naming_field field, uint64_t weight);

/* Adds all of `from` to `tally`. Returns 0 or -ENOMEM. */
int naming_merge(struct naming_tally *tally, const struct naming_tally *from);

void naming_free(struct naming_tally *tally);

/* The field with the most weight, of equal ones the first in the alphabet. The tally is not empty. */
struct naming_field naming_main(const struct naming_tally *tally);

/*
 * The main field's name and those of the next two: "struct page.flags+refcount"; with `drop_rare`, only of
 * those that have at least a sixteenth of all the weight. Returns a string to free, or NULL when there is no
 * memory. The tally is not empty.
 */
char *naming_join(struct naming_tally *tally, bool drop_rare);

#endif
