/* SPDX-License-Identifier: MIT */
/*
 * The one path of all faults.
 */
#include "mm/fault/fault.h"

#include <errno.h>

#include "mm/fault/internal.h"
#include "mm/fault/lookup.h"
#include "mm/object/waiter.h"
#include "mm/swap/swap.h"
#include "port/mmu.h"
#include "port/panic.h"
#include "port/trace.h"
#include "sync/rcu.h"

static const char fault_scope[] = "fault";

static int bad_area(struct fault *fault, int signal, int code)
{
	fault->signal = signal;
	fault->code = code;
	return -EFAULT;
}

/* As x86 has it: memory that can be written or executed can be read too. */
static bool access_allowed(uint32_t flags, enum touch touch)
{
	if (touch == TOUCH_WRITE)
		return (flags & VM_WRITE) != 0;
	if (touch == TOUCH_EXECUTE)
		return (flags & VM_EXEC) != 0;
	return (flags & VM_PROTECTION) != 0;
}

int fault_lock_pte(struct fault *fault, struct pte_ref *ref)
{
	const uint64_t by_hardware = PTE_ACCESSED | PTE_DIRTY;
	int error = pte_lock(&fault->space->table, fault->address, &fault->charge, ref);

	if (error)
		return error;
	/* The lock comes before the look: docs/LOCKING.md, "A fault and an unmap". */
	if (atomic_load_explicit(&fault->vma->detached, memory_order_seq_cst))
		error = -EAGAIN;
	else if ((ref->value ^ fault->pte) & ~by_hardware)
		error = -EBUSY;
	if (error)
		pte_unlock(ref);
	return error;
}

static int first_touch(struct fault *fault)
{
	if (fault->vma->flags & VM_PFN)
		return do_pfn_fault(fault);
	return fault->vma->object ? do_object_fault(fault) : do_anonymous_page(fault);
}

static int handle_mm_fault(struct fault *fault)
{
	const struct vma *vma = fault->vma;

	fault->pte = table_read(&fault->space->table, fault->address);
	if (pte_allows(fault->pte, fault->touch))
		return 0;
	if (!fault->pte)
		return first_touch(fault);
	if (pte_is_swap(fault->pte))
		return do_swap_page(fault);
	/* The VMA allows what the entry does not: either a write that somebody wants to know of, ... */
	if ((fault->pte & PTE_PRESENT) && fault->touch == TOUCH_WRITE)
		return vma_private(vma) ? do_wp_page(fault) : do_shared_wp(fault);
	/* ... or a writer that has shown a new VMA is yet to change the entries. */
	invariant(!fault->locked);
	return -EAGAIN;
}

/* As Linux, which gives a VMA its identity with the first page of its own: the zero page is none. */
static bool wants_anon(const struct fault *fault)
{
	return fault->touch == TOUCH_WRITE && vma_private(fault->vma) && !vma_anon(fault->vma);
}

/* One try, with the VMA held. What goes wrong without the lock is looked at again with it. */
static int try_vma(struct fault *fault)
{
	struct vma *vma = fault->vma;

	/* The group is live while we are in this read section. */
	charge_begin(&fault->charge);
	if (!vma)
		return fault->locked ? bad_area(fault, FAULT_SIGSEGV, FAULT_SEGV_MAPERR) : -EAGAIN;
	if (!access_allowed(vma->flags, fault->touch))
		return fault->locked ? bad_area(fault, FAULT_SIGSEGV, FAULT_SEGV_ACCERR) : -EAGAIN;
	if (wants_anon(fault))
		return -EAGAIN;
	return handle_mm_fault(fault);
}

/*
 * The replaced page may still be in use through old translations of this space, so its references are put
 * only now: until then no other space can find itself its only user and write to it.
 */
static void flush_replaced(struct fault *fault)
{
	struct sf_space *space = fault->space;

	if (!fault->flush)
		return;
	table_flush(&space->table, fault->address, fault->address + PORT_PAGE_SIZE);
	if (fault->changing)
		translations_change_end(&space->table.translations);
	if (fault->old) {
		swap_free_unused(space->parts.frames->swap, fault->old);
		page_put(space->parts.frames, fault->old);
	}
	fault->flush = fault->changing = false;
	fault->old = NULL;
}

/* Returns 0 when the fault is to start again. */
static int wait_for_page(struct fault *fault)
{
	struct object *object = fault->waiting;
	int error = 0;

	if (!fault->waits)
		return fault_wait_for_slot(fault);
	if (object) {
		struct sf_object *cached = container_of(object, struct sf_object, object);

		error = object->ops->wait_page(object, fault->waiting_index, &fault->charge);
		fault->major = true;
		/* Else reclaim for what this fault needs next could take the page away again, without end. */
		if (!error)
			fault_keep(fault, cache_find_get(cached, fault->waiting_index));
	}
	object_wait_end(fault->space->parts.objects);
	fault->waiting = NULL;
	fault->waits = false;
	return error && error != -ENOMEM ? fault_sigbus(fault) : error;
}

static void count_fault(struct sf_space *space, bool major)
{
	struct space_cpu *cpu = percpu_this(&space->cpu);
	_Atomic uint64_t *count = major ? &cpu->major_faults : &cpu->minor_faults;
	uint64_t faults = atomic_load_explicit(count, memory_order_relaxed);

	atomic_store_explicit(count, faults + 1, memory_order_relaxed);
}

static int resolve(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch)
{
	const struct vma_lookup_ops *lookup = space->parts.lookup;
	unsigned fruitless = 0;
	int error;

	*fault = (struct fault){.space = space,
				.address = address - address % PORT_PAGE_SIZE,
				.touch = touch,
				.charge = {.source = &space->group}};
	if (address >= SPACE_END)
		return bad_area(fault, FAULT_SIGSEGV, FAULT_SEGV_MAPERR);
	translations_note(&space->table.translations);
	for (;;) {
		lookup->find(fault);
		/* With the space's lock, and in no read section: that may sleep. */
		if (fault->locked && fault->vma && access_allowed(fault->vma->flags, touch) &&
		    wants_anon(fault))
			space_anon_prepare(space, fault->vma);
		port_rcu_read_lock();
		error = try_vma(fault);
		port_rcu_read_unlock();
		lookup->put(fault);
		flush_replaced(fault);
		if (error == -EINPROGRESS) {
			error = wait_for_page(fault);
			if (!error)
				continue;
			if (error != -ENOMEM)
				break;
		}
		if (error == -ENOMEM && charge_make_room(space->parts.frames->groups, &space->group,
							 fault->charge.over_limit, &fruitless))
			continue;
		if (error != -EAGAIN)
			break;
		fault->must_lock = true;
	}
	fault_keep(fault, NULL);
	if (!error)
		count_fault(space, fault->major);
	else if (error == -ENOMEM)
		mem_cgroup_out_of_memory(&fault->charge);
	return error;
}

int do_page_fault(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch)
{
	int error;

	port_scope_begin(fault_scope);
	port_fault_enter();
	error = resolve(fault, space, address, touch);
	port_fault_exit();
	port_scope_end();
	return error;
}

int faultin_page(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch)
{
	uint64_t pte = 0;
	int error;

	fault->events = 0;
	for (;;) {
		unsigned events = fault->events;

		if (address < SPACE_END) {
			port_rcu_read_lock();
			pte = table_read(&space->table, address);
			port_rcu_read_unlock();
		}
		if (pte_allows(pte, touch))
			return 0;
		error = resolve(fault, space, address, touch);
		fault->events |= events;
		if (error)
			return error;
	}
}
