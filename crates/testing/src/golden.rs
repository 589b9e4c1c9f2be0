// SPDX-License-Identifier: Apache-2.0
//! Golden files: the expected output of a test, in a file beside it. With `PLANEWRIGHT_BLESS=1` in the environment a
//! test writes what it found there instead of comparing. [`assert_snapshot!`](crate::assert_snapshot) names the file
//! by the test function.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

/// Whether tests write golden files instead of comparing with them.
pub fn is_blessing() -> bool {
    std::env::var_os("PLANEWRIGHT_BLESS").is_some()
}

/// Compares a text with a golden file, or writes it there ([`is_blessing`]).
///
/// # Panics
///
/// If the texts differ, with the first line that does, or if the file cannot be written.
#[track_caller]
pub fn check(path: impl AsRef<Path>, found: &str) {
    let path = path.as_ref();
    if is_blessing() {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("the folder of the golden file can be made");
        }
        return std::fs::write(path, found).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if let Some(difference) = difference(&expected, found) {
        panic!("{}:{difference}\n`PLANEWRIGHT_BLESS=1` writes it anew", path.display());
    }
}

/// Compares what a test finds in each file of a folder with `NAME.expected` beside it, or writes it there
/// ([`is_blessing`]). `find` gets the name and the text of a file.
///
/// # Panics
///
/// If the folder has fewer than `least` files, or a text differs; all differences are shown.
#[track_caller]
pub fn check_folder(folder: &Path, least: usize, mut find: impl FnMut(&str, &str) -> String) {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of the cases can be read")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(".expected"))
        .collect();
    names.sort();
    assert!(names.len() >= least, "only {} cases were found", names.len());
    let mut failures = String::new();
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).expect("a case can be read");
        let found = find(&name, &text);
        let path = folder.join(format!("{name}.expected"));
        if is_blessing() {
            std::fs::write(&path, &found).expect("the golden file can be written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if expected != found {
            failures += &format!("== {name}: expected\n{expected}\n-- found\n{found}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Compares a text with a snapshot: a file `snapshots/MODULE__TEST.snap` beside the source file of the test. Blank
/// lines at both ends do not count.
///
/// `assert_snapshot!(text)` takes the name of the test function, and adds `-2` to the second snapshot of a function;
/// `assert_snapshot!("name", text)` takes the name that is given.
#[macro_export]
macro_rules! assert_snapshot {
    ($name:expr, $text:expr $(,)?) => {
        $crate::golden::check_snapshot(
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../", file!()),
            module_path!(),
            $name,
            &$text.to_string(),
        )
    };
    ($text:expr $(,)?) => {{
        fn here() {}
        $crate::golden::check_snapshot(
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../", file!()),
            module_path!(),
            &$crate::golden::function_name(std::any::type_name_of_val(&here)),
            &$text.to_string(),
        )
    }};
}

/// Returns the name of the function around an inner function, `some_test` for `module::tests::some_test::here`.
pub fn function_name(inner: &str) -> String {
    let mut parts = inner.rsplit("::").skip(1).filter(|part| *part != "{{closure}}");
    let name = parts.next().unwrap_or("snapshot").to_string();
    static USES: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);
    let mut uses = USES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let count = uses.get_or_insert_default().entry(inner.to_string()).or_default();
    *count += 1;
    match *count {
        1 => name,
        count => format!("{name}-{count}"),
    }
}

/// Compares a text with the snapshot of this name of a module.
///
/// # Panics
///
/// As [`check`].
#[track_caller]
pub fn check_snapshot(source_file: &str, module: &str, name: &str, found: &str) {
    let name = format!("{}__{name}.snap", module.replace("::", "__"));
    let path = Path::new(source_file).with_file_name("snapshots").join(name);
    let file = std::fs::read_to_string(&path).unwrap_or_default();
    // A file may begin with lines about itself between two lines of `---`.
    let head = match file.strip_prefix("---\n").and_then(|rest| rest.find("\n---\n")) {
        Some(end) => &file[..end + "---\n\n---\n".len()],
        None => "",
    };
    let (expected, found) = (file[head.len()..].trim_matches('\n'), found.trim_matches('\n'));
    if expected.trim_end() != found.trim_end() {
        check(&path, &format!("{head}{}\n", found.trim_end()));
    }
}

/// The first line in which two texts differ.
fn difference(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (mut left, mut right) = (expected.split('\n'), found.split('\n'));
    for number in 1.. {
        let (expected, found) = (left.next(), right.next());
        if expected != found || expected.is_none() {
            let shown =
                |line: Option<&str>| line.map_or("the end".to_string(), |line| format!("`{line}`"));
            return Some(format!("{number}: expected {}, found {}", shown(expected), shown(found)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\n").as_deref(), Some("2: expected `b`, found `c`"));
        assert_eq!(difference("a", "a\nb").as_deref(), Some("2: expected the end, found `b`"));
    }

    #[test]
    fn snapshots_of_one_function_are_numbered() {
        let name = || function_name("room::tests::trees_are_printed::{{closure}}::here");
        assert_eq!([name(), name()], ["trees_are_printed", "trees_are_printed-2"]);
    }
}
