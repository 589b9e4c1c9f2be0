// SPDX-License-Identifier: Apache-2.0
//! The coverage of the specification: for each clause the source files that cite it, and the test
//! documents and test code that cover it. Reads the files of a checkout, and writes the report as
//! markdown; it runs no tests.

use super::citations::citations;
use super::clauses::{CLAUSES, Clause, clause};
use super::document;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the test documents are, from the root of the checkout.
pub const DOCUMENTS: &str = "tests/specification";

/// Where the report is committed, from the root of the checkout.
pub const REPORT: &str = "docs/specification-coverage.md";

/// What belongs to one clause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Source files that cite it, from the root of the checkout.
    pub code: BTreeSet<String>,
    /// Files with test code that cites it, from the root of the checkout.
    pub test_code: BTreeSet<String>,
    /// Documents and how many of their cases cover it, from the root of the checkout.
    pub documents: BTreeMap<String, usize>,
}

impl Coverage {
    /// Whether any test covers it.
    pub fn is_tested(&self) -> bool {
        !self.test_code.is_empty() || !self.documents.is_empty()
    }
}

/// The coverage of the whole specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// By clause number; a clause with nothing is left out.
    pub clauses: BTreeMap<String, Coverage>,
    /// What cites a clause that does not exist: file and line, and the number.
    pub unknown: Vec<(String, String)>,
}

/// Reads the checkout at `root`. The error is a file that cannot be read, with the reason.
pub fn coverage(root: &Path) -> Result<Report, String> {
    let mut report = Report::default();
    for path in files(&root.join("crates"), "rs")? {
        let name = relative(root, &path);
        // What names clauses to test this very report is not a citation.
        if name.contains("conformance/tests/it/specification/") || name.contains("/target/") {
            continue;
        }
        let test_file = name.split('/').any(|part| part == "tests" || part == "tests.rs");
        for citation in citations(&read(&path)?, test_file) {
            if clause(&citation.clause).is_none() {
                report.unknown.push((format!("{name}:{}", citation.line), citation.clause));
                continue;
            }
            let entry = report.clauses.entry(citation.clause).or_default();
            let list = if citation.test { &mut entry.test_code } else { &mut entry.code };
            list.insert(name.clone());
        }
    }
    for path in files(&root.join(DOCUMENTS), "md")? {
        let name = relative(root, &path);
        for case in document::read(&read(&path)?).cases {
            for number in &case.clauses {
                if clause(number).is_none() {
                    report.unknown.push((format!("{name}:{}", case.line), number.clone()));
                    continue;
                }
                let entry = report.clauses.entry(number.clone()).or_default();
                *entry.documents.entry(name.clone()).or_default() += 1;
            }
        }
    }
    report.unknown.sort();
    report.unknown.dedup();
    Ok(report)
}

