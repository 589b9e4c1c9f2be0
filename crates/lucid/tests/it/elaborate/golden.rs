// SPDX-License-Identifier: Apache-2.0
//! Each `cases/NAME.dpt` (with its symbolics in `NAME.symb`, if there are any) becomes the text in
//! `NAME.core`, or gets the messages in `NAME.messages`. `PLANEWRIGHT_BLESS=1` writes them anew.

use lucid::elaborate::Symbolics;
use lucid::front;
use serde_json::Value;
use source::{RenderOptions, SourceMap, render_text};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/elaborate/cases")
}

/// Symbolics as a file gives them: `sizes` and `symbolics` by their names.
fn given(text: &str) -> Symbolics {
    let all: Value = serde_json::from_str(text).expect("symbolics are JSON");
    let mut found = Symbolics::default();
    for (name, value) in all["sizes"].as_object().into_iter().flatten() {
        found.sizes.insert(name.clone(), value.as_u64().expect("a size").into());
    }
    for (name, value) in all["symbolics"].as_object().into_iter().flatten() {
        parts(name, value, &mut found);
    }
    found
}

/// Parts of records and vectors have names of their own.
fn parts(name: &str, value: &Value, found: &mut Symbolics) {
    match value {
        Value::Array(list) => (list.iter().enumerate())
            .for_each(|(at, part)| parts(&format!("{name}[{at}]"), part, found)),
        Value::Object(fields) => {
            (fields.iter()).for_each(|(field, part)| parts(&format!("{name}#{field}"), part, found))
        }
        _ => {
            let word = value.as_bool().map_or_else(|| value.as_u64(), |truth| Some(truth.into()));
            found.values.insert(name.to_string(), word.expect("a number or a truth").into());
        }
    }
}

/// What a source becomes: the ending of the file it belongs in, and its text.
fn becomes(name: &str, text: String, symbolics: Option<String>) -> (&'static str, String) {
    let mut map = SourceMap::new();
    let values = symbolics.map_or_else(Symbolics::default, |text| given(&text));
    let file = format!("{name}.dpt");
    let files = lucid::syntax::NoFiles;
    match front::compile(&mut map, &file, text, &files, &values, &[]) {
        Ok(compiled) => {
            assert_eq!(lucid::core::verify(&compiled.program), Ok(()), "{name}");
            ("core", lucid::core::print(&compiled.program))
        }
        Err(said) => ("messages", render_text(&map, &said, RenderOptions::default())),
    }
}

#[test]
fn sources_become_what_stands_beside_them() {
    let bless = testing::golden::is_blessing();
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).expect("the cases") {
        let path = entry.expect("a case").path();
        if path.extension().is_none_or(|ending| ending != "dpt") {
            continue;
        }
        count += 1;
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a source");
        let symbolics = std::fs::read_to_string(path.with_extension("symb")).ok();
        let (ending, found) = becomes(&name, text, symbolics);
        let expected = path.with_extension(ending);
        if bless {
            std::fs::write(&expected, &found).expect("writing");
            let other = if ending == "core" { "messages" } else { "core" };
            let _ = std::fs::remove_file(path.with_extension(other));
        } else if std::fs::read_to_string(&expected).ok().as_deref() != Some(&found) {
            wrong.push(format!("{name}.{ending} should be:\n{found}"));
        }
    }
    assert!(count > 20, "only {count} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
