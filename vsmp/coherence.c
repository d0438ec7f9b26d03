/* SPDX-License-Identifier: MIT */
#include "vsmp/coherence.h"

#include <errno.h>
#include <stdlib.h>

#include "port/panic.h"
#include "vsmp/distance.h"
#include "vsmp/observe/observe.h"
#include "vsmp/schedule.h"
#include "vsmp/spinning.h"

/* Requests that are served as one: a write, or the reads of one socket. */
struct entry {
	uint64_t arrival;
	struct cpu *first, *last; /* linked through next_rider */
	uint16_t socket;
	bool write;
};

/* The requests that wait for one line. A line has a queue only while some do. */
struct queue {
	struct line *line;
	struct entry *entries;
	unsigned count, room;
	uint16_t next_free;
	uint16_t reads_of[VSMP_SOCKETS_MAX]; /* index + 1 of the socket's entry of reads; 0: none */
};

static struct queue *queues;
static uint16_t first_free; /* index + 1 */

int coherence_open(void)
{
	queues = calloc(VSMP_CPUS_MAX, sizeof(*queues));
	if (!queues)
		return -ENOMEM;
	for (unsigned i = 0; i < VSMP_CPUS_MAX; i++)
		queues[i].next_free = (uint16_t)(i + 1 < VSMP_CPUS_MAX ? i + 2 : 0);
	first_free = 1;
	return 0;
}

void coherence_close(void)
{
	for (unsigned i = 0; queues && i < VSMP_CPUS_MAX; i++)
		free(queues[i].entries);
	free(queues);
	queues = NULL;
}

void coherence_wake_watchers(struct line *line, uint64_t now)
{
	while (line->watchers)
		spinning_wake(line->watchers, now);
}

/*
 * Gives the line to `cpu` at `now`, and returns when it will have come. A later grant is never complete
 * before an earlier write is: who reads after a write must see it.
 */
static uint64_t grant(struct cpu *cpu, struct line *line, enum access_kind kind, uint64_t now,
		      enum transfer_class *class)
{
	struct transfer transfer = transfer_cost(cpu, line, kind);
	bool moved = transfer.copies > 0;
	uint64_t complete;

	/* A clean copy in the socket is near only while nobody fights for the line (measured: the Intel
	 * curve). */
	if (transfer.class == TRANSFER_LLC && kind == ACCESS_READ && line->queue)
		transfer.latency_cycles = what_if_cycles(cpu, cost(VSMP_LOCAL_READ_LATENCY));
	complete = now + transfer.latency_cycles;
	*class = transfer.class;
	if (complete <= line->ready)
		complete = line->ready + 1;
	if (now + transfer.occupancy_cycles > line->busy_until)
		line->busy_until = now + transfer.occupancy_cycles;

	if (moved) {
		cpu->last_transfer = line;
		if (cpu->measuring) {
			cpu->transfers++;
			if (machine->lines)
				observe_transfer(cpu->id, line_number(line), cpu->wanted.offset,
						 cpu->wanted.bytes, kind == ACCESS_WRITE,
						 complete - cpu->request_clock);
		}
	}
	if (kind == ACCESS_WRITE) {
		if (moved && machine->lines && cpu->measuring)
			observe_invalidation(cpu->id, line_number(line), transfer.copies);
		machine->rescues = 0;
		line_own(line, cpu->core, true);
		line->ready = complete;
		coherence_wake_watchers(line, now);
	} else if (transfer.class == TRANSFER_MEMORY) {
		line_own(line, cpu->core, false);
		line->ready = complete;
	} else if (transfer.class != TRANSFER_NONE) {
		if (line->owner) {
			line_share(line, line->owner - 1u);
			line->supplier = line->owner;
			line->owner = 0;
			line->dirty = false;
		}
		line_share(line, cpu->core);
	}
	return complete;
}

static struct queue *queue_of(struct line *line)
{
	struct queue *queue;

	if (!line->queue) {
		invariant(first_free);
		line->queue = first_free;
		queue = &queues[line->queue - 1];
		first_free = queue->next_free;
		queue->line = line;
	}
	return &queues[line->queue - 1];
}

static void drop_queue(struct queue *queue)
{
	queue->next_free = first_free;
	first_free = queue->line->queue;
	queue->line->queue = 0;
	queue->line = NULL;
}

static void enqueue(struct cpu *cpu, struct line *line, enum access_kind kind, uint64_t arrival)
{
	bool new_queue = !line->queue;
	struct queue *queue = queue_of(line);
	bool merge = kind == ACCESS_READ && machine->shape.merge_reads;
	struct entry *entry;

	cpu->state = CPU_FETCHING;
	cpu->next_rider = NULL;
	if (merge && queue->reads_of[cpu->socket]) {
		entry = &queue->entries[queue->reads_of[cpu->socket] - 1];
		entry->last->next_rider = cpu;
		entry->last = cpu;
		return;
	}
	if (queue->count == queue->room) {
		queue->room = queue->room ? queue->room * 2 : 16;
		queue->entries = realloc(queue->entries, queue->room * sizeof(*queue->entries));
		invariant(queue->entries);
	}
	entry = &queue->entries[queue->count++];
	*entry = (struct entry){.arrival = arrival,
				.first = cpu,
				.last = cpu,
				.socket = cpu->socket,
				.write = kind == ACCESS_WRITE};
	if (merge)
		queue->reads_of[cpu->socket] = (uint16_t)queue->count;
	if (new_queue)
		schedule_event(arrival > line->busy_until ? arrival : line->busy_until,
			       EVENT_QUEUES + line->queue - 1u);
}

