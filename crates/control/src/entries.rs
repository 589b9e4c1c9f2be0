// SPDX-License-Identifier: Apache-2.0
//! Entries files in any format, detected by name and content.

use crate::command::Located;
use crate::error::ControlError;
use crate::{command_text, p4runtime_text, runtime_json};

/// Reads an entries file: JSON when its name or first character says so, P4Runtime text when it starts
/// with one of its fields, else BMv2's command text.
pub fn read(file: &str, text: &str) -> (Vec<Located>, Vec<ControlError>) {
    // A byte order mark is no part of the text; blank lines stay, for the numbers of lines.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    if file.ends_with(".json") || start.starts_with(['{', '[']) {
        runtime_json::read(file, text)
    } else if p4runtime_text::looks_like(start) {
        p4runtime_text::read(file, text)
    } else {
        command_text::read(file, text)
    }
}
