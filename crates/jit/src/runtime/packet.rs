// SPDX-License-Identifier: Apache-2.0
//! Functions of the runtime on the packet and on storage as a whole: cases that compiled code does not handle
//! inline, because lengths or positions are known only at run time. Results are those of the interpreter.

use super::pass::{Pass, RuntimeContext};
use interpreter::bit_string::{read_bits, read_number};
use ir::{Bits, HeaderId, Program, StorageLayout, ValueType};

/// The name of the error for reads past the packet's end.
pub(crate) const FAILURE_PACKET_TOO_SHORT: &str = "PacketTooShort";

/// Sets words to zero: address, how many.
pub(crate) extern "C" fn zero_words(address: u64, words: u64) {
    // SAFETY: compiled code hands in words of the packet's storage.
    unsafe { std::ptr::write_bytes(address as *mut u64, 0, words as usize) }
}

/// Copies bytes: to, from, how many.
pub(crate) extern "C" fn copy_bytes(to: u64, from: u64, bytes: u64) {
    // SAFETY: compiled code hands in ranges inside the scratch area and the packet's memory, with the
    // lengths checked; the scratch area and the packet do not overlap.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes as usize) }
}

/// The pass and its runtime context.
///
/// # Safety
///
/// `address` is that of a pass that no other code refers to, and so is its runtime context.
unsafe fn pass_at<'a>(address: u64) -> (&'a mut Pass, &'a mut RuntimeContext<'static>) {
    // SAFETY: by the contract.
    unsafe {
        let pass = &mut *(address as *mut Pass);
        let runtime_context = &mut *pass.runtime_context;
        (pass, runtime_context)
    }
}

/// The packet's bytes and the storage's words.
///
/// # Safety
///
/// The pass has valid addresses and lengths.
unsafe fn memory_of<'a>(
    pass: &Pass,
    runtime_context: &RuntimeContext<'_>,
) -> (&'a [u8], &'a mut [u64]) {
    // SAFETY: by the contract.
    unsafe {
        (
            std::slice::from_raw_parts(pass.packet, pass.length_bytes as usize),
            std::slice::from_raw_parts_mut(pass.storage, runtime_context.layout.words()),
        )
    }
}

/// Encodes a failure for compiled code.
fn failure(program: &Program, name: &str) -> u64 {
    let number = program.error_number(name).unwrap_or(program.errors.len().max(1) as u32);
    u64::from(number) + 1
}

/// Extracts a header: pass, header's number, bits of its varbit. Returns 0, or one more than the
/// number of an error.
pub(crate) extern "C" fn extract(pass: u64, header: u64, varbit_bits: u64) -> u64 {
    // SAFETY: compiled code passes its own pass.
    let (pass, runtime_context) = unsafe { pass_at(pass) };
    // SAFETY: the caller of compiled code has filled in the pass.
    let (packet, storage) = unsafe { memory_of(pass, runtime_context) };
    let (program, layout) = (runtime_context.program, runtime_context.layout);
    let header = &program.headers[header as usize];
    let fields = &program.header_types[header.ty.index()].fields;
    let fixed_bits = program.header_types[header.ty.index()].fixed_bits() as usize;
    // P4_16 v1.2.5 §13.8.2, in the order of its pseudo-code.
    let cut_bits = usize::try_from(varbit_bits).unwrap_or(usize::MAX / 16 * 8);
    let length_bits = fixed_bits.saturating_add(cut_bits);
    if cut_bits > 0 && !length_bits.is_multiple_of(8) {
        return failure(program, "ParserInvalidArgument");
    }
    if length_bits > (packet.len() * 8).saturating_sub(pass.cursor_bits as usize) {
        return failure(program, FAILURE_PACKET_TOO_SHORT);
    }
    let most_varbit_bits = fields
        .iter()
        .find_map(|field| match field.ty {
            ValueType::Varbit(width_bits) => Some(width_bits as usize),
            ValueType::Bits(_) => None,
        })
        .unwrap_or(0);
    if cut_bits > most_varbit_bits {
        return failure(program, "HeaderTooShort");
    }
    layout.set_number(storage, header.valid_slot(), 1);
    let mut at = pass.cursor_bits as usize;
    for (number, field) in fields.iter().enumerate() {
        let slot = header.field_slot(number);
        let (width_bits, is_narrow) = match field.ty {
            ValueType::Bits(width_bits) => (width_bits, width_bits <= 64),
            ValueType::Varbit(_) => (cut_bits as u32, false),
        };
        if is_narrow {
            layout.set_number(storage, slot, read_number(packet, at, width_bits) as u64);
        } else {
            let value = read_bits(packet, at, width_bits).unwrap_or_else(|| Bits::zero(width_bits));
            layout.set_value(storage, slot, &value);
        }
        at += width_bits as usize;
    }
    pass.cursor_bits = at as u64;
    0
}

/// Reads ahead: pass, width in bits, address of the words. Returns as [`extract`].
pub(crate) extern "C" fn lookahead(pass: u64, width_bits: u64, words: u64) -> u64 {
    // SAFETY: compiled code passes its own pass.
    let (pass, runtime_context) = unsafe { pass_at(pass) };
    // SAFETY: the caller of compiled code has filled in the pass.
    let (packet, _) = unsafe { memory_of(pass, runtime_context) };
    let count = (width_bits as usize).div_ceil(64).max(1);
    // SAFETY: compiled code hands in a buffer for so many bits, at least one word.
    let words = unsafe { std::slice::from_raw_parts_mut(words as *mut u64, count) };
    match read_bits(packet, pass.cursor_bits as usize, width_bits as u32) {
        Some(value) => {
            words.fill(0);
            value.write_words(words);
            0
        }
        None => failure(runtime_context.program, FAILURE_PACKET_TOO_SHORT),
    }
}

