/* SPDX-License-Identifier: MIT */
/*
 * A small register machine. One guest boots: it fills a table in its memory, and stops. From there on it is a
 * snapshot: thousands of guests are forked from it, on several threads, and each goes on where it stopped,
 * with a number of its own. They share every page of the snapshot that they do not write to. Built with
 *
 *     cc guests.c $(pkg-config --cflags --libs softfault) -o guests
 *
 * and run as guests [GUESTS [THREADS]]. Every result is checked; the exit status is 1 if one is wrong.
 */
#include <softfault.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "guests: %s: %s\n", what, strerror(-error));
	exit(1);
}

/* --- The machine ---------------------------------------------------------------------------------------- */

enum opcode {
	HALT,
	SET,         /* a = number */
	ADD,         /* a = b + c */
	MULTIPLY,    /* a = b * c */
	LOAD,        /* a = the word at b + c */
	STORE,       /* the word at b + c = a */
	BRANCH_LESS, /* if a < b: goes on `number` instructions further on, or back */
};

/* Lies in the guest's memory, as code does. */
struct instruction {
	uint8_t opcode, a, b, c;
	int32_t number;
};

#define REGISTERS 8

enum state { RUNNING, HALTED, FAULTED };

struct guest {
	uint64_t pc, r[REGISTERS];
	struct sf_space *space;
	struct sf_tlb *tlb;
	enum state state;
	struct sf_signal signal; /* why it FAULTED */
};

static bool fault(struct guest *guest, int signal, uint64_t address)
{
	guest->state = FAULTED;
	guest->signal = (struct sf_signal){.signal = signal, .address = address};
	return false;
}

/* Copies the word at `address` out of the guest or into it. Returns whether it could. */
static bool access_word(struct guest *guest, uint64_t address, enum sf_access access, void *word)
{
	void *place;

	if (address % sizeof(uint64_t))
		return fault(guest, SIGBUS, address);
	place = sf_tlb_lookup(guest->tlb, address, access, &guest->signal);
	if (!place)
		guest->state = FAULTED;
	else if (access == SF_WRITE)
		memcpy(place, word, sizeof(uint64_t));
	else
		memcpy(word, place, sizeof(uint64_t));
	return place;
}

static void step(struct guest *guest)
{
	struct instruction now;
	uint64_t *r = guest->r;

	if (!access_word(guest, guest->pc, SF_EXECUTE, &now))
		return;
	if ((now.a | now.b | now.c) >= REGISTERS) {
		fault(guest, SIGILL, guest->pc);
		return;
	}
	guest->pc += sizeof(now);
	switch (now.opcode) {
	case HALT:
		guest->state = HALTED;
		break;
	case SET:
		r[now.a] = (uint64_t)now.number;
		break;
	case ADD:
		r[now.a] = r[now.b] + r[now.c];
		break;
	case MULTIPLY:
		r[now.a] = r[now.b] * r[now.c];
		break;
	case LOAD:
		access_word(guest, r[now.b] + r[now.c], SF_READ, &r[now.a]);
		break;
	case STORE:
		access_word(guest, r[now.b] + r[now.c], SF_WRITE, &r[now.a]);
		break;
	case BRANCH_LESS:
		if (r[now.a] < r[now.b])
			guest->pc += (uint64_t)now.number * sizeof(now);
		break;
	default:
		fault(guest, SIGILL, guest->pc - sizeof(now));
	}
}

static void run(struct guest *guest)
{
	int error = sf_tlb_create(guest->space, &guest->tlb);

	if (error)
		fail("no TLB for a guest", error);
	guest->state = RUNNING;
	while (guest->state == RUNNING)
		step(guest);
	sf_tlb_destroy(guest->tlb);
}

/* --- The program ---------------------------------------------------------------------------------------- */

#define CODE        0x10000
#define TABLE       0x200000
#define TABLE_BYTES 0x10000
#define STRIDE      0x4000 /* from one result to the next: each is in a page of its own */

static const struct instruction program[] = {
    /* The boot: the table's first word is 1, each other one is the one before times 5, plus 3. */
    {SET, 1, 0, 0, TABLE},
    {SET, 2, 0, 0, 0},
    {SET, 3, 0, 0, TABLE_BYTES},
    {SET, 4, 0, 0, 8},
    {SET, 5, 0, 0, 1},
    {SET, 6, 0, 0, 5},
    {SET, 7, 0, 0, 3},
    {STORE, 5, 1, 2, 0}, /* boot */
    {MULTIPLY, 5, 5, 6, 0},
    {ADD, 5, 5, 7, 0},
    {ADD, 2, 2, 4, 0},
    {BRANCH_LESS, 2, 3, 0, -5}, /* to boot */
    {HALT, 0, 0, 0, 0},
    /* A guest: the sum of all words times its number, which is in register 0, ... */
    {SET, 2, 0, 0, 0},
    {SET, 5, 0, 0, 0},
    {LOAD, 6, 1, 2, 0}, /* sum */
    {MULTIPLY, 6, 6, 0, 0},
    {ADD, 5, 5, 6, 0},
    {ADD, 2, 2, 4, 0},
    {BRANCH_LESS, 2, 3, 0, -5}, /* to sum */
    /* ... which it writes over a word in every fourth page of the table. */
    {SET, 2, 0, 0, 0},
    {SET, 4, 0, 0, STRIDE},
    {STORE, 5, 1, 2, 0}, /* write */
    {ADD, 2, 2, 4, 0},
    {BRANCH_LESS, 2, 3, 0, -3}, /* to write */
    {HALT, 0, 0, 0, 0},
};

