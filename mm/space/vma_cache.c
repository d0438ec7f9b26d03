/* SPDX-License-Identifier: MIT */
#include "mm/space/vma_cache.h"

#include "mm/object/object.h"
#include "port/lifetime.h"
#include "port/memory.h"
#include "sync/percpu.h"
#include "sync/retired.h"

/* More free VMAs than this of one CPU go back to the machine. */
#define FREE_VMAS_MAX 256u

struct vma_cache {
	const struct lock_nodes *lock_nodes; /* of the anons */
	struct percpu cpu;                   /* of struct vma_cache_cpu */
};

/* Used by its CPU alone. */
struct vma_cache_cpu {
	CACHE_LINE_ALIGNED struct vma *free; /* linked by next */
	unsigned count;
	struct retired_count retired;
};

struct vma_cache *vma_cache_create(const struct lock_nodes *lock_nodes)
{
	struct vma_cache *cache =
	    port_memory_alloc(sizeof(*cache), PORT_NODE_FIRST_TOUCH, "struct vma_cache");

	if (cache && percpu_alloc(&cache->cpu, sizeof(struct vma_cache_cpu), "struct vma_cache_cpu")) {
		port_memory_free(cache, sizeof(*cache));
		cache = NULL;
	}
	if (cache)
		cache->lock_nodes = lock_nodes;
	return cache;
}

void vma_cache_retired(const struct vma_cache *cache, int64_t *bytes, int64_t *peak)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct vma_cache_cpu *own = percpu_of(&cache->cpu, cpu);

		retired_sum(&own->retired, bytes, peak);
	}
}

static void give_back(struct vma *vma)
{
	anon_vma_free(vma->spare_anon);
	port_memory_free(vma, sizeof(*vma));
}

void vma_cache_drain(struct vma_cache *cache)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct vma_cache_cpu *own = percpu_of(&cache->cpu, cpu);
		struct vma *vma;

		while ((vma = own->free)) {
			port_memory_alive(vma, sizeof(*vma));
			own->free = vma->next;
			give_back(vma);
		}
		own->count = 0;
	}
}

void vma_cache_destroy(struct vma_cache *cache)
{
	if (!cache)
		return;
	vma_cache_drain(cache);
	percpu_free(&cache->cpu);
	port_memory_free(cache, sizeof(*cache));
}

/* A VMA of no meaning; its spare identity may be there or not. */
static struct vma *take(struct vma_cache *cache)
{
	struct vma_cache_cpu *own = percpu_this(&cache->cpu);
	struct vma *vma = own->free;

	if (vma) {
		port_memory_alive(vma, sizeof(*vma));
		own->free = vma->next;
		own->count--;
		return vma;
	}
	vma = port_memory_alloc(sizeof(*vma), PORT_NODE_FIRST_TOUCH, "struct vma");
	if (vma)
		vma->cache = cache;
	return vma;
}

static void put(struct vma *vma)
{
	struct vma_cache_cpu *own = percpu_this(&vma->cache->cpu);

	if (own->count == FREE_VMAS_MAX) {
		give_back(vma);
		return;
	}
	vma->next = own->free;
	own->free = vma;
	own->count++;
	port_memory_dead(vma, sizeof(*vma), "struct vma");
}

/* The VMA's own reference on what `shape` maps. Returns false when there is no memory for a part. */
static bool take_object(struct vma *vma, const struct vma_shape *shape)
{
	struct object *object = shape->object;

	if (object && object->ops->part)
		object = object->ops->part(object, shape->page_offset, vma_pages(vma));
	else if (object)
		object_get(object);
	vma->object = object;
	return object || !shape->object;
}

struct vma *vma_create(struct vma_cache *cache, const struct vma_shape *shape, uint32_t users_idle)
{
	struct vma *vma = take(cache);

	if (!vma)
		return NULL;
	vma->start = shape->start;
	vma->end = shape->end;
	vma->flags = shape->flags;
	vma->page_offset = shape->page_offset;
	vma->next = NULL;
	vma->linked = vma->anon_linked = false;
	atomic_store_explicit(&vma->detached, false, memory_order_relaxed);
	atomic_store_explicit(&vma->users, users_idle, memory_order_relaxed);
	atomic_store_explicit(&vma->anon, shape->anon, memory_order_relaxed);
	if (!(shape->flags & VM_SHARED) && !shape->anon && !vma->spare_anon) {
		vma->spare_anon = anon_vma_alloc();
		if (!vma->spare_anon)
			goto no_memory;
		anon_vma_init(vma->spare_anon, cache->lock_nodes);
	}
	if (!take_object(vma, shape))
		goto no_memory;
	anon_vma_get(shape->anon);
	return vma;
no_memory:
	put(vma);
	return NULL;
}

static void put_references(struct vma *vma)
{
	struct anon_vma *anon = atomic_load_explicit(&vma->anon, memory_order_relaxed);

	/* The spare identity has come into use: it is the VMAs' now, not this one's. */
	if (anon && anon == vma->spare_anon)
		vma->spare_anon = NULL;
	anon_vma_put(anon);
	if (vma->object)
		object_put(vma->object);
}

void vma_free(struct vma *vma)
{
	put_references(vma);
	put(vma);
}

static void count_retired(struct vma_cache *cache, int64_t bytes)
{
	struct vma_cache_cpu *own = percpu_this(&cache->cpu);

	retired_change(&own->retired, bytes);
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	struct vma *vma = container_of(head, struct vma, rcu);

	count_retired(vma->cache, -(int64_t)sizeof(*vma));
	put(vma);
}

void vma_retire(struct vma *vma)
{
	put_references(vma);
	count_retired(vma->cache, sizeof(*vma));
	port_rcu_call(&vma->rcu, free_after_grace_period);
}

void vma_take_spare_anon(struct vma *vma)
{
	atomic_store_explicit(&vma->anon, vma->spare_anon, memory_order_relaxed);
}

struct vma_shape vma_shape(const struct vma *vma)
{
	return (struct vma_shape){
	    .start = vma->start,
	    .end = vma->end,
	    .flags = vma->flags,
	    .page_offset = vma->page_offset,
	    .object = vma->object,
	    .anon = atomic_load_explicit(&vma->anon, memory_order_relaxed),
	};
}
