/* SPDX-License-Identifier: MIT */
/*
 * The race check against an oracle: random programs of plain and atomic accesses, fences and locks. Each
 * schedule writes down what it did, unseen; the oracle works out what happens before what from that alone, by
 * the rules as they stand in C11 and a transitive closure, and must find a race exactly where exploration
 * does.
 */
#include "tests/vsmp/explore_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "port/cpu.h"

#define CPUS    3u
#define STEPS   6u
#define WORDS   3u
#define DATA    4u
#define LOG_MAX 200u

/* The first two also under the lock. READ_WORD is a plain read of a word. */
enum action { READ, WRITE, LOAD, STORE, MODIFY, FENCE, READ_WORD };

/* The lock is the word after the others. Free: 0, or a value that has this bit. */
#define LOCK_WORD WORDS
#define LOCK_FREE (UINT32_C(1) << 31)

struct step {
	enum action action;
	unsigned which;
	int order;
	unsigned from, bytes; /* of the data */
	bool locked;
};

struct event {
	struct step step;
	unsigned cpu;
	uint32_t read, written; /* of a word; each value is written once */
};

static struct step program[CPUS][STEPS];
static unsigned program_steps[CPUS];

/* What the program works on. The lock is a word, too. */
static _Alignas(64) _Atomic uint32_t words[WORDS + 1];
static _Alignas(64) unsigned char data[DATA];
static volatile unsigned char sink[CPUS][CACHE_LINE_BYTES];

#define UNSEEN __attribute__((noinline, no_sanitize("thread"), no_instrument_function))

static struct event events[LOG_MAX + 1];
static unsigned event_count;

/* The atomic access that each CPU is about to make, which may be the one that ends the schedule. */
static struct event attempts[CPUS];
static bool attempting[CPUS];

UNSEEN static void attempt(const struct step *step, uint32_t written)
{
	unsigned cpu = port_cpu();

	attempts[cpu] = (struct event){.step = *step, .cpu = cpu, .written = written};
	attempting[cpu] = true;
}

UNSEEN static void note(const struct step *step, uint32_t read, uint32_t written)
{
	struct event *event = &events[event_count];

	event_count += event_count < LOG_MAX;
	attempting[port_cpu()] = false;
	event->step = *step;
	event->cpu = port_cpu();
	event->read = read;
	event->written = written;
}

/* A value that no other store writes: 0 is what the words hold at first. */
UNSEEN static uint32_t fresh(void)
{
	return event_count + 1;
}

UNSEEN static struct step step_of(unsigned number)
{
	return program[port_cpu()][number];
}

UNSEEN static unsigned steps_of(void)
{
	return program_steps[port_cpu()];
}

/* Orders must be constants. */
#define EACH_ORDER(call)                           \
	switch (order) {                           \
	case memory_order_acquire:                 \
		return call(memory_order_acquire); \
	case memory_order_release:                 \
		return call(memory_order_release); \
	case memory_order_acq_rel:                 \
		return call(memory_order_acq_rel); \
	case memory_order_seq_cst:                 \
		return call(memory_order_seq_cst); \
	default:                                   \
		return call(memory_order_relaxed); \
	}

static uint32_t modify(_Atomic uint32_t *word, uint32_t value, int order)
{
#define EXCHANGE(order) atomic_exchange_explicit(word, value, order)
	EACH_ORDER(EXCHANGE)
}

static uint32_t load(_Atomic uint32_t *word, int order)
{
	if (order == memory_order_acquire)
		return atomic_load_explicit(word, memory_order_acquire);
	if (order == memory_order_seq_cst)
		return atomic_load_explicit(word, memory_order_seq_cst);
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint32_t *word, uint32_t value, int order)
{
	if (order == memory_order_release)
		atomic_store_explicit(word, value, memory_order_release);
	else if (order == memory_order_seq_cst)
		atomic_store_explicit(word, value, memory_order_seq_cst);
	else
		atomic_store_explicit(word, value, memory_order_relaxed);
}

static void fence(int order)
{
	if (order == memory_order_acquire)
		atomic_thread_fence(memory_order_acquire);
	else if (order == memory_order_release)
		atomic_thread_fence(memory_order_release);
	else
		atomic_thread_fence(memory_order_seq_cst);
}

/* A value for a store is drawn before the access, others may run in between: so it is made unique by the CPU.
 */
