// SPDX-License-Identifier: Apache-2.0
//! The table by which a control plane says what it knows of its switch: number, recirculation port, externs.

use super::context::Context;
use crate::expressions::type_text;
use lucid::core::Type;
use source::Span;

/// A table without a key whose default action holds what the control plane says of this switch.
pub(super) fn values_table(
    context: &mut Context<'_>,
    stage: usize,
    (table, action): (&str, &str),
    metadata: &str,
) {
    let mut parameters = vec!["bit<32> self_switch".to_string()];
    let mut body = format!("{metadata}.self_switch = self_switch;");
    let mut defaults = vec!["0".to_string()];
    if context.options.has_own_recirculation_ports() {
        parameters.push("PortId_t recirculation_port".to_string());
        body.push_str(&format!("{metadata}.recirculation_port = recirculation_port;"));
        defaults.push(context.options.recirculation_port.to_string());
    }
    for (at, one) in context.program.externs.iter().enumerate() {
        let Some(ty) = extern_type(one.ty) else { continue };
        let name = &context.externs[at];
        parameters.push(format!("{ty} {name}"));
        body.push_str(&format!("{metadata}.{name} = {name};"));
        defaults.push("0".into());
    }
    context.put(
        Span::NONE,
        format!(
            "action {action}({}) {{ {body} }} @stage({stage}) table {table} {{ \
             actions = {{ {action}; }} default_action = {action}({}); size = 1; }}",
            parameters.join(", "),
            defaults.join(", ")
        ),
    );
}

/// The type of an extern as metadata; none for groups, which are multicast groups.
pub(super) fn extern_type(ty: Type) -> Option<String> {
    match ty {
        Type::Int(_) => Some(type_text(ty)),
        Type::Bool => Some("bit<1>".into()),
        Type::Event | Type::Group | Type::Payload => None,
    }
}
