/* SPDX-License-Identifier: MIT */
/*
 * What the three sides of the differential test are asked to do: operations on a small tree of address
 * spaces, and what each operation gave. A *side* is our library, the naive model, or the running Linux
 * kernel.
 *
 * Every operation names all that it needs, so that any part of a sequence can be run alone: one on a space
 * that does not exist is passed over by every side.
 */
#ifndef TESTS_DIFF_OPERATION_H
#define TESTS_DIFF_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "model/space.h"

/* Low, so that it comes first in /proc/self/maps, and across the border of two page tables. */
#define DIFF_PAGES  64u
#define DIFF_START  ((uint64_t)0x200000 - DIFF_PAGES / 2 * MODEL_PAGE)
#define DIFF_END    (DIFF_START + DIFF_PAGES * (uint64_t)MODEL_PAGE)
#define DIFF_SPACES 4u /* the first exists from the start */

/*
 * Objects that are there from the start, and what they have then: shared memory, and files. A file begins at
 * DIFF_FILE_BASE, so that each side knows pages of files by their offset: when those are in memory is for
 * the machine to decide, and not compared. What is before the base nobody uses.
 */
#define DIFF_OBJECTS      3u
#define DIFF_FILES        2u /* the first that is a file */
#define DIFF_FILE_BASE    ((uint64_t)1 << 30)
#define DIFF_OBJECT_PAGES 96u /* none ever has more */

static inline uint64_t diff_object_base(unsigned object)
{
	return object >= DIFF_FILES ? DIFF_FILE_BASE : 0;
}

static inline uint64_t diff_object_bytes(unsigned object)
{
	static const uint64_t bytes[DIFF_OBJECTS] = {24 * MODEL_PAGE, 10 * MODEL_PAGE + 100,
						     DIFF_FILE_BASE + 20 * MODEL_PAGE + 9};

	return bytes[object];
}

/* The most operations of a sequence, and the most bytes that one reads or writes. */
#define DIFF_SEQUENCE_MAX 1024u
#define DIFF_BYTES_MAX    (3 * MODEL_PAGE)

enum diff_kind {
	DIFF_MAP,      /* anywhere */
	DIFF_MAP_HINT, /* at a hint */
	DIFF_MAP_FIXED,
	DIFF_MAP_NOREPLACE,
	DIFF_MAP_OBJECT, /* anywhere, at a hint, fixed or not replacing */
	DIFF_UNMAP,
	DIFF_PROTECT,
	DIFF_REMAP, /* in place */
	DIFF_REMAP_MAYMOVE,
	DIFF_REMAP_FIXED,
	DIFF_REMAP_DONTUNMAP,
	DIFF_NORMAL, /* advice */
	DIFF_WILLNEED,
	DIFF_DONTNEED,
	DIFF_FREE,
	DIFF_REMOVE,
	DIFF_COLD,
	DIFF_PAGEOUT, /* on the Linux side DIFF_COLD, which refuses the same: what is out then is its own
			 affair */
	DIFF_HUGEPAGE,
	DIFF_NOHUGEPAGE,
	DIFF_POPULATE_READ,
	DIFF_POPULATE_WRITE,
	DIFF_LOCK,
	DIFF_UNLOCK,
	DIFF_SYNC,
	DIFF_MINCORE,
	DIFF_LIMIT,
	DIFF_FORK,
	DIFF_EXIT,
	DIFF_READ,
	DIFF_WRITE,
	DIFF_SWAP, /* compare-and-swap of an aligned word */
	DIFF_OBJECT_RESIZE,
	DIFF_OBJECT_PUNCH,
	DIFF_OBJECT_READ,
	DIFF_OBJECT_WRITE,
	DIFF_OBJECT_SYNC,
	DIFF_KINDS,
	/* Not of the mix: */
	DIFF_LOOK = DIFF_KINDS, /* nothing but its check */
	DIFF_OPEN,              /* protect each mapped page, one by one, so that it can be read */
	DIFF_LOOK_OBJECT        /* its size, and all that is in it */
};

/* What is compared after an operation besides its result. */
enum diff_check {
	DIFF_CHECK_NONE,
	DIFF_CHECK_LAYOUT, /* the list of mappings, and mincore */
	DIFF_CHECK_BYTES   /* also what readable, resident pages hold */
};

struct diff_operation {
	uint8_t kind;   /* enum diff_kind */
	uint8_t space;  /* that it works on */
	uint8_t target; /* DIFF_FORK: the new space; DIFF_LIMIT: enum sf_limit */
	uint8_t check;  /* enum diff_check */
	uint8_t object; /* of 0 to DIFF_OBJECTS - 1 */
	int32_t protection, flags;
	uint64_t address, length, new_length, new_address;
	uint64_t value, expected; /* written; compared */
	uint64_t offset;          /* in the object; DIFF_OBJECT_RESIZE: its new size */
};

/* `error` of an operation that was passed over. */
#define DIFF_PASSED_OVER 1000

