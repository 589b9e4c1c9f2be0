// SPDX-License-Identifier: Apache-2.0
//! [`FileKind`]: the kind of a file by its name (program, test, specification, capture), and messages for commands that
//! get a file of another kind. `registry` lists the languages.

use crate::registry::{end, enumerated, frontends, with_devices, with_networks};
use frontend::{Frontend, NO_FORMATTER, SPECIFICATIONS, coded};
use source::{Code, Explanation};
use std::path::Path;
use std::sync::LazyLock;

/// A file of the wrong kind for the command.
pub const WRONG_KIND: Code = Code("CLI-E0101");

/// Returns the explanations of the codes of this crate.
pub fn explanations() -> &'static [Explanation] {
    static EXPLANATIONS: LazyLock<[Explanation; 2]> = LazyLock::new(|| {
        let programs: Vec<String> = frontends()
            .iter()
            .map(|each| format!("{} a {} program", end(*each), each.name()))
            .collect();
        let names = |names: Vec<&str>| enumerated(&names, "or");
        let text = format!(
            "The extension of a file decides its kind: {}, .stf a test of a {} program, .json, .yaml, .yml \
             and .toml the specification of a {} run, .pcap and .pcapng captured packets. `plane help \
             COMMAND` lists the files of a command.",
            programs.join(", "),
            names(with_devices().map(|each| each.name()).collect()),
            names(with_networks().map(|(each, _)| each.name()).collect()),
        );
        let explanation =
            |code, title, text| Explanation { code, title, text, wrong: "", right: "" };
        let wrong_kind = "a file of the wrong kind for the command";
        let formatters = "`plane fmt` formats files of languages whose frontend has a formatter.";
        [
            explanation(WRONG_KIND, wrong_kind, text.leak()),
            explanation(NO_FORMATTER, "a language without a formatter", formatters),
        ]
    });
    &*EXPLANATIONS
}

const CAPTURES: &[&str] = &["pcap", "pcapng", "cap"];

/// The kind of a file.
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
    /// Another file.
    Other,
}

impl FileKind {
    /// Returns the kind of a file of this name.
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

    /// Returns the kind of a regular file or of standard input; `None` for missing files and pipes, which the reader
    /// reports.
    pub fn of_readable(path: &Path) -> Option<FileKind> {
        (path.is_file() || path == Path::new("-")).then(|| FileKind::of(path))
    }
}

/// Returns the message for a file of the wrong kind.
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
            None => "its name has no extension".to_string(),
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
