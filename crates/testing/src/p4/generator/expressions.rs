// SPDX-License-Identifier: Apache-2.0
//! Expressions of a wanted type from what is in scope: all operators, casts, slices, concatenation,
//! comparisons, conditionals and calls of functions. They are in parentheses, so precedence is
//! not tested here; the printer's own tests do that.

use super::types::literal;
use super::{Generator, Place, Type, Variable};
use crate::p4::piece::Piece;

/// Values wider than this are only copied, sliced and compared.
const MAX_COMPUTED_BITS: u32 = 320;

impl Generator<'_> {
    /// An expression.
    pub(super) fn expression(&mut self, ty: Type, depth: u32) -> Piece {
        if depth == 0 || self.choices.chance(22) {
            return self.leaf(ty);
        }
        if self.choices.chance(6) {
            let condition = self.expression(Type::Bool, depth - 1);
            let (then, otherwise) =
                (self.expression(ty, depth - 1), self.expression(ty, depth - 1));
            return self.expression_piece(ty, "($ ? $ : $)", vec![condition, then, otherwise]);
        }
        if self.choices.chance(5)
            && let Some(call) = self.function_value(ty, depth)
        {
            return call;
        }
        match ty {
            Type::Bits(width) => self.bits_expression(width, depth),
            Type::Int(width) => self.int_expression(width, depth),
            Type::Bool => self.bool_expression(depth),
            Type::Enum(index) => match self.enums[index].width_bits {
                Some(width) if self.choices.chance(30) => {
                    let inner = self.expression(Type::Bits(width), depth - 1);
                    let template = format!("({})($)", self.type_text(ty));
                    self.expression_piece(ty, &template, vec![inner])
                }
                _ => self.leaf(ty),
            },
            Type::Error => self.leaf(ty),
        }
    }

    /// A variable that some test accepts.
    pub(super) fn variable(&mut self, test: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let found: Vec<usize> =
            (0..self.variables.len()).filter(|at| test(&self.variables[*at])).collect();
        if found.is_empty() {
            return None;
        }
        let at = *self.choices.pick(&found);
        Some(self.variables[at].clone())
    }

    /// The place of a variable, with an index where it needs one.
    pub(super) fn place_of(&mut self, variable: &Variable) -> Piece {
        match variable.indexed {
            Some(size) => {
                let index = self.stack_index(size);
                Piece::fixed(&variable.path, vec![index])
            }
            None => Piece::text(variable.path.clone()),
        }
    }

    /// An index into a stack: constant inside it, or run-time and perhaps outside.
    pub(super) fn stack_index(&mut self, size: u32) -> Piece {
        if self.choices.chance(60) {
            return Piece::text(self.choices.below(size as usize).to_string());
        }
        let narrow = |variable: &Variable| {
            variable.indexed.is_none()
                && variable.is_run_time()
                && matches!(variable.ty, Type::Bits(1..=32))
        };
        match self.variable(narrow) {
            Some(Variable { path, ty: Type::Bits(width), .. }) => {
                let ty = Type::Bits(width);
                let mask = if width <= 2 || self.choices.chance(20) {
                    path
                } else {
                    format!("({path} & {width}w{})", if size > 2 { 3 } else { 1 })
                };
                let zero = "0".to_string();
                let role =
                    crate::p4::piece::Role::Expression { ty: self.type_text(ty), simplest: zero };
                Piece::new(role, &mask, Vec::new())
            }
            _ => Piece::text("0"),
        }
    }

    fn leaf(&mut self, ty: Type) -> Piece {
        if self.choices.chance(65)
            && let Some(variable) = self.variable(|variable| variable.ty == ty)
        {
            let place = self.place_of(&variable);
            return self.expression_piece(ty, "$", vec![place]);
        }
        let (Type::Bits(width) | Type::Int(width)) = ty else { return self.literal(ty) };
        if self.choices.chance(25) {
            return self.literal(ty);
        }
        // Something of another type, made to fit.
        let fits =
            |variable: &Variable| matches!(variable.ty, Type::Bits(_) | Type::Int(_) | Type::Bool);
        let Some(variable) = self.variable(fits) else { return self.literal(ty) };
        let place = self.place_of(&variable);
        let cast = format!("({})", self.type_text(ty));
        match (variable.ty, ty) {
            (Type::Bits(other), Type::Bits(_)) if other > width && self.choices.chance(50) => {
                let low = self.choices.below((other - width) as usize + 1) as u32;
                let template = format!("$[{}:{low}]", low + width - 1);
                self.expression_piece(ty, &template, vec![place])
            }
            (Type::Bits(_), Type::Bits(_)) | (Type::Int(_), Type::Int(_)) => {
                self.expression_piece(ty, &format!("({cast}$)"), vec![place])
            }
            (Type::Bits(_), _) => {
                let template = format!("((int<{width}>)(bit<{width}>)$)");
                self.expression_piece(ty, &template, vec![place])
            }
            (Type::Int(other), Type::Bits(_)) => {
                // Through one of the two widths: the sign is spread or not.
                let template = if width < 2 || self.choices.chance(50) {
                    format!("((bit<{width}>)(bit<{other}>)$)")
                } else {
                    format!("((bit<{width}>)(int<{width}>)$)")
                };
                self.expression_piece(ty, &template, vec![place])
            }
            (_, Type::Int(_)) => {
                let template = format!("((int<{width}>)(bit<{width}>)(bit<1>)$)");
                self.expression_piece(ty, &template, vec![place])
            }
            _ => {
                let template = if width == 1 {
                    "((bit<1>)$)".to_string()
                } else {
                    format!("((bit<{width}>)(bit<1>)$)")
                };
                self.expression_piece(ty, &template, vec![place])
            }
        }
    }

    fn bits_expression(&mut self, width: u32, depth: u32) -> Piece {
        let ty = Type::Bits(width);
        if width > MAX_COMPUTED_BITS && !self.choices.chance(15) {
            return self.leaf(ty);
        }
        match self.choices.weighted(&[46, 5, 12, 6, 8, 8, 8, 3]) {
            0 => self.arithmetic(ty, depth),
            1 => {
                let divisor = if self.choices.chance(85) {
                    let value = self.value(width);
                    let value = if value.is_zero() { ir::Bits::from_u64(width, 1) } else { value };
                    Piece::text(literal(&value))
                } else {
                    // A divisor that is only known at run time; zero gives zero.
                    let is_divisor = |variable: &Variable| {
                        variable.ty == ty && variable.indexed.is_none() && variable.is_run_time()
                    };
                    match self.variable(is_divisor) {
                        Some(variable) => Piece::text(variable.path),
                        None => Piece::text(format!("{width}w1")),
                    }
                };
                let template = *self.choices.pick(&["($ / $)", "($ % $)"]);
                let dividend = self.not_constant(ty, depth - 1);
                self.expression_piece(ty, template, vec![dividend, divisor])
            }
            2 => self.shift(ty, depth),
            3 => {
                let template = *self.choices.pick(&["(~$)", "(-$)"]);
                let inner = self.expression(ty, depth - 1);
                self.expression_piece(ty, template, vec![inner])
            }
            4 => self.slice(width, depth),
            5 if width >= 2 => {
                let high = self.choices.between(1, width - 1);
                let first = self.expression(Type::Bits(high), depth - 1);
                let second = self.expression(Type::Bits(width - high), depth - 1);
                self.expression_piece(ty, "($ ++ $)", vec![first, second])
            }
            6 | 5 => {
                let other = match self.choices.weighted(&[70, 30]) {
                    0 => Type::Bits(self.any_width()),
                    _ => Type::Int(width.max(2)),
                };
                let inner = self.expression(other, depth - 1);
                let template = match other {
                    Type::Int(other) if other != width => {
                        format!("((bit<{width}>)(bit<{other}>)$)")
                    }
                    _ => format!("((bit<{width}>)$)"),
                };
                self.expression_piece(ty, &template, vec![inner])
            }
            _ => match self.choices.below(self.enums.len()) {
                index if self.enums[index].width_bits == Some(width) => {
                    let inner = self.expression(Type::Enum(index), depth - 1);
                    self.expression_piece(ty, &format!("((bit<{width}>)$)"), vec![inner])
                }
                _ => self.arithmetic(ty, depth),
            },
        }
    }

    /// Operators whose operands have the type of the result.
    fn arithmetic(&mut self, ty: Type, depth: u32) -> Piece {
        const TEMPLATES: &[&str] = &[
            "($ + $)",
            "($ - $)",
            "($ * $)",
            "($ & $)",
            "($ | $)",
            "($ ^ $)",
            "($ |+| $)",
            "($ |-| $)",
        ];
        let template = *self.choices.pick(TEMPLATES);
        let operands = vec![self.expression(ty, depth - 1), self.expression(ty, depth - 1)];
        self.expression_piece(ty, template, operands)
    }

    fn shift(&mut self, ty: Type, depth: u32) -> Piece {
        let width = self.width_bits(ty);
        let template = *self.choices.pick(&["($ << $)", "($ >> $)"]);
        let amount = match self.choices.weighted(&[45, 35, 10, 10]) {
            0 => Piece::text(self.choices.below(width as usize + 2).to_string()),
            1 => {
                let bits = self.choices.between(1, 8);
                self.expression(Type::Bits(bits), depth - 1)
            }
            2 => self.expression(Type::Bits(width), depth - 1),
            _ => {
                let width = self.any_width();
                self.expression(Type::Bits(width), depth - 1)
            }
        };
        let operand = self.not_constant(ty, depth - 1);
        self.expression_piece(ty, template, vec![operand, amount])
    }

    /// An expression that the front end does not know the value of, where there is a variable.
    fn not_constant(&mut self, ty: Type, depth: u32) -> Piece {
        match self.variable(|variable| variable.ty == ty) {
            Some(variable) if self.choices.chance(70) => {
                let place = self.place_of(&variable);
                self.expression_piece(ty, "$", vec![place])
            }
            _ => self.expression(ty, depth),
        }
    }

    fn slice(&mut self, width: u32, depth: u32) -> Piece {
        let more = self.choices.between(0, 24);
        let low = self.choices.between(0, more);
        let whole = if self.choices.chance(15) && width + more > 1 {
            Type::Int(width + more)
        } else {
            Type::Bits(width + more)
        };
        let inner = self.expression(whole, depth - 1);
        let template = format!("($)[{}:{low}]", low + width - 1);
        self.expression_piece(Type::Bits(width), &template, vec![inner])
    }

    fn int_expression(&mut self, width: u32, depth: u32) -> Piece {
        let ty = Type::Int(width);
        match self.choices.weighted(&[45, 20, 12, 20]) {
            0 => self.arithmetic(ty, depth),
            1 => self.shift(ty, depth),
            2 => {
                let template = *self.choices.pick(&["(~$)", "(-$)"]);
                let inner = self.expression(ty, depth - 1);
                self.expression_piece(ty, template, vec![inner])
            }
            _ => {
                let other = if self.choices.chance(60) {
                    Type::Bits(width)
                } else {
                    Type::Int(self.any_width().max(2))
                };
                let inner = self.expression(other, depth - 1);
                self.expression_piece(ty, &format!("((int<{width}>)$)"), vec![inner])
            }
        }
    }

    fn bool_expression(&mut self, depth: u32) -> Piece {
        let ty = Type::Bool;
        if depth == 0 {
            return self.comparison(0);
        }
        match self.choices.weighted(&[50, 20, 8, 10, 6, 6]) {
            0 => self.comparison(depth),
            1 => {
                let template = *self.choices.pick(&["($ && $)", "($ || $)"]);
                let operands =
                    vec![self.bool_expression(depth - 1), self.expression(ty, depth - 1)];
                self.expression_piece(ty, template, operands)
            }
            2 => {
                let inner = self.expression(ty, depth - 1);
                self.expression_piece(ty, "(!$)", vec![inner])
            }
            3 => match self.some_header() {
                Some(_) if self.choices.chance(12) && self.union_path().is_some() => {
                    let path = self.union_path().unwrap_or_default();
                    self.expression_piece(ty, &format!("{path}.isValid()"), Vec::new())
                }
                Some((header, _)) => self.expression_piece(ty, "$.isValid()", vec![header]),
                None => self.leaf(ty),
            },
            4 => {
                let inner = self.expression(Type::Bits(1), depth - 1);
                self.expression_piece(ty, "((bool)$)", vec![inner])
            }
            _ => {
                let template = *self.choices.pick(&["($ == $)", "($ != $)"]);
                let pair = if self.choices.chance(40) { self.struct_pair() } else { None };
                match pair.or_else(|| self.header_pair()) {
                    Some((one, other)) => self.expression_piece(ty, template, vec![one, other]),
                    None => self.comparison(depth),
                }
            }
        }
    }

    fn union_path(&self) -> Option<String> {
        self.headers.iter().find_map(|place| place.union_path.clone())
    }

    fn comparison(&mut self, depth: u32) -> Piece {
        const ORDERED: &[&str] =
            &["($ < $)", "($ <= $)", "($ > $)", "($ >= $)", "($ == $)", "($ != $)"];
        let depth = depth.saturating_sub(1);
        let of = match self.choices.weighted(&[60, 25, 15]) {
            0 => Type::Bits(self.any_width()),
            1 => Type::Int(self.any_width().max(2)),
            _ => self.any_type(),
        };
        let template = match of {
            Type::Bits(_) | Type::Int(_) => *self.choices.pick(ORDERED),
            _ => *self.choices.pick(&ORDERED[4..]),
        };
        let operands = vec![self.not_constant(of, depth), self.expression(of, depth)];
        self.expression_piece(Type::Bool, template, operands)
    }

    /// A call of a function whose result has the type.
    fn function_value(&mut self, ty: Type, depth: u32) -> Option<Piece> {
        if self.place == Place::Function {
            return None;
        }
        let fitting: Vec<usize> = (0..self.functions.len())
            .filter(|at| self.functions[*at].returns == Some(ty))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let function = self.functions[*self.choices.pick(&fitting)].clone();
        let (template, arguments) = self.call(&function.name, &function.parameters, depth - 1)?;
        Some(self.expression_piece(ty, &template, arguments))
    }
}
