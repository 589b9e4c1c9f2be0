// SPDX-License-Identifier: Apache-2.0
//! Type inference: substitutions for type parameters, inference variables and their unification
//! (P4_16 v1.2.5 §7.2.12, §7.2.15, §8.22, §8.26). It reports nothing; callers do.

use super::Checker;
use crate::ast::{DeclarationKind, DeclaredName, Direction, NodeId, Parameter};
use crate::typed::{Type, TypeKind};
use std::sync::Arc;

/// Type arguments for type parameters.
#[derive(Clone, Default)]
pub(super) struct Substitution {
    pairs: Vec<(NodeId, Type)>,
}

impl Substitution {
    pub(super) fn new(parameters: &[DeclaredName], arguments: &[Type]) -> Substitution {
        Substitution {
            pairs: parameters
                .iter()
                .zip(arguments)
                .map(|(parameter, argument)| (parameter.id, argument.clone()))
                .collect(),
        }
    }

    pub(super) fn extend(&mut self, other: Substitution) {
        self.pairs.extend(other.pairs);
    }

    pub(super) fn apply(&self, ty: &Type) -> Type {
        if self.pairs.is_empty() {
            return ty.clone();
        }
        map_type(ty, &mut |part| match part {
            TypeKind::Variable(node) => {
                self.pairs.iter().find(|(parameter, _)| parameter == node).map(|(_, ty)| ty.clone())
            }
            _ => None,
        })
    }
}

/// Rebuilds a type with some of its leaves replaced.
pub(super) fn map_type(ty: &Type, replace: &mut impl FnMut(&TypeKind) -> Option<Type>) -> Type {
    if let Some(replacement) = replace(ty) {
        return replacement;
    }
    let mut map_all = |parts: &[Type]| -> Option<Vec<Type>> {
        let mapped: Vec<Type> = parts.iter().map(|part| map_type(part, replace)).collect();
        let changed = mapped.iter().zip(parts).any(|(new, old)| !Arc::ptr_eq(new, old));
        changed.then_some(mapped)
    };
    let mapped = match &**ty {
        TypeKind::Struct(node, parts) => map_all(parts).map(|parts| TypeKind::Struct(*node, parts)),
        TypeKind::Header(node, parts) => map_all(parts).map(|parts| TypeKind::Header(*node, parts)),
        TypeKind::HeaderUnion(node, parts) => {
            map_all(parts).map(|parts| TypeKind::HeaderUnion(*node, parts))
        }
        TypeKind::Extern(node, parts) => map_all(parts).map(|parts| TypeKind::Extern(*node, parts)),
        TypeKind::Parser(node, parts) => map_all(parts).map(|parts| TypeKind::Parser(*node, parts)),
        TypeKind::Control(node, parts) => {
            map_all(parts).map(|parts| TypeKind::Control(*node, parts))
        }
        TypeKind::Package(node, parts) => {
            map_all(parts).map(|parts| TypeKind::Package(*node, parts))
        }
        TypeKind::Tuple(parts) => map_all(parts).map(TypeKind::Tuple),
        TypeKind::Stack(part, size) => map_all(std::slice::from_ref(part))
            .map(|mut parts| TypeKind::Stack(parts.remove(0), *size)),
        TypeKind::List(part) => {
            map_all(std::slice::from_ref(part)).map(|mut parts| TypeKind::List(parts.remove(0)))
        }
        TypeKind::Set(part) => {
            map_all(std::slice::from_ref(part)).map(|mut parts| TypeKind::Set(parts.remove(0)))
        }
        TypeKind::AnonymousStruct(fields) => {
            let parts: Vec<Type> = fields.iter().map(|(_, ty)| ty.clone()).collect();
            map_all(&parts).map(|parts| {
                TypeKind::AnonymousStruct(
                    fields.iter().map(|(name, _)| name.clone()).zip(parts).collect(),
                )
            })
        }
        _ => None,
    };
    mapped.map_or_else(|| ty.clone(), Arc::new)
}

