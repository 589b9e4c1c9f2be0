// SPDX-License-Identifier: Apache-2.0
//! The Portable NIC Architecture: its blocks and the externs that it shares with PSA. What it adds to
//! tables (entries added by the data plane, expiry) is not described and lowers to unknown externs.

use super::psa;
use super::{Architecture, TableRole};
use crate::lowering::{Construction, ExternCall, Lowered, Lowering, ObjectKind, Value, number};
use crate::{Operation, ValueType};
use std::sync::Arc;

/// The description.
pub(super) struct Pna;

impl Architecture for Pna {
    fn name(&self) -> &'static str {
        "pna"
    }

    fn storage(&self, role: &str, index: usize) -> Option<&'static str> {
        let shared: &[&str] = match role {
            "pre_control" => {
                &["pre_hdr", "pre_user_meta", "pre_input_metadata", "pre_output_metadata"]
            }
            "main_parser" => &["", "main_hdr", "main_user_meta", "main_parser_input_metadata"],
            "main_control" => {
                &["main_hdr", "main_user_meta", "main_input_metadata", "main_output_metadata"]
            }
            "main_deparser" => &["", "main_hdr", "main_user_meta", "main_output_metadata"],
            _ => &[],
        };
        shared.get(index).copied().filter(|name| !name.is_empty())
    }

    fn parser_error(&self, role: &str) -> Option<(&'static str, &'static str)> {
        (role == "main_parser").then_some(("main_input_metadata", "parser_error"))
    }

    fn construct<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        construction: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>> {
        psa::construct(lowering, construction)
    }

    fn call<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        call: &ExternCall<'a>,
    ) -> Lowered<Option<Value>> {
        if call.object.is_some() {
            return psa::call_extern(lowering, call);
        }
        match &*call.name {
            "drop_packet" => request(lowering, "drop_packet", call, &[]),
            "recirculate" => request(lowering, "recirculate", call, &[]),
            "send_to_port" => request(lowering, "send_to_port", call, &["port"]),
            "mirror_packet" => request(lowering, "mirror_packet", call, &["slot", "session"]),
            "SelectByDirection" => {
                let direction = lowering.extern_operand(call, 0)?;
                let from_network = lowering.extern_value(call, 1)?;
                let from_host = lowering.extern_value(call, 2)?;
                let width = lowering.width(&direction);
                let is_network =
                    lowering.binary(crate::BinaryOperation::Equal, direction, number(width, 0));
                match lowering.choose(&is_network, &from_network, &from_host) {
                    Some(value) => Ok(Some(value)),
                    None => Err(lowering.not_expressible("these values cannot be chosen from")),
                }
            }
            _ => Ok(None),
        }
    }

    fn table_property(&self, name: &str) -> Option<TableRole> {
        match name {
            "size" => Some(TableRole::Size),
            "pna_idle_timeout" => Some(TableRole::IdleTimeout),
            "pna_implementation" | "pna_direct_counter" | "pna_direct_meter" => {
                Some(TableRole::Object)
            }
            _ => None,
        }
    }
}

/// A request whose fields are the call's arguments, in order.
fn request<'a>(
    lowering: &mut Lowering<'a>,
    name: &str,
    call: &ExternCall<'a>,
    fields: &[&str],
) -> Lowered<Option<Value>> {
    let mut types = Vec::with_capacity(fields.len());
    let mut arguments = Vec::with_capacity(fields.len());
    for (index, field) in fields.iter().enumerate() {
        let argument = lowering.extern_operand(call, index)?;
        let argument = lowering.resize(argument, 32, false);
        types.push((Arc::from(*field), ValueType::Bits(32)));
        arguments.push(argument);
    }
    let request = lowering.request(name, "", types);
    lowering.emit(Operation::Request { request, arguments });
    Ok(Some(Value::Void))
}
