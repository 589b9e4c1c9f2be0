// SPDX-License-Identifier: Apache-2.0
//! Workloads: tables and keys of packets from a fixed seed, with distributions of real tables of each kind.

use arithmetic::random::SplitMix64;
use ir::{BinaryOperation, Bits, KeyPattern, MatchKind};

/// Random numbers.
pub struct Random(SplitMix64);

impl Random {
    /// Numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0.next_number()
    }

    /// A number below this.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// One of these, by weights in per mille.
    fn weighted(&mut self, choices: &[(u32, u32)]) -> u32 {
        let mut left = self.below(1000) as u32;
        for &(choice, weight) in choices {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        choices[choices.len() - 1].0
    }
}

/// An entry. Its order is its place in the list.
pub struct Entry {
    pub keys: Vec<KeyPattern>,
    pub rank: i64,
    pub leaf: u32,
}

/// A table and keys to look up, each of which an entry matches.
pub struct Workload {
    /// Description of the table.
    pub name: &'static str,
    /// Kinds and widths of its keys.
    pub shape: Vec<(MatchKind, u32)>,
    pub entries: Vec<Entry>,
    /// One value a key.
    pub packets: Vec<Vec<Bits>>,
}

/// Makes a table with this number of entries.
pub type Make = fn(usize) -> Workload;

fn number(bits: u32, random: &mut Random) -> Bits {
    let words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| random.next()).collect();
    Bits::from_words(bits, &words)
}

/// A value that matches a pattern.
fn inside(pattern: &KeyPattern, width: u32, random: &mut Random) -> Bits {
    let noise = number(width, random);
    let filled = |value: &Bits, mask: &Bits| {
        let open = noise.binary(BinaryOperation::Or, mask).binary(BinaryOperation::Xor, mask);
        value.binary(BinaryOperation::Or, &open)
    };
    match pattern {
        KeyPattern::Any => noise,
        KeyPattern::Exact(value) => value.clone(),
        KeyPattern::Prefix { value, length_bits } => {
            filled(value, &Bits::prefix_mask(width, *length_bits))
        }
        KeyPattern::Ternary { value, mask } => filled(value, mask),
        KeyPattern::Range { low, high } => {
            let (low, high) = (low.low_u64(), high.low_u64());
            Bits::from_u64(width, low + random.next() % (high - low + 1))
        }
    }
}

fn workload(
    name: &'static str,
    shape: Vec<(MatchKind, u32)>,
    count: usize,
    mut entry: impl FnMut(usize, &mut Random) -> (Vec<KeyPattern>, i64),
) -> Workload {
    let mut random = Random::new(count as u64);
    let mut seen = std::collections::HashSet::new();
    let mut entries = Vec::with_capacity(count);
    for at in 0..count {
        for _ in 0..8 {
            let (keys, rank) = entry(at, &mut random);
            if seen.insert(keys.clone()) {
                entries.push(Entry { keys, rank, leaf: random.below(256) as u32 });
                break;
            }
        }
    }
    let packets = (0..PACKETS)
        .map(|_| {
            let entry = &entries[random.below(entries.len())];
            let keys = entry.keys.iter().zip(&shape);
            keys.map(|(pattern, (_, width))| inside(pattern, *width, &mut random)).collect()
        })
        .collect();
    Workload { name, shape, entries, packets }
}

/// Packets of a workload; a power of two.
pub const PACKETS: usize = 1 << 15;

/// One exact key of 48 bits.
pub fn exact_mac(count: usize) -> Workload {
    workload("exact, 48 bits", vec![(MatchKind::Exact, 48)], count, |_, random| {
        (vec![KeyPattern::Exact(number(48, random))], 0)
    })
}

/// Exact five-tuples of IPv4.
pub fn exact_flow(count: usize) -> Workload {
    let widths = [32, 32, 16, 16, 8];
    let shape = widths.map(|width| (MatchKind::Exact, width)).to_vec();
    workload("exact, 104 bits", shape, count, move |_, random| {
        (widths.map(|width| KeyPattern::Exact(number(width, random))).to_vec(), 0)
    })
}

