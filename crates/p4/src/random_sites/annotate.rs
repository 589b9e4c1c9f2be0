// SPDX-License-Identifier: Apache-2.0
//! Labels written into a tree, for rewriters: every drawing call gets an annotation with its label, and code
//! that takes the place of a call gets the call's label before its own.

use super::walk::{
    Step, Visit, walk_expression, walk_own_expressions, walk_table, walk_transition,
};
use super::{ANNOTATION, RandomSites, SCOPE_ANNOTATION, below, has_annotation};
use crate::ast::*;
use crate::token::{Token, TokenKind};
use crate::typed::TypedProgram;
use source::Span;
use std::sync::Arc;

/// Writes the label of each drawing call into the tree ([`RandomSites::write`]), which is that of `typed` or a
/// copy with the same ids.
pub fn annotate(tree: &mut Program, typed: &TypedProgram) {
    RandomSites::explicit(typed).write(tree);
}

impl RandomSites {
    /// Writes the labels into a tree, which may have been rewritten since they were taken: statements with
    /// labelled calls get a block with [`ANNOTATION`] around them; variables, loops, states and tables get the
    /// annotation themselves. Annotations that are there already are brought up to date. New nodes get ids
    /// from [`Program::node_count`] on, and spans of what they stand for.
    pub fn write(&self, tree: &mut Program) {
        if self.is_empty() {
            return;
        }
        let mut annotator = Annotator { sites: self, next_id: tree.node_count };
        for declaration in &mut tree.declarations {
            annotator.declaration(declaration);
        }
        tree.node_count = annotator.next_id;
    }
}

/// Puts the label of a call before the labels in statements that [`annotate`] has been at: those of the body
/// that takes the place of the call.
pub fn prefix(statements: &mut [Statement], label: &str) {
    for statement in statements {
        prefix_statement(statement, label);
    }
}

/// [`prefix`] for the annotations of a parser state, or of another declaration that is moved.
pub fn prefix_annotations(annotations: &mut [Annotation], label: &str) {
    for annotation in annotations {
        let AnnotationBody::Unstructured(tokens) = &mut annotation.body else { continue };
        if *annotation.name.text != *ANNOTATION {
            continue;
        }
        for token in tokens.iter_mut().filter(|token| token.kind == TokenKind::String) {
            token.text = below(label, &token.text);
        }
    }
}

fn prefix_statement(statement: &mut Statement, label: &str) {
    match &mut statement.kind {
        StatementKind::If { then, otherwise, .. } => {
            prefix_statement(then, label);
            if let Some(otherwise) = otherwise {
                prefix_statement(otherwise, label);
            }
        }
        StatementKind::Block(block) => prefix_block(block, label),
        StatementKind::Switch { cases, .. } => {
            for body in cases.iter_mut().filter_map(|case| case.body.as_mut()) {
                prefix_block(body, label);
            }
        }
        StatementKind::For { annotations, body, .. }
        | StatementKind::ForIn { annotations, body, .. } => {
            prefix_annotations(annotations, label);
            prefix_statement(body, label);
        }
        StatementKind::Declaration(declaration) => {
            prefix_annotations(&mut declaration.annotations, label);
        }
        _ => {}
    }
}

fn prefix_block(block: &mut Block, label: &str) {
    prefix_annotations(&mut block.annotations, label);
    prefix(&mut block.statements, label);
}

/// Writes labels into a tree.
struct Annotator<'s> {
    sites: &'s RandomSites,
    next_id: u32,
}

