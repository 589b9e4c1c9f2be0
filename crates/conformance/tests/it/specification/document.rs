// SPDX-License-Identifier: Apache-2.0
//! Test documents: markdown whose fenced blocks are test cases. A line `Clauses: 8.7, 8.12.2` says
//! which clauses the cases after it cover, up to the next such line. Reading only; what a case means
//! is the runner's.
//!
//! The fences, by the words after the three backquotes:
//!
//! - `p4 prelude` and `p4 epilogue`: text that goes before and after each of the following programs,
//!   until replaced.
//! - `p4 accepted`: a program that is accepted. A comment `// warning: TEXT` expects a warning on
//!   its line whose code or message contains TEXT.
//! - `p4 rejected` or `p4 rejected TEXT`: a program that is rejected. A comment `// error: TEXT`
//!   expects an error on its line whose code or message contains TEXT. Without such a comment, some
//!   error has to contain the fence's TEXT.
//! - `p4 run`: a program for v1model; each `stf` block after it is a test of it, run on a new device.
//! - anything else is not a test.

/// What is expected of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// No error.
    Accepted,
    /// Errors; with a text that one of them has to contain if no line says what it expects.
    Rejected(String),
    /// What these STF tests say.
    Runs(Vec<StfBlock>),
}

/// An STF test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StfBlock {
    /// Line of the document with the first line of the text, from 1.
    pub line: usize,
    /// Text.
    pub text: String,
}

/// A program and what is expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Line of the document with the first line of `program`, from 1.
    pub line: usize,
    /// The clauses it covers.
    pub clauses: Vec<String>,
    /// Text before the program.
    pub prelude: String,
    /// The program as written in the document.
    pub program: String,
    /// Text after the program.
    pub epilogue: String,
    /// What is expected.
    pub expectation: Expectation,
}

impl Case {
    /// The whole program.
    pub fn text(&self) -> String {
        format!("{}{}{}", self.prelude, self.program, self.epilogue)
    }

    /// The document's line for a line of [`Case::text`], both from 1; `None` for a line of the
    /// prelude or epilogue.
    pub fn document_line(&self, text_line: usize) -> Option<usize> {
        let before = self.prelude.lines().count();
        let length = self.program.lines().count();
        let line = text_line.checked_sub(before)?;
        (1..=length).contains(&line).then(|| self.line + line - 1)
    }
}

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its cases in order.
    pub cases: Vec<Case>,
    /// What is wrong with the document itself: line and message.
    pub problems: Vec<(usize, String)>,
}

/// Reads a document.
pub fn read(text: &str) -> Document {
    let mut reader = Reader::default();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if let Some(list) = line.strip_prefix("Clauses:") {
            reader.clauses = list.split(',').map(|number| number.trim().to_string()).collect();
        } else if let Some(info) = line.strip_prefix("```") {
            let mut body = String::new();
            let mut closed = false;
            for (_, line) in lines.by_ref() {
                if line == "```" {
                    closed = true;
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if !closed {
                reader.problem(index + 1, "this block does not end");
            }
            reader.block(index + 2, info.trim(), body);
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    document: Document,
    clauses: Vec<String>,
    prelude: String,
    epilogue: String,
}

impl Reader {
    fn problem(&mut self, line: usize, message: impl Into<String>) {
        self.document.problems.push((line, message.into()));
    }

    fn block(&mut self, line: usize, info: &str, body: String) {
        let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
        let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        match (language, kind) {
            ("p4", "prelude") => self.prelude = body,
            ("p4", "epilogue") => self.epilogue = body,
            ("p4", "accepted") => self.case(line, body, Expectation::Accepted),
            ("p4", "rejected") => {
                let text = rest.trim().to_string();
                self.case(line, body, Expectation::Rejected(text));
            }
            ("p4", "run") => self.case(line, body, Expectation::Runs(Vec::new())),
            ("stf", _) => match self.document.cases.last_mut().map(|case| &mut case.expectation) {
                Some(Expectation::Runs(tests)) => tests.push(StfBlock { line, text: body }),
                _ => self.problem(line, "an `stf` block follows a `p4 run` block"),
            },
            ("p4", _) => self.problem(line, format!("no such kind of program: `{kind}`")),
            _ => {}
        }
    }

    fn case(&mut self, line: usize, program: String, expectation: Expectation) {
        if self.clauses.is_empty() {
            self.problem(line, "no `Clauses:` line stands before this block");
        }
        self.document.cases.push(Case {
            line,
            clauses: self.clauses.clone(),
            prelude: self.prelude.clone(),
            program,
            epilogue: self.epilogue.clone(),
            expectation,
        });
    }

    fn finish(mut self) -> Document {
        for case in &self.document.cases {
            if case.expectation == Expectation::Runs(Vec::new()) {
                let problem = "a `p4 run` block without an `stf` block tests nothing";
                self.document.problems.push((case.line, problem.to_string()));
            }
        }
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_clauses_lines_and_frames() {
        let text = "# T\n\nClauses: 8.7, 8.8\n\n```p4 prelude\nA\n```\n\n```p4 rejected E1\nB\nC\n```\n\
                    \n```p4 run\nD\n```\n```stf\nwait\n```\n```console\nx\n```\n";
        let document = read(text);
        assert_eq!(document.problems, []);
        let [rejected, run] = &document.cases[..] else { panic!("{document:?}") };
        assert_eq!(rejected.clauses, ["8.7", "8.8"]);
        assert_eq!(rejected.text(), "A\nB\nC\n");
        assert_eq!(rejected.expectation, Expectation::Rejected("E1".to_string()));
        assert_eq!(rejected.line, 10);
        assert_eq!(rejected.document_line(1), None);
        assert_eq!(rejected.document_line(2), Some(10));
        assert_eq!(rejected.document_line(3), Some(11));
        assert_eq!(rejected.document_line(4), None);
        let stf = StfBlock { line: 18, text: "wait\n".to_string() };
        assert_eq!(run.expectation, Expectation::Runs(vec![stf]));
    }

    #[test]
    fn wrong_documents_have_problems() {
        let problems =
            |text: &str| read(text).problems.into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(problems("```p4 accepted\n```\n"), [2]);
        assert_eq!(problems("Clauses: 1\n```p4 acepted\n```\n"), [3]);
        assert_eq!(problems("Clauses: 1\n```p4 run\nx\n```\n"), [3]);
        assert_eq!(problems("Clauses: 1\n```stf\n```\n"), [3]);
        assert_eq!(problems("Clauses: 1\n```p4 accepted\n"), [2]);
    }
}
