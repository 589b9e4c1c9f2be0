// SPDX-License-Identifier: Apache-2.0
//! Loops (P4_16 v1.2.5 §12.8). A loop whose rounds are known when the program is compiled is unrolled,
//! up to a limit; others become back edges, which count against the step limit.

use super::{Binding, Location, Lowered, Lowering, UNROLL_LIMIT, Value, codes};
use crate::{BinaryOperation, Bits, BlockId, Operand, Terminator};
use p4::ast::{
    BinaryOperator, DeclarationKind, Expression, ExpressionKind, NodeId, Statement, StatementKind,
    Variable,
};
use p4::typed::{Callee, Definition, Type};
use p4::visit::{Visit, walk_expression, walk_statement};

impl<'a> Lowering<'a> {
    pub(super) fn for_loop(
        &mut self,
        init: &'a [Statement],
        condition: &'a Expression,
        update: &'a [Statement],
        body: &'a Statement,
    ) -> Lowered<()> {
        let (flow, repeating) = (self.flow.clone(), self.repeating);
        self.repeating = true;
        let outcome = match self.known_rounds(init, condition, update, body)? {
            Some((variable, rounds)) => self.unrolled(variable, rounds, body),
            None => self.general_loop(init, condition, update, body),
        };
        self.flow = flow;
        self.repeating = repeating;
        outcome
    }

    /// The loop variable and its value in every round, when all of them are known.
    fn known_rounds(
        &mut self,
        init: &'a [Statement],
        condition: &'a Expression,
        update: &'a [Statement],
        body: &'a Statement,
    ) -> Lowered<Option<(NodeId, Vec<Value>)>> {
        let [Statement { kind: StatementKind::Declaration(declaration), .. }] = init else {
            return Ok(None);
        };
        let DeclarationKind::Variable { initializer: Some(initializer), .. } = &declaration.kind
        else {
            return Ok(None);
        };
        let [Statement { kind: StatementKind::Assign { target, operator, value }, .. }] = update
        else {
            return Ok(None);
        };
        let variable = declaration.id;
        let names_variable = |expression: &Expression| {
            matches!(expression.kind, ExpressionKind::Path(_))
                && self.typed.definitions.get(&expression.id) == Some(&Definition::Node(variable))
        };
        if !names_variable(target)
            || !self.is_static(condition, variable)
            || !self.is_static(value, variable)
            || !self.is_static(initializer, variable)
            || self.may_write(body, variable)
        {
            return Ok(None);
        }
        let ty = self.declared_type(variable)?;
        let first = self.evaluate(initializer)?;
        let mut current = self.cast(first, None, &ty)?;
        let mut rounds = Vec::new();
        loop {
            if !matches!(current, Value::Scalar(Operand::Constant(_)) | Value::Integer(_)) {
                return Ok(None);
            }
            self.bindings.insert(variable, Binding::Value(current.clone()));
            match self.evaluate(condition)? {
                Value::Scalar(Operand::Constant(bits)) if bits.is_zero() => break,
                Value::Scalar(Operand::Constant(_)) => {}
                _ => return Ok(None),
            }
            if rounds.len() as u32 >= UNROLL_LIMIT {
                return Ok(None);
            }
            rounds.push(current.clone());
            let step = self.evaluate(value)?;
            let step_type = self.result_type(value)?;
            current = match operator {
                None => self.cast(step, Some(&step_type), &ty)?,
                Some(operator) => self.arithmetic(*operator, (current, &ty), (step, &step_type))?,
            };
        }
        Ok(Some((variable, rounds)))
    }

    /// Whether an expression consists of constants and one variable only.
    fn is_static(&self, expression: &'a Expression, variable: NodeId) -> bool {
        if self.typed.constants.contains_key(&expression.id) {
            return true;
        }
        match &expression.kind {
            ExpressionKind::Integer { .. } | ExpressionKind::Bool(_) => true,
            ExpressionKind::Path(_) => match self.typed.definitions.get(&expression.id) {
                Some(Definition::Node(id)) if *id == variable => true,
                _ => matches!(
                    self.binding(expression),
                    Some(Binding::Value(Value::Integer(_) | Value::Scalar(Operand::Constant(_))))
                ),
            },
            ExpressionKind::Unary(_, inner) | ExpressionKind::Cast(_, inner) => {
                self.is_static(inner, variable)
            }
            ExpressionKind::Binary(operator, left, right) => {
                // A division might be by zero in a round that never comes.
                !matches!(operator, BinaryOperator::Divide | BinaryOperator::Modulo)
                    && self.is_static(left, variable)
                    && self.is_static(right, variable)
            }
            _ => false,
        }
    }

