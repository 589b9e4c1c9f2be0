// SPDX-License-Identifier: Apache-2.0
//! Cases of a `select` that are never taken, because earlier cases take all of their values (P4_16
//! v1.2.5 §13.6). Keysets become cubes: bits with a value and bits that may be anything. A `default`
//! behind cases that leave nothing to it is not reported, as it guards against later changes.

use super::Checker;
use crate::ast::{Expression, ExpressionKind, NodeId, SelectCase};
use crate::codes::typing as codes;
use crate::typed::{Constant, Type, TypeKind};
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;
use source::{Diagnostic, Span};

/// Cubes of one keyset, beyond which its values are not compared.
const MAX_CUBES: usize = 256;

/// Comparisons of cubes in one `select`, beyond which the rest is not compared.
const MAX_COMPARISONS: u32 = 100_000;

/// A number for each member of an enum or error; so many bits hold all of them.
const NAME_BITS: u32 = 32;

/// All values that have the bits of `value` where `mask` is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cube {
    value: BigUint,
    mask: BigUint,
}

impl Cube {
    fn everything() -> Cube {
        Cube { value: BigUint::zero(), mask: BigUint::zero() }
    }

    fn meets(&self, other: &Cube) -> bool {
        ((&self.value ^ &other.value) & &self.mask & &other.mask).is_zero()
    }

    fn holds(&self, other: &Cube) -> bool {
        self.meets(other) && (&self.mask & &other.mask) == self.mask
    }
}

/// The values that a keyset takes.
#[derive(Default)]
struct Values {
    cubes: Vec<Cube>,
    /// Whether it takes all values of the cubes; it takes no others.
    is_exact: bool,
}

/// The values that earlier cases take.
#[derive(Default)]
struct Taken {
    /// Single values.
    values: FxHashMap<BigUint, Span>,
    /// Others, each with its case.
    cubes: Vec<(Cube, Span)>,
    comparisons: u32,
}

/// What takes the values of a case.
enum Taker {
    One(Span),
    Several,
}

impl Taken {
    fn add(&mut self, cubes: Vec<Cube>, all_bits: &BigUint, span: Span) {
        for cube in cubes {
            match &cube.mask == all_bits {
                true => {
                    self.values.entry(cube.value).or_insert(span);
                }
                false => self.cubes.push((cube, span)),
            }
        }
    }

    fn taker(&mut self, cubes: &[Cube], all_bits: &BigUint) -> Option<Taker> {
        let mut one: Option<Span> = None;
        let mut is_one = true;
        for cube in cubes {
            match self.taker_of(cube, all_bits)? {
                Taker::One(span) => is_one &= one.replace(span).is_none_or(|known| known == span),
                Taker::Several => is_one = false,
            }
        }
        match one {
            Some(span) if is_one => Some(Taker::One(span)),
            _ => Some(Taker::Several),
        }
    }

    fn taker_of(&mut self, cube: &Cube, all_bits: &BigUint) -> Option<Taker> {
        let is_value = &cube.mask == all_bits;
        if is_value && let Some(span) = self.values.get(&cube.value) {
            return Some(Taker::One(*span));
        }
        self.comparisons += self.cubes.len() as u32;
        if self.comparisons > MAX_COMPARISONS {
            return None;
        }
        if let Some((_, span)) = self.cubes.iter().find(|(earlier, _)| earlier.holds(cube)) {
            return Some(Taker::One(*span));
        }
        if is_value {
            return None;
        }
        let mut others: Vec<Cube> = self
            .cubes
            .iter()
            .map(|(earlier, _)| earlier)
            .filter(|it| it.meets(cube))
            .cloned()
            .collect();
        self.comparisons += self.values.len() as u32;
        let values =
            self.values.keys().map(|value| Cube { value: value.clone(), mask: all_bits.clone() });
        others.extend(values.filter(|value| value.meets(cube)));
        self.is_covered(cube, &others).then_some(Taker::Several)
    }

