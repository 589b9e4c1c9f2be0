// SPDX-License-Identifier: Apache-2.0
//! Statements of functions, actions, controls and parser states: assignments, branches, loops, blocks,
//! headers and stacks, calls. Calls of externs are in `externs`.

use super::actions::Direction;
use super::{Generator, Place, Type, Variable};
use crate::p4::piece::{Piece, Role};

impl Generator<'_> {
    /// Some statements in a scope of their own.
    pub(super) fn statements(&mut self, count: u32, depth: u32) -> Piece {
        self.scoped(|generator| {
            let statements = (0..count).map(|_| generator.statement(depth)).collect();
            Piece::sequence(Role::Body, statements)
        })
    }

    fn block(&mut self, depth: u32) -> Piece {
        let count = self.choices.between(1, 3);
        self.statements(count, depth.saturating_sub(1))
    }

    /// One statement; an assignment when the budget is spent.
    pub(super) fn statement(&mut self, depth: u32) -> Piece {
        if self.budget == 0 || depth == 0 {
            return self.assignment(1);
        }
        self.budget -= 1;
        let is_control = matches!(self.place, Place::Ingress | Place::Egress);
        let has_headers = self.place != Place::Function && self.place != Place::Parser;
        let has_state = is_control || self.place == Place::Action;
        let when = |test: bool, weight: usize| if test { weight } else { 0 };
        let weights = [
            36,
            8,
            16,
            when(self.place != Place::Action && self.place != Place::Parser, 4),
            when(self.place != Place::Parser, 4),
            3,
            when(has_headers, 9),
            when(has_state, 16),
            when(is_control, 14),
            when(self.place != Place::Parser, 3),
            when(self.in_loop, 8),
            if self.knobs.calls { 40 } else { 6 },
            when(has_headers, 6),
        ];
        let piece = match self.choices.weighted(&weights) {
            0 => Some(self.assignment(3)),
            1 => Some(self.local()),
            2 => Some(self.conditional(depth)),
            3 => self.switch_on_value(depth),
            4 => Some(self.loop_statement(depth)),
            5 => {
                let body = self.block(depth);
                Some(Piece::new(Role::Compound, "{\n$}\n", vec![body]))
            }
            6 => self.header_statement(),
            7 => self.extern_statement(),
            8 => self.application(depth),
            9 => Some(self.early_end()),
            10 => {
                let condition = self.expression(Type::Bool, 1);
                let word = *self.choices.pick(&["break", "continue"]);
                Some(Piece::droppable(&format!("if ($) {{ {word}; }}\n"), vec![condition]))
            }
            11 => self.call_statement(),
            _ => self.aggregate_statement(),
        };
        piece.unwrap_or_else(|| self.assignment(2))
    }

    /// `target = value`, or with an operator; for all types.
    pub(super) fn assignment(&mut self, depth: u32) -> Piece {
        let Some(variable) = self.variable(|variable| variable.is_writable) else {
            return self.local();
        };
        let place = self.place_of(&variable);
        match variable.ty {
            Type::Bits(width) if width > 1 && self.choices.chance(18) => {
                let high = self.choices.between(0, width - 1);
                let low = self.choices.between(0, high);
                let value = self.expression(Type::Bits(high - low + 1), depth);
                Piece::droppable(&format!("$[{high}:{low}] = $;\n"), vec![place, value])
            }
            Type::Bits(1..=320) | Type::Int(..=320) if self.choices.chance(10) => {
                const OPERATORS: &[&str] = &["+=", "-=", "*=", "&=", "|=", "^=", "|+|=", "|-|="];
                let operator = *self.choices.pick(OPERATORS);
                let value = self.expression(variable.ty, depth);
                Piece::droppable(&format!("$ {operator} $;\n"), vec![place, value])
            }
            ty => {
                let value = self.expression(ty, depth);
                Piece::droppable("$ = $;\n", vec![place, value])
            }
        }
    }

    fn local(&mut self) -> Piece {
        let ty = self.any_type();
        let name = self.fresh("v");
        let text = self.declared_type(ty);
        let piece = if self.knobs.calls || self.choices.chance(85) {
            let value = self.expression(ty, 2);
            Piece::droppable(&format!("{text} {name} = $;\n"), vec![value])
        } else {
            Piece::droppable(&format!("{text} {name};\n"), Vec::new())
        };
        self.declare(name, ty, true);
        piece
    }

    fn conditional(&mut self, depth: u32) -> Piece {
        let condition = self.expression(Type::Bool, 3);
        let then = self.block(depth);
        if self.choices.chance(45) {
            let otherwise = self.block(depth);
            let parts = vec![condition, then, otherwise];
            return Piece::new(Role::Compound, "if ($) {\n$} else {\n$}\n", parts);
        }
        Piece::new(Role::Compound, "if ($) {\n$}\n", vec![condition, then])
    }

    fn switch_on_value(&mut self, depth: u32) -> Option<Piece> {
        let ty = match self.choices.weighted(&[75, 10, 15]) {
            0 => Type::Bits(self.any_width().min(128)),
            1 => Type::Int(self.any_width().clamp(2, 128)),
            _ => Type::Enum(self.choices.below(self.enums.len())),
        };
        let variable = self.variable(|variable| variable.ty == ty)?;
        let mut parts = vec![self.place_of(&variable)];
        let mut seen = Vec::new();
        let mut template = "switch ($) {\n".to_string();
        for _ in 0..self.choices.between(1, 4) {
            let label = self.literal_text(ty);
            if seen.contains(&label) || label.contains('-') {
                continue;
            }
            if self.choices.chance(15) {
                // Falls through to the next case, or has nothing to do.
                parts.push(Piece::droppable(&format!("{label}:\n"), Vec::new()));
            } else {
                let body = self.block(depth);
                parts.push(Piece::droppable(&format!("{label}: {{\n$}}\n"), vec![body]));
            }
            seen.push(label);
            template.push('$');
        }
        if self.choices.chance(60) || parts.len() == 1 {
            let body = self.block(depth);
            parts.push(Piece::droppable("default: {\n$}\n", vec![body]));
            template.push('$');
        }
        template.push_str("}\n");
        Some(Piece::new(Role::Compound, &template, parts))
    }

    fn loop_statement(&mut self, depth: u32) -> Piece {
        if self.in_loop {
            return self.conditional(depth);
        }
        let name = self.fresh("i");
        let width = self.choices.between(4, 17);
        let kind = self.choices.below(4);
        let bound = match kind {
            // More rounds than the step limit allows, for some values.
            _ if width == 17 && self.choices.chance(3) => self.expression(Type::Bits(width), 1),
            0 => Piece::text(format!("{width}w{}", self.choices.between(1, 5))),
            _ => {
                let bound = self.expression(Type::Bits(width), 2);
                Piece::fixed(&format!("($ & {width}w7)"), vec![bound])
            }
        };
        self.in_loop = true;
        let body = self.scoped(|generator| {
            generator.declare(name.clone(), Type::Bits(width), false);
            generator.block(depth)
        });
        self.in_loop = false;
        let template = match kind {
            3 => {
                let high = self.choices.between(0, 4);
                let head = format!("for (bit<{width}> {name} in {width}w0..{width}w{high})");
                return Piece::new(Role::Compound, &format!("{head} {{\n$}}\n"), vec![body]);
            }
            _ => {
                let update = format!("{name} = {name} + {width}w1");
                format!("for (bit<{width}> {name} = 0; {name} < $; {update}) {{\n$}}\n")
            }
        };
        Piece::new(Role::Compound, &template, vec![bound, body])
    }

    fn early_end(&mut self) -> Piece {
        let condition = self.expression(Type::Bool, 2);
        match (self.place, self.returns) {
            (Place::Function, Some(ty)) => {
                let value = self.expression(ty, 2);
                Piece::droppable("if ($) { return $; }\n", vec![condition, value])
            }
            (Place::Ingress | Place::Egress | Place::Action, _) if self.choices.chance(40) => {
                Piece::droppable("if ($) { exit; }\n", vec![condition])
            }
            _ => Piece::droppable("if ($) { return; }\n", vec![condition]),
        }
    }

    /// A header and its type; where there are stacks, perhaps an element.
    pub(super) fn some_header(&mut self) -> Option<(Piece, usize)> {
        if !self.stacks.is_empty() && self.choices.chance(30) {
            let stack = self.choices.pick(&self.stacks).clone();
            let index = self.stack_index(stack.size);
            return Some((
                Piece::fixed(&format!("{}[$]{}", stack.path, stack.member), vec![index]),
                stack.ty,
            ));
        }
        if self.headers.is_empty() {
            return None;
        }
        let header = self.choices.pick(&self.headers).clone();
        Some((Piece::text(header.path), header.ty))
    }

    /// Two headers of one type.
    pub(super) fn header_pair(&mut self) -> Option<(Piece, Piece)> {
        let (first, ty) = self.some_header()?;
        for _ in 0..4 {
            if let Some((second, other)) = self.some_header()
                && other == ty
                && second != first
            {
                return Some((first, second));
            }
        }
        None
    }

    fn header_statement(&mut self) -> Option<Piece> {
        match self.choices.weighted(&[40, 30, 30]) {
            0 => {
                let (header, _) = self.some_header()?;
                let method = *self.choices.pick(&["setValid", "setValid", "setInvalid"]);
                Some(Piece::droppable(&format!("$.{method}();\n"), vec![header]))
            }
            1 => {
                let (one, other) = self.header_pair()?;
                Some(Piece::droppable("$ = $;\n", vec![one, other]))
            }
            _ => {
                if self.stacks.is_empty() {
                    return None;
                }
                let stack = self.choices.pick(&self.stacks).clone();
                let method = *self.choices.pick(&["push_front", "pop_front"]);
                let by = self.choices.between(1, stack.size + 1);
                Some(Piece::droppable(&format!("{}.{method}({by});\n", stack.path), Vec::new()))
            }
        }
    }

    /// Whole structs and headers: declared, assigned, given by a list.
    fn aggregate_statement(&mut self) -> Option<Piece> {
        match self.choices.weighted(&[20, 30, 25, 25]) {
            0 => {
                // A header variable.
                let ty = self.choices.below(self.header_types.len());
                let name = self.fresh("hv");
                let header = self.header_types[ty].name.clone();
                let source = self.headers.iter().find(|place| place.ty == ty);
                let piece = match source.map(|place| place.path.clone()) {
                    Some(path) if self.choices.chance(60) => {
                        Piece::droppable(&format!("{header} {name} = {path};\n"), Vec::new())
                    }
                    _ => Piece::droppable(&format!("{header} {name};\n"), Vec::new()),
                };
                self.declare_header(name, ty);
                Some(piece)
            }
            1 => {
                if self.struct_types.is_empty() {
                    return None;
                }
                let ty = self.choices.below(self.struct_types.len());
                let (declared, values) = (self.struct_types[ty].clone(), self.struct_values(ty));
                let holes = vec!["$"; values.len()].join(", ");
                let name = self.fresh("sv");
                let template = format!("{} {name} = {{{holes}}};\n", declared.name);
                let piece = Piece::droppable(&template, values);
                self.declare_struct(name, ty);
                Some(piece)
            }
            2 => {
                let (one, other) = self.struct_pair()?;
                Some(Piece::droppable("$ = $;\n", vec![one, other]))
            }
            _ => {
                let (header, ty) = self.some_header()?;
                let declared = self.header_types[ty].clone();
                if declared.varbit_bits.is_some() {
                    return None;
                }
                let mut parts = vec![header];
                for (_, field) in &declared.fields {
                    parts.push(self.expression(*field, 1));
                }
                let holes = vec!["$"; declared.fields.len()].join(", ");
                Some(Piece::droppable(&format!("$ = {{{holes}}};\n"), parts))
            }
        }
    }

    /// Values for the fields of a struct.
    pub(super) fn struct_values(&mut self, ty: usize) -> Vec<Piece> {
        let fields = self.struct_types[ty].fields.clone();
        fields.iter().map(|(_, field)| self.expression(*field, 2)).collect()
    }

    /// Two structs of one type.
    pub(super) fn struct_pair(&mut self) -> Option<(Piece, Piece)> {
        if self.structs.is_empty() {
            return None;
        }
        let (one, ty) = self.choices.pick(&self.structs).clone();
        let others: Vec<String> = self
            .structs
            .iter()
            .filter(|(path, other)| *other == ty && *path != one)
            .map(|(path, _)| path.clone())
            .collect();
        if others.is_empty() {
            return None;
        }
        let other = self.choices.pick(&others).clone();
        Some((Piece::text(one), Piece::text(other)))
    }

    /// Calls of actions, functions and nested controls.
    fn call_statement(&mut self) -> Option<Piece> {
        let is_control = matches!(self.place, Place::Ingress | Place::Egress);
        if is_control && !self.objects.controls.is_empty() && self.choices.chance(30) {
            let (name, parameters) = self.choices.pick(&self.objects.controls).clone();
            if self.knobs.calls {
                return Some(self.nested_call(&name, &parameters));
            }
            let mut arguments = vec![];
            for parameter in parameters {
                arguments.push(self.target(parameter.ty)?);
            }
            let holes = vec!["$"; arguments.len()].join(", ");
            return Some(Piece::droppable(
                &format!("{name}.apply(hdr, meta, std, {holes});\n"),
                arguments,
            ));
        }
        if is_control && !self.objects.actions.is_empty() && self.choices.chance(50) {
            let action = self.choices.pick(&self.objects.actions).clone();
            let (_, mut arguments) = self.call(&action.name, &action.parameters, 2)?;
            for ty in &action.data {
                arguments.push(self.expression(*ty, 2));
            }
            let holes = vec!["$"; arguments.len()].join(", ");
            return Some(Piece::droppable(&format!("{}({holes});\n", action.name), arguments));
        }
        let with_outputs =
            |parameter: &super::actions::Parameter| parameter.direction != Direction::In;
        let fitting: Vec<usize> = (0..self.functions.len())
            .filter(|at| self.functions[*at].parameters.iter().any(with_outputs))
            .collect();
        if fitting.is_empty() || self.place == Place::Function {
            return None;
        }
        let function = self.functions[*self.choices.pick(&fitting)].clone();
        let (template, arguments) = self.call(&function.name, &function.parameters, 2)?;
        Some(Piece::droppable(&format!("{template};\n"), arguments))
    }

    /// `apply` of a table, alone or as a condition or in a switch on the action that ran.
    fn application(&mut self, depth: u32) -> Option<Piece> {
        if self.in_loop || self.objects.tables.is_empty() {
            return None;
        }
        let at = self.choices.below(self.objects.tables.len());
        let table = self.objects.tables.swap_remove(at);
        let name = &table.name;
        Some(match self.choices.weighted(&[40, 25, 10, 25]) {
            0 => Piece::droppable(&format!("{name}.apply();\n"), Vec::new()),
            1 => {
                let what = *self.choices.pick(&["hit", "miss"]);
                let then = self.block(depth);
                let otherwise = self.block(depth);
                let template = format!("if ({name}.apply().{what}) {{\n$}} else {{\n$}}\n");
                Piece::new(Role::Compound, &template, vec![then, otherwise])
            }
            2 => {
                let condition = self.expression(Type::Bool, 1);
                let operator = *self.choices.pick(&["&&", "||"]);
                let then = self.block(depth);
                let template = format!("if ($ {operator} {name}.apply().hit) {{\n$}}\n");
                Piece::new(Role::Compound, &template, vec![condition, then])
            }
            _ => {
                let mut template = format!("switch ({name}.apply().action_run) {{\n");
                let mut parts = Vec::new();
                for action in table.actions.iter().take(self.choices.between(1, 3) as usize) {
                    let body = self.block(depth);
                    parts.push(Piece::droppable(&format!("{action}: {{\n$}}\n"), vec![body]));
                    template.push('$');
                }
                if self.choices.chance(60) {
                    let body = self.block(depth);
                    parts.push(Piece::droppable("default: {\n$}\n", vec![body]));
                    template.push('$');
                }
                template.push_str("}\n");
                Piece::new(Role::Compound, &template, parts)
            }
        })
    }

    /// The text of something readable of some width, for data of externs.
    pub(super) fn data(&mut self, most_bits: u32) -> Option<(Piece, Variable)> {
        let variable = self.variable(|variable| match variable.ty {
            Type::Bits(width) | Type::Int(width) => width <= most_bits,
            Type::Bool | Type::Enum(_) | Type::Error => false,
        })?;
        Some((self.place_of(&variable), variable))
    }
}
