// SPDX-License-Identifier: Apache-2.0
//! Calls of Tofino's externs: methods of objects, and functions. Mirror copies, resubmission and digests become
//! requests, which the device carries out.

use super::{FOR_TRAFFIC_MANAGER, UNICAST_FLAG};
use crate::lowering::{
    ExternCall, Location, Lowered, Lowering, ObjectId, ObjectKind, Shape, Value, bit, number,
};
use crate::{BinaryOperation, Bits, HashAlgorithm, Operand, Operation, Place, SlotId, ValueType};
use p4::ast::{DeclarationKind, NodeId};
use std::sync::Arc;

/// A mirror session has 10 bits.
const SESSION_BITS: u32 = 10;

/// Size of the header that a resubmitted packet carries, in bits.
const RESUBMIT_BITS: u32 = 64;

/// A method of an object; `None` when it is unknown.
pub(super) fn method<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    object: ObjectId,
) -> Lowered<Option<Value>> {
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
        (ObjectKind::RegisterParameter(register, shape), "read") => {
            Ok(Some(lowering.register_read((register, &shape), number(1, 0))))
        }
        (ObjectKind::RegisterFunction(register, shape, function), "execute") => {
            execute(lowering, call, (register, &shape), function).map(Some)
        }
        (ObjectKind::RegisterFunction(..), _) => Err(lowering.not_expressible(format!(
            "`{}` of a register action: only `execute` with an index has a meaning here",
            call.name
        ))),
        (ObjectKind::Counter(counter), "count") => {
            no_adjustment(lowering, call, 1)?;
            let index = lowering.extern_operand(call, 0)?;
            lowering.emit(Operation::Count { counter, index });
            Ok(Some(Value::Void))
        }
        (ObjectKind::DirectCounter(counter), "count") => {
            no_adjustment(lowering, call, 0)?;
            lowering.only_in_action()?;
            lowering.emit(Operation::CountDirect { counter });
            Ok(Some(Value::Void))
        }
        (ObjectKind::ColouredMeter(meter, is_direct, colours), "execute") => {
            if call.parameters.iter().any(|parameter| &*parameter.name.text == "color") {
                return Err(lowering.not_expressible(
                    "meters do not know a colour that the packet has before: call `execute` without one",
                ));
            }
            no_adjustment(lowering, call, usize::from(!is_direct))?;
            let result = if is_direct {
                lowering.only_in_action()?;
                let result = lowering.temp(ValueType::Bits(2));
                lowering.emit(Operation::MeterDirect { meter, result });
                result
            } else {
                let index = lowering.extern_operand(call, 0)?;
                let result = lowering.temp(ValueType::Bits(2));
                lowering.emit(Operation::Meter { meter, index, result });
                result
            };
            let [green, yellow, red] = colours.map(|colour| number(8, u64::from(colour)));
            let is = |lowering: &mut Lowering<'a>, colour| {
                lowering.binary(BinaryOperation::Equal, Operand::Temp(result), number(2, colour))
            };
            let (is_yellow, is_red) = (is(lowering, 1), is(lowering, 2));
            let rest = lowering.select(is_yellow, yellow, green);
            Ok(Some(Value::Scalar(lowering.select(is_red, red, rest))))
        }
        (ObjectKind::SizedHash(algorithm, width_bits), "get") => {
            get_hash(lowering, call, algorithm, width_bits).map(Some)
        }
        (ObjectKind::Random(low, high), "get") => Ok(Some(Value::Scalar(lowering.draw(low, high)))),
        (ObjectKind::ChecksumUnit(slot), _) => checksum(lowering, call, slot),
        (ObjectKind::ParserCounter(slot), _) => parser_counter(lowering, call, slot),
        (ObjectKind::Emission(name, only), "emit") => {
            guarded_by_type(lowering, name, only, |lowering| emit(lowering, call, name))?;
            Ok(Some(Value::Void))
        }
        (ObjectKind::TypedDigest(label, shape, only), "pack") => {
            guarded_by_type(lowering, "digest", only, |lowering| {
                let value = lowering.extern_value(call, 0)?;
                lowering.digest(&label, &shape, value)
            })?;
            Ok(Some(Value::Void))
        }
        // A parser's priority decides which of two waiting packets is parsed first; here none waits.
        (ObjectKind::Inert, "set") => Ok(Some(Value::Void)),
        _ => Ok(None),
    }
}

fn no_adjustment<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    index: usize,
) -> Lowered<()> {
    match call.argument(index) {
        Some(_) => Err(lowering.not_expressible(
            "counters and meters count the packet's own length: leave `adjust_byte_count` out",
        )),
        None => Ok(()),
    }
}

