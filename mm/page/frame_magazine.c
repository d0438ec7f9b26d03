/* SPDX-License-Identifier: MIT */
/*
 * The frame cache `magazine` at work. mm/page/magazine.h has the whole picture.
 */
#include "mm/page/magazine.h"

#include "mm/page/frame_cache.h"
#include "mm/page/magazine_parts.h"
#include "port/cpu.h"
#include "port/trace.h"

static const char frame_refill_scope[] = "frame refill";

/* Makes `magazine`, which may be NULL, what the CPU works on. */
static bool load(struct frame_cpu *cpu, struct page *magazine)
{
	if (!magazine)
		return false;
	cpu->loaded = magazine;
	cpu->loaded_count = (uint32_t)magazine->magazine.count;
	return true;
}

/* Takes a magazine from a shelf or depot. Returns NULL when it has none. */
static struct page *take_magazine(struct spinlock *lock, struct page **magazines, _Atomic uint64_t *count)
{
	struct page *magazine;

	/* Nothing to be had is seen without the lock. Who puts something there meanwhile comes too late. */
	if (!atomic_load_explicit(count, memory_order_relaxed))
		return NULL;
	spin_lock(lock);
	magazine = *magazines;
	if (magazine) {
		*magazines = magazine->magazine.next_magazine;
		atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) - 1,
				      memory_order_relaxed);
	}
	spin_unlock(lock);
	return magazine;
}

static void put_magazine(struct spinlock *lock, struct page **magazines, _Atomic uint64_t *count,
			 struct page *magazine)
{
	spin_lock(lock);
	magazine->magazine.next_magazine = *magazines;
	*magazines = magazine;
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	spin_unlock(lock);
}

/* Takes a run of frames never handed out from a shelf. */
static bool take_run(const struct magazines *cache, struct frame_cpu *cpu, struct frame_shelf *shelf)
{
	uint64_t fresh, left;

	if (!atomic_load_explicit(&shelf->fresh, memory_order_relaxed))
		return false;
	spin_lock(&shelf->lock);
	fresh = atomic_load_explicit(&shelf->fresh, memory_order_relaxed);
	left = fresh ? shelf->fresh_end - fresh : 0;
	if (left > cache->magazine_pages) {
		left = cache->magazine_pages;
		atomic_store_explicit(&shelf->fresh, fresh + left, memory_order_relaxed);
	} else {
		atomic_store_explicit(&shelf->fresh, 0, memory_order_relaxed);
	}
	spin_unlock(&shelf->lock);
	cpu->fresh = fresh;
	cpu->fresh_end = fresh + left;
	return left != 0;
}

static bool take_from_shelf(const struct magazines *cache, struct frame_cpu *cpu, struct frame_shelf *shelf)
{
	return load(cpu, take_magazine(&shelf->lock, &shelf->magazines, &shelf->magazine_count)) ||
	       take_run(cache, cpu, shelf);
}

/* Takes frames never handed out from behind a node's bump pointer: a chunk for the own shelf from the own
 * node, and only a run from another, whose CPUs may want the rest. */
static bool take_chunk(const struct magazines *cache, struct frame_cpu *cpu, struct frame_depot *depot,
		       bool own_node)
{
	struct frame_shelf *shelf = percpu_this(&cache->shelf);
	uint64_t pages = own_node ? cache->chunk_pages : cache->magazine_pages, fresh, end;

	if (atomic_load_explicit(&depot->fresh, memory_order_relaxed) >= depot->end)
		return false;
	fresh = atomic_fetch_add_explicit(&depot->fresh, pages, memory_order_relaxed);
	if (fresh >= depot->end)
		return false;
	end = depot->end - fresh < pages ? depot->end : fresh + pages;
	cpu->fresh = fresh;
	cpu->fresh_end = end;
	if (end - fresh > cache->magazine_pages) {
		cpu->fresh_end = fresh + cache->magazine_pages;
		/* The shelf has no such frames left, or the CPU would not have come here; nobody else adds
		 * any. */
		spin_lock(&shelf->lock);
		shelf->fresh_end = end;
		atomic_store_explicit(&shelf->fresh, cpu->fresh_end, memory_order_relaxed);
		spin_unlock(&shelf->lock);
	}
	return true;
}

/* Takes something from the shelf of a CPU of the node, whose had something last first. */
static bool steal(const struct magazines *cache, struct frame_cpu *cpu, const struct frame_depot *depot)
{
	unsigned count = depot->end_cpu - depot->first_cpu;
	unsigned start = cpu->victim >= depot->first_cpu && cpu->victim < depot->end_cpu
			     ? cpu->victim - depot->first_cpu
			     : 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned at = depot->first_cpu + (start + i) % count;

		if (take_from_shelf(cache, cpu, percpu_of(&cache->shelf, cache->cpus[at]))) {
			cpu->victim = (uint16_t)at;
			return true;
		}
	}
	return false;
}

