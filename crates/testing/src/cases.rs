// SPDX-License-Identifier: Apache-2.0
//! The number of random cases of a test. The environment variable `PLANEWRIGHT_CASES` sets it for all tests: a count
//! (`5000`), or the seeds of a range (`56..57`), which repeats single cases of tests that count seeds from 0.

use std::ops::Range;

const VARIABLE: &str = "PLANEWRIGHT_CASES";

/// Returns how many random cases a test runs: `default`, or what `PLANEWRIGHT_CASES` says.
///
/// # Panics
///
/// If the variable is neither a number nor a range.
pub fn cases<N: Into<u64> + TryFrom<u64>>(default: N) -> N {
    let seeds = seeds(default.into());
    match N::try_from(seeds.end.saturating_sub(seeds.start)) {
        Ok(count) => count,
        Err(_) => panic!("{VARIABLE} is too large"),
    }
}

/// Returns the seeds that a test runs: from 0 to below `default`, or what `PLANEWRIGHT_CASES` says.
///
/// # Panics
///
/// If the variable is neither a number nor a range.
pub fn seeds(default: u64) -> Range<u64> {
    match std::env::var(VARIABLE) {
        Ok(text) => match read(&text) {
            Some(seeds) => seeds,
            None => panic!("{VARIABLE} is a number or a range (`5000`, `56..57`), not `{text}`"),
        },
        Err(_) => 0..default,
    }
}

fn read(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..").unwrap_or(("0", text));
    Some(start.trim().parse().ok()?..end.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_ranges_are_read() {
        assert_eq!(read("57"), Some(0..57));
        assert_eq!(read("56..57"), Some(56..57));
        assert_eq!(read("many"), None);
    }
}
