// SPDX-License-Identifier: Apache-2.0
//! Reads the P4Info of a program off its IR, with annotations and types of the typed program.

use super::annotations::{Annotations, given_id, named, number, pairs};
use super::types::{Declarations, TypeSpec, Types, declarations};
use super::{
    ActionInfo, ActionReference, ActionScope, CellsExtent, CellsInfo, ControllerHeader, DigestInfo,
    MatchField, P4Info, Package, Parameter, Preamble, ProfileInfo, RegisterInfo, SizeSemantics,
    TableInfo, ValueSetInfo,
};
use crate::p4info_ids as ids;
use ir::lowering::{annotation_string, control_plane_name};
use ir::ready::ReadyProgram;
use ir::{
    ActionId, ActionProfileId, Bits, CounterId, MatchKind, MeterId, OriginId, Program, RegisterId,
    TableId, ValueSetId,
};
use p4::ast::{
    ActionRef, Annotation, Declaration, DeclarationKind, KeyElement, NodeId, TableDeclaration,
    TableProperty, TablePropertyKind,
};
use p4::typed::{Callee, Type, TypeKind, TypedProgram};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Number of entries of a table that declares none.
const DEFAULT_TABLE_SIZE: u64 = 1024;

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

/// The dotted suffixes of names, with the number of names that end with each.
#[derive(Default)]
struct Aliases {
    names: BTreeSet<Arc<str>>,
    suffixes: HashMap<String, usize>,
}

/// The suffixes of a name, the shortest first.
fn suffixes(name: &str) -> Vec<&str> {
    let starts = name.match_indices('.').map(|(at, _)| at + 1).collect::<Vec<_>>();
    starts.into_iter().rev().chain([0]).map(|start| &name[start..]).collect()
}

impl Aliases {
    fn add(&mut self, name: &Arc<str>) {
        if self.names.insert(name.clone()) {
            for suffix in suffixes(name) {
                *self.suffixes.entry(suffix.to_string()).or_default() += 1;
            }
        }
    }

    fn of(&self, name: &str) -> Arc<str> {
        let is_unique = |suffix: &&str| self.suffixes.get(*suffix).is_none_or(|count| *count < 2);
        suffixes(name).into_iter().find(is_unique).unwrap_or(name).into()
    }
}

/// Gives ids to fields of an object: those that the program gives, and the next free numbers from 1.
fn field_ids(given: &[Option<u32>]) -> Vec<u32> {
    let mut taken: BTreeSet<u32> = given.iter().flatten().copied().collect();
    let mut next = 1;
    let mut id = |given: &Option<u32>| match given {
        Some(id) => {
            next += 1;
            *id
        }
        None => {
            while !taken.insert(next) {
                next += 1;
            }
            next
        }
    };
    given.iter().map(&mut id).collect()
}

struct Builder<'a> {
    typed: &'a TypedProgram,
    program: &'a Program,
    declarations: &'a Declarations<'a>,
    types: Types<'a>,
    aliases: Aliases,
}

/// An object of the source.
#[derive(Clone)]
struct Object<'a> {
    /// Control-plane name.
    name: Arc<str>,
    /// Its declaration; a property of a table may construct an object without one.
    declaration: Option<&'a Declaration>,
    /// Annotations of the declaration or property.
    annotations: &'a [Annotation],
}