/// `execute`: its value is the function's first result, further ones go to its `out` arguments.
fn execute<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    register: (crate::RegisterId, &Shape),
    function: NodeId,
) -> Lowered<Value> {
    let Some(function) = lowering.declaration_of(function) else {
        return Err(lowering.missing_fact("the `apply` of a register action"));
    };
    if !matches!(function.kind, DeclarationKind::Function { .. }) {
        return Err(lowering.missing_fact("the `apply` of a register action"));
    }
    let index = lowering.extern_operand(call, 0)?;
    let mut targets = Vec::new();
    for at in 1..call.parameters.len() {
        targets.push(lowering.extern_target(call, at)?);
    }
    let mut results = lowering.register_function(register, function, index)?.into_iter();
    let shape = lowering.shape(&call.result)?;
    let value = match results.next() {
        Some(value) => value,
        None => lowering.default_value(&shape),
    };
    for ((location, shape), result) in targets.into_iter().zip(results) {
        if location != Location::Nothing {
            let result = lowering.fit(result, false, &shape)?;
            lowering.store(&location, &result)?;
        }
    }
    Ok(value)
}

fn get_hash<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    algorithm: HashAlgorithm,
    width_bits: u32,
) -> Lowered<Value> {
    let inputs = lowering.extern_scalars(call, 0)?;
    let hash = match algorithm {
        // The low bits of the input as one number.
        HashAlgorithm::Identity => {
            let mut all = number(0, 0);
            for input in inputs {
                all = lowering.binary(BinaryOperation::Concat, all, input);
            }
            lowering.resize(all, width_bits, false)
        }
        _ => lowering.hash_of(algorithm, inputs, width_bits, false),
    };
    if call.parameters.len() == 1 {
        return Ok(Value::Scalar(hash));
    }
    let base = lowering.extern_operand(call, 1)?;
    let max = lowering.extern_operand(call, 2)?;
    let hash = lowering.resize(hash, 64, false);
    let value = lowering.in_range(hash, base, max);
    Ok(Value::Scalar(lowering.resize(value, width_bits, false)))
}

/// The inputs of a checksum; fields of invalid headers count as zero.
fn checksum_inputs<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
) -> Lowered<Vec<Operand>> {
    let Some(argument) = call.argument(0) else {
        return Err(lowering.missing_fact("the inputs of a checksum"));
    };
    let inputs = lowering.inputs_of_valid_headers(argument)?;
    let width_bits: u32 = inputs.iter().map(|input| lowering.width(input)).sum();
    if !width_bits.is_multiple_of(16) {
        return Err(lowering.not_expressible(format!(
            "a checksum over {width_bits} bits: it adds words of 16 bits, so give it whole ones"
        )));
    }
    Ok(inputs)
}

fn checksum<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    slot: SlotId,
) -> Lowered<Option<Value>> {
    let sum_of = |lowering: &mut Lowering<'a>, inputs: Vec<Operand>| {
        let checksum = lowering.hash_of(HashAlgorithm::Csum16, inputs, 16, false);
        lowering.not(checksum)
    };
    match &*call.name {
        "add" => {
            let mut inputs = vec![lowering.load_slot(slot)];
            inputs.extend(checksum_inputs(lowering, call)?);
            let sum = sum_of(lowering, inputs);
            lowering.store_slot(slot, sum);
            Ok(Some(Value::Void))
        }
        "subtract" => {
            let data = checksum_inputs(lowering, call)?;
            // The checksum of data is the complement of its sum: adding it takes the data away.
            let removed = lowering.hash_of(HashAlgorithm::Csum16, data, 16, false);
            let before = lowering.load_slot(slot);
            let sum = sum_of(lowering, vec![before, removed]);
            lowering.store_slot(slot, sum);
            Ok(Some(Value::Void))
        }
        // Data with a right checksum in it adds up to ones.
        "verify" => {
            let sum = lowering.load_slot(slot);
            let wrong = lowering.binary(BinaryOperation::NotEqual, sum, number(16, 0xffff));
            Ok(Some(Value::Scalar(wrong)))
        }
        "get" => Ok(Some(Value::Scalar(lowering.load_slot(slot)))),
        "subtract_all_and_deposit" => {
            let target = lowering.extern_target(call, 0)?;
            let sum = lowering.load_slot(slot);
            lowering.store_number(&target, sum)?;
            Ok(Some(Value::Void))
        }
        "update" => {
            let inputs = checksum_inputs(lowering, call)?;
            let checksum = lowering.hash_of(HashAlgorithm::Csum16, inputs, 16, false);
            let Some(_) = call.argument(1) else { return Ok(Some(Value::Scalar(checksum))) };
            let zeros_as_ones = lowering.extern_operand(call, 1)?;
            let is_zero = lowering.binary(BinaryOperation::Equal, checksum.clone(), number(16, 0));
            let both = lowering.and(is_zero, zeros_as_ones);
            Ok(Some(Value::Scalar(lowering.select(both, number(16, 0xffff), checksum))))
        }
        _ => Ok(None),
    }
}

