// SPDX-License-Identifier: Apache-2.0
//! What networks say: the files of `files/right`, each read without a message.

use network_file::model::*;
use network_file::{Format, Kind, Options, read};
use source::{Diagnostics, RenderOptions, SourceMap};
use std::path::{Path, PathBuf};

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/files").join(name)
}

pub fn read_text(name: &str, text: &str) -> (Option<Kind>, Diagnostics, SourceMap) {
    let mut map = SourceMap::new();
    let file = map.add(name, text);
    let (kind, diagnostics) = read(&map, file, Format::of_name(name), &Options::default());
    (kind, diagnostics, map)
}

pub fn messages(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    source::render_text(map, diagnostics, RenderOptions::default())
}

fn network_of(name: &str, text: &str) -> Network {
    let (kind, diagnostics, map) = read_text(name, text);
    assert!(diagnostics.is_empty(), "{}", messages(&map, &diagnostics));
    match kind.expect("no errors, so a result") {
        Kind::Network(network) => *network,
        Kind::LucidRun => panic!("{name} is a Lucid run"),
    }
}

fn right(name: &str) -> Network {
    let text = std::fs::read_to_string(folder("right").join(name)).expect("a file");
    network_of(name, &text)
}

#[test]
fn everything() {
    let network = right("everything.yaml");
    println!("{network:#?}");
}

#[test]
fn fat_tree() {
    let network = right("fat_tree.yaml");
    println!("{network:#?}");
}

#[test]
fn others() {
    right("dumbbell.yaml");
    right("pod.topology.json");
}
