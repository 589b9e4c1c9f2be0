// SPDX-License-Identifier: Apache-2.0
//! Text that is safe on a terminal: quotes from the input may hold control characters, or words of megabytes.

/// Characters that remain of a word that is cut.
const CUT_WORD_LENGTH: usize = 60;

/// Escapes control characters and cuts words of more than `max_word_length` characters.
pub fn printable(text: &str, max_word_length: usize) -> String {
    let mut shown = String::new();
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            shown.push(' ');
        }
        let length = word.chars().count();
        let kept = if length > max_word_length { CUT_WORD_LENGTH } else { length };
        for character in word.chars().take(kept) {
            if character.is_control() && character != '\n' {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        if kept < length {
            shown.push_str(&format!("... ({length} characters)"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_and_long_words() {
        assert_eq!(printable("no `a\u{1b}[2J` here", 80), "no `a\\u{1b}[2J` here");
        let long = "x".repeat(1000);
        let shown = format!("no {}... (1000 characters) here", "x".repeat(60));
        assert_eq!(printable(&format!("no {long} here"), 80), shown);
    }
}
