// SPDX-License-Identifier: Apache-2.0
//! Functions of the runtime for registers that are not flat, meters, direct counters, hit times, and calls of
//! the device. Values are words in memory as in a packet's storage: low word first, a varbit's length before
//! its words.

use super::RuntimeFunction;
use super::pass::{RuntimeContext, SideOutputs};
use interpreter::ExternCall;
use interpreter::random::draw_between;
use ir::{
    Bits, CounterId, MeterId, Operand, Operation, Region, RegisterId, RequestId, ResizeKind,
    TableId, ValueSetId, ValueType,
};

/// Basic block and instruction as one number.
pub(crate) fn instruction_number(block: u32, instruction: u32) -> u64 {
    u64::from(block) << 32 | u64::from(instruction)
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $constructor:ident($function:ident);)*) => {
        $(
            $(#[$doc])*
            pub(crate) fn $name() -> RuntimeFunction {
                RuntimeFunction::$constructor($function)
            }
        )*
    };
}
pub(super) use functions;

functions! {
    /// Runtime context, register, index, where to store the cell's words. Outside the array they are zero.
    read_register = taking_4(read_register_cell);
    /// Runtime context, register, index, words. Nothing happens outside the array.
    write_register = taking_4(write_register_cell);
    /// Runtime context, counter, index, length in bytes.
    count = taking_4(count_cell);
    /// Runtime context, meter, index, length in bytes, time; the colour.
    mark = giving_5(mark_cell);
    /// Runtime context, counter, the entry's cell, its generation, length in bytes.
    count_direct = taking_5(count_entry);
    /// Runtime context, meter, the entry's cell, its generation, length in bytes, time; the colour.
    mark_direct = giving_6(mark_entry);
    /// Runtime context, table, the entry's cell, its generation, time.
    note_hit = taking_5(note_entry_hit);
    /// Runtime context, value set, words of the keys; 1 for a member.
    value_set_contains = giving_3(is_in_value_set);
    /// Runtime context, site, smallest, largest; the number.
    random = giving_4(draw_word);
    /// Runtime context, site, width in bits, words of smallest and largest, where to store the words.
    random_words = taking_5(draw_words);
    /// Runtime context, request, words of its fields.
    request = taking_3(add_request);
    /// Runtime context, region, instruction, words of the arguments.
    log = taking_4(log_arguments);
    /// Runtime context, region, instruction, words of the arguments, where to store the results' words; 1 when
    /// the call failed.
    call_extern = giving_5(call_environment);
}

/// The runtime context of the running pass.
///
/// # Safety
///
/// The address is that of a runtime context that lives until the caller returns, and no other code uses it
/// meanwhile.
pub(super) unsafe fn runtime_context<'s>(address: u64) -> &'s mut RuntimeContext<'s> {
    // SAFETY: as the caller promises.
    unsafe { &mut *(address as *mut RuntimeContext<'s>) }
}

/// Words at an address.
///
/// # Safety
///
/// So many words are at the address and do not change as long as the result lives.
pub(super) unsafe fn words_at<'s>(address: u64, count: usize) -> &'s [u64] {
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(address as *const u64, count) }
}

/// Words at an address, for writing.
///
/// # Safety
///
/// There is room for so many words, and no other code uses it as long as the result lives.
pub(super) unsafe fn words_at_mut<'s>(address: u64, count: usize) -> &'s mut [u64] {
    // SAFETY: as the caller promises. Compiled code may pass memory without content, which is written before it
    // is read.
    unsafe { std::slice::from_raw_parts_mut(address as *mut u64, count) }
}

fn value_words(width_bits: u32) -> usize {
    width_bits.div_ceil(64).max(1) as usize
}

/// Reads successive values of these types.
///
/// # Safety
///
/// The values are at the address.
unsafe fn values_at(types: impl Iterator<Item = ValueType>, address: u64) -> Vec<Bits> {
    let mut next = address;
    types
        .map(|ty| {
            let limit_bits = ty.width_bits();
            let width_bits = match ty {
                ValueType::Bits(width_bits) => width_bits,
                ValueType::Varbit(_) => {
                    // SAFETY: a varbit's length is before its words.
                    let length = unsafe { words_at(next, 1) }[0];
                    next += 8;
                    length.min(u64::from(limit_bits)) as u32
                }
            };
            let count = value_words(limit_bits);
            // SAFETY: the caller promises so many words.
            let value = Bits::from_words(width_bits, unsafe { words_at(next, count) });
            next += count as u64 * 8;
            value
        })
        .collect()
}

