// SPDX-License-Identifier: Apache-2.0
//! `Obstacle`: why a call is not inlined. Such a call stays unchanged.

use crate::rewrite::EditError;
use std::fmt;
use std::sync::Arc;

/// A reason why a call is not inlined.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Obstacle {
    /// No call with this identity is in the tree.
    NoSuchCall,
    /// The callee has no body here: an extern, a table, a method.
    NoBody,
    /// The callee is not declared where the call can be replaced: an instance that is handed in or
    /// declared at top level, or a function of an object initializer.
    DeclaredElsewhere,
    /// The called block has type parameters.
    Generic,
    /// The callee has tables, extern instances or value sets and is called more than once, so
    /// that copies would not share them.
    StateWithSeveralCalls,
    /// The call is a part of an expression, and moving it would change what is evaluated before what.
    InsideExpression,
    /// The call is not in a statement: in a key, an entry, a keyset or the first value of a declaration
    /// outside of statements.
    OutsideStatements,
    /// The call is in the parentheses of a `for`.
    InLoopHeader,
    /// A sub-parser is applied in a block or under a condition.
    NotAtStateLevel,
    /// The called body returns from within a loop.
    ReturnInLoop,
    /// An argument cannot be passed without a copy, and the callee may end by `exit` or `reject` where
    /// the copy cannot be written back.
    CopyOut,
    /// An argument's evaluation cannot be moved before the others.
    Argument,
    /// The callee computes a hash, in a program with custom CRCs of v1model: the control plane names
    /// them by their numbers among all calculations of the program's text.
    NamedByPlace,
    /// The type of a value has no name, so no variable can be declared for it.
    UnwritableType,
    /// The inlined program did not pass the checker; the message is its first.
    Refused(Arc<str>),
    /// The rewriter refused an edit.
    Edit(Arc<str>),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Obstacle::NoSuchCall => "there is no such call",
            Obstacle::NoBody => "the callee has no body",
            Obstacle::DeclaredElsewhere => {
                "the callee is declared outside of the program part that can be changed"
            }
            Obstacle::Generic => "the called block has type parameters",
            Obstacle::StateWithSeveralCalls => {
                "the callee has tables or instances and is called more than once"
            }
            Obstacle::InsideExpression => "the call is a part of a larger expression",
            Obstacle::OutsideStatements => "the call is not in a statement",
            Obstacle::InLoopHeader => "the call is in the parentheses of a `for`",
            Obstacle::NotAtStateLevel => "a sub-parser is applied inside of a block or condition",
            Obstacle::ReturnInLoop => "the called body returns from within a loop",
            Obstacle::CopyOut => "an argument needs a copy, and the callee may exit before the copy is written back",
            Obstacle::Argument => "an argument cannot be evaluated before the call",
            Obstacle::NamedByPlace => {
                "the callee computes a hash, and the control plane names custom hashes by their order in the text"
            }
            Obstacle::UnwritableType => "the type of a value has no name",
            Obstacle::Refused(message) => {
                return write!(formatter, "the checker refused the result: {message}");
            }
            Obstacle::Edit(message) => {
                return write!(formatter, "the rewriter refused an edit: {message}");
            }
        })
    }
}

impl std::error::Error for Obstacle {}

impl From<EditError> for Obstacle {
    fn from(error: EditError) -> Obstacle {
        Obstacle::Edit(error.to_string().into())
    }
}
