// SPDX-License-Identifier: Apache-2.0
//! Tables and their actions (P4_16 v1.2.5 §14.2.2, §14.2.3): one table for each
//! instance, however often it is applied; one region for each action of an instance, or for each use that binds
//! arguments. Entries are in `entries`.

use super::builder::Builder;
use super::inlining::{ArgumentRules, ParameterStorage};
use super::instances::argument_of;
use super::keysets::match_kind;
use super::names::{annotation_named, annotation_string, annotation_texts, control_plane_name};
use super::{Binding, Location, Lowered, Lowering, ObjectKind, codes};
use crate::architecture::TableProperty;
use crate::{
    Action, ActionCall, ActionId, ActionParameter, ActionProfileId, CounterId, Key, MeterId,
    Operand, Operation, Place, Region, RegionId, RegionKind, Table, TableAction, TableId,
    Terminator, ValueType,
};
use p4::ast::{
    ActionRef, Annotation, Argument, Block, Declaration, DeclarationKind, Direction, Expression,
    ExpressionKind, KeyElement, NodeId, Parameter, TableDeclaration, TablePropertyKind,
};
use p4::random_sites::SCOPE_ANNOTATION;
use p4::typed::{CallInfo, Callee, Definition};
use std::sync::Arc;

/// What the properties of a table say.
#[derive(Default)]
struct Properties {
    implementation: Option<ActionProfileId>,
    direct_counters: Vec<CounterId>,
    direct_meters: Vec<MeterId>,
    size: Option<u64>,
    idle_timeout: bool,
}

impl<'a> Lowering<'a> {
    /// `t.apply()`: whether it hit, and the index of the action that ran.
    pub(super) fn apply_table(&mut self, table: NodeId) -> Lowered<(Operand, Operand)> {
        if self.builder.kind() == RegionKind::Action {
            return Err(self.not_expressible("a table cannot be applied inside of an action"));
        }
        let Some(Declaration { kind: DeclarationKind::Table(declaration), .. }) =
            self.nodes.declaration(table)
        else {
            return Err(self.missing_fact("the table that is applied"));
        };
        let id = self.table(table)?;
        let mut keys = Vec::new();
        let has_selector = self.has_selector(self.program.tables[id.index()].implementation);
        let random_scope = format!("table {}", self.program.tables[id.index()].name).into();
        self.drawing_in(random_scope, |this| {
            for element in key_elements(declaration) {
                let key = this.operand(&element.expression)?;
                if has_selector || &*element.match_kind.text != "selector" {
                    keys.push(key);
                }
            }
            Ok(())
        })?;
        let hit = self.temp(ValueType::Bits(1));
        let action = self.temp(ValueType::Bits(32));
        self.emit(Operation::Apply { table: id, keys, hit, action });
        if self.soft_exit_tables.contains(&id) {
            let flag = self.exit_flag_slot();
            let exited = self.load_slot(flag);
            let (leave, go_on) = self.branch(exited);
            self.start_block(leave);
            self.store_slot(flag, super::bit(false));
            self.exit()?;
            self.start_block(go_on);
        }
        Ok((Operand::Temp(hit), Operand::Temp(action)))
    }

    /// The table of a declaration in the current instance.
    pub(super) fn table(&mut self, id: NodeId) -> Lowered<TableId> {
        let Some(instance) = self.instance else {
            return Err(self.missing_fact("the control of a table"));
        };
        if let Some(known) = self.tables.get(&(instance, id)) {
            return Ok(*known);
        }
        let Some(declaration) = self.nodes.declaration(id) else {
            return Err(self.missing_fact("a table"));
        };
        let DeclarationKind::Table(table) = &declaration.kind else {
            return Err(self.missing_fact("a table"));
        };
        let (origin, span) = (self.origin, self.span);
        self.at(id, declaration.span);
        let outcome = self.new_table(declaration, table);
        self.origin = origin;
        self.span = span;
        let (table, nodes, exits) = outcome?;
        self.program.tables.push(table);
        let number = TableId(self.program.tables.len() as u32 - 1);
        self.table_action_nodes.push(nodes);
        self.tables.insert((instance, id), number);
        if exits && !self.copy_outs.is_empty() {
            self.soft_exit_tables.insert(number);
        }
        Ok(number)
    }

