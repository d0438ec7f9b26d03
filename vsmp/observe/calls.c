/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/lockstat.h"
#include "vsmp/observe/observe.h"
#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/symbols.h"

#define NODES_PER_CHUNK 1024u

/* Most functions call few others: that many children are looked at before the hash table is. */
#define SIBLINGS_TRIED 8u

/* Without paths: of a deeper stack only the outermost functions are kept. */
#define STACK_FUNCTIONS 256u

struct call_stack {
	size_t depth;
	const void *function[STACK_FUNCTIONS];
};

struct call_cpu {
	struct call_node *cursor;
	uint64_t mark_cycles; /* up to here the CPU's time has been attributed or dropped */
	uint64_t lost_depth;  /* functions entered below the cursor for which there was no node */
};

static struct {
	struct call_stack *stacks; /* NULL where paths are wanted */
	struct call_cpu *cpus;
	unsigned cpu_count;
	struct call_node **chunks; /* nodes never move: others keep pointers to them */
	size_t chunk_count, chunk_capacity;
	uint64_t count;
	struct pairmap children; /* (parent's number, function) to the child's address */
	uint64_t dropped;
} calls;

struct call_node *calls_node(uint64_t number)
{
	return &calls.chunks[number / NODES_PER_CHUNK][number % NODES_PER_CHUNK];
}

uint64_t calls_count(void)
{
	return calls.count;
}

uint64_t calls_dropped(void)
{
	return calls.dropped;
}

const struct call_node *calls_cursor(unsigned cpu)
{
	return calls.cpus[cpu].cursor;
}

static struct call_node *add_node(struct call_node *parent, const void *function)
{
	struct call_node *node;

	if (calls.count == calls.chunk_count * NODES_PER_CHUNK) {
		struct call_node **chunks =
		    grow_array(calls.chunks, &calls.chunk_capacity, calls.chunk_count + 1, sizeof(*chunks));

		if (!chunks)
			return NULL;
		calls.chunks = chunks;
		chunks[calls.chunk_count] = calloc(NODES_PER_CHUNK, sizeof(struct call_node));
		if (!chunks[calls.chunk_count])
			return NULL;
		calls.chunk_count++;
	}
	node = calls_node(calls.count);
	node->function = function;
	node->parent = parent;
	node->number = calls.count++;
	if (parent) {
		node->next_sibling = parent->first_child;
		parent->first_child = node;
	}
	return node;
}

int calls_open(unsigned cpus, bool paths)
{
	memset(&calls, 0, sizeof(calls));
	calls.cpus = calloc(cpus, sizeof(*calls.cpus));
	calls.stacks = paths ? NULL : calloc(cpus, sizeof(*calls.stacks));
	if (!calls.cpus || (!paths && !calls.stacks) || !add_node(NULL, NULL)) {
		calls_close();
		return -ENOMEM;
	}
	calls.cpu_count = cpus;
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		calls.cpus[cpu].cursor = calls_node(0);
	return 0;
}

void calls_close(void)
{
	for (size_t i = 0; i < calls.chunk_count; i++)
		free(calls.chunks[i]);
	free(calls.chunks);
	free(calls.stacks);
	free(calls.cpus);
	pairmap_free(&calls.children);
	memset(&calls, 0, sizeof(calls));
}

static __attribute__((noinline)) struct call_node *find_child(struct call_node *parent, const void *function)
{
	struct call_node *near = parent->first_child;
	uint64_t *child;

	for (unsigned i = 0; near && i < SIBLINGS_TRIED; i++, near = near->next_sibling)
		if (near->function == function)
			return near;
	child = pairmap_at(&calls.children, parent->number, (uintptr_t)function);
	if (!child)
		return NULL;
	if (!*child)
		*child = (uintptr_t)add_node(parent, function);
	return (struct call_node *)(uintptr_t)*child;
}

/* Within a window a CPU's clock never goes back; between windows it may start anew. */
static inline void attribute(struct call_cpu *at, uint64_t now_cycles, bool measuring)
{
	if (measuring)
		at->cursor->self_cycles += now_cycles - at->mark_cycles;
	at->mark_cycles = now_cycles;
}

/* Functions begin at multiples of 16 bytes. */
static inline struct call_node **slot_of(struct call_node *node, const void *function)
{
	return &node->entered[((uintptr_t)function / 16) % CALL_SLOTS];
}

static inline void push(struct call_stack *stack, const void *function)
{
	if (likely(stack->depth < STACK_FUNCTIONS))
		stack->function[stack->depth] = function;
	stack->depth++;
}

void observe_enter(unsigned cpu, const void *function, uint64_t now_cycles, bool measuring)
{
	struct call_cpu *at = &calls.cpus[cpu];
	struct call_node **slot, *child;

	if (calls.stacks) {
		push(&calls.stacks[cpu], function);
		return;
	}
	slot = slot_of(at->cursor, function);
	child = *slot;
	attribute(at, now_cycles, measuring);
	if (unlikely(at->lost_depth)) {
		at->lost_depth++;
		return;
	}
	if (unlikely(!child || child->function != function)) {
		child = find_child(at->cursor, function);
		if (!child) {
			at->lost_depth = 1;
			calls.dropped++;
			return;
		}
		*slot = child;
	}
	at->cursor = child;
}

/* An exit at the root belongs to a function that was entered before the CPU's stack was reset. */
void observe_exit(unsigned cpu, uint64_t now_cycles, bool measuring)
{
	struct call_cpu *at = &calls.cpus[cpu];

	if (calls.stacks) {
		calls.stacks[cpu].depth -= calls.stacks[cpu].depth > 0;
		return;
	}
	attribute(at, now_cycles, measuring);
	if (unlikely(at->lost_depth))
		at->lost_depth--;
	else if (likely(at->cursor->parent))
		at->cursor = at->cursor->parent;
}

void observe_mark(unsigned cpu, uint64_t now_cycles, bool measuring)
{
	attribute(&calls.cpus[cpu], now_cycles, measuring);
	if (!measuring)
		lockstat_begin_window(cpu, now_cycles);
}

void observe_reset_stack(unsigned cpu)
{
	calls.cpus[cpu].cursor = calls_node(0);
	calls.cpus[cpu].lost_depth = 0;
	if (calls.stacks)
		calls.stacks[cpu].depth = 0;
}

static void print_function(const void *function, FILE *out, const char *indent)
{
	char name[SYMBOLS_NAME_BYTES];

	symbols_function_name(function, name);
	fprintf(out, "%s%s\n", indent, name);
}

static void print_kept(const struct call_stack *stack, FILE *out, const char *indent)
{
	size_t kept = stack->depth < STACK_FUNCTIONS ? stack->depth : STACK_FUNCTIONS;

	if (kept < stack->depth)
		fprintf(out, "%s[%zu deeper]\n", indent, stack->depth - kept);
	while (kept--)
		print_function(stack->function[kept], out, indent);
}

void observe_print_stack(unsigned cpu, FILE *out, const char *indent)
{
	const struct call_node *node = calls.cpus[cpu].cursor;

	if (!node->parent && !(calls.stacks && calls.stacks[cpu].depth))
		fprintf(out, "%s[no function]\n", indent);
	for (; node->parent; node = node->parent)
		print_function(node->function, out, indent);
	if (calls.stacks)
		print_kept(&calls.stacks[cpu], out, indent);
}
