// SPDX-License-Identifier: Apache-2.0
//! Extern objects of Tofino: what each construction makes. Objects whose exact behaviour is not public are
//! refused with the reason. Their methods are in `methods`.

use crate::architecture::objects::{SharedObject, count_unit};
use crate::lowering::{Construction, Lowered, Lowering, ObjectKind, Shape, Value, constant};
use crate::{CrcParameters, HashAlgorithm};

/// CRC-8 of the catalogue (SMBus).
const CRC8: HashAlgorithm = HashAlgorithm::Crc(CrcParameters {
    width_bits: 8,
    polynomial: 0x07,
    initial: 0,
    final_xor: 0,
    reflect_input: false,
    reflect_output: false,
});

/// CRC-64 of the catalogue (ECMA-182).
const CRC64: HashAlgorithm = HashAlgorithm::Crc(CrcParameters {
    width_bits: 64,
    polynomial: 0x42f0_e1eb_a9ea_3693,
    initial: 0,
    final_xor: 0,
    reflect_input: false,
    reflect_output: false,
});

/// `RANDOM` is a function of the input that the compiler draws at random: here CRC-32C.
const RANDOM_FUNCTION: HashAlgorithm = HashAlgorithm::Crc(CrcParameters::CRC32C);

const OBJECTS: &[(&str, SharedObject)] = &[
    ("Register", SharedObject::Register),
    ("Counter", SharedObject::Counter),
    ("DirectCounter", SharedObject::DirectCounter),
    ("ActionProfile", SharedObject::ActionProfile),
];

/// Makes an extern object; `None` if it is not Tofino's.
pub(super) fn construct<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<Option<ObjectKind>> {
    let kind = match &*construction.type_name {
        "RegisterParam" => register_parameter(lowering, construction)?,
        "RegisterAction" | "RegisterAction2" | "RegisterAction3" | "RegisterAction4" => {
            register_action(lowering, construction)?
        }
        "Meter" => {
            let size = lowering.construction_number(construction, 0)?;
            meter(lowering, construction, Some(size))?
        }
        "DirectMeter" => meter(lowering, construction, None)?,
        "CRCPolynomial" => polynomial(lowering, construction)?,
        "Hash" => hash(lowering, construction)?,
        "Random" => {
            let width_bits = width_of_argument(lowering, construction)?;
            let all_ones = crate::Operand::Constant(
                crate::Bits::zero(width_bits).unary(crate::UnaryOperation::Not),
            );
            ObjectKind::Random(crate::lowering::number(width_bits, 0), all_ones)
        }
        "ActionSelector" => selector(lowering, construction)?,
        "Mirror" => ObjectKind::Emission("mirror", chosen_type(lowering, construction)?),
        "Resubmit" => ObjectKind::Emission("resubmit", chosen_type(lowering, construction)?),
        "Digest" => {
            let shape = match construction.type_arguments.first() {
                Some(ty) => lowering.shape(ty)?,
                None => Shape::Empty,
            };
            let only = chosen_type(lowering, construction)?;
            ObjectKind::TypedDigest(construction.name.clone(), shape, only)
        }
        "Checksum" => {
            let slot = lowering.fresh_slot(&format!("{}.$sum", construction.name), 16);
            ObjectKind::ChecksumUnit(slot)
        }
        "ParserCounter" => {
            let slot = lowering.fresh_slot(&format!("{}.$counter", construction.name), 8);
            ObjectKind::ParserCounter(slot)
        }
        "ParserPriority" | "Alpm" | "Atcam" => ObjectKind::Inert,
        "Lpf" | "DirectLpf" | "Wred" | "DirectWred" => {
            return refuse(
                lowering,
                construction,
                "its filter runs in time steps that are not public",
            );
        }
        "MathUnit" => {
            return refuse(
                lowering,
                construction,
                "which table of the stateful unit comes close to which function is not public; use a \
                 table with the values instead",
            );
        }
        "SelectorAction" => {
            return refuse(
                lowering,
                construction,
                "members of groups are switched on and off by the control plane only, so change the \
                 group there",
            );
        }
        "DirectRegister" | "DirectRegisterAction" => {
            return refuse(
                lowering,
                construction,
                "registers have cells by number here, not by entry; give each entry the index of a cell \
                 as an argument of its action and use a `Register`",
            );
        }
        _ => return lowering.construct_shared(OBJECTS, construction),
    };
    Ok(Some(kind))
}

