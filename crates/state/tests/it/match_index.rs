// SPDX-License-Identifier: Apache-2.0
//! Match indexes against a list that is scanned: tables of every match kind and of mixed keys, with
//! insertions, removals and changed leaves in between, equal entries, open exact keys and equal ranks.

use arithmetic::random::SplitMix64;
use ir::{Bits, KeyPattern, MatchKind};
use proptest::prelude::*;
use state::forwarding::index::{KeyLayout, MatchIndex, NO_MATCH};

/// The reference: the meaning of patterns, entry by entry.
#[derive(Clone, Debug)]
struct Listed {
    keys: Vec<KeyPattern>,
    rank: i64,
    order: u64,
    leaf: u32,
}

fn matches(pattern: &KeyPattern, value: &Bits) -> bool {
    let width = value.width_bits();
    if let (Some(number), true) = (value.to_u128(), width <= 128) {
        let narrow = |bits: &Bits| bits.to_u128().unwrap_or(0);
        return match pattern {
            KeyPattern::Any => true,
            KeyPattern::Exact(wanted) => number == narrow(wanted),
            KeyPattern::Prefix { length_bits: 0, .. } => true,
            KeyPattern::Prefix { value: wanted, length_bits } => {
                let dropped = width - length_bits;
                number >> dropped == narrow(wanted) >> dropped
            }
            KeyPattern::Ternary { value: wanted, mask } => {
                number & narrow(mask) == narrow(wanted) & narrow(mask)
            }
            KeyPattern::Range { low, high } => narrow(low) <= number && number <= narrow(high),
        };
    }
    let number = |bits: &Bits| bits.to_biguint();
    let value_number = number(value);
    match pattern {
        KeyPattern::Any => true,
        KeyPattern::Exact(wanted) => value_number == number(wanted),
        KeyPattern::Prefix { value: wanted, length_bits } => {
            let dropped = width - length_bits;
            value_number >> dropped == number(wanted) >> dropped
        }
        KeyPattern::Ternary { value: wanted, mask } => {
            &value_number & number(mask) == number(wanted) & number(mask)
        }
        KeyPattern::Range { low, high } => {
            number(low) <= value_number && value_number <= number(high)
        }
    }
}

fn scan(list: &[Listed], values: &[Bits]) -> u32 {
    list.iter()
        .filter(|entry| entry.keys.iter().zip(values).all(|(key, value)| matches(key, value)))
        .max_by_key(|entry| (entry.rank, std::cmp::Reverse(entry.order)))
        .map_or(NO_MATCH, |entry| entry.leaf)
}