struct diff_result {
	int32_t error;        /* negative errno, 0, 1 for a swap that swapped */
	int32_t signal, code; /* of an access that was refused */
	int32_t unused;
	uint64_t fault;
	/*
	 * Where it was mapped; a digest of what was read; how much was written; what was held; DIFF_MINCORE:
	 * a bit for each page.
	 */
	uint64_t value;
	uint64_t ignored; /* by the model: bits of the value that need not be equal */
};

enum diff_page_state {
	DIFF_MAPPED = 1 << 3, /* lower: SF_PROT_ bits */
	DIFF_SHARED = 1 << 4,
	DIFF_STARTS = 1 << 5,   /* a mapping starts here */
	DIFF_RESIDENT = 1 << 6, /* or in swap; never of a file */
	DIFF_OFFSET = 8         /* from this bit on: the page of the object that its mapping starts with */
};

struct diff_page {
	uint64_t state; /* enum diff_page_state */
	/* Their digest, if the check is of bytes, and the page is readable, and resident or a file's. */
	uint64_t bytes;
};

/* The state of a page of a mapping from `offset` on, 0 for private anonymous memory, but for its other bits.
 */
static inline uint64_t diff_offset_state(uint64_t offset)
{
	return offset / MODEL_PAGE << DIFF_OFFSET;
}

static inline bool diff_is_file(uint64_t state)
{
	return state >> DIFF_OFFSET >= DIFF_FILE_BASE / MODEL_PAGE;
}

struct diff_look {
	struct diff_page page[DIFF_PAGES];
};

struct diff_sequence {
	unsigned count;
	struct diff_operation operation[DIFF_SEQUENCE_MAX];
};

/* What one side made of a sequence. */
struct diff_record {
	struct diff_result result[DIFF_SEQUENCE_MAX];
	struct diff_look look[DIFF_SEQUENCE_MAX]; /* of operations with a check */
};

/* What holds for a whole run, found out from the running kernel. */
struct diff_terms {
	uint64_t minimum_address;
	uint64_t locked_max; /* the highest limit of locked bytes that can be set; UINT64_MAX: none */
	uint64_t ranges_max; /* at first, SF_LIMIT_MAP_COUNT; UINT64_MAX: none */
	bool execute_only;   /* pages that can be executed only are readable, too */
};

const char *diff_kind_name(unsigned kind);
const char *diff_error_name(int error);

/*
 * Writes the next operation. `spaces` and `objects` are the model's, as they are now; `current` is
 * the space that the last operation worked on.
 */
void diff_generate(struct random *random, const struct diff_terms *terms,
		   struct model_space *const spaces[DIFF_SPACES],
		   struct model_object *const objects[DIFF_OBJECTS], unsigned current,
		   struct diff_operation *operation);

/* generate_object.c: where in an object, and what of it. */
void diff_pick_object_offset(struct random *random, const struct model_space *space,
			     struct model_object *const objects[DIFF_OBJECTS],
			     struct diff_operation *operation);
void diff_pick_object_use(struct random *random, struct model_object *const objects[DIFF_OBJECTS],
			  struct diff_operation *operation);

/*
 * Whether an operation meets a mistake of Linux 6.17 and 6.18, which nothing needs to repeat: they count a
 * locked range twice when DONTUNMAP leaves it behind, and the limit of locked memory is then reached too
 * early.
 */
bool diff_meets_mistake(const struct model_space *space, const struct diff_operation *operation);

/*
 * Whether an operation writes through a shared mapping to a file's last page behind the file's end. What
 * becomes of that when the file grows is for the file system to decide, and depends on when the page is
 * written back.
 */
bool diff_writes_behind_file(const struct model_space *space, const struct diff_operation *operation);

/* Prints an operation, or a result, in one line without its end, into `text`. */
void diff_print_operation(const struct diff_operation *operation, char *text, size_t size);
void diff_print_result(const struct diff_operation *operation, const struct diff_result *result, char *text,
		       size_t size);

/* A digest of bytes, eight at a time; the rest one by one. */
static inline uint64_t diff_digest(const void *bytes, size_t count)
{
	const unsigned char *at = bytes;
	uint64_t digest = count, word;

	for (; count >= sizeof(word); count -= sizeof(word), at += sizeof(word)) {
		__builtin_memcpy(&word, at, sizeof(word));
		digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
		digest ^= digest >> 29;
	}
	for (; count; count--, at++)
		digest = (digest ^ *at) * 0x9e3779b97f4a7c15ull;
	return digest ^ (digest >> 32);
}

/* A digest of one digest and more bytes. */
static inline uint64_t diff_chain(uint64_t digest, const void *bytes, size_t count)
{
	return (digest ^ diff_digest(bytes, count)) * 0x9e3779b97f4a7c15ull;
}

/* The bytes that a DIFF_WRITE or DIFF_OBJECT_WRITE writes: short ones are a word of a small value, so that
 * swaps meet it. */
static inline void diff_fill(const struct diff_operation *operation, unsigned char *bytes)
{
	struct random random = {.state = operation->value};

	if (operation->length == sizeof(operation->value)) {
		__builtin_memcpy(bytes, &operation->value, sizeof(operation->value));
		return;
	}
	for (uint64_t i = 0; i < operation->length; i++)
		bytes[i] = (unsigned char)random_next(&random);
}

#endif
