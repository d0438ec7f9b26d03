/* SPDX-License-Identifier: MIT */
/*
 * The race check, by litmus tests: small programs of two or three CPUs. Each is right as it stands, and no
 * schedule may report it; with any one of its orders weakened a data race must be found.
 */
#include "tests/vsmp/explore_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/memory.h"
#include "port/mmu.h"
#include "port/rcu.h"
#include "port/page.h"
#include "port/spin.h"
#include "port/trace.h"
#include "port/wait.h"
#include "sync/rcu.h"
#include "sync/seqcount.h"
#include "sync/ticket.h"
#include "vsmp/vsmp.h"

/* Which order of the program is weakened; 0: none. */
static unsigned weak;

struct object {
	struct port_rcu_head rcu;
	uint64_t value;
};

/* What the programs work on. Each schedule finds it zero. */
static struct {
	_Alignas(64) _Atomic uint32_t flag;
	_Alignas(64) _Atomic uint32_t other;
	_Alignas(64) uint64_t data;
	_Alignas(64) uint64_t copy[8];
	_Alignas(64) struct ticket ticket;
	_Alignas(64) struct seqcount sequence;
	_Atomic uint64_t sequenced[2];
	_Alignas(64) struct object objects[2];
	struct object *_Atomic current;
	_Alignas(64) struct {
		unsigned a : 4, b : 4;
		unsigned : 0;
		unsigned c : 4;
	} bits;
	unsigned char bytes[8];
} s;

/* The order of each access is a constant, or the compiler would make no access of it that can be seen. */
static void store(_Atomic uint32_t *word, uint32_t value, unsigned number)
{
	if (weak == number)
		atomic_store_explicit(word, value, memory_order_relaxed);
	else
		atomic_store_explicit(word, value, memory_order_release);
}

static uint32_t load(_Atomic uint32_t *word, unsigned number)
{
	if (weak == number)
		return atomic_load_explicit(word, memory_order_relaxed);
	return atomic_load_explicit(word, memory_order_acquire);
}

static void use(uint64_t value)
{
	s.copy[port_cpu()] = value;
}

/* --- Stores and loads ----------------------------------------------------------------------------------- */

static void pass_store(void)
{
	s.data = 1;
	store(&s.flag, 1, 1);
}

static void pass_load(void)
{
	if (load(&s.flag, 2))
		use(s.data);
}

/* A read-modify-write between the two, of any order, hands on what it found; a store does not. */
static void sequence_between(void)
{
	if (atomic_load_explicit(&s.flag, memory_order_relaxed) != 1)
		return;
	if (weak == 3)
		atomic_store_explicit(&s.flag, 2, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&s.flag, 1, memory_order_relaxed);
}

static void sequence_load(void)
{
	if (load(&s.flag, 2) == 2)
		use(s.data);
}

/* Nor does one of the same CPU. */
static void twice_store(void)
{
	s.data = 1;
	atomic_store_explicit(&s.flag, 1, memory_order_release);
	store(&s.flag, 2, 1);
}

/* --- Fences --------------------------------------------------------------------------------------------- */

static void fence_store(void)
{
	if (weak != 3)
		s.data = 1;
	if (weak != 1)
		atomic_thread_fence(memory_order_release);
	if (weak == 3)
		s.data = 1;
	atomic_store_explicit(&s.flag, 1, memory_order_relaxed);
}

static void fence_load(void)
{
	if (!atomic_load_explicit(&s.flag, memory_order_relaxed))
		return;
	if (weak == 4)
		use(s.data);
	if (weak != 2)
		atomic_thread_fence(memory_order_acquire);
	use(s.data);
}

/* --- Waiting -------------------------------------------------------------------------------------------- */

static void spin_load(void)
{
	port_spin_until_u32(&s.flag, UINT32_MAX, 1);
	use(s.data);
}

/* The word never changes, so the sleeper goes on only when woken. */
static void wake(void)
{
	s.data = 1;
	while (!atomic_load_explicit(&s.other, memory_order_relaxed)) {
		port_wake(&s.flag, 1);
		if (weak == 1)
			s.data = 2;
		port_cpu_relax();
	}
}

static void sleep_once(void)
{
	port_wait(&s.flag, 0);
	use(s.data);
	atomic_store_explicit(&s.other, 1, memory_order_relaxed);
}

static void barrier_store(void)
{
	s.data = 1;
	vsmp_barrier();
}

static void barrier_load(void)
{
	if (weak == 1)
		use(s.data);
	vsmp_barrier();
	use(s.data);
}

/* --- Locks ---------------------------------------------------------------------------------------------- */