impl<'a> Checker<'a> {
    /// Returns the substitution of a declaration's type parameters by arguments.
    pub(super) fn substitution(&self, node: NodeId, arguments: &[Type]) -> Substitution {
        Substitution::new(self.type_parameters.get(&node).copied().unwrap_or(&[]), arguments)
    }

    pub(super) fn fresh_variable(&mut self) -> Type {
        self.solutions.push(None);
        Arc::new(TypeKind::Inferred(self.solutions.len() as u32 - 1))
    }

    /// Returns the type with all solved variables put in.
    pub(super) fn solved(&self, ty: &Type) -> Type {
        if self.solutions.is_empty() {
            return ty.clone();
        }
        map_type(ty, &mut |part| match part {
            TypeKind::Inferred(variable) => {
                let solution = self.solutions.get(*variable as usize)?.as_ref()?;
                Some(self.solved(solution))
            }
            _ => None,
        })
    }

    /// Replaces inference variables in all tables by their solutions; an unsolved one becomes `_`.
    pub(super) fn settle_tables(&mut self) {
        if self.solutions.is_empty() {
            return;
        }
        let mut typed = std::mem::take(&mut self.typed);
        let settle = |ty: &mut Type| {
            if has_inferred(ty) {
                let solved = self.solved(ty);
                *ty = map_type(&solved, &mut |part| match part {
                    TypeKind::Inferred(_) => Some(self.known.dont_care.clone()),
                    _ => None,
                });
            }
        };
        typed.expression_types.values_mut().for_each(settle);
        typed.implicit_casts.values_mut().for_each(settle);
        typed.type_refs.values_mut().for_each(settle);
        typed.declared_types.values_mut().for_each(settle);
        for call in typed.calls.values_mut() {
            call.type_arguments.iter_mut().for_each(settle);
            settle(&mut call.result);
        }
        self.typed = typed;
    }

    /// Whether a solved type still has inference variables.
    pub(super) fn has_variables(&self, ty: &Type) -> bool {
        let mut found = false;
        map_type(&self.solved(ty), &mut |part| {
            found |= matches!(part, TypeKind::Inferred(_));
            None
        });
        found
    }

    fn mentions(&self, ty: &Type, variable: u32) -> bool {
        let mut found = false;
        map_type(ty, &mut |part| {
            found |= matches!(part, TypeKind::Inferred(other) if *other == variable);
            None
        });
        found
    }

    /// Makes `wanted` (which may have variables) fit `found`; false when no solution fits. `int`
    /// yields to any fixed-width type, as it casts implicitly.
    pub(super) fn unify(&mut self, wanted: &Type, found: &Type) -> bool {
        self.deeper(|checker| checker.unify_inner(wanted, found))
    }

