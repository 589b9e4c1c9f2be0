// SPDX-License-Identifier: Apache-2.0
//! Memops as configurations of one stateful ALU (Lucid §4.2): two cells, comparisons that predicates
//! combine, guarded updates, and which of the cells' values goes out. What a target's stateful ALU has is
//! in [`pisa::target::StatefulAlu`]; the memop checker (`lucid::memop`) accepts only what fits, which a
//! test holds it to.

use super::program::{MemoryAccess, MemoryUse, Operand};
use lucid::core::arithmetic::{self, mask};
use lucid::core::{
    CONDITION_1, CONDITION_2, Expression, ExpressionKind, LocalId, MemopBody, MemopId, NEW_CELL_1,
    NEW_CELL_2, Program, Type,
};
use lucid::syntax::ast::BinaryOperator;
use pisa::target::StatefulAlu;
use source::Span;

/// A stateful ALU set up. In expressions the locals 0 and 1 are the old cells, 2 and 3 the operands.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Comparisons, one bit each.
    pub conditions: Vec<Expression>,
    /// Guarded new values of the cells: the first whose predicate holds counts. The second cell of an
    /// array without pairs is a scratch value that is zero at the beginning and not stored.
    pub updates: [Vec<(Predicate, Expression)>; 2],
    /// What goes out where the predicate holds; else `default`.
    pub output: Option<(Predicate, Output)>,
    /// What goes out otherwise.
    pub default: Operand,
    /// Values from the packet or constants that the expressions' locals 2 and 3 are.
    pub operands: [Operand; 2],
}

/// For each outcome of the two comparisons whether it holds: bit `first + 2 * second`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate(pub u8);

impl Predicate {
    /// Holds always.
    pub const ALWAYS: Predicate = Predicate(0b1111);
    /// Where the first comparison holds.
    pub const FIRST: Predicate = Predicate(0b1010);
    /// Where the second comparison holds.
    pub const SECOND: Predicate = Predicate(0b1100);

    fn holds(self, conditions: [bool; 2]) -> bool {
        self.0 >> (u8::from(conditions[0]) + 2 * u8::from(conditions[1])) & 1 == 1
    }

    /// The contrary.
    pub fn negated(self) -> Predicate {
        Predicate(!self.0 & 0b1111)
    }
}

/// Which value goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// A cell's value before.
    Old(usize),
    /// A cell's value after.
    New(usize),
}

/// What of a stateful ALU is too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Misfit {
    /// More comparisons than it has.
    Comparisons,
    /// More updates of a cell than it has.
    Updates,
    /// More values from the packet than it reads.
    Operands,
    /// An expression that one of its ALUs or comparators cannot compute.
    Expression,
    /// Two cells where it has one.
    Cells,
    /// Something else goes out than a cell's value.
    Output,
}

/// The configuration for an access.
///
/// # Errors
///
/// What does not fit any stateful ALU of this kind.
pub fn configure(core: &Program, access: &MemoryAccess) -> Result<Configuration, Misfit> {
    let configuration = match access {
        MemoryAccess::Simple { get, set } => simple(core, get.as_ref(), set.as_ref()),
        MemoryAccess::Complex { memop, arguments, default } => {
            complex(core, *memop, *arguments, *default)?
        }
    };
    configuration.check_expressions()?;
    Ok(configuration)
}