impl<'a> Object<'a> {
    fn declared(name: Arc<str>, declaration: Option<&'a Declaration>) -> Object<'a> {
        let annotations = declaration.map_or(&[][..], |declaration| &declaration.annotations);
        Object { name, declaration, annotations }
    }

    fn is_hidden(&self) -> bool {
        named(self.annotations, "hidden").is_some()
    }
}

/// Returns the ids of objects, in their order.
fn object_ids(prefix: u32, objects: &[Object<'_>]) -> Vec<u32> {
    let given = |object: &Object<'_>| given_id(object.annotations);
    let named: Vec<(&str, Option<u32>)> =
        objects.iter().map(|object| (&*object.name, given(object))).collect();
    ids::assign(prefix, &named)
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
    fn type_arguments(&self, declaration: Option<&Declaration>) -> Vec<Type> {
        let ty = declaration.and_then(|each| self.typed.declared_types.get(&each.id));
        match ty.map(|ty| &**ty) {
            Some(TypeKind::Extern(_, arguments)) => arguments.clone(),
            _ => Vec::new(),
        }
    }

    fn annotations(&self, list: &[Annotation], without: &[&str]) -> Annotations {
        Annotations::of(self.typed, list, without)
    }

    fn preamble(&self, id: u32, object: &Object<'_>, without: &[&str]) -> Preamble {
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
        for object in kinds.into_iter().flatten() {
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

        let action_infos = self.actions(&actions, &action_ids);
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
        let counter_infos = program
            .counters
            .iter()
            .enumerate()
            .filter_map(|(at, counter)| {
                let object = CounterId(at as u32);
                let preamble = self.preamble(counter_ids[at], &counters[at], &[]);
                let extent = match counter.size {
                    Some(size) => self.array(size, counters[at].declaration),
                    None => CellsExtent::Direct {
                        table: table_of(&|table| table.direct_counters.contains(&object))?,
                    },
                };
                Some(CellsInfo { object, preamble, unit: counter.unit, extent })
            })
            .collect();
        let meter_infos = program
            .meters
            .iter()
            .enumerate()
            .filter_map(|(at, meter)| {
                let object = MeterId(at as u32);
                let preamble = self.preamble(meter_ids[at], &meters[at], &[]);
                let extent = match meter.size {
                    Some(size) => self.array(size, meters[at].declaration),
                    None => CellsExtent::Direct {
                        table: table_of(&|table| table.direct_meters.contains(&object))?,
                    },
                };
                Some(CellsInfo { object, preamble, unit: meter.unit, extent })
            })
            .collect();
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

    fn actions(&mut self, actions: &[Object<'a>], action_ids: &[u32]) -> Vec<ActionInfo> {
        let mut found: BTreeMap<u32, usize> = BTreeMap::new();
        let mut infos = Vec::new();
        for (at, action) in self.program.actions.iter().enumerate() {
            let id = action_ids[at];
            if actions[at].is_hidden() || found.insert(id, at).is_some() {
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
            let given = |parameter: &Option<&p4::ast::Parameter>| {
                parameter.and_then(|parameter| given_id(&parameter.annotations))
            };
            let given: Vec<Option<u32>> = written.iter().map(given).collect();
            let parameter_ids = field_ids(&given);
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
            infos.push(ActionInfo { object: ActionId(at as u32), preamble, parameters });
        }
        infos
    }

    fn table(&mut self, at: usize, object: &Object<'a>, known: Ids<'_>) -> TableInfo {
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
        let given = |at: usize| elements.get(at).and_then(|element| given_id(&element.annotations));
        let given: Vec<Option<u32>> = (0..table.keys.len()).map(given).collect();
        let mut fields = Vec::new();
        for ((at, key), id) in table.keys.iter().enumerate().zip(field_ids(&given)) {
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

    fn array(&mut self, size: u64, declaration: Option<&'a Declaration>) -> CellsExtent {
        // The index is the last type argument, where the architecture has one.
        let arguments = self.type_arguments(declaration);
        let index_type = arguments.last().and_then(|ty| self.types.new_type_name(ty));
        CellsExtent::Array { size, index_type }
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

    /// The digests in the order of the IR: name, type of the data, and the declaration of a digest object.
    #[allow(clippy::type_complexity, reason = "three facts of a digest")]
    fn digest_types(&self) -> Vec<(Arc<str>, Option<Type>, Option<&'a Declaration>)> {
        // The data's types of v1model's `digest<T>(...)`: of structs by control-plane name, of others in order.
        let mut by_name: BTreeMap<Arc<str>, Type> = BTreeMap::new();
        let mut unnamed: BTreeMap<NodeId, Type> = BTreeMap::new();
        for (node, call) in &self.typed.calls {
            let Callee::ExternFunction(function) = call.callee else { continue };
            let declared = self.declarations.get(&function);
            let is_digest = declared.is_some_and(|each| *each.name.text == *"digest");
            let Some(ty) = call.type_arguments.first().filter(|_| is_digest) else { continue };
            let declaration = match &**ty {
                TypeKind::Struct(id, _) => self.declarations.get(id),
                _ => None,
            };
            match declaration {
                Some(declaration) => by_name.insert(
                    control_plane_name("", &declaration.annotations, &declaration.name.text),
                    ty.clone(),
                ),
                None => unnamed.insert(*node, ty.clone()),
            };
        }
        let mut unnamed = unnamed.into_values();
        // Objects of the type `Digest<T>`; their names end with the declared one.
        let objects: Vec<&Declaration> = self
            .declarations
            .values()
            .copied()
            .filter(|each| matches!(each.kind, DeclarationKind::Instance { .. }))
            .filter(|each| !self.type_arguments(Some(each)).is_empty())
            .filter(|each| self.is_extern(each, "Digest"))
            .collect();
        let mut found: Vec<(Arc<str>, Option<Type>, Option<&Declaration>)> = Vec::new();
        for request in self.program.requests.iter().filter(|each| &*each.name == "digest") {
            if found.iter().any(|(name, _, _)| *name == request.label) {
                continue;
            }
            let object = objects.iter().copied().find(|object| {
                let name = control_plane_name("", &object.annotations, &object.name.text);
                request
                    .label
                    .strip_suffix(&*name)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            });
            let ty = match object {
                Some(object) => self.type_arguments(Some(object)).first().cloned(),
                None => by_name.get(&request.label).cloned().or_else(|| unnamed.next()),
            };
            found.push((request.label.clone(), ty, object));
        }
        found
    }

    fn is_extern(&self, instance: &Declaration, name: &str) -> bool {
        let ty = self.typed.declared_types.get(&instance.id);
        let Some(TypeKind::Extern(node, _)) = ty.map(|ty| &**ty) else { return false };
        self.declarations.get(node).is_some_and(|declared| *declared.name.text == *name)
    }

    fn controller_headers(&self) -> Vec<&'a Declaration> {
        let is_wanted = |each: &&Declaration| {
            matches!(each.kind, DeclarationKind::Header(_))
                && named(&each.annotations, "controller_header").is_some()
        };
        let mut found: Vec<&Declaration> =
            self.declarations.values().copied().filter(is_wanted).collect();
        found.sort_by_key(|declaration| declaration.id);
        found
    }

    fn headers(&mut self, headers: &[&'a Declaration]) -> Vec<ControllerHeader> {
        let object = |header: &&'a Declaration| {
            let name = control_plane_name("", &header.annotations, &header.name.text);
            Object::declared(name, Some(header))
        };
        let objects: Vec<Object<'a>> = headers.iter().map(object).collect();
        let header_ids = object_ids(ids::CONTROLLER_HEADER, &objects);
        let mut found = Vec::new();
        for ((header, object), id) in headers.iter().zip(&objects).zip(header_ids) {
            if object.is_hidden() {
                continue;
            }
            let given_name = named(&header.annotations, "controller_header");
            let name = given_name.and_then(annotation_string).unwrap_or(object.name.clone());
            let mut preamble = self.preamble(id, object, &[]);
            preamble.name = name.clone();
            preamble.alias = name;
            let fields = self.types.flattened(header.id, &[]);
            let given: Vec<Option<u32>> =
                fields.iter().map(|(_, _, field)| given_id(&field.annotations)).collect();
            let mut parameters = Vec::new();
            for ((name, ty, field), id) in fields.iter().zip(field_ids(&given)) {
                if named(&field.annotations, "hidden").is_some() {
                    continue;
                }
                parameters.push(Parameter {
                    id,
                    name: name.clone(),
                    width_bits: self.types.controller_width_bits(ty),
                    type_name: self.types.new_type_name(ty),
                    annotations: self.annotations(&field.annotations, &[]),
                });
            }
            found.push(ControllerHeader { preamble, fields: parameters });
        }
        found
    }
}

/// Ids that a table refers to.
struct Ids<'i> {
    table: u32,
    actions: &'i [u32],
    infos: &'i [ActionInfo],
    implementation: Option<u32>,
    direct: Vec<u32>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_the_shortest_suffixes_of_one_name() {
        let mut aliases = Aliases::default();
        for name in ["d.a.c", "e.b.c", "x", "e.b.c"] {
            aliases.add(&name.into());
        }
        let aliases: Vec<Arc<str>> =
            ["d.a.c", "e.b.c", "x"].into_iter().map(|name| aliases.of(name)).collect();
        assert_eq!(aliases, ["a.c".into(), "b.c".into(), Arc::<str>::from("x")]);
    }

    #[test]
    fn ids_of_fields_leave_out_given_ones() {
        assert_eq!(field_ids(&[None, None]), [1, 2]);
        assert_eq!(field_ids(&[Some(2), None, Some(1), None]), [2, 3, 1, 4]);
    }
}