    /// Whether the other cubes, all of which meet this one, have all its values together.
    fn is_covered(&mut self, cube: &Cube, others: &[Cube]) -> bool {
        self.comparisons += others.len() as u32;
        if others.is_empty() || self.comparisons > MAX_COMPARISONS {
            return false;
        }
        if others.iter().any(|other| other.holds(cube)) {
            return true;
        }
        // A bit that another cube decides, and this one does not.
        let open = &others[0].mask & (&others[0].mask ^ &cube.mask);
        let Some(bit) = open.trailing_zeros() else { return true };
        let bit = BigUint::one() << bit;
        [BigUint::zero(), bit.clone()].into_iter().all(|set| {
            let half = Cube { value: &cube.value | set, mask: &cube.mask | &bit };
            let rest: Vec<Cube> = others.iter().filter(|it| it.meets(&half)).cloned().collect();
            self.is_covered(&half, &rest)
        })
    }
}

impl<'a> Checker<'a> {
    pub(super) fn warn_unreachable_cases(&mut self, select: NodeId, cases: &'a [SelectCase]) {
        let widths = match self.typed.expression_types.get(&select).map(|ty| &**ty) {
            Some(TypeKind::Tuple(subjects)) => {
                subjects.iter().map(|subject| self.key_width(subject)).collect::<Option<Vec<u32>>>()
            }
            _ => None,
        };
        let all_bits = (BigUint::one() << widths.iter().flatten().sum::<u32>()) - 1u32;
        let mut names = FxHashMap::default();
        let mut taken = Taken::default();
        let mut has_default = false;
        for case in cases {
            let is_default = takes_everything(&case.keyset);
            let values = match &widths {
                _ if is_default => Values { cubes: vec![Cube::everything()], is_exact: true },
                Some(widths) => self.values_of(&case.keyset, widths, &mut names),
                None => Values::default(),
            };
            let mut earlier = taken.cubes.iter();
            let everything = earlier.find(|(cube, _)| cube.mask.is_zero()).map(|(_, span)| *span);
            let taker = match everything {
                Some(earlier) => Some(Taker::One(earlier)),
                None if values.cubes.is_empty() || is_default => None,
                None => taken.taker(&values.cubes, &all_bits),
            };
            let takes_all = everything.is_some();
            // A `default` behind a tuple of `_` guards against later changes, too.
            let is_guard = is_default && !has_default;
            has_default |= is_default;
            if let Some(taker) = taker.filter(|_| !is_guard) {
                let warning = Diagnostic::warning(
                    codes::UNREACHABLE_CASE,
                    case.keyset.span,
                    "this case is never taken",
                );
                self.report(match taker {
                    Taker::One(earlier) if takes_all => {
                        warning.label(earlier, "this one takes everything")
                    }
                    Taker::One(earlier) => warning.label(earlier, "this one takes its values"),
                    Taker::Several => warning.note("the cases before it take all its values"),
                });
            }
            if takes_all {
                break;
            }
            if values.is_exact {
                taken.add(values.cubes, &all_bits, case.keyset.span);
            }
        }
    }

    /// Bits of a subject; `None` for a type without a width.
    fn key_width(&self, ty: &Type) -> Option<u32> {
        match &*self.representation(ty) {
            TypeKind::Bit(width) | TypeKind::Int(width) => Some(*width),
            TypeKind::Bool => Some(1),
            TypeKind::Enum(_) | TypeKind::Error => Some(NAME_BITS),
            TypeKind::SerializableEnum(node) => self.key_width(self.underlying.get(node)?),
            _ => None,
        }
    }

