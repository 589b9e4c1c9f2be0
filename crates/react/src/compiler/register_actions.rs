// SPDX-License-Identifier: Apache-2.0
//! Measured registers on Tofino (Mantis §5.2, Figure 9). An array is accessed once a packet, so the value that a register
//! action writes is its result; with the index it is remembered to the end of the pipeline, where one access writes both the
//! value and a count of writes to a cell of the copies.

use super::names::{CELL_TYPE, STATE, working_copy};
use super::plan::MeasuredRegister;
use super::registers::{Cells, RegisterAction, apply_function, executed, own_expressions};
use super::translator::Translator;
use super::usage::written_register;
use crate::language::{Gress, codes};
use p4::ast::{
    BinaryOperator, Block, ControlDeclaration, Declaration, DeclarationKind, Expression,
    ExpressionKind, NodeId, Statement, StatementKind, TypeRefKind,
};
use p4::visit::{Visit, walk_expression, walk_statement};
use p4::visit_mut::{self, VisitMut};
use source::{Diagnostic, Span};

/// Bits of the value in a cell of the copies. The count of writes has as many.
const VALUE_BITS: u32 = 32;

/// The parameter for the value that a register action wrote.
const RESULT: &str = "p4r_result";

impl Translator<'_> {
    /// The fields of the state for measured registers.
    pub(super) fn remembered_fields(&self) -> String {
        let fields = self.cells.iter().map(|cells| {
            let Cells { stem, width_bits, index_bits, .. } = cells;
            let place = match cells.copy_bits() {
                0 => String::new(),
                bits => format!("bit<{}> {stem}_place; ", bits + 1),
            };
            format!(
                "bit<{width_bits}> {stem}_value; bit<{index_bits}> {stem}_index; {place}\
                 bit<1> {stem}_written; "
            )
        });
        fields.collect()
    }

    /// Reports registers whose cells leave no room for a count of writes.
    pub(super) fn refuse_wide_cells(&mut self) {
        for cells in self.cells.iter().filter(|cells| cells.width_bits > VALUE_BITS) {
            let all = super::registers::all_declarations(&self.program.typed);
            let mut found = all.filter(|one| one.id == cells.register);
            let span = found.next().map_or(Span::NONE, |found| found.name.span);
            let message = format!(
                "a reaction takes register `{}`, whose cells have {} bits",
                cells.name, cells.width_bits
            );
            self.found.push(
                Diagnostic::error(codes::WIDE_CELLS, span, message)
                    .help("split it into registers of 32 bits, and take each of them"),
            );
        }
    }

    /// The declarations of the copies of a pipeline's measured registers, and the statements that write them.
    pub(super) fn copied_cells(&mut self, gress: Gress) -> (String, String) {
        let (mut declarations, mut text, mut resets) =
            (String::new(), String::new(), String::new());
        for cells in &self.cells {
            if self.usage.writers(cells.register) != [gress] {
                continue;
            }
            let Cells { stem, index_bits, size, .. } = cells;
            let bits = cells.copy_bits();
            let copies_bits = bits + 1;
            declarations.push_str(&format!(
                "Register<{CELL_TYPE}, bit<{copies_bits}>>({}, {{ 0, 0 }}) {stem}_copies; \
                 RegisterAction<{CELL_TYPE}, bit<{copies_bits}>, bit<32>>({stem}_copies) {stem}_copy = {{ \
                 void apply(inout {CELL_TYPE} cell) {{ \
                 cell.value = (bit<32>){STATE}.{stem}_value; cell.time = cell.time + 1; }} }}; ",
                2 * cells.copy_cells()
            ));
            let index = format!("{STATE}.{stem}_index");
            let at = match bits {
                0 => format!("{STATE}.{}", working_copy(cells.group)),
                _ => format!("{STATE}.{stem}_place"),
            };
            let bound = match (bits < *index_bits, *size == cells.copy_cells()) {
                (false, true) => String::new(),
                (true, true) => format!(" && {index}[{}:{bits}] == 0", index_bits - 1),
                (_, false) => format!(" && {index} < {size}"),
            };
            text.push_str(&format!(
                "if ({STATE}.{stem}_written == 1{bound}) {{ {stem}_copy.execute({at}); }} "
            ));
            resets.push_str(&format!("{STATE}.{stem}_written = 0; "));
        }
        self.beginnings.entry(gress).or_default().resets.push_str(&resets);
        (declarations, text)
    }

    /// The plan of a register that is an argument.
    pub(super) fn planned_cells(&self, register: NodeId) -> Option<MeasuredRegister> {
        let cells = self.cells.iter().find(|cells| cells.register == register)?;
        Some(MeasuredRegister {
            register: cells.name.clone(),
            name: cells.name.clone(),
            group: cells.group,
            gress: Gress::Ingress,
            copies: format!("{}_copies", cells.stem).into(),
            times: None,
            copy_cells: cells.copy_cells(),
            size: cells.size,
        })
    }

    /// Makes register actions of a control return what they write, and remembers what they return.
    pub(super) fn remember_writes(&mut self, control: &mut ControlDeclaration) {
        for local in &mut control.locals {
            self.return_what_is_written(local);
        }
        for local in &mut control.locals {
            if let DeclarationKind::Action { body, .. } = &mut local.kind {
                Remember { translator: self, in_action: true }.block(body);
            }
        }
        Remember { translator: self, in_action: false }.block(&mut control.body);
    }

    /// The cells that a register action of this declaration writes, if they are measured.
    fn written_by(&self, action: NodeId) -> Option<(Cells, RegisterAction)> {
        let action = self.actions.get(&action)?;
        let cells = self.cells.iter().find(|cells| cells.register == action.register)?;
        Some((cells.clone(), action.clone()))
    }

    /// Makes a register action return the value that it writes.
    pub(super) fn return_what_is_written(&mut self, instance: &mut Declaration) {
        let Some((cells, action)) = self.written_by(instance.id) else { return };
        let name = instance.name.clone();
        let is_unfit = apply_function(instance).is_some_and(|function| {
            let DeclarationKind::Function { signature, body } = &function.kind else {
                return true;
            };
            let parameters = signature.parameters.iter().map(|one| &*one.name.text);
            match parameters.collect::<Vec<&str>>().as_slice() {
                [_] => has_return(body),
                [value, result] => {
                    has_return(body) || (action.has_result && !gives(body, value, result))
                }
                _ => true,
            }
        });
        if is_unfit {
            let message = format!(
                "register action `{}` does not return what it writes to `{}`, which a reaction takes",
                name.text, cells.name
            );
            self.found.push(
                Diagnostic::error(codes::RESULT_TAKEN, name.span, message)
                    .note("an access of a register has one result, and the measurement needs the value written")
                    .help("end the function with `result = value;` and without `return`, and compute from this value"),
            );
            return;
        }
        let cell = &cells.cell;
        let added = self.locals(name.span, &format!("action x(out {cell} {RESULT}) {{ }}")).pop();
        let written_type = self.locals(name.span, &format!("{cell} x;")).pop();
        let (
            DeclarationKind::Instance { ty, body: Some(members), .. },
            Some(Declaration {
                kind: DeclarationKind::Action { parameters: mut added, .. }, ..
            }),
            Some(Declaration { kind: DeclarationKind::Variable { ty: written_type, .. }, .. }),
        ) = (&mut instance.kind, added, written_type)
        else {
            return;
        };
        let Some(function) = members.iter_mut().find(|one| &*one.name.text == "apply") else {
            return;
        };
        let DeclarationKind::Function { signature, body } = &mut function.kind else { return };
        if action.has_result {
            return;
        }
        let Some(value) = signature.parameters.first().map(|value| value.name.text.clone()) else {
            return;
        };
        // A result that no packet takes becomes a variable.
        if let Some(result) = signature.parameters.get(1) {
            let ty = p4::printer::print_type_ref(&result.ty);
            let text = format!("{ty} {};", result.name.text);
            let mut statements = self.statements(name.span, &text, Vec::new());
            statements.append(&mut body.statements);
            body.statements = statements;
        }
        signature.parameters.truncate(1);
        signature.parameters.append(&mut added);
        let last = self.statements(name.span, &format!("{RESULT} = {value};"), Vec::new());
        body.statements.extend(last);
        if let TypeRefKind::Specialized(_, arguments) = &mut ty.kind
            && let Some(result) = arguments.get_mut(2)
        {
            *result = written_type;
        }
    }
}

