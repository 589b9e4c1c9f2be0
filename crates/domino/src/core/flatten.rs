// SPDX-License-Identifier: Apache-2.0
//! From the checked program to [`Core`]. A value that later effects of the same expression would change is kept in a
//! variable at the moment at which it is reached. Operands that `&&`, `||` and `?:` skip stay expressions if evaluating
//! them has no effect, and become branches otherwise. Operands of `?:` that read different cells become branches too: a
//! packet accesses the cells of one of them.

use super::effects::{has_no_effect, without_globals};
use super::flow::needs_flag;
use super::{
    Callee, Core, EqualValues, Expression, Statement, StatementKind, Variable, each_target,
};
use crate::codes::check::PROGRAM_TOO_LARGE;
use crate::program::{self, ExpressionKind as Kind, Operation, Place, Program};
use crate::syntax::ast::{BinaryOperator, LogicalOperator, Step, UnaryOperator};
use source::{Diagnostic, Span};
use std::sync::Arc;

/// The largest number of statements.
pub const STATEMENT_LIMIT: usize = 100_000;

/// The largest number of branches around a statement.
const DEPTH_LIMIT: usize = 300;

/// Rewrites a program.
///
/// # Errors
///
/// The program grows too large.
#[allow(clippy::result_large_err, reason = "once a program")]
pub fn flatten(program: &Program) -> Result<Core, Diagnostic> {
    rewrite(program, false)
}

/// Rewrites a program; helpers that access no global stay calls.
///
/// # Errors
///
/// The program grows too large.
#[allow(clippy::result_large_err, reason = "once a program")]
pub fn flatten_with_calls(program: &Program) -> Result<Core, Diagnostic> {
    rewrite(program, true)
}

#[allow(clippy::result_large_err, reason = "once a program")]
fn rewrite(program: &Program, keeps_calls: bool) -> Result<Core, Diagnostic> {
    let kept =
        if keeps_calls { without_globals(program) } else { vec![false; program.functions.len()] };
    let mut flattener = Flattener::new(program, kept);
    let function = program.packet();
    flattener.function(program.packet_function, Vec::new(), function.span);
    flattener.check_size()?;
    let Flattener { variables, out, .. } = flattener;
    let (fields, globals) = (program.fields.clone(), program.globals.clone());
    let program = Arc::new(program.clone());
    Ok(Core { fields, globals, variables, body: out, program })
}

/// Rewrites a helper that accesses no global, with its own calls in place: its statements, and its value. The first
/// variables are the arguments.
///
/// # Errors
///
/// The helper grows too large.
#[allow(clippy::result_large_err, reason = "once a call")]
pub fn flatten_helper(
    program: &Program,
    helper: usize,
) -> Result<(Vec<Statement>, Expression), Diagnostic> {
    let function = &program.functions[helper];
    let mut flattener = Flattener::new(program, vec![false; program.functions.len()]);
    let locals = function.locals.iter().take(function.parameters);
    flattener.variables = locals.map(|local| local.name.clone()).collect();
    let arguments = 0..function.parameters as u32;
    let arguments = arguments.map(|at| Expression::Variable(Variable(at))).collect();
    let value = flattener.function(helper, arguments, function.span);
    flattener.check_size()?;
    Ok((flattener.out, value))
}

pub(super) struct Flattener<'p> {
    program: &'p Program,
    /// Whether calls of each function stay calls.
    kept: Vec<bool>,
    variables: Vec<Arc<str>>,
    /// The statements of the current list.
    pub(super) out: Vec<Statement>,
    /// The statements so far.
    count: usize,
    depth: usize,
    pub(super) too_large: Option<Span>,
}

/// A call that is being rewritten.
pub(super) struct Frame {
    pub(super) locals: Vec<Variable>,
    pub(super) result: Option<Variable>,
    /// Is 1 once the function has returned.
    pub(super) has_returned: Option<Variable>,
}

/// A value, and the number of statements before it was reached.
type Reached = (Expression, usize);

/// A place whose index has been evaluated.
enum Located {
    Variable(Variable),
    Cell(usize, Expression),
}