    /// The values of a keyset; none when they are too many to list.
    fn values_of(
        &self,
        keyset: &Expression,
        widths: &[u32],
        names: &mut FxHashMap<Constant, u32>,
    ) -> Values {
        let parts: Vec<&Expression> = match &keyset.kind {
            ExpressionKind::TupleKeyset(parts) | ExpressionKind::List(parts) => {
                parts.iter().collect()
            }
            _ => vec![keyset],
        };
        if parts.len() != widths.len() {
            return Values::default();
        }
        let mut values = Values { cubes: vec![Cube::everything()], is_exact: true };
        for (part, width) in parts.into_iter().zip(widths) {
            let keys = self.key_cubes(part, *width, names);
            values.is_exact &= keys.is_some();
            let keys = keys.unwrap_or_else(|| vec![Cube::everything()]);
            if values.cubes.len() * keys.len() > MAX_CUBES {
                return Values::default();
            }
            let join = |front: &Cube, key: &Cube| Cube {
                value: (&front.value << *width) | &key.value,
                mask: (&front.mask << *width) | &key.mask,
            };
            let fronts = values.cubes.iter();
            values.cubes =
                fronts.flat_map(|front| keys.iter().map(|key| join(front, key))).collect();
        }
        values
    }

    /// The values of one part of a keyset; `None` when the control plane sets them.
    fn key_cubes(
        &self,
        key: &Expression,
        width: u32,
        names: &mut FxHashMap<Constant, u32>,
    ) -> Option<Vec<Cube>> {
        let all_bits = (BigUint::one() << width) - 1u32;
        let wrapped = |value: BigInt| -> BigUint {
            let size = BigInt::from_biguint(Sign::Plus, &all_bits + 1u32);
            (((value % &size) + &size) % &size).magnitude().clone()
        };
        if takes_everything(key) {
            return Some(vec![Cube::everything()]);
        }
        match &key.kind {
            ExpressionKind::List(parts) if parts.len() == 1 => {
                self.key_cubes(&parts[0], width, names)
            }
            ExpressionKind::Mask(value, mask) => {
                let mask = wrapped(self.plain_integer(mask)?);
                let value = wrapped(self.plain_integer(value)?) & &mask;
                Some(vec![Cube { value, mask }])
            }
            ExpressionKind::Range(low, high) => {
                let (low, high) = (self.plain_integer(low)?, self.plain_integer(high)?);
                if low > high {
                    return Some(Vec::new());
                }
                let zero = BigInt::zero();
                let is_split = low < zero && high >= zero;
                let (low, high) = (wrapped(low), wrapped(high));
                Some(match is_split {
                    true => {
                        let mut cubes = range_cubes(low, all_bits.clone(), &all_bits);
                        cubes.extend(range_cubes(BigUint::zero(), high, &all_bits));
                        cubes
                    }
                    false => range_cubes(low, high, &all_bits),
                })
            }
            _ => {
                let value = match (self.plain_integer(key), self.constant(key)?) {
                    (Some(value), _) => wrapped(value),
                    (None, Constant::Bool(value)) => BigUint::from(u32::from(*value)),
                    (None, name @ (Constant::EnumMember(..) | Constant::Error(_))) => {
                        let next = names.len() as u32;
                        BigUint::from(*names.entry(name.clone()).or_insert(next))
                    }
                    _ => return None,
                };
                Some(vec![Cube { value, mask: all_bits }])
            }
        }
    }
}

fn takes_everything(keyset: &Expression) -> bool {
    matches!(keyset.kind, ExpressionKind::Default | ExpressionKind::DontCare)
}

/// The cubes of a range: the largest aligned blocks from its beginning on.
fn range_cubes(mut low: BigUint, high: BigUint, all_bits: &BigUint) -> Vec<Cube> {
    let mut cubes = Vec::new();
    while low <= high {
        let aligned = low.trailing_zeros().unwrap_or_else(|| all_bits.bits());
        let mut bits = aligned.min(all_bits.bits());
        while &low + (BigUint::one() << bits) > &high + 1u32 {
            bits -= 1;
        }
        let size = BigUint::one() << bits;
        cubes.push(Cube { value: low.clone(), mask: all_bits ^ (&size - 1u32) });
        low += size;
    }
    cubes
}
