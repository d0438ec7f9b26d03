/* SPDX-License-Identifier: MIT */
/* The process of one space: carries out operations by system calls and plain accesses. It never allocates. */
#include "tests/diff/linux_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	struct linux_channel *channel;
	unsigned space;
	pid_t test;
	int maps; /* /proc/self/maps */
	sigjmp_buf refused;
	siginfo_t signal;
} self;

/* Any signal that is not from an access of ours kills the process: the test tells. */
static volatile sig_atomic_t is_accessing;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (!is_accessing) {
		signal(number, SIG_DFL);
		return;
	}
	self.signal = *info;
	siglongjmp(self.refused, 1);
}

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static long done(long result)
{
	return result == -1 ? -errno : result;
}

/*
 * After BEGIN_ACCESS comes a plain access, then END_ACCESS. BEGIN_ACCESS is false when the access has been
 * refused, and the signal is in self.signal.
 */
#define BEGIN_ACCESS() (sigsetjmp(self.refused, 0) == 0 && (is_accessing = 1))
#define END_ACCESS()   (is_accessing = 0)

static void note_refusal(struct diff_result *result)
{
	is_accessing = 0;
	result->error = -EFAULT;
	result->signal = self.signal.si_signo;
	result->code = self.signal.si_code;
	result->fault = (uint64_t)(uintptr_t)self.signal.si_addr;
}

/* Copies inside a page. It is touched at its first byte first, so that the address of a refusal is known. */
static bool copy_part(uint64_t address, unsigned char *bytes, uint64_t count, bool write)
{
	volatile unsigned char *first = pointer(address);

	if (!BEGIN_ACCESS())
		return false;
	if (write) {
		*first = *bytes;
		memcpy(pointer(address), bytes, count);
	} else {
		*bytes = *first;
		memcpy(bytes, pointer(address), count);
	}
	END_ACCESS();
	return true;
}

static void run_copy(const struct diff_operation *operation, struct diff_result *result)
{
	static unsigned char buffer[DIFF_BYTES_MAX];
	bool write = operation->kind == DIFF_WRITE;
	uint64_t copied = 0;

	if (write)
		diff_fill(operation, buffer);
	while (copied < operation->length) {
		uint64_t at = operation->address + copied, left = operation->length - copied;
		uint64_t page_left = MODEL_PAGE - at % MODEL_PAGE, part = page_left < left ? page_left : left;

		if (!copy_part(at, buffer + copied, part, write)) {
			note_refusal(result);
			break;
		}
		copied += part;
	}
	result->value = write ? copied : diff_digest(buffer, copied);
}

static void run_swap(const struct diff_operation *operation, struct diff_result *result)
{
	static uint64_t expected;
	static bool swapped;

	expected = operation->expected;
	if (!BEGIN_ACCESS()) {
		note_refusal(result);
		return;
	}
	swapped = __atomic_compare_exchange_n((uint64_t *)pointer(operation->address), &expected,
					      operation->value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	END_ACCESS();
	result->error = swapped;
	result->value = expected;
}

static long run_limit(const struct diff_operation *operation)
{
	int resource = operation->target == SF_LIMIT_LOCKED ? RLIMIT_MEMLOCK : RLIMIT_AS;
	struct rlimit limit;
	rlim_t value = operation->value;

	getrlimit(resource, &limit);
	if (value != UINT64_MAX && resource == RLIMIT_AS)
		value += self.channel->other_pages * MODEL_PAGE;
	limit.rlim_cur = value;
	return done(setrlimit(resource, &limit));
}

static void open_maps(void)
{
	self.maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (self.maps < 0)
		_exit(3);
}

static long run_fork(const struct diff_operation *operation)
{
	struct linux_channel *channel = self.channel;
	long pid;

	if (channel->alive[operation->target])
		return DIFF_PASSED_OVER;
	atomic_store(&channel->turn[operation->target].word, 0);
	channel->alive[operation->target] = true;
	pid = done(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0));
	if (pid == 0) {
		close(self.maps);
		linux_process(channel, operation->target);
	}
	if (pid < 0) {
		channel->alive[operation->target] = false;
		return pid;
	}
	channel->pid[operation->target] = (pid_t)pid;
	return 0;
}