/// Random numbers for the choices of a test.
struct Choices(SplitMix64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0.next_number()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// One of a few repeated numbers, or an arbitrary one.
    fn bits(&mut self, width: u32) -> Bits {
        let words = width.div_ceil(64) as usize;
        let few = self.below(4);
        match self.below(8) {
            0 => Bits::zero(width),
            1 => Bits::ones(width),
            2 | 3 => Bits::from_u64(width, few),
            4 | 5 => {
                let mut all = vec![0; words];
                if let Some(last) = all.last_mut() {
                    *last = few << ((width.max(3) - 3) % 64);
                }
                Bits::from_words(width, &all)
            }
            6 => Bits::from_words(width, &vec![few.wrapping_mul(0x1111_1111_1111_1111); words]),
            _ => Bits::from_words(width, &(0..words).map(|_| self.next()).collect::<Vec<_>>()),
        }
    }

    fn pattern(&mut self, kind: &MatchKind, width: u32, open_exact: bool) -> KeyPattern {
        let value = self.bits(width);
        let and = ir::BinaryOperation::And;
        match kind {
            MatchKind::Exact if open_exact && self.below(4) == 0 => KeyPattern::Any,
            MatchKind::Exact => KeyPattern::Exact(value),
            MatchKind::Lpm => {
                let length_bits = match self.below(4) {
                    0 => self.below(u64::from(width) + 1) as u32,
                    1 => width,
                    2 => width.min(3 + self.below(2) as u32),
                    _ => width * 3 / 4,
                };
                let mask = Bits::prefix_mask(width, length_bits);
                KeyPattern::Prefix { value: value.binary(and, &mask), length_bits }
            }
            MatchKind::Ternary => {
                let mask = self.bits(width);
                KeyPattern::Ternary { value: value.binary(and, &mask), mask }
            }
            MatchKind::Range => {
                let other = self.bits(width);
                match value.cmp_unsigned(&other).is_le() {
                    true => KeyPattern::Range { low: value, high: other },
                    false => KeyPattern::Range { low: other, high: value },
                }
            }
            _ if self.below(3) == 0 => KeyPattern::Any,
            _ => KeyPattern::Exact(value),
        }
    }

    /// A value that often matches the pattern.
    fn value(&mut self, pattern: &KeyPattern, width: u32) -> Bits {
        let base = match pattern {
            KeyPattern::Any => return self.bits(width),
            KeyPattern::Exact(value) | KeyPattern::Prefix { value, .. } => value.clone(),
            KeyPattern::Ternary { value, mask } => {
                let noise = self.bits(width).binary(ir::BinaryOperation::Or, mask);
                let noise = noise.binary(ir::BinaryOperation::Xor, mask);
                value.binary(ir::BinaryOperation::Or, &noise)
            }
            KeyPattern::Range { low, high } => {
                let one = Bits::from_u64(width, 1);
                match self.below(4) {
                    0 => low.clone(),
                    1 => high.clone(),
                    2 => low.binary(ir::BinaryOperation::Subtract, &one),
                    _ => high.binary(ir::BinaryOperation::Add, &one),
                }
            }
        };
        if self.below(3) == 0 && width > 0 {
            let at = self.below(u64::from(width));
            let one = Bits::from_u64(width, 1)
                .binary(ir::BinaryOperation::ShiftLeft, &Bits::from_u64(32, at));
            return base.binary(ir::BinaryOperation::Xor, &one);
        }
        base
    }
}

/// Leaves are below 1,000: exact keys of up to 53 bits share a word with them.
const LEAF_BITS: u32 = 10;

struct Pair {
    layout: KeyLayout,
    index: MatchIndex,
    list: Vec<Listed>,
    order: u64,
}

impl Pair {
    fn new(keys: &[(MatchKind, u32)]) -> Pair {
        let layout = KeyLayout::of_keys(keys.to_vec());
        let index = MatchIndex::of_leaves(&layout, LEAF_BITS);
        Pair { layout, index, list: Vec::new(), order: 0 }
    }

    fn insert(&mut self, keys: Vec<KeyPattern>, priority: i64, order: u64, leaf: u32) {
        let rank = self.layout.rank(&keys, priority);
        self.index.insert(&self.layout, &keys, rank, order, leaf);
        self.list.push(Listed { keys, rank, order, leaf });
    }

    fn remove(&mut self, at: usize) {
        let Listed { keys, rank, order, .. } = self.list.swap_remove(at);
        self.index.remove(&self.layout, &keys, rank, order);
    }

    fn change(&mut self, keys: &[(MatchKind, u32)], choices: &mut Choices, open_exact: bool) {
        let count = self.list.len() as u64;
        match choices.below(8) {
            0 | 1 if count > 0 => self.remove(choices.below(count) as usize),
            2 if count > 0 => {
                let leaf = choices.below(1000) as u32;
                let entry = &mut self.list[choices.below(count) as usize];
                entry.leaf = leaf;
                self.index.set_leaf(&self.layout, &entry.keys, entry.rank, entry.order, leaf);
            }
            choice => {
                let patterns = match choice {
                    3 if count > 0 => self.list[choices.below(count) as usize].keys.clone(),
                    _ => keys
                        .iter()
                        .map(|(kind, width)| choices.pattern(kind, *width, open_exact))
                        .collect(),
                };
                // Mostly ascending, at times large.
                self.order += 1;
                let order = match choices.below(8) {
                    0 => (1 << 40) - self.order,
                    1 => 1_000_000 - self.order,
                    _ => self.order,
                };
                let (priority, leaf) = (choices.below(6) as i64 - 2, choices.below(5) as u32);
                self.insert(patterns, priority, order, leaf);
            }
        }
    }

