// SPDX-License-Identifier: Apache-2.0
//! What a file is, by its name: a program and its language, a test, a run, a capture. Commands that take
//! one kind say what another is good for.

use crate::output;
use source::{Code, Explanation};
use std::path::Path;

/// A file of another kind than the command takes.
pub const WRONG_KIND: Code = Code("CLI-E0101");

/// What `plane explain` says about the codes of this crate.
pub static EXPLANATIONS: &[Explanation] = &[Explanation {
    code: WRONG_KIND,
    title: "a file of another kind than the command takes",
    text: "The end of a file's name says what it is: .p4 a P4 program, .dpt a Lucid program, .stf a test \
           of a P4 program, .json, .yaml, .yml and .toml the specification of a Lucid run, .pcap and \
           .pcapng captured packets. `plane help COMMAND` says what a command takes.",
    wrong: "",
    right: "",
}];

/// Ends of names of P4 programs, and of files that they include.
const P4: &[&str] = &["p4", "p4i", "p4inc", "inc", "h"];
/// Ends of names of specifications, in the order in which they are looked for beside a program.
pub const SPECIFICATIONS: &[&str] = &["json", "yaml", "yml", "toml"];
const CAPTURES: &[&str] = &["pcap", "pcapng", "cap"];

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A Lucid program.
    Lucid,
    /// A P4 program.
    P4,
    /// A specification of a run.
    Specification,
    /// A test of a P4 program.
    Stf,
    /// Captured packets.
    Capture,
    /// `-`.
    StandardInput,
    /// Something else.
    Other,
}

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// P4_16.
    P4,
    /// Lucid.
    Lucid,
}

impl FileKind {
    /// Of a file of this name.
    pub fn of(path: &Path) -> FileKind {
        if path == Path::new("-") {
            return FileKind::StandardInput;
        }
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        match end.as_deref() {
            Some("dpt") => FileKind::Lucid,
            Some("stf") => FileKind::Stf,
            Some(end) if P4.contains(&end) => FileKind::P4,
            Some(end) if SPECIFICATIONS.contains(&end) => FileKind::Specification,
            Some(end) if CAPTURES.contains(&end) => FileKind::Capture,
            _ => FileKind::Other,
        }
    }

    /// Of a file that is there and can be judged by its name; what is not there, or is a pipe, is told
    /// by who reads it.
    pub fn of_readable(path: &Path) -> Option<FileKind> {
        (path.is_file() || path == Path::new("-")).then(|| FileKind::of(path))
    }
}

/// The language of a program, P4 for standard input. The error is a message about a file that is none.
pub fn language(path: &Path) -> Result<Language, String> {
    match FileKind::of_readable(path) {
        Some(FileKind::Lucid) => Ok(Language::Lucid),
        Some(FileKind::P4 | FileKind::StandardInput) => Ok(Language::P4),
        None if FileKind::of(path) == FileKind::Lucid => Ok(Language::Lucid),
        None => Ok(Language::P4),
        Some(kind) => Err(wrong(path, "is not a P4 or Lucid program (.p4, .dpt)", kind)),
    }
}

/// Whether a file is a Lucid program.
pub fn is_lucid(path: &Path) -> bool {
    FileKind::of(path) == FileKind::Lucid
}

/// That a file is not what a command takes, and what it is.
pub fn wrong(path: &Path, is_not: &str, kind: FileKind) -> String {
    let file = path.display();
    let is = match kind {
        FileKind::Lucid => {
            format!("it is a Lucid program (`plane check {file}`, `plane run {file}`)")
        }
        FileKind::P4 => format!("it is a P4 program (`plane check {file}`, `plane run {file}`)"),
        FileKind::Specification => format!(
            "it may be the specification of a Lucid run (`plane run PROG.dpt --spec {file}`, \
             `plane test {file}`) or table entries (`plane run PROG.p4 --entries {file}`)"
        ),
        FileKind::Stf => format!("it is a test (`plane test {file}`)"),
        FileKind::Capture => format!("it is a capture (`plane run PROG --in PORT={file}`)"),
        FileKind::StandardInput | FileKind::Other => match path.extension() {
            Some(end) => format!("its name ends in .{}", end.to_string_lossy()),
            None => "its name has no end".to_string(),
        },
    };
    output::coded(WRONG_KIND.0, &format!("`{file}` {is_not}: {is}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, expected) in [
            ("a/router.p4", FileKind::P4),
            ("headers.h", FileKind::P4),
            ("nat.dpt", FileKind::Lucid),
            ("run.YAML", FileKind::Specification),
            ("x.stf", FileKind::Stf),
            ("x.pcap", FileKind::Capture),
            ("-", FileKind::StandardInput),
            ("make", FileKind::Other),
            ("mk.py", FileKind::Other),
        ] {
            assert_eq!(FileKind::of(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_judged_by_who_reads_it() {
        assert_eq!(language(Path::new("nowhere.py")), Ok(Language::P4));
        assert_eq!(language(Path::new("nowhere.dpt")), Ok(Language::Lucid));
    }
}