    fn unify_inner(&mut self, wanted: &Type, found: &Type) -> bool {
        let wanted = self.shallow(wanted);
        let found = self.shallow(found);
        if Arc::ptr_eq(&wanted, &found) {
            return true;
        }
        match (&*wanted, &*found) {
            (TypeKind::Unknown, _) | (_, TypeKind::Unknown) => true,
            (TypeKind::Inferred(left), TypeKind::Inferred(right)) if left == right => true,
            (TypeKind::Inferred(variable), _) => self.solve(*variable, &found),
            (_, TypeKind::Inferred(variable)) => self.solve(*variable, &wanted),
            (TypeKind::DontCare, _) | (_, TypeKind::DontCare) => true,
            (
                TypeKind::Parser(left, left_arguments) | TypeKind::Control(left, left_arguments),
                TypeKind::Parser(right, right_arguments)
                | TypeKind::Control(right, right_arguments),
            ) => {
                if std::mem::discriminant(&*wanted) != std::mem::discriminant(&*found) {
                    return false;
                }
                if left == right {
                    return self.unify_all(left_arguments, right_arguments);
                }
                self.unify_blocks((*left, left_arguments), (*right, right_arguments)).is_ok()
            }
            (TypeKind::Struct(left, a), TypeKind::Struct(right, b))
            | (TypeKind::Header(left, a), TypeKind::Header(right, b))
            | (TypeKind::HeaderUnion(left, a), TypeKind::HeaderUnion(right, b))
            | (TypeKind::Extern(left, a), TypeKind::Extern(right, b))
            | (TypeKind::Package(left, a), TypeKind::Package(right, b)) => {
                left == right && self.unify_all(a, b)
            }
            (TypeKind::Stack(left, a), TypeKind::Stack(right, b)) => {
                a == b && self.unify_inner(left, right)
            }
            (TypeKind::Tuple(left), TypeKind::Tuple(right)) => self.unify_all(left, right),
            (TypeKind::List(left), TypeKind::List(right))
            | (TypeKind::Set(left), TypeKind::Set(right)) => self.unify_inner(left, right),
            // Expressions in braces before they meet their type.
            (TypeKind::List(left), TypeKind::Tuple(right)) => {
                right.iter().all(|element| self.unify_inner(left, element))
            }
            (TypeKind::Stack(left, _), TypeKind::Tuple(right)) => {
                right.iter().all(|element| self.unify_inner(left, element))
            }
            (TypeKind::Struct(..) | TypeKind::Header(..), TypeKind::Tuple(right)) => {
                let fields = self.fields_of(&wanted);
                fields.len() >= right.len()
                    && fields
                        .iter()
                        .zip(right)
                        .all(|(field, element)| self.unify_inner(&field.ty, element))
            }
            (TypeKind::Struct(..) | TypeKind::Header(..), TypeKind::AnonymousStruct(right)) => {
                right.iter().all(|(name, ty)| {
                    self.field_type(&wanted, name).is_some_and(|field| self.unify_inner(&field, ty))
                })
            }
            (TypeKind::AnonymousStruct(left), TypeKind::AnonymousStruct(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|((a, left), (b, right))| a == b && self.unify_inner(left, right))
            }
            (TypeKind::Integer, TypeKind::Bit(_) | TypeKind::Int(_))
            | (TypeKind::Bit(_) | TypeKind::Int(_), TypeKind::Integer) => true,
            (TypeKind::Bit(_) | TypeKind::Int(_), TypeKind::SerializableEnum(node)) => {
                self.underlying.get(node) == Some(&wanted)
            }
            _ => wanted == found,
        }
    }

