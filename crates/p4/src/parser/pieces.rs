// SPDX-License-Identifier: Apache-2.0
//! Reading parts of a program: statements, expressions, declarations, parser states and table
//! properties, with node identities from the caller's counter and places of the caller's choice. A text
//! may have holes, `${name}`, in which typed parts of a tree stand; these keep their places and
//! identities. The rewriter puts the parts into a tree.

pub use super::holes::Hole;
use super::scopes::{NameClass, Scopes};
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Declaration, DeclarationKind, Expression, Program, State, Statement, TableProperty,
    TypeParameter, TypeRef, TypedefTarget,
};
use crate::dialect::{Dialect, Foreign};
use crate::lexer;
use crate::token::{Token, TokenKind as T};
use rustc_hash::FxHashMap;
use source::{Diagnostics, SourceMap, Span};
use std::sync::Arc;

/// The character that begins a hole.
const HOLE: &str = "$";

/// Returns the name in `${name}`.
fn hole_name(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.strip_suffix('}')
}

/// Returns the tokens of a text that becomes a file of the map; their places are in it. The last is
/// the end.
pub fn tokens_in_file(
    map: &mut SourceMap,
    name: &str,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Token> {
    let file = map.add(name, text);
    lexer::lex_foreign(map, file, Foreign::characters(HOLE), diagnostics).0
}

/// Returns the tokens of a text, all at one place: that of the source the text stands for, or
/// [`Span::NONE`]. The last is the end.
pub fn tokens_at(span: Span, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let mut tokens = tokens_in_file(&mut map, "piece", text, &mut found);
    for token in &mut tokens {
        token.span = span;
    }
    for mut diagnostic in found {
        diagnostic.primary.span = span;
        for label in &mut diagnostic.labels {
            label.span = span;
        }
        diagnostics.push(diagnostic);
    }
    tokens
}

/// The names that decide how the text of a piece is read: which are types, and which are generic
/// functions (P4_16 v1.2.5 §6.1.1, §G). Other names need not be known.
#[derive(Clone, Debug)]
pub struct PieceNames(Scopes);

impl PieceNames {
    /// Returns the names that a program declares at top level.
    pub fn of(program: &Program) -> PieceNames {
        PieceNames::of_declarations(&program.declarations)
    }

    /// Returns the names that these declarations introduce.
    pub fn of_declarations<'d>(
        declarations: impl IntoIterator<Item = &'d Declaration>,
    ) -> PieceNames {
        let mut names = PieceNames(Scopes::new());
        names.add(declarations);
        names
    }

    /// Adds the names that these declarations introduce; a later one hides an earlier one.
    pub fn add<'d>(&mut self, declarations: impl IntoIterator<Item = &'d Declaration>) {
        for declaration in declarations {
            if let Some(class) = class_of(declaration) {
                self.0.declare(&declaration.name.text, class);
            }
            if let DeclarationKind::Typedef(TypedefTarget::Declaration(inner)) = &declaration.kind {
                self.add([&**inner]);
            }
        }
    }
}

/// Returns the class of a declared name.
fn class_of(declaration: &Declaration) -> Option<NameClass> {
    let function = |parameters: &[TypeParameter]| match parameters.is_empty() {
        true => NameClass::Value,
        false => NameClass::GenericFunction,
    };
    Some(match &declaration.kind {
        DeclarationKind::Function { signature, .. }
        | DeclarationKind::ExternFunction(signature) => function(&signature.type_parameters),
        DeclarationKind::ExternObject { .. }
        | DeclarationKind::Parser(_)
        | DeclarationKind::Control(_)
        | DeclarationKind::ParserType(_)
        | DeclarationKind::ControlType(_)
        | DeclarationKind::PackageType(_)
        | DeclarationKind::Header(_)
        | DeclarationKind::HeaderUnion(_)
        | DeclarationKind::Struct(_)
        | DeclarationKind::Enum { .. }
        | DeclarationKind::Typedef(_)
        | DeclarationKind::NewType(_) => NameClass::Type,
        DeclarationKind::Constant { .. }
        | DeclarationKind::Variable { .. }
        | DeclarationKind::Instance { .. }
        | DeclarationKind::Action { .. }
        | DeclarationKind::Table(_)
        | DeclarationKind::ValueSet { .. }
        | DeclarationKind::Extension(_) => NameClass::Value,
        DeclarationKind::Error(_) | DeclarationKind::MatchKind(_) | DeclarationKind::Invalid => {
            return None;
        }
    })
}

/// Reads pieces. Every node of what is read gets the next identity of the counter; what holes are
/// filled with keeps its own.
pub struct PieceReader<'c> {
    names: PieceNames,
    next_id: &'c mut u32,
    dialect: Option<&'c dyn Dialect>,
    holes: FxHashMap<Arc<str>, Hole>,
}

