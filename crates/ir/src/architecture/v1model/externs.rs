// SPDX-License-Identifier: Apache-2.0
//! v1model's externs with the meaning that BMv2's simple_switch gives them, of both editions of the interface:
//! checksums, hashes, state, and requests to the switch (clone, resubmit, recirculate, truncate, digest), which
//! the device carries out.

use super::calculations::Calculation;
use super::{DESCRIPTION, STANDARD_METADATA};
use crate::architecture::calculation_order;
use crate::architecture::objects::{NamedAlgorithm, SharedObject, standard_crc};
use crate::lowering::{
    CalculationKind, Construction, ExternCall, ExternMeaning, Location, Lowered, Lowering,
    ObjectKind, Value, annotation_named, annotation_values, number,
};
use crate::{BinaryOperation, FieldList, HashAlgorithm, Operand, Operation, SlotId, ValueType};
use p4::ast::{Expression, ExpressionKind, NodeId};
use p4::typed::{Type, TypeKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of a field list that does not exist: nothing is preserved.
const NO_FIELD_LIST: u32 = u32::MAX;

/// Field lists made from old-style data arguments count from here; the program's own end at 255.
const FIRST_GENERATED_FIELD_LIST: u32 = 256;

/// The meaning of v1model's externs.
pub(in crate::architecture) struct V1Model;

const OBJECTS: &[(&str, SharedObject)] = &[
    ("register", SharedObject::Register),
    ("counter", SharedObject::Counter),
    ("direct_counter", SharedObject::DirectCounter),
    ("meter", SharedObject::Meter),
    ("direct_meter", SharedObject::DirectMeter),
    ("action_profile", SharedObject::ActionProfile),
    ("action_selector", SharedObject::ActionSelector),
];

impl ExternMeaning for V1Model {
    fn construct<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        construction: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>> {
        match &*construction.type_name {
            "Checksum16" => Ok(Some(ObjectKind::Hash(HashAlgorithm::Csum16))),
            _ => lowering.construct_shared(OBJECTS, construction),
        }
    }

    fn call<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        call: &ExternCall<'a>,
    ) -> Lowered<Option<Value>> {
        match call.object {
            Some(object) => {
                let kind = lowering.objects[object.index()].kind.clone();
                method(lowering, call, kind)
            }
            None => function(lowering, call).map(|known| known.then_some(Value::Void)),
        }
    }

    fn finish(&self, lowering: &mut Lowering<'_>) -> Lowered<()> {
        let mut lists: BTreeMap<u32, Vec<SlotId>> = BTreeMap::new();
        for storage in ["meta", STANDARD_METADATA] {
            let (Some(location), Some(ty)) = (
                lowering.shared.get(storage).cloned(),
                lowering.storage_types.get(storage).cloned(),
            ) else {
                continue;
            };
            annotated_fields(lowering, &ty, &location, &mut lists)?;
        }
        let declared = lists.into_iter().map(|(number, slots)| FieldList { number, slots });
        let generated = std::mem::take(&mut lowering.program.field_lists);
        lowering.program.field_lists = declared.chain(generated).collect();
        name_calculations(lowering);
        Ok(())
    }
}

/// Slots of fields with `@field_list(numbers)`, also in nested structs.
fn annotated_fields(
    lowering: &mut Lowering<'_>,
    ty: &Type,
    location: &Location,
    lists: &mut BTreeMap<u32, Vec<SlotId>>,
) -> Lowered<()> {
    let TypeKind::Struct(..) = &**ty else { return Ok(()) };
    let annotations = lowering.field_annotations(ty);
    for (index, (name, field_type)) in lowering.fields_of(ty)?.into_iter().enumerate() {
        let Some(field) = lowering.member_location(location, &name) else { continue };
        let numbers = annotations
            .get(index)
            .and_then(|annotations| annotation_named(annotations, "field_list"))
            .map(|annotation| annotation_values(lowering.typed, annotation))
            .unwrap_or_default();
        for number in numbers {
            lists.entry(number).or_default().extend(lowering.slots_of(&field));
        }
        annotated_fields(lowering, &field_type, &field, lists)?;
    }
    Ok(())
}

