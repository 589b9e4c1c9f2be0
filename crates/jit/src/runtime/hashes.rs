// SPDX-License-Identifier: Apache-2.0
//! Hashes of bytes for compiled code, equal to those of [`interpreter::hash`] and faster.

use arithmetic::crc::{Crc, CrcParameters, ReflectedTables};
use ir::{CalculationId, HashAlgorithm};
use state::Replication;
use std::collections::BTreeMap;
use std::slice;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The algorithms other than CRCs; compiled code names them by their index.
const ALGORITHMS: [HashAlgorithm; 5] = [
    HashAlgorithm::Random,
    HashAlgorithm::Identity,
    HashAlgorithm::Csum16,
    HashAlgorithm::Xor16,
    HashAlgorithm::OnesComplement16,
];

/// Calculations have numbers from here on.
const FIRST_CALCULATION: u64 = 1 << 32;

/// The number of an algorithm in compiled code.
pub(crate) fn number(algorithm: HashAlgorithm) -> u64 {
    match algorithm {
        HashAlgorithm::Custom(calculation) => FIRST_CALCULATION + u64::from(calculation.0),
        _ if algorithm.crc().is_some() => PROGRAM_CRC,
        _ => {
            let at = ALGORITHMS.iter().position(|listed| *listed == algorithm);
            at.unwrap_or(ALGORITHMS.len()) as u64
        }
    }
}

/// The number of CRCs whose parameters the program fixes; compiled code passes the address of the [`Crc`]
/// instead of that of the replication.
const PROGRAM_CRC: u64 = 255;

/// The one [`Crc`] with these parameters. It stays for as long as the process lives, so that compiled code can name
/// it and its tables by address; programs have few.
pub(crate) fn program_crc(parameters: CrcParameters) -> &'static Crc {
    static CRC16: LazyLock<Crc> = LazyLock::new(|| Crc::new(CrcParameters::CRC16));
    static CRC32: LazyLock<Crc> = LazyLock::new(|| Crc::new(CrcParameters::CRC32));
    match parameters {
        CrcParameters::CRC16 => return &CRC16,
        CrcParameters::CRC32 => return &CRC32,
        _ => {}
    }
    static KNOWN: Mutex<BTreeMap<CrcParameters, &'static Crc>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(parameters).or_insert_with(|| Box::leak(Box::new(Crc::new(parameters))))
}

/// The hash of bytes.
///
/// # Safety
///
/// At `buffer` are so many bytes, which no other code writes during the call. `replication` is the address of
/// a [`Replication`] when the algorithm is a calculation, and of a [`Crc`] that is never freed when it is a CRC
/// of the program.
pub(crate) unsafe extern "C" fn hash(
    number: u64,
    replication: u64,
    buffer: u64,
    length_bytes: u64,
) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { hash_parts(number, replication, [bytes(buffer, length_bytes), &[]]) }
}

/// The hash of bytes and of the rest of a packet from some bit on, padded to whole bytes.
///
/// # Safety
///
/// As of [`hash`], and the packet is so many bytes that no other code writes during the call.
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
/// At `address` are so many bytes that no other code writes during the call.
unsafe fn bytes<'a>(address: u64, length: u64) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(address as usize as *const u8, length as usize) }
}

/// # Safety
///
/// `replication` is the address of a [`Replication`] when the algorithm is a calculation, and of a [`Crc`] that is
/// never freed when it is a CRC of the program.
unsafe fn hash_parts(number: u64, replication: u64, parts: [&[u8]; 2]) -> u64 {
    if let Some(calculation) = number.checked_sub(FIRST_CALCULATION) {
        // SAFETY: the caller's promise, as the algorithm is a calculation.
        let replication = unsafe { &*(replication as usize as *const Replication) };
        let crc = replication.crc(CalculationId(calculation as u32));
        return crc.map_or(0, |crc| crc.compute(parts));
    }
    if number == PROGRAM_CRC {
        // SAFETY: the caller's promise; a CRC of the program is never freed.
        let crc: &Crc = unsafe { &*(replication as usize as *const _) };
        return crc.compute(parts);
    }
    ALGORITHMS.get(number as usize).map_or(0, |algorithm| plain_hash(*algorithm, parts))
}

/// The hash of bytes, as [`interpreter::hash::hash`] defines it.
pub(crate) fn hash_of(algorithm: HashAlgorithm, bytes: &[u8], replication: &Replication) -> u64 {
    let parts = [bytes, &[]];
    match (algorithm, algorithm.crc()) {
        (HashAlgorithm::Custom(calculation), _) => {
            replication.crc(calculation).map_or(0, |crc| crc.compute(parts))
        }
        (_, Some(parameters)) => program_crc(parameters).compute(parts),
        (_, None) => plain_hash(algorithm, parts),
    }
}

/// A hash that is not a CRC.
fn plain_hash(algorithm: HashAlgorithm, parts: [&[u8]; 2]) -> u64 {
    match algorithm {
        HashAlgorithm::Identity => {
            let all = parts.into_iter().flatten().take(8);
            all.fold(0, |number, byte| number << 8 | u64::from(*byte))
        }
        HashAlgorithm::Csum16 | HashAlgorithm::OnesComplement16 => {
            let [first, second] = sums(parts, little_endian_sum);
            let (sum, carry) = first.overflowing_add(second);
            u64::from(!(sum + u16::from(carry)))
        }
        HashAlgorithm::Xor16 => {
            let [first, second] = sums(parts, little_endian_xor);
            u64::from(first ^ second)
        }
        _ => 0,
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
/// At `address` are so many bytes that no other code writes during the call.
pub(crate) unsafe extern "C" fn sum_little_endian(address: u64, length_bytes: u64) -> u64 {
    // SAFETY: the caller's promise.
    u64::from(little_endian_sum(unsafe { bytes(address, length_bytes) }))
}

/// Appends a value to a string of bits, most significant bit first; zeros fill the last byte.
///
/// # Safety
///
/// At `words` are `added_bits` bits in words, low word first. At `buffer` is room for the bytes of
/// `length_bits` and as many bits more, which no other code uses during the call; the first `length_bits` are
/// written.
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

/// A CRC that compiled code computes itself.
pub(crate) struct InlineCrc {
    /// The tables of the polynomial.
    pub tables: &'static ReflectedTables,
    /// The first value of the register.
    pub initial: u32,
    /// The last value of the register is exclusive-ored with this.
    pub final_xor: u32,
}

/// The algorithm as such a CRC; `None` for CRCs with parameters that the control plane sets, and for those without
/// tables.
pub(crate) fn inline_crc(algorithm: HashAlgorithm) -> Option<InlineCrc> {
    let parameters = algorithm.crc()?;
    let tables = program_crc(parameters).reflected_tables()?;
    let initial = parameters.reversed_initial();
    Some(InlineCrc { tables, initial, final_xor: parameters.final_xor as u32 })
}