static bool take_from_node(const struct magazines *cache, struct frame_cpu *cpu, unsigned node)
{
	struct frame_depot *depot = cache->depot[node];

	return load(cpu, take_magazine(&depot->lock, &depot->magazines, &depot->magazine_count)) ||
	       take_chunk(cache, cpu, depot, node == cpu->node) || steal(cache, cpu, depot);
}

/* Gives an empty CPU a magazine or a run. Returns false when there is nothing anywhere. */
static bool refill(struct frames *frames, const struct magazines *cache, struct frame_cpu *cpu)
{
	bool filled;

	port_scope_begin(frame_refill_scope);
	filled = take_from_shelf(cache, cpu, percpu_this(&cache->shelf));
	for (unsigned i = 0; i < frames->nodes && !filled; i++)
		filled = take_from_node(cache, cpu, frame_node_near(frames, cpu->node, i));
	if (!filled && cpu->away) {
		cpu->loaded = cpu->away;
		cpu->loaded_count = cpu->away_count;
		cpu->away = NULL;
		cpu->away_count = 0;
		filled = true;
	}
	port_scope_end();
	return filled;
}

static struct page *magazine_alloc(struct frames *frames)
{
	const struct magazines *cache = frames->cache;
	struct frame_cpu *cpu = percpu_this(&cache->cpu);
	struct page *page;

	if (!cpu->loaded && cpu->spare) {
		cpu->loaded = cpu->spare;
		cpu->loaded_count = cpu->spare_count;
		cpu->spare = NULL;
		cpu->spare_count = 0;
	}
	if (!cpu->loaded && cpu->fresh == cpu->fresh_end && !refill(frames, cache, cpu))
		return NULL;
	if (!cpu->loaded)
		return pfn_to_page(frames, cpu->fresh++);
	page = cpu->loaded;
	cpu->loaded = page->magazine.next;
	cpu->loaded_count--;
	return page;
}

/* Takes the frames of the first one's node out of the chain *from. Returns them as a magazine. */
static struct page *split_node(struct frames *frames, struct page **from, unsigned *node)
{
	struct page *magazine = NULL, *page, **link = from;
	uint64_t count = 0;

	*node = frame_node(frames, page_to_pfn(frames, *from));
	while ((page = *link)) {
		if (frame_node(frames, page_to_pfn(frames, page)) != *node) {
			link = &page->magazine.next;
			continue;
		}
		*link = page->magazine.next;
		page->magazine.next = magazine;
		magazine = page;
		count++;
	}
	magazine->magazine.count = count;
	return magazine;
}

/* Sends the frames of other nodes home, those of each node in one magazine. */
static void send_away(struct frames *frames, const struct magazines *cache, struct frame_cpu *cpu)
{
	port_scope_begin(frame_refill_scope);
	while (cpu->away) {
		unsigned node;
		struct page *magazine = split_node(frames, &cpu->away, &node);
		struct frame_depot *depot = cache->depot[node];

		put_magazine(&depot->lock, &depot->magazines, &depot->magazine_count, magazine);
	}
	cpu->away_count = 0;
	port_scope_end();
}

static void shelve(const struct magazines *cache, struct page *magazine, uint32_t count)
{
	struct frame_shelf *shelf = percpu_this(&cache->shelf);

	port_scope_begin(frame_refill_scope);
	magazine->magazine.count = count;
	put_magazine(&shelf->lock, &shelf->magazines, &shelf->magazine_count, magazine);
	port_scope_end();
}

static void magazine_free(struct frames *frames, struct page *page)
{
	const struct magazines *cache = frames->cache;
	struct frame_cpu *cpu = percpu_this(&cache->cpu);

	if (frame_node(frames, page_to_pfn(frames, page)) != cpu->node) {
		page->magazine.next = cpu->away;
		cpu->away = page;
		if (++cpu->away_count >= cache->magazine_pages)
			send_away(frames, cache, cpu);
		return;
	}
	if (cpu->loaded_count >= cache->magazine_pages) {
		if (cpu->spare)
			shelve(cache, cpu->spare, cpu->spare_count);
		cpu->spare = cpu->loaded;
		cpu->spare_count = cpu->loaded_count;
		cpu->loaded = NULL;
		cpu->loaded_count = 0;
	}
	page->magazine.next = cpu->loaded;
	cpu->loaded = page;
	cpu->loaded_count++;
}

/* Two magazines, a run, and those of other nodes. */
static uint64_t magazines_held_back(const struct frames *frames)
{
	const struct magazines *cache = frames->cache;

	return 4 * cache->magazine_pages;
}

const struct frame_cache_ops frame_magazine_ops = {
    .create = magazines_create,
    .destroy = magazines_destroy,
    .alloc = magazine_alloc,
    .free = magazine_free,
    .untouched = magazines_untouched,
    .held_back = magazines_held_back,
    .check = magazines_check,
};
