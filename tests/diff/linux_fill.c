/* SPDX-License-Identifier: MIT */
/*
 * Fills the address space of the first process: one mapping without rights over each gap but the window, so
 * that what the kernel places lies in the window. On both sides of the window lies a shared page, which
 * merges with nothing. From here on the C library must not allocate.
 */
#include "tests/diff/linux_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILLER_FLAGS (MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE)

void linux_complain(struct linux_channel *channel, const char *what, int error)
{
	if (!channel->reason[0])
		snprintf(channel->reason, sizeof(channel->reason), "%s%s%s", what, error ? ": " : "",
			 error ? strerror(error) : "");
}

size_t linux_read_file(int file, char *buffer, size_t size)
{
	size_t done = 0;
	ssize_t got;

	while (done < size - 1 && (got = pread(file, buffer + done, size - 1 - done, (off_t)done)) > 0)
		done += (size_t)got;
	buffer[done] = '\0';
	return done;
}

static uint64_t read_hex(const char **text)
{
	uint64_t number = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			number = number * 16 + (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			number = number * 16 + (uint64_t)(c - 'a') + 10;
		else
			return number;
	}
}

const char *linux_next_mapping(const char *text, struct linux_mapping *mapping)
{
	const char *end = strchr(text, '\n');

	if (!end)
		return NULL;
	mapping->start = read_hex(&text);
	text++;
	mapping->end = read_hex(&text);
	text++;
	mapping->protection = (text[0] == 'r' ? PROT_READ : 0) | (text[1] == 'w' ? PROT_WRITE : 0) |
			      (text[2] == 'x' ? PROT_EXEC : 0);
	mapping->shared = text[3] == 's';
	text += 5;
	mapping->offset = read_hex(&text);
	return end + 1;
}

static uint64_t read_number(const char *path)
{
	char text[64] = "";
	int file = open(path, O_RDONLY);

	if (file < 0)
		return 0;
	linux_read_file(file, text, sizeof(text));
	close(file);
	return strtoull(text, NULL, 10);
}

static bool cpu_has(const char *feature)
{
	static char text[16384];
	int file = open("/proc/cpuinfo", O_RDONLY);

	if (file < 0)
		return false;
	linux_read_file(file, text, sizeof(text));
	close(file);
	return strstr(text, feature) != NULL;
}

static bool fill_gap(struct linux_channel *channel, uint64_t start, uint64_t end)
{
	if (start >= end)
		return true;
	if (mmap((void *)(uintptr_t)start, end - start, PROT_NONE, MAP_PRIVATE | FILLER_FLAGS, -1, 0) !=
	    MAP_FAILED)
		return true;
	linux_complain(channel, "cannot fill the address space", errno);
	return false;
}

static bool fence(struct linux_channel *channel, uint64_t page)
{
	if (mmap((void *)(uintptr_t)page, MODEL_PAGE, PROT_NONE, MAP_SHARED | FILLER_FLAGS, -1, 0) !=
	    MAP_FAILED)
		return true;
	linux_complain(channel, "the window is not free", errno);
	return false;
}

static bool fill_all(struct linux_channel *channel, const char *maps)
{
	uint64_t from = channel->terms.minimum_address;
	struct linux_mapping mapping;

	while ((maps = linux_next_mapping(maps, &mapping))) {
		uint64_t to = mapping.start < MODEL_ADDRESS_END ? mapping.start : MODEL_ADDRESS_END;

		/* The window is the gap between its fences. */
		if (from != DIFF_START && !fill_gap(channel, from, to))
			return false;
		from = mapping.end;
	}
	return fill_gap(channel, from, MODEL_ADDRESS_END);
}

