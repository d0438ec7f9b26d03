/* SPDX-License-Identifier: MIT */
/*
 * A message: one line that tells a person what is wrong, where, and what would be right. A function that can
 * fail for a reason worth telling takes a `struct message *`, fills it, and returns a negative errno.
 */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include <stdarg.h>

#include "base/compiler.h"

#define MESSAGE_BYTES 1024

struct message {
	char text[MESSAGE_BYTES]; /* always ends with a NUL; empty when nothing went wrong */
};

/*
 * Fills `message` as printf does; a longer text is cut. `message` may be NULL, then nothing is kept.
 * Returns `error` (a negative errno), so that a caller can write `return message_set(m, -EINVAL, "...")`.
 */
int message_set(struct message *message, int error, const char *format, ...) PRINTF_LIKE(3, 4);

/* Text that somebody wrote, for a message: one line, and short, so that there is room for what is right. */
struct message_quote {
	char text[64];
};

/* Returns `text`, its end replaced by "..." if it is longer than a quote, and control characters by "?". */
struct message_quote message_quote(const char *text);

#endif
