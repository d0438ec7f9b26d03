/* SPDX-License-Identifier: MIT */
/*
 * The call tree: one for all CPUs, a cursor for each. A node is one call path; it holds the cycles that all
 * CPUs spent in its innermost function, inside their windows. Where nobody asks for paths there is only its
 * root, and each CPU keeps no more than the functions that it is in, which is quicker by a fifth of a run.
 */
#ifndef VSMP_OBSERVE_CALLS_H
#define VSMP_OBSERVE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPUs take turns in one function and call different ones from it: see slot_of(). */
#define CALL_SLOTS 4u

struct call_node {
	const void *function;                  /* NULL in the root only */
	struct call_node *parent;              /* NULL in the root only */
	struct call_node *entered[CALL_SLOTS]; /* of the children that share a slot, the last one entered */
	struct call_node *first_child, *next_sibling;
	uint64_t self_cycles;
	uint64_t number; /* 0 is the root; a child's is greater than its parent's */
};

/* Makes the tree of one root with `cpus` cursors on it; they move only if `paths` are wanted. Returns 0 or
 * -ENOMEM. */
int calls_open(unsigned cpus, bool paths);
void calls_close(void);

/* Where `cpu` is now: the root when it is in no function that was seen. Valid until calls_close(). */
const struct call_node *calls_cursor(unsigned cpu);

/* The nodes, by number from 0 to calls_count() - 1. */
uint64_t calls_count(void);
struct call_node *calls_node(uint64_t number);

/* How many entries into functions had no memory for a node; their time went to the caller. */
uint64_t calls_dropped(void);

#endif
