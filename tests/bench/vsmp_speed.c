/* SPDX-License-Identifier: MIT */
/*
 * How fast the virtual machine runs: hooked accesses a second of real time, on one lock and on none. Prints a
 * table; judges nothing but that the work was done, since machines differ and are shared.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sync/spinlock.h"
#include "tests/vsmp/fixture.h"

static _Alignas(64) struct spinlock lock;
static _Alignas(64) volatile uint64_t counter;
static _Alignas(64) volatile uint64_t own[1024][8];

static void take_lock(unsigned cpu, void *argument)
{
	unsigned turns = *(unsigned *)argument;

	(void)cpu;
	for (unsigned i = 0; i < turns; i++) {
		spin_lock(&lock);
		counter++;
		spin_unlock(&lock);
	}
}

static void hit(unsigned cpu, void *argument)
{
	unsigned turns = *(unsigned *)argument;

	for (unsigned i = 0; i < turns; i++)
		own[cpu][0] = i;
}

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(const char *what, unsigned sockets, unsigned cpus, void (*body)(unsigned, void *),
		    unsigned turns, bool hand_offs)
{
	struct vsmp_config config = {.machine = &fixture_machine, .cpus = cpus, .seed = 1, .home_socket = -1};
	struct vsmp_report report;
	struct message why;
	double seconds;

	fixture_shape(sockets, 8, 1);
	spin_lock_init(&lock, LOCK_RANK_NONE);
	counter = 0;
	if (vsmp_create(&config, &why)) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	seconds = now_seconds();
	if (vsmp_run(body, &turns, 0, &why)) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	seconds = now_seconds() - seconds;
	if (body == take_lock && counter != (uint64_t)cpus * turns) {
		fprintf(stderr, "lock lost a count: %llu of %llu\n", (unsigned long long)counter,
			(unsigned long long)cpus * turns);
		exit(1);
	}
	vsmp_report(&report);
	printf("%-34s %6u %14.2f", what, cpus, (double)report.accesses / seconds / 1e6);
	if (hand_offs)
		printf(" %14.0f\n", (double)cpus * turns / seconds);
	else
		printf(" %14s\n", "-");
	vsmp_report_free(&report);
	vsmp_destroy();
}

int main(void)
{
	printf("%-34s %6s %14s %14s\n", "virtual machine", "CPUs", "M accesses/s", "hand-offs/s");
	measure("one ticket lock", 32, 256, take_lock, 200, true);
	measure("one ticket lock", 8, 64, take_lock, 4000, true);
	measure("hits of an own line", 1, 1, hit, 200000000, false);
	measure("hits of an own line", 8, 64, hit, 3000000, false);
	return 0;
}
