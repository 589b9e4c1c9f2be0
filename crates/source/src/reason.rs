// SPDX-License-Identifier: Apache-2.0
//! Reasons why the operating system refuses a file, without error numbers.

use std::io::{Error, ErrorKind};

/// Describes why a file or folder cannot be read or written.
pub fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_string(),
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        ErrorKind::IsADirectory => "it is a directory".to_string(),
        ErrorKind::NotADirectory => "a part of its path is a file".to_string(),
        ErrorKind::AlreadyExists => "there is something of that name".to_string(),
        _ => {
            let text = error.to_string();
            // Users cannot use the error number.
            match text.split_once(" (os error ") {
                Some((words, _)) => words.to_lowercase(),
                None => text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_numbers() {
        for (error, expected) in [
            (Error::from_raw_os_error(2), "no such file"),
            (Error::from_raw_os_error(28), "no space left on device"),
            (Error::other("the disk is on fire"), "the disk is on fire"),
        ] {
            assert_eq!(reason(&error), expected);
        }
    }
}
