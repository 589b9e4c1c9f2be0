// SPDX-License-Identifier: Apache-2.0
//! The registers that reactions take, and the register actions of Tofino on them.

use super::groups::Groups;
use super::names::{STATE, working_copy};
use crate::language::arguments::register_shape;
use crate::language::paths::{declaration, scalar};
use p4::ast::{
    Argument, Declaration, DeclarationKind, Direction, Expression, ExpressionKind, NodeId,
    Statement, StatementKind,
};
use p4::typed::{Callee, Definition, TypeKind, TypedProgram};
use p4::visit::{Visit, walk_expression, walk_statement};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A register that is an argument of a reaction.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// Its declaration.
    pub(super) register: NodeId,
    /// The name of its declaration.
    pub(super) name: Arc<str>,
    /// The beginning of the names of what belongs to it, unlike that of all others.
    pub(super) stem: String,
    /// The type of a cell as written, and its width in bits.
    pub(super) cell: String,
    pub(super) width_bits: u32,
    /// The type of an index as written, and its width in bits.
    pub(super) index: String,
    pub(super) index_bits: u32,
    pub(super) size: u64,
    /// Its group of measurements.
    pub(super) group: usize,
}

impl Cells {
    /// The cells of each copy, a power of two.
    pub(super) fn copy_cells(&self) -> u64 {
        self.size.max(1).next_power_of_two()
    }

    /// Bits of an index in a copy.
    pub(super) fn copy_bits(&self) -> u32 {
        self.copy_cells().trailing_zeros()
    }

    /// The statement that computes the place of a cell in the copies from its index, if a copy has several cells.
    pub(super) fn placed(&self) -> String {
        let (bits, stem) = (self.copy_bits(), &self.stem);
        let index = format!("{STATE}.{stem}_index");
        let at = match bits {
            0 => return String::new(),
            bits if bits <= self.index_bits => format!("{index}[{}:0]", bits - 1),
            bits => format!("{}w0 ++ {index}", bits - self.index_bits),
        };
        format!("{STATE}.{stem}_place = {STATE}.{} ++ {at}; ", working_copy(self.group))
    }
}

/// The type arguments of an instance as written.
pub(super) fn type_arguments(instance: &Declaration) -> &[p4::ast::TypeRef] {
    match &instance.kind {
        DeclarationKind::Instance { ty, .. } => match &ty.kind {
            p4::ast::TypeRefKind::Specialized(_, arguments) => arguments,
            _ => &[],
        },
        _ => &[],
    }
}

/// The declarations of the file and of its controls.
pub(super) fn all_declarations(typed: &TypedProgram) -> impl Iterator<Item = &Declaration> {
    typed.program.declarations.iter().flat_map(|declaration| {
        let locals = match &declaration.kind {
            DeclarationKind::Control(control) => control.locals.as_slice(),
            _ => &[],
        };
        std::iter::once(declaration).chain(locals)
    })
}

/// The cells of the registers that are arguments, in their order.
pub(super) fn cells(typed: &TypedProgram, groups: &Groups) -> Vec<Cells> {
    let mut all: Vec<Cells> = Vec::new();
    for register in groups.registers() {
        let Some(found) = all_declarations(typed).find(|one| one.id == register) else { continue };
        let Some((ty, size)) = register_shape(typed, found) else { continue };
        let written = type_arguments(found);
        let Some(cell) = written.first() else { continue };
        let index = match typed.declared_types.get(&found.id).map(|ty| &**ty) {
            Some(TypeKind::Extern(_, arguments)) => arguments.get(1),
            _ => None,
        };
        let index = index.and_then(|index| scalar(typed, index));
        let name = found.name.text.clone();
        let number = all.iter().filter(|one| one.name == name).count();
        all.push(Cells {
            register,
            group: groups.of_register(register),
            stem: match number {
                0 => format!("p4r_{name}"),
                number => format!("p4r_{name}{number}"),
            },
            name,
            cell: p4::printer::print_type_ref(cell),
            width_bits: scalar(typed, &ty).map_or(0, |ty| ty.width_bits),
            index: match (&index, written.get(1)) {
                (Some(_), Some(index)) => p4::printer::print_type_ref(index),
                _ => "bit<32>".to_string(),
            },
            index_bits: index.map_or(32, |index| index.width_bits),
            size,
        });
    }
    all
}

/// A register action that writes its cell.
#[derive(Clone, Debug)]
pub(super) struct RegisterAction {
    /// The declaration of its register.
    pub(super) register: NodeId,
    /// Whether a packet takes its result.
    pub(super) has_result: bool,
}

/// The name of the extern type of an instance.
fn extern_name<'t>(typed: &'t TypedProgram, instance: &Declaration) -> Option<&'t str> {
    match &**typed.declared_types.get(&instance.id)? {
        TypeKind::Extern(node, _) => Some(&declaration(typed, *node)?.name.text),
        _ => None,
    }
}

