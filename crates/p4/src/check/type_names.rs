// SPDX-License-Identifier: Apache-2.0
//! Types and numbers of parts in messages, types as a P4 programmer writes them.

use super::Checker;
use crate::typed::{Type, TypeKind};

impl Checker<'_> {
    /// Returns the type as it would be written.
    pub(super) fn show(&self, ty: &Type) -> String {
        let mut text = String::new();
        self.write_type(ty, &mut text, 0);
        text
    }

    fn write_type(&self, ty: &Type, text: &mut String, depth: usize) {
        if depth > 8 {
            text.push_str("...");
            return;
        }
        match &**ty {
            TypeKind::Void => text.push_str("void"),
            TypeKind::Bool => text.push_str("bool"),
            TypeKind::Error => text.push_str("error"),
            TypeKind::MatchKind => text.push_str("match_kind"),
            TypeKind::String => text.push_str("string"),
            TypeKind::Integer => text.push_str("int"),
            TypeKind::Bit(width) => text.push_str(&format!("bit<{width}>")),
            TypeKind::Int(width) => text.push_str(&format!("int<{width}>")),
            TypeKind::Varbit(width) => text.push_str(&format!("varbit<{width}>")),
            TypeKind::Struct(node, arguments)
            | TypeKind::Header(node, arguments)
            | TypeKind::HeaderUnion(node, arguments)
            | TypeKind::Extern(node, arguments)
            | TypeKind::Parser(node, arguments)
            | TypeKind::Control(node, arguments)
            | TypeKind::Package(node, arguments) => {
                text.push_str(self.name_of(*node));
                if !arguments.is_empty() {
                    self.write_list("<", arguments, ">", text, depth);
                }
            }
            TypeKind::Stack(element, size) => {
                self.write_type(element, text, depth + 1);
                text.push_str(&format!("[{size}]"));
            }
            TypeKind::Tuple(elements) => self.write_list("tuple<", elements, ">", text, depth),
            TypeKind::List(element) => {
                text.push_str("list<");
                self.write_type(element, text, depth + 1);
                text.push('>');
            }
            TypeKind::AnonymousStruct(fields) => {
                text.push_str("{ ");
                for (index, (name, ty)) in fields.iter().enumerate() {
                    if index > 0 {
                        text.push_str(", ");
                    }
                    self.write_type(ty, text, depth + 1);
                    text.push(' ');
                    text.push_str(name);
                }
                text.push_str(" }");
            }
            TypeKind::Enum(node)
            | TypeKind::SerializableEnum(node)
            | TypeKind::NewType(node)
            | TypeKind::Variable(node) => text.push_str(self.name_of(*node)),
            TypeKind::Table(node) => text.push_str(&format!("table {}", self.name_of(*node))),
            TypeKind::ApplyResult(node) => {
                text.push_str(&format!("result of {}.apply()", self.name_of(*node)));
            }
            TypeKind::ActionRun(node) => {
                text.push_str(&format!("action_run of table {}", self.name_of(*node)));
            }
            TypeKind::Action(node) => text.push_str(&format!("action {}", self.name_of(*node))),
            TypeKind::Function => text.push_str("function"),
            TypeKind::Set(element) => {
                text.push_str("set<");
                self.write_type(element, text, depth + 1);
                text.push('>');
            }
            TypeKind::Inferred(variable) => match self.solutions.get(*variable as usize) {
                Some(Some(solution)) => self.write_type(&solution.clone(), text, depth + 1),
                _ => text.push('_'),
            },
            TypeKind::DontCare => text.push('_'),
            TypeKind::Unknown => text.push('?'),
        }
    }

    fn write_list(&self, open: &str, types: &[Type], close: &str, text: &mut String, depth: usize) {
        text.push_str(open);
        for (index, ty) in types.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            self.write_type(ty, text, depth + 1);
        }
        text.push_str(close);
    }
}

/// Formats a number with its noun: `1 argument`, `2 arguments`.
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
