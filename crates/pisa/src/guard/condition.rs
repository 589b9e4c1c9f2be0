// SPDX-License-Identifier: Apache-2.0
//! Conditions on one variable as sets of values: membership, inclusion, intersection, difference.
//! The width of a variable is not known here; bits above it are zero in every value it has.

use super::Condition;

impl Condition {
    /// The variable has this value.
    pub fn equals(value: u128, width_bits: u32) -> Condition {
        let mask = ones(width_bits);
        Condition::Ternary { value: value & mask, mask }
    }

    /// Whether a value meets the condition.
    pub fn admits(&self, candidate: u128) -> bool {
        match *self {
            Condition::Ternary { value, mask } => candidate & mask == value,
            Condition::Range { low, high } => (low..=high).contains(&candidate),
        }
    }

    /// Whether no value meets it.
    pub fn is_empty(&self) -> bool {
        match *self {
            Condition::Ternary { value, mask } => value & !mask != 0,
            Condition::Range { low, high } => low > high,
        }
    }

    /// Whether each value that meets `other` meets this one.
    pub fn covers(&self, other: &Condition) -> bool {
        if self == other || other.is_empty() {
            return true;
        }
        match (*self, *other) {
            (
                Condition::Ternary { value, mask },
                Condition::Ternary { value: inner_value, mask: inner_mask },
            ) => mask & !inner_mask == 0 && inner_value & mask == value,
            (
                Condition::Range { low, high },
                Condition::Range { low: inner_low, high: inner_high },
            ) => low <= inner_low && inner_high <= high,
            // Below the highest bit in which both ends differ, a range has each bit both ways.
            (
                Condition::Ternary { value, mask },
                Condition::Range { low: inner_low, high: inner_high },
            ) => {
                mask & ones(128 - (inner_low ^ inner_high).leading_zeros()) == 0
                    && inner_low & mask == value
            }
            (
                Condition::Range { low, high },
                Condition::Ternary { value: inner_value, mask: inner_mask },
            ) => low <= inner_value && inner_value | !inner_mask <= high,
        }
    }

    /// The values that meet both: no condition if there are none, several if one cannot say it.
    pub fn intersection(&self, other: &Condition) -> Vec<Condition> {
        if self.is_empty() || other.is_empty() {
            return Vec::new();
        }
        if self.covers(other) {
            return vec![*other];
        }
        if other.covers(self) {
            return vec![*self];
        }
        match (*self, *other) {
            (
                Condition::Ternary { value: a, mask: a_mask },
                Condition::Ternary { value: b, mask: b_mask },
            ) => {
                if (a ^ b) & a_mask & b_mask != 0 {
                    return Vec::new();
                }
                vec![Condition::Ternary { value: a | b, mask: a_mask | b_mask }]
            }
            (
                Condition::Range { low: a_low, high: a_high },
                Condition::Range { low: b_low, high: b_high },
            ) => {
                let (low, high) = (a_low.max(b_low), a_high.min(b_high));
                if low > high { Vec::new() } else { vec![Condition::Range { low, high }] }
            }
            (ternary @ Condition::Ternary { .. }, Condition::Range { low, high })
            | (Condition::Range { low, high }, ternary @ Condition::Ternary { .. }) => {
                prefixes(low, high).iter().flat_map(|each| each.intersection(&ternary)).collect()
            }
        }
    }

    /// Whether some value may meet both.
    pub fn meets(&self, other: &Condition) -> bool {
        match (*self, *other) {
            (
                Condition::Ternary { value: a, mask: a_mask },
                Condition::Ternary { value: b, mask: b_mask },
            ) => (a ^ b) & a_mask & b_mask == 0 && !self.is_empty() && !other.is_empty(),
            (
                Condition::Range { low: a_low, high: a_high },
                Condition::Range { low: b_low, high: b_high },
            ) => a_low.max(b_low) <= a_high.min(b_high),
            _ => !self.intersection(other).is_empty(),
        }
    }

    /// The values that do not meet it, as conditions that exclude one another.
    pub(super) fn complement(&self) -> Vec<Condition> {
        match *self {
            _ if self.is_empty() => vec![Condition::Ternary { value: 0, mask: 0 }],
            Condition::Range { low, high } => {
                let below = low.checked_sub(1).map(|high| Condition::Range { low: 0, high });
                let above =
                    high.checked_add(1).map(|low| Condition::Range { low, high: u128::MAX });
                below.into_iter().chain(above).collect()
            }
            Condition::Ternary { value, mask } => {
                let mut pieces = Vec::new();
                let (mut settled, mut left) = (0, mask);
                while left != 0 {
                    let bit = 1u128 << left.ilog2();
                    pieces.push(Condition::Ternary {
                        value: (value & settled) | (!value & bit),
                        mask: settled | bit,
                    });
                    settled |= bit;
                    left &= !bit;
                }
                pieces
            }
        }
    }

    /// The same for a variable of this width: no mask bits above it, and a ternary condition for a
    /// range that is one value or one prefix.
    pub fn trimmed(&self, width_bits: u32) -> Condition {
        match *self {
            Condition::Ternary { value, mask } => {
                Condition::Ternary { value, mask: mask & ones(width_bits) | value }
            }
            Condition::Range { low, high } => {
                let high = high.min(ones(width_bits));
                match prefixes(low, high).as_slice() {
                    [single] => single.trimmed(width_bits),
                    _ => Condition::Range { low, high },
                }
            }
        }
    }
}

/// A range as the least number of prefixes, each a ternary condition.
pub(super) fn prefixes(low: u128, high: u128) -> Vec<Condition> {
    let mut list = Vec::new();
    let mut next = low;
    while next <= high {
        // The largest aligned block that starts here and ends within.
        let mut free = if next == 0 { 128 } else { next.trailing_zeros() };
        while ones(free) > high - next {
            free -= 1;
        }
        list.push(Condition::Ternary { value: next, mask: !ones(free) });
        match (next + ones(free)).checked_add(1) {
            Some(after) => next = after,
            None => break,
        }
    }
    list
}

/// That many ones at the low end.
pub(super) fn ones(width_bits: u32) -> u128 {
    match width_bits {
        0 => 0,
        1..128 => (1 << width_bits) - 1,
        _ => u128::MAX,
    }
}