    fn new_table(
        &mut self,
        declaration: &'a Declaration,
        table: &'a TableDeclaration,
    ) -> Lowered<(Table, Vec<NodeId>, bool)> {
        let prefix = self.prefix();
        let name = control_plane_name(&prefix, &declaration.annotations, &declaration.name.text);
        let origin = self.add_origin(declaration.span, Some(declaration.id), Some(name.clone()));
        self.claim_name("table", &name)?;
        let mut keys = Vec::new();
        for element in key_elements(table) {
            keys.push(self.key(element)?);
        }
        self.check_prefix_keys(table)?;
        let (actions, mut nodes) = self.table_actions(table)?;
        let mut result = Table {
            name: name.clone(),
            keys,
            actions,
            default_action: ActionCall { action: 0, arguments: Vec::new() },
            const_default_action: false,
            entries: Vec::new(),
            const_entries: false,
            size: None,
            implementation: None,
            direct_counters: Vec::new(),
            direct_meters: Vec::new(),
            idle_timeout: false,
            annotations: annotation_texts(&declaration.annotations),
            origin,
        };
        self.default_action(table, &mut result, &mut nodes)?;
        let properties = self.properties(table, &name)?;
        result.implementation = properties.implementation;
        result.direct_counters = properties.direct_counters;
        result.direct_meters = properties.direct_meters;
        result.size = properties.size;
        result.idle_timeout = properties.idle_timeout;
        for property in &table.properties {
            if let TablePropertyKind::Entries(entries) = &property.kind {
                result.const_entries = property.is_const;
                result.entries = self.entries(table, entries, &result, &nodes)?;
            }
        }
        if !self.has_selector(result.implementation) {
            // Without a selector there is no hash that the key could go into.
            result.keys.retain(|key| key.match_kind != crate::MatchKind::Selector);
        }
        let exits = result.actions.iter().any(|action| {
            let region = self.program.actions[action.action.index()].region;
            self.soft_exit_regions.contains(&region)
        });
        Ok((result, nodes, exits))
    }

    /// Some targets, such as BMv2, have at most one longest prefix match in a table.
    fn check_prefix_keys(&mut self, table: &'a TableDeclaration) -> Lowered<()> {
        let mut prefixes = key_elements(table)
            .filter(|element| match_kind(&element.match_kind.text) == crate::MatchKind::Lpm);
        let (Some(_), Some(second)) = (prefixes.next(), prefixes.next()) else { return Ok(()) };
        let Some(architecture) = self.architecture().filter(|it| it.single_prefix_key) else {
            return Ok(());
        };
        let span = second.match_kind.span;
        let message = format!("a table of {} has at most one `lpm` key", architecture.name);
        Err(self.error_at(span, codes::TARGET_LIMIT, message))
    }

    fn has_selector(&self, implementation: Option<ActionProfileId>) -> bool {
        implementation.is_some_and(|id| self.program.action_profiles[id.index()].selector.is_some())
    }

    fn key(&mut self, element: &'a KeyElement) -> Lowered<Key> {
        self.span = element.expression.span;
        let ty = self.result_type(&element.expression)?;
        let super::Shape::Scalar(scalar, display) = self.shape(&ty)? else {
            return Err(self.not_expressible("a key must be a number, a bool or an enum"));
        };
        let name = annotation_named(&element.annotations, "name").and_then(annotation_string);
        let name: Arc<str> = match name {
            Some(name) => name.strip_prefix('.').unwrap_or(&name).into(),
            None => match self.key_name(&element.expression) {
                Some(name) => name.into(),
                None => "".into(),
            },
        };
        Ok(Key {
            name,
            match_kind: match_kind(&element.match_kind.text),
            width_bits: scalar.width_bits(),
            display,
            annotations: annotation_texts(&element.annotations),
        })
    }

    fn table_actions(
        &mut self,
        table: &'a TableDeclaration,
    ) -> Lowered<(Vec<TableAction>, Vec<NodeId>)> {
        let mut actions = Vec::new();
        let mut nodes = Vec::new();
        for property in &table.properties {
            let TablePropertyKind::Actions(references) = &property.kind else { continue };
            for reference in references {
                let (node, action) = self.referenced_action(reference)?;
                actions.push(TableAction {
                    action,
                    table_only: annotation_named(&reference.annotations, "tableonly").is_some(),
                    default_only: annotation_named(&reference.annotations, "defaultonly").is_some(),
                });
                nodes.push(node);
            }
        }
        Ok((actions, nodes))
    }

