// SPDX-License-Identifier: Apache-2.0
//! The declarations of a P4R program as values, read from the extensions of its tree. Nothing is checked here.

use super::dialect::{FIELD, INIT, REACTION, SHARED, STATE, VALUE};
use super::paths::Path;
use crate::interface::CText;
use p4::ast::{
    Annotation, Declaration, DeclarationKind, Expression, Extension, ExtensionPart, Name, Program,
    TypeRef,
};
use p4::token::{Token, TokenKind as T};
use source::Span;
use std::sync::Arc;

/// `malleable value`
#[derive(Clone, Debug)]
pub struct ValueDeclaration {
    /// Its name.
    pub name: Name,
    /// All of it.
    pub span: Span,
    /// Its type.
    pub ty: TypeRef,
    /// Its first value.
    pub initial: Expression,
}

/// `malleable field`
#[derive(Clone, Debug)]
pub struct FieldDeclaration {
    /// Its name.
    pub name: Name,
    /// All of it.
    pub span: Span,
    /// The type of its alternatives.
    pub ty: TypeRef,
    /// The alternative at the beginning.
    pub initial: Path,
    /// Its alternatives.
    pub alternatives: Vec<Path>,
}

impl FieldDeclaration {
    /// The index of the first alternative; 0 if it is none.
    pub fn initial_index(&self) -> usize {
        let is_initial = |path: &Path| path.steps == self.initial.steps;
        self.alternatives.iter().position(is_initial).unwrap_or(0)
    }

    /// The width of its selector in bits: ceil(log2 alternatives) (Mantis §4.1).
    pub fn selector_bits(&self) -> u32 {
        self.alternatives.len().next_power_of_two().trailing_zeros()
    }
}

/// Where an argument of a reaction comes from.
#[derive(Clone, Debug)]
pub enum ArgumentSource {
    /// `ing path`, `egr path`, `ing header path`, `egr header path`
    Packet {
        /// Whether it is measured in egress.
        in_egress: bool,
        /// Whether `header` stands before it.
        is_header: bool,
        /// The field or header.
        path: Path,
    },
    /// `ing ${name}`, `egr ${name}`
    Malleable {
        /// Whether it is measured in egress.
        in_egress: bool,
        /// The name.
        name: Arc<str>,
    },
    /// `reg path` or `reg path[first:last]`
    Register {
        /// The register.
        path: Path,
        /// The first and the last cell.
        range: Option<Box<(Expression, Expression)>>,
    },
    /// The name of a constant.
    Constant(Path),
}

/// An argument of a reaction.
#[derive(Clone, Debug)]
pub struct ReactionArgument {
    /// What is measured.
    pub source: ArgumentSource,
    /// The name after `as`.
    pub renamed: Option<Name>,
    /// All of it.
    pub span: Span,
}

/// `reaction`
#[derive(Clone, Debug)]
pub struct ReactionDeclaration {
    /// Its name.
    pub name: Name,
    /// All of it.
    pub span: Span,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// Its arguments.
    pub arguments: Vec<ReactionArgument>,
    /// Its body.
    pub body: CText,
}

/// All declarations of P4R in a program.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// Malleable values.
    pub values: Vec<ValueDeclaration>,
    /// Malleable fields.
    pub fields: Vec<FieldDeclaration>,
    /// Reactions.
    pub reactions: Vec<ReactionDeclaration>,
    /// `init { C }`
    pub init: Vec<CText>,
    /// `c { C }`
    pub shared: Vec<CText>,
    /// `state { C }`
    pub state: Vec<CText>,
}

impl Declarations {
    /// Reads the declarations of a program.
    pub fn of(program: &Program) -> Declarations {
        let mut found = Declarations::default();
        for declaration in &program.declarations {
            if let DeclarationKind::Extension(extension) = &declaration.kind {
                found.add(declaration, extension);
            }
        }
        found
    }