static void take(const struct step *step)
{
	uint32_t value = fresh() * CPUS + port_cpu() + 1, old;
	_Atomic uint32_t *word = &words[step->which];

	switch (step->action) {
	case READ:
		note(step, 0, 0);
		for (unsigned i = 0; i < step->bytes; i++)
			sink[port_cpu()][i] = data[step->from + i];
		break;
	case WRITE:
		note(step, 0, 0);
		for (unsigned i = 0; i < step->bytes; i++)
			data[step->from + i] = (unsigned char)i;
		break;
	case READ_WORD:
		note(step, 0, 0);
		sink[port_cpu()][0] = (unsigned char)*(uint32_t *)word;
		break;
	case LOAD:
		attempt(step, 0);
		old = load(word, step->order);
		note(step, old, 0);
		break;
	case STORE:
		attempt(step, value);
		store(word, value, step->order);
		note(step, 0, value);
		break;
	case MODIFY:
		attempt(step, value);
		old = modify(word, value, step->order);
		note(step, old, value);
		break;
	case FENCE:
		fence(step->order);
		note(step, 0, 0);
		break;
	}
}

static void lock(void)
{
	static const struct step draw = {.action = MODIFY, .which = LOCK_WORD, .order = memory_order_acquire};
	uint32_t old;

	for (;;) {
		uint32_t value = fresh() * CPUS + port_cpu() + 1;

		old = atomic_exchange_explicit(&words[LOCK_WORD], value, memory_order_acquire);
		note(&draw, old, value);
		if (!old || (old & LOCK_FREE))
			return;
		port_cpu_relax();
	}
}

static void unlock(void)
{
	static const struct step give = {.action = STORE, .which = LOCK_WORD, .order = memory_order_release};
	uint32_t value = (fresh() * CPUS + port_cpu() + 1) | LOCK_FREE;

	atomic_store_explicit(&words[LOCK_WORD], value, memory_order_release);
	note(&give, 0, value);
}

static void body(void)
{
	for (unsigned i = 0; i < steps_of(); i++) {
		struct step step = step_of(i);

		if (step.locked)
			lock();
		take(&step);
		if (step.locked)
			unlock();
	}
}

/* --- The oracle ----------------------------------------------------------------------------------------- */

static bool before[LOG_MAX][LOG_MAX];

static bool acquires(int order)
{
	return order == memory_order_acquire || order == memory_order_acq_rel ||
	       order == memory_order_seq_cst;
}

static bool releases(int order)
{
	return order == memory_order_release || order == memory_order_acq_rel ||
	       order == memory_order_seq_cst;
}

static bool writes_word(const struct event *event)
{
	return event->step.action == STORE || event->step.action == MODIFY;
}

static bool reads_word(const struct event *event)
{
	return event->step.action == LOAD || event->step.action == MODIFY;
}

/* The store of the value that the event read; NULL: what was there at first. */
static const struct event *source_of(const struct event *event)
{
	for (unsigned i = 0; i < event_count; i++)
		if (writes_word(&events[i]) && events[i].step.which == event->step.which &&
		    events[i].written == event->read)
			return &events[i];
	return NULL;
}

/* `from` happens before `to`, and so do the fences that make the one release and the other acquire. */
static void synchronize(const struct event *from, const struct event *to)
{
	for (unsigned a = 0; a < event_count; a++)
		for (unsigned b = 0; b < event_count; b++) {
			const struct event *release = &events[a], *acquire = &events[b];
			bool is_release = release == from || (release->step.action == FENCE &&
							      release->cpu == from->cpu && release < from);
			bool is_acquire = acquire == to || (acquire->step.action == FENCE &&
							    acquire->cpu == to->cpu && acquire > to);

			if (is_release && is_acquire && releases(release->step.order) &&
			    acquires(acquire->step.order))
				before[a][b] = true;
		}
}

static void close_order(void)
{
	memset(before, 0, sizeof(before));
	for (unsigned a = 0; a < event_count; a++)
		for (unsigned b = a + 1; b < event_count; b++)
			before[a][b] = events[a].cpu == events[b].cpu;
	for (unsigned i = 0; i < event_count; i++) {
		const struct event *store;

		if (!reads_word(&events[i]))
			continue;
		/* Back along the read-modify-writes to the store that they began with. */
		for (store = source_of(&events[i]); store;
		     store = store->step.action == MODIFY ? source_of(store) : NULL)
			synchronize(store, &events[i]);
	}
	for (unsigned k = 0; k < event_count; k++)
		for (unsigned a = 0; a < event_count; a++)
			for (unsigned b = 0; before[a][k] && b < event_count; b++)
				before[a][b] |= before[k][b];
}

static bool is_data(const struct event *event)
{
	return event->step.action == READ || event->step.action == WRITE;
}

static bool conflict(const struct event *a, const struct event *b)
{
	if (a->cpu == b->cpu)
		return false;
	if (is_data(a) && is_data(b))
		return (a->step.action == WRITE || b->step.action == WRITE) &&
		       a->step.from < b->step.from + b->step.bytes &&
		       b->step.from < a->step.from + a->step.bytes;
	if (is_data(a) || is_data(b) || a->step.which != b->step.which)
		return false;
	return (a->step.action == READ_WORD && writes_word(b)) ||
	       (b->step.action == READ_WORD && writes_word(a));
}

