// SPDX-License-Identifier: Apache-2.0
//! [`Accesses`]: where the source reads and writes fields of structs and headers. Instructions have the place of
//! their statement; a message names the field in it.

use super::{contains, last_part};
use p4::ast::{Expression, ExpressionKind, NodeId, Statement, StatementKind};
use p4::typed::{TypeKind, TypedProgram};
use p4::visit::{Visit, walk_expression, walk_program, walk_statement};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A field where it is read or written.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) span: Span,
    /// The struct or header as written.
    pub(super) base: String,
    /// The declaration of its type.
    base_type: NodeId,
    pub(super) is_read: bool,
    pub(super) is_written: bool,
}

/// All fields in expressions, by their names.
pub(super) struct Accesses<'p> {
    typed: &'p TypedProgram,
    by_field: BTreeMap<&'p str, Vec<Access>>,
    names: BTreeMap<NodeId, &'p str>,
    targets: BTreeSet<NodeId>,
    compound: BTreeSet<NodeId>,
}

impl<'p> Accesses<'p> {
    pub(super) fn of(typed: &'p TypedProgram) -> Accesses<'p> {
        let mut accesses = Accesses {
            typed,
            by_field: BTreeMap::new(),
            names: BTreeMap::new(),
            targets: BTreeSet::new(),
            compound: BTreeSet::new(),
        };
        for declaration in &typed.program.declarations {
            accesses.names.insert(declaration.id, &declaration.name.text);
        }
        walk_program(&mut accesses, &typed.program);
        accesses
    }

    /// The access of a field of a type within a place. The name of the variable decides between several;
    /// if it cannot, there is none.
    pub(super) fn within(
        &self,
        place: Span,
        (variable, type_name, field): (&str, Option<&str>, &str),
        is_wanted: impl Fn(&Access) -> bool,
    ) -> Option<&Access> {
        let is_type = |access: &&Access| {
            type_name.is_none_or(|name| self.names.get(&access.base_type) == Some(&name))
        };
        let all = self.by_field.get(field)?.iter();
        let found: Vec<&Access> = all
            .filter(|access| contains(place, access.span) && is_wanted(access))
            .filter(is_type)
            .collect();
        let first = found.first()?;
        if found.iter().all(|access| access.base == first.base) {
            return Some(first);
        }
        found.into_iter().find(|access| last_part(&access.base) == last_part(variable))
    }
}

/// The expression whose bits a slice of an l-value are.
fn whole(target: &Expression) -> &Expression {
    match &target.kind {
        ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => whole(base),
        _ => target,
    }
}

impl<'p> Visit<'p> for Accesses<'p> {
    fn statement(&mut self, statement: &'p Statement) {
        if let StatementKind::Assign { target, operator, .. } = &statement.kind {
            self.targets.insert(whole(target).id);
            if operator.is_some() || whole(target).id != target.id {
                self.compound.insert(whole(target).id);
            }
        }
        walk_statement(self, statement);
    }

    fn expression(&mut self, expression: &'p Expression) {
        if let ExpressionKind::Member(base, field) = &expression.kind
            && let Some(ty) = self.typed.expression_types.get(&base.id)
            && let TypeKind::Header(base_type, _) | TypeKind::Struct(base_type, _) = &**ty
        {
            let is_written = self.targets.contains(&expression.id);
            self.by_field.entry(&field.text).or_default().push(Access {
                span: expression.span,
                base: p4::printer::print_expression(base),
                base_type: *base_type,
                is_read: !is_written || self.compound.contains(&expression.id),
                is_written,
            });
        }
        walk_expression(self, expression);
    }
}
