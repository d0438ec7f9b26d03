/* SPDX-License-Identifier: MIT */
#include "lab/document.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lab/document_check.h"
#include "lab/files.h"

/* So much of a long path's end stands in a message, which must have room for the rest. */
#define PATH_SHOWN 300

struct document {
	char *path;
	const char *guide;
	char *text;
	size_t bytes;
	yaml_document_t tree;
	bool parsed;
};

static const cyaml_config_t cyaml_config = {
    .log_fn = NULL,
    .mem_fn = cyaml_mem,
    .log_level = CYAML_LOG_ERROR,
    .flags = CYAML_CFG_NO_ALIAS,
};

static int located(struct document *document, struct message *why, unsigned line, const char *format,
		   va_list arguments)
{
	size_t length = strlen(document->path);
	bool cut = length > PATH_SHOWN;
	char text[MESSAGE_BYTES];

	vsnprintf(text, sizeof(text), format, arguments);
	return message_set(why, -EINVAL, "%s%s:%u: %s", cut ? "..." : "",
			   document->path + (cut ? length - PATH_SHOWN : 0), line, text);
}

static int error_at(struct document *document, struct message *why, unsigned line, const char *format, ...)
    PRINTF_LIKE(4, 5);

static int error_at(struct document *document, struct message *why, unsigned line, const char *format, ...)
{
	va_list arguments;
	int error;

	va_start(arguments, format);
	error = located(document, why, line, format, arguments);
	va_end(arguments);
	return error;
}

/* libyaml counts lines from 0. */
static int parse(struct document *document, struct message *why)
{
	yaml_parser_t parser;
	yaml_document_t second;
	yaml_node_t *root;
	int error = 0;

	if (!yaml_parser_initialize(&parser))
		return message_set(why, -ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)document->text, document->bytes);
	document->parsed = yaml_parser_load(&parser, &document->tree);
	if (!document->parsed) {
		error = error_at(document, why, (unsigned)parser.problem_mark.line + 1,
				 "not YAML: %s%s%s; see %s for how such a file looks",
				 parser.problem ? parser.problem : "it cannot be read",
				 parser.context ? ", " : "", parser.context ? parser.context : "",
				 document->guide);
		goto out;
	}
	root = yaml_document_get_root_node(&document->tree);
	if (!root) {
		error = error_at(document, why, 1, "the file is empty; its first key would be \"name\"");
		goto out;
	}
	if (root->type != YAML_MAPPING_NODE) {
		error = error_at(document, why, (unsigned)root->start_mark.line + 1,
				 "the file must hold keys and values, such as \"name: uv\"");
		goto out;
	}
	if (!yaml_parser_load(&parser, &second)) {
		error = error_at(document, why, (unsigned)parser.problem_mark.line + 1, "not YAML: %s",
				 parser.problem ? parser.problem : "it cannot be read");
		goto out;
	}
	root = yaml_document_get_root_node(&second);
	if (root)
		error = error_at(document, why, (unsigned)root->start_mark.line + 1,
				 "a second document begins; a file holds one");
	yaml_document_delete(&second);
out:
	yaml_parser_delete(&parser);
	return error;
}

int document_open(struct document **document, const char *path, const char *guide, struct message *why)
{
	struct document *made = calloc(1, sizeof(*made));
	int error = -ENOMEM;

	if (made) {
		made->path = strdup(path);
		made->guide = guide;
	}
	if (!made || !made->path)
		message_set(why, -ENOMEM, "out of memory");
	else
		error = files_read(path, &made->text, &made->bytes, why);
	if (!error)
		error = parse(made, why);
	if (error) {
		document_close(made);
		return error;
	}
	*document = made;
	return 0;
}

void document_close(struct document *document)
{
	if (!document)
		return;
	if (document->parsed)
		yaml_document_delete(&document->tree);
	free(document->text);
	free(document->path);
	free(document);
}

const char *document_path(const struct document *document)
{
	return document->path;
}