static uint64_t arrival_at(struct cpu *cpu, struct line *line, enum access_kind kind, uint64_t clock,
			   struct transfer *transfer)
{
	*transfer = transfer_cost(cpu, line, kind);
	clock += transfer->travel_cycles;
	if (transfer->class >= TRANSFER_REMOTE && cost(VSMP_JITTER))
		clock += random_below(&machine->random, cost(VSMP_JITTER) + 1);
	return clock;
}

void coherence_fetch(struct cpu *cpu, struct line *line, enum access_kind kind)
{
	struct transfer transfer;
	uint64_t arrival;

	cpu->request_clock = cpu->clock;
	arrival = arrival_at(cpu, line, kind, cpu->clock, &transfer);
	if (!line->queue && line->busy_until <= arrival) {
		cpu->clock = grant(cpu, line, kind, arrival, &transfer.class);
		schedule_cpu(cpu);
	} else {
		enqueue(cpu, line, kind, arrival);
	}
	schedule_others();
}

void coherence_ask(struct cpu *cpu, uint64_t clock)
{
	struct line *line = cpu->wanted.line;
	struct transfer transfer;

	cpu->request_clock = clock;
	enqueue(cpu, line, ACCESS_READ, arrival_at(cpu, line, ACCESS_READ, clock, &transfer));
}

/* The entry to serve next at `now`, or the queue's count when none has arrived yet; *earliest says when. */
static unsigned pick(const struct queue *queue, uint64_t now, uint64_t *earliest)
{
	unsigned start = 0;
	unsigned best = queue->count;

	if (machine->shape.service == VSMP_SERVICE_RANDOM)
		start = (unsigned)random_below(&machine->random, queue->count);
	*earliest = UINT64_MAX;
	for (unsigned i = 0; i < queue->count; i++) {
		unsigned at = start + i < queue->count ? start + i : start + i - queue->count;
		uint64_t arrival = queue->entries[at].arrival;

		if (arrival <= now && machine->shape.service == VSMP_SERVICE_RANDOM)
			return at;
		if (arrival < *earliest) {
			*earliest = arrival;
			best = at;
		}
	}
	return *earliest <= now ? best : queue->count;
}

static struct entry take_entry(struct queue *queue, unsigned at)
{
	struct entry entry = queue->entries[at];
	struct entry *moved = &queue->entries[at];

	if (!entry.write && machine->shape.merge_reads)
		queue->reads_of[entry.socket] = 0;
	*moved = queue->entries[--queue->count];
	if (at < queue->count && !moved->write && machine->shape.merge_reads)
		queue->reads_of[moved->socket] = (uint16_t)(at + 1);
	return entry;
}

/* The line has come for all who ride on one fill, one after the other. Returns how many rode behind the
 * first. */
static unsigned deliver_reads(struct entry *entry, struct line *line, uint64_t complete)
{
	struct cpu *leader = NULL, **link = NULL, *next;
	unsigned riders = 0;

	for (struct cpu *cpu = entry->first; cpu; cpu = next) {
		next = cpu->next_rider;
		cpu->next_rider = NULL;
		if (cpu != entry->first) {
			riders++;
			if (!line->owner)
				line_share(line, cpu->core);
		}
		cpu->clock = complete;
		complete += cost(VSMP_LOCAL_READ_OCCUPANCY);
		if (!cpu->spinning) {
			schedule_cpu(cpu);
		} else if (!leader) {
			leader = cpu;
			link = &cpu->next_rider;
		} else {
			*link = cpu;
			link = &cpu->next_rider;
		}
		if (cpu != entry->first && cpu->measuring) {
			cpu->transfers++;
			if (machine->lines)
				observe_transfer(cpu->id, line_number(line), cpu->wanted.offset,
						 cpu->wanted.bytes, false, cpu->clock - cpu->request_clock);
		}
	}
	if (leader) {
		leader->leads_group = true;
		schedule_event(leader->clock, leader->id);
	}
	return riders;
}

void coherence_serve(unsigned index, uint64_t now)
{
	struct queue *queue = &queues[index];
	struct line *line = queue->line;
	uint64_t earliest, complete, next;
	struct entry entry;
	enum transfer_class class;
	unsigned at, riders;

	if (line->busy_until > now) {
		schedule_event(line->busy_until, EVENT_QUEUES + index);
		return;
	}
	at = pick(queue, now, &earliest);
	if (at == queue->count) {
		schedule_event(earliest, EVENT_QUEUES + index);
		return;
	}
	entry = take_entry(queue, at);
	complete = grant(entry.first, line, entry.write ? ACCESS_WRITE : ACCESS_READ, now, &class);
	if (entry.write) {
		entry.first->clock = complete;
		schedule_cpu(entry.first);
	} else {
		riders = deliver_reads(&entry, line, complete);
		/* In a socket, readers are served one by one; beyond it, only the fill keeps the home busy.
		 */
		if (class == TRANSFER_LOCAL)
			line->busy_until += riders * cost(VSMP_LOCAL_READ_OCCUPANCY);
	}
	if (!queue->count) {
		drop_queue(queue);
		return;
	}
	next = line->busy_until > now ? line->busy_until : now + 1;
	schedule_event(next, EVENT_QUEUES + index);
}