fn method<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    kind: ObjectKind,
) -> Lowered<Option<Value>> {
    match (kind, &*call.name) {
        (ObjectKind::Register(register, shape), "read") => {
            let target = lowering.extern_target(call, 0)?;
            let index = lowering.extern_operand(call, 1)?;
            let value = lowering.register_read((register, &shape), index);
            if target.0 != Location::Nothing {
                lowering.store(&target.0, &value)?;
            }
        }
        (ObjectKind::Register(register, shape), "write") => {
            let index = lowering.extern_operand(call, 0)?;
            let value = lowering.extern_value(call, 1)?;
            lowering.register_write((register, &shape), index, value)?;
        }
        (ObjectKind::Counter(counter), "count") => {
            let index = lowering.extern_operand(call, 0)?;
            lowering.emit(Operation::Count { counter, index });
        }
        // A direct counter counts when its table is applied; the call adds nothing to that.
        (ObjectKind::DirectCounter(_), "count") => {}
        (ObjectKind::Meter(meter), "execute_meter") => {
            let index = lowering.extern_operand(call, 0)?;
            let target = lowering.extern_target(call, 1)?;
            let result = lowering.temp(ValueType::Bits(2));
            lowering.emit(Operation::Meter { meter, index, result });
            lowering.store_number(&target, Operand::Temp(result))?;
        }
        (ObjectKind::DirectMeter(meter), "read") => {
            lowering.only_in_action()?;
            let target = lowering.extern_target(call, 0)?;
            let result = lowering.temp(ValueType::Bits(2));
            lowering.emit(Operation::MeterDirect { meter, result });
            lowering.store_number(&target, Operand::Temp(result))?;
        }
        (ObjectKind::Hash(algorithm), "get") => {
            let data = data(lowering, call, 0)?;
            let calculation = Calculation { algorithm, data, width_bits: 16, payload: false };
            return Ok(Some(Value::Scalar(lowering.calculate(calculation, None)?)));
        }
        _ => return Ok(None),
    }
    Ok(Some(Value::Void))
}

/// Whether the function is known; then its code is made.
fn function<'a>(lowering: &mut Lowering<'a>, call: &ExternCall<'a>) -> Lowered<bool> {
    match &*call.name {
        "mark_to_drop" => mark_to_drop(lowering, call)?,
        "hash" => {
            let target = lowering.extern_target(call, 0)?;
            let algorithm = algorithm(lowering, call, 1, CalculationKind::Hash)?;
            let base = lowering.extern_operand(call, 2)?;
            let data = data(lowering, call, 3)?;
            let calculation = Calculation { algorithm, data, width_bits: 64, payload: false };
            let hash = lowering.calculate(calculation, None)?;
            let max = lowering.extern_operand(call, 4)?;
            let value = lowering.in_range(hash, base, max);
            lowering.store_number(&target, value)?;
        }
        "random" => {
            let target = lowering.extern_target(call, 0)?;
            let low = lowering.extern_operand(call, 1)?;
            let high = lowering.extern_operand(call, 2)?;
            let width = lowering.width(&low).max(lowering.width(&high));
            let low = lowering.resize(low, width, false);
            let high = lowering.resize(high, width, false);
            let drawn = lowering.draw(low, high);
            lowering.store_number(&target, drawn)?;
        }
        "digest" => digest(lowering, call)?,
        "verify_checksum" => verify_checksum(lowering, call, false)?,
        "verify_checksum_with_payload" => verify_checksum(lowering, call, true)?,
        "update_checksum" => update_checksum(lowering, call, false)?,
        "update_checksum_with_payload" => update_checksum(lowering, call, true)?,
        "clone" | "clone3" | "clone_preserving_field_list" => clone(lowering, call)?,
        "resubmit" | "recirculate" => {
            let list = generated_list(lowering, call.argument(0))?;
            request_reentry(lowering, &call.name, number(32, u64::from(list)));
        }
        "resubmit_preserving_field_list" => {
            let list = known_list(lowering, call, 0)?;
            request_reentry(lowering, "resubmit", list);
        }
        "recirculate_preserving_field_list" => {
            let list = known_list(lowering, call, 0)?;
            request_reentry(lowering, "recirculate", list);
        }
        "truncate" => {
            let length = lowering.extern_operand(call, 0)?;
            let length = lowering.resize(length, 32, false);
            let fields = vec![(Arc::from("length_bytes"), ValueType::Bits(32))];
            let request = lowering.request("truncate", "", fields);
            lowering.emit(Operation::Request { request, arguments: vec![length] });
        }
        "assert" | "assume" => {
            let condition = lowering.extern_operand(call, 0)?;
            let is_assume = &*call.name == "assume";
            lowering.emit(Operation::Assert { condition, is_assume });
        }
        "log_msg" => lowering.log_message(call)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The argument with the inputs of a calculation.
fn data<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    index: usize,
) -> Lowered<&'a Expression> {
    call.argument(index).ok_or_else(|| lowering.missing_fact("the inputs of a calculation"))
}

