// SPDX-License-Identifier: Apache-2.0
//! The arguments of a reaction as variables in C: nested structures for fields, so that `hdr.ipv4.src` works, and arrays with
//! the register's own indices for registers. A header has the member `p4r_valid`, which `valid(hdr.ipv4)` reads.

use super::codes::{CELL_NOT_MEASURED, NOT_AN_ARGUMENT};
use super::lexer::{Kind, Token, tokens};
use super::names::path_at;
use super::values::{byte_count, c_name, c_type, constant_value, declaration, from_words, is_wide};
use crate::interface::{Argument, ArgumentKind, PathStep, Reaction, Scalar, path_text};
use source::{Diagnostic, Diagnostics, Span, nearest};
use std::fmt::Write;
use std::sync::Arc;

/// The name of a header's validity in C.
const VALID: &str = "p4r_valid";

/// Arrays whose first cell has a larger index begin there in memory.
const MAX_SKIPPED_CELLS: u64 = 1 << 16;

/// A variable or member.
#[derive(Debug)]
enum Node {
    /// A value whose words begin at this word of the input.
    Value { ty: Scalar, word: usize },
    /// Whether a header is valid.
    Valid { word: usize },
    /// A structure, a header or a header stack.
    Members(Vec<(PathStep, Node)>),
}

impl Node {
    fn structure() -> Node {
        Node::Members(Vec::new())
    }

    /// Adds a node at a path, which stays if there is one.
    fn insert(&mut self, path: &[PathStep], node: Node) {
        let Node::Members(members) = self else { return };
        let Some((step, rest)) = path.split_first() else { return };
        let index = members.iter().position(|(known, _)| known == step).unwrap_or_else(|| {
            members.push((step.clone(), Node::structure()));
            members.len() - 1
        });
        match rest {
            [] => match (&mut members[index].1, node) {
                (Node::Members(known), Node::Members(new)) => known.extend(new),
                (known, node) => *known = node,
            },
            rest => members[index].1.insert(rest, node),
        }
    }

    fn find(&self, path: &[PathStep]) -> Option<&Node> {
        let Some((step, rest)) = path.split_first() else { return Some(self) };
        let Node::Members(members) = self else { return None };
        let is_it = |known: &PathStep| match (known, step) {
            (PathStep::Name(known), PathStep::Name(name)) => c_name(known) == **name,
            _ => known == step,
        };
        members.iter().find(|(known, _)| is_it(known))?.1.find(rest)
    }

    /// Whether it is a header stack; then the number of elements that C sees.
    fn stack_size(&self) -> Option<u32> {
        let Node::Members(members) = self else { return None };
        let indices = members.iter().filter_map(|(step, _)| match step {
            PathStep::Index(index) => Some(index + 1),
            PathStep::Name(_) => None,
        });
        indices.max()
    }

    /// The elements of a header stack as one structure that has the members of all.
    fn element(&self) -> Vec<(String, String)> {
        let mut declarations: Vec<(String, String)> = Vec::new();
        let Node::Members(elements) = self else { return declarations };
        for (_, element) in elements {
            for (name, declared) in element.member_declarations() {
                if !declarations.iter().any(|(known, _)| *known == name) {
                    declarations.push((name, declared));
                }
            }
        }
        declarations
    }

    fn member_declarations(&self) -> Vec<(String, String)> {
        let Node::Members(members) = self else { return Vec::new() };
        let named = members.iter().filter_map(|(step, node)| match step {
            PathStep::Name(name) => {
                let name = c_name(name);
                let declared = node.declare(&name);
                Some((name, declared))
            }
            PathStep::Index(_) => None,
        });
        named.collect()
    }

    /// Declares the node under a name, without `;`.
    fn declare(&self, name: &str) -> String {
        let structure = |members: Vec<(String, String)>| {
            let members: String =
                members.iter().map(|(_, declared)| format!("{declared}; ")).collect();
            format!("struct {{ {members}}}")
        };
        match (self, self.stack_size()) {
            (Node::Value { ty, .. }, _) => declaration(ty, name),
            (Node::Valid { .. }, _) => format!("_Bool {name}"),
            (Node::Members(_), Some(size)) => {
                format!("{} {name}[{size}]", structure(self.element()))
            }
            (Node::Members(_), None) => format!("{} {name}", structure(self.member_declarations())),
        }
    }

