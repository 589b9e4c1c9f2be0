// SPDX-License-Identifier: Apache-2.0
//! Declarations of types: errors, enums, header types, and the structs of headers and metadata with
//! what they put in scope.

use super::{Generator, Type, Variable};
use crate::p4::piece::{Piece, Role};

/// An enum; with a width it is serializable.
#[derive(Clone, Debug)]
pub(super) struct EnumType {
    pub name: String,
    pub members: Vec<String>,
    pub width_bits: Option<u32>,
}

/// A header type.
#[derive(Clone, Debug)]
pub(super) struct HeaderType {
    pub name: String,
    /// Names and types in wire order.
    pub fields: Vec<(String, Type)>,
    /// Width of a varbit field at the end.
    pub varbit_bits: Option<u32>,
}

/// A struct that digests and registers use.
#[derive(Clone, Debug)]
pub(super) struct StructType {
    pub name: String,
    pub fields: Vec<(String, Type)>,
}

/// A header in scope.
#[derive(Clone, Debug)]
pub(super) struct HeaderPlace {
    pub path: String,
    /// Index of its type.
    pub ty: usize,
    /// The union it is in.
    pub union_path: Option<String>,
}

/// A stack in scope.
#[derive(Clone, Debug)]
pub(super) struct StackPlace {
    pub path: String,
    /// In a stack of unions, the member; else empty.
    pub member: String,
    pub ty: usize,
    pub size: u32,
}

