/* SPDX-License-Identifier: MIT */
/* What the files of the model of address spaces share. */
#ifndef MODEL_SPACE_INTERNAL_H
#define MODEL_SPACE_INTERNAL_H

#include "model/space.h"

/* Ends the program: the model itself is wrong, or was asked for what its contract excludes. */
#define model_invariant(condition)                                    \
	do {                                                          \
		if (!(condition))                                     \
			model_broken(__FILE__, __LINE__, #condition); \
	} while (0)
void model_broken(const char *file, int line, const char *condition) __attribute__((noreturn));

/* As calloc, never NULL. */
void *model_allocate(size_t bytes);

/* --- space_anon.c: who owns pages ---------------------------------------------------------------------- */

/* Gives `to`, which has none, the owner and the line of `from`. */
void model_anon_copy(struct model_range *to, const struct model_range *from);
/* The same for a range of a forked space: the line of its parent and an owner of its own. */
void model_anon_fork(struct model_world *world, struct model_range *child, const struct model_range *parent);
void model_anon_drop(struct model_range *range);
/* Sees to it that a range of the space has an owner, before its first page of its own. */
void model_anon_prepare(struct model_space *space, struct model_range *range);

/* --- space_ranges.c: the sorted array ------------------------------------------------------------------ */

/* The index of the first range that ends after `address`; `count` if there is none. */
unsigned model_next(const struct model_space *space, uint64_t address);
bool model_is_free(const struct model_space *space, uint64_t start, uint64_t end);
bool model_in_window(const struct model_space *space, uint64_t start, uint64_t end);
uint64_t model_total_pages(const struct model_space *space);
unsigned model_page_index(const struct model_space *space, uint64_t address);

/* Splits the range that has `address` inside, if there is one. No limit counts. */
void model_split(struct model_space *space, uint64_t address);

/* Splits at both ends of what is about to be unmapped. Returns 0, or -ENOMEM with nothing changed. */
int model_split_for_unmap(struct model_space *space, uint64_t start, uint64_t end);

/* Takes the ranges of [start, end) away with their pages; none crosses an end. */
void model_remove(struct model_space *space, uint64_t start, uint64_t end);

/*
 * Puts a range into a gap, merged with its neighbours where Linux does. `source` is the range that it is
 * moved from, or whose end it continues if it `grows`: it gets that one's owner and line. NULL for a new one.
 */
void model_insert(struct model_space *space, const struct model_range *fresh,
		  const struct model_range *source, bool grows);

/*
 * Gives [start, end), which lies in one range, other flags: alone or merged with its neighbours where Linux
 * does. Returns 0, or -ENOMEM when it must be split and a limit forbids it; the first split may be done.
 */
int model_change(struct model_space *space, uint64_t start, uint64_t end, unsigned flags);

/* Finds a place for a new mapping. Returns 0 with it in *place, or a negative errno. */
int model_place(const struct model_space *space, uint64_t address, uint64_t length, bool fixed,
		uint64_t *place);

/* May the space grow by so many pages? May so many more bytes be locked? */
bool model_may_grow(const struct model_space *space, uint64_t pages);
bool model_may_lock(const struct model_space *space, uint64_t pages);

/* --- object.c ------------------------------------------------------------------------------------------ */

/* Returns where the bytes of page `index` of an object are kept, NULL beyond its end. */
unsigned char **model_object_page(struct model_object *object, uint64_t index);
void model_objects_destroy(struct model_world *world);

/* --- space_pages.c: what faults do --------------------------------------------------------------------- */

/* Makes the page at `address`, which is mapped, present. Returns 0, or -EFAULT beyond the object's end. */
int model_fault(struct model_space *space, uint64_t address, bool write);
/* Faults [start, end) in, as MAP_POPULATE does: what cannot be had is passed over. */
void model_populate(struct model_space *space, uint64_t start, uint64_t end);
/* The same up to the first page that cannot be had: returns 0 or -EFAULT. */
int model_populate_strictly(struct model_space *space, uint64_t start, uint64_t end);
void model_page_drop(struct model_page *page);

static inline uint64_t model_round_up(uint64_t bytes)
{
	return (bytes + MODEL_PAGE - 1) & ~(uint64_t)(MODEL_PAGE - 1);
}

static inline bool model_aligned(uint64_t address)
{
	return !(address & (MODEL_PAGE - 1));
}

#endif