    /// Returns the initializer.
    fn initializer(&self) -> String {
        match self {
            Node::Value { ty, word } => from_words(ty, "p4r_in", &word.to_string()),
            Node::Valid { word } => format!("p4r_in[{word}] != 0"),
            Node::Members(members) => {
                let designated = members.iter().map(|(step, node)| match step {
                    PathStep::Name(name) => format!(".{} = {}", c_name(name), node.initializer()),
                    PathStep::Index(index) => format!("[{index}] = {}", node.initializer()),
                });
                format!("{{ {} }}", designated.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A register as an argument.
#[derive(Debug)]
struct Array {
    name: String,
    ty: Scalar,
    first: u64,
    last: u64,
    word: usize,
}

impl Array {
    /// The index in memory of the first cell.
    fn offset(&self) -> u64 {
        if self.first > MAX_SKIPPED_CELLS { 0 } else { self.first }
    }

    fn element_type(&self, name: &str) -> String {
        match is_wide(&self.ty) {
            true => format!("{} ({name})[{}]", c_type(&self.ty), byte_count(&self.ty)),
            false => format!("{} {name}", c_type(&self.ty)),
        }
    }
}

/// The arguments of a reaction in C.
#[derive(Debug)]
pub struct Arguments<'i> {
    reaction: &'i Reaction,
    index: usize,
    variables: Node,
    arrays: Vec<Array>,
}

impl<'i> Arguments<'i> {
    /// Arranges the arguments of the reaction of this index.
    pub fn new(index: usize, reaction: &'i Reaction) -> Arguments<'i> {
        let mut arguments =
            Arguments { reaction, index, variables: Node::structure(), arrays: Vec::new() };
        let mut word = 0;
        for argument in &reaction.arguments {
            arguments.add(argument, word);
            word += argument.kind.words();
        }
        for (index, path) in reaction.validities.iter().enumerate() {
            arguments.add_validity(path, word + index);
        }
        arguments
    }

    fn add(&mut self, argument: &Argument, word: usize) {
        let alias = argument.name.as_ref().map(|name| vec![PathStep::Name(name.clone())]);
        let named = |name: &Arc<str>| vec![PathStep::Name(name.clone())];
        match &argument.kind {
            ArgumentKind::Field { path, ty } => {
                let path = alias.unwrap_or_else(|| path.clone());
                self.variables.insert(&path, Node::Value { ty: *ty, word });
            }
            ArgumentKind::Header { path, fields } => {
                let mut members = Vec::new();
                let mut at = word;
                for (name, ty) in fields {
                    members.push((PathStep::Name(name.clone()), Node::Value { ty: *ty, word: at }));
                    at += ty.words();
                }
                let path = alias.unwrap_or_else(|| path.clone());
                self.variables.insert(&path, Node::Members(members));
            }
            ArgumentKind::Register { register, ty, first, last } => {
                let name = argument.name.as_ref().unwrap_or(register).to_string();
                self.arrays.push(Array { name, ty: *ty, first: *first, last: *last, word });
            }
            ArgumentKind::Malleable { malleable, ty } => {
                let path = alias.unwrap_or_else(|| named(malleable));
                self.variables.insert(&path, Node::Value { ty: *ty, word });
            }
            ArgumentKind::Constant { .. } => {}
        }
    }

    /// Adds the validity of a header at its own path, and at the name that the header has as an argument.
    fn add_validity(&mut self, header: &[PathStep], word: usize) {
        let aliases = self.reaction.arguments.iter().filter_map(|argument| match &argument.kind {
            ArgumentKind::Header { path, .. } if path == header => argument.name.clone(),
            _ => None,
        });
        let aliases = aliases.map(|name| vec![PathStep::Name(name)]);
        for mut path in aliases.chain([header.to_vec()]) {
            path.push(PathStep::Name(VALID.into()));
            self.variables.insert(&path, Node::Valid { word });
        }
    }

    fn variables(&self) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        let Node::Members(members) = &self.variables else { unreachable!("made as members") };
        members.iter().filter_map(|(step, node)| match step {
            PathStep::Name(name) => Some((name, node)),
            PathStep::Index(_) => None,
        })
    }

    fn buffer(&self, array: usize) -> String {
        format!("p4r_cells_{}_{array}", self.index)
    }

    /// Declares the memory of arrays that the body names, at file scope.
    pub fn memory(&self) -> String {
        let mut text = String::new();
        for (index, array) in self.used_arrays() {
            let count = array.last - array.first + 1 + array.offset();
            let name = format!("{}[{count}]", self.buffer(index));
            let declared = match is_wide(&array.ty) {
                true => format!("uint8_t {name}[{}]", byte_count(&array.ty)),
                false => format!("{} {name}", c_type(&array.ty)),
            };
            let _ = writeln!(text, "static {declared};");
        }
        text
    }

    fn used_arrays(&self) -> impl Iterator<Item = (usize, &Array)> {
        let tokens = tokens(&self.reaction.body.text);
        let is_used = move |array: &&Array| {
            tokens.iter().any(|token| token.kind == Kind::Identifier && token.text == array.name)
        };
        let used: Vec<(usize, &Array)> =
            self.arrays.iter().enumerate().filter(|(_, array)| is_used(array)).collect();
        used.into_iter()
    }

    /// Declares the variables at the beginning of the reaction's function, whose input is `p4r_in`.
    pub fn locals(&self) -> String {
        let mut text = String::new();
        let unused = "__attribute__((unused))";
        for (name, node) in self.variables() {
            let declared = node.declare(&c_name(name));
            let _ = writeln!(text, "    const {declared} {unused} = {};", node.initializer());
        }
        for argument in &self.reaction.arguments {
            if let ArgumentKind::Constant { constant, ty, value } = &argument.kind {
                let name = argument.name.as_ref().unwrap_or(constant);
                let declared = declaration(ty, &c_name(name));
                let value = constant_value(ty, *value);
                let _ = writeln!(text, "    const {declared} {unused} = {value};");
            }
        }
        for (index, array) in self.used_arrays() {
            self.array(&mut text, index, array);
        }
        text
    }

    /// Copies the cells of an array from the input and declares its name.
    fn array(&self, text: &mut String, index: usize, array: &Array) {
        let buffer = self.buffer(index);
        let (count, words) = (array.last - array.first + 1, array.ty.words());
        let cell = format!("{buffer}[{} + p4r_i]", array.offset());
        let first = format!("{} + p4r_i * {words}", array.word);
        let value = from_words(&array.ty, "p4r_in", &first);
        let assignment = match is_wide(&array.ty) {
            false => format!("{cell} = {value};"),
            true => {
                let bytes = byte_count(&array.ty);
                format!("__builtin_memcpy({cell}, (const uint8_t[{bytes}]){value}, {bytes});")
            }
        };
        let _ = writeln!(
            text,
            "    for (uint64_t p4r_i = 0; p4r_i < {count}; p4r_i++) {{ {assignment} }}"
        );
        let name = c_name(&array.name);
        let declared = array.element_type(&format!("*const {name}"));
        let start = match array.first - array.offset() {
            0 => buffer,
            // The array's index 0 lies before its memory, where C has no pointers.
            skipped => {
                format!("(const void *)((uintptr_t){buffer} - {skipped} * sizeof {buffer}[0])")
            }
        };
        let _ = writeln!(text, "    const {declared} = {start}; (void){name};");
    }

    /// Reports paths in the translated body that begin like an argument and are none, and cells that are not measured.
    pub fn check_paths(&self, body: &str, diagnostics: &mut Diagnostics) {
        let tokens = tokens(body);
        for array in &self.arrays {
            self.check_cells(array, &tokens, diagnostics);
        }
        for (root, _) in self.variables() {
            if is_declared_again(&tokens, root) {
                continue;
            }
            for at in (0..tokens.len()).filter(|at| tokens[*at].is_word(root)) {
                let Some(path) = path_at(&tokens, at) else { continue };
                let names = |length: usize| self.variables.find(&path.steps[..length]);
                let wrong = (1..=path.steps.len()).find(|length| names(*length).is_none());
                // A member of a value is the C compiler's to report.
                let is_member = |wrong: &usize| matches!(names(wrong - 1), Some(Node::Members(_)));
                if wrong.filter(is_member).is_some() {
                    self.report(&tokens, at, path.end, &path_text(&path.steps), diagnostics);
                }
            }
        }
    }

    /// Reports constant indices beyond the range of a register.
    fn check_cells(&self, array: &Array, tokens: &[Token<'_>], diagnostics: &mut Diagnostics) {
        if is_declared_again(tokens, &array.name) {
            return;
        }
        for at in (0..tokens.len()).filter(|at| tokens[*at].is_word(&array.name)) {
            let Some(path) = path_at(tokens, at) else { continue };
            let Some(PathStep::Index(index)) = path.steps.get(1) else { continue };
            if (array.first..=array.last).contains(&u64::from(*index)) {
                continue;
            }
            let Array { name, first, last, .. } = array;
            let span = self.span(tokens, at, at + 4);
            let message = format!("cell {index} of `{name}` is not measured");
            diagnostics.push(
                Diagnostic::error(CELL_NOT_MEASURED, span, message)
                    .note(format!("the argument has the cells {first} to {last}, both included"))
                    .help("widen the range in the arguments of the reaction, or use another cell"),
            );
        }
    }

    fn span(&self, tokens: &[Token<'_>], from: usize, to: usize) -> Span {
        let body = &self.reaction.body;
        let start = body.span.start;
        let (from, to) = (tokens[from].start as u32, tokens[to - 1].end as u32);
        Span::new(body.span.file, start + from, start + to)
    }

    /// Whether a word is the first step of an argument.
    pub fn has_variable(&self, word: &str) -> bool {
        let begins = |name: &String| name.split(['.', '[']).next() == Some(word);
        self.argument_names().iter().any(begins)
    }

    fn report(
        &self,
        tokens: &[Token<'_>],
        from: usize,
        to: usize,
        written: &str,
        diagnostics: &mut Diagnostics,
    ) {
        let span = self.span(tokens, from, to);
        diagnostics.push(self.not_an_argument(span, written));
    }

    /// Makes the error of a field that is not an argument.
    pub fn not_an_argument(&self, span: Span, written: &str) -> Diagnostic {
        let message =
            format!("`{written}` is not an argument of reaction `{}`", self.reaction.name);
        self.advise(Diagnostic::error(NOT_AN_ARGUMENT, span, message), written)
    }

    /// Adds the nearest argument, or the list of arguments, to an error about a name.
    pub fn advise(&self, diagnostic: Diagnostic, written: &str) -> Diagnostic {
        let known = self.argument_names();
        let diagnostic = match nearest(written, known.iter().map(String::as_str)) {
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None => diagnostic,
        };
        let diagnostic = match known.is_empty() {
            true => diagnostic.note(format!("reaction `{}` has no arguments", self.reaction.name)),
            false => diagnostic.note(format!("arguments: {}", known.join(", "))),
        };
        match written.contains('.') {
            true => diagnostic.help(format!(
                "to measure the field, add it to the arguments: `ing {written}` or `egr {written}`"
            )),
            false => diagnostic,
        }
    }

    /// Whether a path or name of C neither is an argument nor begins with one.
    pub fn is_unknown(&self, written: &str) -> bool {
        let begins = |name: &String| {
            let rest = written.strip_prefix(name.as_str());
            rest.is_some_and(|rest| {
                !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
            })
        };
        !self.argument_names().iter().any(begins)
    }

    fn argument_names(&self) -> Vec<String> {
        let names = self.reaction.arguments.iter().map(|argument| match &argument.kind {
            _ if argument.name.is_some() => {
                argument.name.as_deref().unwrap_or_default().to_string()
            }
            ArgumentKind::Field { path, .. } | ArgumentKind::Header { path, .. } => path_text(path),
            ArgumentKind::Register { register, .. } => register.to_string(),
            ArgumentKind::Malleable { malleable, .. } => malleable.to_string(),
            ArgumentKind::Constant { constant, .. } => constant.to_string(),
        });
        names.collect()
    }
}

/// Whether a body declares a variable with the name of an argument.
fn is_declared_again(tokens: &[Token<'_>], name: &str) -> bool {
    let before_expressions = ["return", "case", "else", "goto", "sizeof", "do"];
    (1..tokens.len()).any(|at| {
        let (before, after) = (tokens[at - 1], tokens.get(at + 1));
        let follows_type = (before.kind == Kind::Identifier
            && !before_expressions.contains(&before.text))
            || before.is("*")
            || before.is("}");
        let begins_declarator =
            |token: &Token<'_>| ["=", ";", ",", "["].iter().any(|punctuator| token.is(punctuator));
        tokens[at].is_word(name) && follows_type && after.is_some_and(begins_declarator)
    })
}