impl Generator<'_> {
    /// Errors and enums.
    pub(super) fn enums_and_errors(&mut self) -> Vec<Piece> {
        self.errors = ["NoError", "PacketTooShort", "NoMatch", "StackOutOfBounds"]
            .map(str::to_string)
            .to_vec();
        let mut pieces = Vec::new();
        for _ in 0..self.choices.between(0, 2) {
            let (width, name) = (*self.choices.pick(&self.widths), self.fresh("name"));
            let text = format!("typedef bit<{width}> {name};\n");
            pieces.push(Piece::droppable(&text, Vec::new()));
            self.typedefs.push((width, name));
        }
        for _ in 0..self.choices.between(0, 2) {
            let ty = Type::Bits(*self.choices.pick(&self.widths));
            let (name, value) = (self.fresh("CONSTANT"), self.literal_text(ty));
            let text = format!("const {} {name} = {value};\n", self.type_text(ty));
            pieces.push(Piece::droppable(&text, Vec::new()));
            self.declare(name, ty, false);
        }
        let own: Vec<String> = (0..self.choices.between(1, 3)).map(|_| self.fresh("Bad")).collect();
        pieces.push(Piece::droppable(&format!("error {{ {} }}\n", own.join(", ")), Vec::new()));
        self.errors.extend(own);
        for at in 0..self.choices.between(2, 3) {
            let name = self.fresh("enum");
            let members: Vec<String> =
                (0..self.choices.between(2, 4)).map(|_| self.fresh("m")).collect();
            let width_bits = match at {
                0 => None,
                _ => Some(*self.choices.pick(&[4, 8, 8, 16])),
            };
            let text = match width_bits {
                None => format!("enum {name} {{ {} }}\n", members.join(", ")),
                Some(width) => {
                    let values: Vec<String> = members
                        .iter()
                        .enumerate()
                        .map(|(at, member)| format!("{member} = {}", at * 3 % 16))
                        .collect();
                    format!("enum bit<{width}> {name} {{ {} }}\n", values.join(", "))
                }
            };
            pieces.push(Piece::droppable(&text, Vec::new()));
            self.enums.push(EnumType { name, members, width_bits });
        }
        pieces
    }

    /// A type for a header's field.
    fn field_type(&mut self) -> Type {
        match self.choices.weighted(&[84, 8, 6, 2]) {
            0 => Type::Bits(self.any_width()),
            1 => Type::Int(self.any_width().max(2)),
            2 => match self.choices.below(self.enums.len()) {
                index if self.enums[index].width_bits.is_some() => Type::Enum(index),
                _ => Type::Bits(8),
            },
            _ => Type::Bool,
        }
    }

    /// A header type with some fields; whole bytes, but for a few.
    pub(super) fn header_type(&mut self, varbit: bool) -> Piece {
        let name = self.fresh("header");
        let mut fields = Vec::new();
        let mut total = 0;
        for _ in 0..self.choices.between(1, 6) {
            let ty = self.field_type();
            total += self.width_bits(ty);
            fields.push((self.fresh("x"), ty));
        }
        if total % 8 != 0 && (varbit || self.choices.chance(92)) {
            fields.push((self.fresh("x"), Type::Bits(8 - total % 8)));
        }
        let varbit_bits = varbit.then(|| 8 * self.choices.between(1, 40));
        let mut lines: Vec<Piece> = fields
            .iter()
            .map(|(name, ty)| {
                Piece::droppable(&format!("{} {name};\n", self.declared_type(*ty)), Vec::new())
            })
            .collect();
        if let Some(width) = varbit_bits {
            lines.push(Piece::text(format!("varbit<{width}> options;\n")));
        }
        self.header_types.push(HeaderType { name: name.clone(), fields, varbit_bits });
        let body = Piece::sequence(Role::Fixed, lines);
        Piece::droppable(&format!("header {name} {{\n$}}\n"), vec![body])
    }

    /// A struct of numbers.
    pub(super) fn struct_type(&mut self) -> Piece {
        let name = self.fresh("struct");
        let fields: Vec<(String, Type)> = (0..self.choices.between(1, 4))
            .map(|_| {
                let ty = match self.choices.weighted(&[80, 10, 10]) {
                    0 => Type::Bits(self.any_width().min(128)),
                    1 => Type::Int(self.any_width().clamp(2, 128)),
                    _ => Type::Bool,
                };
                (self.fresh("y"), ty)
            })
            .collect();
        let lines: Vec<String> =
            fields.iter().map(|(name, ty)| format!("{} {name};\n", self.type_text(*ty))).collect();
        let text = format!("struct {name} {{\n{}}}\n", lines.concat());
        self.struct_types.push(StructType { name, fields });
        Piece::droppable(&text, Vec::new())
    }

    /// The struct of headers: its declarations, and everything in it in scope.
    pub(super) fn headers_struct(&mut self) -> Piece {
        let mut lines = Vec::new();
        let mut before = Vec::new();
        let plain: Vec<usize> = (0..self.header_types.len()).collect();
        for ty in plain {
            let name = self.header_types[ty].name.clone();
            for _ in 0..if self.choices.chance(30) { 2 } else { 1 } {
                let instance = self.fresh("h");
                lines.push(Piece::droppable(&format!("{name} {instance};\n"), Vec::new()));
                let path = format!("hdr.{instance}");
                self.headers.push(HeaderPlace { path, ty, union_path: None });
            }
        }
        let without_varbit: Vec<usize> = (0..self.header_types.len())
            .filter(|at| self.header_types[*at].varbit_bits.is_none())
            .collect();
        if !without_varbit.is_empty() && self.choices.chance(60) {
            let ty = *self.choices.pick(&without_varbit);
            let (instance, size) = (self.fresh("s"), self.choices.between(2, 5));
            let name = &self.header_types[ty].name;
            lines.push(Piece::droppable(&format!("{name}[{size}] {instance};\n"), Vec::new()));
            let (path, member) = (format!("hdr.{instance}"), String::new());
            self.stacks.push(StackPlace { path, member, ty, size });
        }
        if self.header_types.len() > 1 && self.choices.chance(45) {
            let name = self.fresh("union");
            let instance = self.fresh("u");
            let mut members = String::new();
            let stack =
                self.choices.chance(35).then(|| (self.fresh("su"), self.choices.between(2, 3)));
            for ty in 0..self.header_types.len().min(3) {
                let member = self.fresh("h");
                members.push_str(&format!("{} {member};\n", self.header_types[ty].name));
                let union_path = Some(format!("hdr.{instance}"));
                if let Some((stack, size)) = &stack
                    && self.header_types[ty].varbit_bits.is_none()
                {
                    let (path, member) = (format!("hdr.{stack}"), format!(".{member}"));
                    self.stacks.push(StackPlace { path, member, ty, size: *size });
                }
                let path = format!("hdr.{instance}.{member}");
                self.headers.push(HeaderPlace { path, ty, union_path });
            }
            let text = format!("header_union {name} {{\n{members}}}\n");
            before.push(Piece::droppable(&text, Vec::new()));
            lines.push(Piece::droppable(&format!("{name} {instance};\n"), Vec::new()));
            if let Some((stack, size)) = stack {
                let text = format!("{name}[{size}] {stack};\n");
                lines.push(Piece::droppable(&text, Vec::new()));
            }
        }
        self.declare_header_fields(true);
        let before = Piece::sequence(Role::Fixed, before);
        let lines = Piece::sequence(Role::Fixed, lines);
        Piece::fixed("$struct headers_t {\n$}\n", vec![before, lines])
    }

    /// Puts the fields of all headers and stacks in scope.
    pub(super) fn declare_header_fields(&mut self, is_writable: bool) {
        for place in self.headers.clone() {
            for (name, ty) in self.header_types[place.ty].fields.clone() {
                self.declare(format!("{}.{name}", place.path), ty, is_writable);
            }
        }
        for stack in self.stacks.clone() {
            for (name, ty) in self.header_types[stack.ty].fields.clone() {
                let path = format!("{}[$]{}.{name}", stack.path, stack.member);
                let indexed = Some(stack.size);
                self.variables.push(Variable { path, ty, is_writable, indexed });
            }
        }
    }

    /// The struct of user metadata, with a struct in it; its fields are in scope.
    pub(super) fn metadata_struct(&mut self) -> Piece {
        let mut inner = Vec::new();
        let mut outer = Vec::new();
        let inner_name = self.fresh("inner");
        for _ in 0..self.choices.between(1, 3) {
            let (name, ty) = (self.fresh("n"), self.any_type());
            inner.push(Piece::droppable(&format!("{} {name};\n", self.type_text(ty)), Vec::new()));
            self.declare(format!("meta.inner.{name}"), ty, true);
        }
        for width in [8, 32, 9] {
            // Some widths that externs like to have.
            let name = self.fresh("n");
            let annotation = self.field_list();
            let text = format!("{annotation}bit<{width}> {name};\n");
            outer.push(Piece::droppable(&text, Vec::new()));
            self.declare(format!("meta.{name}"), Type::Bits(width), true);
        }
        for _ in 0..self.amount(2, 8) {
            let (name, ty) = (self.fresh("n"), self.any_type());
            let text = format!("{}{} {name};\n", self.field_list(), self.type_text(ty));
            outer.push(Piece::droppable(&text, Vec::new()));
            self.declare(format!("meta.{name}"), ty, true);
        }
        outer.push(Piece::droppable(&format!("{inner_name} inner;\n"), Vec::new()));
        for ty in 0..self.struct_types.len() {
            let name = self.fresh("n");
            let text = format!("{}{} {name};\n", self.field_list(), self.struct_types[ty].name);
            outer.push(Piece::droppable(&text, Vec::new()));
            self.declare_struct(format!("meta.{name}"), ty);
        }
        let inner = Piece::sequence(Role::Fixed, inner);
        let outer = Piece::sequence(Role::Fixed, outer);
        let template = format!("struct {inner_name} {{\n$}}\nstruct metadata_t {{\n$}}\n");
        Piece::fixed(&template, vec![inner, outer])
    }

    /// Puts a struct and its fields in scope.
    pub(super) fn declare_struct(&mut self, path: String, ty: usize) {
        for (name, field) in self.struct_types[ty].fields.clone() {
            self.declare(format!("{path}.{name}"), field, true);
        }
        self.structs.push((path, ty));
    }

    /// Puts a header variable and its fields in scope.
    pub(super) fn declare_header(&mut self, path: String, ty: usize) {
        for (name, field) in self.header_types[ty].fields.clone() {
            self.declare(format!("{path}.{name}"), field, true);
        }
        self.headers.push(HeaderPlace { path, ty, union_path: None });
    }

    fn field_list(&mut self) -> &'static str {
        const LISTS: &[&str] =
            &["", "", "@field_list(1) ", "@field_list(2) ", "@field_list(1, 2) "];
        self.choices.pick::<&str>(LISTS)
    }

    /// Puts fields of the standard metadata in scope, as a block may use them.
    pub(super) fn declare_standard_metadata(&mut self) {
        for (name, width, is_writable) in [
            ("ingress_port", 9, false),
            ("egress_port", 9, false),
            ("egress_spec", 9, false),
            ("instance_type", 32, false),
            ("packet_length", 32, false),
            ("enq_qdepth", 19, false),
            ("deq_timedelta", 32, false),
            ("ingress_global_timestamp", 48, false),
            ("egress_global_timestamp", 48, false),
            ("egress_rid", 16, false),
            ("checksum_error", 1, false),
            ("priority", 3, false),
        ] {
            self.declare(format!("std.{name}"), Type::Bits(width), is_writable);
        }
        self.declare("std.parser_error", Type::Error, false);
    }
}
