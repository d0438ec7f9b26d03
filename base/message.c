/* SPDX-License-Identifier: MIT */
#include "base/message.h"

#include <stdio.h>
#include <string.h>

int message_set(struct message *message, int error, const char *format, ...)
{
	va_list arguments;

	if (!message)
		return error;
	va_start(arguments, format);
	vsnprintf(message->text, sizeof(message->text), format, arguments);
	va_end(arguments);
	return error;
}

struct message_quote message_quote(const char *text)
{
	struct message_quote quote;
	size_t end = 0;

	for (; text[end] && end < sizeof(quote.text) - 1; end++)
		quote.text[end] = (unsigned char)text[end] < ' ' || text[end] == 127 ? '?' : text[end];
	if (text[end]) {
		/* No character of several bytes (UTF-8) is cut in two. */
		end = sizeof(quote.text) - sizeof("...");
		while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
			end--;
		memcpy(quote.text + end, "...", 3);
		end += 3;
	}
	quote.text[end] = '\0';
	return quote;
}
