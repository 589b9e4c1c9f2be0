// SPDX-License-Identifier: Apache-2.0
//! PNA's externs, most of which it shares with PSA. Its additions to tables (entries added by the data plane,
//! expiry) have no meaning here and lower to unknown externs.

use crate::architecture::psa::externs as psa;
use crate::lowering::{
    Construction, ExternCall, ExternMeaning, Lowered, Lowering, ObjectKind, Value, number,
};
use crate::{Operation, ValueType};
use std::sync::Arc;

/// The meaning of PNA's externs.
pub(in crate::architecture) struct Pna;

impl ExternMeaning for Pna {
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
