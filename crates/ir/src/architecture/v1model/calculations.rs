// SPDX-License-Identifier: Apache-2.0
//! Inputs of v1model's hashes and checksums. BMv2 leaves fields of headers that are not valid out of a
//! calculation's input, so the bits behind them move up. Other architectures' hashes are in `objects`.

use crate::lowering::{Location, Lowered, Lowering, Shape, Value};
use crate::{Bits, HashAlgorithm, HeaderId, HeaderRef, Operand, Terminator, ValueType};
use p4::ast::{Expression, ExpressionKind};
use p4::typed::{Callee, TypeKind};

/// The code tests the validity of up to this many headers; each doubles the code. With more, all
/// inputs contribute.
const ASKED_HEADERS_LIMIT: usize = 4;

/// A hash or checksum: how, and over what.
#[derive(Clone, Copy)]
pub(super) struct Calculation<'e> {
    pub(super) algorithm: HashAlgorithm,
    /// The argument with the inputs.
    pub(super) data: &'e Expression,
    pub(super) width_bits: u32,
    /// Whether the payload follows.
    pub(super) payload: bool,
}

/// An input, with the header whose field it is.
struct Input<'e> {
    expression: &'e Expression,
    header: Option<HeaderId>,
}

impl<'a> Lowering<'a> {
    /// The value of a calculation over a call's argument. Under `condition` it is made; a header that
    /// whose validity it tests is not tested again.
    pub(super) fn calculate(
        &mut self,
        calculation: Calculation<'a>,
        condition: Option<&'a Expression>,
    ) -> Lowered<Operand> {
        let certain = match condition {
            Some(condition) => self.header_asked_about(condition)?,
            None => None,
        };
        let elements = elements_of(calculation.data);
        let mut inputs = Vec::with_capacity(elements.len());
        let mut asked: Vec<HeaderId> = Vec::new();
        for expression in elements {
            let header = self.header_around(expression)?.filter(|header| Some(*header) != certain);
            if let Some(header) = header
                && !asked.contains(&header)
            {
                asked.push(header);
            }
            inputs.push(Input { expression, header });
        }
        if asked.is_empty() || asked.len() > ASKED_HEADERS_LIMIT {
            let operands = self.extern_inputs(calculation.data)?;
            let Calculation { algorithm, width_bits, payload, .. } = calculation;
            return Ok(self.hash_of(algorithm, operands, width_bits, payload));
        }
        let name = self.local_name("$calculated");
        let result = self.allocate(&Shape::bits(calculation.width_bits), &name)?;
        self.calculate_by_cases(calculation, &inputs, &asked, &mut Vec::new(), &result)?;
        match self.load(&result) {
            Value::Scalar(operand) => Ok(operand),
            _ => Err(self.missing_fact("the result of a calculation")),
        }
    }

    /// One case for each choice of valid headers.
    fn calculate_by_cases(
        &mut self,
        calculation: Calculation<'a>,
        inputs: &[Input<'a>],
        asked: &[HeaderId],
        invalid: &mut Vec<HeaderId>,
        result: &Location,
    ) -> Lowered<()> {
        let Some((header, rest)) = asked.split_first() else {
            let mut operands = Vec::new();
            for input in inputs {
                if input.header.is_none_or(|header| !invalid.contains(&header)) {
                    operands.extend(self.extern_inputs(input.expression)?);
                }
            }
            let Calculation { algorithm, width_bits, payload, .. } = calculation;
            let value = self.hash_of(algorithm, operands, width_bits, payload);
            return self.store(result, &Value::Scalar(value));
        };
        let place = self.header_place(&HeaderRef::Header(*header), 0);
        let valid = self.load_place(place, ValueType::Bits(1));
        let (then, otherwise) = self.branch(valid);
        let end = self.new_block("");
        self.start_block(then);
        self.calculate_by_cases(calculation, inputs, rest, invalid, result)?;
        self.terminate(Terminator::Goto(end));
        self.start_block(otherwise);
        invalid.push(*header);
        self.calculate_by_cases(calculation, inputs, rest, invalid, result)?;
        invalid.pop();
        self.terminate(Terminator::Goto(end));
        self.start_block(end);
        Ok(())
    }

    fn extern_inputs(&mut self, expression: &'a Expression) -> Lowered<Vec<Operand>> {
        let value = self.evaluate(expression)?;
        Ok(self.flatten(&value))
    }

    /// The scalars of an argument; fields of headers that are not valid count as zero.
    pub(in crate::architecture) fn inputs_of_valid_headers(
        &mut self,
        data: &'a Expression,
    ) -> Lowered<Vec<Operand>> {
        let mut operands = Vec::new();
        for expression in elements_of(data) {
            let header = self.header_around(expression)?;
            let inputs = self.extern_inputs(expression)?;
            let Some(header) = header else {
                operands.extend(inputs);
                continue;
            };
            let place = self.header_place(&HeaderRef::Header(header), 0);
            let valid = self.load_place(place, ValueType::Bits(1));
            for input in inputs {
                let zero = Operand::Constant(Bits::zero(self.width(&input)));
                operands.push(match self.operand_type(&input) {
                    ValueType::Bits(_) => self.select(valid.clone(), input, zero),
                    ValueType::Varbit(_) => input,
                });
            }
        }
        Ok(operands)
    }

    /// The header `h` of a condition `h.isValid()`.
    fn header_asked_about(&mut self, condition: &'a Expression) -> Lowered<Option<HeaderId>> {
        let ExpressionKind::Call(call) = &condition.kind else { return Ok(None) };
        let asks = self
            .typed
            .calls
            .get(&condition.id)
            .is_some_and(|info| matches!(info.callee, Callee::IsValid));
        match &call.callee.kind {
            ExpressionKind::Member(base, _) if asks => self.known_header(base),
            _ => Ok(None),
        }
    }

    /// The header that an input is, or is a field of.
    fn header_around(&mut self, expression: &'a Expression) -> Lowered<Option<HeaderId>> {
        let mut part = expression;
        loop {
            if matches!(&*self.type_of(part)?, TypeKind::Header(..)) {
                return self.known_header(part);
            }
            match &part.kind {
                ExpressionKind::Member(base, _)
                    if self.typed.expression_types.contains_key(&base.id) =>
                {
                    part = base;
                }
                _ => return Ok(None),
            }
        }
    }

    /// The header that an expression always denotes.
    fn known_header(&mut self, expression: &'a Expression) -> Lowered<Option<HeaderId>> {
        if names_an_index(expression) {
            return Ok(None);
        }
        Ok(match self.locate(expression)? {
            Some(Location::Header { header: HeaderRef::Header(header), .. }) => Some(header),
            _ => None,
        })
    }
}

/// The inputs that an argument consists of.
fn elements_of(data: &Expression) -> Vec<&Expression> {
    match &data.kind {
        ExpressionKind::List(items) | ExpressionKind::TupleKeyset(items) => items.iter().collect(),
        ExpressionKind::Struct { fields, rest: false } => {
            fields.iter().map(|(_, value)| value).collect()
        }
        _ => vec![data],
    }
}

/// Whether locating the expression may compute an index.
fn names_an_index(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Member(base, name) => {
            matches!(&*name.text, "next" | "last") || names_an_index(base)
        }
        ExpressionKind::Index(base, index) => {
            !matches!(index.kind, ExpressionKind::Integer { .. }) || names_an_index(base)
        }
        _ => false,
    }
}
