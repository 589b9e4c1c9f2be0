// SPDX-License-Identifier: Apache-2.0
//! Execution of each instruction, as the variants of [`Operation`] define it.

use crate::bit_string::{BitString, read_bits};
use crate::block_run::Outcome;
use crate::context::in_width;
use crate::engine::{Frame, InstructionSite, Run};
use crate::environment::ExternCall;
use crate::externs::call_extern;
use crate::hash::hash;
use crate::observer::Event;
use crate::random::draw_between;
use ir::{
    Bits, CounterId, MeterId, Operand, Operation, OriginId, RandomSite, RegisterId, RegisterUpdate,
    Temp,
};
use state::Colour;

impl<'r> Run<'r> {
    pub(crate) fn execute(
        &mut self,
        frame: Frame<'r>,
        site: InstructionSite,
        operation: &'r Operation,
    ) -> Result<(), Outcome> {
        let origin = site.origin;
        match operation {
            Operation::Unary { .. }
            | Operation::Binary { .. }
            | Operation::Resize { .. }
            | Operation::Slice { .. }
            | Operation::Select { .. } => self.pure(frame, operation),
            Operation::Load { result, place } => {
                let value = self.load(frame, place);
                self.define(frame, *result, value);
            }
            Operation::Store { place, value } => self.store(frame, place, value, origin),
            Operation::Extract { header, varbit_bits } => {
                self.extract(frame, header, varbit_bits.as_ref(), origin)?;
            }
            Operation::Lookahead { result } => {
                let width_bits = self.temp_width_bits(frame, *result);
                let context = &self.context;
                match read_bits(&context.packet, context.cursor_bits, width_bits) {
                    Some(value) => self.define(frame, *result, value),
                    None => {
                        let error = self.interpreter.core_errors.packet_too_short;
                        return Err(self.reject(origin, error));
                    }
                }
            }
            Operation::Advance { bits } => self.advance(frame, bits, site)?,
            Operation::PacketLength { result } => {
                let width_bits = self.temp_width_bits(frame, *result);
                let length = Bits::from_u64(width_bits, self.context.packet.len() as u64);
                self.define(frame, *result, length);
            }
            Operation::Emit { header } => self.emit(frame, header, origin),
            Operation::ShiftStack { stack, by } => self.shift_stack(*stack, *by, origin),
            Operation::Apply { table, keys, hit, action } => {
                self.apply(frame, *table, keys, *hit, *action, origin)?;
            }
            Operation::RegisterAccess { register, index, guard, old, update } => {
                let access =
                    Access { register: *register, index, guard: guard.as_ref(), old: *old };
                self.access_register(frame, access, update.as_ref(), site);
            }
            Operation::Count { counter, index } => self.count(frame, *counter, index, site),
            Operation::Meter { meter, index, result } => {
                self.meter(frame, *meter, index, *result, site);
            }
            Operation::CountDirect { counter } => {
                let bytes = self.environment.packet_length_bytes();
                self.cells.count_direct(*counter, self.entry, bytes);
                self.notify(Some(origin), |_| Event::Counted { counter: *counter, index: None });
            }
            Operation::MeterDirect { meter, result } => {
                let bytes = self.environment.packet_length_bytes();
                let now_ps = self.environment.now_ps();
                let colour = self.cells.mark_direct(*meter, self.entry, bytes, now_ps);
                self.define_colour(frame, *result, colour);
                self.notify(Some(origin), |_| Event::Metered {
                    meter: *meter,
                    index: None,
                    colour,
                });
            }
            Operation::ValueSetContains { result, set, keys } => {
                let keys = self.values(frame, keys);
                let is_member =
                    self.configuration.value_set(*set).is_some_and(|set| set.contains(&keys));
                self.define(frame, *result, Bits::from_bit(is_member));
                self.notify(Some(origin), |_| Event::ValueSetAsked {
                    set: *set,
                    keys: &keys,
                    is_member,
                });
            }
            Operation::Hash { result, algorithm, inputs, payload } => {
                let mut input = BitString::new();
                for operand in inputs {
                    input.push(self.value(frame, operand));
                }
                let mut bytes = input.into_bytes();
                if *payload {
                    bytes.extend_from_slice(&self.context.payload());
                }
                let value =
                    Bits::from_u64(64, hash(*algorithm, &bytes, self.configuration.replication()));
                let value = in_width(&value, self.temp_width_bits(frame, *result));
                let algorithm = *algorithm;
                self.notify(Some(origin), |_| Event::Hashed { algorithm, result: &value });
                self.define(frame, *result, value);
            }
            Operation::Random { result, low, high, site: random_site } => {
                self.random(frame, *result, [low, high], (random_site, origin));
            }
            Operation::Request { request, arguments } => {
                let arguments = self.values(frame, arguments);
                self.notify(Some(origin), |_| Event::Requested {
                    region: frame.id,
                    block: site.block,
                    instruction: site.instruction,
                    request: *request,
                    arguments: &arguments,
                });
                self.context.requests.push((*request, arguments));
            }
            Operation::Log { format, arguments } => {
                let line = log_line(format, &self.values(frame, arguments));
                self.environment.log_line(&line);
                self.notify(Some(origin), |_| Event::Logged { line: &line });
            }
            Operation::Assert { condition, is_assume } => {
                if !self.value(frame, condition).is_true() {
                    return Err(Outcome::AssertionFailed { origin, is_assume: *is_assume });
                }
            }
            Operation::CallExtern { .. } => self.call_extern(frame, operation, origin)?,
        }
        Ok(())
    }

