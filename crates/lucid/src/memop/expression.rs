// SPDX-License-Identifier: Apache-2.0
//! Checks one expression of a memop: the operators of a stateful ALU, each variable at most once, at most
//! two comparisons (Lucid §4.2 and appendix C). `declaration` checks which expressions a body has.

use super::codes;
use super::rewrite;
use super::shape::{MemopDeclaration, cell_of};
use crate::check::{CheckedProgram, Definition};
use crate::syntax::ast::{
    BinaryOperator, Binder, Expression, ExpressionKind, NodeId, UnaryOperator,
};
use source::{Diagnostic, Diagnostics, Span};

/// How many comparisons one stateful ALU instruction can make.
pub(crate) const COMPARATORS: usize = 2;

/// The role of a parameter in the ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A stored value.
    Cell,
    /// An argument of the access.
    Argument,
}

/// How many comparisons a condition of a two-argument memop makes, its constants not counted.
pub(crate) fn comparisons(
    program: &CheckedProgram,
    declared: MemopDeclaration<'_>,
    condition: &Expression,
) -> usize {
    let variables = declared.parameters.iter().map(|each| (each.name.id, Role::Cell)).collect();
    let mut used = Used::default();
    let check = ExpressionCheck::new(program, declared, variables);
    check.walk_boolean(condition, &mut used, &mut Diagnostics::new());
    used.comparisons.len()
}

/// Checks expressions of one memop.
pub(crate) struct ExpressionCheck<'p> {
    program: &'p CheckedProgram,
    declared: MemopDeclaration<'p>,
    memop: &'p str,
    variables: Vec<(NodeId, Role)>,
}

/// Where the checked expression first uses the variable of each role.
#[derive(Default)]
struct Used {
    cell: Option<(NodeId, Span)>,
    argument: Option<(NodeId, Span)>,
    comparisons: Vec<Span>,
    /// Uses beyond the first.
    repeated: Vec<(Role, NodeId, Span, Span)>,
}