fn has_return(body: &Block) -> bool {
    struct Returns(bool);
    impl<'a> Visit<'a> for Returns {
        fn statement(&mut self, statement: &'a Statement) {
            self.0 |= matches!(statement.kind, StatementKind::Return(_));
            walk_statement(self, statement);
        }
    }
    let mut returns = Returns(false);
    returns.block(body);
    returns.0
}

/// Whether a body ends with `result = value;`.
fn gives(body: &Block, value: &str, result: &str) -> bool {
    let is = |expression: &Expression, name: &str| match &expression.kind {
        ExpressionKind::Path(path) => *path.name.text == *name,
        _ => false,
    };
    body.statements.last().is_some_and(|last| match &last.kind {
        StatementKind::Assign { target, operator: None, value: assigned } => {
            is(target, result) && is(assigned, value)
        }
        _ => false,
    })
}

/// A call of a register action in an expression.
struct Found {
    cells: Cells,
    call: NodeId,
    action: String,
    index: Expression,
    span: Span,
    /// Whether `&&`, `||` or `?:` decides whether it is called.
    is_conditional: bool,
}

/// Finds calls of register actions that write measured registers.
struct Calls<'t, 'p> {
    translator: &'t Translator<'p>,
    found: Vec<Found>,
    is_conditional: bool,
}

