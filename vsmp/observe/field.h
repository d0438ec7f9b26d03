/* SPDX-License-Identifier: MIT */
/*
 * Which field of a type stands at an offset.
 */
#ifndef VSMP_OBSERVE_FIELD_H
#define VSMP_OBSERVE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vsmp/observe/debuginfo.h"
#include "vsmp/observe/program.h"

/*
 * Writes the path of the innermost field of `type` that holds the `bytes` bytes at `offset`: "lru.next",
 * "free[]", with `indices` "free[2]"; "first..last" when they lie in several fields but not in all; "" for
 * the whole type, and "[padding]" where no field is.
 */
void field_describe(Dwarf_Die *type, uint64_t offset, uint64_t bytes, bool indices,
		    char path[DEBUGINFO_NAME_BYTES]);

/* Writes to name->base what a variable's declaration reads like: "struct spinlock memtype_lock", "int
 * table[]". */
void field_declare(Dwarf_Die *type, const char *variable, struct debuginfo_name *name);

/* True when `type` is a structure whose last field is an array of no fixed length. */
bool field_is_open_ended(Dwarf_Die *type);

#endif