impl<'p> ExpressionCheck<'p> {
    pub(crate) fn new(
        program: &'p CheckedProgram,
        declared: MemopDeclaration<'p>,
        variables: Vec<(NodeId, Role)>,
    ) -> ExpressionCheck<'p> {
        ExpressionCheck { program, declared, memop: &declared.name.name, variables }
    }

    /// A computed value: variables and constants with `+ - & |`.
    pub(crate) fn integer(&self, value: &'p Expression, found: &mut Diagnostics) {
        let mut used = Used::default();
        self.walk_integer(value, &mut used, found);
        self.report_repeated(value, &used, None, found);
    }

    /// The condition of a two-argument memop, with the values of its two branches.
    pub(crate) fn condition(
        &self,
        condition: &'p Expression,
        branches: (&'p Expression, &'p Expression),
        found: &mut Diagnostics,
    ) {
        let mut used = Used::default();
        self.walk_boolean(condition, &mut used, found);
        if used.comparisons.len() > COMPARATORS {
            self.too_many_comparisons(&used.comparisons, found);
        }
        self.report_repeated(condition, &used, Some(branches), found);
    }

    /// The value of a boolean of a memop of three or four arguments.
    pub(crate) fn boolean(&self, value: &'p Expression, found: &mut Diagnostics) {
        let mut used = Used::default();
        self.walk_boolean(value, &mut used, found);
        self.report_repeated(value, &used, None, found);
    }

    /// Whether the booleans together compare more often than the hardware can.
    pub(crate) fn comparators(
        &self,
        conditions: &[Option<(&'p Binder, &'p Expression)>; 2],
        found: &mut Diagnostics,
    ) {
        let mut used = Used::default();
        for (_, value) in conditions.iter().flatten() {
            self.walk_boolean(value, &mut used, &mut Diagnostics::new());
        }
        if used.comparisons.len() > COMPARATORS {
            self.too_many_comparisons(&used.comparisons, found);
        }
    }

    /// A guard of a memop of three or four arguments: a combination of its booleans and constants.
    pub(crate) fn guard(
        &self,
        guard: &'p Expression,
        conditions: &[Option<(&'p Binder, &'p Expression)>; 2],
        found: &mut Diagnostics,
    ) {
        match &guard.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => {
                self.guard(operand, conditions, found);
            }
            ExpressionKind::Binary {
                operator:
                    BinaryOperator::And
                    | BinaryOperator::Or
                    | BinaryOperator::Equal
                    | BinaryOperator::NotEqual,
                left,
                right,
            } if self.is_guard_operand(left, conditions)
                && self.is_guard_operand(right, conditions) =>
            {
                self.guard(left, conditions, found);
                self.guard(right, conditions, found);
            }
            ExpressionKind::Binary {
                operator: BinaryOperator::And | BinaryOperator::Or,
                left,
                right,
            } => {
                self.guard(left, conditions, found);
                self.guard(right, conditions, found);
            }
            _ if self.is_constant(guard) || self.is_condition(guard, conditions) => {}
            _ => {
                let free = conditions.iter().any(|each| each.is_none());
                let help = match rewrite::expression(guard) {
                    Some(text) if free => {
                        format!("declare a boolean first: `bool b = {text};` and write `if (b)`")
                    }
                    _ if free => "declare a boolean first and name it here".into(),
                    _ => "both booleans are taken: combine them, or compute the condition before \
                          the call and pass it as the argument"
                        .into(),
                };
                found.push(
                    Diagnostic::error(
                        codes::GUARD,
                        guard.span,
                        format!("a guard of memop {} computes its own condition", self.memop),
                    )
                    .note(
                        "guards combine the memop's booleans (at most two) with `&&`, `||` and `!`",
                    )
                    .help(help),
                );
            }
        }
    }

    fn is_guard_operand(
        &self,
        operand: &Expression,
        conditions: &[Option<(&'p Binder, &'p Expression)>; 2],
    ) -> bool {
        self.is_constant(operand)
            || self.is_condition(operand, conditions)
            || matches!(
                operand.kind,
                ExpressionKind::Unary { operator: UnaryOperator::Not, .. }
                    | ExpressionKind::Binary {
                        operator: BinaryOperator::And | BinaryOperator::Or,
                        ..
                    }
            )
    }

    fn is_condition(
        &self,
        value: &Expression,
        conditions: &[Option<(&'p Binder, &'p Expression)>; 2],
    ) -> bool {
        let ExpressionKind::Name(path) = &value.kind else { return false };
        match self.program.definitions.get(&path.id) {
            Some(Definition::Local(id)) => {
                conditions.iter().flatten().any(|(name, _)| name.id == *id)
            }
            _ => false,
        }
    }

    /// Known before the program runs, or at least the same for each call: no variable of the memop.
    fn is_constant(&self, value: &Expression) -> bool {
        match &value.kind {
            ExpressionKind::Integer { .. }
            | ExpressionKind::Boolean(_)
            | ExpressionKind::SizeToInt { .. } => true,
            ExpressionKind::Name(path) => matches!(
                self.program.definitions.get(&path.id),
                Some(
                    Definition::Constant(_)
                        | Definition::Symbolic(_)
                        | Definition::Extern(_)
                        | Definition::Size(_)
                        | Definition::Aliased { .. }
                )
            ),
            ExpressionKind::Unary { operand, .. } | ExpressionKind::Cast { operand, .. } => {
                self.is_constant(operand)
            }
            ExpressionKind::Slice { operand, .. } => self.is_constant(operand),
            ExpressionKind::Binary { left, right, .. } => {
                self.is_constant(left) && self.is_constant(right)
            }
            _ => false,
        }
    }

    fn walk_boolean(&self, value: &'p Expression, used: &mut Used, found: &mut Diagnostics) {
        use BinaryOperator as B;
        if self.is_constant(value) {
            return;
        }
        match &value.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => {
                self.walk_boolean(operand, used, found);
            }
            ExpressionKind::Binary { operator: B::And | B::Or, left, right } => {
                self.walk_boolean(left, used, found);
                self.walk_boolean(right, used, found);
            }
            ExpressionKind::Binary {
                operator:
                    B::Equal | B::NotEqual | B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual,
                left,
                right,
            } => {
                used.comparisons.push(value.span);
                self.walk_integer(left, used, found);
                self.walk_integer(right, used, found);
            }
            _ => {
                found.push(
                    Diagnostic::error(
                        codes::OPERATOR,
                        value.span,
                        format!("memop {} decides by something that is no comparison", self.memop),
                    )
                    .note("a stateful ALU compares (`== != < > <= >=`) and combines with `&& || !`")
                    .help("compare it, or compute the condition before the call and pass 0 or 1"),
                );
            }
        }
    }

    fn walk_integer(&self, value: &'p Expression, used: &mut Used, found: &mut Diagnostics) {
        use BinaryOperator as B;
        if self.is_constant(value) {
            return;
        }
        match &value.kind {
            ExpressionKind::Name(path) => self.name(value, path.id, used, found),
            ExpressionKind::Binary {
                operator: B::Add | B::Subtract | B::BitAnd | B::BitOr,
                left,
                right,
            } => {
                self.walk_integer(left, used, found);
                self.walk_integer(right, used, found);
            }
            ExpressionKind::Binary { operator, left, right } => {
                let sign = operator.symbol();
                let diagnostic = Diagnostic::error(
                    codes::OPERATOR,
                    value.span,
                    format!("memop {} uses `{sign}`, which a stateful ALU lacks", self.memop),
                );
                found.push(self.operator_advice(value, diagnostic));
                let mut ignored = Used::default();
                self.walk_integer(left, &mut ignored, found);
                self.walk_integer(right, &mut ignored, found);
            }
            ExpressionKind::Unary { operator, operand } => {
                let sign = operator.symbol();
                let mut diagnostic = Diagnostic::error(
                    codes::OPERATOR,
                    value.span,
                    format!("memop {} uses `{sign}`, which a stateful ALU lacks", self.memop),
                );
                if let (UnaryOperator::Negate, Some(text)) =
                    (operator, rewrite::expression(operand))
                {
                    diagnostic = diagnostic.help(format!("write `0 - {text}`"));
                }
                found.push(self.operator_advice(value, diagnostic));
            }
            ExpressionKind::Call { .. } => {
                let diagnostic = Diagnostic::error(
                    codes::OPERATOR,
                    value.span,
                    format!("memop {} calls something", self.memop),
                );
                found.push(self.operator_advice(value, diagnostic));
            }
            _ => {
                let diagnostic = Diagnostic::error(
                    codes::OPERATOR,
                    value.span,
                    format!("memop {} computes what a stateful ALU cannot", self.memop),
                );
                found.push(self.operator_advice(value, diagnostic));
            }
        }
    }

    /// What to do about an operation that the ALU lacks: outside, if it does not need the cell.
    fn operator_advice(&self, value: &'p Expression, diagnostic: Diagnostic) -> Diagnostic {
        let diagnostic =
            diagnostic.note("a stateful ALU computes with `+`, `-`, `&` and `|` (Lucid §4.2)");
        if self.touches_cell(value) {
            diagnostic.help(
                "read the cell in one event, compute in the handler, and write the result in an \
                 event that it generates; or keep in the cell a value that needs no such operation",
            )
        } else {
            let text = rewrite::expression(value).unwrap_or_else(|| "...".into());
            diagnostic.help(format!(
                "compute it into a variable before the call (`int v = {text};`) and pass that as \
                 the argument"
            ))
        }
    }

    fn touches_cell(&self, value: &Expression) -> bool {
        match &value.kind {
            ExpressionKind::Name(path) => match self.program.definitions.get(&path.id) {
                Some(Definition::Local(id)) => self.variables.contains(&(*id, Role::Cell)),
                _ => cell_of(self.program, path).is_some(),
            },
            ExpressionKind::Unary { operand, .. }
            | ExpressionKind::Cast { operand, .. }
            | ExpressionKind::Slice { operand, .. } => self.touches_cell(operand),
            ExpressionKind::Binary { left, right, .. } => {
                self.touches_cell(left) || self.touches_cell(right)
            }
            ExpressionKind::Call { arguments, .. } | ExpressionKind::Hash { arguments, .. } => {
                arguments.iter().any(|argument| self.touches_cell(argument))
            }
            _ => false,
        }
    }

    fn name(&self, value: &Expression, path: NodeId, used: &mut Used, found: &mut Diagnostics) {
        let definition = self.program.definitions.get(&path);
        let variable = match definition {
            Some(Definition::Local(id)) => {
                self.variables.iter().find(|(variable, _)| variable == id)
            }
            // Name resolution has reported it.
            None => return,
            _ => None,
        };
        let Some((id, role)) = variable else {
            let ExpressionKind::Name(path) = &value.kind else { return };
            let diagnostic = if cell_of(self.program, path).is_some() {
                Diagnostic::error(
                    codes::OPERATOR,
                    value.span,
                    format!("memop {} computes with a cell's new value", self.memop),
                )
                .note("`cell1` and `cell2` are known only after the ALU has computed them")
                .help("use the old value, or write the expression that the cell is assigned")
            } else {
                Diagnostic::error(
                    codes::OPERATOR,
                    value.span,
                    format!(
                        "memop {} uses what is neither its parameter nor a constant",
                        self.memop
                    ),
                )
                .help("pass it as the argument")
            };
            found.push(diagnostic);
            return;
        };
        let slot = match role {
            Role::Cell => &mut used.cell,
            Role::Argument => &mut used.argument,
        };
        match slot {
            Some((_, first)) => used.repeated.push((*role, *id, *first, value.span)),
            None => *slot = Some((*id, value.span)),
        }
    }

    /// A variable used again, or two of one role: the ALU gets one cell and one argument into each of
    /// its expressions.
    fn report_repeated(
        &self,
        value: &'p Expression,
        used: &Used,
        branches: Option<(&'p Expression, &'p Expression)>,
        found: &mut Diagnostics,
    ) {
        let Some((role, id, first_span, span)) = used.repeated.first() else { return };
        let first_id = match role {
            Role::Cell => used.cell,
            Role::Argument => used.argument,
        };
        let same = first_id.is_some_and(|(first, _)| first == *id);
        let what = match (role, same) {
            (Role::Cell, true) => "the stored value",
            (Role::Cell, false) => "both stored values",
            (Role::Argument, true) => "its argument",
            (Role::Argument, false) => "both arguments",
        };
        let compound = used.comparisons.len() > 1;
        let message = match (compound, same) {
            (true, true) => format!(
                "the condition of memop {} tests {what} twice; a variable may be used once in an \
                 expression",
                self.memop
            ),
            (false, true) => format!(
                "memop {} uses {what} twice in one expression; a variable may be used once",
                self.memop
            ),
            (_, false) => format!("memop {} uses {what} in one expression", self.memop),
        };
        let mut diagnostic = Diagnostic::error(codes::VARIABLE_TWICE, *span, message)
            .here(if same { "used again" } else { "a second variable of its kind" })
            .label(*first_span, "first used here");
        if compound {
            diagnostic = diagnostic.note(
                "a compound condition takes both comparators of the ALU; Array.update needs one \
                 for each of its two memops (Lucid appendix C)",
            );
        } else {
            diagnostic = diagnostic.note(
                "each expression gets one stored value and one argument into the ALU; constants \
                 do not count (Lucid §4.2)",
            );
        }
        let complex = branches
            .filter(|_| compound && used.comparisons.len() <= COMPARATORS)
            .and_then(|(yes, no)| rewrite::compound(self.declared, value, yes, no));
        let diagnostic = match (complex, role) {
            (Some(text), _) => diagnostic
                .help(format!("as a memop of three arguments, for Array.update_complex:\n{text}"))
                .help(
                    "or store the outcome of one test in a variable or array of its own, and test \
                     that",
                ),
            (None, Role::Argument) => diagnostic.help(
                "compute the part with the arguments into a variable before the call and pass it \
                 as the argument",
            ),
            (None, Role::Cell) => diagnostic.help(
                "split it over two memops, the second in a further access; or use a memop of \
                 three arguments with two booleans",
            ),
        };
        found.push(diagnostic);
    }

    fn too_many_comparisons(&self, comparisons: &[Span], found: &mut Diagnostics) {
        let mut diagnostic = Diagnostic::error(
            codes::COMPOUND,
            comparisons[COMPARATORS],
            format!(
                "memop {} compares {} times; a stateful ALU has {COMPARATORS} comparators",
                self.memop,
                comparisons.len()
            ),
        )
        .here("one too many");
        for (span, text) in comparisons.iter().zip(["the first comparison", "the second"]) {
            diagnostic = diagnostic.label(*span, text);
        }
        found.push(diagnostic.help(
            "decide about the arguments before the call and pass the outcome as the argument",
        ));
    }
}