/// Moves the cursor: pass, bits. Returns as [`extract`].
pub(crate) extern "C" fn advance(pass: u64, bits: u64) -> u64 {
    // SAFETY: compiled code passes its own pass.
    let (pass, runtime_context) = unsafe { pass_at(pass) };
    match pass.cursor_bits.checked_add(bits).filter(|&end| end <= pass.length_bytes * 8) {
        Some(end) => {
            pass.cursor_bits = end;
            0
        }
        None => failure(runtime_context.program, FAILURE_PACKET_TOO_SHORT),
    }
}

/// Emits a header, if it is valid: pass, header's number.
pub(crate) extern "C" fn emit(pass: u64, header: u64) {
    // SAFETY: compiled code passes its own pass.
    let (pass, runtime_context) = unsafe { pass_at(pass) };
    // SAFETY: the caller of compiled code has filled in the pass.
    let (_, storage) = unsafe { memory_of(pass, runtime_context) };
    let (program, layout) = (runtime_context.program, runtime_context.layout);
    let header = &program.headers[HeaderId(header as u32).index()];
    if layout.number(storage, header.valid_slot()) == 0 {
        return;
    }
    let fields = &program.header_types[header.ty.index()].fields;
    for (number, field) in fields.iter().enumerate() {
        let slot = header.field_slot(number);
        match field.ty {
            ValueType::Bits(width_bits) if width_bits <= 64 => {
                let value = layout.number(storage, slot);
                runtime_context.side_outputs.emitted.push_word(value, width_bits);
            }
            _ => runtime_context.side_outputs.emitted.push(&layout.value(storage, slot)),
        }
    }
}

/// Offset of a stack's elements in storage and words of each. They are at equal distances.
fn words_side_by_side(
    program: &Program,
    layout: &StorageLayout,
    stack: &ir::Stack,
) -> Option<(usize, usize)> {
    let (first, members) = (stack.first_header.index(), stack.headers_per_element as usize);
    let start = program.headers.get(first)?.valid_slot();
    let last = program.headers.get((first + members).checked_sub(1)?)?;
    let fields = program.header_types[last.ty.index()].fields.len() as u32;
    let end = ir::SlotId(last.first_slot.0 + fields);
    let end = layout.offset_words(end) + layout.value_words(end);
    let words = end.checked_sub(layout.offset_words(start))?;
    let is_exact = stack.size < 2
        || layout.offset_words(program.headers[first + members].valid_slot())
            == layout.offset_words(start) + words;
    is_exact.then_some((layout.offset_words(start), words))
}

/// Shifts a stack (P4_16 v1.2.5 §8.20): pass, stack's number, how far.
pub(crate) extern "C" fn shift_stack(pass: u64, stack: u64, by: u64) {
    // SAFETY: compiled code passes its own pass.
    let (pass, runtime_context) = unsafe { pass_at(pass) };
    // SAFETY: the caller of compiled code has filled in the pass.
    let (_, storage) = unsafe { memory_of(pass, runtime_context) };
    let (program, layout) = (runtime_context.program, runtime_context.layout);
    let stack = &program.stacks[stack as usize];
    let by = by as i64;
    let (size, per_element) = (stack.size as usize, stack.headers_per_element as usize);
    let distance = (by.unsigned_abs() as usize).min(size);
    let first = stack.first_header.index();
    let headers = |element: usize| {
        let start = first + element * per_element;
        &program.headers[start..start + per_element]
    };
    let copy = |storage: &mut [u64], from: usize, to: usize| {
        for (from, to) in headers(from).iter().zip(headers(to)) {
            let count = program.header_types[from.ty.index()].fields.len() as u32;
            for offset in 0..=count {
                let slot = |header: &ir::Header| ir::SlotId(header.first_slot.0 + offset);
                layout.copy(storage, slot(from), slot(to));
            }
        }
    };
    let invalidate = |storage: &mut [u64], element: usize| {
        headers(element)
            .iter()
            .for_each(|header| layout.set_number(storage, header.valid_slot(), 0));
    };
    let index = layout.number(storage, stack.next).min(size as u64);
    let element_words = words_side_by_side(program, layout, stack);
    let moved = if by > 0 {
        match element_words {
            Some((start, words)) => storage
                .copy_within(start..start + (size - distance) * words, start + distance * words),
            None => (distance..size).rev().for_each(|to| copy(storage, to - distance, to)),
        }
        (0..distance).for_each(|element| invalidate(storage, element));
        (index + distance as u64).min(size as u64)
    } else {
        match element_words {
            Some((start, words)) => {
                storage.copy_within(start + distance * words..start + size * words, start);
            }
            None => (0..size - distance).for_each(|to| copy(storage, to + distance, to)),
        }
        (size - distance..size).for_each(|element| invalidate(storage, element));
        index.saturating_sub(distance as u64)
    };
    layout.set_number(storage, stack.next, moved);
}