/* Returns the first event that races with an earlier one; event_count: none. */
static unsigned first_race(void)
{
	close_order();
	for (unsigned b = 0; b < event_count; b++)
		for (unsigned a = 0; a < b; a++)
			if (conflict(&events[a], &events[b]) && !before[a][b])
				return b;
	return event_count;
}

/* --- Programs ------------------------------------------------------------------------------------------- */

static int random_order(struct random *random, enum action action)
{
	static const int orders[][4] = {
	    [LOAD] = {memory_order_relaxed, memory_order_relaxed, memory_order_acquire, memory_order_seq_cst},
	    [STORE] = {memory_order_relaxed, memory_order_relaxed, memory_order_release,
		       memory_order_seq_cst},
	    [MODIFY] = {memory_order_relaxed, memory_order_acquire, memory_order_release,
			memory_order_acq_rel},
	    [FENCE] = {memory_order_acquire, memory_order_acquire, memory_order_release,
		       memory_order_seq_cst},
	    [READ_WORD] = {0},
	};

	return orders[action][random_below(random, 4)];
}

/* Plain accesses of data are few, or nearly each schedule would have a race at its beginning. */
static void make_program(struct random *random)
{
	bool words_too = random_below(random, 8) == 0;

	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		program_steps[cpu] = 1 + (unsigned)random_below(random, STEPS);
		for (unsigned i = 0; i < program_steps[cpu]; i++) {
			struct step *step = &program[cpu][i];
			bool plain = random_below(random, 3) == 0;

			*step = (struct step){.which = (unsigned)random_below(random, WORDS)};
			step->action = plain ? (random_below(random, 2) ? READ : WRITE)
					     : (enum action)(LOAD + random_below(random, 4 + words_too));
			step->order = random_order(random, step->action);
			step->from = (unsigned)random_below(random, DATA);
			step->bytes = 1 + (unsigned)random_below(random, DATA - step->from);
			step->locked = plain && random_below(random, 2);
		}
	}
}

/* --- The comparison ------------------------------------------------------------------------------------- */

static void print_events(void)
{
	static const char *const names[] = {"read", "write", "load", "store", "modify", "fence", "read word"};

	for (unsigned i = 0; i < event_count; i++)
		print_error("  %2u CPU %u %s word %u order %d bytes %u+%u read %#x written %#x\n", i,
			    events[i].cpu, names[events[i].step.action], events[i].step.which,
			    events[i].step.order, events[i].step.from, events[i].step.bytes, events[i].read,
			    events[i].written);
}

/* The value that a word has after all events. */
static uint32_t value_of(unsigned which)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < event_count; i++)
		if (writes_word(&events[i]) && events[i].step.which == which)
			value = events[i].written;
	return value;
}

/* Whether the last event, or an atomic access that was about to be made, is the first that races. */
static bool ends_with_race(void)
{
	unsigned race = first_race();

	if (race < event_count)
		return race == event_count - 1;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		if (!attempting[cpu])
			continue;
		events[event_count] = attempts[cpu];
		if (reads_word(&attempts[cpu]))
			events[event_count].read = value_of(attempts[cpu].step.which);
		event_count++;
		race = first_race();
		event_count--;
		if (race == event_count)
			return true;
	}
	return false;
}

static void begin_log(void)
{
	event_count = 0;
	memset(attempting, 0, sizeof(attempting));
}

static void compare(struct check *check, uint64_t program_seed, unsigned *races, unsigned *clean)
{
	begin_log();
	fixture_open(check);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct explore_outcome outcome;
		bool agree;

		begin_log();
		outcome = explore_run(seed);
		if (event_count == LOG_MAX)
			continue;
		if (outcome.kind == EXPLORE_DATA_RACE)
			agree = ends_with_race();
		else
			agree = outcome.kind == EXPLORE_NOTHING && first_race() == event_count;
		if (!agree) {
			print_events();
			fail_msg("program %llu, seed %llu: exploration finds: %s; the oracle: %s",
				 (unsigned long long)program_seed, (unsigned long long)seed,
				 explore_kind_name(outcome.kind),
				 first_race() < event_count ? "a race" : "none");
		}
		*(outcome.kind == EXPLORE_DATA_RACE ? races : clean) += 1;
	}
	explore_close();
}

static void test_random_programs(void **state)
{
	struct check check = {.name = "random", .body = {body, body, body}};
	unsigned races = 0, clean = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1500; seed++) {
		struct random random;

		random_seed(&random, seed);
		make_program(&random);
		compare(&check, seed, &races, &clean);
	}
	print_message("%u schedules with a race, %u without\n", races, clean);
	assert_true(races > 1000 && clean > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
