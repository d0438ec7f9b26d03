/* SPDX-License-Identifier: MIT */
/*
 * One operation table, three engines. A workload in lab/ is written once against this table and runs on the
 * virtual machine (vsmp), on real threads (host) and on the running kernel (linux).
 *
 * An engine is linked into one relocatable object that exports only its `struct engine`.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"
#include "mm/policy/policy.h"
#include "vsmp/machine.h"
#include "vsmp/report.h"
#include "vsmp/speedup.h"

struct engine_config {
	unsigned cpus; /* 1 to what the engine has */
	uint64_t seed;
	struct policy policy; /* how the memory system under test is built */
	/* RAM, whole pages: of which it makes anonymous memory, and which PFN mappings may name. linux
	 * ignores them, and the policy. */
	uint64_t memory_bytes, exported_bytes;
	bool structure_only; /* pages have no contents: then there are no files on a disk */
	/* memory_bytes are all the RAM there is: page tables come out of it too, and reclaim has work. */
	bool pressed;
	/* host: the RAM is real before anything runs, as a kernel's is, and not made page by page where it is
	 * first used. */
	bool populate;
	unsigned gather_batches, pcp_batches; /* see struct system_config; linux ignores them */
	/* What follows is for vsmp; the others ignore it, but linux for the profile. */
	const struct vsmp_machine *machine;
	struct vsmp_placement placement;
	int home_socket; /* of globals and boot memory; -1: CPU 0's own */
	bool profile, locks, lines, conflicts;
	const struct vsmp_speedup *speedups; /* functions that are to cost less */
	unsigned speedup_count;
};

/* What one run measured. The rest of the numbers are in the report. */
struct engine_timing {
	double cpu_seconds_per_operation; /* mean over the CPUs of window length / operations of that CPU */
	double seconds;                   /* the longest window */
	uint64_t operations;              /* of all CPUs, inside their windows */
};

/* Who counted the page faults. */
enum engine_counter {
	ENGINE_COUNTER_SYSTEM, /* the memory system under test, which handles them */
	ENGINE_COUNTER_PERF,   /* the running kernel, by perf_event_open(2) */
	ENGINE_COUNTER_RUSAGE  /* the running kernel, by getrusage(2) where the former is not permitted */
};

/* What the memory system tells of itself, since open. */
struct engine_statistics {
	uint64_t faults; /* on linux those of the bodies that have returned, elsewhere all */
	enum engine_counter counter;
	bool has_retired;            /* whether the next is known */
	uint64_t peak_retired_bytes; /* the most memory that ever waited for a grace period */
};

/*
 * What the memory system did because memory was short, since open: pages, but for what is said. On linux of
 * the control group of number 1, and only as far as its memory.stat tells; else 0.
 */
struct engine_pressure {
	uint64_t scanned, reclaimed; /* looked at to be taken; taken */
	uint64_t entries,
	    skipped;       /* page table entries looked at; passed over as another CPU had them locked */
	uint64_t refaults; /* pages that came back after they were taken */
	uint64_t direct;   /* times that who needed a page reclaimed itself */
	uint64_t swap_reads, swapped_in, swap_writes, swapped_out; /* transfers, and their pages */
	uint64_t touched_in;                /* of those read, the ones that somebody had touched */
	uint64_t write_backs, written_back; /* transfers to files, and their pages */
	uint64_t written_alone; /* of the transfers, those of one page that reclaim could not do without */
};

/* Every int below is 0 or a negative errno. */
struct engine {
	const char *name;

	/* The memory system is the running kernel's: there is one, whatever the policy says. */
	bool kernel;

	/* How many CPUs a run may have at the most; for vsmp the machine decides. */
	unsigned (*cpus)(void);

	/* Whether a run can tell where the time goes: 0, or a negative errno with what is in the way. NULL
	 * where it never can. */
	int (*can_profile)(struct message *why);

	/* Whether engine_config.speedups may name the function. NULL where nothing can be made to cost less.
	 */
	bool (*has_function)(const char *symbol);

	/* Reads once what every run would read, before processes are made for runs; NULL: nothing. */
	void (*prepare)(void);

	/* Makes the machine and a memory system on it. One at a time. */
	int (*open)(const struct engine_config *config, struct message *why);
	void (*close)(void);

	/* Runs body once, on CPU 0, unmeasured: to set up and tear down. */
	int (*setup)(void (*body)(void *argument), void *argument, struct message *why);

	/* Runs body(cpu) on every CPU at once. -EDEADLK with a first line in `why` and the stacks in
	 * deadlock_report(). */
	int (*run)(void (*body)(unsigned cpu, void *argument), void *argument, struct engine_timing *timing,
		   struct message *why);
	const char *(*deadlock_report)(void);

	/* What the runs since open found; engines that cannot tell leave it empty. Freed by report_free. */
	int (*report)(struct vsmp_report *report);
	void (*report_free)(struct vsmp_report *report);

