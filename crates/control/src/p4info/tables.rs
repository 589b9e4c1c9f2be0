// SPDX-License-Identifier: Apache-2.0
//! Reads tables with their match fields, and actions.

use super::annotations::Annotations;
use super::build::{Builder, Ids, Object};
use super::types::TypeSpec;
use super::{ActionInfo, ActionReference, ActionScope, MatchField, Parameter, TableInfo};
use crate::p4info_ids as ids;
use ir::lowering::control_plane_name;
use ir::{ActionId, Bits, MatchKind, TableId};
use p4::ast::{
    ActionRef, Declaration, DeclarationKind, KeyElement, TableDeclaration, TablePropertyKind,
};
use p4::typed::TypeKind;
use std::collections::BTreeSet;

/// Number of entries of a table that declares none.
const DEFAULT_TABLE_SIZE: u64 = 1024;

impl<'a> Builder<'a> {
    pub(super) fn actions(
        &mut self,
        actions: &[Object<'a>],
        action_ids: &[u32],
    ) -> Vec<ActionInfo> {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let mut infos = Vec::new();
        for (at, action) in self.program.actions.iter().enumerate() {
            let id = action_ids[at];
            if actions[at].is_hidden() || !seen.insert(id) {
                continue;
            }
            let declared = match actions[at].declaration.map(|declaration| &declaration.kind) {
                Some(DeclarationKind::Action { parameters, .. }) => parameters.as_slice(),
                _ => &[],
            };
            let written: Vec<Option<&p4::ast::Parameter>> = action
                .parameters
                .iter()
                .map(|each| declared.iter().find(|parameter| parameter.name.text == each.name))
                .collect();
            let parameter_ids = ids::parameters(action);
            let mut parameters = Vec::new();
            for ((parameter, written), id) in
                action.parameters.iter().zip(&written).zip(parameter_ids)
            {
                let width_bits = self.program.slots[parameter.slot.index()].ty.width_bits();
                let list = written.map_or(&[][..], |written| &written.annotations);
                let ty = written.and_then(|written| self.typed.declared_types.get(&written.id));
                let name = control_plane_name("", list, &parameter.name);
                let annotations = self.annotations(list, &[]);
                let controller_width_bits = ty.map(|ty| self.types.controller_width_bits(ty));
                let (width_bits, type_name) = match ty.map(|ty| self.types.spec(ty)) {
                    Some(TypeSpec::Enum(name)) => (None, Some(name)),
                    Some(TypeSpec::New(name)) => (controller_width_bits.flatten(), Some(name)),
                    _ => (Some(width_bits), None),
                };
                parameters.push(Parameter { id, name, width_bits, type_name, annotations });
            }
            let preamble = self.preamble(id, &actions[at], &[]);
            infos.push(ActionInfo { object: Some(ActionId(at as u32)), preamble, parameters });
        }
        infos
    }

    /// Returns the actions that only controls call.
    pub(super) fn called_actions(&self) -> Vec<Object<'a>> {
        let mut known: BTreeSet<&str> =
            self.program.actions.iter().map(|action| &*action.name).collect();
        let mut found = Vec::new();
        for origin in &self.program.origins {
            let (Some(name), Some(node)) = (&origin.name, origin.node) else { continue };
            let declaration = self.declarations.get(&node).copied();
            let is_action = |of: &&Declaration| matches!(of.kind, DeclarationKind::Action { .. });
            if let Some(declaration) = declaration.filter(is_action)
                && known.insert(name)
            {
                found.push(Object::declared(name.clone(), Some(declaration)));
            }
        }
        found
    }

    pub(super) fn table(&mut self, at: usize, object: &Object<'a>, known: Ids<'_>) -> TableInfo {
        let table = &self.program.tables[at];
        let declared = match object.declaration.map(|declaration| &declaration.kind) {
            Some(DeclarationKind::Table(declared)) => Some(&**declared),
            _ => None,
        };
        let references = declared.map_or(&[][..], action_references);
        let mut actions: Vec<ActionReference> = Vec::new();
        for (position, listed) in table.actions.iter().enumerate() {
            let id = known.actions[listed.action.index()];
            let annotations = match references.get(position) {
                Some(reference) => self.annotations(&reference.annotations, &[]),
                None => {
                    Annotations { texts: vec!["@defaultonly".into()], ..Annotations::default() }
                }
            };
            let scope = match (listed.table_only, listed.default_only) {
                (true, _) => ActionScope::TableOnly,
                (false, true) => ActionScope::DefaultOnly,
                (false, false) => ActionScope::TableAndDefault,
            };
            actions.push(ActionReference { id, scope, annotations });
        }
        let call = &table.default_action;
        let default_action =
            table.actions.get(call.action as usize).map_or((0, Vec::new()), |listed| {
                let id = known.actions[listed.action.index()];
                let parameters = known.infos.iter().find(|info| info.preamble.id == id);
                let parameters = parameters.map_or(&[][..], |info| &info.parameters);
                let values: Vec<(u32, Bits)> = parameters
                    .iter()
                    .zip(&call.arguments)
                    .map(|(parameter, value)| (parameter.id, value.clone()))
                    .collect();
                (id, values)
            });
        TableInfo {
            object: TableId(at as u32),
            preamble: self.preamble(known.table, object, &[]),
            match_fields: self.match_fields(table, declared),
            actions,
            default_action,
            has_const_default: table.const_default_action,
            implementation: known.implementation,
            direct_resources: known.direct,
            size: table.size.filter(|size| *size > 0).unwrap_or(DEFAULT_TABLE_SIZE),
            idle_timeout: table.idle_timeout,
            is_const: table.const_entries,
            has_initial_entries: !table.entries.is_empty(),
        }
    }

    fn match_fields(
        &mut self,
        table: &ir::Table,
        declared: Option<&TableDeclaration>,
    ) -> Vec<MatchField> {
        let elements: Vec<&KeyElement> = declared.map_or(Vec::new(), key_elements);
        let mut fields = Vec::new();
        for ((at, key), id) in table.keys.iter().enumerate().zip(ids::match_fields(table)) {
            if key.match_kind == MatchKind::Selector {
                continue;
            }
            let element = elements.get(at);
            let ty =
                element.and_then(|element| self.typed.expression_types.get(&element.expression.id));
            let list = element.map_or(&[][..], |element| &element.annotations);
            let translated = match ty.map(|ty| &**ty) {
                Some(TypeKind::NewType(_)) => {
                    Some(ty.and_then(|ty| self.types.controller_width_bits(ty)).unwrap_or(0))
                }
                _ => None,
            };
            fields.push(MatchField {
                id,
                name: key.name.clone(),
                width_bits: translated.unwrap_or(key.width_bits),
                match_kind: key.match_kind.clone(),
                type_name: ty.and_then(|ty| self.types.new_type_name(ty)),
                annotations: self.annotations(list, &[]),
            });
        }
        fields
    }
}

fn action_references(table: &TableDeclaration) -> &[ActionRef] {
    let mut lists = table.properties.iter().rev().filter_map(|property| match &property.kind {
        TablePropertyKind::Actions(list) => Some(list),
        _ => None,
    });
    lists.next().map_or(&[], |list| list)
}

fn key_elements(table: &TableDeclaration) -> Vec<&KeyElement> {
    let elements = table.properties.iter().filter_map(|property| match &property.kind {
        TablePropertyKind::Key(elements) => Some(elements),
        _ => None,
    });
    elements.flatten().collect()
}
