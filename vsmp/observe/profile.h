/* SPDX-License-Identifier: MIT */
/*
 * The call tree as rows: by function, and by call path.
 */
#ifndef VSMP_OBSERVE_PROFILE_H
#define VSMP_OBSERVE_PROFILE_H

#include "vsmp/report.h"

/*
 * Adds the profile and the stacks to `report`, by self time, greatest first. Functions of one name are one
 * row, whichever copy of an inline function ran. Time in no function that was seen is "[no function]".
 * Returns 0, or -ENOMEM with rows that vsmp_report can free.
 */
int profile_report(struct vsmp_report *report);

#endif