/// Writes a value of this type as [`values_at`] reads it; returns the address after it. A fixed width
/// truncates or extends the value, a varbit takes its length, at most the largest one.
///
/// # Safety
///
/// There is room for it, and no other code uses it.
unsafe fn write_value(ty: ValueType, value: &Bits, address: u64) -> u64 {
    let limit_bits = ty.width_bits();
    let value_at = match ty {
        ValueType::Bits(_) => address,
        ValueType::Varbit(_) => {
            // SAFETY: the caller promises place for the length.
            let length = unsafe { words_at_mut(address, 1) };
            length[0] = u64::from(value.width_bits().min(limit_bits));
            address + 8
        }
    };
    let count = value_words(limit_bits);
    // SAFETY: and for the words.
    let words = unsafe { words_at_mut(value_at, count) };
    if value.width_bits() > limit_bits {
        value.resize(ResizeKind::Truncate, limit_bits).write_words(words);
    } else {
        value.write_words(words);
    }
    value_at + count as u64 * 8
}

fn operand_type(region: &Region, operand: &Operand) -> ValueType {
    match operand {
        Operand::Constant(value) => ValueType::Bits(value.width_bits()),
        Operand::Temp(temp) => region.temps[temp.index()],
    }
}

/// The region and the operation with these numbers.
fn operation_at(program: &ir::Program, region: u64, instruction: u64) -> (&Region, &Operation) {
    let region = &program.regions[region as usize];
    let block = &region.blocks[(instruction >> 32) as usize];
    (region, &block.instructions[instruction as u32 as usize].operation)
}

unsafe extern "C" fn read_register_cell(context: u64, register: u64, index: u64, out: u64) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let width_bits = context.program.registers[register as usize].width_bits;
    let value = context
        .cells
        .register(RegisterId(register as u32))
        .and_then(|cells| cells.read(index))
        .unwrap_or_else(|| Bits::zero(width_bits));
    // SAFETY: compiled code has place for one cell there.
    unsafe { write_value(ValueType::Bits(width_bits), &value, out) };
}

unsafe extern "C" fn write_register_cell(context: u64, register: u64, index: u64, words: u64) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let width_bits = context.program.registers[register as usize].width_bits;
    // SAFETY: the words of one cell are there.
    let words = unsafe { words_at(words, value_words(width_bits)) };
    if let Some(cells) = context.cells.register_mut(RegisterId(register as u32)) {
        cells.write(index, Bits::from_words(width_bits, words));
    }
}

unsafe extern "C" fn count_cell(context: u64, counter: u64, index: u64, bytes: u64) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    context.cells.count(CounterId(counter as u32), index, bytes);
}

unsafe extern "C" fn mark_cell(
    context: u64,
    meter: u64,
    index: u64,
    bytes: u64,
    now_ps: u64,
) -> u64 {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    context.cells.mark(MeterId(meter as u32), index, bytes, now_ps) as u64
}

unsafe extern "C" fn count_entry(
    context: u64,
    counter: u64,
    cell: u64,
    generation: u64,
    bytes: u64,
) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    context.cells.count_direct_at(CounterId(counter as u32), cell as u32, generation, bytes);
}

unsafe extern "C" fn mark_entry(
    context: u64,
    meter: u64,
    cell: u64,
    generation: u64,
    bytes: u64,
    now_ps: u64,
) -> u64 {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let meter = MeterId(meter as u32);
    context.cells.mark_direct_at(meter, cell as u32, generation, bytes, now_ps) as u64
}

unsafe extern "C" fn note_entry_hit(
    context: u64,
    table: u64,
    cell: u64,
    generation: u64,
    now_ps: u64,
) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    context.cells.note_hit_at(TableId(table as u32), cell as u32, generation, now_ps);
}

