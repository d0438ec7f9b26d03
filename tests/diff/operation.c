/* SPDX-License-Identifier: MIT */
#include "tests/diff/operation.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {
    [DIFF_MAP] = "map",
    [DIFF_MAP_HINT] = "map_hint",
    [DIFF_MAP_FIXED] = "map_fixed",
    [DIFF_MAP_NOREPLACE] = "map_noreplace",
    [DIFF_MAP_OBJECT] = "map_object",
    [DIFF_UNMAP] = "unmap",
    [DIFF_PROTECT] = "protect",
    [DIFF_REMAP] = "remap",
    [DIFF_REMAP_MAYMOVE] = "remap_maymove",
    [DIFF_REMAP_FIXED] = "remap_fixed",
    [DIFF_REMAP_DONTUNMAP] = "remap_dontunmap",
    [DIFF_NORMAL] = "normal",
    [DIFF_WILLNEED] = "willneed",
    [DIFF_DONTNEED] = "dontneed",
    [DIFF_FREE] = "free",
    [DIFF_REMOVE] = "remove",
    [DIFF_COLD] = "cold",
    [DIFF_PAGEOUT] = "pageout",
    [DIFF_HUGEPAGE] = "hugepage",
    [DIFF_NOHUGEPAGE] = "nohugepage",
    [DIFF_POPULATE_READ] = "populate_read",
    [DIFF_POPULATE_WRITE] = "populate_write",
    [DIFF_LOCK] = "lock",
    [DIFF_UNLOCK] = "unlock",
    [DIFF_SYNC] = "sync",
    [DIFF_MINCORE] = "mincore",
    [DIFF_LIMIT] = "limit",
    [DIFF_FORK] = "fork",
    [DIFF_EXIT] = "exit",
    [DIFF_READ] = "read",
    [DIFF_WRITE] = "write",
    [DIFF_SWAP] = "swap",
    [DIFF_OBJECT_RESIZE] = "object_resize",
    [DIFF_OBJECT_PUNCH] = "object_punch",
    [DIFF_OBJECT_READ] = "object_read",
    [DIFF_OBJECT_WRITE] = "object_write",
    [DIFF_OBJECT_SYNC] = "object_sync",
    [DIFF_LOOK] = "look",
    [DIFF_OPEN] = "open",
    [DIFF_LOOK_OBJECT] = "look_object",
};

const char *diff_kind_name(unsigned kind)
{
	return kind_names[kind];
}

const char *diff_error_name(int error)
{
	switch (error) {
	case 0:
		return "0";
	case 1:
		return "1";
	case -EPERM:
		return "EPERM";
	case -ENOMEM:
		return "ENOMEM";
	case -EFAULT:
		return "EFAULT";
	case -EEXIST:
		return "EEXIST";
	case -EINVAL:
		return "EINVAL";
	case -EAGAIN:
		return "EAGAIN";
	case -EACCES:
		return "EACCES";
	case -EBUSY:
		return "EBUSY";
	case -EFBIG:
		return "EFBIG";
	case -EOVERFLOW:
		return "EOVERFLOW";
	case -EIO:
		return "EIO";
	case DIFF_PASSED_OVER:
		return "passed over";
	default:
		return "another error";
	}
}

/* An address of the window as its page and what is over. */
static void print_address(char *text, size_t size, uint64_t address)
{
	if (address < DIFF_START || address > DIFF_END)
		snprintf(text, size, "%#llx", (unsigned long long)address);
	else if (address % MODEL_PAGE)
		snprintf(text, size, "p%llu+%llu", (unsigned long long)(address - DIFF_START) / MODEL_PAGE,
			 (unsigned long long)(address % MODEL_PAGE));
	else
		snprintf(text, size, "p%llu", (unsigned long long)(address - DIFF_START) / MODEL_PAGE);
}

static void print_length(char *text, size_t size, uint64_t length)
{
	if (length > DIFF_PAGES * MODEL_PAGE)
		snprintf(text, size, "%#llx", (unsigned long long)length);
	else if (length % MODEL_PAGE)
		snprintf(text, size, "%llu pages - %llu", (unsigned long long)length / MODEL_PAGE + 1,
			 (unsigned long long)(MODEL_PAGE - length % MODEL_PAGE));
	else
		snprintf(text, size, "%llu pages", (unsigned long long)length / MODEL_PAGE);
}

/* A place in an object, as its page and what is over. */
static void print_offset(char *text, size_t size, const struct diff_operation *operation)
{
	uint64_t offset = operation->offset - diff_object_base(operation->object);

	if (offset > DIFF_OBJECT_PAGES * MODEL_PAGE)
		snprintf(text, size, "object %u at %#llx", operation->object,
			 (unsigned long long)operation->offset);
	else
		snprintf(text, size, "%s %u at o%llu+%llu",
			 operation->object >= DIFF_FILES ? "file" : "object", operation->object,
			 (unsigned long long)offset / MODEL_PAGE, (unsigned long long)offset % MODEL_PAGE);
}

static void print_protection(char *text, int protection)
{
	text[0] = protection & SF_PROT_READ ? 'r' : '-';
	text[1] = protection & SF_PROT_WRITE ? 'w' : '-';
	text[2] = protection & SF_PROT_EXEC ? 'x' : '-';
	text[3] = '\0';
}

