// SPDX-License-Identifier: Apache-2.0
//! Functions and actions: declarations with parameters of every direction, and calls of them.

use super::{Generator, Place, Type};
use crate::p4::piece::{Piece, Role};

/// The direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
    InOut,
}

impl Direction {
    fn word(self) -> &'static str {
        match self {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::InOut => "inout",
        }
    }
}

/// A parameter with a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub direction: Direction,
    pub ty: Type,
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub name: String,
    /// `None` is `void`.
    pub returns: Option<Type>,
    pub parameters: Vec<Parameter>,
}

/// An action: parameters with directions, then what the control plane gives.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub data: Vec<Type>,
}

impl Generator<'_> {
    /// First values of the `out` parameters declared last, where no variable may be read without one.
    pub(super) fn begin_outputs(&mut self, parameters: &[Parameter], texts: &[String]) -> Piece {
        let mut statements = Vec::new();
        if self.knobs.calls {
            for (parameter, text) in parameters.iter().zip(texts) {
                if parameter.direction == Direction::Out {
                    let name = text.rsplit(' ').next().unwrap_or_default();
                    let value = self.literal_text(parameter.ty);
                    statements.push(Piece::text(format!("{name} = {value};\n")));
                }
            }
        }
        Piece::sequence(Role::Fixed, statements)
    }

    pub(super) fn parameters(&mut self, most: u32) -> Vec<Parameter> {
        (0..self.choices.between(0, most))
            .map(|_| {
                let direction =
                    [Direction::In, Direction::Out, Direction::InOut][self.choices.below(3)];
                Parameter { direction, ty: self.any_type() }
            })
            .collect()
    }

    /// Declares the parameters in the scope and returns their text.
    pub(super) fn declare_parameters(&mut self, parameters: &[Parameter]) -> Vec<String> {
        let mut texts = Vec::new();
        for parameter in parameters {
            let name = self.fresh("p");
            let ty = self.type_text(parameter.ty);
            texts.push(format!("{} {ty} {name}", parameter.direction.word()));
            self.declare(name, parameter.ty, parameter.direction != Direction::In);
        }
        texts
    }

    /// A function at the top level.
    pub(super) fn function(&mut self) -> Piece {
        let name = self.fresh("f");
        let parameters = self.parameters(4);
        let returns = if self.choices.chance(80) { Some(self.any_type()) } else { None };
        let place = std::mem::replace(&mut self.place, Place::Function);
        let piece = self.apart(|generator| {
            let texts = generator.declare_parameters(&parameters);
            let ty = returns.map_or("void".to_string(), |ty| generator.type_text(ty));
            generator.returns = returns;
            let begin = generator.begin_outputs(&parameters, &texts);
            generator.budget = generator.amount(1, 5);
            let most = generator.choices.between(0, 3);
            let body = generator.statements(most, 2);
            let end = match returns {
                Some(ty) => {
                    let value = generator.expression(ty, 2);
                    Piece::fixed("return $;\n", vec![value])
                }
                None => Piece::text(""),
            };
            generator.returns = None;
            let head = format!("{ty} {name}({})", texts.join(", "));
            Piece::droppable(&format!("{head} {{\n$$$}}\n"), vec![begin, body, end])
        });
        self.place = place;
        self.functions.push(Function { name, returns, parameters });
        piece
    }

    /// An action of the control that is being made.
    pub(super) fn action(&mut self, extra: Option<Piece>) -> Piece {
        let name = self.fresh("a");
        let parameters = if self.choices.chance(45) { self.parameters(3) } else { Vec::new() };
        let data: Vec<Type> = (0..self.choices.between(0, 4))
            .map(|_| match self.choices.weighted(&[80, 10, 6, 4]) {
                0 => Type::Bits(self.any_width().min(300)),
                1 => Type::Int(self.any_width().clamp(2, 300)),
                2 => Type::Bool,
                _ => Type::Bits(9),
            })
            .collect();
        let place = std::mem::replace(&mut self.place, Place::Action);
        let piece = self.scoped(|generator| {
            let mut texts = generator.declare_parameters(&parameters);
            let begin = generator.begin_outputs(&parameters, &texts);
            for ty in &data {
                let name = generator.fresh("d");
                texts.push(format!("{} {name}", generator.type_text(*ty)));
                generator.declare(name, *ty, false);
            }
            generator.budget = generator.amount(1, 6);
            let count = generator.choices.between(1, 4);
            let body = generator.statements(count, 2);
            let extra = extra.unwrap_or_else(|| Piece::text(""));
            let head = format!("action {name}({})", texts.join(", "));
            Piece::droppable(&format!("{head} {{\n$$$}}\n"), vec![begin, body, extra])
        });
        self.place = place;
        self.objects.actions.push(Action { name, parameters, data });
        piece
    }

    /// A call with arguments; `None` when nothing in scope can take an output.
    pub(super) fn call(
        &mut self,
        name: &str,
        parameters: &[Parameter],
        depth: u32,
    ) -> Option<(String, Vec<Piece>)> {
        let mut arguments = Vec::new();
        for parameter in parameters {
            arguments.push(match parameter.direction {
                Direction::In => self.expression(parameter.ty, depth.min(2)),
                Direction::Out | Direction::InOut => self.target(parameter.ty)?,
            });
        }
        let holes = vec!["$"; arguments.len()].join(", ");
        Some((format!("{name}({holes})"), arguments))
    }

    /// Something of the type that can be written: a variable, a field, or some bits of one.
    pub(super) fn target(&mut self, ty: Type) -> Option<Piece> {
        if let Type::Bits(width) = ty
            && self.choices.chance(20)
        {
            let wider = self.variable(|variable| {
                variable.is_writable && matches!(variable.ty, Type::Bits(more) if more > width)
            });
            if let Some(variable) = wider {
                let more = self.width_bits(variable.ty) - width;
                let low = self.choices.between(0, more);
                let place = self.place_of(&variable);
                let template = format!("$[{}:{low}]", low + width - 1);
                return Some(Piece::fixed(&template, vec![place]));
            }
        }
        let variable = self.variable(|variable| variable.is_writable && variable.ty == ty)?;
        Some(self.place_of(&variable))
    }

    /// A target of the type, declared for the purpose where there is none: the declaration and the
    /// target.
    pub(super) fn target_or_local(&mut self, ty: Type) -> (Piece, Piece) {
        if let Some(target) = self.target(ty) {
            return (Piece::text(""), target);
        }
        let name = self.fresh("v");
        let text = match self.knobs.calls {
            true => format!("{} {name} = {};\n", self.type_text(ty), self.literal_text(ty)),
            false => format!("{} {name};\n", self.type_text(ty)),
        };
        self.declare(name.clone(), ty, true);
        (Piece::new(Role::Fixed, &text, Vec::new()), Piece::text(name))
    }
}
