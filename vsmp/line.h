/* SPDX-License-Identifier: MIT */
/*
 * Cache lines: which cores hold each, and in what state. Simulated memory is two ranges of addresses, the
 * arena that port_memory_alloc() gives out, always at the same address, and the program's global variables.
 * Everything else (the fibers' stacks, constants, the host's heap) is private to a CPU or never written, and
 * is not simulated.
 *
 * States, as MESI has them: nobody holds it; one core owns it, modified or not; several share it, unmodified.
 * Caches are as large as needed: no line is ever thrown out for lack of room.
 */
#ifndef VSMP_LINE_H
#define VSMP_LINE_H

#include "vsmp/core.h"

/* A set of cores; the machine decides how many words each has. */
struct sharers {
	struct line *line;     /* whose set it is; NULL: unused */
	uint32_t count;        /* of cores */
	uint32_t socket_count; /* of sockets that have one of them */
	uint64_t sockets[VSMP_SOCKETS_MAX / 64];
	uint64_t cores[];
};

static inline bool sharers_in_socket(const struct sharers *set, unsigned socket)
{
	return set->sockets[socket / 64] >> (socket % 64) & 1;
}

/* Two of them fill a cache line of the host's, and no access of one needs two: nearly every simulated access
 * reads one, often of a line that the host's caches have lost. */
struct line {
	uint64_t busy_until; /* the line's home serves no other request before */
	uint64_t ready;      /* when the last granted write, or fill, is complete */
	uint32_t watchers;   /* number of the first of its watches, see spinning.h; 0: none */
	uint32_t sharers;    /* index of its set; 0: none */
	uint16_t owner;      /* core + 1; 0: none. With an owner there are no sharers */
	uint16_t supplier;   /* core + 1 that answers reads while it is shared; 0: memory */
	uint16_t queue;      /* index of its queue of requests + 1; 0: none */
	uint16_t home : 14;  /* socket + 1; 0: not decided yet */
	uint16_t dirty : 1;
	uint16_t touched : 1; /* some core has held it */
};

_Static_assert(sizeof(struct line) == 32, "no line's state lies in two of the host's cache lines");

#define ARENA_ADDRESS 0x100000000000ull
#define ARENA_BYTES   (4ull << 40)
#define ARENA_LINES   (ARENA_BYTES >> LINE_SHIFT)

/* All lines: the arena's, then the global variables'. */
extern struct line *lines;

/* The page-aligned address of the first global variable, and the bytes from there to the last one's end. */
extern uintptr_t globals_address;
extern uintptr_t globals_bytes;

/* The line of `address`, or NULL when it is not simulated. */
static inline struct line *line_of(uintptr_t address)
{
	uintptr_t offset = address - ARENA_ADDRESS;

	if (likely(offset < ARENA_BYTES))
		return &lines[offset >> LINE_SHIFT];
	offset = address - globals_address;
	if (likely(offset < globals_bytes))
		return &lines[ARENA_LINES + (offset >> LINE_SHIFT)];
	return NULL;
}

static inline uint64_t line_number(const struct line *line)
{
	return (uint64_t)(line - lines);
}

/* Sets up and takes down the table and the pool of sharer sets. Returns 0 or -ENOMEM. */
int lines_open(void);
void lines_close(void);

/* All sets, of one size; that at index 0 stays unused. */
extern char *sharers_pool;
extern size_t sharers_bytes;

/* The set at `index`, which is not 0. */
static inline struct sharers *line_sharers(uint32_t index)
{
	return (struct sharers *)(sharers_pool + index * sharers_bytes);
}

/* True when `core` shares the line. */
static inline bool line_shared_by(const struct line *line, unsigned core)
{
	return line->sharers && (line_sharers(line->sharers)->cores[core / 64] >> (core % 64) & 1);
}

/* Adds `core` to the line's sharers. */
void line_share(struct line *line, unsigned core);

/* Makes `core` the only holder. */
void line_own(struct line *line, unsigned core, bool dirty);

/* The line's content is new, and in `core`'s cache: a page that was cleared. Whoever watches or waits goes
 * on. */
void line_renew(struct line *line, unsigned core);

/* Forgets all holders and the history of `count` lines from `line` on: their memory begins a new life. */
void line_forget(struct line *line, uint64_t count);

/* The socket whose memory holds the line; decided by the first access, which `socket` makes. */
unsigned line_home(struct line *line, unsigned socket);

#endif
