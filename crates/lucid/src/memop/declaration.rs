// SPDX-License-Identifier: Apache-2.0
//! Checks the body of a memop (Lucid §4.2; three and four arguments: the reference manual's section on
//! memops). Returns its [`Shape`], or diagnostics with a corrected memop where one exists. `uses` checks
//! which methods can take it.

use super::codes;
use super::expression::{ExpressionCheck, Role};
use super::rewrite;
use super::shape::{Complex, MemopDeclaration, Shape, cell_of, each_memop};
use crate::check::{CheckedProgram, Definition, Type};
use crate::syntax::ast::{Block, Expression, ExpressionKind, NodeId, Statement, StatementKind};
use source::{Diagnostic, Diagnostics, Span};

/// Statements of a block without `skip`.
fn statements(block: &Block) -> Vec<&Statement> {
    block.statements.iter().filter(|each| !matches!(each.kind, StatementKind::Skip)).collect()
}

/// The only statement of a block, if it is a `return e;`.
fn only_return(block: &Block) -> Option<&Expression> {
    match statements(block).as_slice() {
        [Statement { kind: StatementKind::Return(Some(value)), .. }] => Some(value),
        _ => None,
    }
}

/// The shape of a memop (by its binder), or `None` if its body breaks a rule of memops or there is
/// no such memop.
pub fn shape(program: &CheckedProgram, memop: NodeId) -> Option<Shape<'_>> {
    let mut found = None;
    each_memop(&program.tree.declarations, &mut |declared| {
        if declared.name.id == memop {
            found = Some(declared);
        }
    });
    analyze(program, found?).ok()
}

/// Takes a memop apart, or says which rules it breaks.
pub(crate) fn analyze<'p>(
    program: &'p CheckedProgram,
    declared: MemopDeclaration<'p>,
) -> Result<Shape<'p>, Diagnostics> {
    let mut analysis = Analysis { program, declared, found: Diagnostics::new() };
    analysis.parameters();
    let shape = match declared.parameters.len() {
        2 => analysis.simple(),
        3 | 4 => analysis.complex(),
        _ => None,
    };
    match shape {
        Some(shape) if analysis.found.is_empty() => Ok(shape),
        _ => Err(analysis.found),
    }
}

struct Analysis<'p> {
    program: &'p CheckedProgram,
    declared: MemopDeclaration<'p>,
    found: Diagnostics,
}