    fn referenced_action(&mut self, reference: &'a ActionRef) -> Lowered<(NodeId, ActionId)> {
        self.span = reference.span;
        let Some(info) = self.typed.calls.get(&reference.id) else {
            return Err(self.missing_fact("the action of a reference"));
        };
        let Callee::Action(node) = info.callee else {
            return Err(self.missing_fact("the action of a reference"));
        };
        let arguments = reference.arguments.as_deref().unwrap_or(&[]);
        let action = self.action(node, Some(info), arguments)?;
        Ok((node, action))
    }

    /// The action of a declaration, specialised to arguments that a table binds.
    fn action(
        &mut self,
        node: NodeId,
        info: Option<&'a CallInfo>,
        arguments: &'a [Argument],
    ) -> Lowered<ActionId> {
        let Some(declaration) = self.nodes.declaration(node) else {
            return Err(self.missing_fact("an action"));
        };
        let DeclarationKind::Action { parameters, body } = &declaration.kind else {
            return Err(self.missing_fact("an action"));
        };
        let is_top = self.nodes.top_level(&declaration.name.text).is_some_and(|top| top.id == node);
        let key = (if is_top { None } else { self.instance }, node);
        if arguments.is_empty()
            && let Some(known) = self.table_actions.get(&key)
        {
            return Ok(*known);
        }
        let prefix = if is_top { "".into() } else { self.prefix() };
        let name = control_plane_name(&prefix, &declaration.annotations, &declaration.name.text);
        let (origin, span) = (self.origin, self.span);
        self.at(declaration.id, declaration.span);
        let outcome = self.action_region(declaration, (parameters, body), (info, arguments), &name);
        self.origin = origin;
        self.span = span;
        let (parameters, region) = outcome?;
        let origin = self.add_origin(declaration.span, Some(node), Some(name.clone()));
        let id = self.add_action(name, parameters, region, &declaration.annotations, origin);
        if arguments.is_empty() {
            self.table_actions.insert(key, id);
        }
        Ok(id)
    }

    fn add_action(
        &mut self,
        name: Arc<str>,
        parameters: Vec<ActionParameter>,
        region: Region,
        annotations: &[Annotation],
        origin: crate::OriginId,
    ) -> ActionId {
        self.program.regions.push(region);
        let region = RegionId(self.program.regions.len() as u32 - 1);
        if std::mem::take(&mut self.region_soft_exits) {
            self.soft_exit_regions.insert(region);
        }
        let annotations = annotation_texts(annotations);
        self.program.actions.push(Action { name, parameters, region, annotations, origin });
        ActionId(self.program.actions.len() as u32 - 1)
    }

    fn action_region(
        &mut self,
        declaration: &'a Declaration,
        (parameters, body): (&'a [Parameter], &'a Block),
        (info, arguments): (Option<&'a CallInfo>, &'a [Argument]),
        name: &Arc<str>,
    ) -> Lowered<(Vec<ActionParameter>, Region)> {
        self.enter(declaration)?;
        let builder = Builder::new(name.clone(), RegionKind::Action);
        let outer = std::mem::replace(&mut self.builder, builder);
        let copy_outs = std::mem::take(&mut self.copy_outs);
        let flow = std::mem::take(&mut self.flow);
        let repeating = std::mem::replace(&mut self.repeating, true);
        let machine = self.machine.take();
        // An action runs in one moment with the lookup, wherever its table is applied.
        let atomic = self.atomic.take();
        self.soft_exit = !copy_outs.is_empty();
        let scope = annotation_named(&declaration.annotations, SCOPE_ANNOTATION)
            .and_then(annotation_string)
            .unwrap_or_else(|| format!("action {name}").into());
        let call_site = std::mem::replace(&mut self.call_site, scope);
        let outcome = self.inside(|this| {
            this.expand(declaration, |this| {
                this.action_body(parameters, body, (info, arguments), name)
            })
        });
        let region = std::mem::replace(&mut self.builder, outer).finish(self.origin);
        self.soft_exit = false;
        self.call_site = call_site;
        self.atomic = atomic;
        self.machine = machine;
        self.repeating = repeating;
        self.flow = flow;
        self.copy_outs = copy_outs;
        self.active.pop();
        Ok((outcome?, region))
    }

