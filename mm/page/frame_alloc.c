/* SPDX-License-Identifier: MIT */
/*
 * Handing out frames and taking them back.
 */
#include "mm/page/frames.h"

#include "mm/page/magazine.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "port/trace.h"

static const char frame_refill_scope[] = "frame refill";

/* Fills an empty CPU with a magazine of `depot`, or with frames never used. Returns false when it has none.
 */
static bool refill_from(struct frames *frames, struct frame_cpu *cpu, struct frame_depot *depot)
{
	struct page *magazine;

	spin_lock(&depot->lock);
	magazine = depot->magazines;
	if (magazine) {
		depot->magazines = magazine->free.next_magazine;
		depot->magazine_count--;
		cpu->loaded = magazine;
		cpu->loaded_count = magazine->free.count;
	} else {
		uint64_t left = depot->fresh_end - depot->fresh;
		uint64_t take = left < frames->magazine_pages ? left : frames->magazine_pages;

		cpu->fresh = depot->fresh;
		cpu->fresh_end = depot->fresh + take;
		depot->fresh += take;
	}
	spin_unlock(&depot->lock);
	return magazine || cpu->fresh < cpu->fresh_end;
}

/* The own node's depot first, then the others, nearest numbers first. */
static bool refill(struct frames *frames, struct frame_cpu *cpu)
{
	unsigned node = port_cpu_node(port_cpu());
	bool filled = false;

	port_scope_begin(frame_refill_scope);
	for (unsigned i = 0; i < frames->nodes && !filled; i++)
		filled = refill_from(frames, cpu, frames->depot[(node + i) % frames->nodes]);
	port_scope_end();
	return filled;
}

static void drain(struct frames *frames, struct page *magazine, uint64_t count)
{
	struct frame_depot *depot = frames->depot[port_cpu_node(port_cpu())];

	port_scope_begin(frame_refill_scope);
	magazine->free.count = count;
	spin_lock(&depot->lock);
	magazine->free.next_magazine = depot->magazines;
	depot->magazines = magazine;
	depot->magazine_count++;
	spin_unlock(&depot->lock);
	port_scope_end();
}

struct page *frame_alloc(struct frames *frames)
{
	struct frame_cpu *cpu = percpu_this(&frames->cpu);
	struct page *page;

	if (!cpu->loaded && cpu->spare) {
		cpu->loaded = cpu->spare;
		cpu->loaded_count = cpu->spare_count;
		cpu->spare = NULL;
		cpu->spare_count = 0;
	}
	if (!cpu->loaded && cpu->fresh == cpu->fresh_end && !refill(frames, cpu))
		return NULL;
	if (cpu->loaded) {
		page = cpu->loaded;
		cpu->loaded = page->free.next;
		cpu->loaded_count--;
		page_clear_flag(page, PG_free);
	} else {
		page = pfn_to_page(frames, cpu->fresh++);
	}
	invariant(atomic_load_explicit(&page->refcount, memory_order_relaxed) == 0);
	atomic_store_explicit(&page->refcount, 1, memory_order_relaxed);
	return page;
}

void frame_free(struct frames *frames, struct page *page)
{
	struct frame_cpu *cpu = percpu_this(&frames->cpu);

	invariant(atomic_load_explicit(&page->refcount, memory_order_relaxed) == 1);
	invariant(!page_has_flag(page, PG_free) && page_to_pfn(frames, page) < frames->own);
	atomic_store_explicit(&page->refcount, 0, memory_order_relaxed);
	page_set_flag(page, PG_free);

	if (cpu->loaded_count == frames->magazine_pages) {
		if (cpu->spare)
			drain(frames, cpu->spare, cpu->spare_count);
		cpu->spare = cpu->loaded;
		cpu->spare_count = cpu->loaded_count;
		cpu->loaded = NULL;
		cpu->loaded_count = 0;
	}
	page->free.next = cpu->loaded;
	cpu->loaded = page;
	cpu->loaded_count++;
}