fn algorithm<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    index: usize,
    kind: CalculationKind,
) -> Lowered<HashAlgorithm> {
    let Some(expression) = call.argument(index) else {
        return Err(lowering.missing_fact("a hash algorithm"));
    };
    let named = NamedAlgorithm::of(&lowering.enum_member_name(expression)?);
    let key = (kind, expression.id);
    let known = lowering.calculations.get(&key).copied();
    Ok(match named {
        NamedAlgorithm::Fixed(algorithm) => {
            lowering.calculations.insert(key, None);
            algorithm
        }
        NamedAlgorithm::CustomCrc(width_bits) => {
            // A call that stands in several places after inlining is one calculation.
            let id = known.flatten().unwrap_or_else(|| {
                let crc = standard_crc(width_bits);
                lowering.new_calculation("".into(), crc, lowering.origin)
            });
            lowering.calculations.insert(key, Some(id));
            HashAlgorithm::Custom(id)
        }
    })
}

/// Names custom CRCs as p4c names them in BMv2's JSON: all calculations count, of whatever algorithm, first those of
/// `hash` in the order of [`calculation_order`], then `update_checksum`, then `verify_checksum` in the order of the
/// text. The first one is `calc`, the next `calc_0`, `calc_1`.
fn name_calculations(lowering: &mut Lowering<'_>) {
    let order = calculation_order(lowering.typed);
    let place = |(kind, id): &(CalculationKind, NodeId)| {
        let place = order.iter().position(|argument| argument == id);
        (*kind, place.unwrap_or(usize::MAX), *id)
    };
    let mut keys: Vec<_> = lowering.calculations.keys().copied().collect();
    keys.sort_by_key(place);
    let program = &mut lowering.program;
    let taken: Vec<Arc<str>> = program.calculations.iter().map(|item| item.name.clone()).collect();
    let mut names = (0..).map_while(|place| DESCRIPTION.calculation_name(place));
    for key in keys {
        let name = names.find(|name| !taken.contains(name));
        if let (Some(Some(id)), Some(name)) = (lowering.calculations.get(&key), name) {
            program.calculations[id.index()].name = name;
        }
    }
}

/// Sets `egress_spec` to the drop port, 511, and the multicast group to 0, as BMv2 does.
fn mark_to_drop<'a>(lowering: &mut Lowering<'a>, call: &ExternCall<'a>) -> Lowered<()> {
    let metadata = match call.argument(0) {
        Some(_) => Some(lowering.extern_target(call, 0)?.0),
        None => lowering.shared.get(STANDARD_METADATA).cloned(),
    };
    let Some(metadata) = metadata else { return Ok(()) };
    for (field, value) in [("egress_spec", 511), ("mcast_grp", 0)] {
        if let Some(Location::Scalar(place, ty)) = lowering.member_location(&metadata, field) {
            lowering.store_place(place, number(ty.width_bits(), value));
        }
    }
    Ok(())
}

fn verify_checksum<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    payload: bool,
) -> Lowered<()> {
    let condition = lowering.extern_operand(call, 0)?;
    let algorithm = algorithm(lowering, call, 3, CalculationKind::Verify)?;
    lowering.guarded(condition, |lowering| {
        let data = data(lowering, call, 1)?;
        let expected = lowering.extern_operand(call, 2)?;
        let width_bits = lowering.width(&expected);
        let calculation = Calculation { algorithm, data, width_bits, payload };
        let actual = lowering.calculate(calculation, call.argument(0))?;
        let wrong = lowering.binary(BinaryOperation::NotEqual, actual, expected);
        lowering.guarded(wrong, |lowering| {
            lowering.store_shared(STANDARD_METADATA, "checksum_error", 1);
            Ok(())
        })
    })
}

