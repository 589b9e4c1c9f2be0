// SPDX-License-Identifier: Apache-2.0
//! Messages fit for a terminal: what they quote of the input may hold control characters, or words of
//! megabytes.

/// How much of a word that is too long is shown, in characters.
const SHOWN_OF_LONG_WORDS: usize = 60;

/// The text with control characters escaped and words of more than `longest_word` characters cut.
pub fn printable(text: &str, longest_word: usize) -> String {
    let mut shown = String::new();
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            shown.push(' ');
        }
        let length = word.chars().count();
        let kept = if length > longest_word { SHOWN_OF_LONG_WORDS } else { length };
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