static void run_open(void)
{
	for (uint64_t at = DIFF_START; at < DIFF_END; at += MODEL_PAGE)
		mprotect(pointer(at), MODEL_PAGE, PROT_READ);
}

static void run(const struct diff_operation *operation, struct diff_result *result)
{
	static const uint8_t advice[DIFF_KINDS] = {
	    [DIFF_NORMAL] = MADV_NORMAL,
	    [DIFF_WILLNEED] = MADV_WILLNEED,
	    [DIFF_DONTNEED] = MADV_DONTNEED,
	    [DIFF_FREE] = MADV_FREE,
	    [DIFF_COLD] = 20,
	    [DIFF_HUGEPAGE] = MADV_HUGEPAGE,
	    [DIFF_NOHUGEPAGE] = MADV_NOHUGEPAGE,
	    [DIFF_POPULATE_READ] = 22,
	    [DIFF_POPULATE_WRITE] = 23,
	    [DIFF_REMOVE] = MADV_REMOVE,
	};
	static unsigned char resident[DIFF_PAGES];
	uint64_t address = operation->address, length = operation->length;
	long got = 0;

	switch (operation->kind) {
	case DIFF_MAP:
	case DIFF_MAP_HINT:
	case DIFF_MAP_FIXED:
	case DIFF_MAP_NOREPLACE:
		got =
		    done(syscall(SYS_mmap, address, length, operation->protection, operation->flags, -1, 0));
		break;
	case DIFF_MAP_OBJECT:
		got = done(syscall(SYS_mmap, address, length, operation->protection, operation->flags,
				   linux_object_file(operation->object), operation->offset));
		break;
	case DIFF_UNMAP:
		got = done(syscall(SYS_munmap, address, length));
		break;
	case DIFF_PROTECT:
		got = done(syscall(SYS_mprotect, address, length, operation->protection));
		break;
	case DIFF_REMAP:
	case DIFF_REMAP_MAYMOVE:
	case DIFF_REMAP_FIXED:
	case DIFF_REMAP_DONTUNMAP:
		got = done(syscall(SYS_mremap, address, length, operation->new_length, operation->flags,
				   operation->new_address));
		break;
	case DIFF_LOCK:
		got = done(syscall(SYS_mlock, address, length));
		break;
	case DIFF_UNLOCK:
		got = done(syscall(SYS_munlock, address, length));
		break;
	case DIFF_MINCORE:
		memset(resident, 0, sizeof(resident));
		got = done(syscall(SYS_mincore, address, length, resident));
		for (unsigned i = 0; i < sizeof(resident) && !got; i++)
			result->value |= (uint64_t)(resident[i] & 1) << i;
		break;
	case DIFF_SYNC:
		got = done(syscall(SYS_msync, address, length, operation->flags));
		break;
	case DIFF_LIMIT:
		got = run_limit(operation);
		break;
	case DIFF_FORK:
		got = run_fork(operation);
		break;
	case DIFF_READ:
	case DIFF_WRITE:
		run_copy(operation, result);
		return;
	case DIFF_SWAP:
		run_swap(operation, result);
		return;
	case DIFF_OBJECT_RESIZE:
	case DIFF_OBJECT_PUNCH:
	case DIFF_OBJECT_READ:
	case DIFF_OBJECT_WRITE:
	case DIFF_OBJECT_SYNC:
	case DIFF_LOOK_OBJECT:
		linux_object_run(operation, result);
		return;
	case DIFF_OPEN:
		run_open();
		break;
	case DIFF_LOOK:
		break;
	case DIFF_PAGEOUT:
		got = done(syscall(SYS_madvise, address, length, advice[DIFF_COLD]));
		break;
	default:
		got = done(syscall(SYS_madvise, address, length, advice[operation->kind]));
		break;
	}
	if (got < 0 || operation->kind > DIFF_MAP_OBJECT) {
		result->error = (int32_t)got;
	}
	if (got >= 0 && (operation->kind <= DIFF_MAP_OBJECT ||
			 (operation->kind >= DIFF_REMAP && operation->kind <= DIFF_REMAP_DONTUNMAP))) {
		result->error = 0;
		result->value = (uint64_t)got;
	}
}

