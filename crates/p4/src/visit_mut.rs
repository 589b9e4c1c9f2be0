// SPDX-License-Identifier: Apache-2.0
//! `VisitMut`: the visitor that may change the tree. A list is handed over as a whole, so that
//! nodes can be added and removed.

use crate::ast::*;
use source::Span;

walker!(
    VisitMut [VisitMut], VisitedMut, accept_mut,
    [&mut] [&mut] [&mut Vec<T>]
    [] []
);
