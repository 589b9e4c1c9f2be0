// SPDX-License-Identifier: Apache-2.0
//! The protobuf messages of a [`P4Info`] (`p4.config.v1.P4Info`), fields in the order of their numbers.

use super::annotations::{Annotations, Literal, StructuredBody};
use super::message::{Message, Value};
use super::types::{BitType, NewType, SdnType, TypeDefinitions, TypeSpec};
use super::{
    ActionReference, ActionScope, CellsExtent, CellsInfo, MatchField, P4Info, Package, Parameter,
    Preamble, ProfileInfo, SizeSemantics, TableInfo,
};
use ir::{Bits, CountUnit, MatchKind};
use std::collections::BTreeMap;
use std::sync::Arc;

impl P4Info {
    /// Returns the protobuf text format.
    pub fn to_text(&self) -> String {
        format!(
            "# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n{}",
            self.message().to_text()
        )
    }

    /// Returns protobuf's JSON.
    pub fn to_json(&self) -> String {
        self.message().to_json()
    }

    fn message(&self) -> Message {
        let mut message = Message::default();
        message.message("pkg_info", package(&self.package));
        message.messages("tables", self.tables.iter().map(table).collect());
        let action = |action: &super::ActionInfo| {
            let mut message = with_preamble(&action.preamble);
            message.messages("params", action.parameters.iter().map(parameter).collect());
            message
        };
        message.messages("actions", self.actions.iter().map(action).collect());
        message.messages("action_profiles", self.profiles.iter().map(profile).collect());
        let is_direct = |extent: &CellsExtent| matches!(extent, CellsExtent::Direct { .. });
        for (name, wanted) in [("counters", false), ("direct_counters", true)] {
            let counters = self.counters.iter().filter(|each| is_direct(&each.extent) == wanted);
            message.messages(name, counters.map(cells).collect());
        }
        for (name, wanted) in [("meters", false), ("direct_meters", true)] {
            let meters = self.meters.iter().filter(|each| is_direct(&each.extent) == wanted);
            message.messages(name, meters.map(cells).collect());
        }
        let header = |header: &super::ControllerHeader| {
            let mut message = with_preamble(&header.preamble);
            message.messages("metadata", header.fields.iter().map(parameter).collect());
            message
        };
        message.messages(
            "controller_packet_metadata",
            self.controller_headers.iter().map(header).collect(),
        );
        let value_set = |set: &super::ValueSetInfo| {
            let mut message = with_preamble(&set.preamble);
            message.messages("match", set.fields.iter().map(match_field).collect());
            message.number("size", small(set.size));
            message
        };
        message.messages("value_sets", self.value_sets.iter().map(value_set).collect());
        let register = |register: &super::RegisterInfo| {
            let mut message = with_preamble(&register.preamble);
            message.message("type_spec", type_spec(&register.ty));
            message.number("size", small(register.size));
            named_type(&mut message, "index_type_name", register.index_type.as_ref());
            message
        };
        message.messages("registers", self.registers.iter().map(register).collect());
        let digest = |digest: &super::DigestInfo| {
            let mut message = with_preamble(&digest.preamble);
            message.message("type_spec", type_spec(&digest.ty));
            message
        };
        message.messages("digests", self.digests.iter().map(digest).collect());
        message.message("type_info", type_info(&self.types));
        message
    }
}

