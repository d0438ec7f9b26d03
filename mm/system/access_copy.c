/* SPDX-License-Identifier: MIT */
/*
 * Copying bytes in and out, and the compare-and-swap of a word. Each page is used inside one access section,
 * so its frame stays what it is until the bytes are copied.
 */
#include <errno.h>
#include <string.h>

#include "mm/system/access.h"
#include "mm/system/internal.h"
#include "port/mmu.h"

/* Copies what lies in one page. Returns 0, or why not. */
static int copy_part(struct sf_space *space, uint64_t address, char *buffer, size_t bytes, enum touch touch,
		     struct sf_signal *signal)
{
	struct fault fault;
	uint64_t pte;
	char *contents;
	int error = access_begin(&fault, space, address, touch, &pte);

	if (error) {
		access_signal(signal, &fault, error, address);
		return error;
	}
	contents = access_contents(space, pte, address);
	if (contents && touch == TOUCH_WRITE)
		memcpy(contents, buffer, bytes);
	else if (contents)
		memcpy(buffer, contents, bytes);
	port_mmu_access_end();
	if (contents)
		return 0;
	access_signal_no_contents(signal, address);
	return -EFAULT;
}

static size_t copy(struct sf_space *space, uint64_t address, char *buffer, size_t bytes, enum touch touch,
		   struct sf_signal *signal)
{
	struct sf_system *system = space->parts.system;
	size_t done = 0;

	system_enter(system);
	while (done < bytes) {
		uint64_t at = address + done;
		size_t part = PORT_PAGE_SIZE - at % PORT_PAGE_SIZE;

		if (part > bytes - done)
			part = bytes - done;
		if (copy_part(space, at, buffer + done, part, touch, signal))
			break;
		done += part;
	}
	system_exit(system);
	return done;
}

size_t sf_read(struct sf_space *space, uint64_t address, void *buffer, size_t bytes, struct sf_signal *signal)
{
	return copy(space, address, buffer, bytes, TOUCH_READ, signal);
}

size_t sf_write(struct sf_space *space, uint64_t address, const void *buffer, size_t bytes,
		struct sf_signal *signal)
{
	/* Only read from. */
	return copy(space, address, (char *)(uintptr_t)buffer, bytes, TOUCH_WRITE, signal);
}

/*
 * Opens an access section in which the word at `address` may be written. Returns it, or NULL with *error and
 * *signal and no section.
 */
static void *word_begin(struct sf_space *space, uint64_t address, size_t bytes, int *error,
			struct sf_signal *signal)
{
	struct fault fault;
	uint64_t pte;
	void *word;

	*error = -EINVAL;
	if (address % bytes)
		return NULL;
	*error = access_begin(&fault, space, address, TOUCH_WRITE, &pte);
	if (*error) {
		access_signal(signal, &fault, *error, address);
		return NULL;
	}
	word = access_contents(space, pte, address);
	if (!word) {
		port_mmu_access_end();
		access_signal_no_contents(signal, address);
		*error = -EFAULT;
	}
	return word;
}

int sf_compare_swap_32(struct sf_space *space, uint64_t address, uint32_t *expected, uint32_t desired,
		       struct sf_signal *signal)
{
	struct sf_system *system = space->parts.system;
	_Atomic uint32_t *word;
	int result;

	system_enter(system);
	word = word_begin(space, address, sizeof(*word), &result, signal);
	if (word) {
		result = atomic_compare_exchange_strong_explicit(word, expected, desired,
								 memory_order_seq_cst, memory_order_seq_cst);
		port_mmu_access_end();
	}
	system_exit(system);
	return result;
}

int sf_compare_swap_64(struct sf_space *space, uint64_t address, uint64_t *expected, uint64_t desired,
		       struct sf_signal *signal)
{
	struct sf_system *system = space->parts.system;
	_Atomic uint64_t *word;
	int result;

	system_enter(system);
	word = word_begin(space, address, sizeof(*word), &result, signal);
	if (word) {
		result = atomic_compare_exchange_strong_explicit(word, expected, desired,
								 memory_order_seq_cst, memory_order_seq_cst);
		port_mmu_access_end();
	}
	system_exit(system);
	return result;
}
