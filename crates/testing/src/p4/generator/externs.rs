// SPDX-License-Identifier: Apache-2.0
//! Calls of v1model's externs: registers, counters, meters, hashes, random numbers, digests, the log,
//! and what a packet asks of the switch. Each is made where v1model allows it.

use super::types::literal;
use super::{Generator, Place, Type};
use crate::p4::piece::Piece;

/// The hash algorithms of v1model.
pub(super) const ALGORITHMS: &[&str] =
    &["crc32", "crc32_custom", "crc16", "crc16_custom", "random", "identity", "csum16", "xor16"];

impl Generator<'_> {
    /// A call of some extern; `None` when what it needs is not in scope.
    pub(super) fn extern_statement(&mut self) -> Option<Piece> {
        let (ingress, egress) = (self.place == Place::Ingress, self.place == Place::Egress);
        let when = |test: bool, weight: usize| if test { weight } else { 0 };
        let weights = [
            30,
            10,
            8,
            14,
            when(self.knobs.random, 5),
            when(ingress, 9),
            4,
            when(ingress || egress, 9),
            when(ingress || egress, 7),
            4,
            3,
            10,
            8,
            1,
        ];
        match self.choices.weighted(&weights) {
            0 => self.register_access(),
            1 => {
                let (name, size) = self.one_of(|objects| &objects.counters)?;
                let index = self.cell_index(size);
                Some(Piece::droppable(&format!("{name}.count($);\n"), vec![index]))
            }
            2 => {
                let (name, size) = self.one_of(|objects| &objects.meters)?;
                let index = self.cell_index(size);
                let width = *self.choices.pick(&[2, 8, 32]);
                let (local, target) = self.target_or_local(Type::Bits(width));
                let template = format!("$  {name}.execute_meter($, $);\n");
                Some(Piece::droppable(&template, vec![local, index, target]))
            }
            3 => self.hash(),
            4 => {
                let width = self.any_width();
                let (local, target) = self.target_or_local(Type::Bits(width));
                let low = self.expression(Type::Bits(width), 1);
                let high = self.expression(Type::Bits(width), 1);
                Some(Piece::droppable("$  random($, $, $);\n", vec![local, target, low, high]))
            }
            5 => self.digest(),
            6 => {
                let (first, _) = self.data(320)?;
                let (second, _) = self.data(320)?;
                let text = "log_msg(\"first {} second {}\", {$, $});\n";
                Some(Piece::droppable(text, vec![first, second]))
            }
            7 => Some(self.clone_request()),
            8 => Some(self.another_pass()),
            9 => {
                let length = self.expression(Type::Bits(32), 2);
                let template = "if ($) { truncate(($ & 32w63) + 32w1); }\n";
                let condition = self.expression(Type::Bool, 2);
                Some(Piece::droppable(template, vec![condition, length]))
            }
            10 => {
                let condition = self.expression(Type::Bool, 2);
                Some(Piece::droppable("if ($) { mark_to_drop(std); }\n", vec![condition]))
            }
            11 => Some(self.output_choice()),
            12 => self.struct_register_access(),
            _ => {
                let word = *self.choices.pick(&["assert", "assume"]);
                let condition = self.expression(Type::Bool, 2);
                let guard = "std.packet_length < 32w12";
                Some(Piece::droppable(&format!("if ({guard}) {{ {word}($); }}\n"), vec![condition]))
            }
        }
    }

    /// Something that is asked of the switch.
    pub(super) fn request(&mut self) -> Option<Piece> {
        match self.choices.below(5) {
            0 => self.digest(),
            1 | 2 => Some(self.clone_request()),
            3 => Some(self.another_pass()),
            _ => Some(self.output_choice()),
        }
    }

    fn struct_register_access(&mut self) -> Option<Piece> {
        if self.objects.struct_registers.is_empty() {
            return None;
        }
        let (name, ty, size) = self.choices.pick(&self.objects.struct_registers).clone();
        let index = self.cell_index(size);
        let fitting: Vec<String> = self
            .structs
            .iter()
            .filter(|(_, other)| *other == ty)
            .map(|(path, _)| path.clone())
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let path = self.choices.pick(&fitting).clone();
        match self.choices.below(3) {
            0 => Some(Piece::droppable(&format!("{name}.read({path}, $);\n"), vec![index])),
            1 => Some(Piece::droppable(&format!("{name}.write($, {path});\n"), vec![index])),
            _ => {
                let mut parts = vec![index];
                parts.extend(self.struct_values(ty));
                let holes = vec!["$"; parts.len() - 1].join(", ");
                Some(Piece::droppable(&format!("{name}.write($, {{{holes}}});\n"), parts))
            }
        }
    }

    fn one_of(
        &mut self,
        list: impl Fn(&super::Objects) -> &Vec<(String, u64)>,
    ) -> Option<(String, u64)> {
        let list = list(&self.objects).clone();
        if list.is_empty() { None } else { Some(self.choices.pick(&list).clone()) }
    }

    /// The index of a cell: constant, or at run time, mostly inside an array.
    fn cell_index(&mut self, size: u64) -> Piece {
        let ty = Type::Bits(32);
        match self.choices.weighted(&[30, 55, 15]) {
            0 => {
                let index = self.choices.below(size as usize + 2);
                Piece::text(format!("32w{index}"))
            }
            1 => {
                let index = self.expression(ty, 2);
                let mask = size.next_power_of_two() - 1;
                self.expression_piece(ty, &format!("($ & 32w{mask})"), vec![index])
            }
            _ => self.expression(ty, 2),
        }
    }

    fn register_access(&mut self) -> Option<Piece> {
        if self.objects.registers.is_empty() {
            return None;
        }
        let (name, ty, size) = self.choices.pick(&self.objects.registers).clone();
        let index = self.cell_index(size);
        match self.choices.weighted(&[30, 30, 40, 20]) {
            3 => Some(self.branching_access(&name, ty, index)),
            0 => {
                let (local, target) = self.target_or_local(ty);
                let template = format!("${name}.read($, $);\n");
                Some(Piece::droppable(&template, vec![local, target, index]))
            }
            1 => {
                let value = self.expression(ty, 2);
                Some(Piece::droppable(&format!("{name}.write($, $);\n"), vec![index, value]))
            }
            _ => {
                // Read, compute, write of one cell: what fusing register accesses is for.
                let (value, old) = (self.fresh("i"), self.fresh("v"));
                let width = self.width_bits(ty);
                let text = self.type_text(ty);
                let update = self.scoped(|generator| {
                    generator.declare(old.clone(), ty, true);
                    generator.expression(ty, 2)
                });
                let guarded = self.choices.chance(40);
                let write = if guarded {
                    let condition = self.scoped(|generator| {
                        generator.declare(old.clone(), ty, true);
                        generator.expression(Type::Bool, 2)
                    });
                    let template = match ty {
                        Type::Bool => format!("if ($) {{ {name}.write({value}, $); }}\n"),
                        _ => format!("if ($) {{ {name}.write({value}, {old} + $); }}\n"),
                    };
                    Piece::droppable(&template, vec![condition, update])
                } else if width > 1 && self.choices.chance(50) {
                    let operator = *self.choices.pick(&["+", "|+|", "^", "|-|"]);
                    let template = format!("{name}.write({value}, {old} {operator} $);\n");
                    Piece::droppable(&template, vec![update])
                } else {
                    Piece::droppable(&format!("{name}.write({value}, $);\n"), vec![update])
                };
                let head = format!("bit<32> {value} = $;\n{text} {old};\n");
                let template = format!("{head}{name}.read({old}, {value});\n$");
                let piece = Piece::droppable(&template, vec![index, write]);
                self.declare(old, ty, true);
                Some(piece)
            }
        }
    }

    /// Another register with a value for it, and its size.
    fn other_register(&mut self, name: &str) -> (Option<(String, String)>, u64) {
        let others: Vec<(String, Type, u64)> =
            self.objects.registers.iter().filter(|each| each.0 != name).cloned().collect();
        if others.is_empty() {
            return (None, 0);
        }
        let (other, ty, size) = self.choices.pick(&others).clone();
        (Some((other, self.literal_text(ty))), size)
    }

    /// Reads and writes of one cell in both arms of an `if`, or in one of them.
    fn branching_access(&mut self, name: &str, ty: Type, index: Piece) -> Piece {
        let (at, old) = (self.fresh("i"), self.fresh("v"));
        let condition = self.expression(Type::Bool, 2);
        let text = self.type_text(ty);
        let (one, other) = self.scoped(|generator| {
            generator.declare(old.clone(), ty, true);
            (generator.expression(ty, 2), generator.expression(ty, 2))
        });
        let access = format!("{name}.read({old}, {at});\n{name}.write({at}, $);\n");
        let head = format!("bit<32> {at} = $;\n{text} {old};\n");
        self.declare(old, ty, true);
        match self.choices.below(3) {
            0 => {
                // An access of another register in one arm gets a guard when the arms become one.
                let (extra, size) = self.other_register(name);
                let cell = self.choices.below(size as usize + 1);
                let more = match &extra {
                    Some((other, value)) => format!("{other}.write(32w{cell}, {value});\n"),
                    None => String::new(),
                };
                let template = format!("{head}if ($) {{\n{access}{more}}} else {{\n{access}}}\n");
                return Piece::droppable(&template, vec![index, condition, one, other]);
            }
            1 => {
                // Neither arm may be taken, so the one access that this can become has a guard.
                let second = self.expression(Type::Bool, 2);
                let template = format!("{head}if ($) {{\n{access}}} else if ($) {{\n{access}}}\n");
                return Piece::droppable(&template, vec![index, condition, one, second, other]);
            }
            _ => {}
        }
        Piece::droppable(&format!("{head}if ($) {{\n{access}}}\n"), vec![index, condition, one])
    }

    /// `{a, b, c}` of things in scope.
    pub(super) fn inputs(&mut self) -> Option<Piece> {
        let mut items = Vec::new();
        for _ in 0..self.choices.between(1, 4) {
            let varbit =
                self.headers.iter().find(|place| self.header_types[place.ty].varbit_bits.is_some());
            let varbit = varbit.map(|place| format!("{}.options", place.path));
            let item = if let Some(path) = varbit
                && self.choices.chance(20)
            {
                Piece::text(path)
            } else if self.choices.chance(15) {
                let width = self.any_width();
                self.expression(Type::Bits(width), 2)
            } else {
                self.data(320)?.0
            };
            items.push(item);
        }
        let holes = vec!["$"; items.len()].join(", ");
        Some(Piece::fixed(&format!("{{{holes}}}"), items))
    }

    fn hash(&mut self) -> Option<Piece> {
        let algorithm = *self.choices.pick(ALGORITHMS);
        let result = Type::Bits(self.any_width().min(128));
        let (local, target) = self.target_or_local(result);
        let inputs = self.inputs()?;
        let width = *self.choices.pick(&[8, 16, 32, 64]);
        let base = if self.choices.chance(60) {
            Piece::text(format!("{width}w0"))
        } else {
            self.expression(Type::Bits(width), 1)
        };
        let width = *self.choices.pick(&[8, 16, 32, 64]);
        let max = if self.choices.chance(60) {
            Piece::text(literal(&self.value(width)))
        } else {
            self.expression(Type::Bits(width), 1)
        };
        let template = format!("$  hash($, HashAlgorithm.{algorithm}, $, $, $);\n");
        Some(Piece::droppable(&template, vec![local, target, base, inputs, max]))
    }

    fn digest(&mut self) -> Option<Piece> {
        if self.struct_types.is_empty() {
            return None;
        }
        let ty = self.choices.pick(&self.struct_types).clone();
        let mut values = Vec::new();
        for (_, field) in &ty.fields {
            values.push(self.expression(*field, 2));
        }
        let holes = vec!["$"; values.len()].join(", ");
        let template = format!("digest<{}>(1, {{{holes}}});\n", ty.name);
        Some(Piece::droppable(&template, values))
    }

    fn clone_request(&mut self) -> Piece {
        let kind = if self.place == Place::Ingress { "I2E" } else { "E2E" };
        let session = self.choices.between(1, 4);
        let condition = self.likely();
        let call = match self.choices.below(3) {
            0 => format!("clone(CloneType.{kind}, 32w{session})"),
            list => {
                format!("clone_preserving_field_list(CloneType.{kind}, 32w{session}, 8w{list})")
            }
        };
        let guard = "std.instance_type == 32w0 && ";
        Piece::droppable(&format!("if ({guard}$) {{ {call}; }}\n"), vec![condition])
    }

    /// A condition that often holds.
    fn likely(&mut self) -> Piece {
        if self.choices.chance(40) {
            return self.literal(Type::Bool);
        }
        self.expression(Type::Bool, 2)
    }

    /// Another pass, for packets that came from a port.
    fn another_pass(&mut self) -> Piece {
        let verb = if self.place == Place::Ingress { "resubmit" } else { "recirculate" };
        let list = self.choices.between(1, 2);
        let condition = self.likely();
        let call = format!("{verb}_preserving_field_list(8w{list})");
        let guard = "std.instance_type == 32w0 && ";
        Piece::droppable(&format!("if ({guard}$) {{ {call}; }}\n"), vec![condition])
    }

    /// Where the packet goes.
    fn output_choice(&mut self) -> Piece {
        match self.choices.weighted(&[46, 25, 25, 2, 2]) {
            0 => {
                let port = self.choices.between(0, 7);
                Piece::droppable(&format!("std.egress_spec = 9w{port};\n"), Vec::new())
            }
            1 => {
                let port = self.expression(Type::Bits(9), 1);
                Piece::droppable("std.egress_spec = ($ & 9w7);\n", vec![port])
            }
            2 if self.place == Place::Ingress => {
                let group = self.choices.between(0, 3);
                let condition = self.likely();
                let template = format!("if ($) {{ std.mcast_grp = 16w{group}; }}\n");
                Piece::droppable(&template, vec![condition])
            }
            3 if self.place == Place::Ingress => {
                let port = self.expression(Type::Bits(3), 1);
                Piece::droppable("if ($ == 3w1) { std.priority = 3w1; }\n", vec![port])
            }
            4 => {
                let port = self.expression(Type::Bits(9), 2);
                Piece::droppable("std.egress_spec = $;\n", vec![port])
            }
            _ => self.assignment(2),
        }
    }
}
