// SPDX-License-Identifier: Apache-2.0
//! Statements (P4_16 v1.2.5 §12.1 to §12.6) but for loops and switches, which have files of their own.

use super::{Binding, Lowered, Lowering};
use crate::Terminator;
use p4::ast::{
    BinaryOperator, Block, Declaration, DeclarationKind, Expression, Statement, StatementKind,
};

impl<'a> Lowering<'a> {
    /// The statements of a block in order.
    pub(crate) fn block(&mut self, block: &'a Block) -> Lowered<()> {
        self.atomically(&block.annotations, |this| this.statements(&block.statements))
    }

    /// Statements in order. After one that fails the others are lowered, too.
    pub(crate) fn statements(&mut self, statements: &'a [Statement]) -> Lowered<()> {
        let mut outcome = Ok(());
        for statement in statements {
            self.check_growth()?;
            if let Err(reported) = self.statement(statement) {
                outcome = Err(reported);
                if self.exhausted {
                    break;
                }
            }
        }
        outcome
    }

    /// One statement.
    pub(crate) fn statement(&mut self, statement: &'a Statement) -> Lowered<()> {
        self.at(statement.id, statement.span);
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.assign(target, *operator, value)
            }
            StatementKind::Call(expression) => self.evaluate(expression).map(|_| ()),
            StatementKind::If { condition, then, otherwise } => {
                self.conditional_statement(condition, then, otherwise.as_deref())
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Empty => Ok(()),
            StatementKind::Extension(_) => {
                Err(self.not_expressible("this form of a dialect is not P4_16"))
            }
            StatementKind::Exit => self.exit(),
            StatementKind::Return(value) => self.return_statement(value.as_ref()),
            StatementKind::Break => match self.flow.break_to {
                Some(target) => {
                    self.terminate(Terminator::Goto(target));
                    Ok(())
                }
                None => Err(self.missing_fact("the loop of a break")),
            },
            StatementKind::Continue => match self.flow.continue_to {
                Some(target) => {
                    self.terminate(Terminator::Goto(target));
                    Ok(())
                }
                None => Err(self.missing_fact("the loop of a continue")),
            },
            StatementKind::Switch { subject, cases } => self.switch(subject, cases),
            StatementKind::For { init, condition, update, body, .. } => {
                self.for_loop(init, condition, update, body)
            }
            StatementKind::ForIn { variable, collection, body, .. } => {
                self.for_in_loop(variable, collection, body)
            }
            StatementKind::Declaration(declaration) => self.local_declaration(declaration),
        }
    }

    /// A variable, constant or instance declared among statements or as a local of a block.
    pub(crate) fn local_declaration(&mut self, declaration: &'a Declaration) -> Lowered<()> {
        match &declaration.kind {
            DeclarationKind::Variable { initializer, .. } => {
                self.at(declaration.id, declaration.span);
                let ty = self.declared_type(declaration.id)?;
                let value = match initializer {
                    Some(initializer) => {
                        let value = self.evaluate(initializer)?;
                        let from = self.result_type(initializer)?;
                        Some(self.cast(value, Some(&from), &ty)?)
                    }
                    None => None,
                };
                let location = self.variable(declaration.id, &ty, &declaration.name.text)?;
                match value {
                    Some(value) => self.store(&location, &value)?,
                    None if self.repeating => self.clear(&location),
                    None => {}
                }
                self.bindings.insert(declaration.id, Binding::Location(location));
                Ok(())
            }
            DeclarationKind::Instance { .. } => {
                let binding = self.instance_named(declaration)?;
                self.bindings.insert(declaration.id, binding);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `target = value` and `target op= value`: the l-value first, then the value (§12.1).
    fn assign(
        &mut self,
        target: &'a Expression,
        operator: Option<BinaryOperator>,
        value: &'a Expression,
    ) -> Lowered<()> {
        let location = self.target(target)?;
        let ty = self.type_of(target)?;
        let value = match operator {
            None => {
                let result = self.evaluate(value)?;
                let from = self.result_type(value)?;
                self.cast(result, Some(&from), &ty)?
            }
            Some(operator) => {
                let old = self.load(&location);
                let result = self.evaluate(value)?;
                let right_type = self.result_type(value)?;
                self.arithmetic(operator, (old, &ty), (result, &right_type))?
            }
        };
        self.store(&location, &value)
    }

    fn conditional_statement(
        &mut self,
        condition: &'a Expression,
        then: &'a Statement,
        otherwise: Option<&'a Statement>,
    ) -> Lowered<()> {
        let condition = self.operand(condition)?;
        if let Some(known) = super::constant(&condition) {
            return match (known.is_true(), otherwise) {
                (true, _) => self.statement(then),
                (false, Some(otherwise)) => self.statement(otherwise),
                (false, None) => Ok(()),
            };
        }
        let (first, second) = self.branch(condition);
        let end = match otherwise {
            Some(_) => self.new_block(""),
            None => second,
        };
        self.start_block(first);
        let mut outcome = self.statement(then);
        self.terminate(Terminator::Goto(end));
        if let Some(otherwise) = otherwise {
            self.start_block(second);
            outcome = outcome.and(self.statement(otherwise));
            self.terminate(Terminator::Goto(end));
        }
        self.start_block(end);
        outcome
    }

    fn return_statement(&mut self, value: Option<&'a Expression>) -> Lowered<()> {
        let Some((target, location)) = self.flow.result.clone() else {
            return Err(self.missing_fact("what a return ends"));
        };
        if let Some(value) = value {
            let result = self.evaluate(value)?;
            if let Some(location) = location {
                self.store(&location, &result)?;
            }
        }
        self.terminate(Terminator::Goto(target));
        Ok(())
    }

    /// `exit` (§12.5): arguments of the calls around are still copied out.
    pub(crate) fn exit(&mut self) -> Lowered<()> {
        for copy in self.copy_outs.clone().into_iter().rev() {
            let value = self.load(&copy.from);
            self.store(&copy.to, &value)?;
        }
        if self.soft_exit {
            let flag = self.exit_flag_slot();
            self.region_soft_exits = true;
            self.store_slot(flag, super::bit(true));
            self.terminate(Terminator::Return);
            return Ok(());
        }
        self.terminate(Terminator::Exit);
        Ok(())
    }

    /// The slot by which an action says that it exits.
    pub(crate) fn exit_flag_slot(&mut self) -> crate::SlotId {
        if let Some(slot) = self.exit_flag {
            return slot;
        }
        let slot = self.add_slot("$exit", crate::ValueType::Bits(1), crate::Display::Bool);
        self.exit_flag = Some(slot);
        slot
    }
}