impl<'p> Flattener<'p> {
    /// Begins with the packet's fields as variables.
    fn new(program: &'p Program, kept: Vec<bool>) -> Flattener<'p> {
        Flattener {
            program,
            kept,
            variables: program.fields.iter().map(|field| field.name.clone()).collect(),
            out: Vec::new(),
            count: 0,
            depth: 0,
            too_large: None,
        }
    }

    #[allow(clippy::result_large_err, reason = "once a program")]
    fn check_size(&self) -> Result<(), Diagnostic> {
        let Some(span) = self.too_large else { return Ok(()) };
        let message = format!("the program grows to more than {STATEMENT_LIMIT} statements here");
        Err(Diagnostic::error(PROGRAM_TOO_LARGE, span, message)
            .help("reduce the turns of loops, the calls of helpers or the early returns"))
    }

    fn variable(&mut self, name: &str) -> Variable {
        self.variables.push(name.into());
        Variable(self.variables.len() as u32 - 1)
    }

    pub(super) fn emit(&mut self, kind: StatementKind, span: Span) {
        self.count += 1;
        if self.count > STATEMENT_LIMIT || self.depth > DEPTH_LIMIT {
            self.too_large.get_or_insert(span);
        }
        self.out.push(Statement { kind, span });
    }

    /// Rewrites into a list of its own.
    pub(super) fn separately<R>(
        &mut self,
        rewrite: impl FnOnce(&mut Self) -> R,
    ) -> (Vec<Statement>, R) {
        let outer = std::mem::take(&mut self.out);
        self.depth += 1;
        let result = rewrite(self);
        self.depth -= 1;
        (std::mem::replace(&mut self.out, outer), result)
    }

    /// Keeps values in variables that statements behind them change.
    fn settle(&mut self, values: &mut [Reached], span: Span) {
        for (value, at) in values.iter_mut().rev() {
            if *at == self.out.len() || matches!(value, Expression::Constant(_)) {
                continue;
            }
            let mut changed = false;
            let mut targets = Vec::new();
            each_target(&self.out[*at..], &mut |target| targets.push(target));
            value.each_variable(&mut |variable| changed |= targets.contains(&variable));
            if changed {
                let kept = self.variable("kept");
                let value = std::mem::replace(value, Expression::Variable(kept));
                self.count += 1;
                self.out.insert(*at, Statement { kind: StatementKind::Assign(kept, value), span });
            }
        }
    }

    /// Rewrites a call; returns its value.
    pub(super) fn function(
        &mut self,
        index: usize,
        arguments: Vec<Expression>,
        span: Span,
    ) -> Expression {
        let program = self.program;
        let function = &program.functions[index];
        let locals: Vec<Variable> =
            function.locals.iter().map(|local| self.variable(&local.name)).collect();
        for (local, argument) in locals.iter().zip(arguments) {
            self.emit(StatementKind::Assign(*local, argument), span);
        }
        let result = function.returns.map(|_| self.variable(&format!("{}_result", function.name)));
        let flag = needs_flag(&function.body).then(|| self.variable("has_returned"));
        for variable in result.into_iter().chain(flag) {
            self.emit(StatementKind::Assign(variable, Expression::Constant(0)), span);
        }
        let frame = Frame { locals, result, has_returned: flag };
        stacker::maybe_grow(512 * 1024, 4 * 1024 * 1024, || self.block(&function.body, &frame));
        result.map_or(Expression::Constant(0), Expression::Variable)
    }

    /// Rewrites an expression whose value nothing needs.
    pub(super) fn effects(&mut self, expression: &program::Expression, frame: &Frame) {
        match &expression.kind {
            Kind::Assign(place, operation, value) => {
                let (located, value) =
                    self.assigned(place, *operation, value, expression.span, frame);
                self.store(located, value, expression.span);
            }
            Kind::Step(place, step) => {
                let (located, _, new) = self.stepped(place, *step, expression.span, frame);
                self.store(located, new, expression.span);
            }
            _ => {
                self.expression(expression, frame);
            }
        }
    }

    /// Rewrites operands from left to right.
    pub(super) fn operands(
        &mut self,
        operands: &[program::Expression],
        frame: &Frame,
        span: Span,
    ) -> Vec<Expression> {
        let mut reached = Vec::new();
        for operand in operands {
            let value = self.expression(operand, frame);
            reached.push((value, self.out.len()));
        }
        self.settle(&mut reached, span);
        reached.into_iter().map(|(value, _)| value).collect()
    }

    pub(super) fn expression(
        &mut self,
        expression: &program::Expression,
        frame: &Frame,
    ) -> Expression {
        let span = expression.span;
        match &expression.kind {
            Kind::Constant(value) => Expression::Constant(*value),
            Kind::Read(place) => {
                let located = self.locate(place, frame);
                self.load(&located, span)
            }
            Kind::Call(function, arguments) => {
                let arguments = self.operands(arguments, frame, span);
                if self.kept[*function] {
                    let result = self
                        .variable(&format!("{}_result", self.program.functions[*function].name));
                    self.emit(
                        StatementKind::Call(result, Callee::Helper(*function), arguments),
                        span,
                    );
                    return Expression::Variable(result);
                }
                self.function(*function, arguments, span)
            }
            Kind::Hash(arguments) => {
                let arguments = self.operands(arguments, frame, span);
                let hash = self.variable("hash");
                self.emit(StatementKind::Call(hash, Callee::Hash, arguments), span);
                Expression::Variable(hash)
            }
            Kind::Unary(UnaryOperator::Plus, operand) => self.expression(operand, frame),
            Kind::Unary(operator, operand) => {
                Expression::Unary(*operator, Box::new(self.expression(operand, frame)))
            }
            Kind::Binary(operation, left, right) => {
                let left = self.expression(left, frame);
                let mut left = [(left, self.out.len())];
                let right = self.expression(right, frame);
                self.settle(&mut left, span);
                let [(left, _)] = left;
                Expression::Binary(*operation, Box::new(left), Box::new(right), span)
            }
            Kind::Logical(operator, left, right) => {
                self.logical(*operator, left, right, span, frame)
            }
            Kind::Conditional(condition, then, otherwise) => {
                let condition = self.expression(condition, frame);
                let mark = self.variables.len();
                let then = self.separately(|one| one.expression(then, frame));
                let otherwise = self.separately(|one| one.expression(otherwise, frame));
                if has_no_effect(&then.0, mark)
                    && has_no_effect(&otherwise.0, mark)
                    && !reads_one_or_other(&then.0, &otherwise.0)
                {
                    self.out.extend(then.0);
                    self.out.extend(otherwise.0);
                    let (then, otherwise) = (Box::new(then.1), Box::new(otherwise.1));
                    return Expression::Conditional(Box::new(condition), then, otherwise);
                }
                let chosen = self.variable("chosen");
                let lists = [then, otherwise].map(|(mut list, value)| {
                    list.push(Statement { kind: StatementKind::Assign(chosen, value), span });
                    list
                });
                let [then, otherwise] = lists;
                self.emit(StatementKind::If(condition, then, otherwise), span);
                Expression::Variable(chosen)
            }
            Kind::Assign(place, operation, value) => {
                let (located, value) = self.assigned(place, *operation, value, span, frame);
                self.stored(located, value, span)
            }
            Kind::Step(place, step) => {
                let (located, old, new) = self.stepped(place, *step, span, frame);
                if step.is_prefix {
                    return self.stored(located, new, span);
                }
                let kept = self.variable("old");
                self.emit(StatementKind::Assign(kept, old), span);
                self.store(located, new, span);
                Expression::Variable(kept)
            }
        }
    }

    fn logical(
        &mut self,
        operator: LogicalOperator,
        left: &program::Expression,
        right: &program::Expression,
        span: Span,
        frame: &Frame,
    ) -> Expression {
        let left = self.expression(left, frame);
        let mark = self.variables.len();
        let (mut list, right) = self.separately(|one| one.expression(right, frame));
        if has_no_effect(&list, mark) {
            self.out.extend(list);
            return Expression::Logical(operator, Box::new(left), Box::new(right));
        }
        let value = self.variable("condition");
        let is_true = not_zero(right, span);
        list.push(Statement { kind: StatementKind::Assign(value, is_true), span });
        let decided = |number| {
            let kind = StatementKind::Assign(value, Expression::Constant(number));
            vec![Statement { kind, span }]
        };
        let (then, otherwise) = match operator {
            LogicalOperator::And => (list, decided(0)),
            LogicalOperator::Or => (decided(1), list),
        };
        self.emit(StatementKind::If(left, then, otherwise), span);
        Expression::Variable(value)
    }

    /// Rewrites an assignment up to its store: the index, the old value of a compound assignment, then the right side.
    fn assigned(
        &mut self,
        place: &Place,
        operation: Option<Operation>,
        value: &program::Expression,
        span: Span,
        frame: &Frame,
    ) -> (Located, Expression) {
        let located = self.locate(place, frame);
        let at = self.out.len();
        let old = operation.map(|operation| (operation, self.load(&located, span)));
        let at_old = self.out.len();
        let value = self.expression(value, frame);
        let (mut kept, old) = match old {
            Some((operation, old)) => (vec![(old, at_old)], Some(operation)),
            None => (Vec::new(), None),
        };
        let located = match located {
            Located::Cell(global, index) => {
                kept.insert(0, (index, at));
                self.settle(&mut kept, span);
                Located::Cell(global, kept.remove(0).0)
            }
            variable => {
                self.settle(&mut kept, span);
                variable
            }
        };
        let value = match (old, kept.pop()) {
            (Some(operation), Some((old, _))) => {
                Expression::Binary(operation, Box::new(old), Box::new(value), span)
            }
            _ => value,
        };
        (located, value)
    }

    /// Rewrites `++` and `--` up to the store; returns the old and the new value.
    fn stepped(
        &mut self,
        place: &Place,
        step: Step,
        span: Span,
        frame: &Frame,
    ) -> (Located, Expression, Expression) {
        let located = self.locate(place, frame);
        let old = self.load(&located, span);
        let operator =
            if step.is_increment { BinaryOperator::Add } else { BinaryOperator::Subtract };
        let operation = Operation { operator, is_unsigned: false };
        let one = Box::new(Expression::Constant(1));
        let new = Expression::Binary(operation, Box::new(old.clone()), one, span);
        (located, old, new)
    }

    fn locate(&mut self, place: &Place, frame: &Frame) -> Located {
        match place {
            Place::Field(field) => Located::Variable(Variable(*field as u32)),
            Place::Local(local) => Located::Variable(frame.locals[*local]),
            Place::Scalar(global) => Located::Cell(*global, Expression::Constant(0)),
            Place::Cell(global, index) => Located::Cell(*global, self.expression(index, frame)),
        }
    }

    fn load(&mut self, located: &Located, span: Span) -> Expression {
        match located {
            Located::Variable(variable) => Expression::Variable(*variable),
            Located::Cell(global, index) => {
                let of = &self.program.globals[*global];
                if of.size.is_none() && !of.is_written {
                    return Expression::Constant(of.initial.first().copied().unwrap_or(0));
                }
                let value = self.variable(&format!("{}_value", of.name));
                self.emit(StatementKind::Read(value, *global, index.clone()), span);
                Expression::Variable(value)
            }
        }
    }

    fn store(&mut self, located: Located, value: Expression, span: Span) {
        let kind = match located {
            Located::Variable(variable) => StatementKind::Assign(variable, value),
            Located::Cell(global, index) => StatementKind::Write(global, index, value),
        };
        self.emit(kind, span);
    }

    /// Stores a value; returns it as an expression.
    fn stored(&mut self, located: Located, value: Expression, span: Span) -> Expression {
        if let Located::Variable(variable) = located {
            self.store(located, value, span);
            return Expression::Variable(variable);
        }
        let value = match value {
            Expression::Constant(_) => value,
            value => {
                let kept = self.variable("stored");
                self.emit(StatementKind::Assign(kept, value), span);
                Expression::Variable(kept)
            }
        };
        self.store(located, value.clone(), span);
        value
    }
}

/// Whether each of two lists reads cells, and not the same ones. Neither has an effect.
fn reads_one_or_other(then: &[Statement], otherwise: &[Statement]) -> bool {
    let mut values = EqualValues::default();
    let (then, otherwise) = (values.cells_read(then), values.cells_read(otherwise));
    !then.is_empty() && !otherwise.is_empty() && then != otherwise
}

fn not_zero(value: Expression, span: Span) -> Expression {
    let operation = Operation { operator: BinaryOperator::NotEqual, is_unsigned: false };
    Expression::Binary(operation, Box::new(value), Box::new(Expression::Constant(0)), span)
}