    fn compare(&self, values: &[Bits]) {
        let mut key = vec![u64::MAX; self.layout.words()];
        self.layout.pack(values, &mut key);
        let wanted = scan(&self.list, values);
        assert_eq!(self.index.find_words(&key), wanted, "{values:?} in {:#?}", self.list);
        self.index.first_touch_words(&key);
    }

    fn look(&self, keys: &[(MatchKind, u32)], choices: &mut Choices, times: usize) {
        for _ in 0..times {
            let near = match self.list.len() as u64 {
                0 => None,
                count => Some(choices.below(count) as usize),
            };
            let values: Vec<Bits> = keys
                .iter()
                .enumerate()
                .map(|(at, (_, width))| match near {
                    Some(near) => choices.value(&self.list[near].keys[at], *width),
                    None => choices.bits(*width),
                })
                .collect();
            self.compare(&values);
        }
    }
}

fn check(keys: &[(MatchKind, u32)], seed: u64, changes: usize, open_exact: bool) {
    let mut choices = Choices(SplitMix64::new(seed));
    let mut pair = Pair::new(keys);
    for _ in 0..changes {
        pair.change(keys, &mut choices, open_exact);
        pair.look(keys, &mut choices, 2);
    }
    let copy = pair.index.clone();
    while !pair.list.is_empty() {
        pair.remove(choices.below(pair.list.len() as u64) as usize);
        pair.look(keys, &mut choices, 1);
    }
    pair.index = copy;
    pair.index.clear();
    pair.look(keys, &mut choices, 1);
}

fn widths() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0u32..=200, 2 => Just(32), 1 => Just(128), 1 => Just(64), 1 => Just(800)]
}

fn kind() -> impl Strategy<Value = MatchKind> {
    prop_oneof![
        Just(MatchKind::Exact),
        Just(MatchKind::Lpm),
        Just(MatchKind::Ternary),
        Just(MatchKind::Range),
        Just(MatchKind::Optional),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(24)))]

    #[test]
    fn exact_keys(widths in prop::collection::vec(widths(), 1..4), seed: u64, open: bool) {
        let keys: Vec<_> = widths.iter().map(|&width| (MatchKind::Exact, width)).collect();
        check(&keys, seed, 60, open);
    }

    #[test]
    fn one_prefix(width in widths(), seed: u64) {
        check(&[(MatchKind::Lpm, width)], seed, 80, false);
    }

    #[test]
    fn a_prefix_beside_exact_keys(
        widths in prop::collection::vec(widths(), 2..4), at in 0usize..4, seed: u64, open: bool,
    ) {
        let at = at % widths.len();
        let kind = |key| if key == at { MatchKind::Lpm } else { MatchKind::Exact };
        let keys: Vec<_> =
            widths.iter().enumerate().map(|(key, &width)| (kind(key), width)).collect();
        check(&keys, seed, 60, open && seed % 2 == 0);
    }

    #[test]
    fn masks(widths in prop::collection::vec(widths(), 1..3), seed: u64) {
        let keys: Vec<_> = widths.iter().map(|&width| (MatchKind::Ternary, width)).collect();
        check(&keys, seed, 60, false);
    }

    #[test]
    fn ranges(widths in prop::collection::vec(0u32..=40, 1..4), seed: u64) {
        let keys: Vec<_> = widths.iter().map(|&width| (MatchKind::Range, width)).collect();
        check(&keys, seed, 60, false);
    }

    #[test]
    fn mixed_keys(keys in prop::collection::vec((kind(), widths()), 1..5), seed: u64) {
        check(&keys, seed, 50, false);
    }
}