    /// The instructions that read and define temporaries only.
    fn pure(&mut self, frame: Frame<'_>, operation: &Operation) {
        let (result, value) = match operation {
            Operation::Unary { result, operation, operand } => {
                (*result, self.value(frame, operand).unary(*operation))
            }
            Operation::Binary { result, operation, left, right } => {
                let right = self.value(frame, right);
                (*result, self.value(frame, left).binary(*operation, right))
            }
            Operation::Resize { result, kind, operand } => {
                let width_bits = self.temp_width_bits(frame, *result);
                (*result, self.value(frame, operand).resize(*kind, width_bits))
            }
            Operation::Slice { result, operand, high, low } => {
                (*result, self.value(frame, operand).slice(*high, *low))
            }
            Operation::Select { result, condition, then, otherwise } => {
                let chosen = if self.value(frame, condition).is_true() { then } else { otherwise };
                (*result, self.value(frame, chosen).clone())
            }
            // The verifier allows no other operation here.
            _ => return,
        };
        self.define(frame, result, value);
    }

    fn advance(
        &mut self,
        frame: Frame<'_>,
        bits: &Operand,
        site: InstructionSite,
    ) -> Result<(), Outcome> {
        let bits = self.value(frame, bits).to_u64().unwrap_or(u64::MAX);
        let packet_bits = self.context.packet.len().saturating_mul(8);
        let end = usize::try_from(bits)
            .ok()
            .and_then(|bits| self.context.cursor_bits.checked_add(bits))
            .filter(|&end| end <= packet_bits);
        match end {
            Some(end) => {
                self.context.cursor_bits = end;
                self.notify(Some(site.origin), |_| Event::Advanced { bits });
                Ok(())
            }
            None => {
                let error = self.interpreter.core_errors.packet_too_short;
                Err(self.reject(site.origin, error))
            }
        }
    }

    fn access_register(
        &mut self,
        frame: Frame<'r>,
        access: Access<'_>,
        update: Option<&'r RegisterUpdate>,
        site: InstructionSite,
    ) {
        let width_bits = self.program.registers[access.register.index()].width_bits;
        let is_guarded_off = access.guard.is_some_and(|guard| !self.value(frame, guard).is_true());
        let index = self.value(frame, access.index).clone();
        let cell = match index.to_u64() {
            Some(number) if !is_guarded_off => self
                .cells
                .register(access.register)
                .and_then(|cells| cells.read(number))
                .map(|value| (number, value)),
            _ => None,
        };
        let before = match &cell {
            Some((_, value)) => value.clone(),
            None => Bits::zero(width_bits),
        };
        if let Some(old) = access.old {
            self.define(frame, old, before.clone());
        }
        if is_guarded_off {
            return;
        }
        let mut after = None;
        if let (Some((number, _)), Some(update)) = (cell, update) {
            for instruction in &update.body {
                self.pure(frame, &instruction.operation);
            }
            let value = in_width(self.value(frame, &update.value), width_bits);
            if let Some(cells) = self.cells.register_mut(access.register) {
                cells.write(number, value.clone());
            }
            after = Some(value);
        }
        self.notify(Some(site.origin), |_| Event::RegisterAccessed {
            register: access.register,
            index: &index,
            before: &before,
            after: after.as_ref(),
        });
    }

