/* SPDX-License-Identifier: MIT */
/*
 * What the program's DWARF says about memory: the variable at an address, the field at an offset of a type,
 * the file that a function was written in. Not for a simulated CPU's stack: libdw needs more than it has.
 */
#ifndef VSMP_OBSERVE_DEBUGINFO_H
#define VSMP_OBSERVE_DEBUGINFO_H

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFO_NAME_BYTES 256

/*
 * A place in memory, for people: base and field joined by a dot name it. Indices of arrays are left out, so
 * that all elements have one name. A field that is cut to the room for it still ends with a NUL.
 */
struct debuginfo_name {
	char base[DEBUGINFO_NAME_BYTES];  /* "struct page", "struct spinlock memtype_lock", "int table[]" */
	char field[DEBUGINFO_NAME_BYTES]; /* "lru.next", "free[]", "" for all of it or when it is not known */
};

/*
 * Reads the debug information. Later calls do nothing. Returns 0, also when there is none, or -ENOMEM.
 * The other functions know nothing before.
 */
int debuginfo_open(void);

/* Names `bytes` (at least 1) bytes of a global variable from `address` on. Returns 0, or -1 if there is none.
 */
int debuginfo_variable(uintptr_t address, size_t bytes, struct debuginfo_name *name);

/* The same with the numbers of elements in its fields: "free[2]". */
int debuginfo_exact_variable(uintptr_t address, size_t bytes, struct debuginfo_name *name);

/*
 * Names `bytes` (at least 1) bytes at `offset` of an array of `type_name` ("struct page", "uint64_t"). A type
 * that the debug information does not have is a base without fields. A range that begins in one field
 * and ends in another is written "first..last".
 */
void debuginfo_field(const char *type_name, uint64_t offset, size_t bytes, struct debuginfo_name *name);

/* The same with the numbers of elements. */
void debuginfo_exact_field(const char *type_name, uint64_t offset, size_t bytes, struct debuginfo_name *name);

/* How far apart the elements of an array of a type are; 0 when the type is not known or can be in no array.
 */
uint64_t debuginfo_element_bytes(const char *type_name);

/* The path of the source file where the function at `function` is written, or NULL. */
const char *debuginfo_function_file(const void *function);

#endif