/// Sizes that P4Info has in 32 bits.
fn small(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn texts(list: &[Arc<str>]) -> Vec<Value> {
    list.iter().map(|text| Value::Text(text.to_string())).collect()
}

fn structured(annotations: &Annotations) -> Vec<Message> {
    let expression = |literal: &Literal| {
        let mut message = Message::default();
        match literal {
            Literal::Text(text) => message.set("string_value", Value::Text(text.to_string())),
            Literal::Integer(value) => message.set("int64_value", Value::Long(*value)),
            Literal::Bool(value) => message.set("bool_value", Value::Bool(*value)),
        }
        message
    };
    let one = |annotation: &super::StructuredAnnotation| {
        let mut message = Message::default();
        message.text("name", &annotation.name);
        let mut body = Message::default();
        match &annotation.body {
            StructuredBody::Expressions(list) => {
                body.messages("expressions", list.iter().map(expression).collect());
                if !body.is_empty() {
                    message.message("expression_list", body);
                }
            }
            StructuredBody::Pairs(list) => {
                let pair = |(key, value): &(Arc<str>, Literal)| {
                    let mut pair = Message::default();
                    pair.text("key", key);
                    pair.message("value", expression(value));
                    pair
                };
                body.messages("kv_pairs", list.iter().map(pair).collect());
                message.message("kv_pair_list", body);
            }
        }
        message
    };
    annotations.structured.iter().map(one).collect()
}

/// The documentation of an object, if it has any.
fn documentation(message: &mut Message, annotations: &Annotations) {
    if annotations.brief.is_none() && annotations.description.is_none() {
        return;
    }
    let mut doc = Message::default();
    doc.text("brief", annotations.brief.as_deref().unwrap_or_default());
    doc.text("description", annotations.description.as_deref().unwrap_or_default());
    message.message("doc", doc);
}

fn with_preamble(preamble: &Preamble) -> Message {
    let mut inner = Message::default();
    inner.number("id", preamble.id);
    inner.text("name", &preamble.name);
    inner.text("alias", &preamble.alias);
    inner.repeated("annotations", texts(&preamble.annotations.texts));
    documentation(&mut inner, &preamble.annotations);
    inner.messages("structured_annotations", structured(&preamble.annotations));
    let mut message = Message::default();
    message.message("preamble", inner);
    message
}

fn named_type(message: &mut Message, field: &'static str, name: Option<&Arc<str>>) {
    if let Some(name) = name {
        let mut named = Message::default();
        named.text("name", name);
        message.message(field, named);
    }
}

fn package(package: &Package) -> Message {
    let mut message = Message::default();
    let property = |name: &str| {
        let mut found = package.properties.iter().filter(|(key, _)| **key == *name);
        found.next().map_or("", |(_, value)| value).to_string()
    };
    message.text("name", &property("name"));
    message.text("version", &property("version"));
    documentation(&mut message, &package.annotations);
    message.repeated("annotations", texts(&package.annotations.texts));
    message.text("arch", &package.architecture);
    message.text("organization", &property("organization"));
    message.text("contact", &property("contact"));
    message.text("url", &property("url"));
    message.messages("structured_annotations", structured(&package.annotations));
    let mut platform = Message::default();
    for name in [
        "multicast_group_table_size",
        "multicast_group_table_total_replicas",
        "multicast_group_table_max_replicas_per_entry",
    ] {
        let found = package.platform.iter().find(|(key, _)| **key == *name);
        platform.number(name, found.map_or(0, |(_, value)| *value));
    }
    if !platform.is_empty() {
        message.message("platform_properties", platform);
    }
    message
}

fn match_field(field: &MatchField) -> Message {
    let mut message = Message::default();
    message.number("id", field.id);
    message.text("name", &field.name);
    message.repeated("annotations", texts(&field.annotations.texts));
    message.number("bitwidth", field.width_bits);
    let kind = match &field.match_kind {
        MatchKind::Exact => Ok("EXACT"),
        MatchKind::Lpm => Ok("LPM"),
        MatchKind::Ternary => Ok("TERNARY"),
        MatchKind::Range => Ok("RANGE"),
        MatchKind::Optional => Ok("OPTIONAL"),
        MatchKind::Selector => Err("selector"),
        MatchKind::Other(name) => Err(&**name),
    };
    match kind {
        Ok(kind) => message.set("match_type", Value::Name(kind)),
        Err(other) => message.text("other_match_type", other),
    }
    documentation(&mut message, &field.annotations);
    named_type(&mut message, "type_name", field.type_name.as_ref());
    message.messages("structured_annotations", structured(&field.annotations));
    message
}

fn parameter(parameter: &Parameter) -> Message {
    let mut message = Message::default();
    message.number("id", parameter.id);
    message.text("name", &parameter.name);
    message.repeated("annotations", texts(&parameter.annotations.texts));
    message.number("bitwidth", parameter.width_bits.unwrap_or(0));
    documentation(&mut message, &parameter.annotations);
    named_type(&mut message, "type_name", parameter.type_name.as_ref());
    message.messages("structured_annotations", structured(&parameter.annotations));
    message
}

/// A value as bytes of its whole width, the most significant first.
fn bytes(value: &Bits) -> Vec<u8> {
    let length = value.width_bits().div_ceil(8) as usize;
    let digits = value.to_biguint().to_bytes_be();
    let mut bytes = vec![0; length.saturating_sub(digits.len())];
    bytes.extend(digits.iter().skip(digits.len().saturating_sub(length)));
    bytes
}

fn table(table: &TableInfo) -> Message {
    let mut message = with_preamble(&table.preamble);
    message.messages("match_fields", table.match_fields.iter().map(match_field).collect());
    let reference = |action: &ActionReference| {
        let mut message = Message::default();
        message.number("id", action.id);
        message.repeated("annotations", texts(&action.annotations.texts));
        match action.scope {
            ActionScope::TableAndDefault => {}
            ActionScope::TableOnly => message.set("scope", Value::Name("TABLE_ONLY")),
            ActionScope::DefaultOnly => message.set("scope", Value::Name("DEFAULT_ONLY")),
        }
        message.messages("structured_annotations", structured(&action.annotations));
        message
    };
    message.messages("action_refs", table.actions.iter().map(reference).collect());
    let (default, arguments) = &table.default_action;
    if table.has_const_default {
        message.number("const_default_action_id", *default);
    }
    let mut call = Message::default();
    call.number("action_id", *default);
    let argument = |(id, value): &(u32, Bits)| {
        let mut argument = Message::default();
        argument.number("param_id", *id);
        argument.set("value", Value::Bytes(bytes(value)));
        argument
    };
    call.messages("arguments", arguments.iter().map(argument).collect());
    message.message("initial_default_action", call);
    message.number("implementation_id", table.implementation.unwrap_or(0));
    let direct = table.direct_resources.iter().map(|id| Value::Number(*id));
    message.repeated("direct_resource_ids", direct.collect());
    message.long("size", table.size);
    if table.idle_timeout {
        message.set("idle_timeout_behavior", Value::Name("NOTIFY_CONTROL"));
    }
    message.flag("is_const_table", table.is_const);
    message.flag("has_initial_entries", table.has_initial_entries);
    message
}

fn profile(profile: &ProfileInfo) -> Message {
    let mut message = with_preamble(&profile.preamble);
    let tables = profile.tables.iter().map(|id| Value::Number(*id));
    message.repeated("table_ids", tables.collect());
    message.flag("with_selector", profile.has_selector);
    message.long("size", profile.size);
    message.number("max_group_size", profile.max_group_size);
    match profile.size_semantics {
        None => {}
        Some(SizeSemantics::SumOfWeights) => message.message("sum_of_weights", Message::default()),
        Some(SizeSemantics::SumOfMembers { max_weight }) => {
            let mut members = Message::default();
            members.number("max_member_weight", max_weight);
            message.message("sum_of_members", members);
        }
    }
    message
}

fn cells<Id>(cells: &CellsInfo<Id>) -> Message {
    let mut message = with_preamble(&cells.preamble);
    let mut spec = Message::default();
    let unit = match cells.unit {
        CountUnit::Packets => "PACKETS",
        CountUnit::Bytes => "BYTES",
        CountUnit::PacketsAndBytes => "BOTH",
    };
    spec.set("unit", Value::Name(unit));
    message.message("spec", spec);
    match &cells.extent {
        CellsExtent::Array { size, index_type } => {
            message.long("size", *size);
            named_type(&mut message, "index_type_name", index_type.as_ref());
        }
        CellsExtent::Direct { table } => message.number("direct_table_id", *table),
    }
    message
}

fn bit_type(ty: BitType) -> Message {
    let mut inner = Message::default();
    let (name, field, width) = match ty {
        BitType::Bit(width) => ("bit", "bitwidth", width),
        BitType::Int(width) => ("int", "bitwidth", width),
        BitType::Varbit(width) => ("varbit", "max_bitwidth", width),
    };
    inner.number(field, width);
    let mut message = Message::default();
    message.message(name, inner);
    message
}

fn type_spec(ty: &TypeSpec) -> Message {
    let mut message = Message::default();
    match ty {
        TypeSpec::Bits(ty) => message.message("bitstring", bit_type(*ty)),
        TypeSpec::Bool => message.message("bool", Message::default()),
        TypeSpec::Error => message.message("error", Message::default()),
        TypeSpec::Tuple(members) => {
            let mut tuple = Message::default();
            tuple.messages("members", members.iter().map(type_spec).collect());
            message.message("tuple", tuple);
        }
        TypeSpec::Struct(name) => named_type(&mut message, "struct", Some(name)),
        TypeSpec::Header(name) => named_type(&mut message, "header", Some(name)),
        TypeSpec::HeaderUnion(name) => named_type(&mut message, "header_union", Some(name)),
        TypeSpec::HeaderStack(name, size) => {
            let mut stack = Message::default();
            named_type(&mut stack, "header", Some(name));
            stack.number("size", *size);
            message.message("header_stack", stack);
        }
        TypeSpec::HeaderUnionStack(name, size) => {
            let mut stack = Message::default();
            named_type(&mut stack, "header_union", Some(name));
            stack.number("size", *size);
            message.message("header_union_stack", stack);
        }
        TypeSpec::Enum(name) => named_type(&mut message, "enum", Some(name)),
        TypeSpec::SerializableEnum(name) => {
            named_type(&mut message, "serializable_enum", Some(name));
        }
        TypeSpec::New(name) => named_type(&mut message, "new_type", Some(name)),
        TypeSpec::Other => {}
    }
    message
}

fn type_info(types: &TypeDefinitions) -> Message {
    let mut message = Message::default();
    message.map(
        "structs",
        defined(&types.structs, |(name, ty)| {
            let mut member = Message::default();
            member.text("name", name);
            member.message("type_spec", type_spec(ty));
            member
        }),
    );
    message.map(
        "headers",
        defined(&types.headers, |(name, ty)| {
            let mut member = Message::default();
            member.text("name", name);
            member.message("type_spec", bit_type(*ty));
            member
        }),
    );
    message.map(
        "header_unions",
        defined(&types.header_unions, |(name, header)| {
            let mut member = Message::default();
            member.text("name", name);
            named_type(&mut member, "header", Some(header));
            member
        }),
    );
    message.map(
        "enums",
        defined(&types.enums, |name| {
            let mut member = Message::default();
            member.text("name", name);
            member
        }),
    );
    if let Some(errors) = &types.errors {
        let mut error = Message::default();
        error.repeated("members", texts(errors));
        message.message("error", error);
    }
    let serializable = types.serializable_enums.iter().map(|(name, (width, members))| {
        let mut definition = Message::default();
        let mut underlying = Message::default();
        underlying.number("bitwidth", *width);
        definition.message("underlying_type", underlying);
        let member = |(name, value): &(Arc<str>, Bits)| {
            let mut member = Message::default();
            member.text("name", name);
            member.set("value", Value::Bytes(bytes(value)));
            member
        };
        definition.messages("members", members.iter().map(member).collect());
        (name.to_string(), definition)
    });
    message.map("serializable_enums", serializable.collect());
    let new_types = types.new_types.iter().map(|(name, (ty, annotations))| {
        let mut definition = Message::default();
        match ty {
            NewType::Original(ty) => definition.message("original_type", type_spec(ty)),
            NewType::Translated { uri, ty } => {
                let mut translated = Message::default();
                translated.text("uri", uri);
                match ty {
                    SdnType::Bits(width) => translated.number("sdn_bitwidth", *width),
                    SdnType::Text => translated.message("sdn_string", Message::default()),
                }
                definition.message("translated_type", translated);
            }
        }
        definition.repeated("annotations", texts(&annotations.texts));
        definition.messages("structured_annotations", structured(annotations));
        (name.to_string(), definition)
    });
    message.map("new_types", new_types.collect());
    message
}

/// Definitions that consist of members.
fn defined<T>(
    types: &BTreeMap<Arc<str>, Vec<T>>,
    member: impl Fn(&T) -> Message,
) -> Vec<(String, Message)> {
    let definition = |(name, members): (&Arc<str>, &Vec<T>)| {
        let mut message = Message::default();
        message.messages("members", members.iter().map(&member).collect());
        (name.to_string(), message)
    };
    types.iter().map(definition).collect()
}