/* Cuts a filler into so many mappings that only `ranges_left` more may be made. */
static bool use_up_ranges(struct linux_channel *channel, const char *maps)
{
	uint64_t most = read_number("/proc/sys/vm/max_map_count"), count = 0;
	struct linux_mapping mapping;
	uint64_t at = (uint64_t)1 << 40; /* far from the program and its libraries */

	while ((maps = linux_next_mapping(maps, &mapping)))
		count += mapping.start < MODEL_ADDRESS_END;
	if (most > 100000) {
		linux_complain(channel, "vm.max_map_count is too large to be reached", 0);
		return false;
	}
	/* Each cuts one mapping in three. The exact number is found by trying. */
	for (; count + channel->ranges_left + 2 <= most; count += 2, at += 2 * MODEL_PAGE) {
		if (mmap((void *)(uintptr_t)at, MODEL_PAGE, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
			linux_complain(channel, "cannot use vm.max_map_count up", errno);
			return false;
		}
	}
	channel->terms.ranges_max = most - count;
	return true;
}

static bool find_terms(struct linux_channel *channel)
{
	struct diff_terms *terms = &channel->terms;
	struct rlimit limit;

	terms->minimum_address = read_number("/proc/sys/vm/mmap_min_addr");
	if (terms->minimum_address < MODEL_PAGE)
		terms->minimum_address = MODEL_PAGE;
	terms->ranges_max = UINT64_MAX;
	/* With protection keys the kernel makes a mapping that is for execution only unreadable. */
	terms->execute_only = !cpu_has(" ospke");
	getrlimit(RLIMIT_MEMLOCK, &limit);
	terms->locked_max = limit.rlim_max == RLIM_INFINITY ? UINT64_MAX : limit.rlim_max;
	/* Large pages would fault neighbours in. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (read_number("/proc/sys/vm/overcommit_memory") == 2) {
		linux_complain(channel, "vm.overcommit_memory is 2, which changes what MAP_NORESERVE means",
			       0);
		return false;
	}
	getrlimit(RLIMIT_AS, &limit);
	if (limit.rlim_max != RLIM_INFINITY) {
		linux_complain(channel, "the address space is limited (ulimit -v)", 0);
		return false;
	}
	return true;
}

static bool give_up_rights(struct linux_channel *channel)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	struct rlimit locked = {.rlim_cur = channel->terms.locked_max, .rlim_max = channel->terms.locked_max};

	if (syscall(SYS_capset, &header, none) || setrlimit(RLIMIT_MEMLOCK, &locked)) {
		linux_complain(channel, "cannot give up capabilities", errno);
		return false;
	}
	return true;
}

/* The kernel must now find room in the window, and nowhere else. */
static bool is_full(struct linux_channel *channel)
{
	void *window = mmap(NULL, DIFF_END - DIFF_START, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *more = mmap(NULL, MODEL_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if ((uintptr_t)window != DIFF_START || more != MAP_FAILED || errno != ENOMEM) {
		linux_complain(channel, "there is room outside of the window", 0);
		return false;
	}
	munmap(window, DIFF_END - DIFF_START);
	return true;
}

bool linux_fill(struct linux_channel *channel)
{
	static char maps[1 << 16];
	char statm[64];
	volatile char stack[1 << 18]; /* the stack cannot grow any more when all is filled */
	int file = open("/proc/self/maps", O_RDONLY), sizes = open("/proc/self/statm", O_RDONLY);

	memset((char *)stack, 1, sizeof(stack));
	if (file < 0 || sizes < 0) {
		linux_complain(channel, "no /proc", errno);
		return false;
	}
	linux_read_file(file, maps, sizeof(maps));
	if (!find_terms(channel) || !linux_objects_open(channel) ||
	    !fence(channel, DIFF_START - MODEL_PAGE) || !fence(channel, DIFF_END))
		return false;
	linux_read_file(file, maps, sizeof(maps));
	if (!fill_all(channel, maps))
		return false;
	linux_read_file(file, maps, sizeof(maps));
	if ((channel->ranges_left && !use_up_ranges(channel, maps)) || !give_up_rights(channel) ||
	    !is_full(channel))
		return false;
	linux_read_file(sizes, statm, sizeof(statm));
	channel->other_pages = strtoull(statm, NULL, 10);
	close(file);
	close(sizes);
	return true;
}
