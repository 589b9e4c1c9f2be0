// SPDX-License-Identifier: Apache-2.0
//! Types and parameters as pieces.

use super::emitter::Emitter;
use crate::ast::{
    BlockType, Direction, Expression, ExpressionKind, Parameter, TypeParameter, TypeRef,
    TypeRefKind,
};
use crate::format::pieces::Role;
use crate::token::TokenKind as T;

impl Emitter {
    pub(super) fn type_ref(&mut self, ty: &TypeRef) {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.type_kind(&ty.kind));
    }

    fn type_kind(&mut self, kind: &TypeRefKind) {
        match kind {
            TypeRefKind::Bool => self.token(T::Bool),
            TypeRefKind::Error => self.token(T::Error),
            TypeRefKind::MatchKind => self.token(T::MatchKind),
            TypeRefKind::String => self.token(T::StringType),
            TypeRefKind::Void => self.token(T::Void),
            TypeRefKind::Integer => self.token(T::Int),
            TypeRefKind::Bit(width) => {
                self.token(T::Bit);
                if let Some(width) = width {
                    self.width(width);
                }
            }
            TypeRefKind::SignedBit(width) => {
                self.token(T::Int);
                self.width(width);
            }
            TypeRefKind::Varbit(width) => {
                self.token(T::Varbit);
                self.width(width);
            }
            TypeRefKind::Named(path) => self.path(path),
            TypeRefKind::Specialized(path, arguments) => {
                self.path(path);
                self.angle_list(arguments, Self::type_ref);
            }
            TypeRefKind::Stack(element, size) => {
                self.type_ref(element);
                self.token(T::OpenBracket);
                self.expression(size);
                self.token(T::CloseBracket);
            }
            TypeRefKind::Tuple(elements) => {
                self.token(T::Tuple);
                self.angle_list(elements, Self::type_ref);
            }
            TypeRefKind::List(element) => {
                self.token(T::List);
                self.angle_list(std::slice::from_ref(element.as_ref()), Self::type_ref);
            }
            TypeRefKind::DontCare => self.token(T::Underscore),
            TypeRefKind::Invalid => self.text(T::Identifier, "invalid_type".to_owned()),
        }
    }

    /// `<W>`: a plain number stands alone, anything else in parentheses (P4_16 v1.2.5 §7,
    /// `baseType`).
    fn width(&mut self, width: &Expression) {
        self.role(T::OpenAngle, Role::AngleOpen);
        let plain = match &width.kind {
            ExpressionKind::Integer { value, width: None } => {
                value.sign() != num_bigint::Sign::Minus
            }
            _ => false,
        };
        if plain {
            self.expression(width);
        } else {
            self.token(T::OpenParen);
            self.expression(width);
            self.token(T::CloseParen);
        }
        self.role(T::CloseAngle, Role::AngleClose);
    }

    pub(super) fn type_parameters(&mut self, parameters: &[TypeParameter]) {
        self.angles(parameters, |emitter, parameter| emitter.name(&parameter.name));
    }

    pub(super) fn parameters(&mut self, parameters: &[Parameter]) {
        self.token(T::OpenParen);
        self.comma_list(parameters, Self::parameter);
        self.token(T::CloseParen);
    }

    fn parameter(&mut self, parameter: &Parameter) {
        self.annotations(&parameter.annotations);
        match parameter.direction {
            Direction::None => {}
            Direction::In => self.token(T::In),
            Direction::Out => self.token(T::Out),
            Direction::InOut => self.token(T::Inout),
        }
        self.type_ref(&parameter.ty);
        self.name(&parameter.name);
        if let Some(default) = &parameter.default {
            self.token(T::Assign);
            self.expression(default);
        }
    }

    pub(super) fn block_type(&mut self, signature: &BlockType) {
        self.type_parameters(&signature.type_parameters);
        self.parameters(&signature.parameters);
    }
}
