// SPDX-License-Identifier: Apache-2.0
//! `Visit`: the visitor of a borrowed tree, whose parts live as long as the tree.

use crate::ast::*;
use source::Span;

walker!(
    Visit [Visit<'a>], Visited, accept,
    [&'a] [&] [&'a [T]]
    [<'a>] ['a,]
);

/// Whether a statement, or one inside of it, satisfies the predicate. Functions that it declares (in instances) are
/// not looked into.
pub fn any_statement<'a>(
    statement: &'a Statement,
    test: impl FnMut(&'a Statement) -> bool,
) -> bool {
    let mut any = Any { test, found: false };
    any.statement(statement);
    any.found
}

struct Any<F> {
    test: F,
    found: bool,
}

impl<'a, F: FnMut(&'a Statement) -> bool> Visit<'a> for Any<F> {
    fn statement(&mut self, statement: &'a Statement) {
        self.found = self.found || (self.test)(statement);
        if !self.found {
            walk_statement(self, statement);
        }
    }

    fn expression(&mut self, _: &'a Expression) {}

    fn declaration(&mut self, _: &'a Declaration) {}
}

#[cfg(test)]
mod tests;
