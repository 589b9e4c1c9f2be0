// SPDX-License-Identifier: Apache-2.0
//! L-values: from expressions to locations (P4_16 v1.2.5 §6.7), with stack elements, unions and
//! slices. Index expressions are evaluated once, here.

use super::{Binding, Location, Lowered, Lowering, Value, number};
use crate::{BinaryOperation, HeaderRef, Operand, RegionKind, StackId, Terminator};
use p4::ast::{Expression, ExpressionKind};
use p4::typed::{Definition, TypeKind};

impl<'a> Lowering<'a> {
    /// The location that an expression denotes, if it denotes one. Emits code only for indices and
    /// for the checks of `next` and `last`.
    pub(crate) fn locate(&mut self, expression: &'a Expression) -> Lowered<Option<Location>> {
        match &expression.kind {
            ExpressionKind::Path(_) => Ok(match self.binding(expression) {
                Some(Binding::Location(location)) => Some(location.clone()),
                _ => None,
            }),
            ExpressionKind::Member(base, name) => {
                if !self.may_be_located(base) {
                    return Ok(None);
                }
                let Some(location) = self.locate(base)? else { return Ok(None) };
                if let Location::Stack(stack, element) = &location {
                    let index = match &*name.text {
                        "next" => self.next_index(*stack, true)?,
                        "last" => self.last_index(*stack)?,
                        _ => return Ok(None),
                    };
                    return Ok(Some(self.element_location(*stack, element, &index)));
                }
                Ok(self.member_location(&location, &name.text))
            }
            ExpressionKind::Index(base, index) => {
                if !self.may_be_located(base) {
                    return Ok(None);
                }
                let Some(location) = self.locate(base)? else { return Ok(None) };
                match location {
                    Location::Stack(stack, element) => {
                        let index = self.index_operand(index)?;
                        Ok(Some(self.element_location(stack, &element, &index)))
                    }
                    array @ (Location::Struct(_) | Location::Choice { .. }) => {
                        let index = self.index_operand(index)?;
                        Ok(self.array_element(&array, &index))
                    }
                    _ => Ok(None),
                }
            }
            ExpressionKind::Slice { base, high, low } => {
                let Some(location) = self.locate(base)? else { return Ok(None) };
                let high = self.known_u64(high)?;
                let low = self.known_u64(low)?;
                let width = high.saturating_sub(low).saturating_add(1).min(1 << 20) as u32;
                let base = Box::new(location);
                Ok(Some(Location::Slice { base, low: number(32, low), width }))
            }
            ExpressionKind::PlusSlice { base, low, width } => {
                let Some(location) = self.locate(base)? else { return Ok(None) };
                let low = self.index_operand(low)?;
                let width = self.known_u64(width)?.min(1 << 20) as u32;
                Ok(Some(Location::Slice { base: Box::new(location), low, width }))
            }
            _ => Ok(None),
        }
    }

    /// Whether the expression is built of names, members and indices only.
    fn may_be_located(&self, expression: &'a Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Path(_) => {
                matches!(self.binding(expression), Some(Binding::Location(_)))
            }
            ExpressionKind::Member(base, _) | ExpressionKind::Index(base, _) => {
                self.may_be_located(base)
            }
            _ => false,
        }
    }

    /// What a path expression is bound to.
    pub(crate) fn binding(&self, expression: &'a Expression) -> Option<&Binding> {
        match self.typed.definitions.get(&expression.id) {
            Some(Definition::Node(id)) => {
                self.bindings.get(id).or_else(|| self.top_instances.get(id))
            }
            _ => None,
        }
    }

    /// An l-value, for writing.
    pub(crate) fn target(&mut self, expression: &'a Expression) -> Lowered<Location> {
        if matches!(expression.kind, ExpressionKind::DontCare) {
            return Ok(Location::Nothing);
        }
        match self.locate(expression)? {
            Some(location) => Ok(location),
            None => Err(self.error_at(
                expression.span,
                super::codes::NOT_EXPRESSIBLE,
                "this cannot be written to",
            )),
        }
    }

    /// An index or amount, as an unsigned operand.
    pub(crate) fn index_operand(&mut self, expression: &'a Expression) -> Lowered<Operand> {
        match self.evaluate(expression)? {
            Value::Scalar(operand) => Ok(operand),
            Value::Integer(value) => {
                let value = u64::try_from(&value).unwrap_or(u64::MAX);
                Ok(number(64, value))
            }
            _ => Err(self.missing_fact("the type of an index")),
        }
    }

    /// `nextIndex`; with `check`, beyond the end the parser rejects (§8.20.1).
    pub(crate) fn next_index(&mut self, stack: StackId, check: bool) -> Lowered<Operand> {
        let layout = &self.program.stacks[stack.index()];
        let (slot, size) = (layout.next, layout.size);
        let next = self.load_slot(slot);
        if check {
            let outside = self.binary(
                BinaryOperation::LessEqualUnsigned,
                number(32, u64::from(size)),
                next.clone(),
            );
            self.raise_if(outside, "StackOutOfBounds");
        }
        Ok(next)
    }

    /// `nextIndex - 1`; at zero the parser rejects (§8.20.1).
    fn last_index(&mut self, stack: StackId) -> Lowered<Operand> {
        let slot = self.program.stacks[stack.index()].next;
        let next = self.load_slot(slot);
        let empty = self.binary(BinaryOperation::Equal, next.clone(), number(32, 0));
        self.raise_if(empty, "StackOutOfBounds");
        Ok(self.binary(BinaryOperation::Subtract, next, number(32, 1)))
    }

    /// In a parser, rejects with an error when the condition holds. Nothing elsewhere.
    pub(crate) fn raise_if(&mut self, condition: Operand, error: &str) {
        if self.builder.kind() != RegionKind::Parser {
            return;
        }
        let (raise, go_on) = self.branch(condition);
        self.start_block(raise);
        let error = self.error_operand(error);
        self.terminate(Terminator::Reject(error));
        self.start_block(go_on);
    }

    /// The header that a location is, with its siblings.
    pub(crate) fn header_of(
        &mut self,
        location: &Location,
    ) -> Lowered<(HeaderRef, Vec<HeaderRef>)> {
        match location {
            Location::Header { header, siblings, .. } => Ok((header.clone(), siblings.to_vec())),
            _ => Err(self.missing_fact("that this is a header")),
        }
    }

    /// Whether the type of an expression is a stack.
    pub(crate) fn is_stack(&self, expression: &'a Expression) -> bool {
        self.typed
            .expression_types
            .get(&expression.id)
            .is_some_and(|ty| matches!(**ty, TypeKind::Stack(..)))
    }
}
