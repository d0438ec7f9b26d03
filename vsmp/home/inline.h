/* SPDX-License-Identifier: MIT */
/*
 * How the machine's entry points are compiled into the code that it runs: unseen by the profile, so that the
 * time of waiting for a lock stands under the lock's own functions.
 */
#ifndef VSMP_HOME_INLINE_H
#define VSMP_HOME_INLINE_H

#define PORT_HOME_INLINE static inline __attribute__((no_instrument_function))

#endif
