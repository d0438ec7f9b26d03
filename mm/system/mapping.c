/* SPDX-License-Identifier: MIT */
/*
 * The entry points that change mappings, and fault in what a change asks for.
 */
#include <errno.h>

#include "mm/object/pfn.h"
#include "mm/system/internal.h"
#include "port/page.h"

int sf_map(struct sf_space *space, uint64_t address, uint64_t length, int protection, int flags,
	   uint64_t *mapped)
{
	struct sf_system *system = system_enter_call(space);
	uintptr_t place;
	bool fault_in;
	int error = space_map(space, address, length, protection, flags, &place, &fault_in);

	if (!error) {
		*mapped = place;
		if (fault_in)
			(void)populate(space, place, place + length, POPULATE_MAP);
	}
	system_exit_call(system);
	return error;
}

int sf_map_object(struct sf_space *space, uint64_t address, uint64_t length, int protection, int flags,
		  struct sf_object *object, uint64_t offset, uint64_t *mapped)
{
	struct sf_system *system = system_enter_call(space);
	uintptr_t place;
	bool fault_in;
	int error =
	    space_map_object(space, address, length, protection, flags, object, offset, &place, &fault_in);

	if (!error) {
		*mapped = place;
		if (fault_in)
			(void)populate(space, place, place + length, POPULATE_MAP);
	}
	system_exit_call(system);
	return error;
}

int sf_unmap(struct sf_space *space, uint64_t address, uint64_t length)
{
	struct sf_system *system = system_enter_call(space);
	int error = space_unmap(space, address, length);

	system_exit_call(system);
	return error;
}

int sf_protect(struct sf_space *space, uint64_t address, uint64_t length, int protection)
{
	struct sf_system *system = system_enter_call(space);
	struct populate_list list;
	int error = space_protect(space, address, length, protection, &list);

	for (unsigned i = 0; i < list.count; i++)
		(void)populate(space, list.range[i].start, list.range[i].end, POPULATE_LOCKED);
	system_exit_call(system);
	return error;
}

int sf_remap(struct sf_space *space, uint64_t address, uint64_t old_length, uint64_t new_length, int flags,
	     uint64_t new_address, uint64_t *mapped)
{
	struct sf_system *system = system_enter_call(space);
	struct populate_range range;
	unsigned fruitless = 0;
	uintptr_t place;
	int error;

	system_forget_refusal(system);
	for (;;) {
		error =
		    space_remap(space, address, old_length, new_length, flags, new_address, &place, &range);
		if (error != -ENOMEM || !system_make_room(system, space, &fruitless))
			break;
		/* A move to a fixed place that needs tables has made the old mapping as short as the new. */
		if ((flags & SF_REMAP_FIXED) && new_length < old_length)
			old_length = new_length;
	}
	if (!error) {
		*mapped = place;
		(void)populate(space, range.start, range.end, POPULATE_MAP);
	}
	system_exit_call(system);
	return error;
}

int sf_advise(struct sf_space *space, uint64_t address, uint64_t length, int advice)
{
	struct sf_system *system = system_enter_call(space);
	uintptr_t end;
	int error;

	if (advice == SF_ADVICE_POPULATE_READ || advice == SF_ADVICE_POPULATE_WRITE) {
		error = space_advised_range(address, length, &end);
		if (!error)
			error = populate_advised(space, address, end, advice == SF_ADVICE_POPULATE_WRITE);
	} else if (advice == SF_ADVICE_REMOVE) {
		error = space_advised_range(address, length, &end);
		if (!error)
			error = remove_advised(space, address, end);
	} else if (advice == SF_ADVICE_COLD || advice == SF_ADVICE_PAGEOUT) {
		error = space_advised_range(address, length, &end);
		if (!error)
			error = cool_advised(space, address, end, advice == SF_ADVICE_PAGEOUT);
	} else {
		error = space_advise(space, address, length, advice);
	}
	system_exit_call(system);
	return error;
}

int sf_lock(struct sf_space *space, uint64_t address, uint64_t length)
{
	struct sf_system *system = system_enter_call(space);
	struct populate_range range;
	int error = space_lock(space, address, length, &range);

	if (!error) {
		error = populate(space, range.start, range.end, POPULATE_LOCK);
		/* POSIX's numbers for a range that cannot be had, and for too little memory. */
		if (error)
			error = error == -ENOMEM ? -EAGAIN : -ENOMEM;
	}
	system_exit_call(system);
	return error;
}

int sf_unlock(struct sf_space *space, uint64_t address, uint64_t length)
{
	struct sf_system *system = system_enter_call(space);
	int error = space_unlock(space, address, length);

	system_exit_call(system);
	return error;
}

int sf_mincore(struct sf_space *space, uint64_t address, uint64_t length, unsigned char *resident)
{
	struct sf_system *system = system_enter_call(space);
	int error = space_mincore(space, address, length, resident);

	system_exit(system);
	return error;
}

/* All of it RAM that is exported, or none of it RAM. */
static bool pfns_valid(const struct frames *frames, uint64_t pfn, uint64_t count)
{
	if (count > FRAMES_MAX || pfn > FRAMES_MAX - count || pfn < frames->own)
		return false;
	return pfn >= frames->count || pfn + count <= frames->count;
}

int system_map_pfn(struct sf_space *space, uint64_t address, uint64_t length, uint64_t pfn, bool writable)
{
	struct sf_system *system;
	struct object *object;
	int error = -ENOMEM;

	if (!length || (address | length) % PORT_PAGE_SIZE || length > SPACE_END ||
	    address > SPACE_END - length || !pfns_valid(space->parts.frames, pfn, length >> PORT_PAGE_SHIFT))
		return -EINVAL;
	system = system_enter_call(space);
	object = pfn_object_create(system->memtypes, pfn, length >> PORT_PAGE_SHIFT);
	if (object) {
		error = space_map_pfn(space, address, length, object, writable);
		object_put(object);
	}
	system_exit_call(system);
	return error;
}

uint64_t system_pte(struct sf_space *space, uint64_t address)
{
	uint64_t pte = 0;

	if (address < TABLE_ADDRESS_END) {
		port_rcu_read_lock();
		pte = table_read(&space->table, address);
		port_rcu_read_unlock();
	}
	return pte;
}