	/* From inside a body. See vsmp/vsmp.h, whose meaning they have everywhere. A CPU that has returned is
	 * not waited for at the barrier, and time spent there is in no profile. */
	void (*barrier)(void);
	void (*measure_begin)(void);
	void (*measure_end)(void);
	bool (*measure_active)(void);
	void (*count_operations)(uint64_t count);
	/* The calling CPU's clock. */
	uint64_t (*clock_ns)(void);

	/*
	 * The memory system's operations, from inside a body. A space is named by a small number that the
	 * caller chooses, 0 to ENGINE_SPACES_MAX - 1. On linux they are made in this order and before a run,
	 * one for all CPUs or one for each, that of CPU n having number n; any other is -EOPNOTSUPP.
	 * Addresses and lengths are whole pages, in bytes.
	 */
	int (*space_create)(unsigned space);
	/*
	 * Memory groups, named as spaces are, 1 to ENGINE_GROUPS_MAX - 1; 0 is the root, which is always
	 * there. A group is made below `parent`; a space is made in a group. What is left of them goes with
	 * the engine. NULL where there are none.
	 */
	int (*group_create)(unsigned group, unsigned parent);
	int (*space_create_in)(unsigned space, unsigned group);
	/* Sets the limit, in bytes; -EBUSY when the group has more. */
	int (*group_set_limit)(unsigned group, uint64_t bytes);
	/* Makes a space as fork(2) does, in the parent's group. NULL where there is none. */
	int (*space_fork)(unsigned parent, unsigned space);
	void (*space_destroy)(unsigned space);
	/* Maps [address, address + length) so that its fault handler inserts frame_of_ram + page index, of
	 * the exported RAM, 0 the first. */
	int (*map_pfn)(unsigned space, uintptr_t address, size_t length, uint64_t frame_of_ram);
	/* Maps anonymous memory to read and write, in pages of PORT_PAGE_SIZE, where nothing is mapped
	 * (-EEXIST else); private, or `shared` with spaces that are forked from this one. */
	int (*map_anon)(unsigned space, uintptr_t address, size_t length, bool shared);
	/*
	 * Files, named as spaces are, 0 to ENGINE_FILES_MAX - 1. A new one has `bytes` zeroes, none of which
	 * is there yet; it is of a memory file system, or, `on_disk`, on a disk (engine/memory_disk.h). A
	 * mapping is shared, to read and write; else as map_anon. A file that is closed goes when nothing
	 * maps it any more; what is left of them goes with the engine.
	 */
	int (*file_create)(unsigned file, uint64_t bytes, bool on_disk);
	int (*file_map)(unsigned space, uintptr_t address, size_t length, unsigned file, uint64_t offset);
	void (*file_close)(unsigned file);
	/* Copies [offset, offset + bytes), whole pages, from one file to the same place of another, through
	 * the page cache, as a program does that reads and writes. */
	int (*file_copy)(unsigned to, unsigned from, uint64_t offset, uint64_t bytes);
	/* Writes up to `bytes` of what is dirty of all files, in bulk, as a background would. NULL where the
	 * system has one that cannot be told. */
	void (*write_back)(uint64_t bytes);
	/* Takes up to `bytes` of pages away from whoever has them, on the calling CPU. Returns how many bytes
	 * are free or will be after a grace period. NULL where only the system decides. */
	uint64_t (*reclaim)(uint64_t bytes);
	/* Adds a swap area in memory that does not count as RAM. NULL: what there is must do. */
	int (*swap_add)(uint64_t bytes);
	int (*unmap)(unsigned space, uintptr_t address, size_t length);
	/* Gives pages back and leaves the mapping, as MADV_DONTNEED does. */
	int (*dontneed)(unsigned space, uintptr_t address, size_t length);
	/* Touches one byte as a program would; a touch that finds no PTE faults. -EFAULT where nothing is
	 * mapped; on linux that ends the process. */
	int (*touch)(unsigned space, uintptr_t address, bool write);
	/* While no body runs, but for the caller. */
	void (*statistics)(struct engine_statistics *statistics);
	void (*pressure)(struct engine_pressure *pressure);
	/* Every invariant of the memory system; 0, or -EINVAL with the first that is broken. */
	int (*check)(struct message *why);

	/* Calibration, only on vsmp (elsewhere NULL): see vsmp_burst(). Needs no open memory system. */
	int (*burst)(const struct vsmp_machine *machine, unsigned cpus, uint64_t seed, bool reads,
		     unsigned rounds, double *mean_cycles, struct message *why);
};

#define ENGINE_SPACES_MAX 1024u
#define ENGINE_GROUPS_MAX 2048u
#define ENGINE_FILES_MAX  16u

extern const struct engine engine_vsmp;
extern const struct engine engine_host;
extern const struct engine engine_linux;

#endif