    fn unify_all(&mut self, left: &[Type], right: &[Type]) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| self.unify_inner(left, right))
    }

    /// Follows solutions at the top of a type only.
    fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let TypeKind::Inferred(variable) = &*ty {
            match self.solutions.get(*variable as usize) {
                Some(Some(solution)) => ty = solution.clone(),
                _ => break,
            }
        }
        ty
    }

    fn solve(&mut self, variable: u32, ty: &Type) -> bool {
        let ty = self.solved(ty);
        if self.mentions(&ty, variable) {
            return matches!(&*ty, TypeKind::Inferred(_));
        }
        if let Some(slot) = self.solutions.get_mut(variable as usize) {
            *slot = Some(ty);
        }
        true
    }

    /// Describes the parameters that a block lacks or has too many.
    fn describe_arity(
        &self,
        (wanted, substitution): (&[Parameter], &Substitution),
        (name, found): (&str, &[Parameter]),
    ) -> String {
        let lacks = |list: &[Parameter], parameter: &Parameter| {
            let ty = self.declared_type(parameter.id);
            // Architectures and programs name parameters differently, so only the type counts.
            !list.iter().any(|other| {
                let other_type = self.declared_type(other.id);
                other_type == ty
                    || (matches!(&*ty, TypeKind::Variable(_))
                        && other.direction == parameter.direction
                        && !matches!(&*other_type, TypeKind::Extern(..)))
            })
        };
        let counts = format!(
            "`{name}` has {}, expected {}",
            super::type_names::count(found.len(), "parameter"),
            wanted.len()
        );
        let missing: Vec<String> = wanted
            .iter()
            .filter(|parameter| found.len() < wanted.len() && lacks(found, parameter))
            .map(|parameter| {
                let ty = self.solved(&substitution.apply(&self.declared_type(parameter.id)));
                let direction = match parameter.direction {
                    Direction::None => "",
                    Direction::In => "in ",
                    Direction::Out => "out ",
                    Direction::InOut => "inout ",
                };
                format!("`{direction}{} {}`", self.show(&ty), parameter.name.text)
            })
            .collect();
        match missing.is_empty() {
            true => counts,
            false => format!("{counts}; {} missing", list_is(&missing)),
        }
    }

    /// Makes a parser or control type fit a parser or control: same parameters in order, with same
    /// directions. The error says what differs.
    pub(super) fn unify_blocks(
        &mut self,
        wanted: (NodeId, &[Type]),
        found: (NodeId, &[Type]),
    ) -> Result<(), String> {
        let (Some(wanted_parameters), Some(found_parameters)) =
            (self.block_parameters(wanted.0), self.block_parameters(found.0))
        else {
            return Ok(());
        };
        let wanted_substitution = self.substitution(wanted.0, wanted.1);
        let found_substitution = self.substitution(found.0, found.1);
        // A wrong number of parameters is reported as such, not as the first parameter behind the
        // gap that differs.
        let required = |parameters: &[Parameter]| {
            parameters
                .iter()
                .filter(|parameter| !is_optional(parameter) && parameter.default.is_none())
                .count()
        };
        if required(wanted_parameters) > found_parameters.len()
            || required(found_parameters) > wanted_parameters.len()
        {
            return Err(self.describe_arity(
                (wanted_parameters, &wanted_substitution),
                (self.name_of(found.0), found_parameters),
            ));
        }
        let mut left = wanted_parameters.iter();
        let mut right = found_parameters.iter();
        loop {
            match (left.next(), right.next()) {
                (None, None) => return Ok(()),
                (Some(parameter), None)
                    if is_optional(parameter) || parameter.default.is_some() => {}
                (None, Some(parameter))
                    if is_optional(parameter) || parameter.default.is_some() => {}
                (Some(_), None) | (None, Some(_)) => {
                    return Err(self.describe_arity(
                        (wanted_parameters, &wanted_substitution),
                        (self.name_of(found.0), found_parameters),
                    ));
                }
                (Some(wanted_parameter), Some(found_parameter)) => {
                    if wanted_parameter.direction != found_parameter.direction {
                        let wanted_type =
                            wanted_substitution.apply(&self.declared_type(wanted_parameter.id));
                        let found_type = self.declared_type(found_parameter.id);
                        let is_object = |ty: &Type| matches!(&**ty, TypeKind::Extern(..));
                        if is_object(&wanted_type) != is_object(&found_type) {
                            return Err(format!(
                                "parameter `{}` of `{}` has type `{}`, expected `{}`",
                                found_parameter.name.text,
                                self.name_of(found.0),
                                self.show(&found_type),
                                self.show(&wanted_type),
                            ));
                        }
                        return Err(format!(
                            "parameter `{}` of `{}` has another direction than `{}` of `{}`",
                            found_parameter.name.text,
                            self.name_of(found.0),
                            wanted_parameter.name.text,
                            self.name_of(wanted.0),
                        ));
                    }
                    let wanted_type = self.declared_type(wanted_parameter.id);
                    let wanted_type = wanted_substitution.apply(&wanted_type);
                    let found_type = self.declared_type(found_parameter.id);
                    let found_type = found_substitution.apply(&found_type);
                    let exact = match (&*self.solved(&wanted_type), &*found_type) {
                        (TypeKind::Integer, other) | (other, TypeKind::Integer) => {
                            matches!(
                                other,
                                TypeKind::Integer
                                    | TypeKind::Inferred(_)
                                    | TypeKind::Unknown
                                    | TypeKind::DontCare
                            )
                        }
                        (TypeKind::Bit(_) | TypeKind::Int(_), TypeKind::SerializableEnum(_)) => {
                            false
                        }
                        _ => true,
                    };
                    if !exact || !self.unify(&wanted_type, &found_type) {
                        return Err(format!(
                            "parameter `{}` of `{}` has type `{}`, expected `{}`",
                            found_parameter.name.text,
                            self.name_of(found.0),
                            self.show(&found_type),
                            self.show(&wanted_type),
                        ));
                    }
                }
            }
        }
    }

    /// Returns the run-time parameters of a parser, a control, or a type of these.
    pub(super) fn block_parameters(&self, node: NodeId) -> Option<&'a [Parameter]> {
        match self.node(node) {
            super::Node::Declaration(declaration) => match &declaration.kind {
                DeclarationKind::Parser(parser) => Some(&parser.signature.parameters),
                DeclarationKind::Control(control) => Some(&control.signature.parameters),
                DeclarationKind::ParserType(block) | DeclarationKind::ControlType(block) => {
                    Some(&block.parameters)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the type that was given to a declared value; `Unknown` when it has none.
    pub(super) fn declared_type(&self, node: NodeId) -> Type {
        self.typed.declared_types.get(&node).cloned().unwrap_or_else(|| self.known.unknown.clone())
    }
}

/// Whether a parameter has `@optional`.
pub(super) fn is_optional(parameter: &Parameter) -> bool {
    parameter.annotations.iter().any(|annotation| &*annotation.name.text == "optional")
}

/// Whether a type has inference variables, solved or not.
fn has_inferred(ty: &TypeKind) -> bool {
    match ty {
        TypeKind::Inferred(_) => true,
        TypeKind::Struct(_, parts)
        | TypeKind::Header(_, parts)
        | TypeKind::HeaderUnion(_, parts)
        | TypeKind::Extern(_, parts)
        | TypeKind::Parser(_, parts)
        | TypeKind::Control(_, parts)
        | TypeKind::Package(_, parts)
        | TypeKind::Tuple(parts) => parts.iter().any(|part| has_inferred(part)),
        TypeKind::Stack(part, _) | TypeKind::List(part) | TypeKind::Set(part) => has_inferred(part),
        TypeKind::AnonymousStruct(fields) => fields.iter().any(|(_, ty)| has_inferred(ty)),
        _ => false,
    }
}

/// `a is`, `a and b are`.
fn list_is(items: &[String]) -> String {
    match items {
        [one] => format!("{one} is"),
        items => format!("{} are", items.join(" and ")),
    }
}

/// Whether a type has parts that are not settled: type parameters or inference variables.
pub(super) fn has_open_parts(ty: &Type) -> bool {
    match &**ty {
        TypeKind::Variable(_) | TypeKind::Inferred(_) | TypeKind::Unknown | TypeKind::DontCare => {
            true
        }
        TypeKind::Struct(_, parts)
        | TypeKind::Header(_, parts)
        | TypeKind::HeaderUnion(_, parts)
        | TypeKind::Extern(_, parts)
        | TypeKind::Parser(_, parts)
        | TypeKind::Control(_, parts)
        | TypeKind::Package(_, parts)
        | TypeKind::Tuple(parts) => parts.iter().any(has_open_parts),
        TypeKind::Stack(part, _) | TypeKind::List(part) | TypeKind::Set(part) => {
            has_open_parts(part)
        }
        TypeKind::AnonymousStruct(fields) => fields.iter().any(|(_, ty)| has_open_parts(ty)),
        _ => false,
    }
}
