// SPDX-License-Identifier: Apache-2.0
//! Internet checksums in parsers. v1model's `hash` stands in controls only, and a parser may decide by a
//! checksum, so parsers add up the 16-bit words themselves: a pass from core program to core program.

use crate::normal::NewLocals;
use lucid::core::arithmetic::mask;
use lucid::core::walk::{deep, each_expression_mut, is_leaf, operands};
use lucid::core::{
    Expression, ExpressionKind, Parser, ParserAction, ParserBlock, ParserStep, Program, Type,
};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use source::Span;

/// Width of a word of the sum, in bits.
const WORD_BITS: u32 = 16;
/// Width of the sum: carries of 65,536 words have room.
const SUM_BITS: u32 = 32;

/// The program with additions for the checksums of its parsers.
pub(super) fn added_up(program: &Program) -> Program {
    let mut program = program.clone();
    for parser in &mut program.parsers {
        let Parser { locals, block, .. } = parser;
        expand(block, &mut NewLocals::among(locals));
    }
    debug_assert_eq!(lucid::core::verify(&program), Ok(()), "checksums of parsers");
    program
}

fn expand(block: &mut ParserBlock, locals: &mut NewLocals<'_>) {
    let mut actions = Vec::new();
    for mut action in std::mem::take(&mut block.actions) {
        if let ParserAction::Assign(_, value) = &mut action {
            replace(value, &mut Sums { locals, actions: &mut actions });
        }
        actions.push(action);
    }
    let mut sums = Sums { locals, actions: &mut actions };
    match &mut block.step {
        ParserStep::Match { subjects, .. } => {
            subjects.iter_mut().for_each(|subject| replace(subject, &mut sums));
        }
        ParserStep::Generate(event) => replace(event, &mut sums),
        ParserStep::Call { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| replace(argument, &mut sums));
        }
        ParserStep::LucidEvent | ParserStep::Drop => {}
    }
    block.actions = actions;
    if let ParserStep::Match { branches, .. } = &mut block.step {
        for (_, inner) in branches {
            deep(|| expand(inner, locals));
        }
    }
}

fn replace(value: &mut Expression, sums: &mut Sums<'_, '_>) {
    each_expression_mut(value, &mut |inner| {
        if let ExpressionKind::Checksum { .. } = inner.kind {
            *inner = sums.write(inner);
        }
    });
}

/// Where the additions go.
struct Sums<'a, 'l> {
    locals: &'a mut NewLocals<'l>,
    actions: &'a mut Vec<ParserAction>,
}

impl Sums<'_, '_> {
    /// Adds up the words of a checksum and gives its value.
    fn write(&mut self, checksum: &Expression) -> Expression {
        let span = checksum.span;
        let mut known = 0u128;
        let mut terms = Vec::new();
        for word in self.words(checksum) {
            match word.as_int() {
                Some(value) => known += value,
                None => terms.push(word),
            }
        }
        while known >> WORD_BITS != 0 {
            known = (known & mask(WORD_BITS)) + (known >> WORD_BITS);
        }
        if known != 0 || terms.is_empty() {
            terms.push(Expression::int(known, WORD_BITS, span));
        }
        let sum = match terms.as_slice() {
            [one] => one.clone(),
            several => self.sum(several, span),
        };
        Expression::unary(UnaryOperator::BitNot, sum, span)
    }

    /// The ones' complement sum of words.
    fn sum(&mut self, terms: &[Expression], span: Span) -> Expression {
        let wide = |word| Expression::cast(word, SUM_BITS, span);
        let add = |left, right| {
            Expression::binary(BinaryOperator::Add, left, right, Type::Int(SUM_BITS), span)
        };
        let part = |local, low| {
            let whole = Expression::local(local, Type::Int(SUM_BITS), span);
            Expression::slice(whole, low, WORD_BITS, span)
        };
        let to = self.locals.add("checksum", Type::Int(SUM_BITS), span);
        let all = terms.iter().cloned().map(wide).reduce(add);
        self.actions.extend(all.map(|all| ParserAction::Assign(to, all)));
        // The first addition of the carries may carry once more.
        for _ in 0..2 {
            let carried = add(wide(part(to, 0)), wide(part(to, WORD_BITS)));
            self.actions.push(ParserAction::Assign(to, carried));
        }
        part(to, 0)
    }

    /// Words of the arguments one after the other, zero bits behind the last.
    fn words(&mut self, checksum: &Expression) -> Vec<Expression> {
        let mut words = Vec::new();
        let mut word: Option<(Expression, u32)> = None;
        for argument in operands(checksum) {
            let (whole, width_bits) = self.bits(argument);
            let mut left_bits = width_bits;
            while left_bits > 0 {
                let there_bits = word.as_ref().map_or(0, |(_, bits)| *bits);
                let taken_bits = left_bits.min(WORD_BITS - there_bits);
                left_bits -= taken_bits;
                let piece = Expression::slice(whole.clone(), left_bits, taken_bits, argument.span);
                let joined = match word.take() {
                    None => (piece, taken_bits),
                    Some(before) => joined(before, (piece, taken_bits)),
                };
                match joined {
                    (whole, WORD_BITS) => words.push(whole),
                    part => word = Some(part),
                }
            }
        }
        if let Some((last, bits)) = word {
            let padding_bits = WORD_BITS - bits;
            let padding = Expression::int(0, padding_bits, last.span);
            words.push(joined((last, bits), (padding, padding_bits)).0);
        }
        words
    }

    /// An argument as bits, and how many. One that has parts in several words is computed once.
    fn bits(&mut self, argument: &Expression) -> (Expression, u32) {
        let span = argument.span;
        match argument.ty {
            Type::Int(width_bits) if is_leaf(argument) => (argument.clone(), width_bits),
            Type::Int(width_bits) => {
                let to = self.locals.add("summand", Type::Int(width_bits), span);
                self.actions.push(ParserAction::Assign(to, argument.clone()));
                (Expression::local(to, argument.ty, span), width_bits)
            }
            _ => (Expression::cast(argument.clone(), 1, span), 1),
        }
    }
}

fn joined(
    (left, left_bits): (Expression, u32),
    (right, right_bits): (Expression, u32),
) -> (Expression, u32) {
    let (bits, span) = (left_bits + right_bits, left.span);
    let ty = Type::Int(bits);
    (Expression::binary(BinaryOperator::Concatenate, left, right, ty, span), bits)
}
