/* SPDX-License-Identifier: MIT */
/*
 * What the checks share: a small system of the policy that was asked for, and short words for calls that must
 * succeed. There is one at a time, since there is one check at a time.
 */
#ifndef TESTS_EXPLORE_FIXTURE_H
#define TESTS_EXPLORE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/system/system.h"
#include "tests/explore/file.h"
#include "vsmp/check.h"

#define PAGE SF_PAGE_SIZE
#define RW   (SF_PROT_READ | SF_PROT_WRITE)

/* Where a check's mappings are: on a border of last-level tables. AWAY is in another such table. */
#define AT   ((uint64_t)1 << 30)
#define AWAY (2 * AT)

/* Frames of RAM: the system's own, as few as three small spaces need; and those that PFN mappings name. */
#define OWN_FRAMES      64u
#define EXPORTED_FRAMES 4u

extern struct fixture {
	struct sf_system *system;
	struct sf_space *space;
	struct sf_space *child;                /* forked from `space` by a set-up; NULL: none */
	struct sf_space *made[CHECK_CPUS_MAX]; /* by each CPU; NULL: none */
	struct sf_object *object;              /* a handle, of which the mappings are; NULL: none */
	struct file file;                      /* its backing, if it is a file */
	int result[CHECK_CPUS_MAX];
	uint64_t free_frames; /* before there was a space */
} fixture;

/*
 * Policies to explore under (struct check's `variants`): all pairs of choices; one of each choice of one
 * field, the others at their default.
 */
extern const char *const variants_pairwise[], *const variants_lookup[],
						  *const variants_lock[], *const variants_frame_cache[],
									      *const variants_memtype[],
										  *const variants_object[],
										      *const variants_group[];

/*
 * Makes the system and one empty space. With `contents` pages have contents, which costs time. Returns 0 or
 * what the calls returned.
 */
int fixture_open(bool contents, struct message *why);

/* Whether the whole system is right: system_check(). */
bool fixture_good(struct message *why);

/* Ends the spaces and the system; nothing may be left in use: a frame that somebody has forgotten is a leak.
 */
void fixture_close(void);

struct vma_lookup_ops;

/* Plugs another way to find VMAs into fixture.space: for planted faults alone, which no policy names. */
void fixture_use_lookup(const struct vma_lookup_ops *lookup);

/* What vma_lookup, page_table_lock and the others are under check_policy(). */
struct policy fixture_policy(void);

/* Whether `holds`; if not, says that the model wants `wanted` of `what` and has `found`. */
bool fixture_equal(const char *what, uint64_t found, uint64_t wanted, struct message *why);

/* Private or shared anonymous memory at a fixed place. */
void fixture_map(uint64_t address, unsigned pages, int protection, int flags);

/* Opens fixture.object, of so many pages: shared memory, at most `limit` pages of it (0: no limit); a file.
 */
void fixture_shmem(unsigned pages, unsigned limit);
void fixture_file(unsigned pages);

/* Gives the system a swap area in memory. */
void fixture_swap(void);

/* Reclaims pages of fixture.object, whoever uses them. Returns how many it has taken. In any CPU's body. */
unsigned fixture_evict(uint64_t first, uint64_t end);

/* Maps fixture.object at a fixed place, from its beginning on. */
void fixture_map_object(uint64_t address, unsigned pages, int protection, int flags);

/* Whether the page of a file that is clean has what the file has, for all pages. */
bool fixture_file_good(struct message *why);

/* sf_write() and sf_read() of the first word of a page of a space, which must succeed. */
void fixture_store(struct sf_space *space, uint64_t address, uint64_t value);
uint64_t fixture_load(struct sf_space *space, uint64_t address);

/* The first word of the page that the entry at `address` maps, with no fault; 0 without one. */
uint64_t fixture_peek(struct sf_space *space, uint64_t address);

/* Forks fixture.space into fixture.child. */
void fixture_fork(void);

#endif
