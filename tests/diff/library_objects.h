/* SPDX-License-Identifier: MIT */
/*
 * The objects of the library's side: shared memory; and files over the machine's own, whose transfers can be
 * made to fail.
 */
#ifndef TESTS_DIFF_LIBRARY_OBJECTS_H
#define TESTS_DIFF_LIBRARY_OBJECTS_H

#include "tests/diff/operation.h"

#define LIBRARY_OBJECTS_GOOD UINT64_MAX

struct library_objects;

/* A backing around that of a file. */
struct library_backing {
	struct sf_backing backing;
	struct sf_backing *inner;
	struct library_objects *objects;
};

struct library_objects {
	struct sf_object *object[DIFF_OBJECTS];
	int file[DIFF_OBJECTS]; /* of those that are files, else -1 */
	struct library_backing backing[DIFF_OBJECTS];
	struct library_backing swap;
	uint64_t good; /* how many calls of backings from now on do not fail */
};

/* Opens and closes what the objects of one sequence after the other are made of. open() returns whether. */
bool library_objects_open(struct library_objects *objects);
void library_objects_close(struct library_objects *objects);

/* Makes the objects of a sequence. Returns 0 or a negative errno. */
int library_objects_make(struct library_objects *objects, struct sf_system *system);

/* Adds a swap area of one of these kinds, for all sequences. Returns 0 or a negative errno. */
#define LIBRARY_SWAPS 4u /* a file, memory, compressed memory, a backing that fails as those of the files */
int library_objects_add_swap(struct library_objects *objects, struct sf_system *system, unsigned kind);

/*
 * Closes them, when no space is there any more, after writing the files back, with `fails` at first in vain.
 * Returns NULL, or what is wrong: the files' own bytes are not the objects'.
 */
const char *library_objects_drop(struct library_objects *objects, bool fails);

/* Whether the backings have been released, as they are some time after the objects were closed. */
bool library_objects_gone(const struct library_objects *objects);

/* Carries out a DIFF_OBJECT_ operation, or DIFF_LOOK_OBJECT. */
void library_object_run(struct library_objects *objects, const struct diff_operation *operation,
			struct diff_result *result);

#endif