fn parser_counter<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    slot: SlotId,
) -> Lowered<Option<Value>> {
    let step = |lowering: &mut Lowering<'a>, operation| -> Lowered<()> {
        let by = lowering.extern_operand(call, 0)?;
        let by = lowering.resize(by, 8, false);
        let before = lowering.load_slot(slot);
        let after = lowering.binary(operation, before, by);
        lowering.store_slot(slot, after);
        Ok(())
    };
    match &*call.name {
        "set" if call.parameters.len() == 1 => {
            let value = lowering.extern_operand(call, 0)?;
            let value = lowering.resize(value, 8, false);
            lowering.store_slot(slot, value);
            Ok(Some(Value::Void))
        }
        "set" => {
            let field = lowering.extern_operand(call, 0)?;
            let field = lowering.resize(field, 8, false);
            let mut parameters = Vec::new();
            for at in 1..5 {
                let value = lowering.extern_operand(call, at)?;
                parameters.push(lowering.resize(value, 8, false));
            }
            let [max, rotate, mask, add] = &parameters[..] else {
                return Err(lowering.missing_fact("the parameters of a parser counter"));
            };
            let twice = lowering.binary(BinaryOperation::Concat, field.clone(), field);
            let moved = lowering.binary(BinaryOperation::ShiftRightLogical, twice, rotate.clone());
            let moved = lowering.slice(moved, 7, 0);
            let masked = lowering.and(moved, mask.clone());
            let value = lowering.binary(BinaryOperation::Add, masked, add.clone());
            let fits =
                lowering.binary(BinaryOperation::LessEqualUnsigned, value.clone(), max.clone());
            lowering.store_slot(slot, value);
            let error = lowering.program.error_number("CounterRange").unwrap_or(0);
            let (go_on, raise) = lowering.branch(fits);
            lowering.start_block(raise);
            lowering.terminate(crate::Terminator::Reject(number(16, u64::from(error))));
            lowering.start_block(go_on);
            Ok(Some(Value::Void))
        }
        "increment" => step(lowering, BinaryOperation::Add).map(|()| Some(Value::Void)),
        "decrement" => step(lowering, BinaryOperation::Subtract).map(|()| Some(Value::Void)),
        "is_zero" => {
            let value = lowering.load_slot(slot);
            Ok(Some(Value::Scalar(lowering.binary(BinaryOperation::Equal, value, number(8, 0)))))
        }
        "is_negative" => {
            let value = lowering.load_slot(slot);
            Ok(Some(Value::Scalar(lowering.slice(value, 7, 7))))
        }
        _ => Ok(None),
    }
}

/// Does something where the program chose this type of mirroring, resubmission or digest.
fn guarded_by_type<'a>(
    lowering: &mut Lowering<'a>,
    name: &str,
    only: Option<u64>,
    work: impl FnOnce(&mut Lowering<'a>) -> Lowered<()>,
) -> Lowered<()> {
    let Some(only) = only else { return work(lowering) };
    // The blocks of ingress come first.
    let storage = match lowering.program.blocks.len() {
        0..3 => "ig_intr_md_for_dprsr",
        _ => "eg_intr_md_for_dprsr",
    };
    let field = format!("{name}_type");
    let Some(place) = lowering.shared_slot(storage, &field) else {
        return Err(lowering.not_expressible(format!(
            "this object acts where `{field}` is {only}, but no block has that metadata as a parameter"
        )));
    };
    let chosen = lowering.load_place(place, ValueType::Bits(3));
    let condition = lowering.binary(BinaryOperation::Equal, chosen, number(3, only));
    lowering.guarded(condition, work)
}

