// SPDX-License-Identifier: Apache-2.0
//! `Part`: a part of the tree that can be copied: a node, a block, a list, or several of these.

use crate::ast::{Annotation, Block, BlockType, Signature, Transition};
use crate::visit_mut::{VisitMut, VisitedMut, walk_block_type, walk_signature};

/// A part of the tree, or several parts that belong together.
pub trait Part: Clone {
    /// Visits all nodes of the part.
    fn walk<V: VisitMut>(&mut self, visitor: &mut V);
}

impl<T: VisitedMut> Part for T {
    fn walk<V: VisitMut>(&mut self, visitor: &mut V) {
        T::accept_mut(self, visitor);
    }
}

macro_rules! parts {
    ($($kind:ty: $visitor:ident $part:ident => $walk:expr;)*) => {
        $(impl Part for $kind {
            fn walk<V: VisitMut>(&mut self, $visitor: &mut V) {
                let $part = self;
                $walk
            }
        })*
    };
}

parts! {
    Block: visitor block => visitor.block(block);
    Annotation: visitor annotation => visitor.annotation(annotation);
    Transition: visitor transition => visitor.transition(transition);
    Signature: visitor signature => walk_signature(visitor, signature);
    BlockType: visitor signature => walk_block_type(visitor, signature);
}

impl<T: Part> Part for Vec<T> {
    fn walk<V: VisitMut>(&mut self, visitor: &mut V) {
        for part in self {
            part.walk(visitor);
        }
    }
}

impl<T: Part> Part for Option<T> {
    fn walk<V: VisitMut>(&mut self, visitor: &mut V) {
        if let Some(part) = self {
            part.walk(visitor);
        }
    }
}

impl<A: Part, B: Part> Part for (A, B) {
    fn walk<V: VisitMut>(&mut self, visitor: &mut V) {
        self.0.walk(visitor);
        self.1.walk(visitor);
    }
}

impl<A: Part, B: Part, C: Part> Part for (A, B, C) {
    fn walk<V: VisitMut>(&mut self, visitor: &mut V) {
        self.0.walk(visitor);
        self.1.walk(visitor);
        self.2.walk(visitor);
    }
}
