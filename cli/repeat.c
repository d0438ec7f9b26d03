/* SPDX-License-Identifier: MIT */
#include "cli/repeat.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const outputs[] = {"--json", "--report"};

/* How many words an option about output takes, of which `word` is the first; 0: it is none. argp takes any
 * beginning that is unique; three letters are. */
static int output_words(const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (length > 4 && !strncmp(word, outputs[i], length) && length <= strlen(outputs[i]))
			return word[length] ? 1 : 2;
	return 0;
}

static void quote(FILE *out, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
					"_-=,.:/+%@")]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", out);
		fputc(*word, out);
	}
	fputc('\'', out);
}

static char **words;
static int word_count;

void repeat_remember(int argc, char **argv)
{
	words = calloc((size_t)argc + 1, sizeof(*words));
	for (int i = 1; words && i < argc; i++)
		words[word_count++] = argv[i];
}

void repeat_note(json_t *result)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out || !result)
		goto out;
	fputs("softfault", out);
	for (int i = 0; i < word_count; i++) {
		int skipped = output_words(words[i]);

		if (skipped) {
			i += skipped - 1;
			continue;
		}
		fputc(' ', out);
		quote(out, words[i]);
	}
	fflush(out);
	json_object_set_new(result, "command", json_string(text));
out:
	if (out)
		fclose(out);
	free(text);
}
