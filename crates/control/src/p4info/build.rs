// SPDX-License-Identifier: Apache-2.0
//! Reads the P4Info of a program off its IR, with annotations and types of the typed program. `tables`, `digests` and
//! `controller_headers` read what needs more than a few lines.

use super::annotations::{Annotations, given_id, named, number, pairs};
use super::names::Aliases;
use super::types::{Declarations, TypeSpec, Types, declarations};
use super::{
    ActionInfo, CellsExtent, CellsInfo, DigestInfo, MatchField, P4Info, Package, Preamble,
    ProfileInfo, RegisterInfo, SizeSemantics, ValueSetInfo,
};
use crate::p4info_ids::{self as ids, field_ids};
use ir::lowering::{annotation_string, control_plane_name};
use ir::ready::ReadyProgram;
use ir::{ActionProfileId, CounterId, MeterId, OriginId, Program, RegisterId, ValueSetId};
use p4::ast::{Annotation, Declaration, DeclarationKind, TableProperty, TablePropertyKind};
use p4::typed::{Type, TypeKind, TypedProgram};
use std::sync::Arc;

impl P4Info {
    /// Reads the P4Info of a program.
    pub fn of(program: &ReadyProgram) -> P4Info {
        let declarations = declarations(program.typed());
        let types = Types {
            typed: program.typed(),
            declarations: &declarations,
            definitions: Default::default(),
        };
        let (typed, program) = (&**program.typed(), &**program.lowered());
        Builder { typed, program, declarations: &declarations, types, aliases: Aliases::default() }
            .build()
    }
}

pub(super) struct Builder<'a> {
    pub(super) typed: &'a TypedProgram,
    pub(super) program: &'a Program,
    pub(super) declarations: &'a Declarations<'a>,
    pub(super) types: Types<'a>,
    aliases: Aliases,
}

/// An object of the source.
#[derive(Clone)]
pub(super) struct Object<'a> {
    /// Control-plane name.
    pub(super) name: Arc<str>,
    /// Its declaration; a property of a table may construct an object without one.
    pub(super) declaration: Option<&'a Declaration>,
    /// Annotations of the declaration or property.
    pub(super) annotations: &'a [Annotation],
}