impl<'p> Analysis<'p> {
    fn name(&self) -> &'p str {
        &self.declared.name.name
    }

    /// Number and names; types are `check`'s.
    fn parameters(&mut self) {
        let declared = self.declared;
        if !(2..=4).contains(&declared.parameters.len()) {
            let count = declared.parameters.len();
            self.found.push(
                Diagnostic::error(
                    codes::PARAMETERS,
                    declared.name.span,
                    format!(
                        "memop {} has {count} parameter{}; a memop has 2, 3 or 4",
                        self.name(),
                        if count == 1 { "" } else { "s" }
                    ),
                )
                .note(
                    "2: the cell and an argument; 3: the cell and two arguments; 4: two cells and \
                     two arguments",
                )
                .help("combine what it needs into fewer variables before the call, and pass those"),
            );
        }
        for parameter in declared.parameters {
            if matches!(&*parameter.name.name, "cell1" | "cell2") {
                self.found.push(
                    Diagnostic::error(
                        codes::PARAMETERS,
                        parameter.name.span,
                        format!(
                            "a memop's parameter may not be called {}, which is the cell's new \
                             value",
                            parameter.name.name
                        ),
                    )
                    .help("give the parameter another name"),
                );
            }
        }
    }

    /// Parameters and what they are to the hardware: cells first.
    fn check(&self) -> ExpressionCheck<'p> {
        let cells = if self.declared.parameters.len() == 4 { 2 } else { 1 };
        let variables = self.declared.parameters.iter().enumerate().map(|(at, parameter)| {
            let role = if at < cells { Role::Cell } else { Role::Argument };
            (parameter.name.id, role)
        });
        ExpressionCheck::new(self.program, self.declared, variables.collect())
    }

    fn simple(&mut self) -> Option<Shape<'p>> {
        let declared = self.declared;
        let body = statements(declared.body);
        let check = self.check();
        if let Some(value) = only_return(declared.body) {
            check.integer(value, &mut self.found);
            return Some(Shape::Return(value));
        }
        if let [Statement { kind: StatementKind::If { condition, then, otherwise }, .. }] =
            &body[..]
            && let (Some(yes), Some(no)) =
                (only_return(then), otherwise.as_ref().and_then(only_return))
        {
            check.condition(condition, (yes, no), &mut self.found);
            check.integer(yes, &mut self.found);
            check.integer(no, &mut self.found);
            return Some(Shape::If(condition, yes, no));
        }
        self.wrong_simple_form(&body);
        None
    }

    /// Says what keeps a two-argument body from being one return or an if with one in each branch.
    fn wrong_simple_form(&mut self, body: &[&'p Statement]) {
        let name = self.name();
        let rule = "the body of a memop of two arguments is one return, or an if with one return \
                    in each branch (Lucid §4.2)";
        let report =
            |span: Span, message: String| Diagnostic::error(codes::FORM, span, message).note(rule);
        let Some(first) = body.first() else {
            let report = report(self.declared.body.span, format!("memop {name} returns nothing"));
            self.found.push(report.help("return the stored value to leave it as it is"));
            return;
        };
        let diagnostic = match (&first.kind, body.get(1)) {
            (StatementKind::Return(None), _) => {
                report(first.span, format!("memop {name} returns no value"))
            }
            (StatementKind::Return(Some(_)), Some(second)) => {
                report(second.span, format!("memop {name} goes on after its return"))
                    .label(first.span, "returns here")
                    .help("remove the statements after the return")
            }
            (StatementKind::If { otherwise: None, .. }, Some(second)) => {
                let report =
                    report(first.span, format!("the if of memop {name} has no else branch"))
                        .here("has no else")
                        .label(second.span, "this is not in a branch");
                match &second.kind {
                    StatementKind::Return(Some(_)) if body.len() == 2 => {
                        report.help("put this return into an else branch")
                    }
                    _ => report.help("give the if an else branch that returns a value"),
                }
            }
            (StatementKind::If { otherwise: None, .. }, None) => {
                report(first.span, format!("the if of memop {name} has no else branch"))
                    .help("add an else branch; return the stored value there to leave it")
            }
            (StatementKind::If { .. }, Some(second)) => {
                report(second.span, format!("memop {name} goes on after its if"))
                    .help("remove the statements after the if")
            }
            (StatementKind::If { then, otherwise: Some(otherwise), .. }, None) => {
                let block = if only_return(then).is_none() { then } else { otherwise };
                let inner = statements(block);
                let span = inner.first().map_or(block.span, |each| each.span);
                let nested =
                    matches!(inner.first().map(|each| &each.kind), Some(StatementKind::If { .. }));
                if nested {
                    report(span, format!("memop {name} decides twice")).here("a second if").help(
                        "split it: a second memop for the inner decision, used in a further \
                         access; or a memop of three arguments with two booleans, for \
                         Array.update_complex",
                    )
                } else {
                    report(span, format!("a branch of memop {name} is not one return")).help(
                        "compute what the branch needs into a variable before the call and pass \
                         it as the argument",
                    )
                }
            }
            (StatementKind::Local { .. } | StatementKind::Assign { .. }, _) => {
                report(first.span, format!("memop {name} has a variable of its own"))
                    .here("a stateful ALU has no room for this")
                    .help(
                        "write the expression where it is used; or compute it into a variable \
                         before the call and pass it as the argument; booleans and `cell1` are \
                         for memops of three or four arguments",
                    )
            }
            _ => {
                report(first.span, format!("memop {name} holds a statement that computes nothing"))
                    .help("do this in the handler or function that calls the array's method")
            }
        };
        self.found.push(diagnostic);
    }

    fn complex(&mut self) -> Option<Shape<'p>> {
        let body = statements(self.declared.body);
        let check = self.check();
        let mut complex = Complex::default();
        let mut stage = Stage::Booleans;
        let before = self.found.len();
        for statement in body {
            let part = self.classify(statement)?;
            if part.stage() < stage {
                self.out_of_sequence(statement.span, stage);
                return None;
            }
            stage = part.stage();
            match part {
                Part::Boolean(name, value) => {
                    let Some(free) = complex.conditions.iter_mut().find(|each| each.is_none())
                    else {
                        self.found.push(
                            Diagnostic::error(
                                codes::COMPLEX_FORM,
                                statement.span,
                                format!("memop {} has a third boolean", self.name()),
                            )
                            .note("a stateful ALU has two comparators")
                            .help(
                                "combine the first two in the guards, or compute a condition on \
                                 the arguments before the call",
                            ),
                        );
                        return None;
                    };
                    *free = Some((name, value));
                    check.boolean(value, &mut self.found);
                }
                Part::Cell(second, updates, span) => {
                    let cell = if second { &mut complex.cell2 } else { &mut complex.cell1 };
                    if !cell.is_empty() {
                        let name = if second { "cell2" } else { "cell1" };
                        self.found.push(
                            Diagnostic::error(
                                codes::COMPLEX_FORM,
                                span,
                                format!("memop {} assigns {name} in two places", self.name()),
                            )
                            .label(cell[0].1.span, "first assigned here")
                            .help("join them: `if (...) { ... } else { if (...) { ... } }`"),
                        );
                        return None;
                    }
                    *cell = updates;
                    for (guard, value) in cell.iter() {
                        check.guard(guard, &complex.conditions, &mut self.found);
                        check.integer(value, &mut self.found);
                    }
                }
                Part::Return(guard, value) => {
                    check.guard(guard, &complex.conditions, &mut self.found);
                    self.returned(value);
                    complex.returned = Some((guard, value));
                }
            }
        }
        check.comparators(&complex.conditions, &mut self.found);
        (self.found.len() == before).then_some(Shape::Complex(complex))
    }

    fn out_of_sequence(&mut self, span: Span, after: Stage) {
        let after = match after {
            Stage::Booleans => "a boolean",
            Stage::Cells => "the new values of the cells",
            Stage::Returned => "the return",
        };
        self.found.push(
            Diagnostic::error(
                codes::COMPLEX_FORM,
                span,
                format!("this part of memop {} comes after {after}", self.name()),
            )
            .note(COMPLEX_RULE)
            .help("write the booleans first, then the new values of the cells, then the return"),
        );
    }

    /// What one statement of a memop of three or four arguments is.
    fn classify(&mut self, statement: &'p Statement) -> Option<Part<'p>> {
        match &statement.kind {
            StatementKind::Local { name, value, .. }
                if matches!(self.program.types.get(&name.id), Some(Type::Bool) | None) =>
            {
                return Some(Part::Boolean(name, value));
            }
            StatementKind::If { condition, then, otherwise } => {
                let inner = otherwise.as_ref().map(statements).unwrap_or_default();
                match (statements(then).as_slice(), inner.as_slice()) {
                    ([Statement { kind: StatementKind::Return(Some(value)), .. }], []) => {
                        return Some(Part::Return(condition, value));
                    }
                    ([first], rest)
                        if let Some((cell, value)) = self.cell_assignment(first)
                            && rest.len() <= 1 =>
                    {
                        let mut updates = vec![(condition, value)];
                        if let Some(second) = rest.first() {
                            updates.push(self.second_update(cell, first, second)?);
                        }
                        return Some(Part::Cell(cell, updates, statement.span));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.wrong_complex_form(statement);
        None
    }

    /// The `if (...) { cellN = e; }` in the else branch of an update.
    fn second_update(
        &mut self,
        cell: bool,
        first: &'p Statement,
        second: &'p Statement,
    ) -> Option<(&'p Expression, &'p Expression)> {
        if let StatementKind::If { condition, then, otherwise } = &second.kind
            && otherwise.as_ref().is_none_or(|block| statements(block).is_empty())
            && let [inner] = statements(then).as_slice()
            && let Some((inner_cell, value)) = self.cell_assignment(inner)
        {
            if inner_cell == cell {
                return Some((condition, value));
            }
            self.found.push(
                Diagnostic::error(
                    codes::COMPLEX_FORM,
                    inner.span,
                    format!("the two branches of memop {} assign different cells", self.name()),
                )
                .label(first.span, "the other cell is assigned here")
                .note(COMPLEX_RULE)
                .help("give each cell an if of its own"),
            );
            return None;
        }
        let diagnostic = Diagnostic::error(
            codes::COMPLEX_FORM,
            second.span,
            format!("the else branch of memop {} is not a guarded assignment", self.name()),
        )
        .note(COMPLEX_RULE);
        self.found.push(if let Some((second_cell, _)) = self.cell_assignment(second) {
            let cell = if second_cell { "cell2" } else { "cell1" };
            diagnostic
                .help(format!("write the guard that always holds: `if (true) {{ {cell} = ...; }}`"))
        } else {
            diagnostic
                .help("write `else { if (...) { ... } }` with one assignment to the same cell")
        });
        None
    }

    /// `cell1 = e;` or `cell2 = e;`: whether it is the second cell, and the value.
    fn cell_assignment(&self, statement: &'p Statement) -> Option<(bool, &'p Expression)> {
        match &statement.kind {
            StatementKind::Assign { target, value, .. } => {
                cell_of(self.program, target).map(|second| (second, value))
            }
            _ => None,
        }
    }

    fn wrong_complex_form(&mut self, statement: &'p Statement) {
        let name = self.name();
        let count = self.declared.parameters.len();
        let report = |message: String| {
            Diagnostic::error(codes::COMPLEX_FORM, statement.span, message).note(COMPLEX_RULE)
        };
        let diagnostic = match &statement.kind {
            StatementKind::If { condition, then, otherwise: Some(otherwise) }
                if let (Some(yes), Some(no)) = (only_return(then), only_return(otherwise)) =>
            {
                let report = report(format!(
                    "memop {name} has {count} arguments and returns one of two computed values"
                ))
                .here("only memops of two arguments have this form");
                match rewrite::as_complex(self.declared, condition, yes, no) {
                    Some(text) => report.help(format!(
                        "as a memop for {}:\n{text}",
                        if count == 4 { "PairArray.update" } else { "Array.update_complex" }
                    )),
                    None => report,
                }
                .help(
                    "or combine the arguments into one variable before the call and use a memop \
                     of two arguments",
                )
            }
            StatementKind::Assign { target, .. } => match cell_of(self.program, target) {
                Some(second) => {
                    let cell = if second { "cell2" } else { "cell1" };
                    report(format!("memop {name} assigns {cell} without a guard")).help(format!(
                        "write the guard that always holds: `if (true) {{ {cell} = ...; }}`"
                    ))
                }
                None => report(format!("memop {name} assigns what is not a cell"))
                    .help("assign `cell1` or `cell2`, the new values of the cells"),
            },
            StatementKind::Return(Some(_)) => {
                report(format!("memop {name} of {count} arguments returns without a guard"))
                    .help("write the guard that always holds: `if (true) { return cell1; }`")
            }
            StatementKind::Local { .. } => {
                report(format!("memop {name} has a variable that is not a boolean")).help(
                    "write the expression where it is used, or compute it into a variable before \
                     the call and pass it as the argument",
                )
            }
            StatementKind::If { .. } => report(format!(
                "this if of memop {name} is not a guarded update or return"
            ))
            .help("one assignment to `cell1` or `cell2`, or one return without else, a branch"),
            _ => report(format!("memop {name} holds a statement that no stateful ALU can do"))
                .help("do this in the handler or function that calls the array's method"),
        };
        self.found.push(diagnostic);
    }

    /// The value of the last return: a cell after the update, or a cell's old value.
    fn returned(&mut self, value: &'p Expression) {
        let cells = if self.declared.parameters.len() == 4 { 2 } else { 1 };
        if let ExpressionKind::Name(path) = &value.kind {
            let old = |id: &NodeId| {
                self.declared.parameters[..cells].iter().any(|parameter| parameter.name.id == *id)
            };
            match self.program.definitions.get(&path.id) {
                Some(Definition::Local(id)) if old(id) => return,
                None => return,
                _ if cell_of(self.program, path).is_some() => return,
                _ => {}
            }
        }
        let old: Vec<&str> =
            self.declared.parameters[..cells].iter().map(|each| &*each.name.name).collect();
        self.found.push(
            Diagnostic::error(
                codes::COMPLEX_RETURN,
                value.span,
                format!("memop {} returns what is not a cell", self.name()),
            )
            .note(format!(
                "a memop of three or four arguments returns `cell1`, `cell2` or the old value `{}`",
                old.join("` or `")
            ))
            .help("assign the value to `cell2` first and return that"),
        );
    }
}

const COMPLEX_RULE: &str = "a memop of three or four arguments has at most two booleans, then for \
                            each cell `if (...) { cell1 = ...; } else { if (...) { cell1 = ...; } \
                            }`, then `if (...) { return cell1; }`; each part may be left out";

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Booleans,
    Cells,
    Returned,
}

enum Part<'p> {
    Boolean(&'p crate::syntax::ast::Binder, &'p Expression),
    Cell(bool, Vec<(&'p Expression, &'p Expression)>, Span),
    Return(&'p Expression, &'p Expression),
}

impl Part<'_> {
    fn stage(&self) -> Stage {
        match self {
            Part::Boolean(..) => Stage::Booleans,
            Part::Cell(..) => Stage::Cells,
            Part::Return(..) => Stage::Returned,
        }
    }
}