fn simple(core: &Program, get: Option<&MemoryUse>, set: Option<&MemoryUse>) -> Configuration {
    let mut conditions = Vec::new();
    // What is stored reads the first operand, what goes out the second.
    let mut side = |of: Option<&MemoryUse>, argument: LocalId| {
        let Some(MemoryUse::Memop(id, _)) = of else { return plain(of, argument) };
        let memop = &core.memops[id.0 as usize];
        let local = |id: LocalId| if id.0 == 0 { LocalId(0) } else { argument };
        match &memop.body {
            MemopBody::If(condition, then, otherwise) => {
                let holds = [Predicate::FIRST, Predicate::SECOND][conditions.len().min(1)];
                conditions.push(renamed(condition, &local));
                vec![(holds, renamed(then, &local)), (holds.negated(), renamed(otherwise, &local))]
            }
            MemopBody::Return(value) => vec![(Predicate::ALWAYS, renamed(value, &local))],
            MemopBody::Complex { .. } => Vec::new(),
        }
    };
    let stored = side(set, LocalId(2));
    let (scratch, output) = match get {
        None => (Vec::new(), None),
        Some(MemoryUse::Old) => (Vec::new(), Some(Output::Old(0))),
        Some(_) => (side(get, LocalId(3)), Some(Output::New(1))),
    };
    let operand = |of: Option<&MemoryUse>| of.and_then(MemoryUse::operand);
    Configuration {
        conditions,
        updates: [stored, scratch],
        output: output.map(|output| (Predicate::ALWAYS, output)),
        default: Operand::Constant(0),
        operands: [set, get].map(|of| operand(of).unwrap_or(Operand::Constant(0))),
    }
}

/// Uses without a memop.
fn plain(of: Option<&MemoryUse>, argument: LocalId) -> Vec<(Predicate, Expression)> {
    let local = |id: LocalId| Expression::local(id, Type::Int(128), Span::NONE);
    let value = match of {
        Some(MemoryUse::Value(_)) => local(argument),
        Some(MemoryUse::Add(_)) => {
            let (cell, argument) = (local(LocalId(0)), local(argument));
            Expression::binary(BinaryOperator::Add, cell, argument, Type::Int(128), Span::NONE)
        }
        Some(MemoryUse::Old | MemoryUse::Memop(..)) | None => return Vec::new(),
    };
    vec![(Predicate::ALWAYS, value)]
}

fn complex(
    core: &Program,
    memop: MemopId,
    operands: [Operand; 2],
    default: Operand,
) -> Result<Configuration, Misfit> {
    let memop = &core.memops[memop.0 as usize];
    let MemopBody::Complex { conditions, cell1, cell2, returned } = &memop.body else {
        return Err(Misfit::Expression);
    };
    // Of three arguments the first is the cell, the others are operands.
    let shift = if memop.argument_count == 3 { 1 } else { 0 };
    let local = |id: LocalId| match id.0 {
        1..4 if shift == 1 => LocalId(id.0 + 1),
        _ => id,
    };
    let holds = |guard: &Expression| {
        let bit = |outcome: u32| {
            let value = |id: LocalId| match id {
                CONDITION_1 => u128::from(outcome & 1),
                CONDITION_2 => u128::from(outcome >> 1),
                _ => 0,
            };
            (memop_value(guard, &value) as u8 & 1) << outcome
        };
        Predicate((0..4).map(bit).sum())
    };
    // A second comparison keeps its place even where there is no first.
    let conditions = match conditions {
        [None, None] => Vec::new(),
        [first, second] => {
            let never = || Expression::bool(false, Span::NONE);
            let of = |condition: &Option<Expression>| {
                condition.as_ref().map_or_else(never, |it| renamed(it, &local))
            };
            match second {
                None => vec![of(first)],
                Some(_) => vec![of(first), of(second)],
            }
        }
    };
    let updates = [cell1, cell2].map(|updates| {
        let update =
            |(guard, value): &(Expression, Expression)| (holds(guard), renamed(value, &local));
        updates.iter().map(update).collect()
    });
    let output = match returned {
        None => None,
        Some((guard, value)) => {
            let output = match value.kind {
                ExpressionKind::Local(NEW_CELL_1) => Output::New(0),
                ExpressionKind::Local(NEW_CELL_2) => Output::New(1),
                ExpressionKind::Local(LocalId(0)) => Output::Old(0),
                ExpressionKind::Local(LocalId(1)) if shift == 0 => Output::Old(1),
                _ => return Err(Misfit::Output),
            };
            Some((holds(guard), output))
        }
    };
    Ok(Configuration { conditions, updates, output, default, operands })
}

/// With other locals.
fn renamed(of: &Expression, local: &dyn Fn(LocalId) -> LocalId) -> Expression {
    let mut made = of.clone();
    lucid::core::walk::each_expression_mut(&mut made, &mut |inner| {
        if let ExpressionKind::Local(id) = &mut inner.kind {
            *id = local(*id);
        }
    });
    made
}