/* The same sum, without the machine. */
static uint64_t table_sum(void)
{
	uint64_t word = 1, sum = 0;

	for (int i = 0; i < TABLE_BYTES / 8; i++) {
		sum += word;
		word = word * 5 + 3;
	}
	return sum;
}

/* --- The guests ----------------------------------------------------------------------------------------- */

static struct sf_system *host;
static struct guest snapshot;
static uint64_t guests = 4000;
static _Atomic uint64_t next_guest = 1, shared_pages, copied_pages, wrong;

static void boot(void)
{
	uint64_t place;
	int error = sf_space_create(host, &snapshot.space);

	if (!error)
		error = sf_map(snapshot.space, CODE, sizeof(program), SF_PROT_READ | SF_PROT_WRITE,
			       SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &place);
	if (!error && sf_write(snapshot.space, CODE, program, sizeof(program), NULL) < sizeof(program))
		error = -EFAULT;
	if (!error)
		error = sf_protect(snapshot.space, CODE, sizeof(program), SF_PROT_READ | SF_PROT_EXEC);
	if (!error)
		error = sf_map(snapshot.space, TABLE, TABLE_BYTES, SF_PROT_READ | SF_PROT_WRITE,
			       SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &place);
	if (error)
		fail("cannot load the program", error);
	snapshot.pc = CODE;
	run(&snapshot);
	if (snapshot.state != HALTED)
		fail("the snapshot did not boot", -EFAULT);
}

/* Whether the guest came to `result`, wrote it to its own pages, and still shares the others' contents. */
static bool is_right(struct guest *guest, uint64_t result)
{
	uint64_t own, original;

	for (uint64_t at = TABLE; at < TABLE + TABLE_BYTES; at += SF_PAGE_SIZE) {
		sf_read(guest->space, at, &own, sizeof(own), NULL);
		sf_read(snapshot.space, at, &original, sizeof(original), NULL);
		if (own != ((at - TABLE) % STRIDE ? original : result))
			return false;
	}
	return guest->state == HALTED;
}

static void count_pages(struct guest *guest)
{
	struct sf_mapping mapping = {0};
	uint64_t shared = 0, own = 0;

	while (!sf_next_mapping(guest->space, mapping.end, &mapping)) {
		shared += mapping.shared_clean + mapping.shared_dirty;
		own += mapping.private_clean + mapping.private_dirty;
	}
	shared_pages += shared / SF_PAGE_SIZE;
	copied_pages += own / SF_PAGE_SIZE;
}

static void must_enter(void)
{
	int error = sf_thread_enter(host);

	if (error)
		fail("no slot for a thread", error);
}

static void *run_guests(void *unused)
{
	const uint64_t sum = table_sum();
	uint64_t number;
	int error;

	(void)unused;
	must_enter();
	while ((number = next_guest++) <= guests) {
		struct guest guest = snapshot;

		error = sf_space_fork(snapshot.space, &guest.space);
		if (error)
			fail("no memory for a guest", error);
		guest.r[0] = number;
		run(&guest);
		if (!is_right(&guest, sum * number)) {
			fprintf(stderr, "guests: guest %llu is wrong: state %d, signal %d at %#llx\n",
				(unsigned long long)number, guest.state, guest.signal.signal,
				(unsigned long long)guest.signal.address);
			wrong++;
		}
		count_pages(&guest);
		sf_space_destroy(guest.space);
	}
	sf_thread_exit(host);
	return NULL;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
	const struct sf_options options = {.memory_bytes = 256 << 20, .cpus = threads};
	pthread_t thread[64];
	const char *why;
	double start_s;

	if (argc > 1)
		guests = strtoull(argv[1], NULL, 0);
	if (guests < 1 || threads < 1 || threads > 64) {
		fprintf(stderr, "usage: guests [GUESTS [THREADS]], with 1 to 64 threads\n");
		return 2;
	}
	if (sf_system_create(&options, &host, &why)) {
		fprintf(stderr, "guests: %s\n", why);
		return 1;
	}
	must_enter();
	boot();
	sf_thread_exit(host);

	start_s = now_s();
	for (unsigned i = 0; i < threads; i++) {
		int error = pthread_create(&thread[i], NULL, run_guests, NULL);

		if (error)
			fail("cannot start a thread", -error);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%llu guests on %u threads: %.0f a second\n", (unsigned long long)guests, threads,
	       (double)guests / (now_s() - start_s));
	printf("%llu pages shared with the snapshot, %llu copied\n", (unsigned long long)shared_pages,
	       (unsigned long long)copied_pages);
	printf("%llu wrong results\n", (unsigned long long)wrong);

	must_enter();
	sf_space_destroy(snapshot.space);
	sf_thread_exit(host);
	if (sf_system_check(host, &why)) {
		fprintf(stderr, "guests: %s\n", why);
		return 1;
	}
	sf_system_destroy(host);
	return wrong ? 1 : 0;
}
