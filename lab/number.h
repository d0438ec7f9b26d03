/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people read them.
 */
#ifndef LAB_NUMBER_H
#define LAB_NUMBER_H

struct number {
	char text[32];
};

/* Three digits that count, never with an exponent below a million million: "0.0123", "4.05", "888", "13400".
 */
struct number number_text(double value);

/* A share of a whole in percent, two digits after the point. */
struct number number_percent(double percent);

#endif