/// Exact five-tuples of IPv6.
pub fn exact_wide(count: usize) -> Workload {
    let widths = [128, 128, 16, 16, 8];
    let shape = widths.map(|width| (MatchKind::Exact, width)).to_vec();
    workload("exact, 296 bits", shape, count, move |_, random| {
        (widths.map(|width| KeyPattern::Exact(number(width, random))).to_vec(), 0)
    })
}

/// Lengths of prefixes as in a full table of IPv4, per mille.
const LENGTHS_V4: [(u32, u32); 14] = [
    (24, 590),
    (23, 100),
    (22, 115),
    (21, 50),
    (20, 45),
    (19, 26),
    (18, 14),
    (17, 8),
    (16, 14),
    (15, 2),
    (14, 2),
    (13, 1),
    (12, 1),
    (32, 32),
];

fn route_v4(random: &mut Random) -> KeyPattern {
    let length_bits = random.weighted(&LENGTHS_V4);
    // Most routes lie in blocks that have many.
    let block = match random.below(10) {
        0 => random.next(),
        _ => Random::new(random.below(20_000) as u64).next(),
    };
    let address = (block as u32 & 0xffff_0000) | random.next() as u32 & 0xffff;
    prefix(32, u128::from(address), length_bits)
}

fn prefix(width: u32, address: u128, length_bits: u32) -> KeyPattern {
    let mask = Bits::prefix_mask(width, length_bits);
    let value = Bits::from_u128(width, address).binary(BinaryOperation::And, &mask);
    KeyPattern::Prefix { value, length_bits }
}

/// Routes of IPv4.
pub fn routes_v4(count: usize) -> Workload {
    workload("lpm, IPv4", vec![(MatchKind::Lpm, 32)], count, |_, random| {
        let pattern = route_v4(random);
        let rank = length(&pattern);
        (vec![pattern], rank)
    })
}

fn length(pattern: &KeyPattern) -> i64 {
    match pattern {
        KeyPattern::Prefix { length_bits, .. } => i64::from(*length_bits),
        _ => 0,
    }
}

/// Routes of IPv6.
pub fn routes_v6(count: usize) -> Workload {
    const LENGTHS: [(u32, u32); 9] = [
        (48, 460),
        (32, 120),
        (44, 110),
        (40, 110),
        (36, 70),
        (47, 30),
        (46, 40),
        (29, 30),
        (64, 30),
    ];
    workload("lpm, IPv6", vec![(MatchKind::Lpm, 128)], count, |_, random| {
        let length_bits = random.weighted(&LENGTHS);
        let block = Random::new(random.below(25_000) as u64).next() >> 32 << 32;
        let high = block >> 3 | 1 << 61 | random.next() & 0xffff_ffff;
        let address = u128::from(high) << 64 | u128::from(random.next());
        (vec![prefix(128, address, length_bits)], i64::from(length_bits))
    })
}

/// Routes of IPv4 in 100 routing domains.
pub fn routes_by_domain(count: usize) -> Workload {
    let shape = vec![(MatchKind::Exact, 16), (MatchKind::Lpm, 32)];
    workload("lpm, 100 domains of IPv4", shape, count, |_, random| {
        let domain = Bits::from_u64(16, random.below(100) as u64);
        let route = route_v4(random);
        let rank = length(&route);
        (vec![KeyPattern::Exact(domain), route], rank)
    })
}

fn ternary(width: u32, value: u128, mask: Bits) -> KeyPattern {
    let value = Bits::from_u128(width, value).binary(BinaryOperation::And, &mask);
    KeyPattern::Ternary { value, mask }
}

