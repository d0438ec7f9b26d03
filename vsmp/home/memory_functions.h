/* SPDX-License-Identifier: MIT */
/*
 * Included before everything else into instrumented code: memory functions become calls that the machine
 * sees.
 */
#ifndef VSMP_HOME_MEMORY_FUNCTIONS_H
#define VSMP_HOME_MEMORY_FUNCTIONS_H

#include <stddef.h>
#include <string.h>

/* As their namesakes of the C library. */
void *vsmp_memset(void *memory, int byte, size_t bytes);
void *vsmp_memcpy(void *target, const void *source, size_t bytes);
void *vsmp_memmove(void *target, const void *source, size_t bytes);
int vsmp_memcmp(const void *one, const void *other, size_t bytes);

#undef memset
#undef memcpy
#undef memmove
#undef memcmp
#define memset  vsmp_memset
#define memcpy  vsmp_memcpy
#define memmove vsmp_memmove
#define memcmp  vsmp_memcmp

#endif
