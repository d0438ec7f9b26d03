/* SPDX-License-Identifier: MIT */
#include "lab/document_check.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/names.h"

#define NAMES_MAX 96

struct check {
	yaml_document_t *tree;
	struct message *why;
};

static unsigned line_of(const yaml_node_t *node)
{
	return (unsigned)node->start_mark.line + 1;
}

static const char *text_of(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* What a person wrote, for a message: the word, or what kind of thing it is. */
static struct message_quote written(const yaml_node_t *node)
{
	if (node->type == YAML_MAPPING_NODE)
		return message_quote("a mapping");
	if (node->type == YAML_SEQUENCE_NODE)
		return message_quote("a list");
	return message_quote(*text_of(node) ? text_of(node) : "nothing");
}

static unsigned wrong(struct check *check, const yaml_node_t *node, const char *key, const char *right)
{
	message_set(check->why, -EINVAL, "\"%s\" is %s%s%s; it must be %s", key,
		    node->type == YAML_SCALAR_NODE && *text_of(node) ? "\"" : "", written(node).text,
		    node->type == YAML_SCALAR_NODE && *text_of(node) ? "\"" : "", right);
	return line_of(node);
}

static unsigned check_integer(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			      const yaml_node_t *node)
{
	unsigned long long most = schema->data_size >= 8 ? ~0ull : (1ull << (8 * schema->data_size)) - 1;
	unsigned long long value;
	char *end;

	if (node->type != YAML_SCALAR_NODE || text_of(node)[0] < '0' || text_of(node)[0] > '9')
		return wrong(check, node, key, "a whole number, 0 or more");
	errno = 0;
	value = strtoull(text_of(node), &end, 10);
	if (*end || (text_of(node)[0] == '0' && text_of(node)[1]))
		return wrong(check, node, key, "a whole number, 0 or more");
	if (errno || value > most)
		return wrong(check, node, key, "a smaller number");
	return 0;
}

static unsigned check_float(struct check *check, const char *key, const yaml_node_t *node)
{
	char *end;

	if (node->type != YAML_SCALAR_NODE || !*text_of(node))
		return wrong(check, node, key, "a number");
	if (!isfinite(strtod(text_of(node), &end)) || *end)
		return wrong(check, node, key, "a number");
	return 0;
}

static unsigned check_boolean(struct check *check, const char *key, const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE ||
	    (strcmp(text_of(node), "true") && strcmp(text_of(node), "false")))
		return wrong(check, node, key, "true or false");
	return 0;
}

static unsigned check_enum(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			   const yaml_node_t *node)
{
	const char *names[NAMES_MAX];
	char suggestion[MESSAGE_BYTES / 2];
	size_t count = 0;

	for (uint32_t i = 0; i < schema->enumeration.count && count < NAMES_MAX; i++) {
		names[count] = schema->enumeration.strings[i].str;
		if (node->type == YAML_SCALAR_NODE && !strcmp(names[count], text_of(node)))
			return 0;
		count++;
	}
	names_suggest(suggestion, sizeof(suggestion), node->type == YAML_SCALAR_NODE ? text_of(node) : "",
		      names, count);
	message_set(check->why, -EINVAL, "\"%s\" cannot be \"%s\"; %s", key, written(node).text, suggestion);
	return line_of(node);
}

static unsigned check_string(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			     const yaml_node_t *node)
{
	char right[64];

	if (node->type != YAML_SCALAR_NODE)
		return wrong(check, node, key, "text");
	if (node->data.scalar.length < schema->string.min)
		return wrong(check, node, key, "text that is not empty");
	if (node->data.scalar.length > schema->string.max) {
		snprintf(right, sizeof(right), "text of at most %u bytes", (unsigned)schema->string.max);
		return wrong(check, node, key, right);
	}
	return 0;
}

static unsigned check_value(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			    const yaml_node_t *node, const yaml_node_t *key_node);

