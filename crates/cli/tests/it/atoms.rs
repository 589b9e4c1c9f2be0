// SPDX-License-Identifier: Apache-2.0
//! `plane atoms`: least atoms of programs, of renamed and permuted programs, and of atoms of a user's own.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn plane(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("plane starts")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/domino")
}

/// Returns for each codelet and range the least atom, or `none`, or `unknown`.
fn verdicts(folder: &Path, arguments: &str) -> BTreeMap<(String, String), String> {
    let ran = plane(folder, &format!("atoms {arguments} --format json"));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let document: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let mut all = BTreeMap::new();
    for codelet in document["codelets"].as_array().expect("codelets") {
        for answer in codelet["answers"].as_array().expect("answers") {
            let tried = answer["tried"].as_array().expect("atoms");
            let is_unknown = tried.iter().any(|trial| trial["verdict"] == "unknown");
            let least = match answer["least"].as_str() {
                _ if is_unknown => "unknown".to_string(),
                least => least.unwrap_or("none").to_string(),
            };
            all.insert((text(&codelet["name"]), text(&answer["range"])), least);
            for trial in tried {
                let key = if trial["verdict"] == "yes" { "configuration" } else { "values" };
                assert!(trial["verdict"] == "unknown" || !trial[key].is_null(), "{trial}");
                assert!(trial["verdict"] == "unknown" || trial["check"] != "undecided", "{trial}");
            }
        }
    }
    all
}

/// The examples' stateful codelets, their least atoms at both ranges, and those of programs that are renamed, or whose
/// declarations and independent statements stand in another order.
const LEAST: &[(&str, &str, &str, &str)] = &[
    ("flowlets", "seen_at", "rw", "rw"),
    ("flowlets", "path_of", "pred_raw", "pred_raw"),
    ("phantom_queue", "last", "rw", "rw"),
    ("phantom_queue", "queued", "sub", "nested_ifs"),
    ("sampling", "since", "if_else_raw", "if_else_raw"),
    ("sampling", "samples", "pred_raw", "pred_raw"),
];

fn expected(program: &str) -> BTreeMap<(String, String), String> {
    let of = LEAST.iter().filter(|(name, ..)| *name == program);
    let rows = of.flat_map(|(_, codelet, small, exact)| {
        [("small", small), ("exact", exact)]
            .map(|(range, least)| ((codelet.to_string(), range.to_string()), least.to_string()))
    });
    rows.collect()
}

#[test]
fn least_atoms_of_the_examples() {
    for program in ["flowlets", "phantom_queue", "sampling"] {
        assert_eq!(verdicts(&examples(), &format!("{program}.domino")), expected(program));
    }
}

/// Replaces whole words.
fn renamed(text: &str, names: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for one in text.chars() {
        if one.is_ascii_alphanumeric() || one == '_' {
            word.push(one);
            continue;
        }
        let new = names.iter().find(|(old, _)| *old == word).map_or(word.as_str(), |(_, new)| new);
        out.push_str(new);
        out.push(one);
        word.clear();
    }
    out + &word
}

/// Inputs and state variables that come in another order by the alphabet reach the same places of an atom.
#[test]
fn renamed_programs_have_the_same_least_atoms() {
    for (program, names) in [
        ("flowlets", &[("seen_at", "z"), ("path_of", "a"), ("time", "aa"), ("path", "zz")][..]),
        ("phantom_queue", &[("queued", "a"), ("last", "zz"), ("time", "z"), ("bytes", "aaa")]),
        ("sampling", &[("since", "zz"), ("samples", "a")]),
    ] {
        let file = examples().join(format!("{program}.domino"));
        let text = std::fs::read_to_string(file).expect("an example");
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("x.domino"), renamed(&text, names)).expect("writable");
        let found = verdicts(folder.path(), "x.domino");
        let back = |name: String| {
            names.iter().find(|(_, new)| *new == name).map_or(name, |(old, _)| old.to_string())
        };
        let found: BTreeMap<_, _> = found
            .into_iter()
            .map(|((codelet, range), least)| ((back(codelet), range), least))
            .collect();
        assert_eq!(found, expected(program), "{program}");
    }
}

const PERMUTED: [&str; 2] = [
    "struct Packet { int util; int path; int now; };\nint best = 100;\nint best_path;\nint latest;\n\
     void func(struct Packet p) {\n  latest = p.now;\n\
     if (p.util < best) { best = p.util; best_path = p.path; }\n\
     else if (p.path == best_path) { best = p.util; }\n}\n",
    "int latest;\nint best_path;\nint best = 100;\nstruct Packet { int now; int path; int util; };\n\
     void func(struct Packet p) {\n\
     if (p.util < best) { best_path = p.path; best = p.util; }\n\
     else if (p.path == best_path) { best = p.util; }\n  latest = p.now;\n}\n",
];

#[test]
fn permuted_programs_have_the_same_least_atoms() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for text in PERMUTED {
        std::fs::write(folder.path().join("x.domino"), text).expect("writable");
        let found = verdicts(folder.path(), "x.domino --range small");
        let mut leasts: Vec<&str> = found.values().map(String::as_str).collect();
        leasts.sort_unstable();
        assert_eq!(leasts, ["pair", "rw"], "{text}");
    }
}

/// An atom with a shift does what Banzai's atoms cannot, and an order of the user's own is followed.
#[test]
fn atoms_of_ones_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write(
        "own.atoms",
        "atom keep { state s; s = s; }\n\
         atom average { state mean; input sample; mean = mean + ((sample - mean) >> C(0..7)); }\n\
         atom set { state s; input p; s = p; }\n",
    );
    write(
        "mean.domino",
        "struct Packet { int x; };\nint mean;\nint last;\n\
         void func(struct Packet p) { mean += (p.x - mean) >> 3; last = p.x; }\n",
    );
    let found = verdicts(folder.path(), "mean.domino --atom own.atoms --range exact");
    let leasts: Vec<(&str, &str)> =
        found.iter().map(|((codelet, _), least)| (codelet.as_str(), least.as_str())).collect();
    assert_eq!(leasts, [("last", "average"), ("mean", "average")]);
    write(
        "eight.domino",
        "struct Packet { int x; };\nint m;\nvoid func(struct Packet p) { m += (p.x - m) >> 8; }\n",
    );
    let found = verdicts(folder.path(), "eight.domino --atom own.atoms --range exact");
    assert_eq!(found.values().collect::<Vec<_>>(), ["none"]);
    let (text, again) = (
        plane(folder.path(), "atoms mean.domino --atom own.atoms --range exact"),
        plane(folder.path(), "atoms mean.domino --atom own.atoms --range exact"),
    );
    assert_eq!(text.stdout, again.stdout);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("mean = mean + (x - mean >> 3);"), "{text}");
    assert!(text.contains("not keep: no configuration serves all of these"), "{text}");
}

/// A file of codelets takes the place of a program.
#[test]
fn codelets_of_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "codelet count { state n; n = n == 29 ? 0 : n + 1; }\n";
    std::fs::write(folder.path().join("c.atoms"), text).expect("writable");
    let found = verdicts(folder.path(), "c.atoms");
    assert!(found.values().all(|least| least == "if_else_raw") && found.len() == 2, "{found:?}");
}
