// SPDX-License-Identifier: Apache-2.0
//! [`Solver`]: the SAT solver with a budget of conflicts, and [`Bit`]: its literals with the two constants.

use batsat::{ClauseKind, Lit, SolverInterface, SolverOpts, Var, lbool};
use std::cell::Cell;

/// How much work the solver may do.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Conflicts of all queries together.
    pub conflicts: u64,
    /// Asked now and then: true ends the search. Commands compare a clock here.
    pub interrupt: Option<&'a dyn Fn() -> bool>,
}

impl Budget<'_> {
    /// Returns a budget of conflicts alone, whose results do not depend on the machine.
    pub fn conflicts(conflicts: u64) -> Budget<'static> {
        Budget { conflicts, interrupt: None }
    }
}

/// Conflicts spent, shared by the solvers of one search.
pub struct Meter<'a> {
    budget: Budget<'a>,
    spent: Cell<u64>,
}

impl<'a> Meter<'a> {
    /// Starts to measure.
    pub fn new(budget: Budget<'a>) -> Meter<'a> {
        Meter { budget, spent: Cell::new(0) }
    }

    /// Returns the conflicts so far.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Whether the budget is used up.
    pub fn is_exhausted(&self) -> bool {
        self.spent.get() >= self.budget.conflicts
            || self.budget.interrupt.is_some_and(|interrupt| interrupt())
    }
}

struct Callbacks<'a>(&'a Meter<'a>);

impl batsat::Callbacks for Callbacks<'_> {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.0.spent.set(self.0.spent.get() + 1);
        }
    }

    fn stop(&self) -> bool {
        self.0.is_exhausted()
    }
}

/// A literal of the solver, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bit(u32);

impl Bit {
    /// Variable 0 is true in every model.
    pub const TRUE: Bit = Bit(0);
    /// The other constant.
    pub const FALSE: Bit = Bit(1);

    /// Returns the constant for a truth value.
    pub fn constant(value: bool) -> Bit {
        if value { Bit::TRUE } else { Bit::FALSE }
    }

    /// Returns the value of a constant.
    pub fn known(self) -> Option<bool> {
        (self.0 < 2).then_some(self == Bit::TRUE)
    }

    /// Whether the bit is the negation of a variable.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    fn literal(self) -> Lit {
        Lit::new(Var::unsafe_from_idx(self.0 >> 1), !self.is_negated())
    }
}

impl std::ops::Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        Bit(self.0 ^ 1)
    }
}

/// What the solver found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An assignment; [`Solver::value`] reads it.
    Model,
    /// There is none under the assumptions; [`Solver::core`] tells which of them matter.
    Nothing,
    /// The budget ended.
    Unknown,
}

/// A SAT solver.
pub struct Solver<'a> {
    solver: batsat::Solver<Callbacks<'a>>,
    variables: u32,
    clause: Vec<Lit>,
}

impl<'a> Solver<'a> {
    /// Creates a solver that spends the meter's budget.
    pub fn new(meter: &'a Meter<'a>) -> Solver<'a> {
        let solver = batsat::Solver::new(SolverOpts::default(), Callbacks(meter));
        let mut solver = Solver { solver, variables: 0, clause: Vec::new() };
        let truth = solver.variable();
        debug_assert_eq!(truth, Bit::TRUE);
        solver.clause(&[Bit::TRUE]);
        solver
    }

    /// Returns a new variable.
    pub fn variable(&mut self) -> Bit {
        let variable = self.solver.new_var_default();
        debug_assert_eq!(variable.idx(), self.variables);
        self.variables += 1;
        Bit(variable.idx() << 1)
    }

    /// Demands that one of the bits is true.
    pub fn clause(&mut self, bits: &[Bit]) {
        self.clause.clear();
        self.clause.extend(bits.iter().map(|bit| bit.literal()));
        self.solver.add_clause_reuse(&mut self.clause);
    }

    /// Searches for an assignment in which all assumptions are true.
    pub fn solve(&mut self, assumptions: &[Bit]) -> Found {
        let literals: Vec<Lit> = assumptions.iter().map(|bit| bit.literal()).collect();
        let result = self.solver.solve_limited(&literals);
        if result == lbool::TRUE {
            Found::Model
        } else if result == lbool::FALSE {
            Found::Nothing
        } else {
            Found::Unknown
        }
    }

    /// Returns a bit's value in the last model.
    pub fn value(&self, bit: Bit) -> bool {
        self.solver.value_lit(bit.literal()) == lbool::TRUE
    }

    /// Whether an assumption of the last search, which found nothing, is part of the reason.
    pub fn is_in_core(&self, assumption: Bit) -> bool {
        self.solver.unsat_core_contains_lit(!assumption.literal())
    }
}
