/* SPDX-License-Identifier: MIT */
/* void fiber_switch(struct fiber *from, struct fiber *to): the stack pointer is the first field of both. */
	.text
	.globl	fiber_switch
	.type	fiber_switch, @function
	.p2align 4
fiber_switch:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	(%rsi), %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.size	fiber_switch, .-fiber_switch

/* The first code of a new fiber: fiber_reset() left the entry in r12 and its argument in rbx. */
	.globl	fiber_start
	.type	fiber_start, @function
	.p2align 4
fiber_start:
	movq	%rbx, %rdi
	xorl	%ebp, %ebp
	call	*%r12
	ud2
	.size	fiber_start, .-fiber_start

	.section .note.GNU-stack,"",@progbits
