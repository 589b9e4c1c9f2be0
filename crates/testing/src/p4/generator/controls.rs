// SPDX-License-Identifier: Apache-2.0
//! Controls: ingress and egress with their state, actions and tables, nested controls, checksums, and
//! the deparser.

use super::actions::{Direction, Parameter};
use super::externs::ALGORITHMS;
use super::{Generator, Objects, Place, Type};
use crate::p4::piece::{Piece, Role};

/// The parameters that ingress, egress and nested controls have.
const PARAMETERS: &str =
    "inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std";

/// How many values the log line at the end of a control shows.
const SHOWN_VALUES: usize = 12;

impl Generator<'_> {
    /// Registers, counters and meters of a control.
    fn stateful_objects(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for _ in 0..self.choices.between(0, 3) {
            let name = self.fresh("r");
            let ty = match self.choices.weighted(&[85, 10, 5]) {
                0 => Type::Bits(self.any_width()),
                1 => Type::Int(self.any_width().max(2)),
                _ => Type::Bool,
            };
            let size = self.choices.between(1, 20);
            let text = format!("register<{}>({size}) {name};\n", self.type_text(ty));
            pieces.push(Piece::droppable(&text, Vec::new()));
            self.objects.registers.push((name, ty, u64::from(size)));
        }
        if !self.struct_types.is_empty() && self.choices.chance(25) {
            let (name, size) = (self.fresh("r"), self.choices.between(1, 8));
            let ty = self.choices.below(self.struct_types.len());
            let text = format!("register<{}>({size}) {name};\n", self.struct_types[ty].name);
            pieces.push(Piece::droppable(&text, Vec::new()));
            self.objects.struct_registers.push((name, ty, u64::from(size)));
        }
        if self.choices.chance(40) {
            let (name, size) = (self.fresh("c"), self.choices.between(1, 12));
            let unit = *self.choices.pick(&["packets", "bytes", "packets_and_bytes"]);
            let text = format!("counter({size}, CounterType.{unit}) {name};\n");
            pieces.push(Piece::droppable(&text, Vec::new()));
            self.objects.counters.push((name, u64::from(size)));
        }
        if self.choices.chance(30) {
            let (name, size) = (self.fresh("m"), self.choices.between(1, 6));
            let unit = *self.choices.pick(&["packets", "bytes"]);
            let text = format!("meter({size}, MeterType.{unit}) {name};\n");
            pieces.push(Piece::droppable(&text, Vec::new()));
            self.objects.meters.push((name, u64::from(size)));
        }
        pieces
    }

    /// A control that ingress or egress may apply, and what it takes besides headers and metadata.
    fn nested_control(&mut self) -> (Piece, String, Vec<Parameter>) {
        let name = self.fresh("Nested");
        if self.knobs.calls {
            return self.nested_with_parameters(name);
        }
        let ty = self.any_type();
        let parameter = self.fresh("p");
        let text = self.type_text(ty);
        let outer = std::mem::take(&mut self.objects);
        let piece = self.scoped(|generator| {
            generator.declare(parameter.clone(), ty, true);
            generator.control_body(1)
        });
        self.objects = outer;
        let head = format!("control {name}({PARAMETERS}, inout {text} {parameter})");
        let parameters = vec![Parameter { direction: Direction::InOut, ty }];
        (Piece::droppable(&format!("{head} {{\n$}}\n"), vec![piece]), name, parameters)
    }

    /// A nested control with parameters of every direction and one of its constructor, which may apply
    /// the nested controls that are known already.
    fn nested_with_parameters(&mut self, name: String) -> (Piece, String, Vec<Parameter>) {
        let parameters = self.parameters(4);
        // A constant where it is inlined, as the variable of an unrolled loop is.
        let number = self.fresh("i");
        let known = self.objects.controls.clone();
        let outer = std::mem::take(&mut self.objects);
        let mut texts = Vec::new();
        let piece = self.scoped(|generator| {
            texts = generator.declare_parameters(&parameters);
            generator.declare(number.clone(), Type::Bits(8), false);
            let begin = generator.begin_outputs(&parameters, &texts);
            let (instances, controls) = generator.instances(&known);
            generator.objects.controls = controls;
            let body = generator.control_body_after(begin, 1);
            Piece::fixed("$$", vec![instances, body])
        });
        self.objects = outer;
        texts.insert(0, PARAMETERS.to_string());
        let head = format!("control {name}({})(bit<8> {number})", texts.join(", "));
        (Piece::droppable(&format!("{head} {{\n$}}\n"), vec![piece]), name, parameters)
    }

    /// Instances of nested controls.
    fn instances(
        &mut self,
        types: &[(String, Vec<Parameter>)],
    ) -> (Piece, Vec<(String, Vec<Parameter>)>) {
        let mut declarations = Vec::new();
        let mut controls = Vec::new();
        for (name, parameters) in types {
            for _ in 0..self.choices.between(0, 2) {
                let instance = self.fresh("n");
                let value = self.literal_text(Type::Bits(8));
                let text = match self.choices.chance(20) {
                    true => format!("@name(\"given_{instance}\") {name}({value}) {instance};\n"),
                    false => format!("{name}({value}) {instance};\n"),
                };
                declarations.push(Piece::droppable(&text, Vec::new()));
                controls.push((instance, parameters.clone()));
            }
        }
        (Piece::sequence(Role::Fixed, declarations), controls)
    }

    /// A call of a nested control. Arguments for outputs are variables declared for the call, or anything
    /// else in scope, which may be a part of another argument.
    pub(super) fn nested_call(&mut self, name: &str, parameters: &[Parameter]) -> Piece {
        let mut parts = Vec::new();
        let mut arguments = Vec::new();
        for parameter in parameters {
            if parameter.direction == Direction::In {
                arguments.push(self.expression(parameter.ty, 2));
                continue;
            }
            let target = match self.choices.chance(60) {
                true => self.target(parameter.ty),
                false => None,
            };
            arguments.push(target.unwrap_or_else(|| {
                let name = self.fresh("v");
                let value = self.expression(parameter.ty, 1);
                let text = format!("{} {name} = $;\n", self.type_text(parameter.ty));
                parts.push(Piece::fixed(&text, vec![value]));
                self.declare(name.clone(), parameter.ty, true);
                Piece::text(name)
            }));
        }
        let holes = ", $".repeat(arguments.len());
        let call = Piece::droppable(&format!("{name}.apply(hdr, meta, std{holes});\n"), arguments);
        parts.push(call);
        Piece::sequence(Role::Fixed, parts)
    }

    /// Declarations and the apply block, with a weight of 1 for nested controls and more for others.
    fn control_body(&mut self, weight: u32) -> Piece {
        self.control_body_after(Piece::text(""), weight)
    }

    /// The same with statements that come first.
    fn control_body_after(&mut self, begin: Piece, weight: u32) -> Piece {
        let mut declarations = self.stateful_objects();
        if self.knobs.calls {
            for _ in 0..self.choices.between(0, 3) {
                let (name, ty) = (self.fresh("v"), self.any_type());
                let value = self.literal(ty);
                let text = format!("{} {name} = $;\n", self.type_text(ty));
                declarations.push(Piece::droppable(&text, vec![value]));
                self.declare(name, ty, true);
            }
        }
        for _ in 0..self.choices.between(1, 1 + weight) {
            let action = self.action(None);
            declarations.push(action);
        }
        for _ in 0..self.amount(1, 2 * weight) {
            let table = self.table();
            declarations.push(table);
        }
        self.budget = self.amount(4, 14 * weight);
        let count = self.amount(3, 8 * weight);
        let body = self.scoped(|generator| {
            let mut statements: Vec<Piece> = Vec::new();
            if generator.place == Place::Ingress && weight > 1 && generator.choices.chance(60) {
                let port = generator.expression(Type::Bits(9), 2);
                let template = "std.egress_spec = ($ & 9w7);\n";
                statements.push(Piece::droppable(template, vec![port]));
            }
            statements.extend((0..count).map(|_| generator.statement(3)));
            if weight > 1 && generator.choices.chance(35) {
                statements.extend(generator.request());
            }
            // Tables that nothing applied yet.
            while let Some(table) = generator.objects.tables.pop() {
                let text = format!("{}.apply();\n", table.name);
                statements.push(Piece::droppable(&text, Vec::new()));
            }
            statements.push(generator.log_line());
            Piece::sequence(Role::Fixed, statements)
        });
        let declarations = Piece::sequence(Role::Fixed, declarations);
        Piece::fixed("$apply {\n$$}\n", vec![declarations, begin, body])
    }

    /// A line with some of the values in scope, so that what no packet shows is compared too.
    fn log_line(&mut self) -> Piece {
        let mut shown = Vec::new();
        for _ in 0..SHOWN_VALUES {
            shown.extend(self.data(2048).map(|(piece, _)| piece));
        }
        if shown.is_empty() {
            return Piece::text("");
        }
        let braces = vec!["{}"; shown.len()].join(" ");
        let holes = vec!["$"; shown.len()].join(", ");
        Piece::droppable(&format!("log_msg(\"values {braces}\", {{{holes}}});\n"), shown)
    }

    /// Ingress or egress, with the controls nested in it before.
    pub(super) fn pipeline(&mut self, place: Place) -> Piece {
        self.place = place;
        self.objects = Objects::default();
        let outer = self.variables.len();
        self.declare_standard_metadata();
        let mut before = Vec::new();
        let mut instances = Vec::new();
        let mut controls = Vec::new();
        if self.knobs.calls {
            for _ in 0..self.choices.between(1, 3) {
                let (piece, name, parameters) = self.nested_control();
                before.push(piece);
                self.objects.controls.push((name, parameters));
            }
            let types = std::mem::take(&mut self.objects.controls);
            let (declared, known) = self.instances(&types);
            instances.push(declared);
            controls = known;
        } else if self.choices.chance(45) {
            let (piece, name, types) = self.nested_control();
            before.push(piece);
            for _ in 0..self.choices.between(1, 2) {
                let instance = self.fresh("n");
                instances.push(Piece::droppable(&format!("{name}() {instance};\n"), Vec::new()));
                controls.push((instance, types.clone()));
            }
        }
        self.objects.controls = controls;
        let body = self.control_body(2);
        self.variables.truncate(outer);
        let name = if place == Place::Ingress { "MyIngress" } else { "MyEgress" };
        let before = Piece::sequence(Role::Fixed, before);
        let instances = Piece::sequence(Role::Fixed, instances);
        let template = format!("$control {name}({PARAMETERS}) {{\n$$}}\n");
        Piece::fixed(&template, vec![before, instances, body])
    }

    /// The control that verifies or updates checksums.
    pub(super) fn checksum(&mut self, name: &str, function: &str) -> Piece {
        self.place = Place::Checksum;
        let mut calls = Vec::new();
        for _ in 0..self.choices.weighted(&[50, 35, 15]) {
            let target = |variable: &super::Variable| {
                variable.is_writable
                    && variable.indexed.is_none()
                    && matches!(variable.ty, Type::Bits(8..=64))
            };
            let Some(variable) = self.variable(target) else { continue };
            let condition = self.expression(Type::Bool, 2);
            let Some(inputs) = self.inputs() else { continue };
            let algorithm = *self.choices.pick(ALGORITHMS);
            let payload = if self.choices.chance(25) { "_with_payload" } else { "" };
            let text = format!(
                "{function}{payload}($, $, {}, HashAlgorithm.{algorithm});\n",
                variable.path
            );
            calls.push(Piece::droppable(&text, vec![condition, inputs]));
        }
        let calls = Piece::sequence(Role::Fixed, calls);
        let head = format!("control {name}(inout headers_t hdr, inout metadata_t meta)");
        Piece::fixed(&format!("{head} {{\napply {{\n$}}\n}}\n"), vec![calls])
    }

    /// The deparser.
    pub(super) fn deparser(&mut self) -> Piece {
        self.place = Place::Checksum;
        self.variables.retain(|variable| variable.path.starts_with("hdr."));
        for variable in &mut self.variables {
            variable.is_writable = false;
        }
        let mut paths: Vec<String> = Vec::new();
        for place in &self.headers {
            let path = place.union_path.as_ref().unwrap_or(&place.path);
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        paths.extend(self.stacks.iter().map(|stack| stack.path.clone()));
        paths.dedup();
        if self.choices.chance(15) {
            paths = vec!["hdr".to_string()];
        } else if self.choices.chance(25) {
            let again = self.choices.pick(&paths).clone();
            paths.push(again);
        }
        let mut emits = Vec::new();
        for path in paths {
            let emit = format!("packet.emit({path});\n");
            if self.choices.chance(8) {
                let condition = self.expression(Type::Bool, 1);
                let template = format!("if ($) {{ {emit} }}\n");
                emits.push(Piece::droppable(&template, vec![condition]));
            } else {
                emits.push(Piece::droppable(&emit, Vec::new()));
            }
        }
        let emits = Piece::sequence(Role::Fixed, emits);
        let template =
            "control MyDeparser(packet_out packet, in headers_t hdr) {\napply {\n$}\n}\n";
        Piece::fixed(template, vec![emits])
    }
}
