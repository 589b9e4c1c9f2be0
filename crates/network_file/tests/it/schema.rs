// SPDX-License-Identifier: Apache-2.0
//! The JSON schema accepts what the reader accepts: the files of `files/right`, and these with one value replaced.

use crate::reading::{folder, read_text};
use network_file::codes;
use serde_json::{Value, json};
use testing::json_schema::{Validator, document_value};

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(&network_file::json_schema()).expect("JSON");
    Validator::new(schema)
}

fn parse(name: &str) -> Value {
    let text = std::fs::read_to_string(folder("right").join(name)).expect("a file");
    document_value(document::Format::of_name(name), &text)
}

/// Files of `files/right` in the notation of networks.
fn networks() -> Vec<(String, Value)> {
    let entries = std::fs::read_dir(folder("right")).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let other = ["lucid_run.json", "pod.topology.json"];
    let names = names.filter(|name| !other.contains(&name.as_str()));
    let mut found: Vec<_> = names.map(|name| (name.clone(), parse(&name))).collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() >= 5, "only {} files were found", found.len());
    found
}

#[test]
fn right_files_fit_the_schema() {
    let validator = validator();
    for (name, value) in networks() {
        assert_eq!(validator.check(&value), Ok(()), "{name}");
    }
}

/// The paths of all values of a document.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_string());
    match value {
        Value::Array(list) => {
            for (at, element) in list.iter().enumerate() {
                paths(element, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, element) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                paths(element, &format!("{path}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// Replaces each value of each file by others: what the schema refuses is wrong for the reader, and a value of a wrong
/// type or an unknown or missing field is refused by the schema too.
#[test]
fn schema_and_reader_agree_about_replaced_values() {
    let validator = validator();
    let replacements = [
        json!(true),
        json!(0),
        json!(7),
        json!(-1),
        json!(0.5),
        json!("word"),
        json!("5ms"),
        json!("10.0.1.7"),
        json!(">= 3"),
        json!([]),
        json!({}),
        json!({"unknown": 1}),
    ];
    let (mut cases, mut refused) = (0, 0);
    for (name, value) in networks() {
        let mut all = Vec::new();
        paths(&value, "", &mut all);
        for (at, path) in all.into_iter().enumerate() {
            // Neighbouring values are of all shapes, so each gets a third of the replacements.
            for replacement in replacements.iter().skip(at % 3).step_by(3) {
                let mut changed = value.clone();
                *changed.pointer_mut(&path).expect("a path") = replacement.clone();
                let fits = validator.check(&changed).is_ok();
                let text = changed.to_string();
                let (_, diagnostics, map) = read_text("x.json", &text);
                let said = || crate::reading::messages(&map, &diagnostics);
                cases += 1;
                refused += usize::from(!fits);
                if !fits {
                    assert!(
                        diagnostics.has_errors(),
                        "{name} {path} {replacement}: the schema refuses what the reader accepts"
                    );
                }
                let by_table = [codes::WRONG_TYPE, codes::UNKNOWN_FIELD];
                if diagnostics.iter().any(|each| by_table.contains(&each.code)) {
                    assert!(
                        !fits,
                        "{name} {path} {replacement}: the schema accepts what the reader refuses\n{}",
                        said()
                    );
                }
            }
        }
    }
    assert!(cases > 1_500 && refused > cases / 2, "{refused} of {cases} refused");
}
