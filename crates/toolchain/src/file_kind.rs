// SPDX-License-Identifier: Apache-2.0
//! What a file is, by its name: a program and its language, a test, a run, a capture. Commands that take
//! one kind say what another is good for. Which languages there are is in `registry`.

use crate::registry::{end, frontends, with_devices, with_networks};
use frontend::{Frontend, SPECIFICATIONS, coded};
use source::{Code, Explanation};
use std::path::Path;
use std::sync::LazyLock;

/// A file of another kind than the command takes.
pub const WRONG_KIND: Code = Code("CLI-E0101");

/// What `plane explain` says about the codes of this crate.
pub fn explanations() -> &'static [Explanation] {
    static EXPLANATIONS: LazyLock<[Explanation; 1]> = LazyLock::new(|| {
        let programs: Vec<String> = frontends()
            .iter()
            .map(|each| format!("{} a {} program", end(*each), each.name()))
            .collect();
        let names = |names: Vec<&str>| names.join(" or ");
        let text = format!(
            "The end of a file's name says what it is: {}, .stf a test of a {} program, .json, .yaml, .yml \
             and .toml the specification of a {} run, .pcap and .pcapng captured packets. `plane help \
             COMMAND` says what a command takes.",
            programs.join(", "),
            names(with_devices().map(|each| each.name()).collect()),
            names(with_networks().map(|(each, _)| each.name()).collect()),
        );
        [Explanation {
            code: WRONG_KIND,
            title: "a file of another kind than the command takes",
            text: text.leak(),
            wrong: "",
            right: "",
        }]
    });
    &*EXPLANATIONS
}

const CAPTURES: &[&str] = &["pcap", "pcapng", "cap"];

/// What a file is, by its name.
#[derive(Clone, Copy)]
pub enum FileKind {
    /// A program, or a file that programs include.
    Program(&'static dyn Frontend),
    /// A specification of a run.
    Specification,
    /// A test of a program on one device.
    Stf,
    /// Captured packets.
    Capture,
    /// `-`.
    StandardInput,
    /// Something else.
    Other,
}

impl FileKind {
    /// Of a file of this name.
    pub fn of(path: &Path) -> FileKind {
        if path == Path::new("-") {
            return FileKind::StandardInput;
        }
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let Some(end) = end.as_deref() else { return FileKind::Other };
        let program = frontends().iter().find(|each| each.extensions().contains(&end));
        match end {
            _ if let Some(frontend) = program => FileKind::Program(*frontend),
            "stf" => FileKind::Stf,
            _ if SPECIFICATIONS.contains(&end) => FileKind::Specification,
            _ if CAPTURES.contains(&end) => FileKind::Capture,
            _ => FileKind::Other,
        }
    }

    /// Of a file that is there and can be judged by its name; what is not there, or is a pipe, its reader
    /// reports.
    pub fn of_readable(path: &Path) -> Option<FileKind> {
        (path.is_file() || path == Path::new("-")).then(|| FileKind::of(path))
    }
}

/// That a file is not what a command takes, and what it is.
pub fn wrong(path: &Path, is_not: &str, kind: FileKind) -> String {
    let file = path.display();
    let is = match kind {
        FileKind::Program(frontend) => {
            let name = frontend.name();
            format!("it is a {name} program (`plane check {file}`, `plane run {file}`)")
        }
        FileKind::Specification => {
            let mut may_be = Vec::new();
            for (each, _) in with_networks() {
                may_be.push(format!(
                    "the specification of a {} run (`plane run PROG{} --spec {file}`, \
                     `plane test {file}`)",
                    each.name(),
                    end(each)
                ));
            }
            for each in with_devices().take(1) {
                let end = end(each);
                may_be.push(format!("table entries (`plane run PROG{end} --entries {file}`)"));
            }
            format!("it may be {}", may_be.join(" or "))
        }
        FileKind::Stf => format!("it is a test (`plane test {file}`)"),
        FileKind::Capture => format!("it is a capture (`plane run PROG --in PORT={file}`)"),
        FileKind::StandardInput | FileKind::Other => match path.extension() {
            Some(end) => format!("its name ends in .{}", end.to_string_lossy()),
            None => "its name has no end".to_string(),
        },
    };
    coded(WRONG_KIND.0, &format!("`{file}` {is_not}: {is}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(kind: FileKind) -> &'static str {
        match kind {
            FileKind::Program(frontend) => frontend.name(),
            FileKind::Specification => "specification",
            FileKind::Stf => "test",
            FileKind::Capture => "capture",
            FileKind::StandardInput => "standard input",
            FileKind::Other => "other",
        }
    }

    #[test]
    fn kinds_by_name() {
        for (file, expected) in [
            ("a/router.p4", "P4"),
            ("headers.h", "P4"),
            ("nat.dpt", "Lucid"),
            ("run.YAML", "specification"),
            ("x.stf", "test"),
            ("x.pcap", "capture"),
            ("-", "standard input"),
            ("make", "other"),
            ("mk.py", "other"),
        ] {
            assert_eq!(name(FileKind::of(Path::new(file))), expected, "{file}");
        }
    }

    #[test]
    fn the_explanation_names_all_languages() {
        let text = explanations()[0].text;
        assert!(frontends().iter().all(|each| text.contains(&end(*each))), "{text}");
    }
}
