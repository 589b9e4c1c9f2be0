// SPDX-License-Identifier: Apache-2.0
//! What comes out of the preprocessor: the text of the tokens, their places, the diagnostics.

mod conditions;
mod files;
mod limits;
mod macros;

use super::{IncludeLoader, PreprocessorOptions, preprocess};
use crate::codes::lexical::EXPLANATIONS;
use crate::token::{Token, TokenKind};
use source::{Diagnostics, SourceMap};
use std::collections::BTreeMap;

/// Files in memory.
#[derive(Default)]
pub(super) struct Files(BTreeMap<String, String>);

impl Files {
    pub fn with(mut self, name: &str, text: impl Into<String>) -> Files {
        self.0.insert(name.to_owned(), text.into());
        self
    }
}

impl IncludeLoader for Files {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        match self.0.get(path) {
            Some(text) if text == "unreadable" => Err("permission denied".to_owned()),
            text => Ok(text.cloned()),
        }
    }
}

pub(super) struct Run {
    pub map: SourceMap,
    pub tokens: Vec<Token>,
    pub diagnostics: Diagnostics,
}

impl Run {
    /// The program `main.p4` among these files.
    pub fn new(files: &Files, options: &PreprocessorOptions) -> Run {
        let mut map = SourceMap::new();
        let main = map.add("main.p4", files.0["main.p4"].as_str());
        let mut diagnostics = Diagnostics::new();
        let tokens = preprocess(&mut map, files, main, options, &mut diagnostics);
        assert_eq!(tokens.last().map(|token| token.kind), Some(TokenKind::End));
        Run { map, tokens, diagnostics }
    }

    pub fn of(text: impl Into<String>) -> Run {
        Run::new(&Files::default().with("main.p4", text), &PreprocessorOptions::default())
    }

    /// The tokens, separated by blanks.
    pub fn text(&self) -> String {
        let mut words = Vec::new();
        for token in &self.tokens {
            match token.kind {
                TokenKind::End => {}
                TokenKind::String => words.push(format!("\"{}\"", token.text)),
                TokenKind::Pragma => words.push(format!("[pragma {}]", token.text)),
                _ => words.push(token.text.to_string()),
            }
        }
        words.join(" ")
    }

    /// The diagnostics, one to a line.
    pub fn reports(&self) -> Vec<String> {
        self.diagnostics
            .iter()
            .map(|diagnostic| {
                let place = match self.map.location(diagnostic.primary.span) {
                    Some(place) => format!("{}:{}:{}", place.file, place.line, place.column),
                    None => "nowhere".to_owned(),
                };
                format!("{} {place} {}", diagnostic.code, diagnostic.message)
            })
            .collect()
    }

    /// The codes of the diagnostics.
    pub fn codes(&self) -> Vec<&'static str> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.code.0).collect()
    }
}

/// The program becomes these tokens and gets no diagnostic.
pub(super) fn check(program: &str, expected: &str) {
    let run = Run::of(program);
    assert_eq!(run.text(), expected, "for {program}");
    assert_eq!(run.reports(), Vec::<String>::new(), "for {program}");
}

/// The program gets exactly these diagnostics.
pub(super) fn check_reports(program: &str, expected: &[&str]) {
    assert_eq!(Run::of(program).reports(), expected, "for {program}");
}

#[test]
fn explanations_hold() {
    for explanation in EXPLANATIONS {
        let code = explanation.code.0;
        if !explanation.wrong.is_empty() {
            let codes = Run::of(explanation.wrong).codes();
            assert!(codes.contains(&code), "{code}: wrong gets {codes:?}");
        }
        let codes = Run::of(explanation.right).codes();
        assert!(!codes.contains(&code), "{code}: right gets {codes:?}");
    }
}
