// SPDX-License-Identifier: Apache-2.0
//! Externs that several architectures have under different names: registers, counters, meters, hashes,
//! running checksums, action profiles and digests. The descriptions say which name is which.

use crate::lowering::{
    Construction, ExternCall, Location, Lowered, Lowering, ObjectKind, Shape, Value, constant,
    number,
};
use crate::{
    ActionProfile, ActionProfileId, BinaryOperation, Bits, Calculation, CalculationId, CountUnit,
    Counter, CounterId, CrcParameters, Display, HashAlgorithm, Meter, MeterId, Operand, Operation,
    OriginId, RegisterArray, RegisterId, RegisterUpdate, ValueType,
};
use std::sync::Arc;

/// Returns the unit that an enum member names.
pub(crate) fn count_unit(name: &str) -> CountUnit {
    match name.to_ascii_lowercase().as_str() {
        "bytes" => CountUnit::Bytes,
        "packets_and_bytes" => CountUnit::PacketsAndBytes,
        _ => CountUnit::Packets,
    }
}

/// A hash algorithm that an enum member names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedAlgorithm {
    /// One algorithm for all uses.
    Fixed(HashAlgorithm),
    /// A CRC of this width in bits whose parameters the control plane sets.
    CustomCrc(u32),
}

impl NamedAlgorithm {
    /// The algorithm that an enum member names, in v1model, PSA and PNA.
    pub(crate) fn of(name: &str) -> NamedAlgorithm {
        NamedAlgorithm::Fixed(match name.to_ascii_lowercase().as_str() {
            "crc32" => HashAlgorithm::Crc32,
            "crc32_custom" => return NamedAlgorithm::CustomCrc(32),
            "crc16" => HashAlgorithm::Crc16,
            "crc16_custom" => return NamedAlgorithm::CustomCrc(16),
            "random" => HashAlgorithm::Random,
            "identity" => HashAlgorithm::Identity,
            "csum16" => HashAlgorithm::Csum16,
            "xor16" => HashAlgorithm::Xor16,
            "ones_complement16" => HashAlgorithm::OnesComplement16,
            _ => HashAlgorithm::TargetDefault,
        })
    }
}

/// Returns the initial parameters of a custom CRC of 16 or 32 bits.
pub(crate) fn standard_crc(width_bits: u32) -> CrcParameters {
    if width_bits == 16 { CrcParameters::CRC16 } else { CrcParameters::CRC32 }
}

/// A kind of extern object that architectures share under different names, with equal constructors.
#[derive(Clone, Copy)]
pub(crate) enum SharedObject {
    /// `(size)`
    Register,
    /// `(size, unit)`
    Counter,
    /// `(unit)`
    DirectCounter,
    /// `(size, unit)`
    Meter,
    /// `(unit)`
    DirectMeter,
    /// `(size)`
    ActionProfile,
    /// `(algorithm, size, width of the hash)`
    ActionSelector,
}

