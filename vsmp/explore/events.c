/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/choose.h"
#include "vsmp/explore/quiet.h"
#include "vsmp/explore/undo.h"
#include "vsmp/line.h"
#include "vsmp/observe/observe.h"

#include <stdio.h>

bool exploring;
bool explore_alone, explore_quiet;

/* Nothing is mapped below, and no pointer of a program is above. */
#define LOWEST_ADDRESS  ((uintptr_t)1 << 16)
#define HIGHEST_ADDRESS ((uintptr_t)1 << 47)

/* More of them without a step are a loop without an end, of which no step would ever tell. */
#define PLAIN_ACCESSES_MAX 1000000u

/* False for what is not simulated: stacks, constants, the host's heap. */
static inline bool is_simulated(uintptr_t address)
{
	return address - ARENA_ADDRESS < ARENA_BYTES || address - globals_address < globals_bytes;
}

/* Between two runs nobody is watched: what opened the check may be instrumented itself. */
static inline bool somebody_runs(void)
{
	return current || explore_alone;
}

static void check_pointer(uintptr_t address)
{
	char text[64];

	if (!somebody_runs() || address - LOWEST_ADDRESS < HIGHEST_ADDRESS - LOWEST_ADDRESS)
		return;
	snprintf(text, sizeof(text), "no memory is at address 0x%llx", (unsigned long long)address);
	explore_fail(EXPLORE_WILD_ACCESS, NULL, text);
}

static void touch_quietly(const struct explore_access *access)
{
	if (!explore_known_alive(access->address, access->bytes)) {
		if (unlikely(!is_simulated(access->address))) {
			check_pointer(access->address);
			return;
		}
		lifetime_check(access);
	}
	if (access->event != EXPLORE_READ && access->event != EXPLORE_LOAD)
		undo_save(access->address, access->bytes);
}

void explore_plain(const struct explore_access *access)
{
	if (explore_quiet) {
		touch_quietly(access);
		return;
	}
	if (unlikely(!is_simulated(access->address))) {
		check_pointer(access->address);
		return;
	}
	if (unlikely(!somebody_runs()))
		return;
	if (unlikely(++choose_plain_accesses > PLAIN_ACCESSES_MAX && !explore_alone))
		explore_fail(EXPLORE_LIVELOCK, NULL, "loops over plain accesses, and takes no step");
	if (unlikely(record_level))
		record_access(access);
	lifetime_check(access);
	if (!explore_alone)
		race_plain(access);
	if (access->event == EXPLORE_WRITE)
		undo_save(access->address, access->bytes);
}

void explore_turn(const struct explore_access *access)
{
	if (unlikely(!is_simulated(access->address))) {
		check_pointer(access->address);
		return;
	}
	if (!current)
		return;
	explore_step();
	choose_note(access->event, access->address);
}

void explore_before_atomic(const struct explore_access *access)
{
	if (explore_quiet) {
		touch_quietly(access);
		return;
	}
	if (unlikely(!is_simulated(access->address) || !somebody_runs()))
		return;
	if (unlikely(record_level))
		record_access(access);
	lifetime_check(access);
	if (!explore_alone)
		race_atomic(access);
	if (access->event != EXPLORE_LOAD)
		undo_save(access->address, access->bytes);
}

void explore_after_atomic(const struct explore_access *access, uint64_t value)
{
	if (explore_quiet || unlikely(!is_simulated(access->address) || !somebody_runs()))
		return;
	if (unlikely(record_level == RECORD_EVENTS))
		record_made(access, value);
	if (explore_alone)
		return;
	if (access->event != EXPLORE_LOAD)
		choose_wrote();
	clocks_atomic(access);
}

void explore_call(const char *what, const void *object, const void *pc)
{
	if (current) {
		explore_step();
		choose_note(EXPLORE_CALL, (uintptr_t)object);
	}
	if (unlikely(record_level))
		record_call(what, object, pc);
}

void explore_touch(const void *memory, size_t bytes, enum explore_event event, const void *pc)
{
	struct explore_access access = {
	    .address = (uintptr_t)memory, .bytes = (uint32_t)bytes, .event = event, .pc = pc};

	explore_plain(&access);
}

void explore_no_reader(const char *does_what)
{
	char text[96];

	if (!machine->cpus[current_id].rcu_nesting)
		return;
	snprintf(text, sizeof(text), "%s in a read section", does_what);
	explore_fail(EXPLORE_RCU_READER, NULL, text);
}

void explore_fence(int order, const void *pc)
{
	struct explore_access fence = {.event = EXPLORE_FENCE, .order = order, .pc = pc};

	if (current)
		clocks_atomic(&fence);
}

/* Of a failure in holds or teardown only a report wants the stack, and it writes everything down. */
static inline bool has_stack(void)
{
	return current || (explore_alone && !explore_quiet);
}

void explore_enter(const void *function, const void *call_site, const void *pc)
{
	if (!has_stack())
		return;
	observe_enter(current_id, function, 0, false);
	if (unlikely(record_level == RECORD_EVENTS))
		record_enter(function, call_site, pc);
}

void explore_exit(void)
{
	if (!has_stack())
		return;
	observe_exit(current_id, 0, false);
	if (unlikely(record_level == RECORD_EVENTS))
		record_exit();
}
