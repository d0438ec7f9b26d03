/* SPDX-License-Identifier: MIT */
/*
 * A YAML file whose every error has a line. libcyaml fills our structures from it by a schema; before that,
 * the same schema is held against the document's nodes, so that a person is told where the file is wrong and
 * what would be right. After that, checks of meaning name a place and get its line here.
 *
 * A place is a path of keys and of positions from 0: "parameters.hit.low", "variants.2.base"; "" is the
 * whole.
 */
#ifndef LAB_DOCUMENT_H
#define LAB_DOCUMENT_H

#include <cyaml/cyaml.h>

#include "base/message.h"

struct document;

/* A mapping whose keys fill members of the structure around it, so that their offsets count from its start.
 */
#define DOCUMENT_GROUP(name, structure, group_fields)                                    \
	{                                                                                \
		.key = name, .data_offset = 0, .value = {                                \
			CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, structure, group_fields) \
		}                                                                        \
	}

/* The same for one that may be missing; its members are then zeroes. */
#define DOCUMENT_OPTIONAL_GROUP(name, structure, group_fields)                            \
	{                                                                                 \
		.key = name, .data_offset = 0, .value = {                                 \
			CYAML_VALUE_MAPPING(CYAML_FLAG_OPTIONAL, structure, group_fields) \
		}                                                                         \
	}

/*
 * Reads the file at `path` (copied) and parses it. `guide` is the page that tells how such a file looks; it
 * must outlive the document. Returns 0; -EINVAL with a located message when it is not
 * one YAML mapping; another negative errno with a message when it cannot be read. document_close() frees it.
 */
int document_open(struct document **document, const char *path, const char *guide, struct message *why);
void document_close(struct document *document);

/* Returns the path that it was opened with. */
const char *document_path(const struct document *document);

/*
 * Fills a new structure by `schema` (of a mapping, with CYAML_FLAG_POINTER); document_free() with the same
 * schema frees it. Returns 0, or -EINVAL with a located message: an unknown, missing or repeated key, a value
 * of the wrong type, a word that is none of the choices.
 */
int document_load(struct document *document, const struct cyaml_schema_value *schema, void **data,
		  struct message *why);
void document_free(const struct cyaml_schema_value *schema, void *data);

/* Returns how many items the sequence at `place` has; 0 when there is no sequence there. */
size_t document_length(struct document *document, const char *place);

/*
 * Reads a whole number, 0 to `most`, at `place`. It is for sequences of sequences, for which libcyaml would
 * have to know the length when we compile. Returns 0, or -EINVAL with a located message.
 */
int document_number(struct document *document, const char *place, unsigned most, unsigned *number,
		    struct message *why);

/* Returns the line of the key at `place`, or of the deepest part of it that is there; the first is 1. */
unsigned document_line(struct document *document, const char *place);

/* Fills `why` with "FILE:LINE: text", the line being that of `place`. Returns -EINVAL. */
int document_error(struct document *document, struct message *why, const char *place, const char *format, ...)
    PRINTF_LIKE(4, 5);

#endif
