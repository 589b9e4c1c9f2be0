// SPDX-License-Identifier: Apache-2.0
//! What docs/networks.md shows is read without a message, and it names every field.

use crate::reading::{messages, read_text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/networks.md");
    std::fs::read_to_string(path).expect("the document")
}

/// The indented blocks of a document.
fn blocks(document: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut is_fenced = false;
    for line in document.lines() {
        is_fenced ^= line.starts_with("```");
        match line.strip_prefix("    ") {
            // Blocks between fences are in other languages.
            Some(code) if !is_fenced => {
                let block = blocks.last_mut().expect("one at least");
                block.push_str(code);
                block.push('\n');
            }
            _ => blocks.push(String::new()),
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

#[test]
fn its_examples_are_right() {
    let document = document();
    let blocks = blocks(&document);
    assert!(blocks.len() >= 7, "only {} examples were found", blocks.len());
    for block in blocks {
        let is_whole = block.contains("topology:") || block.contains("switches:\n  s1");
        let text = match is_whole {
            true => block,
            // A part of a file with these nodes.
            false => format!("topology: {{kind: line, switches: 3, program: a.p4}}\n{block}"),
        };
        let (kind, diagnostics, map) = read_text("x.yaml", &text);
        assert!(
            kind.is_some() && diagnostics.is_empty(),
            "{text}\n{}",
            messages(&map, &diagnostics)
        );
    }
}

/// Adds the names of all properties of a schema.
fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(names)) = fields.get("properties") {
                found.extend(names.keys().cloned());
            }
            fields.values().for_each(|value| properties(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| properties(value, found)),
        _ => {}
    }
}

#[test]
fn it_names_every_field() {
    let schema: Value = serde_json::from_str(&network_file::json_schema()).expect("JSON");
    let mut names = BTreeSet::new();
    properties(&schema, &mut names);
    assert!(names.len() > 100, "only {} fields were found", names.len());
    let document = document();
    let is_word = |character: char| character.is_alphanumeric() || "_$-".contains(character);
    let words: BTreeSet<&str> = document.split(|character| !is_word(character)).collect();
    let missing: Vec<&String> =
        names.iter().filter(|name| !words.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "docs/networks.md lacks {missing:?}");
}
