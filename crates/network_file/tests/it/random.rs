// SPDX-License-Identifier: Apache-2.0
//! No text makes the reader panic, and there is a network unless an error is reported.

use crate::reading::{folder, messages, read_text};
use proptest::prelude::*;

const FILES: &[&str] =
    &["everything.yaml", "dumbbell.yaml", "leaf_spine.toml", "pod.topology.json", "fat_tree.yaml"];

fn text_of(which: usize) -> String {
    std::fs::read_to_string(folder("right").join(FILES[which])).expect("a file")
}

fn reads_without_panic(name: &str, text: &str) {
    let (kind, diagnostics, map) = read_text(name, text);
    assert_eq!(kind.is_none(), diagnostics.has_errors(), "{text}");
    messages(&map, &diagnostics);
}

#[test]
fn a_required_field_without_a_value_is_an_error() {
    let text = "topology:\n  kind:\n  k: 4\n  program: router.p4\n";
    reads_without_panic("x.yaml", text);
    let (_, diagnostics, map) = read_text("x.yaml", text);
    let found = messages(&map, &diagnostics);
    assert!(found.contains("`kind` has no value"), "{found}");
    // An anchor alone is no value either.
    reads_without_panic("x.yaml", &text.replace("kind:", "kind: &fat-tree"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(200)))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        for name in ["x.yaml", "x.json", "x.toml"] {
            reads_without_panic(name, &text);
        }
    }

    #[test]
    fn no_changed_file_makes_it_panic(
        at in any::<prop::sample::Index>(),
        replaced in 0..6_usize,
        by in "[\\[\\]{}:,\"'&*#_<>|.%0-9a-z \n\té-]{0,4}",
        which in 0..FILES.len(),
    ) {
        let text = text_of(which);
        let mut characters: Vec<char> = text.chars().collect();
        let start = at.index(characters.len());
        let end = (start + replaced).min(characters.len());
        characters.splice(start..end, by.chars());
        reads_without_panic(FILES[which], &characters.into_iter().collect::<String>());
    }

    #[test]
    fn no_exchanged_lines_make_it_panic(
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        which in 0..FILES.len(),
        other in 0..FILES.len(),
    ) {
        let (text, other) = (text_of(which), text_of(other));
        let mut lines: Vec<&str> = text.lines().collect();
        let others: Vec<&str> = other.lines().collect();
        let at = to.index(lines.len());
        lines[at] = others[from.index(others.len())];
        reads_without_panic(FILES[which], &lines.join("\n"));
    }
}
