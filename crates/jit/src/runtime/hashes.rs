// SPDX-License-Identifier: Apache-2.0
//! Hashes of bytes for compiled code: the numbers of [`interpreter::hash`], with tables. Compiled code
//! lays the bytes out.

use ir::{CalculationId, CrcParameters, CrcPolynomial, HashAlgorithm};
use state::{Crc, Replication, reflected_tables};
use std::collections::BTreeMap;
use std::slice;
use std::sync::{Mutex, PoisonError};

/// The algorithms, as compiled code names them.
const ALGORITHMS: [HashAlgorithm; 8] = [
    HashAlgorithm::Crc32,
    HashAlgorithm::Crc16,
    HashAlgorithm::Random,
    HashAlgorithm::Identity,
    HashAlgorithm::Csum16,
    HashAlgorithm::Xor16,
    HashAlgorithm::OnesComplement16,
    HashAlgorithm::TargetDefault,
];

/// Numbers from here on name calculations.
const FIRST_CALCULATION: u64 = 1 << 32;

/// The number by which compiled code names an algorithm.
pub(crate) fn number(algorithm: HashAlgorithm) -> u64 {
    match algorithm {
        HashAlgorithm::Crc(_) => PROGRAM_CRC,
        HashAlgorithm::Custom(calculation) => FIRST_CALCULATION + u64::from(calculation.0),
        _ => {
            let at = ALGORITHMS.iter().position(|listed| *listed == algorithm);
            at.unwrap_or(ALGORITHMS.len()) as u64
        }
    }
}

/// The number of CRCs with parameters of the program; these come in the place of the replication.
const PROGRAM_CRC: u64 = 255;

/// A CRC of a program, with tables where it has up to 32 bits and is reflected. It stays for as long as
/// the process lives, so that compiled code can name it by its address; programs have few.
pub(crate) struct ProgramCrc {
    polynomial: CrcPolynomial,
    tables: Option<[[u32; 256]; 8]>,
}

/// The one [`ProgramCrc`] with this polynomial.
pub(crate) fn program_crc(polynomial: CrcPolynomial) -> &'static ProgramCrc {
    static KNOWN: Mutex<BTreeMap<[u64; 5], &'static ProgramCrc>> = Mutex::new(BTreeMap::new());
    let CrcPolynomial { width_bits, polynomial: terms, initial, final_xor, is_reflected } =
        polynomial;
    let key = [u64::from(width_bits), terms, initial, final_xor, u64::from(is_reflected)];
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(key).or_insert_with(|| {
        let has_tables = is_reflected && (8..=32).contains(&width_bits);
        let reversed = (terms << (64 - width_bits)).reverse_bits() as u32;
        let tables = has_tables.then(|| reflected_tables(reversed));
        Box::leak(Box::new(ProgramCrc { polynomial, tables }))
    })
}

/// The hash of bytes.
///
/// # Safety
///
/// At `buffer` stand so many bytes that nobody writes during the call. `replication` is the address of
/// a [`Replication`] when the algorithm has parameters.
pub(crate) unsafe extern "C" fn hash(
    number: u64,
    replication: u64,
    buffer: u64,
    length_bytes: u64,
) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { hash_parts(number, replication, [bytes(buffer, length_bytes), &[]]) }
}

/// The hash of bytes and of what stands in a packet from some bit on, padded to whole bytes.
///
/// # Safety
///
/// As of [`hash`], and the packet is so many bytes that nobody writes during the call.
pub(crate) unsafe extern "C" fn hash_with_payload(
    number: u64,
    replication: u64,
    buffer: u64,
    length_bytes: u64,
    packet: u64,
    packet_bytes: u64,
    from_bits: u64,
) -> u64 {
    // SAFETY: the caller's promise.
    let (buffer, packet) = unsafe { (bytes(buffer, length_bytes), bytes(packet, packet_bytes)) };
    let rest = packet.get((from_bits / 8) as usize..).unwrap_or_default();
    let moved: Vec<u8>;
    let rest = match from_bits % 8 {
        0 => rest,
        skipped => {
            let next = rest.iter().skip(1).copied().chain([0]);
            let byte = |(byte, next): (&u8, u8)| byte << skipped | next >> (8 - skipped);
            let bits = (rest.len() * 8).saturating_sub(skipped as usize);
            moved = rest.iter().zip(next).map(byte).take(bits.div_ceil(8)).collect();
            &moved
        }
    };
    // SAFETY: the caller's promise.
    unsafe { hash_parts(number, replication, [buffer, rest]) }
}

/// Bytes that compiled code laid out, or of a packet.
///
/// # Safety
///
/// At `address` stand so many bytes that nobody writes during the call.
unsafe fn bytes<'a>(address: u64, length: u64) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(address as usize as *const u8, length as usize) }
}

