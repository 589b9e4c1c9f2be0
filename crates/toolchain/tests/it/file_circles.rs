// SPDX-License-Identifier: Apache-2.0
//! No circles of `use` between the files of a crate. A file and the files of its child modules may use each other: what a
//! module declares belongs to its children. Re-exports lead to the file that they name.

use crate::sources::{crates, product_code, product_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module, as the path of names from the root of its crate.
type Module = Vec<String>;

/// The `use` items of a file, as absolute paths.
#[derive(Default)]
struct Uses {
    private: Vec<Module>,
    re_exported: BTreeMap<String, Module>,
}

/// Returns the paths of a tree such as `a::{b, c::d}`.
fn paths(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        if !path.is_empty() {
            found.push(format!("{prefix}{path}"));
        }
        return;
    };
    let inner = &rest[..rest.rfind('}').unwrap_or(rest.len())];
    let prefix = format!("{prefix}{}", head.trim());
    let (mut depth, mut start) = (0, 0);
    for (at, character) in inner.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                paths(&prefix, &inner[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
    paths(&prefix, &inner[start..], found);
}

/// Returns the absolute form of a path; `None` for a path into another crate.
fn absolute(module: &Module, path: &str, files: &BTreeMap<Module, String>) -> Option<Module> {
    let mut base = module.clone();
    let mut names = path.split("::").map(str::trim).peekable();
    match names.peek()? {
        &"crate" => base.clear(),
        &"self" | &"super" => {}
        first => {
            base.push((*first).to_string());
            files.contains_key(&base).then(|| base.pop())?;
        }
    }
    for name in names {
        match name {
            "crate" | "self" => {}
            "super" => drop(base.pop()),
            name => base.push(name.to_string()),
        }
    }
    Some(base)
}

fn uses(module: &Module, code: &str, files: &BTreeMap<Module, String>) -> Uses {
    let mut uses = Uses::default();
    for item in code.split(';') {
        // Items of the file itself are not indented.
        let Some(begin) = ["\nuse ", "\npub"].iter().filter_map(|word| item.rfind(word)).max()
        else {
            continue;
        };
        let Some((visibility, tree)) = item[begin..].split_once("use ") else { continue };
        let mut found = Vec::new();
        paths("", tree, &mut found);
        for path in found.iter().filter_map(|path| absolute(module, path, files)) {
            match (visibility.trim().is_empty(), path.split_last()) {
                (false, Some((name, from))) => {
                    uses.re_exported.insert(name.clone(), from.to_vec());
                }
                _ => uses.private.push(path),
            }
        }
    }
    uses
}

/// Returns the module whose file declares the item of a path.
fn declaring(path: &[String], uses: &BTreeMap<Module, Uses>) -> Module {
    let known = (0..=path.len()).rev().find(|end| uses.contains_key(&path[..*end]));
    let module = &path[..known.unwrap_or(0)];
    let item = path.get(module.len());
    match item.and_then(|item| Some((item, uses.get(module)?.re_exported.get(item)?))) {
        Some((item, from)) if from != module => {
            let next: Module = from.iter().chain([item]).cloned().collect();
            declaring(&next, uses)
        }
        _ => module.to_vec(),
    }
}

/// Removes modules that use no remaining module; a circle remains.
fn circle(mut edges: BTreeMap<Module, BTreeSet<Module>>) -> Vec<Module> {
    while let Some(end) = edges.iter().find(|(_, to)| to.is_empty()).map(|(from, _)| from.clone()) {
        edges.remove(&end);
        for to in edges.values_mut() {
            to.remove(&end);
        }
    }
    edges.into_keys().collect()
}

/// Returns the files of a crate that are in a circle or lead to one.
fn circle_of(folder: &Path) -> Vec<String> {
    let mut files = BTreeMap::new();
    for file in product_files(folder) {
        let path = file.strip_prefix(folder).expect("a file of the folder").with_extension("");
        let names = path.iter().map(|name| name.to_string_lossy().into_owned());
        let module: Module =
            names.filter(|name| !matches!(&**name, "lib" | "main" | "mod")).collect();
        files.insert(module, product_code(&file));
    }
    let all: BTreeMap<Module, Uses> =
        files.iter().map(|(module, code)| (module.clone(), uses(module, code, &files))).collect();
    let edges = all.iter().map(|(from, uses)| {
        let to = uses.private.iter().map(|path| declaring(path, &all));
        (from.clone(), to.filter(|to| !from.starts_with(to)).collect())
    });
    circle(edges.collect()).iter().map(|module| module.join("::")).collect()
}

#[test]
fn files_of_a_crate_use_each_other_in_one_direction() {
    let circles: Vec<(String, Vec<String>)> = crates()
        .iter()
        .map(|each| (each.display().to_string(), circle_of(&each.join("src"))))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(circles.is_empty(), "a circle of `use` in or above {circles:#?}");
}