void diff_print_operation(const struct diff_operation *operation, char *text, size_t size)
{
	static const struct {
		int flag;
		const char *name;
	} flags[] = {{SF_MAP_SHARED, "SHARED"},      {SF_MAP_PRIVATE, "PRIVATE"},
		     {SF_MAP_LOCKED, "LOCKED"},      {SF_MAP_POPULATE, "POPULATE"},
		     {SF_MAP_FIXED, "FIXED"},        {SF_MAP_FIXED_NOREPLACE, "NOREPLACE"},
		     {SF_MAP_NORESERVE, "NORESERVE"}};
	char address[40], length[40], new_length[40], new_address[40], offset[60], protection[4],
	    names[90] = "";
	int used = snprintf(text, size, "space %u: %s", operation->space, diff_kind_name(operation->kind));

	text += used;
	size -= (size_t)used;
	print_address(address, sizeof(address), operation->address);
	print_length(length, sizeof(length), operation->length);
	print_length(new_length, sizeof(new_length), operation->new_length);
	print_address(new_address, sizeof(new_address), operation->new_address);
	print_offset(offset, sizeof(offset), operation);
	print_protection(protection, operation->protection);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (operation->flags & flags[i].flag) {
			strcat(names, " ");
			strcat(names, flags[i].name);
		}
	}
	switch (operation->kind) {
	case DIFF_MAP:
	case DIFF_MAP_HINT:
	case DIFF_MAP_FIXED:
	case DIFF_MAP_NOREPLACE:
		snprintf(text, size, " %s, %s, %s,%s", address, length, protection, names);
		break;
	case DIFF_MAP_OBJECT:
		snprintf(text, size, " %s, %s, %s,%s, %s", address, length, protection, names, offset);
		break;
	case DIFF_OBJECT_RESIZE:
	case DIFF_OBJECT_SYNC:
	case DIFF_LOOK_OBJECT:
		snprintf(text, size, " %s", offset);
		break;
	case DIFF_OBJECT_PUNCH:
	case DIFF_OBJECT_READ:
	case DIFF_OBJECT_WRITE:
		snprintf(text, size, " %s, %llu bytes", offset, (unsigned long long)operation->length);
		break;
	case DIFF_SYNC:
		snprintf(text, size, " %s, %s, flags %d", address, length, operation->flags);
		break;
	case DIFF_PROTECT:
		snprintf(text, size, " %s, %s, %s%s", address, length, protection,
			 operation->protection & ~7 ? " and a bad bit" : "");
		break;
	case DIFF_REMAP:
	case DIFF_REMAP_MAYMOVE:
		snprintf(text, size, " %s, %s to %s, flags %d", address, length, new_length,
			 operation->flags);
		break;
	case DIFF_REMAP_FIXED:
	case DIFF_REMAP_DONTUNMAP:
		snprintf(text, size, " %s, %s to %s at %s, flags %d", address, length, new_length,
			 new_address, operation->flags);
		break;
	case DIFF_LIMIT:
		snprintf(text, size, " %s %lld",
			 operation->target == SF_LIMIT_LOCKED ? "locked" : "address space",
			 (long long)operation->value);
		break;
	case DIFF_FORK:
		snprintf(text, size, " to space %u", operation->target);
		break;
	case DIFF_READ:
		snprintf(text, size, " %s, %llu bytes", address, (unsigned long long)operation->length);
		break;
	case DIFF_WRITE:
		snprintf(text, size, " %s, %llu bytes of %llu", address,
			 (unsigned long long)operation->length, (unsigned long long)operation->value);
		break;
	case DIFF_SWAP:
		snprintf(text, size, " %s, from %llu to %llu", address,
			 (unsigned long long)operation->expected, (unsigned long long)operation->value);
		break;
	case DIFF_EXIT:
	case DIFF_LOOK:
	case DIFF_OPEN:
		break;
	default:
		snprintf(text, size, " %s, %s", address, length);
		break;
	}
}

void diff_print_result(const struct diff_operation *operation, const struct diff_result *result, char *text,
		       size_t size)
{
	int used = snprintf(text, size, "%s", diff_error_name(result->error));
	char fault[40];

	text += used;
	size -= (size_t)used;
	print_address(fault, sizeof(fault), result->fault);
	if (result->signal) {
		used = snprintf(text, size, ", %s code %d at %s",
				result->signal == SIGSEGV  ? "SIGSEGV"
				: result->signal == SIGBUS ? "SIGBUS"
							   : "a signal",
				result->code, fault);
		text += used;
		size -= (size_t)used;
	}
	switch (operation->kind) {
	case DIFF_MAP:
	case DIFF_MAP_HINT:
	case DIFF_MAP_FIXED:
	case DIFF_MAP_NOREPLACE:
	case DIFF_MAP_OBJECT:
	case DIFF_REMAP:
	case DIFF_REMAP_MAYMOVE:
	case DIFF_REMAP_FIXED:
	case DIFF_REMAP_DONTUNMAP:
		if (!result->error) {
			print_address(fault, sizeof(fault), result->value);
			snprintf(text, size, " at %s", fault);
		}
		break;
	default:
		snprintf(text, size, ", value %#llx", (unsigned long long)result->value);
		break;
	}
}
