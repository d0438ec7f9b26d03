/* SPDX-License-Identifier: MIT */
/*
 * The entry point for write-back in the background.
 */
#include "mm/object/write_back.h"

#include "mm/system/internal.h"
#include "port/page.h"

uint64_t sf_write_back(struct sf_system *system, uint64_t bytes)
{
	uint64_t pages;

	system_enter(system);
	port_rcu_poll();
	pages = objects_write_back(system->parts.objects, bytes >> PORT_PAGE_SHIFT);
	system_exit_call(system);
	return pages << PORT_PAGE_SHIFT;
}