impl Annotator<'_> {
    fn declaration(&mut self, declaration: &mut Declaration) {
        let labels = match &mut declaration.kind {
            DeclarationKind::Instance { body, .. } => {
                for inner in body.iter_mut().flatten() {
                    self.declaration(inner);
                }
                return;
            }
            DeclarationKind::Variable { initializer: Some(value), .. } => {
                self.collect(value, walk_expression)
            }
            DeclarationKind::Table(table) => self.collect(&**table, walk_table),
            DeclarationKind::Function { body, .. } | DeclarationKind::Action { body, .. } => {
                self.statements(&mut body.statements);
                Vec::new()
            }
            DeclarationKind::Parser(parser) => {
                for local in &mut parser.locals {
                    self.declaration(local);
                }
                for state in &mut parser.states {
                    let labels = self.collect(&*state, walk_transition);
                    self.statements(&mut state.statements);
                    set_labels(&mut state.annotations, &labels, state.name.span);
                }
                Vec::new()
            }
            DeclarationKind::Control(control) => {
                for local in &mut control.locals {
                    self.declaration(local);
                }
                self.statements(&mut control.body.statements);
                set_labels(&mut control.body.annotations, &[], Span::NONE);
                Vec::new()
            }
            _ => return,
        };
        set_labels(&mut declaration.annotations, &labels, declaration.name.span);
        if let Some(scope) = self.sites.action_scopes.get(&declaration.id) {
            let annotation =
                strings(SCOPE_ANNOTATION, std::slice::from_ref(scope), declaration.name.span);
            declaration.annotations.retain(|it| *it.name.text != *SCOPE_ANNOTATION);
            declaration.annotations.push(annotation);
        }
    }

    /// Returns the labels of the drawing calls that a walk meets.
    fn collect<'t, T>(&self, of: &'t T, walk: fn(&'t T, Visit<'_, 't>)) -> Vec<Arc<str>> {
        let mut labels = Vec::new();
        walk(of, &mut |step| {
            if let Step::Call(call) = step {
                labels.extend(self.sites.label(call.id).cloned());
            }
        });
        labels
    }

    fn statements(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// A statement; one with drawing calls of its own gets a block around it.
    fn statement(&mut self, statement: &mut Statement) {
        let labels = self.inside_of(statement);
        if labels.is_empty() {
            return;
        }
        let span = statement.span;
        let empty = Statement { id: statement.id, span, kind: StatementKind::Empty };
        let inner = std::mem::replace(statement, empty);
        let mut annotations = Vec::new();
        set_labels(&mut annotations, &labels, span);
        statement.id = NodeId(self.next_id);
        self.next_id += 1;
        statement.kind = StatementKind::Block(Block { annotations, statements: vec![inner], span });
    }

    /// Labels of what is inside of a statement are written; those of its own expressions are returned unless
    /// it can have the annotation itself.
    fn inside_of(&mut self, statement: &mut Statement) -> Vec<Arc<str>> {
        let span = statement.span;
        let is_loop =
            matches!(statement.kind, StatementKind::For { .. } | StatementKind::ForIn { .. });
        let own = self.collect(&*statement, walk_own_expressions);
        match &mut statement.kind {
            StatementKind::If { then, otherwise, .. } => {
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Switch { cases, .. } => {
                for body in cases.iter_mut().filter_map(|case| case.body.as_mut()) {
                    self.block(body);
                }
            }
            StatementKind::For { annotations, body, .. }
            | StatementKind::ForIn { annotations, body, .. } => {
                self.statement(body);
                set_labels(annotations, &own, span);
            }
            StatementKind::Declaration(declaration) => self.declaration(declaration),
            _ => {}
        }
        if is_loop { Vec::new() } else { own }
    }

    /// A block; when it is one that an earlier run made, it stays.
    fn block(&mut self, block: &mut Block) {
        let is_ours = has_annotation(&block.annotations, ANNOTATION);
        match block.statements.as_mut_slice() {
            [only] if is_ours => {
                let labels = self.inside_of(only);
                set_labels(&mut block.annotations, &labels, block.span);
            }
            all => {
                self.statements(all);
                set_labels(&mut block.annotations, &[], block.span);
            }
        }
    }
}

/// Makes these labels the only ones of what has these annotations.
fn set_labels(annotations: &mut Vec<Annotation>, labels: &[Arc<str>], span: Span) {
    annotations.retain(|annotation| *annotation.name.text != *ANNOTATION);
    if labels.is_empty() {
        return;
    }
    annotations.push(strings(ANNOTATION, labels, span));
}

/// Returns an annotation with these strings.
fn strings(name: &str, strings: &[Arc<str>], span: Span) -> Annotation {
    let mut tokens: Vec<Token> = Vec::new();
    for text in strings {
        if !tokens.is_empty() {
            tokens.push(Token { kind: TokenKind::Comma, span, text: ",".into() });
        }
        tokens.push(Token { kind: TokenKind::String, span, text: text.clone() });
    }
    Annotation {
        name: Name { text: name.into(), span },
        body: AnnotationBody::Unstructured(tokens),
        span,
    }
}
