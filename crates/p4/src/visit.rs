// SPDX-License-Identifier: Apache-2.0
//! `Visit`: the visitor of a borrowed tree, whose parts live as long as the tree.

use crate::ast::*;
use source::Span;

walker!(
    Visit [Visit<'a>], Visited, accept,
    [&'a] [&] [&'a [T]]
    [<'a>] ['a,]
);

#[cfg(test)]
mod tests;
