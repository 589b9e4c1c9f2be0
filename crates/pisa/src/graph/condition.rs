// SPDX-License-Identifier: Apache-2.0
//! Conditions of a program as guards: comparisons of variables with constants, and what `&&`, `||` and
//! `!` make of them. What a table's result decides, and what compares two variables, is no match on
//! values: a gateway decides it in the stage. Whether one number is less than another takes a
//! subtraction first.

use super::atom::{Base, Cell};
use super::gate::choose;
use super::stage::is_wiring;
use super::walk::{Truth, Walk};
use crate::guard::{Condition, Guard};
use ir::effects::Location;
use ir::{BinaryOperation, Bits, Operand, Operation, Place, UnaryOperation};
use std::collections::{BTreeMap, BTreeSet};

/// A variable, or some bits of one.
pub(super) struct Field {
    /// Where it is.
    pub cell: Cell,
    high: u32,
    low: u32,
    /// Further bits that are masked away.
    pub mask: u128,
    /// Whether it is all of the variable.
    pub is_whole: bool,
}

impl Field {
    /// The condition on the variable that these bits of the field have these values; nothing if the
    /// field, which may have zeros in front, never has them.
    pub fn ternary(&self, value: u128, mask: u128) -> Option<Condition> {
        let known = ones(self.high - self.low + 1) & self.mask;
        if value & !known != 0 {
            return None;
        }
        Some(Condition::Ternary { value: value << self.low, mask: (mask & known) << self.low })
    }
}

