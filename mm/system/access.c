/* SPDX-License-Identifier: MIT */
#include "mm/system/access.h"

#include <errno.h>

#include "mm/system/internal.h"
#include "port/mmu.h"
#include "sync/rcu.h"

int access_fault(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch)
{
	int error = do_page_fault(fault, space, address, touch);

	if (!error)
		system_count_fault(space->parts.system, fault->events);
	return error;
}

int access_begin(struct fault *fault, struct sf_space *space, uintptr_t address, enum touch touch,
		 uint64_t *pte)
{
	int error;

	translations_note(&space->table.translations);
	for (;;) {
		if (address < TABLE_ADDRESS_END) {
			bool hit;

			port_rcu_read_lock();
			port_mmu_access_begin();
			hit = table_touch(&space->table, address, touch, pte);
			if (!hit)
				port_mmu_access_end();
			port_rcu_read_unlock();
			if (hit)
				return 0;
		}
		error = access_fault(fault, space, address, touch);
		if (error)
			return error;
	}
}

void *access_contents(const struct sf_space *space, uint64_t pte, uintptr_t address)
{
	const struct frames *frames = space->parts.frames;
	uint64_t pfn = pte_pfn(pte);

	if (pfn >= frames->contents_count)
		return NULL;
	return (char *)page_address(frames, pfn_to_page(frames, pfn)) + address % PORT_PAGE_SIZE;
}

void access_signal(struct sf_signal *signal, const struct fault *fault, int error, uint64_t address)
{
	if (!signal)
		return;
	*signal = (struct sf_signal){.address = address};
	if (error == -EFAULT) {
		signal->signal = fault->signal;
		signal->code = fault->code;
	} else if (error == -ENOMEM) {
		signal->group = fault->charge.over_limit;
	}
}

void access_signal_no_contents(struct sf_signal *signal, uint64_t address)
{
	if (signal)
		*signal =
		    (struct sf_signal){.signal = FAULT_SIGBUS, .code = FAULT_BUS_ADRERR, .address = address};
}

/* What the program wanted of the byte. Others may do the same to it at once. */
static void use_byte(struct sf_space *space, uint64_t pte, uintptr_t address, enum touch touch)
{
	_Atomic unsigned char *byte = access_contents(space, pte, address);

	if (!byte || space->parts.frames->structure_only)
		return;
	if (touch == TOUCH_WRITE)
		atomic_fetch_or_explicit(byte, 0, memory_order_relaxed);
	else
		(void)atomic_load_explicit(byte, memory_order_relaxed);
}

int sf_touch(struct sf_space *space, uint64_t address, enum sf_access access, struct sf_signal *signal)
{
	const enum touch touch = (enum touch)access;
	struct sf_system *system = space->parts.system;
	struct fault fault;
	uint64_t pte;
	int error;

	if (unlikely(!access_valid(access))) {
		access_signal(signal, NULL, -EINVAL, address);
		return -EINVAL;
	}
	system_enter(system);
	error = access_begin(&fault, space, address, touch, &pte);
	if (!error) {
		use_byte(space, pte, address, touch);
		port_mmu_access_end();
	} else {
		access_signal(signal, &fault, error, address);
	}
	system_exit(system);
	return error;
}