static void own_lock(void)
{
	for (int i = 0; i < 2; i++) {
		while (weak == 1 ? atomic_exchange_explicit(&s.flag, 1, memory_order_relaxed)
				 : atomic_exchange_explicit(&s.flag, 1, memory_order_acquire))
			port_cpu_relax();
		s.data++;
		store(&s.flag, 0, 2);
	}
}

static void ticket_user(void)
{
	for (int i = 0; i < 2; i++) {
		ticket_lock(&s.ticket);
		s.data++;
		if (weak == 1)
			atomic_store_explicit(
			    &s.ticket.owner,
			    (uint16_t)(atomic_load_explicit(&s.ticket.owner, memory_order_relaxed) + 1),
			    memory_order_relaxed);
		else
			ticket_unlock(&s.ticket);
	}
}

static void sequence_writer(void)
{
	seqcount_write_begin(&s.sequence);
	atomic_store_explicit(&s.sequenced[0], 1, memory_order_relaxed);
	if (weak == 1)
		s.data = 1;
	seqcount_write_end(&s.sequence);
}

static void sequence_reader(void)
{
	uint32_t sequence;

	do {
		sequence = seqcount_read_begin(&s.sequence);
		use(atomic_load_explicit(&s.sequenced[0], memory_order_relaxed));
		if (weak == 1)
			use(s.data);
	} while (seqcount_read_retry(&s.sequence, sequence));
}

/* --- Read-copy-update ----------------------------------------------------------------------------------- */

static int rcu_setup(struct message *why)
{
	(void)why;
	atomic_store_explicit(&s.current, &s.objects[0], memory_order_relaxed);
	return 0;
}

static void rcu_publish(void)
{
	s.objects[1].value = 2;
	if (weak == 1)
		atomic_store_explicit(&s.current, &s.objects[1], memory_order_relaxed);
	else
		rcu_assign_pointer(&s.current, &s.objects[1]);
	if (weak != 2)
		port_rcu_synchronize();
	s.objects[0].value = 3;
}

static void rcu_read(void)
{
	struct object *object;

	port_rcu_read_lock();
	object = rcu_dereference(&s.current);
	/* Others may run between the two, and after them. */
	atomic_load_explicit(&s.other, memory_order_relaxed);
	use(object->value);
	atomic_load_explicit(&s.other, memory_order_relaxed);
	port_rcu_read_unlock();
	if (weak == 3)
		use(object->value);
}

static void retire_callback(struct port_rcu_head *head)
{
	container_of(head, struct object, rcu)->value = 3;
	s.data = 1;
}

static void rcu_retire(void)
{
	rcu_assign_pointer(&s.current, &s.objects[1]);
	if (weak == 1)
		s.objects[0].value = 3;
	port_rcu_call(&s.objects[0].rcu, retire_callback);
	port_rcu_barrier();
	use(s.data);
}

static void retire_and_poll(void)
{
	rcu_assign_pointer(&s.current, &s.objects[1]);
	if (weak == 1)
		s.objects[0].value = 3;
	port_rcu_call(&s.objects[0].rcu, retire_callback);
	atomic_store_explicit(&s.flag, 1, memory_order_relaxed);
	while (port_rcu_pending())
		port_rcu_poll();
}

static void wait_for_callbacks(void)
{
	if (!atomic_load_explicit(&s.flag, memory_order_relaxed))
		return;
	if (weak != 1)
		port_rcu_barrier();
	use(s.data);
}

/* --- TLB flushes ---------------------------------------------------------------------------------------- */

static int flush_setup(struct message *why)
{
	(void)why;
	atomic_store_explicit(&s.flag, 1, memory_order_relaxed);
	return 0;
}

/* The flag stands for an entry that maps the data. */
static void flush_access(void)
{
	port_mmu_access_begin();
	if (atomic_load_explicit(&s.flag, memory_order_relaxed))
		s.data = 1;
	port_mmu_access_end();
}

static void flush_unmap(void)
{
	uint64_t cpus = weak == 2 ? 2 : 1;

	atomic_store_explicit(&s.flag, 0, memory_order_relaxed);
	if (weak != 1)
		port_mmu_flush(1, 0, PORT_PAGE_SIZE, &cpus, 1);
	use(s.data);
	s.data = 2;
}

/* --- Bytes ---------------------------------------------------------------------------------------------- */

static void first_bytes(void)
{
	memset(s.bytes, 1, weak == 1 ? 4 : 3);
}

static void last_bytes(void)
{
	s.bytes[3] = 2;
	memset(s.bytes + 4, 2, 4);
}

static void first_bits(void)
{
	s.bits.a = 1;
}