impl<'a> Walk<'a, '_> {
    /// What is known of a one-bit value.
    pub fn truth(&mut self, block: usize, operand: &Operand, at: usize) -> Truth {
        let (_, _, operation) = match (operand, self.operation(operand)) {
            (Operand::Constant(bits), _) => {
                return Truth::Static(if bits.is_zero() {
                    Guard::never()
                } else {
                    Guard::always()
                });
            }
            (_, Some(defined)) => defined,
            (_, None) => return self.materialised(block, operand, at),
        };
        if let Operand::Temp(temp) = operand
            && let Some(table) = self.results.get(temp)
        {
            return Truth::Dynamic { matches: BTreeMap::new(), after: BTreeSet::from([*table]) };
        }
        use BinaryOperation as B;
        match operation {
            Operation::Unary { operation: UnaryOperation::Not, operand, .. } => {
                match self.truth(block, operand, at) {
                    Truth::Static(guard) => Truth::Static(guard.negated()),
                    dynamic => dynamic,
                }
            }
            Operation::Binary { operation, left, right, .. } => {
                let is_bit = self.width_bits(left) == 1;
                match operation {
                    B::And => {
                        let both = (self.truth(block, left, at), self.truth(block, right, at));
                        self.join(both, |a, b| choose(a, b, &Guard::never()))
                    }
                    B::Or => {
                        let both = (self.truth(block, left, at), self.truth(block, right, at));
                        self.join(both, |a, b| choose(a, &Guard::always(), b))
                    }
                    B::Xor | B::NotEqual if is_bit => {
                        let both = (self.truth(block, left, at), self.truth(block, right, at));
                        self.join(both, |a, b| choose(a, &b.negated(), b))
                    }
                    B::Equal if is_bit => {
                        let both = (self.truth(block, left, at), self.truth(block, right, at));
                        self.join(both, |a, b| choose(a, b, &b.negated()))
                    }
                    B::Equal | B::NotEqual => {
                        let truth = match (left, right) {
                            (value, Operand::Constant(bits)) | (Operand::Constant(bits), value) => {
                                self.equality(block, value, bits, at)
                            }
                            _ => self.compared(block, &[left, right], at),
                        };
                        match truth {
                            Truth::Static(guard) if *operation == B::NotEqual => {
                                Truth::Static(guard.negated())
                            }
                            truth => truth,
                        }
                    }
                    B::LessUnsigned | B::LessEqualUnsigned => {
                        let strict = *operation == B::LessUnsigned;
                        let range = match (left, right) {
                            (value, Operand::Constant(bits)) => bits
                                .to_u128()
                                .and_then(
                                    |bound| if strict { bound.checked_sub(1) } else { Some(bound) },
                                )
                                .map(|high| (value, 0, high)),
                            (Operand::Constant(bits), value) => bits
                                .to_u128()
                                .and_then(
                                    |bound| if strict { bound.checked_add(1) } else { Some(bound) },
                                )
                                .map(|low| (value, low, u128::MAX)),
                            _ => None,
                        };
                        range
                            .and_then(|(value, low, high)| self.range(block, value, at, low, high))
                            .unwrap_or_else(|| self.materialised(block, operand, at))
                    }
                    _ => self.materialised(block, operand, at),
                }
            }
            Operation::Select { condition, then, otherwise, .. } => {
                let by = self.truth(block, condition, at);
                let then = self.truth(block, then, at);
                let otherwise = self.truth(block, otherwise, at);
                if let (Truth::Static(by), Truth::Static(then), Truth::Static(other)) =
                    (&by, &then, &otherwise)
                    && let Some(guard) = choose(by, then, other)
                {
                    return Truth::Static(guard);
                }
                let rest = self.join((then, otherwise), |_, _| None);
                self.join((by, rest), |_, _| None)
            }
            _ => match self.field(block, operand, at) {
                Some(field) => self.matched(field, &Bits::from_bit(true)),
                None => self.materialised(block, operand, at),
            },
        }
    }

    /// Whether a value equals a constant.
    pub fn equality(&mut self, block: usize, value: &Operand, bits: &Bits, at: usize) -> Truth {
        if let Operand::Constant(other) = value {
            let same = other == bits;
            return Truth::Static(if same { Guard::always() } else { Guard::never() });
        }
        if let Operand::Temp(temp) = value
            && let Some(table) = self.results.get(temp)
        {
            return Truth::Dynamic { matches: BTreeMap::new(), after: BTreeSet::from([*table]) };
        }
        match self.field(block, value, at) {
            Some(field) => self.matched(field, bits),
            None => self.compared(block, &[value], at),
        }
    }

    fn matched(&mut self, field: Field, bits: &Bits) -> Truth {
        let variable = self.variables.of(self.program, field.cell);
        // Zeros in front of the field have to be zeros of the constant; masked bits likewise.
        let condition = bits.to_u128().and_then(|value| field.ternary(value, u128::MAX));
        let Some(condition) = condition else { return Truth::Static(Guard::never()) };
        Truth::Static(Guard::when(variable, condition))
    }

    fn range(
        &mut self,
        block: usize,
        value: &Operand,
        at: usize,
        low: u128,
        high: u128,
    ) -> Option<Truth> {
        let field = self.field(block, value, at)?;
        if !field.is_whole || field.mask != u128::MAX {
            return None;
        }
        let variable = self.variables.of(self.program, field.cell);
        let most = ones(self.variables.width_bits(variable));
        let guard = match (low, high.min(most)) {
            (0, high) if high == most => Guard::always(),
            (low, high) if low > high => Guard::never(),
            (low, high) => Guard::when(variable, Condition::Range { low, high }),
        };
        Some(Truth::Static(guard))
    }

    /// The variable whose bits a value is, if it is of one that a match can say something about.
    pub fn field(&mut self, block: usize, operand: &Operand, at: usize) -> Option<Field> {
        let width = self.width_bits(operand);
        let (mut high, mut low, mut mask) = (width.checked_sub(1)?, 0, u128::MAX);
        let mut current = operand.clone();
        loop {
            let (temp, _, operation) = self.operation(&current)?;
            match operation {
                Operation::Resize { operand, kind, .. } => {
                    let inner = self.width_bits(operand);
                    if *kind == ir::ResizeKind::SignExtend || low > 0 && inner <= high {
                        return None;
                    }
                    // An extension's zeros are not matched; `matched` compares them.
                    high = high.min(inner.checked_sub(1)?);
                    current = operand.clone();
                }
                Operation::Slice { operand, low: from, .. } => {
                    (high, low) = (high + from, low + from);
                    current = operand.clone();
                }
                Operation::Binary { operation: BinaryOperation::And, left, right, .. }
                    if low == 0 && !self.computed.contains_key(&temp) =>
                {
                    let (value, bits) = match (left, right) {
                        (value, Operand::Constant(bits)) | (Operand::Constant(bits), value) => {
                            (value, bits)
                        }
                        _ => return self.computed_field(block, &current, at, (high, low, mask)),
                    };
                    mask &= bits.to_u128()?;
                    current = value.clone();
                }
                _ => return self.computed_field(block, &current, at, (high, low, mask)),
            }
        }
    }

    fn computed_field(
        &mut self,
        block: usize,
        operand: &Operand,
        at: usize,
        (high, low, mask): (u32, u32, u128),
    ) -> Option<Field> {
        let width = self.width_bits(operand);
        let is_element = matches!(
            self.operation(operand),
            Some((_, _, Operation::Load { place: Place::Element { .. }, .. }))
        );
        if width > 128 || high >= width || is_element {
            return None;
        }
        let bases = self.bases(block, operand, at);
        let mut bases = bases.into_iter();
        match (bases.next(), bases.next()) {
            (Some(Base::Cell(cell, _)), None) => {
                if let Cell::Location(location) = cell
                    && !matches!(location, Location::Slot(_))
                {
                    return None;
                }
                Some(Field { cell, high, low, mask, is_whole: low == 0 && high + 1 == width })
            }
            _ => None,
        }
    }

    /// A gateway that compares values.
    fn compared(&mut self, block: usize, operands: &[&Operand], at: usize) -> Truth {
        let (mut matches, mut after) = (BTreeMap::new(), BTreeSet::new());
        for operand in operands {
            for base in self.bases(block, operand, at) {
                match base {
                    Base::Cell(cell, at) => {
                        matches.insert(cell, at);
                    }
                    Base::Result(table) => {
                        after.insert(table);
                    }
                }
            }
        }
        Truth::Dynamic { matches, after }
    }

    /// A match on the bit that an atom computes.
    fn materialised(&mut self, block: usize, operand: &Operand, at: usize) -> Truth {
        if let Some((temp, defined, operation)) = self.operation(operand)
            && operation.is_pure()
            && !is_wiring(operation)
        {
            self.materialise(block, temp, defined);
        }
        self.compared(block, &[operand], at).into_bit(self)
    }

    fn join(
        &mut self,
        both: (Truth, Truth),
        combined: impl Fn(&Guard, &Guard) -> Option<Guard>,
    ) -> Truth {
        if let (Truth::Static(left), Truth::Static(right)) = &both
            && let Some(guard) = combined(left, right)
        {
            return Truth::Static(guard);
        }
        let (mut matches, mut after) = (BTreeMap::new(), BTreeSet::new());
        for truth in [both.0, both.1] {
            match truth {
                Truth::Static(guard) => {
                    for variable in guard.variables() {
                        matches.insert(self.variables.cell(variable), 0);
                    }
                }
                Truth::Dynamic { matches: more, after: further } => {
                    matches.extend(more);
                    after.extend(further);
                }
            }
        }
        Truth::Dynamic { matches, after }
    }
}

impl Truth {
    /// A single one-bit cell is a variable that can be matched.
    fn into_bit(self, walk: &mut Walk<'_, '_>) -> Truth {
        if let Truth::Dynamic { matches, after } = &self
            && after.is_empty()
            && let [cell] = matches.keys().copied().collect::<Vec<_>>()[..]
        {
            let variable = walk.variables.of(walk.program, cell);
            if walk.variables.width_bits(variable) == 1 {
                let condition = Condition::Ternary { value: 1, mask: 1 };
                return Truth::Static(Guard::when(variable, condition));
            }
        }
        self
    }
}

/// A mask of that many ones.
pub(super) fn ones(width_bits: u32) -> u128 {
    if width_bits >= 128 { u128::MAX } else { (1 << width_bits) - 1 }
}
