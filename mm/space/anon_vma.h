/* SPDX-License-Identifier: MIT */
/*
 * The identity of anonymous memory. A VMA gets one with its first private page; two VMAs with different ones
 * never merge. Pieces of a VMA share its identity, and a VMA that gets its first page takes over that of a
 * neighbour with which it could merge. A forked space's VMAs have identities of their own, marked as
 * inherited: nothing joins these but pieces of the same VMA.
 */
#ifndef MM_SPACE_ANON_VMA_H
#define MM_SPACE_ANON_VMA_H

#include <stdbool.h>

#include "base/compiler.h"
#include "sync/refcount.h"

struct anon_vma {
	CACHE_LINE_ALIGNED struct refcount references; /* VMAs that have it */
	uint32_t checked; /* the check's own, which runs while nothing else does */
	bool inherited;   /* made by fork for a VMA whose parent's had one. Read only once a VMA has it */
};

/* Makes one, which no VMA has yet. Returns it, or NULL. Not from the fault path. */
struct anon_vma *anon_vma_alloc(void);

/* Frees one that no VMA has; NULL is allowed. */
void anon_vma_free(struct anon_vma *anon);

/* For one more VMA, and for one less. NULL is allowed. */
void anon_vma_get(struct anon_vma *anon);
void anon_vma_put(struct anon_vma *anon);

#endif
