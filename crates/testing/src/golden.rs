// SPDX-License-Identifier: Apache-2.0
//! Golden files: the expected output of a test, in a file beside it. With `PLANEWRIGHT_BLESS=1` in the environment a
//! test writes what it found there instead of comparing.

use std::path::Path;

/// Whether tests write golden files instead of comparing with them.
pub fn is_blessing() -> bool {
    std::env::var_os("PLANEWRIGHT_BLESS").is_some()
}

/// Compares a text with a golden file, or writes it there ([`is_blessing`]).
///
/// # Panics
///
/// If the texts differ, with the first line that does, or if the file cannot be written.
#[track_caller]
pub fn check(path: impl AsRef<Path>, found: &str) {
    let path = path.as_ref();
    if is_blessing() {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("the folder of the golden file can be made");
        }
        return std::fs::write(path, found).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if let Some(difference) = difference(&expected, found) {
        panic!("{}:{difference}\n`PLANEWRIGHT_BLESS=1` writes it anew", path.display());
    }
}

/// The first line in which two texts differ.
fn difference(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (mut left, mut right) = (expected.split('\n'), found.split('\n'));
    for number in 1.. {
        let (expected, found) = (left.next(), right.next());
        if expected != found || expected.is_none() {
            let shown =
                |line: Option<&str>| line.map_or("the end".to_string(), |line| format!("`{line}`"));
            return Some(format!("{number}: expected {}, found {}", shown(expected), shown(found)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\n").as_deref(), Some("2: expected `b`, found `c`"));
        assert_eq!(difference("a", "a\nb").as_deref(), Some("2: expected the end, found `b`"));
    }
}