fn refuse<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
    why: &str,
) -> Lowered<Option<ObjectKind>> {
    let name = &construction.type_name;
    Err(lowering.not_expressible(format!("a `{name}` has no meaning here: {why}")))
}

fn register_parameter<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<ObjectKind> {
    // One cell; the first argument is its initial value.
    let mut arguments = construction.arguments.clone();
    arguments.insert(0, None);
    let one_cell = Construction {
        type_name: construction.type_name.clone(),
        name: construction.name.clone(),
        type_arguments: construction.type_arguments.clone(),
        arguments,
        initializer: &[],
        origin: construction.origin,
    };
    match lowering.new_register(&one_cell)? {
        ObjectKind::Register(register, shape) => {
            if let Some(array) = lowering.program.registers.get_mut(register.index()) {
                array.size = 1;
            }
            Ok(ObjectKind::RegisterParameter(register, shape))
        }
        other => Ok(other),
    }
}

fn register_action<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<ObjectKind> {
    let Some(argument) = construction.arguments.first().copied().flatten() else {
        return Err(lowering.missing_fact("the register of a register action"));
    };
    let kind = lowering.object_of(argument)?.map(|at| lowering.objects[at.index()].kind.clone());
    let Some(ObjectKind::Register(register, shape)) = kind else {
        return Err(lowering.not_expressible("a register action needs a register"));
    };
    let apply = construction.initializer.iter().find(|member| &*member.name.text == "apply");
    match apply {
        Some(apply) => Ok(ObjectKind::RegisterFunction(register, shape, apply.id)),
        None => Err(lowering.missing_fact("the `apply` of a register action")),
    }
}

fn meter<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
    size: Option<u64>,
) -> Lowered<ObjectKind> {
    let first = usize::from(size.is_some());
    let unit = count_unit(&lowering.construction_member(construction, first)?);
    // Red, yellow, green, in this order; without them the members of MeterColor_t.
    let mut colours = [0, 1, 3];
    if construction.arguments.get(first + 1).copied().flatten().is_some() {
        for (colour, at) in colours.iter_mut().zip([3, 2, 1]) {
            *colour = lowering.construction_number(construction, first + at)? as u8;
        }
    }
    match lowering.new_meter(construction, unit, size)? {
        ObjectKind::Meter(meter) => Ok(ObjectKind::ColouredMeter(meter, false, colours)),
        // The table that it belongs to has to know it.
        other => Ok(match other {
            ObjectKind::DirectMeter(meter) => ObjectKind::ColouredMeter(meter, true, colours),
            other => other,
        }),
    }
}

fn width_of_argument<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<u32> {
    match construction.type_arguments.first() {
        Some(ty) => {
            let shape = lowering.shape(ty)?;
            Ok(lowering.packed_width(&shape))
        }
        None => Err(lowering.missing_fact("a width")),
    }
}

fn flag<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
    index: usize,
) -> Lowered<bool> {
    let Some(argument) = construction.arguments.get(index).copied().flatten() else {
        return Ok(false);
    };
    match lowering.evaluate(argument)? {
        Value::Scalar(operand) => Ok(lowering.known_true(&operand)),
        _ => Ok(false),
    }
}

