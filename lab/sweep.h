/* SPDX-License-Identifier: MIT */
/*
 * Where in the ranges of a machine's assumed figures to run an experiment, so that a prediction can be shown
 * with the range that it takes over them.
 */
#ifndef LAB_SWEEP_H
#define LAB_SWEEP_H

#include "lab/machine.h"

struct sweep_point {
	unsigned
	    figure; /* the only one that is not as the file says; MACHINE_FIGURES: another kind of point */
	struct machine_point at;
};

/*
 * Makes the list of points: each assumed figure at its low and at its high, all others as the file says; all
 * assumed figures at the end that makes operations take longer by itself (a longer time, a smaller
 * bandwidth), and all at the other; and, when the home is assumed too, the other home with the file's figures
 * and with either of these two. Empty when nothing is assumed. Returns the number of points; the caller frees
 * *points. -ENOMEM when out of memory.
 */
long sweep_points(const struct machine *machine, bool corners_only, struct sweep_point **points);

/*
 * Sets `extreme` to the point with each assumed figure at that end of its range at which, moved alone, it
 * raised a quantity (or lowered it, without `raise`), and the rest as the file says. A figure that made no
 * difference stays as it is. quantity[i] is what came out at points[i], `own` at the file's figures.
 */
void sweep_extreme(const struct machine *machine, const struct sweep_point *points, size_t count,
		   const double *quantity, double own, bool raise, struct machine_point *extreme);

/* Returns the home that is not `home`. */
static inline enum machine_home sweep_other_home(enum machine_home home)
{
	return home == MACHINE_HOME_BOOT ? MACHINE_HOME_IDLE : MACHINE_HOME_BOOT;
}

#endif
