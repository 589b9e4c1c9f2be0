// SPDX-License-Identifier: Apache-2.0
//! `Node`: the identity and place that parts of the tree have, for code that works on all of them, such
//! as visitors and rewriters.

use super::{
    ActionRef, Argument, Declaration, DeclaredName, Entry, EnumMember, Expression, Field,
    KeyElement, Method, Name, NodeId, Parameter, SelectCase, State, StateRef, Statement,
    SwitchCase, TableProperty, TypeRef, Variable,
};
use source::Span;

/// A part of the tree that can be named by a [`NodeId`].
pub trait Node: Clone + std::fmt::Debug + 'static {
    /// Returns the noun for it in messages.
    const KIND: &'static str;

    /// Its identity. A select case has that of its keyset, a switch case that of its label, an
    /// argument and a field of a struct expression that of its value.
    fn id(&self) -> NodeId;

    /// Its place, or the place of its name where it has no other.
    fn span(&self) -> Span;
}

macro_rules! nodes {
    ($($kind:ty, $name:literal, $node:ident => $id:expr, $span:expr;)*) => {
        $(impl Node for $kind {
            const KIND: &'static str = $name;

            fn id(&self) -> NodeId {
                let $node = self;
                $id
            }

            fn span(&self) -> Span {
                let $node = self;
                $span
            }
        })*
    };
}

nodes! {
    Declaration, "declaration", node => node.id, node.span;
    Statement, "statement", node => node.id, node.span;
    Expression, "expression", node => node.id, node.span;
    TypeRef, "type", node => node.id, node.span;
    Parameter, "parameter", node => node.id, node.span;
    Field, "field", node => node.id, node.span;
    Method, "method", node => node.id, node.span;
    State, "parser state", node => node.id, node.span;
    StateRef, "reference to a state", node => node.id, node.name.span;
    SelectCase, "select case", node => node.keyset.id, node.keyset.span;
    SwitchCase, "switch case", node => node.label.id, node.label.span;
    Argument, "argument", node => node.value.id, node.value.span;
    (Name, Expression), "field of a struct expression", node => node.1.id, node.0.span;
    TableProperty, "table property", node => node.id, node.span;
    KeyElement, "table key", node => node.id, node.expression.span;
    ActionRef, "action of a table", node => node.id, node.span;
    Entry, "table entry", node => node.id, node.span;
    EnumMember, "enum member", node => node.id, node.name.span;
    DeclaredName, "name", node => node.id, node.name.span;
    Variable, "loop variable", node => node.id, node.name.span;
}
