// SPDX-License-Identifier: Apache-2.0
//! A call from compiled code to a function of the runtime that preserves all registers, in assembly for x86-64.
//! On other machines Cranelift compiles one, which also saves vector registers, which compiled code never uses.

/// The address of a function that calls a function of two arguments and preserves all registers but vector
/// registers, if there is one. Its parameters are the callee's address, the two arguments, and the address of
/// the result.
pub(crate) fn call_2_for_result() -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        Some(x86_64::call_2_for_result as *const () as usize)
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    {
        None
    }
}

#[cfg(all(target_arch = "x86_64", unix))]
mod x86_64 {
    use std::arch::naked_asm;

    /// # Safety
    ///
    /// `function` (rdi) takes two words (rsi, rdx) and gives one, for which there is room at the address
    /// in rcx.
    #[unsafe(naked)]
    pub(super) unsafe extern "C" fn call_2_for_result() {
        // Nine words and the return address keep the stack at a multiple of 16 bytes.
        naked_asm!(
            "push rax",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "push r8",
            "push r9",
            "push r10",
            "push r11",
            "mov rax, rdi",
            "mov rdi, rsi",
            "mov rsi, rdx",
            "call rax",
            "mov rcx, [rsp + 56]",
            "mov [rcx], rax",
            "pop r11",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop rax",
            "ret",
        )
    }
}
