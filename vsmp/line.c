/* SPDX-License-Identifier: MIT */
#include "vsmp/line.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "port/panic.h"
#include "vsmp/memory.h"
#include "vsmp/observe/observe.h"

struct line *lines;
uintptr_t globals_address;
uintptr_t globals_bytes;

/* Where the linker put the program's variables. */
extern char __data_start[], _end[];

#define GLOBALS_BYTES_MAX (64ull << 20)
#define LINES_BYTES       ((ARENA_LINES + (GLOBALS_BYTES_MAX >> LINE_SHIFT)) * sizeof(struct line))

#define POOL_SETS_MAX (1u << 24)
char *sharers_pool;
size_t sharers_bytes;
static uint32_t pool_used;
static uint32_t pool_free; /* first of a list, linked through `count` */

static void *reserve(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int lines_open(void)
{
	globals_address = (uintptr_t)__data_start & ~(uintptr_t)4095;
	globals_bytes = (uintptr_t)_end - globals_address;
	if (globals_bytes > GLOBALS_BYTES_MAX)
		return -ENOMEM;
	sharers_bytes = sizeof(struct sharers) + (machine->core_count + 63) / 64 * sizeof(uint64_t);
	sharers_bytes = (sharers_bytes + 7) & ~(size_t)7;
	pool_used = 1;
	pool_free = 0;
	lines = reserve(LINES_BYTES);
	sharers_pool = reserve(sharers_bytes * POOL_SETS_MAX);
	if (!lines || !sharers_pool) {
		lines_close();
		return -ENOMEM;
	}
	return 0;
}

void lines_close(void)
{
	if (lines)
		munmap(lines, LINES_BYTES);
	if (sharers_pool)
		munmap(sharers_pool, sharers_bytes * POOL_SETS_MAX);
	lines = NULL;
	sharers_pool = NULL;
}

static uint32_t take_set(struct line *line)
{
	uint32_t index = pool_free;

	if (index) {
		pool_free = line_sharers(index)->count;
	} else {
		invariant(pool_used < POOL_SETS_MAX);
		index = pool_used++;
	}
	memset(line_sharers(index), 0, sharers_bytes);
	line_sharers(index)->line = line;
	return index;
}

static void drop_set(struct line *line)
{
	if (!line->sharers)
		return;
	line_sharers(line->sharers)->line = NULL;
	line_sharers(line->sharers)->count = pool_free;
	pool_free = line->sharers;
	line->sharers = 0;
}

void line_share(struct line *line, unsigned core)
{
	struct sharers *set;
	uint64_t bit = 1ull << (core % 64);
	unsigned socket = core / machine->shape.cores_per_socket;

	if (!line->sharers)
		line->sharers = take_set(line);
	set = line_sharers(line->sharers);
	if (!(set->cores[core / 64] & bit)) {
		set->cores[core / 64] |= bit;
		set->count++;
		if (!sharers_in_socket(set, socket)) {
			set->sockets[socket / 64] |= 1ull << (socket % 64);
			set->socket_count++;
		}
	}
}

void line_own(struct line *line, unsigned core, bool dirty)
{
	drop_set(line);
	line->owner = (uint16_t)(core + 1);
	line->supplier = 0;
	line->dirty = dirty;
	line->touched = true;
}

void line_renew(struct line *line, unsigned core)
{
	line_own(line, core, true);
	line->ready = 0;
	line->busy_until = 0;
}

static void forget_each(struct line *line, struct line *end)
{
	for (; line < end; line++) {
		/* A line that nobody has touched must not be written: its table page would become real. */
		if (!line->touched && !line->home)
			continue;
		invariant(!line->watchers && !line->queue);
		drop_set(line);
		*line = (struct line){0};
	}
}

static void drop_sets_between(struct line *line, const struct line *end)
{
	for (uint32_t index = 1; index < pool_used; index++) {
		struct line *each = line_sharers(index)->line;

		if (each && each >= line && each < end)
			drop_set(each);
	}
}

/* Above so many lines, whole pages of the table are thrown away unseen. */
#define FORGET_UNSEEN_LINES (1u << 16)

void line_forget(struct line *line, uint64_t count)
{
	struct line *end = line + count;
	uintptr_t first_page = ((uintptr_t)line + 4095) & ~(uintptr_t)4095;
	uintptr_t last_page = (uintptr_t)end & ~(uintptr_t)4095;

	if (count < FORGET_UNSEEN_LINES) {
		forget_each(line, end);
	} else {
		drop_sets_between(line, end);
		forget_each(line, (struct line *)first_page);
		madvise((void *)first_page, last_page - first_page, MADV_DONTNEED);
		forget_each((struct line *)last_page, end);
	}
	observe_forget(line_number(line), count);
}

unsigned line_home(struct line *line, unsigned socket)
{
	if (!line->home) {
		unsigned home = machine->home_socket;

		if (line_number(line) < ARENA_LINES)
			home = memory_home(ARENA_ADDRESS + (line_number(line) << LINE_SHIFT), socket);
		line->home = (uint16_t)(home + 1);
	}
	return line->home - 1u;
}

uintptr_t observe_line_address(uint64_t number)
{
	if (number < ARENA_LINES)
		return ARENA_ADDRESS + (number << LINE_SHIFT);
	return globals_address + ((number - ARENA_LINES) << LINE_SHIFT);
}
