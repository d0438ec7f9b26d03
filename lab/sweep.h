/* SPDX-License-Identifier: MIT */
/*
 * Where in the ranges of a machine's assumed figures to run an experiment, so that a prediction can be shown
 * with the range that it takes over them.
 */
#ifndef LAB_SWEEP_H
#define LAB_SWEEP_H

#include "lab/machine.h"

struct sweep_point {
	char what[64]; /* "remote_read_latency low", "all worse", "home idle" */
	struct machine_point at;
};

/*
 * Makes the list of points: each assumed figure at its low and at its high, all others as the file says; all
 * assumed figures at the end that worsens contention, and all at the other; and, when the home is assumed
 * too, the other home with the file's figures and with either of these two. Empty when nothing is assumed.
 * Returns the number of points; the caller frees *points. -ENOMEM when out of memory.
 */
long sweep_points(const struct machine *machine, struct sweep_point **points);

#endif
