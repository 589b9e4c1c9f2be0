// SPDX-License-Identifier: Apache-2.0
//! The runtime of compiled code: functions with the C calling convention whose parameters are 64 bits wide.
//! `pass` has the structures that compiled code and its callers share.

mod function;
pub(crate) mod hashes;
pub(crate) mod packet;
pub(crate) mod pass;
pub(crate) mod state;
pub(crate) mod tables;
pub(crate) mod wide;

pub(crate) use function::RuntimeFunction;

/// Prefetches the cache line at an address.
#[inline(always)]
pub(crate) fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching does nothing but to fill the cache, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address as *const i8) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
