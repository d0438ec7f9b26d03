/* SPDX-License-Identifier: MIT */
/*
 * Software TLBs: a direct-mapped array of what table_touch() found, valid for one generation of the space.
 * The hot path is sf_tlb_lookup() in softfault.h; here is what happens when it does not find.
 *
 * A TLB that holds translations makes others wait (mm/table/translations.h). So no call that may wait is made
 * while it does: such a call begins with system_enter(), the fault of a look-up as well; or, of those that
 * make and unmake systems and slots, with system_tlbs_idle().
 */
#include <errno.h>

#include "mm/system/access.h"
#include "mm/system/internal.h"
#include "port/memory.h"
#include "port/panic.h"
#include "sync/rcu.h"

#define NO_PAGE UINT64_MAX

struct tlb {
	struct sf_tlb front; /* what the caller sees; its caught_up is TLB_IDLE while idle */
	struct sf_space *space;
	uint64_t filled;         /* the generation that the entries are of */
	unsigned cpu;            /* whose it is while it is not idle */
	struct tlb *next_active; /* in struct tlb_cpu */
	struct tlb_holder holder;
	struct port_rcu_head rcu;
};

static struct tlb *tlb_of(struct sf_tlb *front)
{
	return container_of(front, struct tlb, front);
}

struct tlb_cpu tlb_cpu[PORT_CPUS_MAX];

static void empty(struct tlb *tlb)
{
	for (unsigned i = 0; i < SF_TLB_ENTRIES; i++)
		tlb->front.entry[i].page[0] = tlb->front.entry[i].page[1] = tlb->front.entry[i].page[2] =
		    NO_PAGE;
}

static void wake_up(struct tlb *tlb)
{
	struct tlb_cpu *cpu = &tlb_cpu[port_cpu()];
	struct translations *translations = &tlb->space->table.translations;
	uint64_t generation = tlb_holder_catch_up(translations, &tlb->holder);

	if (tlb->front.caught_up == TLB_IDLE) {
		tlb->cpu = port_cpu();
		tlb->next_active = cpu->active;
		cpu->active = tlb;
	}
	invariant(tlb->cpu == port_cpu());
	if (tlb->filled != generation)
		empty(tlb);
	tlb->filled = generation;
	tlb->front.caught_up = generation;
}

void system_tlbs_idle(void)
{
	struct tlb_cpu *cpu = &tlb_cpu[port_cpu()];

	while (cpu->active) {
		struct tlb *tlb = cpu->active;

		cpu->active = tlb->next_active;
		tlb->front.caught_up = TLB_IDLE;
		tlb_holder_idle(&tlb->holder);
	}
}

static void fill(struct tlb *tlb, uint64_t address, uint64_t pte, char *contents)
{
	struct sf_tlb_entry *entry = &tlb->front.entry[address / SF_PAGE_SIZE % SF_TLB_ENTRIES];
	uint64_t page = address - address % SF_PAGE_SIZE;

	entry->contents = contents - address % SF_PAGE_SIZE;
	entry->page[SF_READ >> 1] = page;
	/* A write to what is clean must be seen: the look-up makes the entry dirty. */
	entry->page[SF_WRITE >> 1] = (pte & PTE_WRITE) && (pte & PTE_DIRTY) ? page : NO_PAGE;
	entry->page[SF_EXECUTE >> 1] = pte & PTE_NX ? NO_PAGE : page;
}

/* One look at the page table, by a TLB that has caught up. */
static bool look(struct tlb *tlb, uint64_t address, enum touch touch, uint64_t *pte)
{
	bool hit;

	port_rcu_read_lock();
	hit = table_touch(&tlb->space->table, address, touch, pte);
	port_rcu_read_unlock();
	return hit;
}

void *sf_tlb_miss(struct sf_tlb *front, uint64_t address, enum sf_access access, struct sf_signal *signal)
{
	struct tlb *tlb = tlb_of(front);
	struct sf_system *system = tlb->space->parts.system;
	struct fault fault;
	uint64_t pte;
	int error;

	for (;;) {
		if (address < TABLE_ADDRESS_END) {
			wake_up(tlb);
			if (look(tlb, address, (enum touch)access, &pte))
				break;
		}
		system_enter(system);
		error = access_fault(&fault, tlb->space, address, (enum touch)access);
		system_exit(system);
		if (error) {
			access_signal(signal, &fault, error, address);
			return NULL;
		}
	}
	if (!access_contents(tlb->space, pte, address)) {
		access_signal_no_contents(signal, address);
		return NULL;
	}
	if (translations_may_keep(&tlb->space->table.translations))
		fill(tlb, address, pte, access_contents(tlb->space, pte, address));
	return access_contents(tlb->space, pte, address);
}

int sf_tlb_create(struct sf_space *space, struct sf_tlb **result)
{
	struct sf_system *system = space->parts.system;
	struct tlb *tlb;

	system_enter(system);
	port_rcu_poll();
	tlb = port_memory_alloc(sizeof(*tlb), PORT_NODE_FIRST_TOUCH, "struct tlb");
	if (tlb) {
		tlb->space = space;
		tlb->front.generation = (const uint64_t *)&space->table.translations.generation;
		down_write(&space->lock);
		tlb_holder_add(&space->table.translations, &tlb->holder);
		up_write(&space->lock);
		port_rcu_synchronize();
		*result = &tlb->front;
	}
	system_exit(system);
	return tlb ? 0 : -ENOMEM;
}

void sf_tlb_idle(struct sf_tlb *front)
{
	struct tlb *tlb = tlb_of(front);
	struct tlb **link;

	if (front->caught_up == TLB_IDLE)
		return;
	invariant(tlb->cpu == port_cpu());
	link = &tlb_cpu[tlb->cpu].active;
	while (*link != tlb)
		link = &(*link)->next_active;
	*link = tlb->next_active;
	front->caught_up = TLB_IDLE;
	tlb_holder_idle(&tlb->holder);
}

static void free_after_grace_period(struct port_rcu_head *head)
{
	struct tlb *tlb = container_of(head, struct tlb, rcu);

	port_memory_free(tlb, sizeof(*tlb));
}

void sf_tlb_destroy(struct sf_tlb *front)
{
	struct tlb *tlb;

	if (!front)
		return;
	tlb = tlb_of(front);
	sf_tlb_idle(front);
	tlb_holder_remove(&tlb->space->table.translations, &tlb->holder);
	port_rcu_call(&tlb->rcu, free_after_grace_period);
}
