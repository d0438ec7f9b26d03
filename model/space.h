/* SPDX-License-Identifier: MIT */
/*
 * A naive model of address spaces of anonymous memory, shared memory and files, with Linux's semantics as
 * Linux 6.18 has them: what each page of a small window is, a sorted array of ranges, and an array of pages
 * for each object. The oracle for mm/space/, mm/fault/ and mm/object/; tests/diff holds it, in turn, against
 * the running kernel.
 *
 * Spaces that come from one another by fork live in one *world*. All mappings lie in the world's window. What
 * is outside of it belongs to somebody else: a hint that points there is taken, and no gap is found there.
 *
 * The functions are named after those of softfault.h, take the same arguments and return the same values.
 * They must not be asked to unmap, replace or change what lies outside of the window; where an argument is
 * bad in itself (not aligned, empty, beyond the end of every space) they return the error.
 */
#ifndef MODEL_SPACE_H
#define MODEL_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softfault.h"

#define MODEL_PAGES_MAX        128u
#define MODEL_OBJECT_PAGES_MAX 256u
#define MODEL_LINE_MAX         32u
#define MODEL_PAGE             4096u

/* Linux on x86: one page less than 2^47 bytes. */
#define MODEL_ADDRESS_END (((uint64_t)1 << 47) - MODEL_PAGE)

struct model_window {
	uint64_t start;   /* whole pages */
	unsigned pages;   /* at most MODEL_PAGES_MAX */
	uint64_t minimum; /* nothing is mapped below this address: vm.mmap_min_addr */
};

/* What a mapping is, besides its protection (SF_PROT_ bits). */
enum model_flag {
	MODEL_SHARED = 1 << 8,
	MODEL_LOCKED = 1 << 9,
	MODEL_NORESERVE = 1 << 10,
	MODEL_ACCOUNT = 1 << 11, /* its pages are charged to the memory of the machine */
	MODEL_HUGEPAGE = 1 << 12,
	MODEL_NOHUGEPAGE = 1 << 13
};
#define MODEL_PROTECTION (SF_PROT_READ | SF_PROT_WRITE | SF_PROT_EXEC)

/*
 * Where the anonymous pages of ranges belong: two ranges merge only when they agree on it. A range gets an
 * owner with its first write, from a neighbour where it can. A forked range belongs to its parent's line as
 * well as to an owner of its own, and takes an owner that has died out, if the line has one with one child.
 */
struct model_anon {
	struct model_anon *next; /* of the world */
	struct model_anon *parent;
	unsigned children; /* a root counts itself */
	unsigned owned;    /* ranges that have it as owner */
	unsigned linked;   /* ranges that have it in their line */
};

/* What a mapping maps that is not private anonymous memory. */
struct model_object {
	struct model_object *next; /* of the world */
	struct model_world *world;
	uint64_t base; /* bytes, whole pages: nobody reads, writes or maps what is before */
	uint64_t size; /* bytes, from 0 on */
	bool file;     /* no mapping may write behind its end: file systems differ in what becomes of that */
	unsigned char *bytes[MODEL_OBJECT_PAGES_MAX]; /* of each page from the base on; NULL: not there */
};

struct model_range {
	uint64_t start, end;
	unsigned flags;  /* protection | enum model_flag */
	uint64_t offset; /* pages: of `start` in the object, or where it was first mapped if it has none */
	struct model_object *object; /* NULL: private anonymous memory */
	struct model_anon *owner;
	struct model_anon *line[MODEL_LINE_MAX]; /* oldest first; its last is mostly the owner */
	unsigned lines;
};

struct model_page {
	bool present;
	/*
	 * After MADV_FREE: memory pressure may take it, so that it is zero, unless it was written to since;
	 * and MADV_FREE does so at once if it was paged out. The oracle knows no more: it must not be asked
	 * for both.
	 */
	bool lazy, paged_out;
	unsigned char *bytes; /* NULL: all zero, and not written yet; of an object: no copy yet */
};

struct model_world {
	struct model_window window;
	struct model_anon *anons;
	struct model_object *objects;
	struct model_space *spaces;
};

struct model_space {
	struct model_space *next; /* of the world */
	struct model_world *world;
	unsigned count;
	struct model_range range[MODEL_PAGES_MAX]; /* sorted by address */
	struct model_page page[MODEL_PAGES_MAX];   /* private pages, by their place in the window */
	uint64_t limit[3];                         /* by enum sf_limit; UINT64_MAX: none */
};

struct model_world *model_world_create(const struct model_window *window);
/* All spaces are destroyed already. */
void model_world_destroy(struct model_world *world);

struct model_space *model_space_create(struct model_world *world);
struct model_space *model_space_fork(struct model_space *parent);
void model_space_destroy(struct model_space *space);

/* The range that holds `address`, or NULL. */
struct model_range *model_find(struct model_space *space, uint64_t address);

int model_set_limit(struct model_space *space, enum sf_limit limit, uint64_t value);
int model_map(struct model_space *space, uint64_t address, uint64_t length, int protection, int flags,
	      uint64_t *mapped);
int model_map_object(struct model_space *space, uint64_t address, uint64_t length, int protection, int flags,
		     struct model_object *object, uint64_t offset, uint64_t *mapped);
int model_unmap_range(struct model_space *space, uint64_t address, uint64_t length);
int model_protect(struct model_space *space, uint64_t address, uint64_t length, int protection);
int model_remap(struct model_space *space, uint64_t address, uint64_t old_length, uint64_t new_length,
		int flags, uint64_t new_address, uint64_t *mapped);
int model_advise(struct model_space *space, uint64_t address, uint64_t length, int advice);
int model_mincore(struct model_space *space, uint64_t address, uint64_t length, unsigned char *resident);
int model_lock(struct model_space *space, uint64_t address, uint64_t length);
int model_unlock(struct model_space *space, uint64_t address, uint64_t length);
int model_sync(struct model_space *space, uint64_t address, uint64_t length, int flags);

size_t model_read(struct model_space *space, uint64_t address, void *buffer, size_t bytes,
		  struct sf_signal *signal);
size_t model_write(struct model_space *space, uint64_t address, const void *buffer, size_t bytes,
		   struct sf_signal *signal);
int model_compare_swap_64(struct model_space *space, uint64_t address, uint64_t *expected, uint64_t desired,
			  struct sf_signal *signal);

/* Objects live as long as their world. */
struct model_object *model_object_create(struct model_world *world, uint64_t base, uint64_t size, bool file);
int model_object_resize(struct model_object *object, uint64_t size);
int model_object_punch(struct model_object *object, uint64_t offset, uint64_t bytes);
int64_t model_object_read(struct model_object *object, uint64_t offset, void *buffer, uint64_t bytes);
int64_t model_object_write(struct model_object *object, uint64_t offset, const void *buffer, uint64_t bytes);

#endif
