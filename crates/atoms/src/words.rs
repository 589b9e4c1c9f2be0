// SPDX-License-Identifier: Apache-2.0
//! Words of 1 to 32 bits and the operators of Domino on them. This is the meaning of codelets and templates; the circuits
//! of `synthesis` must agree with it, and the tests compare both.

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-`
    Negate,
    /// `~`
    Complement,
    /// `!`: 1 if the operand is 0, else 0.
    Not,
}

impl Unary {
    /// Returns how the operator is written.
    pub fn spelling(self) -> &'static str {
        match self {
            Unary::Negate => "-",
            Unary::Complement => "~",
            Unary::Not => "!",
        }
    }
}

macro_rules! binary_operators {
    ($($name:ident $spelling:literal $precedence:literal;)*) => {
        /// An operator with two operands. Comparisons and logic give 0 or 1; both operands are always evaluated.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Binary {
            $(#[doc = concat!("`", $spelling, "`")] $name,)*
        }

        impl Binary {
            /// All operators.
            pub const ALL: &[Binary] = &[$(Binary::$name,)*];

            /// Returns how the operator is written.
            pub fn spelling(self) -> &'static str {
                match self { $(Binary::$name => $spelling,)* }
            }

            /// Returns how tightly the operator binds, from 1 (`||`) to 10 (`*`).
            pub fn precedence(self) -> u32 {
                match self { $(Binary::$name => $precedence,)* }
            }
        }
    };
}

binary_operators! {
    LogicalOr "||" 1;
    LogicalAnd "&&" 2;
    Or "|" 3;
    Xor "^" 4;
    And "&" 5;
    Equal "==" 6;
    NotEqual "!=" 6;
    Less "<" 7;
    LessEqual "<=" 7;
    Greater ">" 7;
    GreaterEqual ">=" 7;
    LessUnsigned "u<" 7;
    LessEqualUnsigned "u<=" 7;
    GreaterUnsigned "u>" 7;
    GreaterEqualUnsigned "u>=" 7;
    ShiftLeft "<<" 8;
    ShiftRight ">>" 8;
    ShiftRightUnsigned "u>>" 8;
    Add "+" 9;
    Subtract "-" 9;
    Multiply "*" 10;
    Divide "/" 10;
    Remainder "%" 10;
    DivideUnsigned "u/" 10;
    RemainderUnsigned "u%" 10;
}

impl Binary {
    /// Whether the operator compares its operands and so gives 0 or 1 by their order.
    pub fn is_comparison(self) -> bool {
        matches!(self.precedence(), 6 | 7)
    }
}

/// The arithmetic of words of a width. A word is held in the low bits of a `u32`; the other bits are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    width_bits: u32,
}

impl Words {
    /// Returns the arithmetic of words of 1 to 32 bits; other widths are brought into this range.
    pub fn new(width_bits: u32) -> Words {
        Words { width_bits: width_bits.clamp(1, 32) }
    }

    /// Returns the number of bits of a word.
    pub fn width_bits(self) -> u32 {
        self.width_bits
    }

    /// Returns the word of a number, modulo two to the width.
    pub fn word(self, number: i64) -> u32 {
        (number as u32) & (u32::MAX >> (32 - self.width_bits))
    }

    /// Returns the number that a word stands for in two's complement.
    pub fn signed(self, word: u32) -> i64 {
        let unused = 32 - self.width_bits;
        i64::from(((word << unused) as i32) >> unused)
    }

    /// Returns the least number in two's complement.
    pub fn min(self) -> i64 {
        -(1 << (self.width_bits - 1))
    }

    /// Returns the greatest number in two's complement.
    pub fn max(self) -> i64 {
        (1 << (self.width_bits - 1)) - 1
    }

    /// Applies an operator to a word.
    pub fn unary(self, operator: Unary, operand: u32) -> u32 {
        match operator {
            Unary::Negate => self.word(-i64::from(operand)),
            Unary::Complement => self.word(!i64::from(operand)),
            Unary::Not => u32::from(operand == 0),
        }
    }

    /// Applies an operator to two words. Division by 0 gives 0, as quotient and as remainder; a shift count is unsigned,
    /// and one of the width or more shifts every bit out.
    pub fn binary(self, operator: Binary, left: u32, right: u32) -> u32 {
        let (a, b) = (self.signed(left), self.signed(right));
        let (ua, ub) = (i64::from(left), i64::from(right));
        let count = right.min(63);
        let number = match operator {
            Binary::LogicalOr => i64::from(left != 0 || right != 0),
            Binary::LogicalAnd => i64::from(left != 0 && right != 0),
            Binary::Or => ua | ub,
            Binary::Xor => ua ^ ub,
            Binary::And => ua & ub,
            Binary::Equal => i64::from(left == right),
            Binary::NotEqual => i64::from(left != right),
            Binary::Less => i64::from(a < b),
            Binary::LessEqual => i64::from(a <= b),
            Binary::Greater => i64::from(a > b),
            Binary::GreaterEqual => i64::from(a >= b),
            Binary::LessUnsigned => i64::from(left < right),
            Binary::LessEqualUnsigned => i64::from(left <= right),
            Binary::GreaterUnsigned => i64::from(left > right),
            Binary::GreaterEqualUnsigned => i64::from(left >= right),
            Binary::ShiftLeft if right >= self.width_bits => 0,
            Binary::ShiftLeft => ua << count,
            Binary::ShiftRight => a >> count,
            Binary::ShiftRightUnsigned => ua >> count,
            Binary::Add => ua + ub,
            Binary::Subtract => ua - ub,
            Binary::Multiply => ua.wrapping_mul(ub),
            Binary::Divide => a.checked_div(b).unwrap_or(0),
            Binary::Remainder => a.checked_rem(b).unwrap_or(0),
            Binary::DivideUnsigned => ua.checked_div(ub).unwrap_or(0),
            Binary::RemainderUnsigned => ua.checked_rem(ub).unwrap_or(0),
        };
        self.word(number)
    }
}

#[cfg(test)]
mod tests {
    use super::{Binary, Unary, Words};

    #[test]
    fn division_shifts_and_overflow_follow_dominos_rules() {
        let words = Words::new(32);
        let least = words.word(words.min());
        let check = |operator, left: i64, right: i64, expected: i64| {
            let found = words.binary(operator, words.word(left), words.word(right));
            assert_eq!(words.signed(found), expected, "{left} {} {right}", operator.spelling());
        };
        check(Binary::Divide, 7, 0, 0);
        check(Binary::Remainder, 7, 0, 0);
        check(Binary::Divide, -7, 2, -3);
        check(Binary::Remainder, -7, 2, -1);
        check(Binary::Divide, words.min(), -1, words.min());
        check(Binary::Remainder, words.min(), -1, 0);
        check(Binary::DivideUnsigned, -1, 2, words.max());
        check(Binary::ShiftLeft, 1, 31, words.min());
        check(Binary::ShiftLeft, 1, 32, 0);
        check(Binary::ShiftLeft, 1, -1, 0);
        check(Binary::ShiftRight, -8, 1, -4);
        check(Binary::ShiftRight, -8, 40, -1);
        check(Binary::ShiftRightUnsigned, -8, 40, 0);
        check(Binary::Add, words.max(), 1, words.min());
        check(Binary::Less, -1, 0, 1);
        check(Binary::LessUnsigned, -1, 0, 0);
        assert_eq!(words.unary(Unary::Negate, least), least);
    }

    #[test]
    fn narrow_words_wrap_at_their_width() {
        let words = Words::new(4);
        assert_eq!(words.binary(Binary::Multiply, 15, 15), 1);
        assert_eq!(words.binary(Binary::ShiftRight, 8, 4), 15);
        assert_eq!(words.binary(Binary::ShiftLeft, 1, 4), 0);
        assert_eq!(words.signed(9), -7);
        assert_eq!(words.unary(Unary::Complement, 5), 10);
    }
}