static void last_bits(void)
{
	if (weak == 1)
		s.bits.b = 1;
	else
		s.bits.c = 1;
}

static void atomic_side(void)
{
	atomic_store_explicit(&s.flag, 1, memory_order_relaxed);
	use(atomic_load_explicit(&s.other, memory_order_relaxed));
}

static void plain_side(void)
{
	if (weak == 1)
		use(*(uint32_t *)&s.flag);
	else
		use(atomic_load_explicit(&s.flag, memory_order_relaxed));
	if (weak == 2)
		*(uint32_t *)&s.other = 1;
	else
		atomic_store_explicit(&s.other, 1, memory_order_relaxed);
}

/* Memory is born as zeroes, which are written like anything else. */
static void give_memory(void)
{
	struct object *object = port_memory_alloc(sizeof(*object), PORT_NODE_FIRST_TOUCH, "struct object");

	if (weak == 1)
		atomic_store_explicit(&s.current, object, memory_order_relaxed);
	else
		atomic_store_explicit(&s.current, object, memory_order_release);
}

static void take_memory(void)
{
	struct object *object = atomic_load_explicit(&s.current, memory_order_acquire);

	if (object)
		use(object->value);
}

static void free_memory(void)
{
	port_memory_free(atomic_load_explicit(&s.current, memory_order_relaxed), sizeof(struct object));
}

/* --- The table ------------------------------------------------------------------------------------------ */

static struct litmus {
	struct check check;
	unsigned orders; /* how many can be weakened */
} all[] = {
    {{.name = "message", .body = {pass_store, pass_load}}, 2},
    {{.name = "release sequence", .body = {pass_store, sequence_between, sequence_load}}, 3},
    {{.name = "same CPU's store", .body = {twice_store, sequence_load}}, 2},
    {{.name = "fences", .body = {fence_store, fence_load}}, 4},
    {{.name = "spin until", .body = {pass_store, spin_load}}, 1},
    {{.name = "wake", .body = {wake, sleep_once}}, 1},
    {{.name = "barrier", .body = {barrier_store, barrier_load}}, 1},
    {{.name = "lock", .body = {own_lock, own_lock}}, 2},
    {{.name = "ticket lock", .body = {ticket_user, ticket_user, ticket_user}}, 1},
    {{.name = "sequence count", .body = {sequence_writer, sequence_reader}}, 1},
    {{.name = "RCU publish", .setup = rcu_setup, .body = {rcu_publish, rcu_read}}, 3},
    {{.name = "RCU retire", .setup = rcu_setup, .body = {rcu_retire, rcu_read}}, 1},
    {{.name = "RCU poll", .setup = rcu_setup, .body = {retire_and_poll, rcu_read}}, 1},
    {{.name = "RCU barrier", .setup = rcu_setup, .body = {retire_and_poll, wait_for_callbacks}}, 1},
    {{.name = "flush", .setup = flush_setup, .body = {flush_access, flush_unmap}}, 2},
    {{.name = "bytes", .body = {first_bytes, last_bytes}}, 1},
    {{.name = "bit-fields", .body = {first_bits, last_bits}}, 1},
    {{.name = "plain and atomic", .body = {atomic_side, plain_side}}, 2},
    {{.name = "memory", .body = {give_memory, take_memory}, .teardown = free_memory}, 1},
};

static void test_litmus(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (weak = 0; weak <= all[i].orders; weak++) {
			print_message("%s, order %u weakened\n", all[i].check.name, weak);
			fixture_explore(&all[i].check, 300, weak ? EXPLORE_DATA_RACE : EXPLORE_NOTHING);
		}
}

/* --- Readers -------------------------------------------------------------------------------------------- */

static void read_outside(void)
{
	use(rcu_dereference(&s.current)->value);
}

static void read_under_lock(void)
{
	if (weak != 1)
		port_lock_acquired(&s.ticket, "lock", 0);
	use(rcu_dereference_or_locked(&s.current)->value);
	if (weak != 1)
		port_lock_released(&s.ticket, "lock", 0);
}

static void test_readers(void **state)
{
	struct check outside = {.name = "no section", .setup = rcu_setup, .body = {rcu_read, read_outside}};
	struct check locked = {.name = "a lock", .setup = rcu_setup, .body = {rcu_read, read_under_lock}};

	(void)state;
	weak = 0;
	fixture_explore(&outside, 10, EXPLORE_RCU_READER);
	fixture_explore(&locked, 10, EXPLORE_NOTHING);
	weak = 1;
	fixture_explore(&locked, 10, EXPLORE_RCU_READER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_litmus),
	    cmocka_unit_test(test_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