/* What libcyaml says when it refuses what our own check let pass: its first line, without "Load: ". */
static void keep_log(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
	struct message *said = context;

	(void)level;
	if (said->text[0])
		return;
	vsnprintf(said->text, sizeof(said->text), format, arguments);
	said->text[strcspn(said->text, "\n")] = '\0';
}

int document_load(struct document *document, const struct cyaml_schema_value *schema, void **data,
		  struct message *why)
{
	cyaml_config_t config = cyaml_config;
	struct message said = {""};
	unsigned line = document_check(&document->tree, schema, &said);
	cyaml_err_t error;

	if (line)
		return error_at(document, why, line, "%s", said.text);
	config.log_fn = keep_log;
	config.log_ctx = &said;
	error =
	    cyaml_load_data((const uint8_t *)document->text, document->bytes, &config, schema, data, NULL);
	if (error)
		return error_at(document, why, document_line(document, ""), "%s (%s)", cyaml_strerror(error),
				said.text);
	return 0;
}

void document_free(const struct cyaml_schema_value *schema, void *data)
{
	cyaml_free(&cyaml_config, schema, data, 0);
}

static yaml_node_t *child(struct document *document, yaml_node_t *node, const char *key, size_t key_bytes,
			  yaml_node_t **key_node)
{
	if (node->type == YAML_SEQUENCE_NODE) {
		yaml_node_item_t *item = node->data.sequence.items.start + strtoul(key, NULL, 10);

		if (item >= node->data.sequence.items.top)
			return NULL;
		return *key_node = yaml_document_get_node(&document->tree, *item);
	}
	if (node->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
	     pair++) {
		yaml_node_t *name = yaml_document_get_node(&document->tree, pair->key);

		if (name->type == YAML_SCALAR_NODE && name->data.scalar.length == key_bytes &&
		    !memcmp(name->data.scalar.value, key, key_bytes)) {
			*key_node = name;
			return yaml_document_get_node(&document->tree, pair->value);
		}
	}
	return NULL;
}

/* Returns the node at `place`, or NULL; `*last` is the key of the deepest part of it that is there. */
static yaml_node_t *find(struct document *document, const char *place, yaml_node_t **last)
{
	yaml_node_t *node = yaml_document_get_root_node(&document->tree);

	*last = node;
	while (node && *place) {
		size_t bytes = strcspn(place, ".");

		node = child(document, node, place, bytes, last);
		place += bytes + (place[bytes] == '.');
	}
	return node;
}

unsigned document_line(struct document *document, const char *place)
{
	yaml_node_t *last;

	find(document, place, &last);
	return (unsigned)last->start_mark.line + 1;
}

size_t document_length(struct document *document, const char *place)
{
	yaml_node_t *last;
	yaml_node_t *node = find(document, place, &last);

	if (!node || node->type != YAML_SEQUENCE_NODE)
		return 0;
	return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

int document_number(struct document *document, const char *place, unsigned most, unsigned *number,
		    struct message *why)
{
	yaml_node_t *last;
	yaml_node_t *node = find(document, place, &last);
	unsigned long value;
	char *end;

	if (!node || node->type != YAML_SCALAR_NODE)
		return document_error(document, why, place, "a whole number from 0 to %u must stand here",
				      most);
	errno = 0;
	value = strtoul((const char *)node->data.scalar.value, &end, 10);
	if (errno || *end || node->data.scalar.value[0] < '0' || node->data.scalar.value[0] > '9' ||
	    value > most)
		return document_error(document, why, place, "\"%s\" must be a whole number from 0 to %u",
				      message_quote((const char *)node->data.scalar.value).text, most);
	*number = (unsigned)value;
	return 0;
}

int document_error(struct document *document, struct message *why, const char *place, const char *format, ...)
{
	va_list arguments;
	int error;

	va_start(arguments, format);
	error = located(document, why, document_line(document, place), format, arguments);
	va_end(arguments);
	return error;
}
