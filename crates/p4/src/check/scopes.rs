// SPDX-License-Identifier: Apache-2.0
//! Scopes and names: declaring, looking up, duplicates, and nearest names for suggestions
//! (P4_16 v1.2.5 §6.6.1, §6.9, §6.10). The caller decides what the use of a name means.

use super::missing_includes::interface_declaring;
use super::{Checker, Node};
use crate::ast::{Declaration, DeclarationKind, NodeId, Path};
use crate::codes::typing as codes;
use rustc_hash::FxHashMap;
use source::{Diagnostic, Span};
use std::sync::Arc;

/// What a message calls the target of a transition.
pub(super) const PARSER_STATE: &str = "parser state";

/// Names of one `{ }` or parameter list. One name has several nodes only when it is overloaded.
#[derive(Default)]
pub(super) struct Scope {
    names: FxHashMap<Arc<str>, Vec<NodeId>>,
}

impl<'a> Checker<'a> {
    pub(super) fn in_scope<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(Scope::default());
        let result = work(self);
        self.scopes.pop();
        result
    }

    /// Declares a node's name in the innermost scope, reporting a duplicate.
    pub(super) fn declare(&mut self, id: NodeId, node: Node<'a>) {
        self.set_node(id, node);
        let Some(name) = node.name() else { return };
        if name.text.is_empty() {
            return;
        }
        if matches!(node, Node::Declaration(_) | Node::State(_)) {
            self.report_shadowed_parameter(name);
        }
        let Some(scope) = self.scopes.last_mut() else { return };
        let earlier = scope.names.entry(name.text.clone()).or_default();
        if earlier.contains(&id) {
            return;
        }
        let clash = earlier.first().copied();
        earlier.push(id);
        if let (Some(first), Node::Declaration(declaration)) = (clash, node)
            && matches!(declaration.kind, DeclarationKind::Parser(_) | DeclarationKind::Control(_))
        {
            self.overloads.entry(first).or_default().push(id);
        }
        if let Some(first) = clash
            && !self.may_share_name(first, node)
        {
            let first_span = self.span_of(first);
            self.repeated.insert(first);
            self.report(
                Diagnostic::error(
                    codes::DUPLICATE_NAME,
                    name.span,
                    format!("`{}` is declared twice", name.text),
                )
                .here("declared again here")
                .label(first_span, "first declared here"),
            );
            if let Some(names) =
                self.scopes.last_mut().and_then(|scope| scope.names.get_mut(&name.text))
            {
                names.pop();
            }
        }
    }

    /// A name may hide a parameter (§6.9), but this is probably not meant.
    fn report_shadowed_parameter(&mut self, name: &crate::ast::Name) {
        let outer = self.scopes.len().saturating_sub(1);
        let hidden = self.scopes.iter().take(outer).skip(1).rev().find_map(|scope| {
            let node = *scope.names.get(&name.text)?.first()?;
            match self.node(node) {
                Node::Parameter(parameter, _) => Some(parameter.name.span),
                _ => None,
            }
        });
        let Some(parameter) = hidden else { return };
        let message = format!("`{}` hides the parameter of the same name", name.text);
        let diagnostic = Diagnostic::warning(codes::SHADOWED_NAME, name.span, message);
        self.report(diagnostic.label(parameter, "the parameter"));
    }

    /// Declares a node's name in the innermost scope where a duplicate is reported elsewhere.
    pub(super) fn declare_silently(&mut self, id: NodeId, node: Node<'a>) {
        self.set_node(id, node);
        if let (Some(name), Some(scope)) = (node.name(), self.scopes.last_mut()) {
            scope.names.entry(name.text.clone()).or_insert_with(|| vec![id]);
        }
    }

    /// Whether two declarations may share a name: functions and extern functions may (§8.22, §7.2.11.1), and
    /// parsers, controls and packages whose parameters differ, as in p4c, though §7.2.11.2 forbids it.
    fn may_share_name(&self, first: NodeId, second: Node<'a>) -> bool {
        let (Node::Declaration(first), Node::Declaration(second)) = (self.node(first), second)
        else {
            return false;
        };
        match (overload_shape(first), overload_shape(second)) {
            (Some(first), Some(second)) => first != second,
            _ => false,
        }
    }

    /// Returns the nodes that a path may refer to: from the innermost scope that has any.
    pub(super) fn lookup(&self, path: &Path) -> Option<&[NodeId]> {
        self.lookup_where(path, |_| true)
    }

    /// Like [`Checker::lookup`], skipping nodes that do not satisfy `wanted`.
    pub(super) fn lookup_where(
        &self,
        path: &Path,
        wanted: impl Fn(Node<'a>) -> bool,
    ) -> Option<&[NodeId]> {
        let scopes = if path.absolute { &self.scopes[..1] } else { &self.scopes[..] };
        scopes.iter().rev().find_map(|scope| {
            let nodes = scope.names.get(&path.name.text)?;
            nodes.first().is_some_and(|id| wanted(self.node(*id))).then_some(nodes.as_slice())
        })
    }

    /// Returns the one node that a type's or state's name refers to.
    pub(super) fn lookup_type(&self, path: &Path) -> Option<NodeId> {
        self.lookup_where(path, is_type).and_then(|nodes| nodes.first().copied())
    }

    /// Reports a name that nothing declares, with the nearest one that is.
    pub(super) fn report_not_found(&mut self, path: &Path, what: &str) {
        let text = path.name.text.clone();
        if let Some(open) =
            self.open_declarations.iter().find(|open| open.name.text == text).copied()
        {
            self.report(
                Diagnostic::error(
                    codes::RECURSIVE_DECLARATION,
                    path.name.span,
                    format!("`{text}` uses itself"),
                )
                .label(open.name.span, "declared here")
                .note("P4 has no recursion: neither types nor functions, parsers or controls"),
            );
            return;
        }
        let mut diagnostic = Diagnostic::error(
            codes::NAME_NOT_FOUND,
            path.name.span,
            format!("there is no {what} `{text}` here"),
        );
        if let Some(span) = self.later_declaration(&text) {
            diagnostic = diagnostic
                .label(span, "declared only here")
                .help("move the declaration before its first use");
        } else if let Some(nearest) = self.nearest_of_kind(&text, what) {
            diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
        } else if &*text == "valid" {
            diagnostic =
                diagnostic.help("to ask whether a header is valid write `header.isValid()`");
        } else if let Some(interface) = interface_declaring(&text) {
            diagnostic = diagnostic.help(format!("add `#include <{interface}>`"));
        } else if what == PARSER_STATE {
            let states: Vec<String> =
                self.names_of_kind(what).map(|name| format!("`{name}`")).collect();
            if (1..=8).contains(&states.len()) {
                let mut states = states;
                states.sort();
                diagnostic = diagnostic.note(format!("the states are {}", states.join(", ")));
            }
        }
        self.report(diagnostic);
    }

    /// Returns the most similar name of the kind that is expected here.
    fn nearest_of_kind(&self, text: &str, what: &str) -> Option<&str> {
        let built_in: &[&str] = if what == PARSER_STATE { &["accept", "reject"] } else { &[] };
        source::nearest(text, self.names_of_kind(what).chain(built_in.iter().copied()))
    }

    /// Returns the names that are visible here and of the expected kind.
    fn names_of_kind(&self, what: &str) -> impl Iterator<Item = &str> {
        let wanted = move |node: Node<'a>| match what {
            "type" => is_type(node),
            PARSER_STATE => matches!(node, Node::State(_)),
            "action" => matches!(node, Node::Declaration(declaration)
                if matches!(declaration.kind, DeclarationKind::Action { .. })),
            "function or action" => matches!(node, Node::Declaration(declaration)
            if matches!(declaration.kind, DeclarationKind::Action { .. }
                | DeclarationKind::Function { .. }
                | DeclarationKind::ExternFunction(_))),
            // Enums and errors stand before a dot, blocks before `.apply()`.
            _ => match node {
                Node::Declaration(declaration) => !matches!(
                    declaration.kind,
                    DeclarationKind::Action { .. }
                        | DeclarationKind::Function { .. }
                        | DeclarationKind::ExternFunction(_)
                        | DeclarationKind::Header(_)
                        | DeclarationKind::HeaderUnion(_)
                        | DeclarationKind::Struct(_)
                        | DeclarationKind::ExternObject { .. }
                        | DeclarationKind::PackageType(_)
                ),
                Node::Parameter(..) | Node::LoopVariable(_) => true,
                _ => false,
            },
        };
        self.scopes
            .iter()
            .flat_map(|scope| &scope.names)
            .filter(move |(_, nodes)| nodes.first().is_some_and(|node| wanted(self.node(*node))))
            .map(|(name, _)| &**name)
    }

    /// Returns a declaration of the enclosing block or the program that comes only later.
    fn later_declaration(&self, text: &str) -> Option<Span> {
        let locals = self.open_declarations.iter().rev().flat_map(|open| match &open.kind {
            DeclarationKind::Control(control) => control.locals.iter(),
            DeclarationKind::Parser(parser) => parser.locals.iter(),
            _ => [].iter(),
        });
        locals
            .chain(&self.program.declarations)
            .find(|declaration| *declaration.name.text == *text)
            .map(|declaration| declaration.name.span)
    }
}

/// Returns what distinguishes overloads: the names of their parameters, and which have defaults.
fn overload_shape(declaration: &Declaration) -> Option<Vec<(&str, bool)>> {
    let parameters = match &declaration.kind {
        DeclarationKind::Function { signature, .. }
        | DeclarationKind::ExternFunction(signature) => &signature.parameters,
        DeclarationKind::PackageType(block)
        | DeclarationKind::ParserType(block)
        | DeclarationKind::ControlType(block) => &block.parameters,
        DeclarationKind::Parser(parser) => &parser.constructor_parameters,
        DeclarationKind::Control(control) => &control.constructor_parameters,
        _ => return None,
    };
    Some(
        parameters
            .iter()
            .map(|parameter| (&*parameter.name.text, parameter.default.is_some()))
            .collect(),
    )
}

/// Whether a node declares a type.
pub(super) fn is_type(node: Node<'_>) -> bool {
    match node {
        Node::TypeParameter(_) => true,
        Node::Declaration(declaration) => matches!(
            declaration.kind,
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
                | DeclarationKind::NewType(_)
        ),
        _ => false,
    }
}