unsafe extern "C" fn is_in_value_set(context: u64, set: u64, words: u64) -> u64 {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let components = &context.program.value_sets[set as usize].components;
    let types = components.iter().map(|component| ValueType::Bits(component.width_bits));
    // SAFETY: the verifier gives each key the width of its component.
    let keys = unsafe { values_at(types, words) };
    u64::from(context.forwarding.value_set(ValueSetId(set as u32)).contains(&keys))
}

unsafe extern "C" fn draw_word(context: u64, site: u64, low: u64, high: u64) -> u64 {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    context.at_packet();
    let occurrence = context.side_outputs.draws.next(site);
    let key = context.environment.random_key();
    let drawn = interpreter::random::draw_number_between(key, site, occurrence, low, high);
    context.environment.drawn(drawn);
    drawn
}

unsafe extern "C" fn draw_words(context: u64, site: u64, width_bits: u64, ends: u64, out: u64) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let ty = ValueType::Bits(width_bits as u32);
    // SAFETY: both ends are there, and `out` has room for a third such number.
    let ends = unsafe { values_at([ty, ty].into_iter(), ends) };
    context.at_packet();
    let occurrence = context.side_outputs.draws.next(site);
    let key = context.environment.random_key();
    let drawn = draw_between(key, site, occurrence, &ends[0], &ends[1]);
    context.environment.drawn(drawn.low_u64());
    // SAFETY: as above.
    unsafe { write_value(ty, &drawn, out) };
}

unsafe extern "C" fn add_request(context: u64, request: u64, words: u64) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let fields = &context.program.requests[request as usize].fields;
    // SAFETY: compiled code lays out one value a field, of the field's type.
    let arguments = unsafe { values_at(fields.iter().map(|(_, ty)| *ty), words) };
    context.side_outputs.requests.push((RequestId(request as u32), arguments));
}

unsafe extern "C" fn log_arguments(context: u64, region: u64, instruction: u64, words: u64) {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let (region, operation) = operation_at(context.program, region, instruction);
    let Operation::Log { format, arguments } = operation else { return };
    // SAFETY: compiled code lays out one value an operand, of the operand's type.
    let values = unsafe { values_at(arguments.iter().map(|it| operand_type(region, it)), words) };
    context.at_packet();
    context.environment.log_line(&interpreter::log_line(format, &values));
}

unsafe extern "C" fn call_environment(
    context: u64,
    region: u64,
    instruction: u64,
    words: u64,
    out: u64,
) -> u64 {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let program = context.program;
    let (region, operation) = operation_at(program, region, instruction);
    let Operation::CallExtern { target, method, arguments, results, effects } = operation else {
        return 1;
    };
    // SAFETY: compiled code lays out one value an operand, of the operand's type.
    let values = unsafe { values_at(arguments.iter().map(|it| operand_type(region, it)), words) };
    let types = || results.iter().map(|result| region.temps[result.index()]);
    let result_widths_bits: Vec<u32> = types().map(ValueType::width_bits).collect();
    context.at_packet();
    // SAFETY: only compiled code calls this; it runs on this pass and stores the length there before the call.
    // No other code writes the packet's bytes meanwhile.
    let packet = unsafe {
        let pass = &*context.pass;
        std::slice::from_raw_parts(pass.packet.cast_const(), pass.length_bytes as usize)
    };
    let call = ExternCall {
        id: *target,
        declaration: &program.externs[target.index()],
        method,
        arguments: &values,
        result_widths_bits: &result_widths_bits,
        effects,
        packet,
    };
    let RuntimeContext { cells, environment, side_outputs, .. } = context;
    let SideOutputs { draws, actions, .. } = &mut **side_outputs;
    match interpreter::call_extern(call, cells, &mut **environment, draws, actions) {
        Ok(given) => {
            types().zip(&given).fold(out, |next, (ty, value)| {
                // SAFETY: compiled code has place for all results there.
                unsafe { write_value(ty, value, next) }
            });
            0
        }
        Err(message) => {
            side_outputs.message = message;
            1
        }
    }
}
