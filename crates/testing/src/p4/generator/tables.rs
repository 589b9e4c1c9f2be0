// SPDX-License-Identifier: Apache-2.0
//! Tables: keys of every kind, actions, default actions, entries of the program, profiles, selectors,
//! direct counters and meters.

use super::actions::Action;
use super::externs::ALGORITHMS;
use super::types::literal;
use super::{Generator, TableName, Type};
use crate::p4::piece::{Piece, Role};
use ir::Bits;

impl Generator<'_> {
    /// A table of the control that is being made, with what it needs declared before it.
    pub(super) fn table(&mut self) -> Piece {
        let name = self.fresh("t");
        let mut before = Vec::new();
        let mut properties = Vec::new();
        let mut actions = Vec::new();
        if !self.objects.actions.is_empty() {
            for _ in 0..self.choices.between(1, 4) {
                let action = self.choices.pick(&self.objects.actions).clone();
                if !actions.iter().any(|other: &Action| other.name == action.name) {
                    actions.push(action);
                }
            }
        }
        if self.choices.chance(20) {
            let counter = self.fresh("dc");
            let unit = *self.choices.pick(&["packets", "bytes", "packets_and_bytes"]);
            let text = format!("direct_counter(CounterType.{unit}) {counter};\n");
            before.push(Piece::droppable(&text, Vec::new()));
            properties.push(Piece::droppable(&format!("counters = {counter};\n"), Vec::new()));
            if self.choices.chance(60) {
                let count = Piece::droppable(&format!("{counter}.count();\n"), Vec::new());
                before.push(self.action(Some(count)));
                actions.extend(self.objects.actions.pop());
            }
        }
        if self.choices.chance(15) {
            let meter = self.fresh("dm");
            let width = *self.choices.pick(&[2, 8, 32]);
            let unit = *self.choices.pick(&["packets", "bytes"]);
            let text = format!("direct_meter<bit<{width}>>(MeterType.{unit}) {meter};\n");
            before.push(Piece::droppable(&text, Vec::new()));
            properties.push(Piece::droppable(&format!("meters = {meter};\n"), Vec::new()));
            if let Some(target) = self.target(Type::Bits(width)) {
                let read = Piece::droppable(&format!("{meter}.read($);\n"), vec![target]);
                before.push(self.action(Some(read)));
                actions.extend(self.objects.actions.pop());
            }
        }
        let profile = self.choices.weighted(&[76, 12, 12]);
        let (keys, kinds) = self.keys(profile == 2);
        match profile {
            1 => {
                let implementation = self.fresh("ap");
                let text = format!("action_profile(32w16) {implementation};\n");
                before.push(Piece::text(text));
                let text = format!("implementation = {implementation};\n");
                properties.push(Piece::droppable(&text, Vec::new()));
            }
            2 => {
                let implementation = self.fresh("as");
                let algorithm = *self.choices.pick(ALGORITHMS);
                let width = *self.choices.pick(&[8, 16, 32]);
                let text = format!(
                    "action_selector(HashAlgorithm.{algorithm}, 32w16, 32w{width}) {implementation};\n"
                );
                before.push(Piece::text(text));
                properties.push(Piece::text(format!("implementation = {implementation};\n")));
            }
            _ => {}
        }
        let mut listed: Vec<Piece> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut plain: Vec<Action> = Vec::new();
        for action in &actions {
            let Some((call, arguments)) = self.call(&action.name, &action.parameters, 1) else {
                continue;
            };
            let text = if action.parameters.is_empty() { action.name.clone() } else { call };
            let annotation =
                if profile == 0 && self.choices.chance(5) { "@defaultonly " } else { "" };
            listed.push(Piece::droppable(&format!("{annotation}{text};\n"), arguments));
            names.push(action.name.clone());
            if action.parameters.is_empty() && annotation.is_empty() {
                plain.push(action.clone());
            }
        }
        listed.push(Piece::text("NoAction;\n"));
        names.push("NoAction".to_string());
        let default = self.default_action(&plain);
        properties.push(default);
        if profile == 0 && self.choices.chance(35) && !kinds.is_empty() {
            properties.push(self.entries(&kinds, &plain));
        }
        if self.choices.chance(50) {
            properties.push(Piece::droppable("size = 64;\n", Vec::new()));
        }
        self.objects.tables.push(TableName { name: name.clone(), actions: names });
        let before = Piece::sequence(Role::Fixed, before);
        let listed = Piece::sequence(Role::Fixed, listed);
        let properties = Piece::sequence(Role::Fixed, properties);
        let template = format!("$table {name} {{\n$actions = {{\n$}}\n$}}\n");
        Piece::droppable(&template, vec![before, keys, listed, properties])
    }

    /// The keys, and width and kind of each that entries match.
    fn keys(&mut self, selects: bool) -> (Piece, Vec<(Type, &'static str)>) {
        let mut kinds = Vec::new();
        let mut lines = Vec::new();
        let style = self.choices.below(6);
        let mut has_prefix = false;
        let count = self.choices.weighted(&[if selects { 0 } else { 6 }, 45, 28, 14, 7]);
        for _ in 0..count {
            let (ty, piece) = self.key_expression();
            let kind = match (ty, style) {
                (Type::Bits(_) | Type::Int(_), 0) => "exact",
                (Type::Bits(_), 1) if !has_prefix => "lpm",
                (Type::Bits(_), 2) => "ternary",
                (Type::Bits(1..=64), 3) => "range",
                (Type::Bits(_), 4) => "optional",
                (Type::Bits(1..=64), 5) => {
                    *self.choices.pick(&["exact", "ternary", "range", "optional"])
                }
                _ => "exact",
            };
            has_prefix |= kind == "lpm";
            kinds.push((ty, kind));
            let annotation = self.fresh("k");
            let template = format!("$: {kind} @name(\"{annotation}\");\n");
            lines.push(Piece::droppable(&template, vec![piece]));
        }
        if selects {
            for _ in 0..self.choices.between(1, 2) {
                let (_, piece) = self.key_expression();
                let annotation = self.fresh("k");
                let template = format!("$: selector @name(\"{annotation}\");\n");
                lines.push(Piece::droppable(&template, vec![piece]));
            }
        }
        if lines.is_empty() {
            return (Piece::text(""), kinds);
        }
        let lines = Piece::sequence(Role::Fixed, lines);
        (Piece::droppable("key = {\n$}\n", vec![lines]), kinds)
    }

    fn key_expression(&mut self) -> (Type, Piece) {
        match self.choices.weighted(&[70, 12, 8, 10]) {
            0 => {
                let is_key = |variable: &super::Variable| variable.ty != Type::Error;
                match self.variable(is_key) {
                    Some(variable) => (variable.ty, self.place_of(&variable)),
                    None => (Type::Bits(8), Piece::text("8w0")),
                }
            }
            1 => match self.variable(|variable| matches!(variable.ty, Type::Bits(5..))) {
                Some(variable) => {
                    let width = self.width_bits(variable.ty);
                    let low = self.choices.between(0, width - 4);
                    let place = self.place_of(&variable);
                    let template = format!("$[{}:{low}]", low + 3);
                    (Type::Bits(4), Piece::fixed(&template, vec![place]))
                }
                None => (Type::Bits(8), Piece::text("8w0")),
            },
            2 => match self.some_header() {
                Some((header, _)) => (Type::Bool, Piece::fixed("$.isValid()", vec![header])),
                None => (Type::Bool, Piece::text("true")),
            },
            _ => {
                let width = self.any_width().min(128);
                (Type::Bits(width), self.expression(Type::Bits(width), 2))
            }
        }
    }

    fn action_call(&mut self, plain: &[Action]) -> String {
        if plain.is_empty() || self.choices.chance(10) {
            return "NoAction()".to_string();
        }
        let action = self.choices.pick(plain).clone();
        let data: Vec<String> = action.data.iter().map(|ty| self.literal_text(*ty)).collect();
        format!("{}({})", action.name, data.join(", "))
    }

    fn default_action(&mut self, plain: &[Action]) -> Piece {
        let call = self.action_call(plain);
        let constant = if self.choices.chance(20) { "const " } else { "" };
        Piece::droppable(&format!("{constant}default_action = {call};\n"), Vec::new())
    }

    /// Entries of the program.
    fn entries(&mut self, kinds: &[(Type, &'static str)], plain: &[Action]) -> Piece {
        let has_priorities =
            kinds.iter().any(|(_, kind)| matches!(*kind, "ternary" | "range" | "optional"));
        let is_constant = self.choices.chance(60);
        // The order of constant entries is their priority.
        let with_priorities = has_priorities && !is_constant && self.choices.chance(60);
        let mut lines = Vec::new();
        let mut seen = Vec::new();
        for _ in 0..self.choices.between(1, 6) {
            let keys: Vec<String> =
                kinds.iter().map(|(ty, kind)| self.key_pattern(*ty, kind)).collect();
            let keyset = match &keys[..] {
                [one] => one.clone(),
                _ => format!("({})", keys.join(", ")),
            };
            if seen.contains(&keyset) {
                continue;
            }
            seen.push(keyset.clone());
            let call = self.action_call(plain);
            let priority = match with_priorities {
                true => format!("priority = {}: ", self.choices.between(1, 30)),
                false => String::new(),
            };
            lines.push(Piece::droppable(&format!("{priority}{keyset}: {call};\n"), Vec::new()));
        }
        let constant = if is_constant { "const " } else { "" };
        let lines = Piece::sequence(Role::Fixed, lines);
        Piece::droppable(&format!("{constant}entries = {{\n$}}\n"), vec![lines])
    }

    fn key_pattern(&mut self, ty: Type, kind: &str) -> String {
        let Type::Bits(width) = ty else { return self.literal_text(ty) };
        let value = self.value(width);
        match kind {
            "lpm" => {
                let length = self.choices.between(0, width);
                let mask = Bits::prefix_mask(width, length);
                let value = value.binary(ir::BinaryOperation::And, &mask);
                format!("{} &&& {}", literal(&value), literal(&mask))
            }
            "ternary" => {
                let mask = self.value(width);
                let value = value.binary(ir::BinaryOperation::And, &mask);
                if self.choices.chance(15) {
                    return "_".to_string();
                }
                format!("{} &&& {}", literal(&value), literal(&mask))
            }
            "range" => {
                let other = self.value(width);
                let (low, high) = if value.cmp_unsigned(&other).is_le() {
                    (value, other)
                } else {
                    (other, value)
                };
                format!("{} .. {}", literal(&low), literal(&high))
            }
            "optional" if self.choices.chance(30) => "_".to_string(),
            _ => literal(&value),
        }
    }
}