/// All files below a directory with this extension, sorted; none if there is no such directory.
pub fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut list = Vec::new();
    let mut directories = vec![directory.to_path_buf()];
    while let Some(directory) = directories.pop() {
        if !directory.is_dir() {
            continue;
        }
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                list.push(path);
            }
        }
    }
    list.sort();
    Ok(list)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl Report {
    /// What belongs to a clause.
    pub fn of(&self, number: &str) -> Coverage {
        self.clauses.get(number).cloned().unwrap_or_default()
    }

    /// How many of the normative clauses are covered by tests, cited by code, and how many there are.
    pub fn shares(&self) -> (usize, usize, usize) {
        let normative = || CLAUSES.iter().filter(|clause| clause.normative);
        let tested = normative().filter(|clause| self.of(clause.number).is_tested()).count();
        let cited = normative().filter(|clause| !self.of(clause.number).code.is_empty()).count();
        (tested, cited, normative().count())
    }

    /// The report as it is committed.
    pub fn markdown(&self) -> String {
        let (tested, cited, all) = self.shares();
        let percent = |part: usize| part * 100 / all.max(1);
        let mut text = String::new();
        text.push_str(
            "# Coverage of the P4_16 specification\n\n\
             The test `specification` of crate `conformance` writes this file \
             (`PLANEWRIGHT_BLESS=1`); do not edit it. The specification is\nversion 1.2.5 with the \
             additions of its working draft. A test is a case in a document of \
             `tests/specification`, or test\ncode that cites the clause. Clauses in italics are \
             informative: they need no test.\n\n",
        );
        let _ = writeln!(
            text,
            "Of {all} normative clauses, {tested} ({}%) have tests and {cited} ({}%) are cited by \
             code.\n",
            percent(tested),
            percent(cited)
        );
        text.push_str("| Clause | Title | Code | Tests |\n| --- | --- | --- | --- |\n");
        for clause in CLAUSES {
            text.push_str(&self.row(clause));
        }
        if !self.unknown.is_empty() {
            text.push_str("\n## Citations of clauses that do not exist\n\n");
            for (place, number) in &self.unknown {
                // Without the line, which changes too often for a committed file.
                let file = place.rsplit_once(':').map_or(place.as_str(), |(file, _)| file);
                let line = format!("- `{file}`: {number}\n");
                if !text.ends_with(&line) {
                    text.push_str(&line);
                }
            }
        }
        text
    }

    fn row(&self, clause: &Clause) -> String {
        let coverage = self.of(clause.number);
        let source = |name: &String| {
            let name = name.strip_prefix("crates/").unwrap_or(name).replacen("/src/", "/", 1);
            let name = name.trim_end_matches(".rs");
            (name.len(), format!("`{name}`"))
        };
        let code: Vec<_> = coverage.code.iter().map(source).collect();
        let document = |(name, cases): (&String, &usize)| {
            let short = name.strip_prefix("tests/specification/").unwrap_or(name);
            let short = short.trim_end_matches(".md");
            (short.len() + 3, format!("[{short}](../{name}) {cases}"))
        };
        let mut tests: Vec<_> = coverage.documents.iter().map(document).collect();
        tests.extend(coverage.test_code.iter().map(source));
        let title = clause.title.replace('|', "\\|");
        let (title, none) = match clause.normative {
            true => (title, "none"),
            false => (format!("*{title}*"), ""),
        };
        let tests = if tests.is_empty() { none.to_string() } else { cell(&tests) };
        format!("| {} | {title} | {} | {tests} |\n", clause.number, cell(&code))
    }
}

/// Joins the items of a cell, each with its visible length; names as many as a readable cell has room for.
fn cell(items: &[(usize, String)]) -> String {
    const MAX_CHARACTERS: usize = 150;
    let mut length = 0;
    let fits = |item: &&(usize, String)| -> bool {
        length += item.0 + 4;
        length <= MAX_CHARACTERS
    };
    let shown: Vec<&str> = items.iter().take_while(fits).map(|item| &*item.1).collect();
    match items.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clause_numbers_are_unique_and_their_parents_exist() {
        let mut seen = BTreeSet::new();
        for clause in CLAUSES {
            assert!(seen.insert(clause.number), "{} twice", clause.number);
            if let Some((parent, _)) = clause.number.rsplit_once('.') {
                assert!(seen.contains(parent), "{} without {parent}", clause.number);
            }
        }
    }

    #[test]
    fn a_row_tells_code_and_tests() {
        let mut report = Report::default();
        let entry = report.clauses.entry("12.2".to_string()).or_default();
        entry.code.insert("crates/p4/src/check/statements.rs".to_string());
        entry.documents.insert("tests/specification/12-statements/empty.md".to_string(), 2);
        let text = report.markdown();
        assert!(text.contains(
            "| 12.2 | Empty statement | `p4/check/statements` | \
             [12-statements/empty](../tests/specification/12-statements/empty.md) 2 |\n"
        ));
        assert!(text.contains("| 12.3 | Block statement |  | none |\n"));
        assert!(text.contains("| 1 | *Scope* |  |  |\n"));
    }
}