    fn add(&mut self, declaration: &Declaration, extension: &Extension) {
        let name = declaration.name.clone();
        let span = declaration.span;
        let ty = extension.types().next().cloned();
        match (extension.form, ty) {
            (VALUE, Some(ty)) => {
                if let Some(initial) = extension.expressions().next().cloned() {
                    self.values.push(ValueDeclaration { name, span, ty, initial });
                }
            }
            (FIELD, Some(ty)) => {
                let tokens: Vec<&Token> = extension.tokens().collect();
                let open = tokens.iter().position(|token| token.kind == T::OpenBrace);
                let rest = &tokens[open.map_or(tokens.len(), |at| at + 1)..];
                // `init`, `=`, the first path.
                let Some((initial, count)) = rest.get(2..).and_then(Path::read) else { return };
                // `;`, `alts`, `{`.
                let mut rest = rest.get(2 + count + 3..).unwrap_or(&[]);
                let mut alternatives = Vec::new();
                while let Some(first) = rest.first()
                    && first.kind != T::CloseBrace
                    && let Some((path, count)) = Path::read(rest)
                {
                    alternatives.push(path);
                    rest = &rest[count..];
                    if rest.first().is_some_and(|token| token.kind == T::Comma) {
                        rest = &rest[1..];
                    }
                }
                self.fields.push(FieldDeclaration { name, span, ty, initial, alternatives });
            }
            (REACTION, _) => {
                let Some(body) = c_text(extension) else { return };
                let annotations = declaration.annotations.clone();
                let arguments = arguments(extension);
                let reaction = ReactionDeclaration { name, span, annotations, arguments, body };
                self.reactions.push(reaction);
            }
            (INIT, _) => self.init.extend(c_text(extension)),
            (SHARED, _) => self.shared.extend(c_text(extension)),
            (STATE, _) => self.state.extend(c_text(extension)),
            _ => {}
        }
    }

    /// The value of this name.
    pub fn value(&self, name: &str) -> Option<&ValueDeclaration> {
        self.values.iter().find(|value| &*value.name.text == name)
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&FieldDeclaration> {
        self.fields.iter().find(|field| &*field.name.text == name)
    }
}

/// The text in C of a form, without its braces.
fn c_text(extension: &Extension) -> Option<CText> {
    let token = extension.tokens().find(|token| token.kind == T::Verbatim)?;
    let text = token.text.get(1..token.text.len() - 1)?;
    let span = Span { start: token.span.start + 1, end: token.span.end - 1, ..token.span };
    Some(CText { text: text.into(), span })
}

/// Reads the arguments between the parentheses of a reaction.
fn arguments(extension: &Extension) -> Vec<ReactionArgument> {
    let is = |part: &ExtensionPart, kind: T| matches!(part, ExtensionPart::Token(token) if token.kind == kind);
    let open = extension.parts.iter().position(|part| is(part, T::OpenParen));
    let close = extension.parts.iter().rposition(|part| is(part, T::CloseParen));
    let (Some(open), Some(close)) = (open, close) else { return Vec::new() };
    let inside = &extension.parts[open + 1..close];
    inside.split(|part| is(part, T::Comma)).filter_map(argument).collect()
}

fn argument(parts: &[ExtensionPart]) -> Option<ReactionArgument> {
    let mut tokens: Vec<&Token> = Vec::new();
    let mut expressions: Vec<&Expression> = Vec::new();
    for part in parts {
        match part {
            ExtensionPart::Token(token) => tokens.push(token),
            ExtensionPart::Expression(expression) => expressions.push(expression),
            _ => {}
        }
    }
    let span = tokens.first()?.span.to(tokens.last()?.span);
    let mut renamed = None;
    if let [.., word, name] = tokens.as_slice()
        && &*word.text == "as"
        && tokens.len() > 2
    {
        renamed = Some(Name { text: name.text.clone(), span: name.span });
        tokens.truncate(tokens.len() - 2);
    }
    let source = match &*tokens[0].text {
        direction @ ("ing" | "egr") => {
            let in_egress = direction == "egr";
            let is_header = tokens.get(1)?.kind == T::Header;
            let rest = &tokens[1 + usize::from(is_header)..];
            match rest.first()? {
                token if token.kind == T::Foreign => {
                    let name = token.text.strip_prefix("${")?.strip_suffix('}')?;
                    ArgumentSource::Malleable { in_egress, name: name.into() }
                }
                _ => ArgumentSource::Packet { in_egress, is_header, path: Path::read(rest)?.0 },
            }
        }
        "reg" => {
            let range = match expressions.as_slice() {
                [first, last] => Some(Box::new(((*first).clone(), (*last).clone()))),
                _ => None,
            };
            ArgumentSource::Register { path: Path::read(&tokens[1..])?.0, range }
        }
        _ => ArgumentSource::Constant(Path::read(&tokens)?.0),
    };
    Some(ReactionArgument { source, renamed, span })
}
