/* SPDX-License-Identifier: MIT */
/*
 * One access of simulated memory, as the compiler's hooks and the machine's own code make it.
 */
#ifndef VSMP_ACCESS_H
#define VSMP_ACCESS_H

#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"
#include "vsmp/schedule.h"

/* The same for what the fast path cannot do: a miss, a turn of another CPU, a line that others watch, an
 * access that somebody wants to be told. */
void access_slow(struct cpu *cpu, struct line *line, uintptr_t address, unsigned bytes,
		 enum access_kind kind);

static inline void access_trace(struct cpu *cpu, struct line *line, uintptr_t address, unsigned bytes,
				enum access_kind kind, bool transferred)
{
	if (unlikely(cpu->trace_accesses))
		observe_access(cpu->id, cpu->scopes[cpu->scope_depth - 1], line_number(line),
			       address % CACHE_LINE_BYTES, bytes, kind == ACCESS_WRITE, transferred);
}

/* True when the access needs no turn: a hit, within the bound of running ahead, that wakes no watcher. */
static inline bool access_hits(const struct cpu *cpu, const struct line *line, enum access_kind kind)
{
	if (unlikely(cpu->clock > cpu->run_ahead_limit))
		return false;
	if (line->owner == cpu->core + 1u)
		return line->ready <= cpu->clock && (kind == ACCESS_READ || !line->watchers);
	return kind == ACCESS_READ && line_shared_by(line, cpu->core);
}

/* A plain load or store that does not cross a line. `cpu` is the accessor. */
static inline void access_plain(struct cpu *cpu, uintptr_t address, unsigned bytes, enum access_kind kind)
{
	struct line *line = line_of(address);

	if (!line)
		return;
	cpu->accesses++;
	/* Nothing is called here but what is called last: the hooks need no frame. */
	if (likely(access_hits(cpu, line, kind) && !cpu->trace_accesses)) {
		if (kind == ACCESS_WRITE)
			line->dirty = true;
		cpu->clock += cpu->hit_cycles;
		return;
	}
	access_slow(cpu, line, address, bytes, kind);
}

/*
 * Any access of up to one line that takes its exact turn: what comes after it on this CPU sees memory as it
 * is at its clock. `modify`: an atomic read-modify-write, whose kind is write.
 */
void access_memory(uintptr_t address, unsigned bytes, enum access_kind kind, bool modify);

/* A range of any length, line by line. `pc`: where in the instrumented code. */
void access_range(uintptr_t address, uintptr_t bytes, enum access_kind kind, const void *pc);

#endif