/// Many entries, so that tables grow, roots widen, arenas fill up and tuples multiply.
fn check_many(keys: &[(MatchKind, u32)], entries: usize) {
    let mut choices = Choices(SplitMix64::new(entries as u64));
    let mut pair = Pair::new(keys);
    for _ in 0..2 {
        while pair.list.len() < entries {
            pair.change(keys, &mut choices, false);
        }
        pair.look(keys, &mut choices, 150);
        while pair.list.len() > entries / 20 {
            pair.remove(choices.below(pair.list.len() as u64) as usize);
        }
        pair.look(keys, &mut choices, 50);
    }
}

#[test]
fn many_entries() {
    check_many(&[(MatchKind::Exact, 20)], 1500);
    check_many(&[(MatchKind::Exact, 48)], 1500);
    check_many(&[(MatchKind::Exact, 53)], 1500);
    check_many(&[(MatchKind::Exact, 54)], 1500);
    check_many(&[(MatchKind::Exact, 70)], 1500);
    check_many(&[(MatchKind::Exact, 170)], 1500);
    check_many(&[(MatchKind::Lpm, 32)], 2000);
    check_many(&[(MatchKind::Lpm, 128)], 1500);
    check_many(&[(MatchKind::Exact, 3), (MatchKind::Lpm, 32)], 1500);
    check_many(&[(MatchKind::Ternary, 32), (MatchKind::Optional, 8)], 1000);
    check_many(&[(MatchKind::Ternary, 100), (MatchKind::Ternary, 200)], 600);
    check_many(&[(MatchKind::Range, 16), (MatchKind::Range, 16), (MatchKind::Exact, 2)], 600);
    check_many(&[(MatchKind::Range, 32)], 600);
}

#[test]
fn keys_lie_where_the_layout_says() {
    let check = |keys: &[(MatchKind, u32)], values: &[u64], expected: &[u64]| {
        let layout = KeyLayout::of_keys(keys.to_vec());
        let mut key = vec![u64::MAX; layout.words()];
        let values: Vec<Bits> = values
            .iter()
            .zip(keys)
            .map(|(&value, (_, width))| Bits::from_u64(*width, value))
            .collect();
        layout.pack(&values, &mut key);
        assert_eq!(key, expected);
    };
    use MatchKind::{Exact, Lpm, Ternary};
    check(&[], &[], &[0]);
    check(&[(Exact, 8), (Lpm, 16)], &[0xab, 0x1234], &[0xab_1234]);
    check(&[(Exact, 0), (Exact, 64)], &[0, 7], &[7]);
    check(&[(Exact, 16), (Ternary, 60)], &[0xabcd, 5], &[0xd000_0000_0000_0005, 0xabc]);
    check(&[(Exact, 9), (Exact, 0), (Ternary, 130)], &[3, 0, 5], &[3, 5, 0, 0]);
    check(&[(Ternary, 130), (Exact, 0)], &[5, 0], &[5, 0, 0]);
}

#[test]
fn an_open_exact_key_may_rank_like_a_shorter_prefix() {
    let keys = [(MatchKind::Exact, 8), (MatchKind::Lpm, 32)];
    let prefix = |length_bits| KeyPattern::Prefix { value: Bits::zero(32), length_bits };
    let check = |exact_order: u64, open_order: u64, expected: u32| {
        let mut pair = Pair::new(&keys);
        pair.insert(vec![KeyPattern::Exact(Bits::from_u64(8, 5)), prefix(24)], 0, exact_order, 1);
        pair.insert(vec![KeyPattern::Any, prefix(25)], 0, open_order, 2);
        assert_eq!(pair.index.find_words(&[5 << 32]), expected);
        pair.compare(&[Bits::from_u64(8, 5), Bits::zero(32)]);
        pair.compare(&[Bits::from_u64(8, 6), Bits::zero(32)]);
    };
    check(1, 2, 1);
    check(2, 1, 2);
}
