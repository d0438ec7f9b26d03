/* SPDX-License-Identifier: MIT */
/*
 * What share of the time a run's profile gives to some functions, for figures that were published as
 * profiles.
 *
 * A call path is described by its functions from the innermost outward: it fits when they occur in it in this
 * order, with whatever else between and around them. Each is a name, or a pattern of fnmatch(3). So
 * {"spin_lock", "rwsem_*"} is all time in spin_lock, and in what it calls, that was spent for the semaphores.
 */
#ifndef LAB_SHARE_H
#define LAB_SHARE_H

#include <stddef.h>

#include "engine/engine.h"

/*
 * Returns the share of the paths that fit `functions` in percent of the time of those that fit `of`, of all
 * time when `of_count` is 0; -1 when the profile has no such time.
 */
double share_percent(const struct vsmp_report *report, char *const *functions, size_t count, char *const *of,
		     size_t of_count);

#endif
