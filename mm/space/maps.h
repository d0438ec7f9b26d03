/* SPDX-License-Identifier: MIT */
/*
 * What /proc/PID/maps, smaps and status tell of a space.
 */
#ifndef MM_SPACE_MAPS_H
#define MM_SPACE_MAPS_H

#include "mm/space/space.h"
#include "softfault.h"

/* Fills *mapping from the first VMA that ends after `address`. Returns 0, or -ENOENT. */
int space_next_mapping(struct sf_space *space, uintptr_t address, struct sf_mapping *mapping);

void space_statistics(struct sf_space *space, struct sf_space_statistics *statistics);

/*
 * Notes how much is resident before `pages` are unmapped, for the peak. That is a look at the counts of all
 * CPUs, so it is done only when the peak could be out by more than a sixteenth since the last. The space's
 * lock is held for writing.
 */
void space_note_resident_locked(struct sf_space *space, uint64_t pages);

#endif