/// Five-tuples with masks: 64 combinations of address prefixes, ports and protocols.
pub fn masks_64(count: usize) -> Workload {
    let shape = [32, 32, 16, 16, 8].map(|width| (MatchKind::Ternary, width)).to_vec();
    workload("ternary, 104 bits, 64 masks", shape, count, |at, random| {
        let lengths = Random::new(at as u64 % 64).next();
        let [source, target] = [[32, 24, 16, 28], [24, 32, 16, 20]];
        let source = source[(lengths % 4) as usize];
        let target = target[(lengths >> 2) as usize % 4];
        let port = |chosen: bool| if chosen { 16 } else { 0 };
        let widths = [
            (32, source),
            (32, target),
            (16, port(lengths >> 4 & 1 == 1)),
            (16, port(lengths >> 5 & 1 == 1)),
            (8, if lengths >> 6 & 1 == 1 { 8 } else { 0 }),
        ];
        let keys = widths.map(|(width, length_bits)| {
            ternary(width, u128::from(random.next()), Bits::prefix_mask(width, length_bits))
        });
        (keys.to_vec(), random.below(count) as i64)
    })
}

/// One key of 800 bits, of which masks choose a few fields.
pub fn masks_wide(count: usize) -> Workload {
    let shape = vec![(MatchKind::Ternary, 800)];
    workload("ternary, 800 bits, 16 masks", shape, count, |at, random| {
        let fields = Random::new(at as u64 % 16).next();
        let mut mask = [0u64; 13];
        for field in 0..4 {
            mask[(fields >> (field * 8)) as usize % 12] |= 0xffff_0000_ffff;
        }
        let mask = Bits::from_words(800, &mask);
        let value = number(800, random).binary(BinaryOperation::And, &mask);
        (vec![KeyPattern::Ternary { value, mask }], random.below(count) as i64)
    })
}

fn ports(random: &mut Random) -> KeyPattern {
    let [left, right] = [random.below(1 << 16) as u64, random.below(1 << 16) as u64];
    let low = left.min(right);
    // Mostly short ranges, some long ones.
    let high = if random.below(4) == 0 { left.max(right) } else { (low + right % 100).min(65535) };
    KeyPattern::Range { low: Bits::from_u64(16, low), high: Bits::from_u64(16, high) }
}

/// One range of 32 bits.
pub fn ranges(count: usize) -> Workload {
    workload("range, 32 bits", vec![(MatchKind::Range, 32)], count, |_, random| {
        let low = random.next() & 0xffff_ffff;
        let length = random.next() & 0xffff_ffff >> random.below(24);
        let high = (low + length).min(0xffff_ffff);
        let range =
            KeyPattern::Range { low: Bits::from_u64(32, low), high: Bits::from_u64(32, high) };
        (vec![range], random.below(count) as i64)
    })
}

/// Five-tuples: addresses by masks, both ports by ranges.
pub fn access_list(count: usize) -> Workload {
    let kinds = [MatchKind::Ternary, MatchKind::Ternary, MatchKind::Range, MatchKind::Range];
    let mut shape: Vec<_> = kinds.into_iter().zip([32, 32, 16, 16]).collect();
    shape.push((MatchKind::Optional, 8));
    workload("ternary and two ranges, 104 bits", shape, count, |_, random| {
        let length = |random: &mut Random| [0, 8, 16, 24, 32][random.below(5)];
        let mut address = || {
            let mask = Bits::prefix_mask(32, length(random));
            ternary(32, u128::from(random.next()), mask)
        };
        let mut keys = vec![address(), address()];
        for _ in 0..2 {
            keys.push(match random.below(3) {
                0 => KeyPattern::Any,
                1 => {
                    let port = Bits::from_u64(16, random.next());
                    KeyPattern::Range { low: port.clone(), high: port }
                }
                _ => ports(random),
            });
        }
        keys.push(match random.below(2) {
            0 => KeyPattern::Any,
            _ => KeyPattern::Exact(Bits::from_u64(8, 6 + 11 * (random.next() & 1))),
        });
        (keys, random.below(count) as i64)
    })
}
