/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/rmap/.
 */
#ifndef MM_RMAP_INTERNAL_H
#define MM_RMAP_INTERNAL_H

#include "mm/rmap/anon.h"

/* Puts a reference on a node, as a walk has one. */
void anon_put_reference(struct anon_vma *anon);

#endif
