/* SPDX-License-Identifier: MIT */
/*
 * The side of the differential test that is the running Linux kernel: each space is a process.
 *
 * One process, forked from the test before it does anything else, has all of its address space but the window
 * filled, so that mmap finds room in the window only, and no rights of root. For each sequence it forks the
 * process of space 0, which then forks the others. They find the operations in memory that they share with
 * the test, hand the turn to one another, and leave there what came out. So a sequence costs system calls,
 * but no process for each operation.
 */
#ifndef TESTS_DIFF_LINUX_H
#define TESTS_DIFF_LINUX_H

#include "tests/diff/operation.h"

struct linux_side;

/*
 * Starts it. `ranges_left` is how many mappings a process may have in the window: so many others are made
 * that vm.max_map_count leaves no more; 0: do not care. Fills in *terms. Returns NULL when this machine
 * cannot do it, with why in *reason. To be called before the test makes threads.
 */
struct linux_side *linux_open(unsigned ranges_left, struct diff_terms *terms, const char **reason);
void linux_close(struct linux_side *side);

/*
 * Runs a sequence: linux_start() returns at once, linux_finish() waits for its end. Returns what came out,
 * valid until the next start, or NULL with why in *reason when the processes died or are stuck.
 */
void linux_start(struct linux_side *side, const struct diff_sequence *sequence);
const struct diff_record *linux_finish(struct linux_side *side, const char **reason);

#endif
