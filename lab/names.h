/* SPDX-License-Identifier: MIT */
/*
 * Sets of names, for the messages that tell a person which names would have been right.
 */
#ifndef LAB_NAMES_H
#define LAB_NAMES_H

#include <stddef.h>

/* Names owned by the set. Starts as all zeroes. */
struct names {
	char **name;
	size_t count;
};

/* Adds a copy of `name` unless it is there already. Returns 0 or -ENOMEM. */
int names_add(struct names *names, const char *name);

/* Sorts by strcmp(). */
void names_sort(struct names *names);

/* Frees the names and leaves an empty set. */
void names_free(struct names *names);

/*
 * Writes into `text` (of `size` bytes, cut if longer) what a person should know who wrote `wrong` instead of
 * one of `names`: `did you mean "spin"? there are: cmpxchg, rwlock, spin`. The list is left out when it is
 * long and a near name was found.
 */
void names_suggest(char *text, size_t size, const char *wrong, const char *const *names, size_t count);

#endif