/// `emit` of a mirror or of a resubmission, with a header or without.
fn emit<'a>(lowering: &mut Lowering<'a>, call: &ExternCall<'a>, name: &str) -> Lowered<()> {
    let mut fields: Vec<(Arc<str>, ValueType)> = Vec::new();
    let mut arguments = Vec::new();
    let mut at = 0;
    if name == "mirror" {
        let session = lowering.extern_operand(call, 0)?;
        arguments.push(lowering.resize(session, SESSION_BITS, false));
        fields.push(("session".into(), ValueType::Bits(SESSION_BITS)));
        at = 1;
    }
    if call.argument(at).is_some() {
        let shape = match call.type_arguments.first() {
            Some(ty) => lowering.shape(ty)?,
            None => return Err(lowering.missing_fact("the type of a header")),
        };
        let width_bits = lowering.packed_width(&shape);
        if !width_bits.is_multiple_of(8) {
            return Err(lowering.not_expressible(format!(
                "a header of {width_bits} bits in front of a packet: pad it to whole bytes"
            )));
        }
        if name == "resubmit" && width_bits > RESUBMIT_BITS {
            return Err(lowering.not_expressible(format!(
                "{width_bits} bits for a resubmitted packet: it takes at most {RESUBMIT_BITS} along"
            )));
        }
        let value = lowering.extern_value(call, at)?;
        let value = lowering.fit(value, false, &shape)?;
        fields.extend(lowering.request_fields(&shape, "header"));
        arguments.extend(lowering.flatten(&value));
    }
    let request = lowering.request(name, "", fields);
    lowering.emit(Operation::Request { request, arguments });
    Ok(())
}

/// A function; `None` when it is unknown.
pub(super) fn function<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
) -> Lowered<Option<Value>> {
    match &*call.name {
        "min" | "max" => {
            let shape = lowering.shape(&call.result)?;
            let is_signed = lowering.is_signed(&call.result);
            let mut operand = |index| -> Lowered<Operand> {
                let value = lowering.extern_value(call, index)?;
                let value = lowering.fit(value, is_signed, &shape)?;
                match value {
                    Value::Scalar(operand) => Ok(operand),
                    _ => Err(lowering.missing_fact("a number")),
                }
            };
            let (left, right) = (operand(0)?, operand(1)?);
            let less = match is_signed {
                true => BinaryOperation::LessSigned,
                false => BinaryOperation::LessUnsigned,
            };
            let is_less = lowering.binary(less, left.clone(), right.clone());
            let (then, otherwise) =
                if &*call.name == "min" { (left, right) } else { (right, left) };
            Ok(Some(Value::Scalar(lowering.select(is_less, then, otherwise))))
        }
        "invalidate" => {
            let Some(argument) = call.argument(0) else { return Ok(Some(Value::Void)) };
            let location = lowering.target(argument)?;
            lowering.clear(&location);
            let port = lowering.shared_slot(FOR_TRAFFIC_MANAGER, "ucast_egress_port");
            if let (Location::Scalar(place, _), Some(port)) = (&location, port)
                && *place == port
            {
                let flag = unicast_flag(lowering);
                lowering.store_place(Place::Slot(flag), bit(false));
            }
            Ok(Some(Value::Void))
        }
        "port_metadata_unpack" => {
            let shape = lowering.shape(&call.result)?;
            let width_bits = lowering.packed_width(&shape);
            if width_bits > RESUBMIT_BITS {
                return Err(lowering.not_expressible(format!(
                    "{width_bits} bits of port metadata: a port has {RESUBMIT_BITS}"
                )));
            }
            let result = lowering.temp(ValueType::Bits(width_bits));
            lowering.emit(Operation::Lookahead { result });
            lowering.emit(Operation::Advance { bits: number(32, u64::from(RESUBMIT_BITS)) });
            Ok(Some(lowering.unpack(&Operand::Temp(result), &shape)))
        }
        "sizeInBits" | "sizeInBytes" => {
            let Some(argument) = call.argument(0) else {
                return Err(lowering.missing_fact("a header"));
            };
            let ty = lowering.type_of(argument)?;
            let shape = lowering.shape(&ty)?;
            let bits = lowering.packed_width(&shape);
            let size = if &*call.name == "sizeInBits" { bits } else { bits.div_ceil(8) };
            Ok(Some(Value::Scalar(Operand::Constant(Bits::from_u64(32, u64::from(size))))))
        }
        // Not Tofino's: a program that logs declares it itself.
        "log_msg" => {
            lowering.log_message(call)?;
            Ok(Some(Value::Void))
        }
        _ => Ok(None),
    }
}

/// The slot that is 1 once `ucast_egress_port` was set.
pub(super) fn unicast_flag(lowering: &mut Lowering<'_>) -> SlotId {
    let name = format!("{FOR_TRAFFIC_MANAGER}.{UNICAST_FLAG}");
    match lowering.program.slot_named(&name) {
        Some(slot) => slot,
        None => lowering.fresh_slot(&name, 1),
    }
}