fn node_of(typed: &TypedProgram, expression: &Expression) -> Option<NodeId> {
    match typed.definitions.get(&expression.id) {
        Some(Definition::Node(node)) => Some(*node),
        _ => None,
    }
}

/// The function of a register action.
pub(super) fn apply_function(instance: &Declaration) -> Option<&Declaration> {
    match &instance.kind {
        DeclarationKind::Instance { body: Some(body), .. } => {
            body.iter().find(|one| &*one.name.text == "apply")
        }
        _ => None,
    }
}

/// The register actions of a program that write cells of their registers.
pub(super) fn register_actions(typed: &TypedProgram) -> BTreeMap<NodeId, RegisterAction> {
    let mut actions = BTreeMap::new();
    for instance in all_declarations(typed) {
        let DeclarationKind::Instance { arguments, .. } = &instance.kind else { continue };
        let is_action =
            extern_name(typed, instance).is_some_and(|name| name.starts_with("RegisterAction"));
        let register = arguments.first().and_then(|register| node_of(typed, &register.value));
        let (true, Some(register)) = (is_action, register) else { continue };
        if apply_function(instance).is_some_and(writes_value) {
            actions.insert(instance.id, RegisterAction { register, has_result: false });
        }
    }
    let mut uses = Results { typed, taken: BTreeSet::new() };
    for declaration in &typed.program.declarations {
        uses.declaration(declaration);
    }
    for (node, action) in &mut actions {
        action.has_result = uses.taken.contains(node);
    }
    actions
}

/// Whether the function of a register action writes its first parameter.
fn writes_value(function: &Declaration) -> bool {
    let DeclarationKind::Function { signature, body } = &function.kind else { return false };
    let Some(value) = signature.parameters.first() else { return false };
    if value.direction != Direction::InOut {
        return false;
    }
    struct Writes<'n>(&'n str, bool);
    impl Writes<'_> {
        fn is_value(&self, target: &Expression) -> bool {
            match &target.kind {
                ExpressionKind::Path(path) => *path.name.text == *self.0,
                ExpressionKind::Member(base, _)
                | ExpressionKind::Slice { base, .. }
                | ExpressionKind::PlusSlice { base, .. } => self.is_value(base),
                _ => false,
            }
        }
    }
    impl<'a> Visit<'a> for Writes<'_> {
        fn statement(&mut self, statement: &'a Statement) {
            match &statement.kind {
                StatementKind::Assign { target, .. } => self.1 |= self.is_value(target),
                StatementKind::Call(call) => {
                    if let ExpressionKind::Call(call) = &call.kind {
                        let mut arguments = call.arguments.iter();
                        self.1 |= arguments.any(|argument| self.is_value(&argument.value));
                    }
                }
                _ => {}
            }
            walk_statement(self, statement);
        }
    }
    let mut writes = Writes(&value.name.text, false);
    writes.block(body);
    writes.1
}

/// Finds instances whose method `execute` is called inside an expression.
struct Results<'t> {
    typed: &'t TypedProgram,
    taken: BTreeSet<NodeId>,
}

impl<'a> Visit<'a> for Results<'_> {
    fn statement(&mut self, statement: &'a Statement) {
        if let StatementKind::Call(call) = &statement.kind
            && let Some((_, arguments)) = executed(self.typed, |node| node, call)
        {
            for argument in arguments {
                self.argument(argument);
            }
            return;
        }
        walk_statement(self, statement);
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let Some((node, _)) = executed(self.typed, |node| node, expression) {
            self.taken.insert(node);
        }
        walk_expression(self, expression);
    }
}

/// The object whose method `execute` an expression calls, and the arguments.
pub(super) fn executed<'e>(
    typed: &TypedProgram,
    model_of: impl Fn(NodeId) -> NodeId,
    expression: &'e Expression,
) -> Option<(NodeId, &'e [Argument])> {
    let ExpressionKind::Call(call) = &expression.kind else { return None };
    let ExpressionKind::Member(base, method) = &call.callee.kind else { return None };
    if &*method.text != "execute" {
        return None;
    }
    let info = typed.calls.get(&model_of(expression.id))?;
    if !matches!(info.callee, Callee::ExternMethod(_)) {
        return None;
    }
    match typed.definitions.get(&model_of(base.id)) {
        Some(Definition::Node(node)) => Some((*node, &call.arguments)),
        _ => None,
    }
}

/// The expressions of a statement that are not inside of other statements.
pub(super) fn own_expressions(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Assign { target, value, .. } => vec![target, value],
        StatementKind::Call(call) => vec![call],
        StatementKind::If { condition, .. } => vec![condition],
        StatementKind::Switch { subject, .. } => vec![subject],
        StatementKind::Declaration(declaration) => match &declaration.kind {
            DeclarationKind::Variable { initializer: Some(value), .. } => vec![value],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