impl Configuration {
    /// Each comparison and each update reads at most one cell and one operand, an update has at most one
    /// operator between them.
    fn check_expressions(&self) -> Result<(), Misfit> {
        let updates = self.updates.iter().flatten().map(|(_, value)| value);
        let fits = |of: &Expression| {
            let mut found = [0; 3];
            lucid::core::walk::each_expression(of, &mut |inner| match inner.kind {
                ExpressionKind::Local(LocalId(0 | 1)) => found[0] += 1,
                ExpressionKind::Local(_) => found[1] += 1,
                ExpressionKind::Binary(..) => found[2] += 1,
                _ => {}
            });
            found
        };
        let all_fit =
            self.conditions.iter().all(|it| fits(it)[..2].iter().all(|count| *count <= 1))
                && updates.into_iter().all(|it| fits(it).iter().all(|count| *count <= 1));
        if all_fit { Ok(()) } else { Err(Misfit::Expression) }
    }

    /// Whether a target's stateful ALU has enough of everything.
    ///
    /// # Errors
    ///
    /// What it has too little of.
    pub fn fits(&self, alu: &StatefulAlu) -> Result<(), Misfit> {
        let from_packet = self.operands.iter().filter(|it| it.variable().is_some()).count();
        if self.conditions.len() > alu.booleans as usize {
            Err(Misfit::Comparisons)
        } else if self.updates.iter().any(|updates| updates.len() > alu.updates as usize) {
            Err(Misfit::Updates)
        } else if from_packet > alu.operands as usize {
            Err(Misfit::Operands)
        } else if !self.updates[1].is_empty() && alu.cells < 2 {
            Err(Misfit::Cells)
        } else if self.output.is_some() && alu.outputs == 0 {
            Err(Misfit::Output)
        } else {
            Ok(())
        }
    }

    /// What the stateful ALU makes of old cells and operands: new cells and what goes out, if anything
    /// does.
    pub fn run(&self, old: [u128; 2], operands: [u128; 2]) -> ([u128; 2], Option<u128>) {
        let local = |id: LocalId| match id.0 {
            0 | 1 => old[id.0 as usize],
            2 | 3 => operands[id.0 as usize - 2],
            _ => 0,
        };
        let condition =
            |at: usize| self.conditions.get(at).is_some_and(|it| memop_value(it, &local) != 0);
        let conditions = [condition(0), condition(1)];
        let update = |cell: usize| {
            let first = self.updates[cell].iter().find(|(guard, _)| guard.holds(conditions));
            first.map_or(old[cell], |(_, value)| memop_value(value, &local))
        };
        let new = [update(0), update(1)];
        let output = self.output.filter(|(guard, _)| guard.holds(conditions));
        let output = output.map(|(_, output)| match output {
            Output::Old(cell) => old[cell],
            Output::New(cell) => new[cell],
        });
        (new, output)
    }
}

/// What an expression of a memop gives for its locals; booleans are 0 and 1.
pub fn memop_value(of: &Expression, local: &dyn Fn(LocalId) -> u128) -> u128 {
    let width = |of: &Expression| match of.ty {
        Type::Int(width) => width,
        _ => 1,
    };
    match &of.kind {
        ExpressionKind::Constant(lucid::core::Constant::Int(value, _)) => *value,
        ExpressionKind::Constant(lucid::core::Constant::Bool(value)) => u128::from(*value),
        ExpressionKind::Local(id) => local(*id),
        ExpressionKind::Unary(operator, inner) => {
            arithmetic::integer_unary(*operator, memop_value(inner, local), width(of))
        }
        ExpressionKind::Binary(operator, left, right) => {
            let values = [left, right].map(|side| memop_value(side, local));
            arithmetic::word_binary(*operator, values[0], values[1], width(left), width(right))
        }
        ExpressionKind::Cast(inner) => memop_value(inner, local) & mask(width(of)),
        ExpressionKind::Slice(inner, low) => {
            arithmetic::slice(memop_value(inner, local), *low, width(of))
        }
        _ => 0,
    }
}
