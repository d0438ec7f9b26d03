/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/shadow.h"

#include <sys/mman.h>

void *shadow_reserve(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void shadow_release(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}
