// SPDX-License-Identifier: Apache-2.0
//! PSA's externs. PNA has most of them too.

use crate::architecture::objects::{NamedAlgorithm, SharedObject};
use crate::lowering::{
    Construction, ExternCall, ExternMeaning, Lowered, Lowering, ObjectKind, Shape, Value, number,
};
use crate::{BinaryOperation, Bits, HashAlgorithm, Operand, Operation, ValueType};

/// The meaning of PSA's externs.
pub(in crate::architecture) struct Psa;

impl ExternMeaning for Psa {
    fn construct<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        construction: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>> {
        construct(lowering, construction)
    }

    fn call<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        call: &ExternCall<'a>,
    ) -> Lowered<Option<Value>> {
        call_extern(lowering, call)
    }
}

const OBJECTS: &[(&str, SharedObject)] = &[
    ("Register", SharedObject::Register),
    ("Counter", SharedObject::Counter),
    ("DirectCounter", SharedObject::DirectCounter),
    ("Meter", SharedObject::Meter),
    ("DirectMeter", SharedObject::DirectMeter),
    ("ActionProfile", SharedObject::ActionProfile),
    ("ActionSelector", SharedObject::ActionSelector),
];

/// Objects that PSA and PNA have in common.
pub(in crate::architecture) fn construct<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<Option<ObjectKind>> {
    let kind = match &*construction.type_name {
        "Hash" => ObjectKind::Hash(lowering.construction_algorithm(construction, 0)?),
        "Checksum" => {
            let algorithm = NamedAlgorithm::of(&lowering.construction_member(construction, 0)?);
            if algorithm != NamedAlgorithm::Fixed(HashAlgorithm::OnesComplement16) {
                return Ok(None);
            }
            let slot = lowering.fresh_slot(&format!("{}.$sum", construction.name), 16);
            ObjectKind::InternetChecksum(slot)
        }
        "InternetChecksum" => {
            let slot = lowering.fresh_slot(&format!("{}.$sum", construction.name), 16);
            ObjectKind::InternetChecksum(slot)
        }
        "Random" => {
            let width = match construction.type_arguments.first() {
                Some(ty) => lowering.shape(ty)?,
                None => Shape::bits(64),
            };
            let width = lowering.packed_width(&width);
            let low = lowering.construction_number(construction, 0)?;
            let high = lowering.construction_number(construction, 1)?;
            ObjectKind::Random(number(width, low), number(width, high))
        }
        "Digest" => {
            let shape = match construction.type_arguments.first() {
                Some(ty) => lowering.shape(ty)?,
                None => Shape::Empty,
            };
            let mut fields = lowering.request_fields(&shape, "");
            if let [(name, _)] = fields.as_mut_slice()
                && name.is_empty()
            {
                *name = "value".into();
            }
            ObjectKind::Digest(lowering.request("digest", &construction.name, fields))
        }
        "PacketReplicationEngine" | "BufferingQueueingEngine" => ObjectKind::Inert,
        _ => return lowering.construct_shared(OBJECTS, construction),
    };
    Ok(Some(kind))
}

/// Methods that PSA and PNA have in common.
pub(in crate::architecture) fn call_extern<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
) -> Lowered<Option<Value>> {
    let Some(object) = call.object else { return Ok(None) };
    let kind = lowering.objects[object.index()].kind.clone();
    match (kind, &*call.name) {
        (ObjectKind::Register(register, shape), "read") => {
            let index = lowering.extern_operand(call, 0)?;
            Ok(Some(lowering.register_read((register, &shape), index)))
        }
        (ObjectKind::Register(register, shape), "write") => {
            let index = lowering.extern_operand(call, 0)?;
            let value = lowering.extern_value(call, 1)?;
            lowering.register_write((register, &shape), index, value)?;
            Ok(Some(Value::Void))
        }
        (ObjectKind::Counter(counter), "count") => {
            let index = lowering.extern_operand(call, 0)?;
            lowering.emit(Operation::Count { counter, index });
            Ok(Some(Value::Void))
        }
        (ObjectKind::DirectCounter(counter), "count") => {
            lowering.only_in_action()?;
            lowering.emit(Operation::CountDirect { counter });
            Ok(Some(Value::Void))
        }
        (ObjectKind::Meter(meter), "execute" | "dpdk_execute") => {
            let index = lowering.extern_operand(call, 0)?;
            let result = lowering.temp(ValueType::Bits(2));
            lowering.emit(Operation::Meter { meter, index, result });
            colour(lowering, call, Operand::Temp(result)).map(Some)
        }
        (ObjectKind::DirectMeter(meter), "execute" | "dpdk_execute") => {
            lowering.only_in_action()?;
            let result = lowering.temp(ValueType::Bits(2));
            lowering.emit(Operation::MeterDirect { meter, result });
            colour(lowering, call, Operand::Temp(result)).map(Some)
        }
        (ObjectKind::Hash(algorithm), "get_hash") => {
            let shape = lowering.shape(&call.result)?;
            let value = if call.parameters.len() == 1 {
                let inputs = lowering.extern_scalars(call, 0)?;
                let width = lowering.packed_width(&shape);
                lowering.hash_of(algorithm, inputs, width, false)
            } else {
                let base = lowering.extern_operand(call, 0)?;
                let inputs = lowering.extern_scalars(call, 1)?;
                let max = lowering.extern_operand(call, 2)?;
                lowering.hash_in_range(algorithm, inputs, base, max)
            };
            Ok(Some(lowering.number_value(value, &shape)?))
        }
        (ObjectKind::InternetChecksum(slot), _) => lowering.internet_checksum(slot, call),
        (ObjectKind::Random(low, high), "read") => {
            Ok(Some(Value::Scalar(lowering.draw(low, high))))
        }
        (ObjectKind::Digest(request), "pack") => {
            let value = lowering.extern_value(call, 0)?;
            let arguments = lowering.flatten(&value);
            lowering.emit(Operation::Request { request, arguments });
            Ok(Some(Value::Void))
        }
        _ => Ok(None),
    }
}

/// The IR's colour (0 green, 1 yellow, 2 red) as a member of the architecture's enum of colours.
fn colour<'a>(lowering: &mut Lowering<'a>, call: &ExternCall<'a>, raw: Operand) -> Lowered<Value> {
    let shape = lowering.shape(&call.result)?;
    let Shape::Scalar(ty, crate::Display::Enum(_, members)) = &shape else {
        return lowering.number_value(raw, &shape);
    };
    let member = |name: &str| -> Operand {
        let found = members.iter().find(|(member, _)| &**member == name);
        match found {
            Some((_, bits)) => Operand::Constant(bits.clone()),
            None => Operand::Constant(Bits::zero(ty.width_bits())),
        }
    };
    let (green, yellow, red) = (member("GREEN"), member("YELLOW"), member("RED"));
    let is_red = lowering.binary(BinaryOperation::Equal, raw.clone(), number(2, 2));
    let is_yellow = lowering.binary(BinaryOperation::Equal, raw, number(2, 1));
    let rest = lowering.select(is_yellow, yellow, green);
    Ok(Value::Scalar(lowering.select(is_red, red, rest)))
}