/// # Safety
///
/// `replication` is the address of a [`Replication`] when the algorithm has parameters.
unsafe fn hash_parts(number: u64, replication: u64, parts: [&[u8]; 2]) -> u64 {
    if let Some(calculation) = number.checked_sub(FIRST_CALCULATION) {
        // SAFETY: the caller's promise; this is asked for algorithms with parameters only.
        let replication = unsafe { &*(replication as usize as *const Replication) };
        let crc = replication.crc(CalculationId(calculation as u32));
        return crc.map_or(0, |crc| u64::from(custom_crc(crc, parts)));
    }
    let reflected = |tables: &[[u32; 256]; 8], initial: u32| {
        parts.iter().fold(initial, |remainder, bytes| reflected_crc(tables, remainder, bytes))
    };
    if number == PROGRAM_CRC {
        // SAFETY: the caller's promise; the parameters of such a CRC stay.
        let ProgramCrc { polynomial, tables } = unsafe { &*(replication as usize as *const _) };
        return match tables {
            Some(tables) => {
                let remainder = reflected(tables, polynomial.initial_register());
                u64::from(remainder) ^ polynomial.final_xor
            }
            None => interpreter::hash::polynomial_crc(polynomial, &parts.concat()),
        };
    }
    match ALGORITHMS.get(number as usize) {
        Some(HashAlgorithm::Crc32 | HashAlgorithm::TargetDefault) => {
            u64::from(!reflected(&CRC32_TABLES, u32::MAX))
        }
        Some(HashAlgorithm::Crc16) => u64::from(reflected(&CRC16_TABLES, 0)),
        Some(HashAlgorithm::Identity) => {
            let all = parts.into_iter().flatten().take(8);
            all.fold(0, |number, byte| number << 8 | u64::from(*byte))
        }
        Some(HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16) => {
            let [first, second] = sums(parts, little_endian_sum);
            let (sum, carry) = first.overflowing_add(second);
            u64::from(!(sum + u16::from(carry)))
        }
        Some(HashAlgorithm::Xor16) => {
            let [first, second] = sums(parts, little_endian_xor);
            u64::from(first ^ second)
        }
        Some(HashAlgorithm::Random | HashAlgorithm::Custom(_) | HashAlgorithm::Crc(_)) | None => 0,
    }
}

/// What `combine` makes of the words of 16 bits of both parts, first byte low, in network byte order.
/// When the first part ends within a word, the second one's bytes are swapped once more.
fn sums(parts: [&[u8]; 2], combine: fn(&[u8]) -> u16) -> [u16; 2] {
    let [first, second] = parts.map(combine);
    let second = if parts[0].len().is_multiple_of(2) { second.swap_bytes() } else { second };
    [first.swap_bytes(), second]
}

/// 64 bits a time, first byte low, the last ones filled with zeros.
fn little_endian_words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (chunks, rest) = bytes.as_chunks();
    let last = (!rest.is_empty()).then(|| {
        let mut chunk = [0; 8];
        chunk[..rest.len()].copy_from_slice(rest);
        chunk
    });
    chunks.iter().copied().chain(last).map(u64::from_le_bytes)
}

