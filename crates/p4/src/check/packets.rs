// SPDX-License-Identifier: Apache-2.0
//! The types that `extract`, `lookahead` and `emit` of the core library take (P4_16 v1.2.5 §13.8,
//! §16.1). Other externs have no such rules here.

use super::Checker;
use crate::ast::{Call, Expression};
use crate::codes::typing as codes;
use crate::typed::{Type, TypeKind};
use source::Diagnostic;

impl<'a> Checker<'a> {
    /// Checks a call of a method of `packet_in` or `packet_out` with its type argument.
    pub(super) fn check_packet_method(
        &mut self,
        object: &str,
        method: &str,
        expression: &'a Expression,
        call: &'a Call,
        type_argument: &Type,
    ) {
        let ty = type_argument;
        // §13.8: packets are read by parsers; objects made in parsers may be passed what was read.
        if object == "packet_in"
            && matches!(
                self.context,
                super::SyntacticContext::ControlApply
                    | super::SyntacticContext::ControlLocals
                    | super::SyntacticContext::Table
            )
        {
            self.report_call_not_allowed(
                expression,
                &format!("`packet_in.{method}`"),
                "packets are read in parser states",
            );
            return;
        }
        if matches!(&**ty, TypeKind::Unknown | TypeKind::Variable(_) | TypeKind::DontCare) {
            return;
        }
        let span = call.arguments.first().map_or(expression.span, |argument| argument.value.span);
        let shown = self.show(ty);
        match (object, method) {
            ("packet_in", "extract") => {
                if !matches!(&**ty, TypeKind::Header(..)) {
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_PACKET_TYPE,
                            span,
                            format!("only a header can be extracted, not a `{shown}`"),
                        )
                        .help(match &**ty {
                            TypeKind::Stack(..) => "extract its elements, such as `stack.next`",
                            TypeKind::Struct(..) => "extract its headers one by one",
                            TypeKind::HeaderUnion(..) => "extract one of its headers",
                            _ => "`packet.lookahead` and `packet.advance` read other types",
                        }),
                    );
                    return;
                }
                let varbits: Vec<_> = self
                    .fields_of(ty)
                    .iter()
                    .filter(|field| matches!(&*field.ty, TypeKind::Varbit(_)))
                    .cloned()
                    .collect();
                match (call.arguments.len(), varbits.as_slice()) {
                    (_, [first, second, ..]) => {
                        let (first, second) = (first.span, second.span);
                        self.report(
                            Diagnostic::error(
                                codes::SEVERAL_VARBITS,
                                span,
                                format!("header `{shown}` has more than one `varbit` field"),
                            )
                            .label(first, "the first one")
                            .label(second, "the second one"),
                        );
                    }
                    (1, [field]) => {
                        let field_span = field.span;
                        self.report(
                            Diagnostic::error(
                                codes::INVALID_PACKET_TYPE,
                                span,
                                format!("the size of `{}` in `{shown}` is not given", field.name),
                            )
                            .label(field_span, "this field has a variable size")
                            .help("give its size in bits: `extract(header, size)`"),
                        );
                    }
                    (2, []) => {
                        self.error(
                            codes::INVALID_PACKET_TYPE,
                            span,
                            format!("header `{shown}` has no `varbit` field to give a size for"),
                        );
                    }
                    _ => {}
                }
            }
            ("packet_in", "lookahead") => {
                let fixed = self.size_bits(ty).is_some_and(|(least, greatest)| least == greatest)
                    && !matches!(&**ty, TypeKind::HeaderUnion(..));
                if !fixed {
                    self.error(
                        codes::INVALID_PACKET_TYPE,
                        call.type_arguments.first().map_or(expression.span, |ty| ty.span),
                        format!("`lookahead` needs a type of fixed width, not `{shown}`"),
                    );
                }
            }
            ("packet_out", "emit") if !self.can_be_emitted(ty) => {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_PACKET_TYPE,
                        span,
                        format!("a value of type `{shown}` cannot be emitted"),
                    )
                    .note("only headers, and stacks, unions and structs of headers, can"),
                );
            }
            _ => {}
        }
    }

    fn can_be_emitted(&self, ty: &Type) -> bool {
        match &**ty {
            TypeKind::Header(..) | TypeKind::HeaderUnion(..) => true,
            TypeKind::Stack(element, _) => self.can_be_emitted(element),
            TypeKind::Struct(..) => {
                self.fields_of(ty).iter().all(|field| self.can_be_emitted(&field.ty))
            }
            TypeKind::Tuple(elements) => {
                elements.iter().all(|element| self.can_be_emitted(element))
            }
            TypeKind::AnonymousStruct(fields) => {
                fields.iter().all(|(_, ty)| self.can_be_emitted(ty))
            }
            TypeKind::Unknown | TypeKind::Variable(_) => true,
            _ => false,
        }
    }
}
