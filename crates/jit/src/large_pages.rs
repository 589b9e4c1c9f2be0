// SPDX-License-Identifier: Apache-2.0
//! Large pages for large tables: random lookups then miss the TLB far less often. This is only advice to the
//! operating system; `state` chooses the memory.

/// Advises the operating system to back this memory with large pages. The system may ignore the advice.
pub fn prefer_large_pages(address: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        const LARGE_PAGE_BYTES: usize = 2 << 20;
        /// Since Linux 6.1.
        const MADV_COLLAPSE: libc::c_int = 25;
        let start = address.next_multiple_of(LARGE_PAGE_BYTES);
        let end = (address.saturating_add(bytes)) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
        if start < end {
            for advice in [libc::MADV_HUGEPAGE, MADV_COLLAPSE] {
                // SAFETY: neither advice changes what memory holds, whose it is or whether there is any.
                unsafe { libc::madvise(start as *mut libc::c_void, end - start, advice) };
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, bytes);
}

#[cfg(test)]
mod tests {
    use super::prefer_large_pages;

    #[test]
    fn memory_keeps_its_content() {
        let words: Vec<u64> = (0..1 << 20).collect();
        prefer_large_pages(words.as_ptr() as usize, words.len() * 8);
        assert!(words.iter().copied().eq(0..1 << 20));
        prefer_large_pages(words.as_ptr() as usize, 100);
        prefer_large_pages(0, 0);
    }
}
