/* SPDX-License-Identifier: MIT */
/*
 * Resolving a touch that the page table did not let through.
 *
 * A fault finds its VMA as the policy `vma_lookup` says, decides what belongs at the address, prepares it
 * with no lock of the page table held, locks the entry, looks whether the VMA and the entry are still what
 * they were, and installs. If not, nothing has changed, and it starts again from the top; after a race with a
 * writer with the space's lock held, so that it ends.
 *
 * It allocates frames only, waits for no grace period unless it reclaims, and blocks on sync/ alone; but a
 * page of a file that is not there, or one that is being taken away, it waits for, with nothing held, and
 * then starts again. It may run in a signal handler that interrupted code outside the library.
 */
#ifndef MM_FAULT_FAULT_H
#define MM_FAULT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/charge/charge.h"
#include "mm/space/space.h"
#include "mm/table/table.h"

/* Linux's numbers: of a signal, and of its reason (si_code). */
#define FAULT_SIGBUS      7
#define FAULT_SIGSEGV     11
#define FAULT_SEGV_MAPERR 1 /* nothing is mapped there */
#define FAULT_SEGV_ACCERR 2 /* the protection forbids it */
#define FAULT_BUS_ADRERR  2 /* the object ends before, is full, or cannot be read */

/* What a fault did, for who counts it. */
enum fault_event {
	FAULT_ZERO_PAGE = 1u << 0, /* mapped the zero page */
	FAULT_COPY = 1u << 1,      /* replaced a page (or the zero page) by one of its own */
	FAULT_REUSE = 1u << 2      /* let a page be written that nobody else has any more */
};

/* One fault, from the first look to the end. Lives on the faulting CPU's stack. */
struct fault {
	/* The question. */
	struct sf_space *space;
	uintptr_t address; /* of the page */
	enum touch touch;

	/* Where it stands. */
	struct vma *vma; /* found and held; NULL: none found */
	bool locked;     /* the space's lock is held for reading */
	bool must_lock;  /* what was found without has changed: the next try holds the lock */
	uint64_t pte;    /* what the entry was when the fault decided what to do */
	/* The space's group, in the RCU read section of one try. After -ENOMEM it says who had no room. */
	struct charge charge;

	/* A page of an object is to be waited for when nothing is held any more. The object is announced, see
	 * mm/object/waiter.h; NULL: it may be gone. */
	bool waits;
	struct object *waiting;
	uint64_t waiting_index;
	bool swap_in;             /* the slot that `pte` names */
	enum page_flag kept_flag; /* that this flag of `kept` is gone; 0: nothing */
	bool major;               /* has waited for contents */

	/* The page that was waited for, with a reference, until the fault has mapped it or ends. */
	struct page *kept;

	/* To be done when nothing is held any more: a translation was replaced, and `old` lost a mapping. */
	bool flush;
	bool changing; /* the space has TLBs: translations_change_begin() */
	struct page *old;

	/* The answer. */
	int signal, code;
	unsigned events; /* of enum fault_event */
};

/*
 * Handles the page fault of a touch of `address` that table_touch() refused. Returns 0 when the touch is to
 * be tried again; -EFAULT with fault->signal and code; -ENOMEM, counted, with fault->charge.over_limit when
 * pages could not be reclaimed, with nothing changed but for page tables. fault->events tells what was done.
 * Nothing is held, not in an RCU read section.
 */
int do_page_fault(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch);

/*
 * The same without an exception of the hardware, for who needs the page in: returns 0 when the entry lets
 * `touch` through, or did so a moment ago.
 */
int faultin_page(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch);

#endif