    fn count(
        &mut self,
        frame: Frame<'_>,
        counter: CounterId,
        index: &Operand,
        site: InstructionSite,
    ) {
        let index = self.value(frame, index).clone();
        if let Some(number) = index.to_u64() {
            self.cells.count(counter, number, self.environment.packet_length_bytes());
        }
        self.notify(Some(site.origin), |_| Event::Counted { counter, index: Some(&index) });
    }

    fn meter(
        &mut self,
        frame: Frame<'_>,
        meter: MeterId,
        index: &Operand,
        result: Temp,
        site: InstructionSite,
    ) {
        let index = self.value(frame, index).clone();
        let colour = match index.to_u64() {
            Some(number) => {
                let bytes = self.environment.packet_length_bytes();
                self.cells.mark(meter, number, bytes, self.environment.now_ps())
            }
            None => Colour::Green,
        };
        self.define_colour(frame, result, colour);
        self.notify(Some(site.origin), |_| Event::Metered { meter, index: Some(&index), colour });
    }

    fn define_colour(&mut self, frame: Frame<'_>, result: Temp, colour: Colour) {
        let width_bits = self.temp_width_bits(frame, result);
        self.define(frame, result, Bits::from_u64(width_bits, colour as u64));
    }

    fn random(
        &mut self,
        frame: Frame<'_>,
        result: Temp,
        ends: [&Operand; 2],
        (site, origin): (&RandomSite, OriginId),
    ) {
        let width_bits = self.temp_width_bits(frame, result);
        let [low, high] = ends.map(|end| in_width(self.value(frame, end), width_bits));
        let site = site.number();
        let key = self.environment.random_key();
        let value = draw_between(key, site, self.context.draws.next(site), &low, &high);
        self.environment.drawn(value.low_u64());
        self.notify(Some(origin), |_| Event::RandomDrawn {
            low: &low,
            high: &high,
            result: &value,
        });
        self.define(frame, result, value);
    }

    fn call_extern(
        &mut self,
        frame: Frame<'_>,
        operation: &Operation,
        origin: OriginId,
    ) -> Result<(), Outcome> {
        let Operation::CallExtern { target, method, arguments, results, effects } = operation
        else {
            return Ok(());
        };
        let target = *target;
        let arguments = self.values(frame, arguments);
        let result_widths_bits: Vec<u32> =
            results.iter().map(|&result| self.temp_width_bits(frame, result)).collect();
        let failed = |message| Outcome::ExternFailed { target, message };
        let call = ExternCall {
            id: target,
            declaration: &self.program.externs[target.index()],
            method,
            arguments: &arguments,
            result_widths_bits: &result_widths_bits,
            effects,
            packet: &self.context.packet,
        };
        let (draws, actions) = (&mut self.context.draws, &mut self.context.actions);
        let values = call_extern(call, self.cells, self.environment, draws, actions);
        let values = values.map_err(failed)?;
        self.notify(Some(origin), |_| Event::ExternCalled {
            target,
            method,
            arguments: &arguments,
            results: &values,
        });
        for (&result, value) in results.iter().zip(values) {
            let value = match frame.region.temps[result.index()] {
                ir::ValueType::Bits(width_bits) => in_width(&value, width_bits),
                ir::ValueType::Varbit(_) => value,
            };
            self.define(frame, result, value);
        }
        Ok(())
    }
}

/// The operands of a register transaction.
struct Access<'o> {
    register: RegisterId,
    index: &'o Operand,
    guard: Option<&'o Operand>,
    old: Option<Temp>,
}

/// Replaces each `{}` of a format by an argument as a decimal number. Surplus `{}` stay, surplus arguments are
/// dropped.
pub fn log_line(format: &str, arguments: &[Bits]) -> String {
    let mut line = String::with_capacity(format.len());
    let mut parts = format.split("{}");
    line.push_str(parts.next().unwrap_or_default());
    let mut arguments = arguments.iter();
    for part in parts {
        match arguments.next() {
            Some(argument) => line.push_str(&argument.to_biguint().to_string()),
            None => line.push_str("{}"),
        }
        line.push_str(part);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_take_arguments_in_order() {
        let arguments = [Bits::from_u64(8, 7), Bits::ones(130)];
        let all_ones = Bits::ones(130).to_biguint();
        assert_eq!(log_line("a {} b {}!", &arguments), format!("a 7 b {all_ones}!"));
        assert_eq!(log_line("{} {} {}", &arguments[..1]), "7 {} {}");
        assert_eq!(log_line("plain", &arguments), "plain");
    }
}
