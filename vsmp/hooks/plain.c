/* SPDX-License-Identifier: MIT */
/*
 * The compiler's hooks for plain accesses and for function entry and exit. The names are those that gcc and
 * clang call under -fsanitize=thread and -finstrument-functions; the program is linked without the
 * sanitizer's own library.
 */
#include "vsmp/access.h"
#include "vsmp/hooks/names.h"

#define PLAIN(bytes)                                                   \
	void __tsan_read##bytes(void *address)                         \
	{                                                              \
		access_plain((uintptr_t)address, bytes, ACCESS_READ);  \
	}                                                              \
	void __tsan_write##bytes(void *address)                        \
	{                                                              \
		access_plain((uintptr_t)address, bytes, ACCESS_WRITE); \
	}                                                              \
	void __tsan_volatile_read##bytes(void *address)                \
	{                                                              \
		access_plain((uintptr_t)address, bytes, ACCESS_READ);  \
	}                                                              \
	void __tsan_volatile_write##bytes(void *address)               \
	{                                                              \
		access_plain((uintptr_t)address, bytes, ACCESS_WRITE); \
	}                                                              \
	void __tsan_unaligned_read##bytes(void *address)               \
	{                                                              \
		access_range((uintptr_t)address, bytes, ACCESS_READ);  \
	}                                                              \
	void __tsan_unaligned_write##bytes(void *address)              \
	{                                                              \
		access_range((uintptr_t)address, bytes, ACCESS_WRITE); \
	}

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, unsigned long bytes)
{
	access_range((uintptr_t)address, bytes, ACCESS_READ);
}

void __tsan_write_range(void *address, unsigned long bytes)
{
	access_range((uintptr_t)address, bytes, ACCESS_WRITE);
}

void __tsan_init(void)
{
}

/* Function entry comes through -finstrument-functions, which sees inlined functions too. */
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	struct cpu *cpu = current;

	(void)call_site;
	if (!cpu)
		return;
	what_if_settle(cpu);
	observe_enter(cpu->id, function, cpu->clock, cpu->measuring);
	if (unlikely(machine->has_speedups))
		what_if_enter(cpu, function);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	struct cpu *cpu = current;

	(void)call_site;
	if (!cpu)
		return;
	what_if_settle(cpu);
	observe_exit(cpu->id, cpu->clock, cpu->measuring);
	if (unlikely(machine->has_speedups))
		what_if_exit(cpu, function);
}