impl<'a> Visit<'a> for Calls<'_, '_> {
    fn expression(&mut self, expression: &'a Expression) {
        let typed = &self.translator.program.typed;
        if let Some((action, [index])) =
            executed(typed, |node| self.translator.model(node), expression)
            && let Some((cells, _)) = self.translator.written_by(action)
            && let ExpressionKind::Call(call) = &expression.kind
            && let ExpressionKind::Member(base, _) = &call.callee.kind
        {
            self.found.push(Found {
                cells,
                call: expression.id,
                action: p4::printer::print_expression(base),
                index: index.value.clone(),
                span: expression.span,
                is_conditional: self.is_conditional,
            });
            return;
        }
        let outer = self.is_conditional;
        match &expression.kind {
            ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, left, right) => {
                self.expression(left);
                self.is_conditional = true;
                self.expression(right);
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                self.expression(condition);
                self.is_conditional = true;
                self.expression(then);
                self.expression(otherwise);
            }
            _ => walk_expression(self, expression),
        }
        self.is_conditional = outer;
    }
}

/// Puts another expression in place of a call.
struct Replace {
    call: NodeId,
    with: Option<Expression>,
}

impl VisitMut for Replace {
    fn expression(&mut self, expression: &mut Expression) {
        match self.with.take_if(|_| expression.id == self.call) {
            Some(with) => *expression = with,
            None => visit_mut::walk_expression(self, expression),
        }
    }
}

/// Remembers index and value of each write of a measured register.
struct Remember<'t, 'p> {
    translator: &'t mut Translator<'p>,
    /// Inside an action, where the result of an access goes to one place.
    in_action: bool,
}

impl Remember<'_, '_> {
    /// A statement, with those that remember what it writes.
    fn remembered(&mut self, mut statement: Statement) -> Vec<Statement> {
        let mut calls =
            Calls { translator: self.translator, found: Vec::new(), is_conditional: false };
        own_expressions(&statement).into_iter().for_each(|own| calls.expression(own));
        let mut found = calls.found;
        let (Some(first), true) = (found.pop(), found.is_empty()) else {
            for other in &found {
                self.refuse(
                    other.span,
                    "two accesses of measured registers stand in one statement",
                );
            }
            return self.remembered_write(statement);
        };
        let Found { cells, action, index, span, call, is_conditional } = first;
        let is_bare = matches!(&statement.kind, StatementKind::Call(own) if own.id == call);
        if is_conditional || (self.in_action && !is_bare) {
            self.refuse(
                span,
                match is_conditional {
                    true => {
                        "an access of a measured register stands under a condition in an expression"
                    }
                    false => "an action uses the result of an access of a measured register",
                },
            );
            return vec![statement];
        }
        let Cells { stem, index_bits, width_bits, index: index_type, cell, .. } = &cells;
        let text = format!(
            "{STATE}.{stem}_index = (bit<{index_bits}>)(${{index}}); \
             {STATE}.{stem}_value = (bit<{width_bits}>){action}.execute(({index_type}){STATE}.{stem}_index); \
             {}{STATE}.{stem}_written = 1;",
            cells.placed()
        );
        let mut made = self.translator.statements(span, &text, vec![("index", index.into())]);
        if !is_bare {
            let value = format!("({cell}){STATE}.{stem}_value");
            let with = self.translator.expression(span, &value, Vec::new());
            Replace { call, with }.statement(&mut statement);
            made.push(statement);
        }
        made
    }

    /// `register.write(index, value);`
    fn remembered_write(&mut self, statement: Statement) -> Vec<Statement> {
        let typed = self.translator.program.typed.clone();
        let model = |node: NodeId| self.translator.model(node);
        let Some((register, call)) = written_register(&typed, model, &statement) else {
            return vec![statement];
        };
        let mut all = self.translator.cells.iter();
        let Some(cells) = all.find(|cells| cells.register == register).cloned() else {
            return vec![statement];
        };
        let [index, value] = call.arguments.as_slice() else { return vec![statement] };
        let Cells { stem, name, index_bits, width_bits, index: index_type, cell, .. } = &cells;
        let text = format!(
            "{STATE}.{stem}_index = (bit<{index_bits}>)(${{index}}); \
             {STATE}.{stem}_value = (bit<{width_bits}>)(${{value}}); \
             {name}.write(({index_type}){STATE}.{stem}_index, ({cell}){STATE}.{stem}_value); \
             {}{STATE}.{stem}_written = 1;",
            cells.placed()
        );
        let holes =
            vec![("index", index.value.clone().into()), ("value", value.value.clone().into())];
        self.translator.statements(statement.span, &text, holes)
    }

    fn refuse(&mut self, span: Span, message: &str) {
        self.translator.found.push(
            Diagnostic::error(codes::RESULT_TAKEN, span, message).help(
                "call `execute` in a statement of its own in the control, such as `count = action.execute(index);`",
            ),
        );
    }
}

impl VisitMut for Remember<'_, '_> {
    fn block(&mut self, block: &mut Block) {
        for mut statement in std::mem::take(&mut block.statements) {
            visit_mut::walk_statement(self, &mut statement);
            block.statements.extend(self.remembered(statement));
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        visit_mut::walk_statement(self, statement);
        let span = statement.span;
        let mut made = self.remembered(statement.clone());
        let one = match made.len() {
            1 => made.pop(),
            _ => self.translator.statement(span, "{ ${all} }", vec![("all", made.into())]),
        };
        if let Some(one) = one {
            *statement = one;
        }
    }
}
