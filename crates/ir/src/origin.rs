// SPDX-License-Identifier: Apache-2.0
//! [`Origin`]: the source place, node and inlined calls that an item or instruction comes from.

use crate::OriginId;
use p4::ast::NodeId;
use source::Span;
use std::sync::Arc;

/// The source of an item: a place, and the chain of calls through which it was inlined.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Place in the source.
    pub span: Span,
    /// The node of the typed program.
    pub node: Option<NodeId>,
    /// Control-plane name of its owner, if it has one.
    pub name: Option<Arc<str>>,
    /// The call or instance through which it was inlined.
    pub parent: Option<OriginId>,
    /// The outermost `@atomic` block that it stands in, by a number that each run of the block's code through
    /// lowering has for itself (P4_16 v1.2.5 §18.4.1).
    pub atomic: Option<u32>,
    /// Which of several accesses to the same state that lowering made of the same node this is, from 0: an
    /// unrolled loop has many. Passes keep it.
    pub repetition: u32,
    /// The origins of all accesses that a pass fused into one, in order; those have none themselves. Empty
    /// for what comes from one place.
    pub merged: Vec<OriginId>,
}

impl Origin {
    /// A place in the source, of nothing else.
    pub fn at(span: Span) -> Origin {
        Origin {
            span,
            node: None,
            name: None,
            parent: None,
            atomic: None,
            repetition: 0,
            merged: Vec::new(),
        }
    }
}
