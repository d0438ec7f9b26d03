/* SPDX-License-Identifier: MIT */
/*
 * Inside of the frame cache `magazine`: its making and its check, which stand in files of their own.
 */
#ifndef MM_PAGE_MAGAZINE_PARTS_H
#define MM_PAGE_MAGAZINE_PARTS_H

#include "mm/page/frame_cache.h"

/* As in struct frame_cache_ops. */
int magazines_create(struct frames *frames);
void magazines_destroy(struct frames *frames);
uint64_t magazines_untouched(struct frames *frames, unsigned node);
int magazines_check(struct frames *frames, struct frame_census *census, struct message *why);

#endif