    /// Whether a statement might write the variable.
    fn may_write(&self, statement: &'a Statement, variable: NodeId) -> bool {
        let mut writes = Writes { lowering: self, variable, found: false };
        writes.statement(statement);
        writes.found
    }

    /// The variable at the root of an l-value.
    fn root_of(&self, expression: &Expression) -> Option<NodeId> {
        match &expression.kind {
            ExpressionKind::Path(_) => match self.typed.definitions.get(&expression.id) {
                Some(Definition::Node(id)) => Some(*id),
                _ => None,
            },
            ExpressionKind::Member(base, _)
            | ExpressionKind::Index(base, _)
            | ExpressionKind::Slice { base, .. }
            | ExpressionKind::PlusSlice { base, .. } => self.root_of(base),
            _ => None,
        }
    }

    fn unrolled(
        &mut self,
        variable: NodeId,
        rounds: Vec<Value>,
        body: &'a Statement,
    ) -> Lowered<()> {
        let end = self.new_block("");
        for value in rounds {
            self.check_growth()?;
            self.bindings.insert(variable, Binding::Value(value));
            self.round(body, end)?;
        }
        self.goto_and_start(end);
        Ok(())
    }

    /// One round of an unrolled loop.
    fn round(&mut self, body: &'a Statement, end: BlockId) -> Lowered<()> {
        let next = self.new_block("");
        self.flow.break_to = Some(end);
        self.flow.continue_to = Some(next);
        self.statement(body)?;
        self.goto_and_start(next);
        Ok(())
    }

    fn general_loop(
        &mut self,
        init: &'a [Statement],
        condition: &'a Expression,
        update: &'a [Statement],
        body: &'a Statement,
    ) -> Lowered<()> {
        self.statements(init)?;
        let head = self.new_block("");
        let next = self.new_block("");
        let end = self.new_block("");
        self.goto_and_start(head);
        let condition = self.operand(condition)?;
        let (then, otherwise) = self.branch(condition);
        self.start_block(otherwise);
        self.terminate(Terminator::Goto(end));
        self.start_block(then);
        self.flow.break_to = Some(end);
        self.flow.continue_to = Some(next);
        self.statement(body)?;
        self.goto_and_start(next);
        self.statements(update)?;
        self.terminate(Terminator::Goto(head));
        self.start_block(end);
        Ok(())
    }

    pub(super) fn for_in_loop(
        &mut self,
        variable: &'a Variable,
        collection: &'a Expression,
        body: &'a Statement,
    ) -> Lowered<()> {
        let (flow, repeating) = (self.flow.clone(), self.repeating);
        self.repeating = true;
        let ty = self.declared_type(variable.id)?;
        let outcome = match &collection.kind {
            ExpressionKind::Range(low, high) => self.for_range(variable, &ty, (low, high), body),
            _ => self.for_elements(variable, &ty, collection, body),
        };
        self.flow = flow;
        self.repeating = repeating;
        outcome
    }

