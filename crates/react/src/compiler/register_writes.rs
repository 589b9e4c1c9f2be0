// SPDX-License-Identifier: Apache-2.0
//! Measured registers on v1model (Mantis §5.2, Figure 9): each write goes to the working copy too, with a count of writes of the
//! cell.

use super::architectures::Style;
use super::names::{STATE, working_copy};
use super::plan::MeasuredRegister;
use super::registers::{all_declarations, type_arguments};
use super::translator::Translator;
use super::usage::written_register;
use crate::language::Gress;
use crate::language::arguments::register_shape;
use p4::ast::{ControlDeclaration, Declaration, DeclarationKind, NodeId, Statement};
use p4::visit_mut::{VisitMut, walk_statement};
use source::Span;

impl Translator<'_> {
    /// Mirrors the writes of measured registers in a control, and adds the copies of those that it declares.
    pub(super) fn mirror_registers(
        &mut self,
        control: &mut ControlDeclaration,
    ) -> Vec<(NodeId, MeasuredRegister)> {
        let mut added = Vec::new();
        if self.style == Style::Tna {
            let planned = |local: &Declaration| Some((local.id, self.planned_cells(local.id)?));
            added.extend(control.locals.iter().filter_map(planned));
            self.remember_writes(control);
            return added;
        }
        let mut locals = Vec::with_capacity(control.locals.len());
        for local in std::mem::take(&mut control.locals) {
            let copies = self.register_copies(&local);
            locals.push(local);
            if let Some((node, register, declarations)) = copies {
                locals.extend(self.locals(Span::NONE, &declarations));
                added.push((node, register));
            }
        }
        control.locals = locals;
        for local in &mut control.locals {
            if let DeclarationKind::Action { body, .. } = &mut local.kind {
                let mut mirror = Mirror { translator: self };
                body.statements.iter_mut().for_each(|statement| mirror.statement(statement));
            }
        }
        let mut mirror = Mirror { translator: self };
        control.body.statements.iter_mut().for_each(|statement| mirror.statement(statement));
        added
    }

    /// The copies of a register that is an argument, and their declarations.
    pub(super) fn register_copies(
        &self,
        declaration: &Declaration,
    ) -> Option<(NodeId, MeasuredRegister, String)> {
        if !self.usage.groups.measures(declaration.id) {
            return None;
        }
        if self.style == Style::Tna {
            return Some((declaration.id, self.planned_cells(declaration.id)?, String::new()));
        }
        let (_, size) = register_shape(&self.program.typed, declaration)?;
        let ty = cell_type(declaration)?;
        let name = declaration.name.text.clone();
        let copy_cells = size.max(1).next_power_of_two();
        let (copies, times) = (format!("p4r_{name}_copies"), format!("p4r_{name}_times"));
        let cells = 2 * copy_cells;
        let text = format!("register<{ty}>({cells}) {copies}; register<bit<32>>({cells}) {times};");
        let gress = Gress::Ingress;
        let register = MeasuredRegister {
            register: name.clone(),
            name,
            group: self.usage.groups.of_register(declaration.id),
            gress,
            copies: copies.into(),
            times: Some(times.into()),
            copy_cells,
            size,
        };
        Some((declaration.id, register, text))
    }
}

/// The type of a register's cells as written.
fn cell_type(declaration: &Declaration) -> Option<String> {
    type_arguments(declaration).first().map(p4::printer::print_type_ref)
}

/// Adds writes of the copies behind the writes of measured registers.
struct Mirror<'t, 'p> {
    translator: &'t mut Translator<'p>,
}

impl VisitMut for Mirror<'_, '_> {
    fn statement(&mut self, statement: &mut Statement) {
        let typed = self.translator.program.typed.clone();
        let found = {
            let model = |node: NodeId| self.translator.rewriter.model_of(node);
            written_register(&typed, model, statement).map(|(node, call)| (node, call.clone()))
        };
        let Some((node, call)) = found else {
            walk_statement(self, statement);
            return;
        };
        if !self.translator.usage.groups.measures(node) {
            return;
        }
        let declaration = all_declarations(&typed).find(|one| one.id == node);
        let Some((declaration, ty)) = declaration.and_then(|one| Some((one, cell_type(one)?)))
        else {
            return;
        };
        let Some((_, size)) = register_shape(&typed, declaration) else { return };
        let name = &declaration.name.text;
        let [index, value] = call.arguments.as_slice() else { return };
        let cells = size.max(1).next_power_of_two();
        let bits = cells.trailing_zeros();
        let copy = working_copy(self.translator.usage.groups.of_register(node));
        let index_text = format!(
            "p4r_index < {size} ? (p4r_index | ((bit<32>){STATE}.{copy} << {bits})) : {}",
            2 * cells
        );
        let text = format!(
            "{{ bit<32> p4r_index = ${{index}}; {ty} p4r_value = ${{value}}; bit<32> p4r_time; \
             {name}.write(p4r_index, p4r_value); p4r_index = {index_text}; \
             p4r_{name}_copies.write(p4r_index, p4r_value); p4r_{name}_times.read(p4r_time, p4r_index); \
             p4r_{name}_times.write(p4r_index, p4r_time + 1); }}"
        );
        let holes =
            vec![("index", index.value.clone().into()), ("value", value.value.clone().into())];
        if let Some(made) = self.translator.statement(statement.span, &text, holes) {
            *statement = made;
        }
    }
}
