/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/undo.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "port/panic.h"
#include "vsmp/explore/internal.h"
#include "vsmp/memory.h"
#include "vsmp/rcu.h"

/* Of simulated memory that one schedule may write; address space only. */
#define SAVED_LINES_MAX ((size_t)1 << 26)

#define GLOBAL_LINES  ((globals_bytes >> LINE_SHIFT) + 1)
#define STAMPS_BYTES  ((ARENA_LINES + GLOBAL_LINES) * sizeof(*undo_stamps))
#define SAVED_BYTES   (SAVED_LINES_MAX * sizeof(*saved))
#define GLOBALS_BYTES (GLOBAL_LINES * sizeof(*saved_globals))

uint32_t *undo_stamps;
uint32_t undo_now;

struct saved_line {
	uintptr_t address;
	uint64_t bytes; /* a bit for each that is to be put back */
	unsigned char content[(size_t)1 << LINE_SHIFT];
};

static struct saved_line *saved;
static uint32_t *saved_globals; /* by line of global variables: its index in `saved` */
static size_t saved_count;
static uint32_t schedules;

/* Of struct machine what a schedule changes. */
static struct {
	struct cpu cpus[CHECK_CPUS_MAX];
	struct random random;
	uint64_t operations_before;
} base;

static void *reserve(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int undo_open(void)
{
	saved_count = 0;
	schedules = 0;
	undo_now = 0;
	undo_stamps = reserve(STAMPS_BYTES);
	saved = reserve(SAVED_BYTES);
	saved_globals = reserve(GLOBALS_BYTES);
	if (undo_stamps && saved && saved_globals)
		return 0;
	undo_close();
	return -ENOMEM;
}

void undo_close(void)
{
	if (undo_stamps)
		munmap(undo_stamps, STAMPS_BYTES);
	if (saved)
		munmap(saved, SAVED_BYTES);
	if (saved_globals)
		munmap(saved_globals, GLOBALS_BYTES);
	undo_stamps = NULL;
	saved = NULL;
	saved_globals = NULL;
	undo_now = 0;
}

static void begin(void)
{
	saved_count = 0;
	/* After 2^32 schedules an old stamp could be taken for a new one. */
	if (!++schedules) {
		madvise(undo_stamps, STAMPS_BYTES, MADV_DONTNEED);
		schedules = 1;
	}
	undo_now = schedules;
}

void undo_baseline(void)
{
	memcpy(base.cpus, machine->cpus, machine->cpu_count * sizeof(*machine->cpus));
	base.random = machine->random;
	base.operations_before = machine->operations_before;
	memory_baseline();
	rcu_baseline();
	begin();
}

static struct saved_line *save(uintptr_t address, uint64_t number, uint64_t bytes)
{
	struct saved_line *line = &saved[saved_count++];

	invariant(saved_count < SAVED_LINES_MAX);
	undo_stamps[number] = undo_now;
	line->address = address;
	line->bytes = bytes;
	memcpy(line->content, (const void *)address, sizeof(line->content));
	return line;
}

void undo_save_line(uint64_t number)
{
	save(ARENA_ADDRESS + (number << LINE_SHIFT), number, UINT64_MAX);
}

void undo_save_globals(uintptr_t address, size_t bytes)
{
	for (uintptr_t end = address + bytes; address < end; address++) {
		uint64_t global = (address - globals_address) >> LINE_SHIFT;
		uint64_t bit = (uint64_t)1 << (address - globals_address) % (1u << LINE_SHIFT);

		if (undo_stamps[ARENA_LINES + global] == undo_now) {
			saved[saved_globals[global]].bytes |= bit;
			continue;
		}
		saved_globals[global] = (uint32_t)saved_count;
		save(globals_address + (global << LINE_SHIFT), ARENA_LINES + global, bit);
	}
}

void explore_save(const void *memory, size_t bytes)
{
	if (line_of((uintptr_t)memory))
		undo_save((uintptr_t)memory, bytes);
}

size_t undo_lines(void)
{
	return saved_count;
}

static void put_machine_back(void)
{
	memcpy(machine->cpus, base.cpus, machine->cpu_count * sizeof(*machine->cpus));
	machine->random = base.random;
	machine->operations_before = base.operations_before;
	machine->running_count = 0;
	machine->windows_ended = 0;
	machine->barrier_count = 0;
	machine->deadlocked = false;
	machine->first_sleeper = NULL;
	machine->first_flusher = NULL;
}

static void put_line_back(const struct saved_line *line)
{
	unsigned char *memory = (unsigned char *)line->address;

	if (line->bytes == UINT64_MAX) {
		memcpy(memory, line->content, sizeof(line->content));
		return;
	}
	for (uint64_t rest = line->bytes; rest; rest &= rest - 1)
		memory[__builtin_ctzll(rest)] = line->content[__builtin_ctzll(rest)];
}

void undo_all(void)
{
	for (size_t i = 0; i < saved_count; i++)
		put_line_back(&saved[i]);
	put_machine_back();
	memory_put_back();
	rcu_put_back();
	begin();
}
