// SPDX-License-Identifier: Apache-2.0
//! Types of expressions, how they are written, and their literals.

use super::Generator;
use crate::p4::piece::{Piece, Role};
use ir::Bits;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `bit<N>`
    Bits(u32),
    /// `int<N>`
    Int(u32),
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// An enum, by its number in the program.
    Enum(usize),
}

/// A value as hexadecimal digits with its width in front, as P4 has it.
pub(super) fn literal(value: &Bits) -> String {
    format!("{}w{}", value.width_bits(), hexadecimal(value))
}

/// A value as `0x` digits.
pub(in crate::p4) fn hexadecimal(value: &Bits) -> String {
    let digits: String = value.to_bytes_be().iter().map(|byte| format!("{byte:02x}")).collect();
    let digits = digits.trim_start_matches('0');
    format!("0x{}", if digits.is_empty() { "0" } else { digits })
}

impl Generator<'_> {
    /// How a type is written.
    pub(super) fn type_text(&self, ty: Type) -> String {
        match ty {
            Type::Bits(width) => format!("bit<{width}>"),
            Type::Int(width) => format!("int<{width}>"),
            Type::Bool => "bool".to_string(),
            Type::Error => "error".to_string(),
            Type::Enum(index) => self.enums[index].name.clone(),
        }
    }

    /// Bits that a value of the type takes in a packet, for types that fit in headers.
    pub(super) fn width_bits(&self, ty: Type) -> u32 {
        match ty {
            Type::Bits(width) | Type::Int(width) => width,
            Type::Bool => 1,
            Type::Error => 16,
            Type::Enum(index) => self.enums[index].width_bits.unwrap_or(32),
        }
    }

    fn simplest(&self, ty: Type) -> String {
        match ty {
            Type::Bits(width) => format!("{width}w0"),
            Type::Int(width) => format!("{width}s0"),
            Type::Bool => "false".to_string(),
            Type::Error => "error.NoError".to_string(),
            Type::Enum(index) => {
                let declared = &self.enums[index];
                format!("{}.{}", declared.name, declared.members[0])
            }
        }
    }

    /// How the type of a variable or field is written; sometimes by a name that was declared for it.
    pub(super) fn declared_type(&mut self, ty: Type) -> String {
        if let Type::Bits(width) = ty
            && let Some((_, name)) = self.typedefs.iter().find(|(other, _)| *other == width)
        {
            return name.clone();
        }
        self.type_text(ty)
    }

    /// An expression that shrinking may replace.
    pub(super) fn expression_piece(&self, ty: Type, template: &str, of: Vec<Piece>) -> Piece {
        let role = Role::Expression { ty: self.type_text(ty), simplest: self.simplest(ty) };
        Piece::new(role, template, of)
    }

    /// A literal.
    pub(super) fn literal(&mut self, ty: Type) -> Piece {
        let text = self.literal_text(ty);
        self.expression_piece(ty, &text, Vec::new())
    }

    /// A literal as text.
    pub(super) fn literal_text(&mut self, ty: Type) -> String {
        match ty {
            Type::Bits(width) => literal(&self.value(width)),
            Type::Int(width) => {
                // Literals with a sign in front are expressions, so the value stays positive, and the
                // minus stands outside.
                let value = self.value(width - 1);
                let text = format!("{width}s{}", hexadecimal(&value));
                if !value.is_zero() && self.choices.chance(40) {
                    format!("(-{text})")
                } else {
                    text
                }
            }
            Type::Bool => (*self.choices.pick(&["true", "false"])).to_string(),
            Type::Error => {
                let name = self.choices.pick(&self.errors).clone();
                format!("error.{name}")
            }
            Type::Enum(index) => {
                let declared = &self.enums[index];
                format!("{}.{}", declared.name, self.choices.pick(&declared.members))
            }
        }
    }

    /// A type for a field of metadata or a local variable.
    pub(super) fn any_type(&mut self) -> Type {
        match self.choices.weighted(&[66, 12, 10, 4, 8]) {
            0 => Type::Bits(self.any_width()),
            1 => Type::Int(self.any_width().max(2)),
            2 => Type::Bool,
            3 => Type::Error,
            _ => Type::Enum(self.choices.below(self.enums.len())),
        }
    }

    /// A width, mostly one that other fields have.
    pub(super) fn any_width(&mut self) -> u32 {
        match self.choices.weighted(&[80, 18, 2]) {
            0 => *self.choices.pick(&self.widths),
            1 => self.choices.between(1, 64),
            _ => self.choices.between(65, 160),
        }
    }
}