fn update_checksum<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    payload: bool,
) -> Lowered<()> {
    let condition = lowering.extern_operand(call, 0)?;
    let algorithm = algorithm(lowering, call, 3, CalculationKind::Update)?;
    lowering.guarded(condition, |lowering| {
        let data = data(lowering, call, 1)?;
        let target = lowering.extern_target(call, 2)?;
        let width_bits = lowering.packed_width(&target.1);
        let calculation = Calculation { algorithm, data, width_bits, payload };
        let checksum = lowering.calculate(calculation, call.argument(0))?;
        lowering.store_number(&target, checksum)
    })
}

fn clone<'a>(lowering: &mut Lowering<'a>, call: &ExternCall<'a>) -> Lowered<()> {
    let kind = match call.argument(0) {
        Some(expression) => lowering.enum_member_name(expression)?,
        None => return Err(lowering.missing_fact("the kind of a clone")),
    };
    let session = lowering.extern_operand(call, 1)?;
    let session = lowering.resize(session, 32, false);
    let list = match &*call.name {
        "clone3" => number(32, u64::from(generated_list(lowering, call.argument(2))?)),
        "clone_preserving_field_list" => known_list(lowering, call, 2)?,
        _ => number(32, u64::from(NO_FIELD_LIST)),
    };
    let name = if &*kind == "E2E" { "clone_e2e" } else { "clone_i2e" };
    let fields = vec![
        (Arc::from("session"), ValueType::Bits(32)),
        (Arc::from("field_list"), ValueType::Bits(32)),
    ];
    let request = lowering.request(name, "", fields);
    lowering.emit(Operation::Request { request, arguments: vec![session, list] });
    Ok(())
}

/// Requests `resubmit` or `recirculate` with a field list.
fn request_reentry(lowering: &mut Lowering<'_>, name: &str, list: Operand) {
    let fields = vec![(Arc::from("field_list"), ValueType::Bits(32))];
    let request = lowering.request(name, "", fields);
    lowering.emit(Operation::Request { request, arguments: vec![list] });
}

/// A field list's number as the program gives it.
fn known_list<'a>(
    lowering: &mut Lowering<'a>,
    call: &ExternCall<'a>,
    index: usize,
) -> Lowered<Operand> {
    let list = lowering.extern_operand(call, index)?;
    Ok(lowering.resize(list, 32, false))
}

/// The number of a field list made of the fields that old-style data names.
fn generated_list<'a>(lowering: &mut Lowering<'a>, data: Option<&'a Expression>) -> Lowered<u32> {
    let mut slots = Vec::new();
    if let Some(data) = data {
        named_slots(lowering, data, &mut slots)?;
    }
    if slots.is_empty() {
        return Ok(NO_FIELD_LIST);
    }
    let lists = &mut lowering.program.field_lists;
    if let Some(known) = lists.iter().find(|list| list.slots == slots) {
        return Ok(known.number);
    }
    let number = FIRST_GENERATED_FIELD_LIST + lists.len() as u32;
    lists.push(FieldList { number, slots });
    Ok(number)
}

fn named_slots<'a>(
    lowering: &mut Lowering<'a>,
    data: &'a Expression,
    slots: &mut Vec<SlotId>,
) -> Lowered<()> {
    match &data.kind {
        ExpressionKind::List(items) => {
            for item in items {
                named_slots(lowering, item, slots)?;
            }
        }
        ExpressionKind::Struct { fields, .. } => {
            for (_, item) in fields {
                named_slots(lowering, item, slots)?;
            }
        }
        ExpressionKind::Cast(_, inner) => named_slots(lowering, inner, slots)?,
        _ => {
            if let Some(location) = lowering.locate(data)? {
                slots.extend(lowering.slots_of(&location));
            }
        }
    }
    Ok(())
}

fn digest<'a>(lowering: &mut Lowering<'a>, call: &ExternCall<'a>) -> Lowered<()> {
    let value = lowering.extern_value(call, 1)?;
    let ty = match (call.type_arguments.first(), call.argument(1)) {
        (Some(ty), _) => ty.clone(),
        (None, Some(data)) => lowering.result_type(data)?,
        (None, None) => return Err(lowering.missing_fact("the type of a digest")),
    };
    let label = match lowering.type_name(&ty) {
        Some(name) => name,
        None => {
            let count =
                lowering.program.requests.iter().filter(|known| &*known.name == "digest").count();
            format!("digest_{count}").into()
        }
    };
    let shape = lowering.shape(&ty)?;
    lowering.digest(&label, &shape, value)
}
