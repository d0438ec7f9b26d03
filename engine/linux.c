/* SPDX-License-Identifier: MIT */
/*
 * The running kernel as an engine: pinned threads that map, touch and give back memory as any program does.
 * There is one memory system, the kernel's. Where a run has one space, it is this process. Where each CPU has
 * its own, or where the space is in a group, the run is of processes beside this one, which are forked from
 * it: what was mapped before is mapped in each. It inserts no PFNs, so map_pfn is NULL.
 */
#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"
#include "engine/linux_groups.h"
#include "engine/linux_tasks.h"
#include "engine/perf.h"
#include "engine/windows.h"
#include "port/cpu.h"

static struct {
	unsigned cpus; /* 0: not open */
	unsigned spaces;
	unsigned group[PORT_CPUS_MAX]; /* of each space */
	bool profile;                  /* the next run */
	int file[ENGINE_FILES_MAX];    /* descriptor + 1; 0: none */
	struct engine_statistics statistics;
	struct vsmp_report report;
} kernel;

static unsigned linux_cpus(void)
{
	return PORT_CPUS_MAX;
}

static int linux_open(const struct engine_config *config, struct message *why)
{
	if (config->cpus < 1 || config->cpus > PORT_CPUS_MAX)
		return message_set(why, -EINVAL, "%u CPUs: the linux engine runs 1 to %u threads",
				   config->cpus, PORT_CPUS_MAX);
	if (kernel.cpus)
		return message_set(why, -EBUSY, "the linux engine is open already; close it first");
	memset(&kernel, 0, sizeof(kernel));
	kernel.cpus = config->cpus;
	kernel.profile = config->profile;
	return 0;
}

static void linux_file_close(unsigned file)
{
	if (file >= ENGINE_FILES_MAX || !kernel.file[file])
		return;
	close(kernel.file[file] - 1);
	kernel.file[file] = 0;
}

static void linux_close(void)
{
	perf_report_free(&kernel.report);
	for (unsigned file = 0; file < ENGINE_FILES_MAX; file++)
		linux_file_close(file);
	linux_groups_remove();
	kernel.cpus = 0;
}

static int linux_setup(void (*body)(void *argument), void *argument, struct message *why)
{
	(void)why;
	body(argument);
	return 0;
}

static int linux_run(void (*body)(unsigned cpu, void *argument), void *argument, struct engine_timing *timing,
		     struct message *why)
{
	const struct linux_tasks tasks = {
	    .cpus = kernel.cpus,
	    .processes = kernel.spaces > 1 || kernel.group[0] ? kernel.spaces : 0,
	    .group = kernel.group,
	    .profile = kernel.profile,
	    .body = body,
	    .argument = argument,
	};
	int error = windows_reset(kernel.cpus);

	if (error)
		return message_set(why, error, "out of memory for %u windows", kernel.cpus);
	if (kernel.spaces > 1 && kernel.spaces != kernel.cpus)
		return message_set(why, -EINVAL,
				   "%u spaces of %u CPUs: the linux engine has one for all or one each",
				   kernel.spaces, kernel.cpus);
	error = linux_tasks_run(&tasks, &kernel.statistics, &kernel.report, why);
	if (error)
		return error;
	kernel.profile = false;
	windows_timing(timing);
	return 0;
}

static const char *linux_deadlock_report(void)
{
	return NULL;
}

static int linux_report(struct vsmp_report *report)
{
	*report = kernel.report;
	memset(&kernel.report, 0, sizeof(kernel.report));
	return 0;
}

static void linux_measure_begin(void)
{
	windows_begin(linux_tasks_cpu());
}

static void linux_measure_end(void)
{
	windows_end(linux_tasks_cpu());
}

static void linux_count_operations(uint64_t count)
{
	windows_count(linux_tasks_cpu(), count);
}

/* Space 0 is this process, as long as there is no other. */
static int linux_space_create_in(unsigned space, unsigned group)
{
	if (space != kernel.spaces || space >= kernel.cpus)
		return -EOPNOTSUPP;
	kernel.group[kernel.spaces++] = group;
	return 0;
}

static int linux_space_create(unsigned space)
{
	return linux_space_create_in(space, 0);
}

/* Space 0 is there even if nobody has made it. */
static bool has_space(unsigned space)
{
	return space < kernel.spaces || space == 0;
}

/* What is mapped by then goes with the process. */
static void linux_space_destroy(unsigned space)
{
	if (space + 1 == kernel.spaces)
		kernel.spaces = 0;
}

static int map(uintptr_t address, size_t length, int flags, int file, uint64_t offset)
{
	void *wanted = (void *)address;

	flags |= MAP_FIXED_NOREPLACE | MAP_NORESERVE;
	if (mmap(wanted, length, PROT_READ | PROT_WRITE, flags, file, (off_t)offset) != wanted)
		return -errno;
	/* Small pages, as everywhere; a kernel that has no large ones does not know the advice. */
	return madvise(wanted, length, MADV_NOHUGEPAGE) && errno != EINVAL ? -errno : 0;
}

