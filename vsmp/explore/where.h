/* SPDX-License-Identifier: MIT */
/*
 * Places in the source: which line stands at an address of the code, and from where a function was called,
 * also one that was inlined. From the program's own debug information. Not for a simulated CPU's stack.
 */
#ifndef VSMP_EXPLORE_WHERE_H
#define VSMP_EXPLORE_WHERE_H

#include <stdbool.h>

#include "vsmp/observe/symbols.h"

struct record_frame;

struct where {
	char function[SYMBOLS_NAME_BYTES];
	const char *file; /* from the root of the sources; NULL: not known */
	int line;
};

/*
 * Fills up to `room` places of a stack, innermost first: the line of `pc` (a return address) in frame's
 * function, then the lines from where each was called. Where `pc` does not lie in that function, the
 * innermost is where the function begins. Returns how many there are.
 */
unsigned where_stack(const struct record_frame *frame, const void *pc, struct where *places, unsigned room);

/* From where the frame's function was called; the name of the function there is not set. */
void where_called(const struct record_frame *frame, struct where *place);

/* The line of a return address, in whatever function. */
void where_pc(const void *pc, struct where *place);

/* True when the file is the machine's, or a contract that it fulfils: what called it says more. */
bool where_is_machine(const struct where *place);

/* The file's name without its folders; "?" when it is not known. */
const char *where_short_file(const struct where *place);

#endif
