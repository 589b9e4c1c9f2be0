// SPDX-License-Identifier: Apache-2.0
//! `switch` statements (P4_16 v1.2.5 §12.7.1, §12.7.2), on the action that ran and on values.

use super::{Lowered, Lowering, Value, codes};
use crate::{Bits, BlockId, Operand, Terminator};
use p4::ast::{Expression, ExpressionKind, NodeId, SwitchCase};
use p4::typed::{Definition, Type, TypeKind};

impl<'a> Lowering<'a> {
    pub(super) fn switch(
        &mut self,
        subject: &'a Expression,
        cases: &'a [SwitchCase],
    ) -> Lowered<()> {
        let ty = self.result_type(subject)?;
        let value = self.operand(subject)?;
        let action_table = match &*ty {
            TypeKind::ActionRun(table) => Some(*table),
            _ => None,
        };
        let end = self.new_block("");
        let bodies: Vec<Option<BlockId>> =
            cases.iter().map(|case| case.body.as_ref().map(|_| self.new_block(""))).collect();
        let mut targets: Vec<(Bits, BlockId)> = Vec::new();
        let mut default = end;
        for (index, case) in cases.iter().enumerate() {
            let target = bodies[index..].iter().flatten().next().copied().unwrap_or(end);
            if matches!(case.label.kind, ExpressionKind::Default) {
                default = target;
                continue;
            }
            for label in self.labels(&case.label, action_table, &ty, &value)? {
                if targets.iter().all(|(known, _)| *known != label) {
                    targets.push((label, target));
                }
            }
        }
        self.terminate(Terminator::Switch { value, cases: targets, default });
        let mut outcome = Ok(());
        for (case, body) in cases.iter().zip(bodies) {
            let (Some(block), Some(start)) = (&case.body, body) else { continue };
            self.start_block(start);
            outcome = outcome.and(self.block(block));
            self.terminate(Terminator::Goto(end));
        }
        self.start_block(end);
        outcome
    }

    fn labels(
        &mut self,
        label: &'a Expression,
        table: Option<NodeId>,
        ty: &Type,
        subject: &Operand,
    ) -> Lowered<Vec<Bits>> {
        if let Some(table) = table {
            let Some(Definition::Node(action)) = self.typed.definitions.get(&label.id).copied()
            else {
                self.span = label.span;
                return Err(self.missing_fact("the action of a label"));
            };
            let table = self.table(table)?;
            return Ok(self.table_action_nodes[table.index()]
                .iter()
                .enumerate()
                .filter(|(_, node)| **node == action)
                .map(|(index, _)| Bits::from_u64(32, index as u64))
                .collect());
        }
        let value = self.evaluate(label)?;
        match self.cast(value, None, ty)? {
            Value::Scalar(Operand::Constant(bits)) => Ok(vec![bits]),
            Value::Integer(integer) => Ok(vec![Bits::from_bigint(self.width(subject), &integer)]),
            _ => Err(self.error_at(
                label.span,
                codes::NOT_CONSTANT,
                "the label of a switch must be known at compile time",
            )),
        }
    }
}