static int linux_map_anon(unsigned space, uintptr_t address, size_t length, bool shared)
{
	if (!has_space(space))
		return -EOPNOTSUPP;
	return map(address, length, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
}

/* Where files on a disk are: as other programs, in TMPDIR, but not where that is a memory file system as a
 * rule. */
static int open_unnamed(void)
{
	const char *folder = getenv("TMPDIR");

	return open(folder ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Files without a name, which go with the process, whatever ends that: of the kernel's own tmpfs, or on disk.
 */
static int linux_file_create(unsigned file, uint64_t bytes, bool on_disk)
{
	int made;

	if (file >= ENGINE_FILES_MAX)
		return -EOPNOTSUPP;
	if (kernel.file[file])
		return -EEXIST;
	made = on_disk ? open_unnamed() : memfd_create("softfault", MFD_CLOEXEC);
	if (made < 0)
		return -errno;
	if (ftruncate(made, (off_t)bytes)) {
		int error = -errno;

		close(made);
		return error;
	}
	kernel.file[file] = made + 1;
	return 0;
}

static int linux_file_map(unsigned space, uintptr_t address, size_t length, unsigned file, uint64_t offset)
{
	if (!has_space(space))
		return -EOPNOTSUPP;
	if (file >= ENGINE_FILES_MAX || !kernel.file[file])
		return -EINVAL;
	return map(address, length, MAP_SHARED, kernel.file[file] - 1, offset);
}

#define COPY_BYTES 65536u

static int copy_some(int to, int from, off_t offset, size_t bytes, char *buffer)
{
	ssize_t done = pread(from, buffer, bytes, offset);

	if (done == (ssize_t)bytes)
		done = pwrite(to, buffer, bytes, offset);
	if (done < 0)
		return -errno;
	return done == (ssize_t)bytes ? 0 : -EIO;
}

static int linux_file_copy(unsigned to, unsigned from, uint64_t offset, uint64_t bytes)
{
	char buffer[COPY_BYTES];
	int error = 0;

	if (to >= ENGINE_FILES_MAX || from >= ENGINE_FILES_MAX || !kernel.file[to] || !kernel.file[from])
		return -EINVAL;
	for (uint64_t done = 0; done < bytes && !error; done += COPY_BYTES)
		error = copy_some(kernel.file[to] - 1, kernel.file[from] - 1, (off_t)(offset + done),
				  bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES, buffer);
	return error;
}

static int linux_unmap(unsigned space, uintptr_t address, size_t length)
{
	if (!has_space(space))
		return -EOPNOTSUPP;
	return munmap((void *)address, length) ? -errno : 0;
}

static int linux_dontneed(unsigned space, uintptr_t address, size_t length)
{
	if (!has_space(space))
		return -EOPNOTSUPP;
	return madvise((void *)address, length, MADV_DONTNEED) ? -errno : 0;
}

static int linux_touch(unsigned space, uintptr_t address, bool write)
{
	volatile char *byte = (volatile char *)address;

	if (!has_space(space))
		return -EOPNOTSUPP;
	if (write)
		*byte = 0;
	else
		(void)*byte;
	return 0;
}

static void linux_statistics(struct engine_statistics *statistics)
{
	*statistics = kernel.statistics;
}

/* What the group of number 1 tells; kernels tell more or less, the unified hierarchy most. */
static void linux_pressure(struct engine_pressure *pressure)
{
	*pressure = (struct engine_pressure){
	    .scanned = linux_groups_count(1, "pgscan"),
	    .reclaimed = linux_groups_count(1, "pgsteal"),
	    .refaults = linux_groups_count(1, "workingset_refault_anon") +
			linux_groups_count(1, "workingset_refault_file"),
	    .swapped_in = linux_groups_count(1, "pswpin"),
	    .touched_in = linux_groups_count(1, "pgmajfault"),
	    .swapped_out = linux_groups_count(1, "pswpout"),
	};
}

/* It is the running kernel's own affair. */
static int linux_check(struct message *why)
{
	(void)why;
	return 0;
}

const struct engine engine_linux = {
    .name = "linux",
    .kernel = true,
    .cpus = linux_cpus,
    .can_profile = perf_check,
    .open = linux_open,
    .close = linux_close,
    .setup = linux_setup,
    .run = linux_run,
    .deadlock_report = linux_deadlock_report,
    .report = linux_report,
    .report_free = perf_report_free,
    .barrier = windows_barrier,
    .measure_begin = linux_measure_begin,
    .measure_end = linux_measure_end,
    .measure_active = windows_active,
    .count_operations = linux_count_operations,
    .clock_ns = windows_clock_ns,
    .space_create = linux_space_create,
    .group_create = linux_groups_create,
    .group_set_limit = linux_groups_set_limit,
    .space_create_in = linux_space_create_in,
    .space_destroy = linux_space_destroy,
    .map_anon = linux_map_anon,
    .file_create = linux_file_create,
    .file_map = linux_file_map,
    .file_close = linux_file_close,
    .file_copy = linux_file_copy,
    .unmap = linux_unmap,
    .dontneed = linux_dontneed,
    .touch = linux_touch,
    .check = linux_check,
    .statistics = linux_statistics,
    .pressure = linux_pressure,
};
