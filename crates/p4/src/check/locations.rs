// SPDX-License-Identifier: Apache-2.0
//! `Location`: a variable or a part of one, such as `hdr.ethernet`.

use crate::ast::{Expression, ExpressionKind, NodeId};
use crate::typed::{Constant, Definition, TypeKind, TypedProgram};
use std::sync::Arc;

/// A variable or parameter, and fields or constant indexes in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub(super) root: NodeId,
    pub(super) path: Vec<Arc<str>>,
}

impl Location {
    /// Whether one of the two is a part of the other, or they are the same.
    pub(super) fn overlaps(&self, other: &Location) -> bool {
        self.root == other.root && self.path.iter().zip(&other.path).all(|(a, b)| a == b)
    }

    /// Whether `self` is `other` or holds it.
    pub(super) fn holds(&self, other: &Location) -> bool {
        self.path.len() <= other.path.len() && self.overlaps(other)
    }
}

/// Returns the location that an expression names; for `stack.next` and for indexes that are not constant
/// the whole stack.
pub(super) fn location(program: &TypedProgram, expression: &Expression) -> Option<Location> {
    match &expression.kind {
        ExpressionKind::Path(_) => match program.definitions.get(&expression.id)? {
            Definition::Node(root) => Some(Location { root: *root, path: Vec::new() }),
            _ => None,
        },
        ExpressionKind::Member(base, name) => {
            let mut place = location(program, base)?;
            let base_type = program.expression_types.get(&base.id).map(|ty| &**ty);
            match (base_type, &*name.text) {
                (Some(TypeKind::Stack(..)), "next" | "last") => {}
                (Some(TypeKind::Stack(..)), _) => return None,
                _ => place.path.push(name.text.clone()),
            }
            Some(place)
        }
        ExpressionKind::Index(base, index) => {
            let mut place = location(program, base)?;
            if let Some(Constant::Integer(value)) = program.constants.get(&index.id) {
                // An index that is not constant names the whole; so must then the parts of it.
                place.path.push(format!("[{value}]").into());
            }
            Some(place)
        }
        ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => {
            location(program, base)
        }
        _ => None,
    }
}
