/* SPDX-License-Identifier: MIT */
/*
 * The part of softfault.h that is about the real machine: systems, and the threads that come and go. The
 * machine is one for the process; it is open while there is a system.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "host/slots.h"
#include "mm/system/system.h"
#include "port/cpu.h"
#include "port/page.h"

#define MEMORY_BYTES_MIN ((uint64_t)1 << 20)

/* One CPU of the machine is the spare slot. */
#define SLOTS_MAX (PORT_CPUS_MAX - 1)

static pthread_mutex_t machine_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned systems;     /* by machine_lock */
static unsigned slots_given; /* of the machine while it is open (by machine_lock) */

static _Thread_local struct message last_reason;

static unsigned online_processors(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (online < 1)
		return 1;
	return online < (long)SLOTS_MAX ? (unsigned)online : SLOTS_MAX;
}

/* The calls below may wait for a flush, which must not wait for TLBs of a thread that is in one. */
static void idle_tlbs(void)
{
	if (host_slot_held())
		system_tlbs_idle();
}

static int make_config(const struct sf_options *options, struct system_config *config)
{
	if (options->memory_bytes < MEMORY_BYTES_MIN || options->memory_bytes % PORT_PAGE_SIZE)
		return message_set(
		    &last_reason, -EINVAL,
		    "memory_bytes is %llu: RAM is whole pages of %zu bytes, at least %llu bytes",
		    (unsigned long long)options->memory_bytes, PORT_PAGE_SIZE,
		    (unsigned long long)MEMORY_BYTES_MIN);
	if (options->cpus > SLOTS_MAX)
		return message_set(&last_reason, -EINVAL, "cpus is %u: a system has 1 to %u", options->cpus,
				   SLOTS_MAX);
	*config = (struct system_config){
	    .own_frames = options->memory_bytes / PORT_PAGE_SIZE,
	    .structure_only = options->structure_only,
	    .write_back_pages = options->write_back_pages,
	    .map_base = options->map_base,
	    .map_min = options->map_min,
	};
	return policy_parse(&config->policy, options->policy ? options->policy : "default", &last_reason);
}

/*
 * Opens the machine for the first system. The calling thread, which holds machine_lock, has a slot of it
 * then, or the spare one: what makes, ends and checks systems must not fail because others have all slots.
 */
static int enter_machine(unsigned cpus)
{
	int error;

	if (!cpus)
		cpus = systems ? slots_given : online_processors();
	if (systems) {
		if (cpus > slots_given)
			return message_set(
			    &last_reason, -EINVAL,
			    "cpus is %u: there is a system with %u, whose slots this one shares", cpus,
			    slots_given);
		host_slot_take_spare();
		return 0;
	}
	error = host_slots_open(cpus);
	if (error)
		return message_set(&last_reason, error, "no thread can be started for a machine of %u CPUs",
				   cpus);
	slots_given = cpus;
	return 0;
}

static void leave_machine(void)
{
	if (systems)
		host_slot_give();
	else
		host_slots_close();
}

int sf_system_create(const struct sf_options *options, struct sf_system **system, const char **reason)
{
	struct system_config config;
	int error;

	last_reason.text[0] = '\0';
	if (reason)
		*reason = last_reason.text;
	error = make_config(options, &config);
	if (error)
		return -EINVAL;
	idle_tlbs();
	pthread_mutex_lock(&machine_lock);
	error = enter_machine(options->cpus);
	if (!error) {
		error = system_create(&config, system, &last_reason);
		systems += !error;
		leave_machine();
	}
	pthread_mutex_unlock(&machine_lock);
	return error;
}

void sf_system_destroy(struct sf_system *system)
{
	idle_tlbs();
	pthread_mutex_lock(&machine_lock);
	host_slot_take_spare();
	system_destroy(system);
	systems--;
	leave_machine();
	pthread_mutex_unlock(&machine_lock);
}

int sf_thread_enter(struct sf_system *system)
{
	(void)system;
	idle_tlbs();
	return host_slot_take();
}

void sf_thread_exit(struct sf_system *system)
{
	if (host_slot_held())
		system_cpu_idle(system);
	/* A thread that is no CPU any more looks nothing up: nobody may wait for it. */
	idle_tlbs();
	host_slot_give();
}

int sf_system_check(struct sf_system *system, const char **reason)
{
	int error;

	idle_tlbs();
	last_reason.text[0] = '\0';
	if (reason)
		*reason = last_reason.text;
	pthread_mutex_lock(&machine_lock);
	host_slot_take_spare();
	error = system_check(system, &last_reason);
	host_slot_give();
	pthread_mutex_unlock(&machine_lock);
	return error;
}
