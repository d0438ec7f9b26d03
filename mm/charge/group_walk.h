/* SPDX-License-Identifier: MIT */
/*
 * Walking over a group and all below it while groups come and go, and while the walker sleeps: the newest
 * first, by their numbers. Groups that came after the walk began may be left out. What is visited can be
 * offline; then its lists are empty, as they are its parent's.
 */
#ifndef MM_CHARGE_GROUP_WALK_H
#define MM_CHARGE_GROUP_WALK_H

#include "mm/charge/group.h"

#define GROUP_WALK_START UINT64_MAX

/*
 * Returns the next group of `top`'s tree with a number below *number, which becomes that group's; the
 * structure stays until group_walk_end(). NULL: there is none. `top` stays meanwhile. Takes group_tree_lock.
 */
struct sf_group *group_walk_next(struct sf_group *top, uint64_t *number);
void group_walk_end(struct sf_group *group);

/* Keeps the structure of a group that an RCU read section keeps, until group_walk_end(). */
void group_walk_get(struct sf_group *group);

#endif
