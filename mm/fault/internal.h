/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/fault/: what handle_mm_fault() chooses from. Each is called in an RCU read section with the
 * VMA held and its rights checked; fault->pte is what the entry was a moment ago. Returns 0 when the touch is
 * to be tried again, -EAGAIN to find the VMA again, -EFAULT with signal and code, or -ENOMEM.
 */
#ifndef MM_FAULT_INTERNAL_H
#define MM_FAULT_INTERNAL_H

#include "mm/fault/fault.h"

/* Private anonymous memory: the first touch, and a write to what is mapped for reading. */
int do_anonymous_page(struct fault *fault);
int do_wp_page(struct fault *fault);

/*
 * Memory of an object: the first touch, and a write to what is mapped shared for reading. -EINPROGRESS:
 * nothing is done until what fault->waits tells of has been waited for.
 */
int do_object_fault(struct fault *fault);
int do_shared_wp(struct fault *fault);

/* The object cannot give the page: returns -EFAULT with the signal. */
int fault_sigbus(struct fault *fault);

/*
 * Private memory that is in swap. -EINPROGRESS: nothing is done until fault_wait_for_slot() has waited for
 * what it wants, with nothing held; that returns 0, or as a handler.
 */
int do_swap_page(struct fault *fault);
int fault_wait_for_slot(struct fault *fault);

/* Puts the reference on the page that the fault keeps, and keeps `page`, with the caller's; NULL: none. */
void fault_keep(struct fault *fault, struct page *page);

/* Keeps the page until `flag` of it is gone. Returns -EINPROGRESS. */
int fault_wait_for_page(struct fault *fault, struct page *page, enum page_flag flag);

/*
 * Before a write to a page of anonymous memory by an entry that maps it and is locked: takes the page out of
 * the swap cache if nothing else has it. Returns false when it is being written to its slot, and may leave
 * the cache after that.
 */
bool fault_leave_cache(struct fault *fault, struct page *page);

/* Frames by number. */
int do_pfn_fault(struct fault *fault);

/*
 * Locks the entry of the fault's address. Returns 0 with it locked if the VMA has not been taken away and the
 * entry maps what fault->pte says; -EAGAIN or -EBUSY if not; -ENOMEM without a frame for a table.
 */
int fault_lock_pte(struct fault *fault, struct pte_ref *ref);

/* What of fault_lock_pte() a handler returns: that another CPU has been faster means to touch again. */
static inline int fault_race(int error)
{
	return error == -EBUSY ? 0 : error;
}

/* Returns a new page of anonymous memory that only the caller knows, charged: cleared, or undefined. Or NULL
 * as charged_page_alloc(). */
struct page *alloc_zeroed_page(struct fault *fault);
struct page *alloc_anonymous_page(struct fault *fault);

/* Gives back a new page that was not installed after all. */
void free_new_page(struct fault *fault, struct page *page);

/* Installs a new page, whose reference becomes the mapping's, in the locked entry, writable; unlocks. */
void install_anonymous_page(struct fault *fault, struct pte_ref *ref, struct page *page);

static inline bool fault_executable(const struct fault *fault)
{
	return (fault->vma->flags & VM_EXEC) != 0;
}

#endif