impl<'a> Lowering<'a> {
    /// Makes the extern object whose type these names list; `None` if they do not.
    pub(crate) fn construct_shared(
        &mut self,
        names: &[(&str, SharedObject)],
        construction: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>> {
        let mut names = names.iter();
        let Some((_, shared)) = names.find(|(name, _)| *name == &*construction.type_name) else {
            return Ok(None);
        };
        let size = match shared {
            SharedObject::DirectCounter | SharedObject::DirectMeter => None,
            SharedObject::ActionSelector => Some(self.construction_number(construction, 1)?),
            _ => Some(self.construction_number(construction, 0)?),
        };
        let unit = |lowering: &mut Self| -> Lowered<CountUnit> {
            let member = lowering.construction_member(construction, usize::from(size.is_some()))?;
            Ok(count_unit(&member))
        };
        let kind = match shared {
            SharedObject::Register => self.new_register(construction)?,
            SharedObject::Counter | SharedObject::DirectCounter => {
                let unit = unit(self)?;
                self.new_counter(construction, unit, size)?
            }
            SharedObject::Meter | SharedObject::DirectMeter => {
                let unit = unit(self)?;
                self.new_meter(construction, unit, size)?
            }
            SharedObject::ActionProfile => {
                self.new_action_profile(construction, size.unwrap_or_default(), None)?
            }
            SharedObject::ActionSelector => {
                let algorithm = self.construction_algorithm(construction, 0)?;
                let width = self.construction_number(construction, 2)?;
                let selector = Some((algorithm, u32::try_from(width).unwrap_or(64)));
                self.new_action_profile(construction, size.unwrap_or_default(), selector)?
            }
        };
        Ok(Some(kind))
    }

    /// The enum member that a constructor's argument names.
    pub(crate) fn construction_member(
        &mut self,
        construction: &Construction<'a>,
        index: usize,
    ) -> Lowered<Arc<str>> {
        match construction.arguments.get(index).copied().flatten() {
            Some(expression) => self.enum_member_name(expression),
            None => Ok("".into()),
        }
    }

    /// The number that a constructor's argument is.
    pub(crate) fn construction_number(
        &mut self,
        construction: &Construction<'a>,
        index: usize,
    ) -> Lowered<u64> {
        match construction.arguments.get(index).copied().flatten() {
            Some(expression) => self.known_u64(expression),
            None => Ok(0),
        }
    }

    /// A register array: size, and perhaps a first value for every cell.
    pub(crate) fn new_register(&mut self, construction: &Construction<'a>) -> Lowered<ObjectKind> {
        self.claim_name("register", &construction.name)?;
        let size = self.construction_number(construction, 0)?;
        let shape = match construction.type_arguments.first() {
            Some(ty) => self.shape(ty)?,
            None => Shape::bits(32),
        };
        let width_bits = self.packed_width(&shape);
        let initial = match construction.arguments.get(1).copied().flatten() {
            Some(expression) => {
                let value = self.evaluate(expression)?;
                let value = self.fit(value, false, &shape)?;
                let packed = self.pack(&value);
                constant(&packed).cloned().unwrap_or_else(|| Bits::zero(width_bits))
            }
            None => Bits::zero(width_bits),
        };
        let display = match &shape {
            Shape::Scalar(_, display) => display.clone(),
            _ => Display::Unsigned,
        };
        self.program.registers.push(RegisterArray {
            name: construction.name.clone(),
            width_bits,
            size,
            initial,
            display,
            origin: construction.origin,
        });
        Ok(ObjectKind::Register(RegisterId(self.program.registers.len() as u32 - 1), shape))
    }

    /// A counter; direct without a size.
    pub(crate) fn new_counter(
        &mut self,
        construction: &Construction<'a>,
        unit: CountUnit,
        size: Option<u64>,
    ) -> Lowered<ObjectKind> {
        self.claim_name("counter", &construction.name)?;
        self.program.counters.push(Counter {
            name: construction.name.clone(),
            unit,
            size,
            origin: construction.origin,
        });
        let id = CounterId(self.program.counters.len() as u32 - 1);
        match size {
            Some(_) => Ok(ObjectKind::Counter(id)),
            None => Ok(ObjectKind::DirectCounter(id)),
        }
    }

    /// A meter; direct without a size.
    pub(crate) fn new_meter(
        &mut self,
        construction: &Construction<'a>,
        unit: CountUnit,
        size: Option<u64>,
    ) -> Lowered<ObjectKind> {
        self.claim_name("meter", &construction.name)?;
        self.program.meters.push(Meter {
            name: construction.name.clone(),
            unit,
            size,
            origin: construction.origin,
        });
        let id = MeterId(self.program.meters.len() as u32 - 1);
        match size {
            Some(_) => Ok(ObjectKind::Meter(id)),
            None => Ok(ObjectKind::DirectMeter(id)),
        }
    }

    /// A CRC with parameters of its own, under a name for the control plane.
    pub(crate) fn new_calculation(
        &mut self,
        name: Arc<str>,
        parameters: CrcParameters,
        origin: OriginId,
    ) -> CalculationId {
        self.program.calculations.push(Calculation { name, parameters, origin });
        CalculationId(self.program.calculations.len() as u32 - 1)
    }

    /// The algorithm that an argument of an object names; a custom CRC has the object's name.
    pub(crate) fn construction_algorithm(
        &mut self,
        construction: &Construction<'a>,
        index: usize,
    ) -> Lowered<HashAlgorithm> {
        match NamedAlgorithm::of(&self.construction_member(construction, index)?) {
            NamedAlgorithm::Fixed(algorithm) => Ok(algorithm),
            NamedAlgorithm::CustomCrc(width_bits) => {
                self.claim_name("calculation", &construction.name)?;
                let crc = standard_crc(width_bits);
                let name = construction.name.clone();
                let id = self.new_calculation(name, crc, construction.origin);
                Ok(HashAlgorithm::Custom(id))
            }
        }
    }

    /// An action profile or selector.
    pub(crate) fn new_action_profile(
        &mut self,
        construction: &Construction<'a>,
        size: u64,
        selector: Option<(HashAlgorithm, u32)>,
    ) -> Lowered<ObjectKind> {
        self.claim_name("action profile", &construction.name)?;
        self.program.action_profiles.push(ActionProfile {
            name: construction.name.clone(),
            size: Some(size),
            selector,
            origin: construction.origin,
        });
        Ok(ObjectKind::ActionProfile(ActionProfileId(
            self.program.action_profiles.len() as u32 - 1,
        )))
    }

    /// Reads a cell of a register.
    pub(crate) fn register_read(
        &mut self,
        (register, shape): (RegisterId, &Shape),
        index: Operand,
    ) -> Value {
        let width = self.packed_width(shape);
        let old = self.temp(ValueType::Bits(width));
        self.emit(Operation::RegisterAccess {
            register,
            index,
            guard: None,
            old: Some(old),
            update: None,
        });
        self.unpack(&Operand::Temp(old), shape)
    }

    /// Writes a cell of a register.
    pub(crate) fn register_write(
        &mut self,
        (register, shape): (RegisterId, &Shape),
        index: Operand,
        value: Value,
    ) -> Lowered<()> {
        let value = self.fit(value, false, shape)?;
        let value = self.pack(&value);
        self.emit(Operation::RegisterAccess {
            register,
            index,
            guard: None,
            old: None,
            update: Some(RegisterUpdate { body: Vec::new(), value }),
        });
        Ok(())
    }

    /// A hash of scalars.
    pub(crate) fn hash_of(
        &mut self,
        algorithm: HashAlgorithm,
        inputs: Vec<Operand>,
        width_bits: u32,
        payload: bool,
    ) -> Operand {
        let result = self.temp(ValueType::Bits(width_bits));
        self.emit(Operation::Hash { result, algorithm, inputs, payload });
        Operand::Temp(result)
    }

    /// `base + hash % max`, as BMv2 does it in 64 bits; a `max` of zero counts as one.
    pub(crate) fn hash_in_range(
        &mut self,
        algorithm: HashAlgorithm,
        inputs: Vec<Operand>,
        base: Operand,
        max: Operand,
    ) -> Operand {
        let hash = self.hash_of(algorithm, inputs, 64, false);
        self.in_range(hash, base, max)
    }

    /// A 64-bit hash brought into a range, as above.
    pub(crate) fn in_range(&mut self, hash: Operand, base: Operand, max: Operand) -> Operand {
        let base = self.resize(base, 64, false);
        let max = self.resize(max, 64, false);
        // A remainder by zero is zero in the IR, which is what a range of one gives.
        let rest = match constant(&max).and_then(Bits::to_u64) {
            Some(0 | 1) => number(64, 0),
            Some(size) if size.is_power_of_two() => {
                let bits = self.slice(hash, size.trailing_zeros() - 1, 0);
                self.resize(bits, 64, false)
            }
            _ => self.binary(BinaryOperation::RemainderUnsigned, hash, max),
        };
        if constant(&base).is_some_and(Bits::is_zero) {
            return rest;
        }
        self.binary(BinaryOperation::Add, rest, base)
    }

    /// A number for an `out` argument or result of the given layout.
    pub(crate) fn number_value(&mut self, value: Operand, shape: &Shape) -> Lowered<Value> {
        self.fit(Value::Scalar(value), false, shape)
    }

    /// Methods of a running one's complement sum, as PSA's `InternetChecksum`: the slot holds the sum,
    /// `get` gives its complement.
    pub(crate) fn internet_checksum(
        &mut self,
        slot: crate::SlotId,
        call: &ExternCall<'a>,
    ) -> Lowered<Option<Value>> {
        match &*call.name {
            "clear" => {
                self.store_slot(slot, number(16, 0));
                Ok(Some(Value::Void))
            }
            "add" | "update" | "subtract" => {
                let data = self.extern_scalars(call, 0)?;
                let sum = self.load_slot(slot);
                // The checksum of data is the complement of its sum: adding it takes the data away.
                let inputs = match &*call.name {
                    "subtract" => {
                        let removed = self.hash_of(HashAlgorithm::Csum16, data, 16, false);
                        vec![sum, removed]
                    }
                    _ => std::iter::once(sum).chain(data).collect(),
                };
                let checksum = self.hash_of(HashAlgorithm::Csum16, inputs, 16, false);
                let sum = self.not(checksum);
                self.store_slot(slot, sum);
                Ok(Some(Value::Void))
            }
            "get" => {
                let sum = self.load_slot(slot);
                let checksum = self.not(sum);
                let shape = self.shape(&call.result)?;
                Ok(Some(self.number_value(checksum, &shape)?))
            }
            "get_state" => Ok(Some(Value::Scalar(self.load_slot(slot)))),
            "set_state" => {
                let state = self.extern_operand(call, 0)?;
                let state = self.resize(state, 16, false);
                self.store_slot(slot, state);
                Ok(Some(Value::Void))
            }
            _ => Ok(None),
        }
    }

    /// Asks the device for a digest of a value of a type.
    pub(crate) fn digest(&mut self, label: &str, shape: &Shape, value: Value) -> Lowered<()> {
        let value = self.fit(value, false, shape)?;
        let mut fields = self.request_fields(shape, "");
        if let [(name, _)] = fields.as_mut_slice()
            && name.is_empty()
        {
            *name = "value".into();
        }
        let arguments = self.flatten(&value);
        let request = self.request("digest", label, fields);
        self.emit(Operation::Request { request, arguments });
        Ok(())
    }

    /// Code that runs only when a bit is one.
    pub(crate) fn guarded(
        &mut self,
        condition: Operand,
        work: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        if let Some(known) = constant(&condition) {
            return if known.is_true() { work(self) } else { Ok(()) };
        }
        let (then, end) = self.branch(condition);
        self.start_block(then);
        work(self)?;
        self.goto_and_start(end);
        Ok(())
    }

    /// Stores a number in shared storage, where the program has that storage.
    pub(crate) fn store_shared(&mut self, storage: &str, field: &str, value: u64) {
        let Some(location) =
            self.shared.get(storage).and_then(|whole| self.member_location(whole, field))
        else {
            return;
        };
        if let Location::Scalar(place, ty) = location {
            self.store_place(place, number(ty.width_bits(), value));
        }
    }

    /// Reports the use of a direct counter or meter outside of an action.
    pub(crate) fn only_in_action(&mut self) -> Lowered<()> {
        if self.is_in_action() {
            return Ok(());
        }
        Err(self.not_expressible(
            "a direct counter or meter belongs to the entry that runs an action, so it is used in \
             actions of tables only",
        ))
    }

    /// `log_msg`: a line of the log with values in it.
    pub(crate) fn log_message(&mut self, call: &ExternCall<'a>) -> Lowered<()> {
        let format = match self.extern_value(call, 0)? {
            Value::String(format) => format,
            _ => return Err(self.missing_fact("the text of a message")),
        };
        let arguments = match call.argument(1) {
            Some(_) => self.extern_scalars(call, 1)?,
            None => Vec::new(),
        };
        self.emit(Operation::Log { format, arguments });
        Ok(())
    }
}