    fn action_body(
        &mut self,
        parameters: &'a [Parameter],
        body: &'a Block,
        (info, arguments): (Option<&'a CallInfo>, &'a [Argument]),
        name: &Arc<str>,
    ) -> Lowered<Vec<ActionParameter>> {
        let copies = match info {
            Some(info) => {
                let passing =
                    ArgumentRules { closed_body: false, parameter_storage: ParameterStorage::Any };
                let random_scope = format!("arguments of action {name}").into();
                let bound = self.drawing_in(random_scope, |this| {
                    this.arguments(parameters, (info, arguments), passing)
                })?;
                self.bind_parameters(parameters, &[], bound)?
            }
            None => Vec::new(),
        };
        // Parameters that the table does not bind come from the control plane.
        let mut control = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let bound = info.and_then(|info| argument_of(info, arguments, index));
            if parameter.direction == Direction::None && bound.is_none() {
                let ty = self.declared_type(parameter.id)?;
                let shape = self.shape(&ty)?;
                let location = self.allocate(&shape, &format!("{name}.{}", parameter.name.text))?;
                self.control_parameters(parameter, &location, &mut control);
                self.bindings.insert(parameter.id, Binding::Location(location));
            }
        }
        self.void_body(body)?;
        self.copy_out(copies)?;
        self.terminate(Terminator::Return);
        Ok(control)
    }

    fn control_parameters(
        &self,
        parameter: &Parameter,
        location: &Location,
        control: &mut Vec<ActionParameter>,
    ) {
        let single = matches!(location, Location::Scalar(Place::Slot(_), _));
        for slot in self.slots_of(location) {
            // A parameter of struct type takes one argument a field.
            let full = &self.program.slots[slot.index()].name;
            let given =
                annotation_named(&parameter.annotations, "name").and_then(annotation_string);
            let given = given.unwrap_or_else(|| parameter.name.text.clone());
            let name = match full.rsplit_once(&*format!(".{}", parameter.name.text)) {
                Some((_, field)) if !single => format!("{given}{field}").into(),
                _ => given,
            };
            control.push(ActionParameter {
                name,
                slot,
                annotations: annotation_texts(&parameter.annotations),
            });
        }
    }

    fn default_action(
        &mut self,
        table: &'a TableDeclaration,
        result: &mut Table,
        nodes: &mut Vec<NodeId>,
    ) -> Lowered<()> {
        for property in &table.properties {
            if let TablePropertyKind::Custom { name, value } = &property.kind
                && &*name.text == "default_action"
            {
                self.span = value.span;
                result.const_default_action = property.is_const;
                let (node, info, arguments) = self.default_reference(value)?;
                result.default_action = self.action_call(node, info, arguments, result, nodes)?;
                if result.actions[result.default_action.action as usize].table_only {
                    return Err(self.error(
                        codes::ENTRY_MISMATCH,
                        "the default action is marked `@tableonly` in the table's list",
                    ));
                }
                return Ok(());
            }
        }
        // The default is `NoAction` (§14.2.1.3), even where the program's list leaves it out.
        let listed = self.nodes.top_level("NoAction").map(|declaration| declaration.id);
        let at = nodes.iter().position(|node| Some(*node) == listed);
        let at = match at {
            Some(at) => at,
            None => {
                let action = self.no_action(listed)?;
                result.actions.push(TableAction { action, table_only: false, default_only: true });
                nodes.push(listed.unwrap_or(NodeId(u32::MAX)));
                result.actions.len() - 1
            }
        };
        result.default_action = ActionCall { action: at as u32, arguments: Vec::new() };
        Ok(())
    }

    fn no_action(&mut self, declared: Option<NodeId>) -> Lowered<ActionId> {
        if let Some(node) = declared {
            return self.action(node, None, &[]);
        }
        let key = (None, NodeId(u32::MAX));
        if let Some(known) = self.table_actions.get(&key) {
            return Ok(*known);
        }
        let region = Builder::new("NoAction".into(), RegionKind::Action).finish(self.origin);
        let id = self.add_action("NoAction".into(), Vec::new(), region, &[], self.origin);
        self.table_actions.insert(key, id);
        Ok(id)
    }

    #[allow(clippy::type_complexity, reason = "what an action reference consists of")]
    fn default_reference(
        &mut self,
        value: &'a Expression,
    ) -> Lowered<(NodeId, Option<&'a CallInfo>, &'a [Argument])> {
        if let Some(info) = self.typed.calls.get(&value.id)
            && let Callee::Action(node) = info.callee
        {
            let arguments: &'a [Argument] = match &value.kind {
                ExpressionKind::Call(call) => &call.arguments,
                _ => &[],
            };
            return Ok((node, Some(info), arguments));
        }
        match self.typed.definitions.get(&value.id) {
            Some(Definition::Node(node)) => Ok((*node, None, &[])),
            _ => Err(self.missing_fact("the default action")),
        }
    }

    /// An action of the table's list with constant arguments.
    pub(super) fn action_call(
        &mut self,
        node: NodeId,
        info: Option<&'a CallInfo>,
        arguments: &'a [Argument],
        table: &Table,
        nodes: &[NodeId],
    ) -> Lowered<ActionCall> {
        let Some(at) = nodes.iter().position(|known| *known == node) else {
            return Err(self.error(
                codes::ENTRY_MISMATCH,
                "this action is not in the table's list of actions",
            ));
        };
        let Some(declaration) = self.nodes.declaration(node) else {
            return Err(self.missing_fact("an action"));
        };
        let DeclarationKind::Action { parameters, .. } = &declaration.kind else {
            return Err(self.missing_fact("an action"));
        };
        let expected = self.program.actions[table.actions[at].action.index()].parameters.len();
        let mut constants = Vec::new();
        if expected > 0 {
            for (index, parameter) in parameters.iter().enumerate() {
                if parameter.direction == Direction::None
                    && let Some(info) = info
                {
                    constants.extend(self.constant_argument(
                        parameter,
                        index,
                        (info, arguments),
                    )?);
                }
            }
        }
        if constants.len() != expected {
            return Err(self.error(
                codes::ENTRY_MISMATCH,
                format!(
                    "`{}` takes {expected} arguments here, not {}",
                    declaration.name.text,
                    constants.len()
                ),
            ));
        }
        Ok(ActionCall { action: at as u32, arguments: constants })
    }

    fn properties(&mut self, table: &'a TableDeclaration, name: &Arc<str>) -> Lowered<Properties> {
        let mut found = Properties::default();
        for property in &table.properties {
            let TablePropertyKind::Custom { name: property_name, value } = &property.kind else {
                continue;
            };
            let declared = match self.architecture() {
                Some(architecture) => architecture.table_property(&property_name.text),
                None => (&*property_name.text == "size").then_some(TableProperty::Size),
            };
            let Some(declared) = declared else { continue };
            self.span = value.span;
            match declared {
                TableProperty::Size => found.size = Some(self.known_u64(value)?),
                TableProperty::IdleTimeout => {
                    let given = self.evaluate(value)?;
                    found.idle_timeout = match given {
                        super::Value::Scalar(operand) => self.known_true(&operand),
                        _ => false,
                    };
                }
                TableProperty::Object => {
                    let given =
                        annotation_named(&property.annotations, "name").and_then(annotation_string);
                    let default = match given {
                        Some(given) => given.strip_prefix('.').unwrap_or(&given).into(),
                        None => name.clone(),
                    };
                    self.attach(value, default, &mut found)?;
                }
            }
        }
        Ok(found)
    }

    fn attach(
        &mut self,
        value: &'a Expression,
        name: Arc<str>,
        found: &mut Properties,
    ) -> Lowered<()> {
        let object = match &value.kind {
            ExpressionKind::Call(call) => {
                match self.construct_call(value, &call.arguments, Some(name))? {
                    Binding::Object(object) => Some(object),
                    _ => None,
                }
            }
            ExpressionKind::List(items) => {
                for item in items {
                    self.attach(item, name.clone(), found)?;
                }
                return Ok(());
            }
            _ => self.object_of(value)?,
        };
        let Some(object) = object else {
            return Err(self.not_expressible("this property needs an extern object"));
        };
        let kind = self.objects[object.index()].kind.clone();
        let direct = matches!(
            kind,
            ObjectKind::DirectCounter(_)
                | ObjectKind::DirectMeter(_)
                | ObjectKind::ColouredMeter(_, true, _)
        );
        if direct && !self.attached.insert(object) {
            return Err(self.error(
                codes::NOT_EXPRESSIBLE,
                "this direct counter or meter is attached to another table already",
            ));
        }
        match kind {
            ObjectKind::ActionProfile(profile) => found.implementation = Some(profile),
            ObjectKind::DirectCounter(counter) => found.direct_counters.push(counter),
            ObjectKind::DirectMeter(meter) | ObjectKind::ColouredMeter(meter, true, _) => {
                found.direct_meters.push(meter);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The key of a table, element by element.
pub(super) fn key_elements(table: &TableDeclaration) -> impl Iterator<Item = &KeyElement> {
    table.properties.iter().flat_map(|property| match &property.kind {
        TablePropertyKind::Key(elements) => elements.as_slice(),
        _ => &[],
    })
}