/// The sum of words of 16 bits, first byte low, carries added in.
fn little_endian_sum(bytes: &[u8]) -> u16 {
    let mut sum: u64 =
        little_endian_words(bytes).map(|word| (word >> 32) + (word & 0xffff_ffff)).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn little_endian_xor(bytes: &[u8]) -> u16 {
    let word = little_endian_words(bytes).fold(0, |value, word| value ^ word);
    let word = word ^ word >> 32;
    (word ^ word >> 16) as u16
}

/// The sum of words of 16 bits, first byte low, carries added in.
///
/// # Safety
///
/// At `address` stand so many bytes that nobody writes during the call.
pub(crate) unsafe extern "C" fn sum_little_endian(address: u64, length_bytes: u64) -> u64 {
    // SAFETY: the caller's promise.
    u64::from(little_endian_sum(unsafe { bytes(address, length_bytes) }))
}

/// Appends a value to a string of bits, most significant bit first; zeros fill the last byte.
///
/// # Safety
///
/// At `words` stand `added_bits` bits in words, low word first. At `buffer` is room for the bytes of
/// `length_bits` and as many bits more, which nobody else uses during the call; the first
/// `length_bits` are written.
pub(crate) unsafe extern "C" fn append_bits(
    buffer: u64,
    length_bits: u64,
    words: u64,
    added_bits: u64,
) {
    // SAFETY: the caller's promise. Only bytes from that of the last bit on are touched.
    let (words, room) = unsafe {
        let first = (buffer + length_bits / 8) as usize as *mut u8;
        let room_bytes = (length_bits % 8 + added_bits).div_ceil(8) as usize;
        (
            slice::from_raw_parts(words as usize as *const u64, added_bits.div_ceil(64) as usize),
            slice::from_raw_parts_mut(first, room_bytes),
        )
    };
    let mut at_bits = length_bits % 8;
    let mut rest_bits = added_bits;
    while rest_bits > 0 {
        // The highest word may be a part.
        let index = (rest_bits - 1) / 64;
        let width_bits = rest_bits - index * 64;
        let used_bits = at_bits % 8;
        let moved = u128::from(words[index as usize]) << (128 - used_bits - width_bits);
        let room = &mut room[(at_bits / 8) as usize..];
        let mut moved_bytes = moved.to_be_bytes();
        if used_bits > 0 {
            moved_bytes[0] |= room[0] & !(0xff >> used_bits);
        }
        let count = (used_bits + width_bits).div_ceil(8) as usize;
        room[..count].copy_from_slice(&moved_bytes[..count]);
        at_bits += width_bits;
        rest_bits -= width_bits;
    }
}

static CRC32_TABLES: [[u32; 256]; 8] = reflected_tables(0xedb8_8320);
static CRC16_TABLES: [[u32; 256]; 8] = reflected_tables(0xa001);

/// A CRC that compiled code computes itself.
pub(crate) struct InlineCrc {
    /// The tables of the polynomial.
    pub tables: &'static [[u32; 256]; 8],
    /// The remainder to start from.
    pub initial: u32,
    /// What the last remainder is combined with.
    pub final_xor: u32,
}

/// The algorithm as such a CRC; none for those with parameters of the control plane.
pub(crate) fn inline_crc(algorithm: HashAlgorithm) -> Option<InlineCrc> {
    match algorithm {
        HashAlgorithm::Crc32 | HashAlgorithm::TargetDefault => {
            Some(InlineCrc { tables: &CRC32_TABLES, initial: u32::MAX, final_xor: u32::MAX })
        }
        HashAlgorithm::Crc16 => Some(InlineCrc { tables: &CRC16_TABLES, initial: 0, final_xor: 0 }),
        HashAlgorithm::Crc(polynomial) => {
            let tables = program_crc(polynomial).tables.as_ref()?;
            let initial = polynomial.initial_register();
            Some(InlineCrc { tables, initial, final_xor: polynomial.final_xor as u32 })
        }
        _ => None,
    }
}

/// Eight bytes a step, then four: the remainder goes into the first of them, and each has its own table.
fn reflected_crc(tables: &[[u32; 256]; 8], mut remainder: u32, bytes: &[u8]) -> u32 {
    let four = |behind: usize, word: u32| {
        let [first, second, third, fourth] = word.to_le_bytes().map(usize::from);
        tables[behind + 3][first]
            ^ tables[behind + 2][second]
            ^ tables[behind + 1][third]
            ^ tables[behind][fourth]
    };
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk) ^ u64::from(remainder);
        remainder = four(4, word as u32) ^ four(0, (word >> 32) as u32);
    }
    let (chunks, rest) = rest.as_chunks::<4>();
    for chunk in chunks {
        remainder = four(0, u32::from_le_bytes(*chunk) ^ remainder);
    }
    for byte in rest {
        remainder = remainder >> 8 ^ tables[0][usize::from(remainder as u8 ^ byte)];
    }
    remainder
}

/// A CRC with parameters of its own.
fn custom_crc(crc: &Crc, parts: [&[u8]; 2]) -> u32 {
    let (width_bits, parameters) = (crc.width_bits(), crc.parameters());
    // As most are until somebody sets them.
    let standard = match (width_bits, parameters) {
        (32, CrcParameters::CRC32) => Some((&CRC32_TABLES, u32::MAX)),
        (16, CrcParameters::CRC16) => Some((&CRC16_TABLES, 0)),
        _ => None,
    };
    if let Some((tables, initial)) = standard {
        let crc = |remainder, bytes: &&[u8]| reflected_crc(tables, remainder, bytes);
        return parts.iter().fold(initial, crc) ^ initial;
    }
    if let Some(tables) = crc.reflected_tables() {
        let crc = |remainder, bytes: &&[u8]| reflected_crc(tables, remainder, bytes);
        let initial = (parameters.initial << (32 - width_bits)).reverse_bits();
        let result = parts.iter().fold(initial, crc) ^ parameters.final_xor;
        return result & (u32::MAX >> (32 - width_bits));
    }
    // At the top of 32 bits, so that all widths are computed alike.
    let unused_bits = 32 - width_bits;
    let mut remainder = parameters.initial << unused_bits;
    let table = crc.table();
    for &byte in parts.into_iter().flatten() {
        let byte = if parameters.reflect_input { byte.reverse_bits() } else { byte };
        remainder = remainder << 8 ^ table[usize::from((remainder >> 24) as u8 ^ byte)];
    }
    let result = match parameters.reflect_output {
        true => remainder.reverse_bits(),
        false => remainder >> unused_bits,
    };
    (result ^ parameters.final_xor) & (u32::MAX >> unused_bits)
}
