/* SPDX-License-Identifier: MIT */
/*
 * Holds a YAML document against a libcyaml schema, to say in a person's words where it does not fit.
 */
#ifndef LAB_DOCUMENT_CHECK_H
#define LAB_DOCUMENT_CHECK_H

#include <cyaml/cyaml.h>
#include <yaml.h>

#include "base/message.h"

/*
 * Returns 0 when the document fits `schema`, a mapping; else the line (from 1) of the first place that does
 * not, with what is wrong there in `why`. Knows the types that our schemas use: integers, floats, booleans,
 * strict enums, strings, mappings, sequences and what is to be ignored.
 */
unsigned document_check(yaml_document_t *tree, const struct cyaml_schema_value *schema, struct message *why);

#endif
