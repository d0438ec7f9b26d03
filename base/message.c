/* SPDX-License-Identifier: MIT */
#include "base/message.h"

#include <stdio.h>

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
