/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/system/: touching memory as a program does: the page table first, then the fault.
 */
#ifndef MM_SYSTEM_ACCESS_H
#define MM_SYSTEM_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/fault/fault.h"
#include "softfault.h"

/* Resolves the fault of a touch and counts it. Returns as do_page_fault(). */
int access_fault(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch);

/*
 * Opens an access section in which *pte lets the touch of `address` through, faulting until it does. Returns
 * 0 with the section open; or -EFAULT or -ENOMEM with none, and *fault filled. In a call (system_enter()).
 */
int access_begin(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch,
		 uint64_t *pte);

/* Whether it is one of the three: others would be looked up where no right is. */
static inline bool access_valid(enum sf_access access)
{
	return access == SF_READ || access == SF_WRITE || access == SF_EXECUTE;
}

/* What `pte` maps, at the byte of `address`; NULL if it has no contents. */
void *access_contents(const struct sf_space *space, uint64_t pte, uintptr_t address);

/*
 * Tells the caller why: fills *signal, if not NULL, for what the touch of `address` returned; *fault is read
 * after -EFAULT and -ENOMEM alone.
 */
void access_signal(struct sf_signal *signal, const struct fault *fault, int error, uint64_t address);

/* The same for memory that a touch reaches and that has no contents to copy or to point to. */
void access_signal_no_contents(struct sf_signal *signal, uint64_t address);

#endif
