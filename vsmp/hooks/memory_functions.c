/* SPDX-License-Identifier: MIT */
/*
 * memset and its kind. gcc expands those of constant size in place, without a hook; so instrumented code is
 * compiled with vsmp/home/memory_functions.h, which leads the calls here.
 */
#include "vsmp/home/memory_functions.h"

#include "vsmp/access.h"
#include "vsmp/hooks/names.h"

#undef memset
#undef memcpy
#undef memmove
#undef memcmp

void *vsmp_memset(void *memory, int byte, size_t bytes)
{
	access_range((uintptr_t)memory, bytes, ACCESS_WRITE, __builtin_return_address(0));
	return memset(memory, byte, bytes);
}

void *vsmp_memcpy(void *target, const void *source, size_t bytes)
{
	access_range((uintptr_t)source, bytes, ACCESS_READ, __builtin_return_address(0));
	access_range((uintptr_t)target, bytes, ACCESS_WRITE, __builtin_return_address(0));
	return memcpy(target, source, bytes);
}

void *vsmp_memmove(void *target, const void *source, size_t bytes)
{
	access_range((uintptr_t)source, bytes, ACCESS_READ, __builtin_return_address(0));
	access_range((uintptr_t)target, bytes, ACCESS_WRITE, __builtin_return_address(0));
	return memmove(target, source, bytes);
}

int vsmp_memcmp(const void *one, const void *other, size_t bytes)
{
	access_range((uintptr_t)one, bytes, ACCESS_READ, __builtin_return_address(0));
	access_range((uintptr_t)other, bytes, ACCESS_READ, __builtin_return_address(0));
	return memcmp(one, other, bytes);
}

void *__tsan_memset(void *memory, int byte, size_t bytes)
{
	return vsmp_memset(memory, byte, bytes);
}

void *__tsan_memcpy(void *target, const void *source, size_t bytes)
{
	return vsmp_memcpy(target, source, bytes);
}

void *__tsan_memmove(void *target, const void *source, size_t bytes)
{
	return vsmp_memmove(target, source, bytes);
}