impl<'a> Object<'a> {
    pub(super) fn declared(name: Arc<str>, declaration: Option<&'a Declaration>) -> Object<'a> {
        let annotations = declaration.map_or(&[][..], |declaration| &declaration.annotations);
        Object { name, declaration, annotations }
    }

    pub(super) fn is_hidden(&self) -> bool {
        named(self.annotations, "hidden").is_some()
    }
}

/// Returns the ids of objects, in their order.
pub(super) fn object_ids(prefix: u32, objects: &[Object<'_>]) -> Vec<u32> {
    object_ids_beside(prefix, objects, &[])
}

/// The same beside objects that have ids.
fn object_ids_beside(prefix: u32, objects: &[Object<'_>], taken: &[u32]) -> Vec<u32> {
    let given = |object: &Object<'_>| given_id(object.annotations);
    let named: Vec<(&str, Option<u32>)> =
        objects.iter().map(|object| (&*object.name, given(object))).collect();
    ids::assign_beside(prefix, &named, taken.iter().copied().collect())
}

impl<'a> Builder<'a> {
    /// Returns the declaration of an object in the source.
    fn declaration(
        &self,
        origin: OriginId,
        is_wanted: fn(&DeclarationKind) -> bool,
    ) -> Option<&'a Declaration> {
        let mut at = self.program.origins.get(origin.index());
        while let Some(origin) = at {
            let found = origin.node.and_then(|node| self.declarations.get(&node).copied());
            if let Some(found) = found.filter(|found| is_wanted(&found.kind)) {
                return Some(found);
            }
            at = origin.parent.and_then(|parent| self.program.origins.get(parent.index()));
        }
        None
    }

    /// Returns an extern object: declared, or constructed by a property of a table.
    fn instance(&self, name: &Arc<str>, origin: OriginId) -> Object<'a> {
        let node = self.program.origins.get(origin.index()).and_then(|origin| origin.node);
        let found = node.and_then(|node| self.declarations.get(&node).copied());
        let found = found.filter(|found| matches!(found.kind, DeclarationKind::Instance { .. }));
        let mut object = Object::declared(name.clone(), found);
        if let (None, Some(node)) = (found, node) {
            let properties = self.declarations.values().flat_map(|each| match &each.kind {
                DeclarationKind::Table(table) => table.properties.as_slice(),
                _ => &[],
            });
            let constructs = |property: &&TableProperty| match &property.kind {
                TablePropertyKind::Custom { value, .. } => value.id == node,
                _ => false,
            };
            let property = properties.into_iter().find(constructs);
            object.annotations = property.map_or(&[], |property| &property.annotations);
        }
        object
    }

    /// The type arguments of an instance's type.
    pub(super) fn type_arguments(&self, declaration: Option<&Declaration>) -> Vec<Type> {
        let ty = declaration.and_then(|each| self.typed.declared_types.get(&each.id));
        match ty.map(|ty| &**ty) {
            Some(TypeKind::Extern(_, arguments)) => arguments.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn annotations(&self, list: &[Annotation], without: &[&str]) -> Annotations {
        Annotations::of(self.typed, list, without)
    }

    pub(super) fn preamble(&self, id: u32, object: &Object<'_>, without: &[&str]) -> Preamble {
        Preamble {
            id,
            name: object.name.clone(),
            alias: self.aliases.of(&object.name),
            annotations: self.annotations(object.annotations, without),
        }
    }

    fn build(mut self) -> P4Info {
        let program = self.program;
        let declared = |name: &Arc<str>, origin, is_wanted| {
            Object::declared(name.clone(), self.declaration(origin, is_wanted))
        };
        let is_table: fn(&_) -> bool = |kind| matches!(kind, DeclarationKind::Table(_));
        let is_action: fn(&_) -> bool = |kind| matches!(kind, DeclarationKind::Action { .. });
        let is_set: fn(&_) -> bool = |kind| matches!(kind, DeclarationKind::ValueSet { .. });
        let (tables, actions) = (program.tables.iter(), program.actions.iter());
        let tables: Vec<Object<'a>> =
            tables.map(|each| declared(&each.name, each.origin, is_table)).collect();
        let actions: Vec<Object<'a>> =
            actions.map(|each| declared(&each.name, each.origin, is_action)).collect();
        let called: Vec<Object<'a>> = self.called_actions();
        let value_sets = program.value_sets.iter();
        let value_sets: Vec<Object<'a>> =
            value_sets.map(|each| declared(&each.name, each.origin, is_set)).collect();
        let profiles = program.action_profiles.iter();
        let profiles: Vec<Object<'a>> =
            profiles.map(|each| self.instance(&each.name, each.origin)).collect();
        let counters = program.counters.iter();
        let counters: Vec<Object<'a>> =
            counters.map(|each| self.instance(&each.name, each.origin)).collect();
        let meters = program.meters.iter();
        let meters: Vec<Object<'a>> =
            meters.map(|each| self.instance(&each.name, each.origin)).collect();
        let registers = program.registers.iter();
        let registers: Vec<Object<'a>> =
            registers.map(|each| self.instance(&each.name, each.origin)).collect();
        let digests = self.digest_types();
        let headers: Vec<&'a Declaration> = self.controller_headers();
        let kinds = [&tables, &actions, &profiles, &counters, &meters, &registers, &value_sets];
        for object in kinds.into_iter().flatten().chain(&called) {
            self.aliases.add(&object.name);
        }
        for (name, _, _) in &digests {
            self.aliases.add(name);
        }
        for header in &headers {
            self.aliases.add(&header.name.text);
        }

        let (table_ids, action_ids) = (ids::tables(program), ids::actions(program));
        let profile_ids = object_ids(ids::ACTION_PROFILE, &profiles);
        let is_direct = |size: Option<u64>| size.is_none();
        let counter_directs = program.counters.iter().map(|each| is_direct(each.size)).collect();
        let meter_directs = program.meters.iter().map(|each| is_direct(each.size)).collect();
        let counter_ids =
            direct_and_indexed(&counters, counter_directs, (ids::COUNTER, ids::DIRECT_COUNTER));
        let meter_ids = direct_and_indexed(&meters, meter_directs, (ids::METER, ids::DIRECT_METER));

        let mut action_infos = self.actions(&actions, &action_ids);
        let called_ids = object_ids_beside(ids::ACTION, &called, &action_ids);
        for (action, id) in called.iter().zip(called_ids).filter(|(action, _)| !action.is_hidden())
        {
            let preamble = self.preamble(id, action, &[]);
            action_infos.push(ActionInfo { object: None, preamble, parameters: Vec::new() });
        }
        let table_infos = (0..program.tables.len())
            .filter(|at| !tables[*at].is_hidden())
            .map(|at| {
                let direct = |table: &ir::Table| -> Vec<u32> {
                    let counters = table.direct_counters.iter();
                    let meters = table.direct_meters.iter();
                    let counters = counters.map(|counter| counter_ids[counter.index()]);
                    counters.chain(meters.map(|meter| meter_ids[meter.index()])).collect()
                };
                let known = Ids {
                    table: table_ids[at],
                    actions: &action_ids,
                    infos: &action_infos,
                    implementation: program.tables[at]
                        .implementation
                        .map(|profile| profile_ids[profile.index()]),
                    direct: direct(&program.tables[at]),
                };
                self.table(at, &tables[at], known)
            })
            .collect();
        let table_of = |uses: &dyn Fn(&ir::Table) -> bool| {
            program.tables.iter().position(uses).map(|at| table_ids[at])
        };
        let counter_infos = program.counters.iter().enumerate().filter_map(|(at, counter)| {
            let object = CounterId(at as u32);
            let table = table_of(&|table| table.direct_counters.contains(&object));
            let extent = self.extent(counter.size, &counters[at], table)?;
            let preamble = self.preamble(counter_ids[at], &counters[at], &[]);
            Some(CellsInfo { object, preamble, unit: counter.unit, extent })
        });
        let counter_infos = counter_infos.collect();
        let meter_infos = program.meters.iter().enumerate().filter_map(|(at, meter)| {
            let object = MeterId(at as u32);
            let table = table_of(&|table| table.direct_meters.contains(&object));
            let extent = self.extent(meter.size, &meters[at], table)?;
            let preamble = self.preamble(meter_ids[at], &meters[at], &[]);
            Some(CellsInfo { object, preamble, unit: meter.unit, extent })
        });
        let meter_infos = meter_infos.collect();
        let profile_infos = (0..profiles.len())
            .map(|at| self.profile(at, profile_ids[at], &profiles[at], &table_ids))
            .collect();
        let register_ids = object_ids(ids::REGISTER, &registers);
        let register_infos = program
            .registers
            .iter()
            .enumerate()
            .map(|(at, register)| {
                let arguments = self.type_arguments(registers[at].declaration);
                RegisterInfo {
                    object: RegisterId(at as u32),
                    preamble: self.preamble(register_ids[at], &registers[at], &[]),
                    ty: arguments.first().map_or(TypeSpec::Other, |ty| self.types.spec(ty)),
                    size: register.size,
                    index_type: arguments.get(1).and_then(|ty| self.types.new_type_name(ty)),
                }
            })
            .collect();
        let value_set_ids = object_ids(ids::VALUE_SET, &value_sets);
        let value_set_infos = program
            .value_sets
            .iter()
            .enumerate()
            .map(|(at, set)| {
                let preamble = self.preamble(value_set_ids[at], &value_sets[at], &[]);
                let fields = self.value_set_fields(set, value_sets[at].declaration);
                ValueSetInfo { object: ValueSetId(at as u32), preamble, fields, size: set.size }
            })
            .collect();
        let digest_objects: Vec<Object<'a>> = digests
            .iter()
            .map(|(name, _, declaration)| Object::declared(name.clone(), *declaration))
            .collect();
        let digest_ids = object_ids(ids::DIGEST, &digest_objects);
        let digest_infos = digests
            .iter()
            .enumerate()
            .map(|(at, (_, ty, _))| DigestInfo {
                preamble: self.preamble(digest_ids[at], &digest_objects[at], &[]),
                ty: ty.as_ref().map_or(TypeSpec::Other, |ty| self.types.spec(ty)),
            })
            .collect();
        let controller_headers = self.headers(&headers);
        P4Info {
            package: self.package(),
            tables: table_infos,
            actions: action_infos,
            profiles: profile_infos,
            counters: counter_infos,
            meters: meter_infos,
            controller_headers,
            value_sets: value_set_infos,
            registers: register_infos,
            digests: digest_infos,
            types: self.types.definitions,
        }
    }

    fn package(&self) -> Package {
        let main = self.typed.main.and_then(|main| self.declarations.get(&main).copied());
        let list = main.map_or(&[][..], |main| &main.annotations);
        let of = |name: &str| named(list, name).map(pairs).unwrap_or_default();
        let platform = |(key, value): (Arc<str>, Arc<str>)| {
            Some((key, u32::try_from(crate::values::number(&value)?).ok()?))
        };
        Package {
            architecture: self.program.architecture.clone(),
            properties: of("pkginfo"),
            platform: of("platform_property").into_iter().filter_map(platform).collect(),
            annotations: self.annotations(list, &["pkginfo", "platform_property"]),
        }
    }

    /// The cells of a counter or meter: an array, or those of a table's entries; `None` if no table names it.
    fn extent(
        &mut self,
        size: Option<u64>,
        object: &Object<'a>,
        table: Option<u32>,
    ) -> Option<CellsExtent> {
        let Some(size) = size else { return Some(CellsExtent::Direct { table: table? }) };
        // The index is the last type argument, where the architecture has one.
        let arguments = self.type_arguments(object.declaration);
        let index_type = arguments.last().and_then(|ty| self.types.new_type_name(ty));
        Some(CellsExtent::Array { size, index_type })
    }

    fn profile(&self, at: usize, id: u32, object: &Object<'a>, table_ids: &[u32]) -> ProfileInfo {
        let profile = &self.program.action_profiles[at];
        let list = object.annotations;
        let value = |name: &str| named(list, name).and_then(number);
        let has_selector = profile.selector.is_some();
        let semantics = named(list, "selector_size_semantics").and_then(annotation_string);
        let size_semantics = match semantics.map(|text| text.to_ascii_lowercase()).as_deref() {
            Some("sum_of_members") => Some(SizeSemantics::SumOfMembers {
                max_weight: value("max_member_weight").unwrap_or(0),
            }),
            Some("sum_of_weights") => Some(SizeSemantics::SumOfWeights),
            _ => None,
        };
        let object_id = ActionProfileId(at as u32);
        let uses = self.program.tables.iter().zip(table_ids);
        let uses = uses.filter(|(table, _)| table.implementation == Some(object_id));
        ProfileInfo {
            object: object_id,
            preamble: self.preamble(
                id,
                object,
                &["max_group_size", "selector_size_semantics", "max_member_weight"],
            ),
            tables: uses.map(|(_, id)| *id).collect(),
            has_selector,
            size: profile.size.unwrap_or(0),
            max_group_size: value("max_group_size").filter(|_| has_selector).unwrap_or(0),
            size_semantics: size_semantics.filter(|_| has_selector),
        }
    }

    fn value_set_fields(
        &mut self,
        set: &ir::ValueSet,
        declaration: Option<&'a Declaration>,
    ) -> Vec<MatchField> {
        let element = match declaration.map(|declaration| &declaration.kind) {
            Some(DeclarationKind::ValueSet { element, .. }) => {
                self.typed.type_refs.get(&element.id)
            }
            _ => None,
        };
        let fields = match element.map(|ty| &**ty) {
            Some(TypeKind::Struct(id, arguments)) => self.types.fields(*id, arguments),
            _ => Vec::new(),
        };
        let given = |at: usize| fields.get(at).and_then(|(field, _)| given_id(&field.annotations));
        let given: Vec<Option<u32>> = (0..set.components.len()).map(given).collect();
        let component = |((at, key), id): ((usize, &ir::Key), u32)| {
            let field = fields.get(at).map(|(field, _)| *field);
            let list = field.map_or(&[][..], |field| &field.annotations);
            MatchField {
                id,
                name: field.map_or("".into(), |field| {
                    control_plane_name("", &field.annotations, &field.name.text)
                }),
                width_bits: key.width_bits,
                match_kind: key.match_kind.clone(),
                type_name: None,
                annotations: self.annotations(list, &["match"]),
            }
        };
        set.components.iter().enumerate().zip(field_ids(&given)).map(component).collect()
    }
}

/// Ids that a table refers to.
pub(super) struct Ids<'i> {
    pub(super) table: u32,
    pub(super) actions: &'i [u32],
    pub(super) infos: &'i [ActionInfo],
    pub(super) implementation: Option<u32>,
    pub(super) direct: Vec<u32>,
}

/// Returns the ids of counters or meters, of which some are direct: prefixes of indexed and of direct ones.
fn direct_and_indexed(
    objects: &[Object<'_>],
    is_direct: Vec<bool>,
    (indexed, direct): (u32, u32),
) -> Vec<u32> {
    let mut found = vec![0; objects.len()];
    for (prefix, wanted) in [(indexed, false), (direct, true)] {
        let places: Vec<usize> = (0..objects.len()).filter(|at| is_direct[*at] == wanted).collect();
        let part: Vec<Object<'_>> = places.iter().map(|at| objects[*at].clone()).collect();
        for (at, id) in places.iter().zip(object_ids(prefix, &part)) {
            found[*at] = id;
        }
    }
    found
}
