/* SPDX-License-Identifier: MIT */
/*
 * The compiler's hooks for plain accesses and for function entry and exit. The names are those that gcc and
 * clang call under -fsanitize=thread and -finstrument-functions; the program is linked without the
 * sanitizer's own library.
 */
#include "vsmp/access.h"
#include "vsmp/explore/quiet.h"
#include "vsmp/hooks/names.h"

/* Where in the instrumented code a hook was called. */
#define PC __builtin_return_address(0)

/*
 * What a machine that explores does: functions of their own that hooks end with, so that the compiler makes
 * the call a jump. The other machine's way stays without a frame, and PC here is that of the hook.
 */
#define EXPLORE_PLAIN(bytes)                                                      \
	static __attribute__((noinline)) void explore_read##bytes(void *address)  \
	{                                                                         \
		if (!explore_known_alive((uintptr_t)address, bytes))              \
			explore_touch(address, bytes, EXPLORE_READ, PC);          \
	}                                                                         \
	static __attribute__((noinline)) void explore_write##bytes(void *address) \
	{                                                                         \
		explore_touch(address, bytes, EXPLORE_WRITE, PC);                 \
	}

#define HOOK(name, bytes, kind, explored)                                   \
	void __tsan_##name##bytes(void *address)                            \
	{                                                                   \
		struct cpu *cpu = accessor;                                 \
                                                                            \
		if (likely(cpu))                                            \
			access_plain(cpu, (uintptr_t)address, bytes, kind); \
		else if (exploring)                                         \
			explored##bytes(address);                           \
	}

#define PLAIN(bytes)                                                       \
	EXPLORE_PLAIN(bytes)                                               \
	HOOK(read, bytes, ACCESS_READ, explore_read)                       \
	HOOK(write, bytes, ACCESS_WRITE, explore_write)                    \
	HOOK(volatile_read, bytes, ACCESS_READ, explore_read)              \
	HOOK(volatile_write, bytes, ACCESS_WRITE, explore_write)           \
	void __tsan_unaligned_read##bytes(void *address)                   \
	{                                                                  \
		access_range((uintptr_t)address, bytes, ACCESS_READ, PC);  \
	}                                                                  \
	void __tsan_unaligned_write##bytes(void *address)                  \
	{                                                                  \
		access_range((uintptr_t)address, bytes, ACCESS_WRITE, PC); \
	}

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, unsigned long bytes)
{
	access_range((uintptr_t)address, bytes, ACCESS_READ, PC);
}

void __tsan_write_range(void *address, unsigned long bytes)
{
	access_range((uintptr_t)address, bytes, ACCESS_WRITE, PC);
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

/* Functions of their own, for the same reason as those that explore. */
static __attribute__((noinline)) void enter_with_speedups(struct cpu *cpu, const void *function)
{
	what_if_settle(cpu);
	observe_enter(cpu->id, function, cpu->clock, cpu->measuring);
	what_if_enter(cpu, function);
}

static __attribute__((noinline)) void exit_with_speedups(struct cpu *cpu, const void *function)
{
	what_if_settle(cpu);
	observe_exit(cpu->id, cpu->clock, cpu->measuring);
	what_if_exit(cpu, function);
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	struct cpu *cpu = accessor;

	if (unlikely(!cpu)) {
		if (exploring && !explore_quiet)
			explore_enter(function, call_site, PC);
	} else if (unlikely(cpu->has_speedups)) {
		enter_with_speedups(cpu, function);
	} else {
		observe_enter(cpu->id, function, cpu->clock, cpu->measuring);
	}
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	struct cpu *cpu = accessor;

	(void)call_site;
	if (unlikely(!cpu)) {
		if (exploring && !explore_quiet)
			explore_exit();
	} else if (unlikely(cpu->has_speedups)) {
		exit_with_speedups(cpu, function);
	} else {
		observe_exit(cpu->id, cpu->clock, cpu->measuring);
	}
}
