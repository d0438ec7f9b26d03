/* SPDX-License-Identifier: MIT */
/*
 * What if something cost less? Functions that do, and figures of the machine that are not as its file says.
 */
#ifndef LAB_WHAT_IF_H
#define LAB_WHAT_IF_H

#include "lab/machine.h"

/* One figure that was set, in the unit of the machine's file. */
struct what_if_set {
	unsigned figure;
	double value;
	double was; /* filled by what_if_apply() */
};

struct what_if {
	struct vsmp_speedup speedups[VSMP_SPEEDUPS_MAX];
	unsigned speedup_count;
	struct what_if_set sets[MACHINE_FIGURES];
	unsigned set_count;
};

/* Adds "SYMBOL=PERCENT": the function, with what it calls, costs so much less; more if below 0. Returns 0, or
 * -EINVAL with a message. */
int what_if_add_speedup(struct what_if *what_if, const char *text, struct message *why);

/* Adds "KEY=VALUE", a figure as machine files name it. The value's range is checked by what_if_apply(), as it
 * depends on the machine's unit. Returns 0, or -EINVAL with a message that names keys that would be right. */
int what_if_add_set(struct what_if *what_if, const char *text, struct message *why);

/* Changes the figures of `machine`. Returns 0, or -EINVAL with a message: the machine has no such figure, or
 * it cannot have that value. */
int what_if_apply(struct what_if *what_if, struct machine *machine, struct message *why);

/* Returns whether nothing is changed. */
static inline bool what_if_is_empty(const struct what_if *what_if)
{
	return !what_if->speedup_count && !what_if->set_count;
}

#endif
