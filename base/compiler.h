/* SPDX-License-Identifier: MIT */
/*
 * Small facts about the compiler and the processor that every floor may use.
 */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stddef.h>

/* A cache line of every machine that softfault simulates or runs on, in bytes. */
#define CACHE_LINE_BYTES 64

/* Starts a field or an object on a cache line of its own. */
#define CACHE_LINE_ALIGNED _Alignas(CACHE_LINE_BYTES)

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The structure that holds `member`, from a pointer to that member. */
#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* Makes the compiler check a printf-like call: `format_at` and `first_at` count parameters from 1. */
#define PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

#endif