static uint64_t digest_page(uint64_t address)
{
	static uint64_t digest;

	digest = 0;
	if (BEGIN_ACCESS())
		digest = diff_digest(pointer(address), MODEL_PAGE);
	END_ACCESS();
	return digest;
}

/* One mapping as the pages that it has in the window. */
static void look_at(const struct linux_mapping *mapping, bool with_bytes, struct diff_look *look)
{
	static unsigned char resident[DIFF_PAGES];
	uint64_t first = (mapping->start - DIFF_START) / MODEL_PAGE;

	mincore(pointer(mapping->start), mapping->end - mapping->start, resident);
	for (uint64_t at = mapping->start; at < mapping->end; at += MODEL_PAGE) {
		uint64_t index = (at - DIFF_START) / MODEL_PAGE;
		struct diff_page *page = &look->page[index];

		page->state = DIFF_MAPPED | (uint64_t)mapping->protection |
			      (mapping->shared ? DIFF_SHARED : 0) | (at == mapping->start ? DIFF_STARTS : 0);
		page->state |= diff_offset_state(mapping->offset);
		if (!diff_is_file(page->state))
			page->state |= resident[index - first] & 1 ? DIFF_RESIDENT : 0;
		if (with_bytes && mapping->protection &&
		    ((page->state & DIFF_RESIDENT) || diff_is_file(page->state)))
			page->bytes = digest_page(at);
	}
}

static void look(bool with_bytes, struct diff_look *look)
{
	static char text[32768];
	const char *line = text;
	struct linux_mapping mapping = {0};
	size_t size = 0;
	ssize_t got;

	memset(look, 0, sizeof(*look));
	/* The window comes first; what follows need not be read. */
	do {
		got = pread(self.maps, text + size, sizeof(text) - 1 - size, (off_t)size);
		if (got <= 0)
			break;
		size += (size_t)got;
		text[size] = '\0';
		while (mapping.start < DIFF_END) {
			const char *next = linux_next_mapping(line, &mapping);

			if (!next)
				break;
			line = next;
			if (mapping.start >= DIFF_START && mapping.end <= DIFF_END)
				look_at(&mapping, with_bytes, look);
		}
	} while (mapping.start < DIFF_END);
}

static void end_process(uint32_t next)
{
	struct linux_channel *channel = self.channel;

	channel->alive[self.space] = false;
	channel->exiting = self.space;
	channel->next = next;
	linux_turn_give(&channel->test, LINUX_EXITING);
	_exit(0);
}

static bool is_last(void)
{
	unsigned alive = 0;

	for (unsigned i = 0; i < DIFF_SPACES; i++)
		alive += self.channel->alive[i];
	return alive == 1;
}

/* Carries out operations from `i` on until another process has the turn, or the sequence is at its end. */
static void run_from(uint32_t i)
{
	struct linux_channel *channel = self.channel;

	for (; i < channel->sequence.count; i++) {
		const struct diff_operation *operation = &channel->sequence.operation[i];
		struct diff_result *result = &channel->record.result[i];

		if (!channel->alive[operation->space]) {
			result->error = DIFF_PASSED_OVER;
			continue;
		}
		if (operation->space != self.space) {
			linux_turn_give(&channel->turn[operation->space], i + 1);
			return;
		}
		if (operation->kind == DIFF_EXIT) {
			if (!is_last())
				end_process(i + 1);
			result->error = DIFF_PASSED_OVER;
		} else {
			run(operation, result);
		}
		if (operation->check)
			look(operation->check == DIFF_CHECK_BYTES, &channel->record.look[i]);
	}
	linux_turn_give(&channel->test, LINUX_DONE);
}

void linux_process(struct linux_channel *channel, unsigned space)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};
	pid_t test = getppid();

	self.channel = channel;
	self.space = space;
	channel->pid[space] = getpid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	open_maps();
	for (;;) {
		uint32_t turn = linux_turn_wait(&channel->turn[space]);

		if (turn == LINUX_TURN_QUIT || getppid() != test)
			_exit(0);
		if (turn)
			run_from(turn - 1);
	}
}
