/* SPDX-License-Identifier: MIT */
#include "vsmp/access.h"

#include "vsmp/coherence.h"

/* What a loop has read since its last turn, for spinning_relax(). */
static void remember(struct cpu *cpu, struct line *line, unsigned offset, unsigned bytes)
{
	unsigned count = cpu->recent_count;

	if (count > WATCH_MAX)
		return;
	for (unsigned i = 0; i < count; i++)
		if (cpu->recent[i].line == line)
			return;
	if (count < WATCH_MAX)
		cpu->recent[count] = (struct place){line, (uint16_t)offset, (uint16_t)bytes};
	cpu->recent_count = count + 1;
}

/* Makes sure, after a turn, that the CPU holds the line. Returns true when it did so already. */
static bool obtain(struct cpu *cpu, struct line *line, uintptr_t address, unsigned bytes,
		   enum access_kind kind)
{
	schedule_turn(cpu);
	/*
	 * A sibling's fill may still be on its way into the cache that both share, with a store that is made
	 * when the line is ready: this access comes a cycle later.
	 */
	while (line->ready >= cpu->clock &&
	       (line->owner == cpu->core + 1u || (kind == ACCESS_READ && line_shared_by(line, cpu->core)))) {
		cpu->clock = line->ready + 1;
		what_if_settled(cpu);
		schedule_turn(cpu);
	}
	if (line->owner == cpu->core + 1u) {
		if (kind == ACCESS_WRITE) {
			line->dirty = true;
			coherence_wake_watchers(line, cpu->clock);
		}
		return true;
	}
	if (kind == ACCESS_READ && line_shared_by(line, cpu->core))
		return true;
	cpu->wanted = (struct place){line, address % CACHE_LINE_BYTES, (uint16_t)bytes};
	coherence_fetch(cpu, line, kind);
	return false;
}

void access_slow(struct cpu *cpu, struct line *line, uintptr_t address, unsigned bytes, enum access_kind kind)
{
	uint64_t transfers = cpu->transfers;

	if (access_hits(cpu, line, kind)) {
		line->dirty |= kind == ACCESS_WRITE;
		cpu->clock += cpu->hit_cycles;
	} else if (obtain(cpu, line, address, bytes, kind)) {
		cpu->clock += cpu->hit_cycles;
	}
	access_trace(cpu, line, address, bytes, kind, cpu->transfers != transfers);
}

void access_memory(uintptr_t address, unsigned bytes, enum access_kind kind, bool modify)
{
	struct cpu *cpu = accessor;
	struct line *line;
	uint64_t transfers;

	if (!cpu)
		return;
	line = line_of(address);
	if (!line)
		return;
	cpu->accesses++;
	remember(cpu, line, address % CACHE_LINE_BYTES, bytes);
	transfers = cpu->transfers;
	if (obtain(cpu, line, address, bytes, kind))
		cpu->clock += modify ? cpu->atomic_hit_cycles : cpu->hit_cycles;
	access_trace(cpu, line, address, bytes, kind, cpu->transfers != transfers);
}

void access_range(uintptr_t address, uintptr_t bytes, enum access_kind kind, const void *pc)
{
	struct cpu *cpu = accessor;

	if (!cpu) {
		if (exploring && bytes)
			explore_touch((const void *)address, bytes,
				      kind == ACCESS_WRITE ? EXPLORE_WRITE : EXPLORE_READ, pc);
		return;
	}
	while (bytes) {
		uintptr_t part = CACHE_LINE_BYTES - address % CACHE_LINE_BYTES;

		if (part > bytes)
			part = bytes;
		access_plain(cpu, address, (unsigned)part, kind);
		address += part;
		bytes -= part;
	}
}