fn polynomial<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<ObjectKind> {
    let width_bits = width_of_argument(lowering, construction)?;
    if !(1..=64).contains(&width_bits) {
        return Err(lowering.not_expressible(format!(
            "a CRC of {width_bits} bits: polynomials have 1 to 64 bits"
        )));
    }
    for (index, name) in [(2, "msb"), (3, "extended")] {
        if flag(lowering, construction, index)? {
            return Err(lowering.not_expressible(format!(
                "a `CRCPolynomial` with `{name}` set: give the polynomial without its highest term, and \
                 `false` here"
            )));
        }
    }
    let mut number = |index: usize| -> Lowered<u64> {
        let value = match construction.arguments.get(index).copied().flatten() {
            Some(argument) => lowering.evaluate(argument)?,
            None => return Ok(0),
        };
        let shape = Shape::bits(width_bits);
        match lowering.fit(value, false, &shape)? {
            Value::Scalar(operand) => match constant(&operand) {
                Some(bits) => Ok(bits.low_u64()),
                None => Err(lowering.missing_fact("a constant")),
            },
            _ => Err(lowering.missing_fact("a number")),
        }
    };
    let (polynomial, initial, final_xor) = (number(0)?, number(4)?, number(5)?);
    let is_reflected = flag(lowering, construction, 1)?;
    Ok(ObjectKind::Polynomial(CrcParameters {
        width_bits,
        polynomial,
        initial,
        final_xor,
        reflect_input: is_reflected,
        reflect_output: is_reflected,
    }))
}

fn hash<'a>(lowering: &mut Lowering<'a>, construction: &Construction<'a>) -> Lowered<ObjectKind> {
    let width_bits = width_of_argument(lowering, construction)?;
    let given = match construction.arguments.get(1).copied().flatten() {
        Some(argument) => {
            let object = lowering.object_of(argument)?;
            match object.map(|at| lowering.objects[at.index()].kind.clone()) {
                Some(ObjectKind::Polynomial(crc)) => Some(HashAlgorithm::Crc(crc)),
                _ => return Err(lowering.missing_fact("the polynomial of a hash")),
            }
        }
        None => None,
    };
    let name = lowering.construction_member(construction, 0)?;
    let algorithm = match (&*name, given) {
        ("IDENTITY", _) => HashAlgorithm::Identity,
        ("RANDOM", _) => RANDOM_FUNCTION,
        (_, Some(given)) => given,
        ("CRC8", _) => CRC8,
        ("CRC16", _) => HashAlgorithm::Crc16,
        ("CRC32", _) => HashAlgorithm::Crc32,
        ("CRC64", _) => CRC64,
        _ => {
            return Err(lowering.not_expressible(
                "a custom hash needs its parameters: a `CRCPolynomial` as the second argument",
            ));
        }
    };
    Ok(ObjectKind::SizedHash(algorithm, width_bits))
}

fn selector<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<ObjectKind> {
    let hash = match construction.arguments.get(1).copied().flatten() {
        Some(argument) => lowering.object_of(argument)?,
        None => None,
    };
    let selector = match hash.map(|at| lowering.objects[at.index()].kind.clone()) {
        Some(ObjectKind::SizedHash(algorithm, width_bits)) => Some((algorithm, width_bits)),
        _ => return Err(lowering.missing_fact("the hash of a selector")),
    };
    let first = construction.arguments.first().copied().flatten();
    let Some(first) = first else { return Err(lowering.missing_fact("the size of a selector")) };
    // The old form has a size in the place of the profile.
    let profile = match lowering.binding_of_object(first) {
        Some(object) => lowering.objects[object.index()].kind.clone(),
        None => {
            let size = lowering.construction_number(construction, 0)?;
            return lowering.new_action_profile(construction, size, selector);
        }
    };
    let ObjectKind::ActionProfile(id) = profile else {
        return Err(lowering.missing_fact("the profile of a selector"));
    };
    if let Some(profile) = lowering.program.action_profiles.get_mut(id.index()) {
        profile.selector = selector;
    }
    Ok(ObjectKind::ActionProfile(id))
}

/// The type for which a deparser's object acts, where it is given.
fn chosen_type<'a>(
    lowering: &mut Lowering<'a>,
    construction: &Construction<'a>,
) -> Lowered<Option<u64>> {
    match construction.arguments.first().copied().flatten() {
        Some(_) => lowering.construction_number(construction, 0).map(Some),
        None => Ok(None),
    }
}