impl<'c> PieceReader<'c> {
    /// Returns a reader that knows these names and takes identities from `next_id`, such as
    /// [`Program::node_count`].
    pub fn new(names: PieceNames, next_id: &'c mut u32) -> PieceReader<'c> {
        PieceReader { names, next_id, dialect: None, holes: FxHashMap::default() }
    }

    /// Sets the dialect of the pieces. What the dialect writes as `${name}` stays that where no
    /// hole of the name is filled.
    pub fn in_dialect(self, dialect: &'c dyn Dialect) -> PieceReader<'c> {
        PieceReader { dialect: Some(dialect), ..self }
    }

    /// Fills the hole `${name}` of the next piece. A hole may stand once in a piece, because its part's
    /// identities may stand once in a program.
    pub fn fill(&mut self, name: &str, part: impl Into<Hole>) -> &mut Self {
        self.holes.insert(name.into(), part.into());
        self
    }

    /// Reads the statements and variables of a block.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the text; the holes are empty again.
    pub fn statements(&mut self, tokens: Vec<Token>) -> Result<Vec<Statement>, Diagnostics> {
        self.read(tokens, |parser| Ok(parser.statements()))
    }

    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// As of [`PieceReader::statements`].
    pub fn expression(&mut self, tokens: Vec<Token>) -> Result<Expression, Diagnostics> {
        self.read(tokens, |parser| parser.expression())
    }

    /// Reads a type.
    ///
    /// # Errors
    ///
    /// As of [`PieceReader::statements`].
    pub fn type_ref(&mut self, tokens: Vec<Token>) -> Result<TypeRef, Diagnostics> {
        self.read(tokens, |parser| parser.type_ref())
    }

    /// Reads declarations of the top level.
    ///
    /// # Errors
    ///
    /// As of [`PieceReader::statements`].
    pub fn declarations(&mut self, tokens: Vec<Token>) -> Result<Vec<Declaration>, Diagnostics> {
        self.read(tokens, |parser| Ok(parser.program()))
    }

    /// Reads the declarations of a control: constants, variables, instances, actions, tables.
    ///
    /// # Errors
    ///
    /// As of [`PieceReader::statements`].
    pub fn control_locals(&mut self, tokens: Vec<Token>) -> Result<Vec<Declaration>, Diagnostics> {
        self.read(tokens, |parser| {
            let mut locals = Vec::new();
            let mut body = None;
            while !parser.at_end() && body.is_none() {
                if parser.eat(T::Semicolon) {
                    continue;
                }
                match parser.at(T::ListHole) {
                    true => locals.extend(parser.declarations_hole()),
                    false => parser.control_element(&mut locals, &mut body)?,
                }
            }
            match body {
                None => Ok(locals),
                Some(_) => Err(parser.unexpected("the end after the declarations of a control")),
            }
        })
    }

    /// Reads the elements of a parser: constants, variables, instances and value sets, then states.
    ///
    /// # Errors
    ///
    /// As of [`PieceReader::statements`].
    pub fn parser_elements(
        &mut self,
        tokens: Vec<Token>,
    ) -> Result<(Vec<Declaration>, Vec<State>), Diagnostics> {
        self.read(tokens, |parser| {
            let mut locals = Vec::new();
            let mut states = Vec::new();
            while !parser.at_end() {
                if parser.eat(T::Semicolon) {
                    continue;
                }
                match parser.at(T::ListHole) {
                    true => parser.parser_elements_hole(&mut locals, &mut states),
                    false => parser.parser_element(&mut locals, &mut states)?,
                }
            }
            Ok((locals, states))
        })
    }

    /// Reads the properties of a table.
    ///
    /// # Errors
    ///
    /// As of [`PieceReader::statements`].
    pub fn table_properties(
        &mut self,
        tokens: Vec<Token>,
    ) -> Result<Vec<TableProperty>, Diagnostics> {
        self.read(tokens, |parser| {
            let mut properties = Vec::new();
            while !parser.at_end() {
                if !parser.eat(T::Semicolon) {
                    properties.push(parser.table_property()?);
                }
            }
            Ok(properties)
        })
    }

    fn read<P>(
        &mut self,
        tokens: Vec<Token>,
        read: impl FnOnce(&mut Parser<'_>) -> Parsed<P>,
    ) -> Result<P, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let holes = std::mem::take(&mut self.holes);
        let foreign = self.dialect.map_or("", |dialect| dialect.characters());
        let tokens = with_holes(tokens, &holes, foreign, &mut diagnostics);
        let mut parser = Parser::new(tokens, &diagnostics);
        parser.dialect = self.dialect;
        parser.scopes = self.names.0.clone();
        parser.holes = holes;
        parser.next_id = *self.next_id;
        let part = read(&mut parser);
        if part.is_ok() && !parser.at_end() {
            let _ = parser.unexpected("the end of this piece");
        }
        parser.report_suppressed();
        *self.next_id = parser.next_id;
        diagnostics.append(parser.cursor.diagnostics);
        match part {
            Ok(part) if !diagnostics.has_errors() => Ok(part),
            _ => Err(diagnostics),
        }
    }
}

/// Returns the tokens with the kinds of the holes, and names put in.
fn with_holes(
    tokens: Vec<Token>,
    holes: &FxHashMap<Arc<str>, Hole>,
    foreign: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Token> {
    let mut read = Vec::with_capacity(tokens.len());
    for mut token in tokens {
        if token.kind == T::Foreign {
            let part = hole_name(&token.text).and_then(|name| holes.get(name));
            token.kind = match part {
                Some(Hole::Name(name)) => {
                    let kind = T::keyword(&name.text).unwrap_or(T::Identifier);
                    read.push(Token { kind, span: name.span, text: name.text.clone() });
                    continue;
                }
                Some(Hole::Expression(_)) => T::Hole,
                Some(Hole::Type(_)) => T::TypeHole,
                Some(Hole::Statements(_) | Hole::Declarations(_) | Hole::States(_)) => T::ListHole,
                None if token.text.starts_with(|first| foreign.contains(first)) => T::Foreign,
                None => {
                    let unknown = lexer::unknown_text(token.span, &token.text);
                    let note = "a hole is written `${name}`, and its name has a part";
                    diagnostics.push(unknown.note(note));
                    continue;
                }
            };
        }
        read.push(token);
    }
    read
}

impl Parser<'_> {
    /// Takes a hole of this piece, if a part of the wanted kind is left for it.
    fn take_hole<P>(
        &mut self,
        wanted: &str,
        part: impl FnOnce(Hole) -> Result<P, Hole>,
    ) -> Parsed<P> {
        let name: Arc<str> = hole_name(&self.token().text).unwrap_or_default().into();
        match self.holes.remove(&name).map(part) {
            Some(Ok(part)) => {
                self.bump();
                Ok(part)
            }
            other => {
                if let Some(Err(hole)) = other {
                    self.holes.insert(name, hole);
                }
                let unparsed = self.unexpected(&format!("{wanted} in this hole, once in a piece"));
                self.bump();
                Err(unparsed)
            }
        }
    }

    /// Reads the expression of a hole.
    pub(super) fn expression_hole(&mut self) -> Parsed<Expression> {
        self.take_hole("an expression", |hole| match hole {
            Hole::Expression(expression) => Ok(expression),
            other => Err(other),
        })
    }

    /// Reads the type of a hole.
    pub(super) fn type_hole(&mut self) -> Parsed<TypeRef> {
        self.take_hole("a type", |hole| match hole {
            Hole::Type(ty) => Ok(ty),
            other => Err(other),
        })
    }

    /// The statements of a hole, and a `;` after it; none after a mistake.
    pub(super) fn statements_hole(&mut self) -> Vec<Statement> {
        let statements = self.take_hole("statements", |hole| match hole {
            Hole::Statements(statements) => Ok(statements),
            other => Err(other),
        });
        self.eat(T::Semicolon);
        for statement in statements.iter().flatten() {
            if let crate::ast::StatementKind::Declaration(declaration) = &statement.kind {
                self.scopes.declare(&declaration.name.text, NameClass::Value);
            }
        }
        statements.unwrap_or_default()
    }

    /// The declarations of a hole; none after a mistake.
    pub(super) fn declarations_hole(&mut self) -> Vec<Declaration> {
        let declarations = self.take_hole("declarations", |hole| match hole {
            Hole::Declarations(declarations) => Ok(declarations),
            other => Err(other),
        });
        for declaration in declarations.iter().flatten() {
            if let Some(class) = class_of(declaration) {
                self.scopes.declare(&declaration.name.text, class);
            }
        }
        declarations.unwrap_or_default()
    }

    /// The declarations or states of a hole in a parser.
    pub(super) fn parser_elements_hole(
        &mut self,
        locals: &mut Vec<Declaration>,
        states: &mut Vec<State>,
    ) {
        let name = hole_name(&self.token().text).unwrap_or_default();
        if matches!(self.holes.get(name), Some(Hole::States(_))) {
            let filled = self.take_hole("states", |hole| match hole {
                Hole::States(states) => Ok(states),
                other => Err(other),
            });
            states.extend(filled.unwrap_or_default());
        } else {
            locals.extend(self.declarations_hole());
        }
    }
}

#[cfg(test)]
mod tests;