    fn for_range(
        &mut self,
        variable: &'a Variable,
        ty: &Type,
        (low, high): (&'a Expression, &'a Expression),
        body: &'a Statement,
    ) -> Lowered<()> {
        let low_value = self.evaluate(low)?;
        let low_value = self.cast(low_value, None, ty)?;
        let high_value = self.evaluate(high)?;
        let high_value = self.cast(high_value, None, ty)?;
        let (Value::Scalar(first), Value::Scalar(last)) = (low_value, high_value) else {
            return Err(self.error_at(
                low.span.to(high.span),
                codes::NOT_EXPRESSIBLE,
                "the bounds of this range have no width",
            ));
        };
        let signed = self.is_signed(ty);
        let writes = self.may_write(body, variable.id);
        if let (Some(from), Some(to), false) =
            (super::constant(&first), super::constant(&last), writes)
        {
            let number = |bits: &Bits| {
                if signed { bits.to_signed_bigint() } else { bits.to_biguint().into() }
            };
            let (from_number, to_number) = (number(from), number(to));
            if &to_number - &from_number < UNROLL_LIMIT.into() {
                let width = from.width_bits();
                let mut rounds = Vec::new();
                let mut value = from_number;
                while value <= to_number {
                    let bits = Bits::from_bigint(width, &value);
                    rounds.push(Value::Scalar(Operand::Constant(bits)));
                    value += 1;
                }
                return self.unrolled(variable.id, rounds, body);
            }
        }
        // The counter stops before it is advanced past the last value, so it cannot wrap.
        let location = self.variable(variable.id, ty, &variable.name.text)?;
        self.bindings.insert(variable.id, Binding::Location(location.clone()));
        let name = self.local_name("$round");
        let shape = self.shape(ty)?;
        let counter = self.allocate(&shape, &name)?;
        let (less_equal, width) = match signed {
            true => (BinaryOperation::LessEqualSigned, self.width(&first)),
            false => (BinaryOperation::LessEqualUnsigned, self.width(&first)),
        };
        let end = self.new_block("");
        let head = self.new_block("");
        let next = self.new_block("");
        self.store(&counter, &Value::Scalar(first.clone()))?;
        let any = self.binary(less_equal, first, last.clone());
        self.terminate(Terminator::Branch { condition: any, then: head, otherwise: end });
        self.start_block(head);
        let round = self.load(&counter);
        self.store(&location, &round)?;
        self.flow.break_to = Some(end);
        self.flow.continue_to = Some(next);
        self.statement(body)?;
        self.goto_and_start(next);
        let Value::Scalar(current) = self.load(&counter) else {
            return Err(self.missing_fact("the type of a loop variable"));
        };
        let done = self.binary(BinaryOperation::Equal, current.clone(), last);
        let (finished, more) = self.branch(done);
        self.start_block(finished);
        self.terminate(Terminator::Goto(end));
        self.start_block(more);
        let one = Operand::Constant(Bits::from_u64(width, 1));
        let increased = self.binary(BinaryOperation::Add, current, one);
        self.store(&counter, &Value::Scalar(increased))?;
        self.terminate(Terminator::Goto(head));
        self.start_block(end);
        Ok(())
    }

    fn for_elements(
        &mut self,
        variable: &'a Variable,
        ty: &Type,
        collection: &'a Expression,
        body: &'a Statement,
    ) -> Lowered<()> {
        let values = match self.locate(collection)? {
            Some(Location::Stack(stack, element)) => {
                // The collection is evaluated once, before the first round.
                let locations = self.elements(stack, &element);
                locations.iter().map(|location| self.load(location)).collect()
            }
            _ => match self.evaluate(collection)? {
                Value::Struct(items) => items.into_iter().map(|(_, item)| item).collect(),
                Value::Stack { elements, .. } => elements,
                _ => Vec::new(),
            },
        };
        let end = self.new_block("");
        let location = self.variable(variable.id, ty, &variable.name.text)?;
        for value in values {
            self.check_growth()?;
            let value = self.cast(value, None, ty)?;
            self.store(&location, &value)?;
            self.bindings.insert(variable.id, Binding::Location(location.clone()));
            self.round(body, end)?;
        }
        self.goto_and_start(end);
        Ok(())
    }
}

/// Finds out whether something might write a variable: an assignment to it, or a call that is passed it.
struct Writes<'l, 'a> {
    lowering: &'l Lowering<'a>,
    variable: NodeId,
    found: bool,
}

impl Writes<'_, '_> {
    fn is_written(&self, target: &Expression) -> bool {
        self.lowering.root_of(target) == Some(self.variable)
    }
}

impl<'a> Visit<'a> for Writes<'_, 'a> {
    fn statement(&mut self, statement: &'a Statement) {
        if let StatementKind::Assign { target, .. } = &statement.kind {
            self.found |= self.is_written(target);
        }
        if !self.found {
            walk_statement(self, statement);
        }
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Call(call) = &expression.kind {
            let info = self.lowering.typed.calls.get(&expression.id);
            if matches!(info.map(|info| info.callee), Some(Callee::IsValid | Callee::SizeOf)) {
                return;
            }
            self.found |= call.arguments.iter().any(|argument| self.is_written(&argument.value));
        }
        if !self.found {
            walk_expression(self, expression);
        }
    }
}
