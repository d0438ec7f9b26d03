/* SPDX-License-Identifier: MIT */
/* The side of the differential test that is our library, called as its users call it. */
#ifndef TESTS_DIFF_LIBRARY_SIDE_H
#define TESTS_DIFF_LIBRARY_SIDE_H

#include "tests/diff/operation.h"

struct library_side;

/*
 * Makes a system with a policy ("default") and one of LIBRARY_SWAPS kinds of swap. Returns NULL with why in
 * *reason.
 */
struct library_side *library_open(const struct diff_terms *terms, const char *policy, unsigned swap,
				  const char **reason);
void library_close(struct library_side *side);

/*
 * Runs a sequence, from one empty space on, and destroys all spaces. With `failures`, a seed, or 0 for none,
 * every operation that can be tried twice is first tried while allocations and transfers of files fail, as is
 * the files' last write-back; what comes out must be the same, and no byte may be lost. With `pressure`, a
 * seed, or 0 for none, memory is reclaimed between the operations, and that must not show. Returns NULL, or
 * which invariant sf_system_check() then finds broken, or what else is not as it must be; valid until the
 * next call.
 */
const char *library_run(struct library_side *side, const struct diff_sequence *sequence, uint64_t failures,
			uint64_t pressure, struct diff_record *record);

/* How many pages have been written to swap, and read, by all that are closed. */
void library_swapped(uint64_t *written, uint64_t *read);

/* How many operations failed only because they were made to, of all sequences. */
uint64_t library_mended(void);

/* The operation that is being run, for who must tell where the library crashed. Async-signal-safe. */
unsigned library_current(void);

#endif