static unsigned check_sequence(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			       const yaml_node_t *node)
{
	size_t count;

	if (node->type != YAML_SEQUENCE_NODE)
		return wrong(check, node, key, "a list");
	count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	if (count < schema->sequence.min || count > schema->sequence.max) {
		message_set(check->why, -EINVAL, "\"%s\" has %zu items; it must have %u to %u", key, count,
			    schema->sequence.min, schema->sequence.max);
		return line_of(node);
	}
	for (size_t i = 0; i < count; i++) {
		const yaml_node_t *item =
		    yaml_document_get_node(check->tree, node->data.sequence.items.start[i]);
		unsigned line = check_value(check, schema->sequence.entry, key, item, item);

		if (line)
			return line;
	}
	return 0;
}

static const struct cyaml_schema_field *find_field(const struct cyaml_schema_value *schema, const char *key)
{
	for (const struct cyaml_schema_field *field = schema->mapping.fields; field->key; field++)
		if (!strcmp(field->key, key))
			return field;
	return NULL;
}

static unsigned unknown_key(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			    const yaml_node_t *name)
{
	const char *names[NAMES_MAX];
	char suggestion[MESSAGE_BYTES / 2];
	size_t count = 0;

	for (const struct cyaml_schema_field *field = schema->mapping.fields; field->key && count < NAMES_MAX;
	     field++)
		names[count++] = field->key;
	names_suggest(suggestion, sizeof(suggestion), written(name).text, names, count);
	message_set(check->why, -EINVAL, "unknown key \"%s\"%s%s; %s", written(name).text, *key ? " in " : "",
		    key, suggestion);
	return line_of(name);
}

static unsigned check_mapping(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			      const yaml_node_t *node, const yaml_node_t *key_node)
{
	bool given[NAMES_MAX] = {false};
	unsigned line;

	if (node->type != YAML_MAPPING_NODE)
		return wrong(check, node, key, "keys and values");
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
	     pair++) {
		const yaml_node_t *name = yaml_document_get_node(check->tree, pair->key);
		const yaml_node_t *value = yaml_document_get_node(check->tree, pair->value);
		const struct cyaml_schema_field *field =
		    name->type == YAML_SCALAR_NODE ? find_field(schema, text_of(name)) : NULL;

		if (!field)
			return unknown_key(check, schema, key, name);
		if (given[field - schema->mapping.fields]) {
			message_set(check->why, -EINVAL, "\"%s\" stands here twice; one of the two must go",
				    field->key);
			return line_of(name);
		}
		given[field - schema->mapping.fields] = true;
		line = check_value(check, &field->value, field->key, value, name);
		if (line)
			return line;
	}
	for (const struct cyaml_schema_field *field = schema->mapping.fields; field->key; field++) {
		if (given[field - schema->mapping.fields] || (field->value.flags & CYAML_FLAG_OPTIONAL))
			continue;
		message_set(check->why, -EINVAL, "%s%s%s lacks the key \"%s\"", *key ? "\"" : "",
			    *key ? key : "the file", *key ? "\"" : "", field->key);
		return line_of(key_node);
	}
	return 0;
}

static unsigned check_value(struct check *check, const struct cyaml_schema_value *schema, const char *key,
			    const yaml_node_t *node, const yaml_node_t *key_node)
{
	switch (schema->type) {
	case CYAML_INT:
	case CYAML_UINT:
		return check_integer(check, schema, key, node);
	case CYAML_FLOAT:
		return check_float(check, key, node);
	case CYAML_BOOL:
		return check_boolean(check, key, node);
	case CYAML_ENUM:
		return check_enum(check, schema, key, node);
	case CYAML_STRING:
		return check_string(check, schema, key, node);
	case CYAML_MAPPING:
		return check_mapping(check, schema, key, node, key_node);
	case CYAML_SEQUENCE:
		return check_sequence(check, schema, key, node);
	default:
		return 0;
	}
}

unsigned document_check(yaml_document_t *tree, const struct cyaml_schema_value *schema, struct message *why)
{
	struct check check = {tree, why};
	const yaml_node_t *root = yaml_document_get_root_node(tree);

	return check_value(&check, schema, "", root, root);
}
