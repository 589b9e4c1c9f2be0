// SPDX-License-Identifier: Apache-2.0
//! Programs made by tools: P4_16 put together piece by piece, each piece with the place in the
//! user's source (Lucid, P4R, another P4 program) that it stands for, then read and checked like any
//! other program. The result is the checked tree, which lowering takes directly, and its text for
//! other toolchains. The tool decides what the pieces say.

use crate::ast::{Declaration, Program};
use crate::compile::Compilation;
use crate::interfaces::InterfacesOnly;
use crate::lexer;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use crate::token::{Token, TokenKind};
use crate::typed::TypedProgram;
use source::{Diagnostics, SourceMap, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A program in the making.
#[derive(Debug)]
pub struct ProgramBuilder {
    map: SourceMap,
    tokens: Vec<Token>,
    includes: Vec<String>,
    comments: BTreeMap<Arc<str>, String>,
    diagnostics: Diagnostics,
}

/// A finished program.
#[derive(Debug)]
pub struct BuiltProgram {
    /// All files: those of the user, then the interfaces.
    pub map: SourceMap,
    /// The checked program; spans are those that were given to [`ProgramBuilder::put`].
    pub program: Arc<TypedProgram>,
    /// Warnings of the checker.
    pub warnings: Diagnostics,
    pub(crate) printing: Printing,
}

/// How a program is printed that a tool made or changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Printing {
    /// The interfaces that a built program includes; `None` for a program of the user.
    includes: Option<Vec<String>>,
    /// Comments by the names of top-level declarations.
    comments: BTreeMap<Arc<str>, String>,
}

impl ProgramBuilder {
    /// Begins a program that includes these interfaces (`core.p4`, `v1model.p4`). The map has the
    /// files that spans will point into.
    pub fn new(mut map: SourceMap, includes: &[&str]) -> ProgramBuilder {
        let mut diagnostics = Diagnostics::new();
        let text: String = includes.iter().map(|name| format!("#include <{name}>\n")).collect();
        let main = map.add("interfaces", text);
        let options = PreprocessorOptions::default();
        let mut tokens = preprocess(&mut map, &InterfacesOnly, main, &options, &mut diagnostics);
        tokens.retain(|token| token.kind != TokenKind::End);
        ProgramBuilder {
            map,
            tokens,
            includes: includes.iter().map(|name| (*name).to_string()).collect(),
            comments: BTreeMap::new(),
            diagnostics,
        }
    }

    /// Adds text: whole declarations or parts of one, any number of tokens, without directives. All of
    /// it gets this span; [`Span::NONE`] is for what no user wrote.
    pub fn put(&mut self, span: Span, text: &str) {
        let mut piece = SourceMap::new();
        let file = piece.add("piece", text);
        let mut found = Diagnostics::new();
        for mut token in lexer::lex(&piece, file, &mut found) {
            if token.kind != TokenKind::End {
                token.span = span;
                self.tokens.push(token);
            }
        }
        self.diagnostics.append(found);
    }

    /// Adds tokens with the places that they have: what was read from a file of the user's.
    pub fn put_tokens(&mut self, tokens: &[Token]) {
        self.tokens.extend(tokens.iter().filter(|token| token.kind != TokenKind::End).cloned());
    }

    /// What is wrong with the syntax so far; a program that ends too early ends at this place.
    pub fn syntax(&self, end: Span) -> Diagnostics {
        let mut found = Diagnostics::new();
        let mut tokens = self.tokens.clone();
        tokens.push(Token { kind: TokenKind::End, span: end, text: "".into() });
        crate::parser::parse(tokens, &mut found);
        found
    }

    /// A comment that stands before the top-level declaration of this name where the program is
    /// printed, one line a line.
    pub fn comment(&mut self, declaration: &str, text: impl Into<String>) {
        self.comments.insert(declaration.into(), text.into());
    }

