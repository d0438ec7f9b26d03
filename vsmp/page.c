/* SPDX-License-Identifier: MIT */
/*
 * port/page.h: whole pages move at the speed of the socket's memory, which its cores share. Their lines are
 * not looked at one by one; a cleared page begins a new life, in the cache of the CPU that cleared it.
 */
#include "port/page.h"

#include <string.h>

#include "vsmp/coherence.h"
#include "vsmp/core.h"
#include "vsmp/explore/internal.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"
#include "vsmp/schedule.h"

/* Takes the time that moving `pages` pages takes. */
static void move(struct cpu *cpu, unsigned pages)
{
	uint64_t *free_at = &machine->clear_free_at[cpu->socket];
	uint64_t start, core_done, socket_done;

	costs_ask(&machine->costs, VSMP_CLEAR_CORE);
	costs_ask(&machine->costs, VSMP_CLEAR_SOCKET);
	schedule_turn(cpu);
	start = cpu->clock;
	core_done = start + what_if_cycles(cpu, (uint32_t)(pages * machine->costs.clear_core_cycles));
	/* The socket's memory serves one page after the other. */
	socket_done = (*free_at > start ? *free_at : start) +
		      what_if_cycles(cpu, (uint32_t)(pages * machine->costs.clear_socket_cycles));
	*free_at = socket_done;
	cpu->clock = core_done > socket_done ? core_done : socket_done;
	what_if_settled(cpu);
}

static void own_lines(struct cpu *cpu, uintptr_t page)
{
	struct line *line = line_of(page);

	if (!line)
		return;
	observe_forget(line_number(line), PORT_PAGE_SIZE >> LINE_SHIFT);
	for (unsigned i = 0; i < PORT_PAGE_SIZE >> LINE_SHIFT; i++) {
		line_home(&line[i], cpu->socket);
		line_renew(&line[i], cpu->core);
	}
}

/* After the contents have changed: a CPU that spins on the page looks again. */
static void wake_watchers(struct cpu *cpu, uintptr_t page)
{
	struct line *line = line_of(page);

	for (unsigned i = 0; line && i < PORT_PAGE_SIZE >> LINE_SHIFT; i++)
		if (line[i].watchers)
			coherence_wake_watchers(&line[i], cpu->clock);
}

void vsmp_page_clear(void *page, int structure_only)
{
	struct cpu *cpu = accessor;

	if (cpu)
		move(cpu, 1);
	if (structure_only)
		return;
	if (cpu)
		own_lines(cpu, (uintptr_t)page);
	else if (exploring)
		explore_touch(page, PORT_PAGE_SIZE, EXPLORE_WRITE, __builtin_return_address(0));
	memset(page, 0, PORT_PAGE_SIZE);
	if (cpu)
		wake_watchers(cpu, (uintptr_t)page);
}

static void explore_copy(void *target, const void *source, const void *pc)
{
	explore_touch(source, PORT_PAGE_SIZE, EXPLORE_READ, pc);
	explore_touch(target, PORT_PAGE_SIZE, EXPLORE_WRITE, pc);
}

void vsmp_page_copy(void *target, const void *source, int structure_only)
{
	struct cpu *cpu = accessor;

	/* Read and written: twice a page's traffic. */
	if (cpu)
		move(cpu, 2);
	if (structure_only)
		return;
	if (cpu)
		own_lines(cpu, (uintptr_t)target);
	else if (exploring)
		explore_copy(target, source, __builtin_return_address(0));
	memcpy(target, source, PORT_PAGE_SIZE);
	if (cpu)
		wake_watchers(cpu, (uintptr_t)target);
}
