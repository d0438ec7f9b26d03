/* SPDX-License-Identifier: MIT */
/*
 * What two CPUs may do at once in a space, made as small as it can be so that most of it meets: every
 * operation is about the one page at TARGET, in the middle of a mapping of three.
 */
#ifndef TESTS_EXPLORE_OPERATIONS_H
#define TESTS_EXPLORE_OPERATIONS_H

#include "tests/explore/fixture.h"

#define TARGET (AT + PAGE)

/* What stands there before: returns 0, or what fixture_open() returned. */
typedef int scene(struct message *why);

scene scene_empty,   /* nothing */
    scene_fresh,     /* private memory, never touched */
    scene_untouched, /* private memory, of which the page before has been written */
    scene_zero,      /* private memory that has been read: the zero page */
    scene_own,       /* private memory that has been written */
    scene_cow,       /* the same, and forked since */
    scene_shared,    /* shared memory, not touched there, and forked */
    scene_pfn,       /* frames by number, not touched there */

    scene_memfd,   /* an object of shared memory, shared and forked, not touched there */
    scene_filled,  /* the same, written there and mapped by both spaces */
    scene_image,   /* the same memory mapped privately: the object's page has been read there */
    scene_copied,  /* and written: the mapping has a page of its own */
    scene_file,    /* a file, shared, not touched there */
    scene_clean,   /* the same, read there by both spaces of a fork */
    scene_dirty,   /* and written by both */
    scene_library; /* a file, private, not touched there */

struct operation {
	/* `actor` is 0 or 1: which of the two this is. Returns what the call returned. */
	int (*run)(unsigned actor);
	/*
	 * As others see it the operation is not one step: what it returns, and which pages are there after
	 * it, may be what no order gives; the mappings and their rights are what one does. Or only what it
	 * returns is of a moment that no order has.
	 */
	bool many_steps, result_varies;
	/* How it touches the page, 0 if it does not: then the fault is a step of its own. */
	enum sf_access touches;
};

extern const struct operation operation_read, operation_write, operation_swap, operation_pin, operation_tlb,
    operation_map, operation_place, operation_unmap, operation_protect, operation_forbid, operation_move,
    operation_grow, operation_dontneed, operation_free, operation_populate, operation_lock, operation_unlock,
    operation_limit, operation_look, operation_fork, operation_destroy, operation_create, operation_truncate,
    operation_extend, operation_punch, operation_remove, operation_sync, operation_fetch, operation_store,
    operation_attach, operation_close, operation_inspect, operation_make;

#endif
