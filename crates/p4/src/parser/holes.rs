// SPDX-License-Identifier: Apache-2.0
//! `Hole`: a part of a tree that stands in a text with holes. Reading such text is in `pieces`.

use crate::ast::{Declaration, Expression, Name, State, Statement, TypeRef};

/// The part that fills a hole.
#[derive(Clone, Debug)]
pub enum Hole {
    /// An expression, also as the target of an assignment or as what is called.
    Expression(Expression),
    /// A type.
    Type(TypeRef),
    /// A name, declared or used.
    Name(Name),
    /// Statements in a block or state. After `if`, `else` and the like they become a block.
    Statements(Vec<Statement>),
    /// Declarations at top level, in a parser or in a control.
    Declarations(Vec<Declaration>),
    /// States of a parser.
    States(Vec<State>),
}

macro_rules! holes {
    ($($part:ty => $form:ident),* $(,)?) => {
        $(impl From<$part> for Hole {
            fn from(part: $part) -> Hole {
                Hole::$form(part)
            }
        })*
    };
}

holes! {
    Expression => Expression,
    TypeRef => Type,
    Name => Name,
    Vec<Statement> => Statements,
    Vec<Declaration> => Declarations,
    Vec<State> => States,
}

impl From<Statement> for Hole {
    fn from(statement: Statement) -> Hole {
        Hole::Statements(vec![statement])
    }
}

impl From<Declaration> for Hole {
    fn from(declaration: Declaration) -> Hole {
        Hole::Declarations(vec![declaration])
    }
}