    /// Reads and checks what was put.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and the map to show it with. For a tool's program that is a mistake of
    /// the tool, or a limit of P4 that the tool did not know.
    #[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
    pub fn finish(self) -> Result<BuiltProgram, (Diagnostics, SourceMap)> {
        let ProgramBuilder { map, mut tokens, includes, comments, diagnostics } = self;
        let mut diagnostics = diagnostics;
        tokens.push(Token { kind: TokenKind::End, span: Span::NONE, text: "".into() });
        let tree = crate::parser::parse(tokens, &mut diagnostics);
        if diagnostics.has_errors() {
            return Err((diagnostics, map));
        }
        let program = crate::check::check(tree, &mut diagnostics);
        if diagnostics.has_errors() {
            return Err((diagnostics, map));
        }
        Ok(BuiltProgram {
            map,
            program: Arc::new(program),
            warnings: diagnostics,
            printing: Printing { includes: Some(includes), comments },
        })
    }
}

impl From<BuiltProgram> for Compilation {
    fn from(built: BuiltProgram) -> Compilation {
        let BuiltProgram { map, program, warnings, .. } = built;
        Compilation { map, diagnostics: warnings, program: Some(program), macros: Vec::new() }
    }
}

impl BuiltProgram {
    /// Returns the program as text that other toolchains take: interfaces as `#include`, then
    /// everything that was put.
    pub fn print(&self) -> String {
        self.printing.print(&self.map, &self.program.program)
    }
}

impl Printing {
    /// A declaration that has another name now keeps its comment.
    pub(crate) fn rename(&mut self, old: &str, new: &Arc<str>) {
        if let Some(comment) = self.comments.remove(old) {
            self.comments.insert(new.clone(), comment);
        }
    }

    pub(crate) fn print(&self, map: &SourceMap, program: &Program) -> String {
        let Some(includes) = &self.includes else {
            return crate::printer::print_with_includes(map, program);
        };
        let mut text: String = includes.iter().map(|name| format!("#include <{name}>\n")).collect();
        let is_own = |declaration: &&Declaration| map.library(declaration.span).is_none();
        for declaration in program.declarations.iter().filter(is_own) {
            text.push('\n');
            let comment = self.comments.get(&declaration.name.text);
            for line in comment.into_iter().flat_map(|comment| comment.lines()) {
                text.push_str(format!("// {line}").trim_end());
                text.push('\n');
            }
            text.push_str(&crate::printer::print_declarations([declaration]));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_spans_and_print() {
        let mut map = SourceMap::new();
        let user = map.add("user.dpt", "event e(int x);\n");
        let span = Span::new(user, 0, 15);
        let mut builder = ProgramBuilder::new(map, &["core.p4", "v1model.p4"]);
        builder.comment("e_h", "event e");
        builder.put(span, "header e_h {");
        builder.put(span, "bit<32> x; }");
        builder.put(Span::NONE, "const bit<8> ONE = 1;");
        let built = builder.finish().expect("a right program");
        assert_eq!(
            built.print(),
            "#include <core.p4>\n#include <v1model.p4>\n\n// event e\nheader e_h {\n    bit<32> x;\n}\n\
             \nconst bit<8> ONE = 1;\n"
        );
        let own = built.program.program.declarations.iter().rev().nth(1).map(|found| found.span);
        assert_eq!(own, Some(span));
    }

    #[test]
    fn what_is_wrong_is_told_at_the_span() {
        let mut map = SourceMap::new();
        let user = map.add("user.dpt", "event e(int x);\n");
        let span = Span::new(user, 6, 7);
        let mut builder = ProgramBuilder::new(map, &["core.p4"]);
        builder.put(span, "header e_h { missing_t x; }");
        let (found, _) = builder.finish().expect_err("a wrong program");
        assert_eq!(found.iter().map(|one| one.primary.span).collect::<Vec<_>>(), [span]);
    }
}
