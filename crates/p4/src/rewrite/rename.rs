// SPDX-License-Identifier: Apache-2.0
//! Renaming: a declaration and all that refers to it, by the checker's definitions and, in new code, by
//! scope. `@name` annotations can keep the control-plane names (P4_16 v1.2.5 §18.3.2).

use super::Rewriter;
use super::errors::{EditError, Problem};
use super::keep_names::KeepNames;
use super::names::members;
use super::parts::Part;
use super::references::Role;
use crate::ast::*;
use crate::token::TokenKind;
use crate::typed::{Callee, Definition, TypeKind};
use crate::visit::{Visit, walk_program};
use crate::visit_mut::{VisitMut, walk_program as walk_program_mut};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::any::Any;
use std::sync::Arc;

/// Whether a control plane sees that something is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlPlaneName {
    /// It knows it by the old name: `@name` is added where there is none. What has no such name keeps its
    /// own: parsers and controls that are applied by their type, and fields while an action takes structs
    /// from the control plane.
    Keep,
    /// It has to use the new name.
    Change,
}

/// The declaration to rename, and what decides which names refer to it.
struct Target {
    id: NodeId,
    old: Arc<str>,
    span: Span,
    to: Arc<str>,
    /// The struct, header or union whose field it is.
    field_of: Option<NodeId>,
    /// Whose parameter it is, and which parameters those are.
    parameter_of: Option<(NodeId, Role)>,
    /// Whether tokens of annotations may name it: constants, enums and members of enums.
    in_annotations: bool,
    /// Whether a member or an argument refers to it by its name alone.
    is_member: bool,
    is_action_parameter: bool,
    keep: bool,
}

impl Rewriter {
    /// Renames a declaration, parameter, field, state, enum member, error or loop variable of the
    /// tree, and everything that refers to it.
    ///
    /// # Errors
    ///
    /// There is no such node; the name is taken there, or no name; the old name cannot change (`main`,
    /// `start`, externs, packages and their parameters, methods and what implements them, match kinds,
    /// what is in a library); or new code uses a member or argument of that name, which may be this one.
    pub fn rename(
        &mut self,
        declaration: NodeId,
        name: &str,
        control_plane: ControlPlaneName,
    ) -> Result<(), EditError> {
        let mut target = self.target(declaration, control_plane)?;
        target.to = name.into();
        if target.old == target.to {
            return Ok(());
        }
        let taken = self.taken_for(&target)?;
        self.check_free(declaration, target.span, &taken, &target.to)?;
        self.bind();
        self.rename_all(&target)
    }

    /// Renames as [`Rewriter::rename`] to a name like `wanted` that is free. Returns the new name.
    ///
    /// # Errors
    ///
    /// As [`Rewriter::rename`], but that no name is taken.
    pub fn rename_freshly(
        &mut self,
        declaration: NodeId,
        wanted: &str,
        control_plane: ControlPlaneName,
    ) -> Result<Arc<str>, EditError> {
        let mut target = self.target(declaration, control_plane)?;
        let taken = self.taken_for(&target)?;
        target.to = self.free(&taken, wanted);
        self.given.insert(target.to.clone());
        self.bind();
        self.rename_all(&target)?;
        Ok(target.to)
    }

    /// Renames a declaration in a part that is not in the tree, and what refers to it there. The name is not
    /// compared with others: [`Rewriter::fresh_name`] gives one.
    pub fn rename_in<T: Part>(&self, part: &mut T, declaration: NodeId, name: &str) {
        let mut renamer = Renamer {
            rewriter: self,
            target: &Target {
                id: declaration,
                old: "".into(),
                span: Span::NONE,
                to: name.into(),
                field_of: None,
                parameter_of: None,
                in_annotations: false,
                is_member: false,
                is_action_parameter: false,
                keep: false,
            },
            callee: None,
        };
        part.walk(&mut renamer);
    }

    fn rename_all(&mut self, target: &Target) -> Result<(), EditError> {
        let mut check = FindAmbiguousUse { rewriter: self, target, found: None };
        walk_program(&mut check, &self.tree);
        if let Some((node, span)) = check.found {
            let name = target.old.clone();
            return Err(EditError::new(node, span, Problem::UnknownReference { name }));
        }
        let names = match target.keep {
            true => self.names_of_fields(),
            false => FxHashMap::default(),
        };
        let mut tree = std::mem::take(&mut self.tree);
        if target.keep {
            let mut keep = KeepNames {
                rewriter: self,
                id: target.id,
                old: &target.old,
                is_action_parameter: target.is_action_parameter,
                names,
            };
            walk_program_mut(&mut keep, &mut tree);
        }
        let mut renamer = Renamer { rewriter: self, target, callee: None };
        walk_program_mut(&mut renamer, &mut tree);
        self.tree = tree;
        if self.tree.declarations.iter().any(|declaration| declaration.id == target.id) {
            self.printing.rename(&target.old, &target.to);
        }
        Ok(())
    }

    /// Returns the kind of a node to rename.
    fn target(&self, id: NodeId, control_plane: ControlPlaneName) -> Result<Target, EditError> {
        let home = &self.tree.declarations[self.home(id)?];
        let mut describe = Describe { id, enclosing: Vec::new(), found: None, other: None };
        Visit::declaration(&mut describe, home);
        let Some(found) = describe.found else {
            let (found, span) = describe.other.unwrap_or(("node", Span::NONE));
            let problem = Problem::WrongKind { expected: "declaration", found };
            return Err(EditError::new(id, span, problem));
        };
        let keep = control_plane == ControlPlaneName::Keep;
        let is_fixed = found.is_fixed
            || self.is_library(home.span)
            || (keep && (self.is_applied_by_type(id) || self.is_action_data(found.field_of)));
        if is_fixed {
            let problem = Problem::FixedName { name: found.name.text.clone() };
            return Err(EditError::new(id, found.span, problem));
        }
        Ok(Target {
            id,
            old: found.name.text.clone(),
            span: found.span,
            to: found.name.text.clone(),
            field_of: found.field_of,
            parameter_of: found.parameter_of,
            in_annotations: found.in_annotations,
            is_member: found.is_member,
            is_action_parameter: found.is_action_parameter,
            keep,
        })
    }

    /// Whether a parser or control is applied without an instance: then the control plane calls it by its
    /// type's name, whatever its `@name` says.
    fn is_applied_by_type(&self, id: NodeId) -> bool {
        let mut applies = self.typed.calls.values();
        let model = self.model_of(id);
        applies.any(|call| call.callee == Callee::DirectApply(model))
    }

    /// Whether a field may be action data: then the control plane calls it by its own name. All fields may
    /// be when an action takes more than a scalar from the control plane.
    fn is_action_data(&self, field_of: Option<NodeId>) -> bool {
        let composite = |parameter: &Parameter| {
            parameter.direction == Direction::None
                && self.typed.declared_types.get(&parameter.id).is_some_and(|ty| {
                    matches!(
                        **ty,
                        TypeKind::Struct(..)
                            | TypeKind::Header(..)
                            | TypeKind::HeaderUnion(..)
                            | TypeKind::Stack(..)
                    )
                })
        };
        let mut search = ActionData { composite, found: false };
        if field_of.is_some() {
            walk_program(&mut search, &self.typed.program);
        }
        search.found
    }

    fn taken_for(&self, target: &Target) -> Result<FxHashSet<Arc<str>>, EditError> {
        let home = &self.tree.declarations[self.home(target.id)?];
        if target.is_member && target.parameter_of.is_none() {
            return match members(home) {
                Some(members) => Ok(members),
                // An error: all errors have one scope.
                None => Ok(self.errors()),
            };
        }
        let mut taken = self.taken((home.id != target.id).then_some(target.id))?;
        taken.remove(&target.old);
        Ok(taken)
    }

    fn is_target(&self, reference: NodeId, target: &Target) -> bool {
        self.definition(reference) == Some(Definition::Node(target.id))
    }

    /// Whether a value has the struct, header or union as its type whose field is renamed.
    fn has_field(&self, value: NodeId, target: &Target) -> bool {
        let Some(owner) = target.field_of else { return false };
        let origin = self.model_of(value);
        let types = [&self.typed.implicit_casts, &self.typed.expression_types];
        types.into_iter().filter_map(|types| types.get(&origin)).any(|ty| match &**ty {
            TypeKind::Struct(node, _)
            | TypeKind::Header(node, _)
            | TypeKind::HeaderUnion(node, _) => self.mapped(value, *node) == owner,
            _ => false,
        })
    }

    /// Whether a call passes arguments to the parameter that is renamed.
    fn has_parameter(&self, call: NodeId, target: &Target) -> bool {
        let Some((owner, role)) = target.parameter_of else { return false };
        self.callees(call).into_iter().any(|(node, of)| node == owner && of == role)
    }
}

struct ActionData<F> {
    composite: F,
    found: bool,
}

impl<'a, F: Fn(&Parameter) -> bool> Visit<'a> for ActionData<F> {
    fn declaration(&mut self, declaration: &'a Declaration) {
        if let DeclarationKind::Action { parameters, .. } = &declaration.kind {
            self.found |= parameters.iter().any(&self.composite);
        }
        crate::visit::walk_declaration(self, declaration);
    }
}

struct Renamer<'r> {
    rewriter: &'r Rewriter,
    target: &'r Target,
    /// The callee of the call that was entered last: a method, even where a field has its name.
    callee: Option<NodeId>,
}

impl Renamer<'_> {
    fn set(&self, name: &mut Name) {
        name.text = self.target.to.clone();
    }

    fn declared(&self, id: NodeId, name: &mut Name) {
        if id == self.target.id {
            self.set(name);
        }
    }

    fn referred(&self, id: NodeId, name: &mut Name) {
        if self.rewriter.is_target(id, self.target) {
            self.set(name);
        }
    }

    fn arguments(&self, call: NodeId, arguments: &mut [Argument]) {
        if self.rewriter.has_parameter(call, self.target) {
            for name in arguments.iter_mut().filter_map(|argument| argument.name.as_mut()) {
                if name.text == self.target.old {
                    self.set(name);
                }
            }
        }
    }

    fn in_expression(&mut self, expression: &mut Expression) {
        let id = expression.id;
        match &mut expression.kind {
            ExpressionKind::Path(path) => self.referred(id, &mut path.name),
            ExpressionKind::Member(base, name) => {
                self.referred(id, name);
                if name.text == self.target.old
                    && self.callee != Some(id)
                    && self.rewriter.has_field(base.id, self.target)
                {
                    self.set(name);
                }
            }
            ExpressionKind::Struct { fields, .. } if self.rewriter.has_field(id, self.target) => {
                for (name, _) in fields {
                    if name.text == self.target.old {
                        self.set(name);
                    }
                }
            }
            ExpressionKind::Call(call) => {
                self.callee = Some(call.callee.id);
                self.arguments(id, &mut call.arguments);
            }
            _ => {}
        }
    }
}

impl VisitMut for Renamer<'_> {
    fn enter<T: Node>(&mut self, node: &mut T) -> bool {
        let node = node as &mut dyn Any;
        if let Some(node) = node.downcast_mut::<Expression>() {
            self.in_expression(node);
        } else if let Some(node) = node.downcast_mut::<TypeRef>() {
            if let TypeRefKind::Named(path) | TypeRefKind::Specialized(path, _) = &mut node.kind {
                self.referred(node.id, &mut path.name);
            }
        } else if let Some(node) = node.downcast_mut::<Declaration>() {
            self.declared(node.id, &mut node.name);
            if let DeclarationKind::Instance { arguments, .. } = &mut node.kind {
                self.arguments(node.id, arguments);
            }
        } else if let Some(node) = node.downcast_mut::<Parameter>() {
            self.declared(node.id, &mut node.name);
        } else if let Some(node) = node.downcast_mut::<Field>() {
            self.declared(node.id, &mut node.name);
        } else if let Some(node) = node.downcast_mut::<State>() {
            self.declared(node.id, &mut node.name);
        } else if let Some(node) = node.downcast_mut::<EnumMember>() {
            self.declared(node.id, &mut node.name);
        } else if let Some(node) = node.downcast_mut::<DeclaredName>() {
            self.declared(node.id, &mut node.name);
        } else if let Some(node) = node.downcast_mut::<Variable>() {
            self.declared(node.id, &mut node.name);
        } else if let Some(node) = node.downcast_mut::<StateRef>() {
            self.referred(node.id, &mut node.name);
        } else if let Some(node) = node.downcast_mut::<ActionRef>() {
            self.referred(node.id, &mut node.path.name);
            if let Some(arguments) = &mut node.arguments {
                self.arguments(node.id, arguments);
            }
        }
        true
    }

    fn annotation(&mut self, annotation: &mut Annotation) {
        if self.target.in_annotations
            && let AnnotationBody::Unstructured(tokens) = &mut annotation.body
        {
            for token in tokens.iter_mut() {
                if token.kind == TokenKind::Identifier && token.text == self.target.old {
                    token.text = self.target.to.clone();
                }
            }
        }
        crate::visit_mut::walk_annotation(self, annotation);
    }
}

/// Finds new code that uses a member or a named argument which may be the one renamed.
struct FindAmbiguousUse<'r> {
    rewriter: &'r Rewriter,
    target: &'r Target,
    found: Option<(NodeId, Span)>,
}

impl FindAmbiguousUse<'_> {
    fn name(&mut self, node: NodeId, name: &Name) {
        if self.found.is_none()
            && name.text == self.target.old
            && self.rewriter.is_new(node)
            && self.rewriter.definition(node).is_none()
        {
            self.found = Some((node, name.span));
        }
    }
}

impl<'a> Visit<'a> for FindAmbiguousUse<'_> {
    fn enter<T: Node>(&mut self, node: &'a T) -> bool {
        let node = node as &dyn Any;
        if !self.target.is_member {
            return false;
        }
        if self.target.parameter_of.is_some() {
            if let Some(Argument { name: Some(name), value }) = node.downcast_ref() {
                self.name(value.id, name);
            }
        } else if let Some(node) = node.downcast_ref::<Expression>()
            && let ExpressionKind::Member(_, name) = &node.kind
        {
            self.name(node.id, name);
        } else if let Some((name, value)) = node.downcast_ref::<(Name, Expression)>() {
            self.name(value.id, name);
        }
        true
    }
}

struct TargetDescription {
    name: Name,
    span: Span,
    field_of: Option<NodeId>,
    parameter_of: Option<(NodeId, Role)>,
    is_member: bool,
    is_action_parameter: bool,
    is_fixed: bool,
    in_annotations: bool,
}

/// Finds a node that has a name, and what it belongs to.
struct Describe<'a> {
    id: NodeId,
    /// Declarations and methods around the current place, and whether they are in an instance.
    enclosing: Vec<Enclosing<'a>>,
    found: Option<TargetDescription>,
    other: Option<(&'static str, Span)>,
}

#[derive(Clone, Copy)]
enum Enclosing<'a> {
    Declaration(&'a Declaration),
    Method(&'a Method),
}

impl<'a> Describe<'a> {
    fn describe(&self, name: &Name) -> TargetDescription {
        TargetDescription {
            name: name.clone(),
            span: name.span,
            field_of: None,
            parameter_of: None,
            is_member: false,
            is_action_parameter: false,
            is_fixed: false,
            in_annotations: false,
        }
    }

    fn declaration_of(&self, node: &'a Declaration) -> TargetDescription {
        let in_instance = matches!(
            self.enclosing.last(),
            Some(Enclosing::Declaration(Declaration {
                kind: DeclarationKind::Instance { .. },
                ..
            }))
        );
        let is_fixed = match &node.kind {
            DeclarationKind::ExternFunction(_)
            | DeclarationKind::ExternObject { .. }
            | DeclarationKind::PackageType(_)
            | DeclarationKind::Error(_)
            | DeclarationKind::MatchKind(_) => true,
            DeclarationKind::Instance { .. } => {
                self.enclosing.is_empty() && &*node.name.text == "main"
            }
            _ => in_instance,
        };
        TargetDescription {
            is_fixed: is_fixed || in_instance,
            in_annotations: matches!(
                node.kind,
                DeclarationKind::Constant { .. } | DeclarationKind::Enum { .. }
            ),
            ..self.describe(&node.name)
        }
    }

    fn parameter_of(&self, node: &'a Parameter) -> TargetDescription {
        let mut found = TargetDescription { is_member: true, ..self.describe(&node.name) };
        match self.enclosing.last() {
            Some(Enclosing::Method(method)) => {
                let role = if method.is_constructor { Role::Constructor } else { Role::RunTime };
                found.parameter_of = Some((method.id, role));
            }
            Some(Enclosing::Declaration(owner)) => {
                let constructor = match &owner.kind {
                    DeclarationKind::Parser(parser) => &parser.constructor_parameters,
                    DeclarationKind::Control(control) => &control.constructor_parameters,
                    DeclarationKind::PackageType(package) => &package.parameters,
                    _ => &Vec::new(),
                };
                let is_constructor = constructor.iter().any(|each| each.id == node.id);
                let role = if is_constructor { Role::Constructor } else { Role::RunTime };
                found.parameter_of = Some((owner.id, role));
                // Architectures go by the names of a package's parameters.
                found.is_fixed = matches!(owner.kind, DeclarationKind::PackageType(_));
                found.is_action_parameter = matches!(owner.kind, DeclarationKind::Action { .. })
                    && node.direction == Direction::None;
            }
            None => {}
        }
        found
    }
}

impl<'a> Visit<'a> for Describe<'a> {
    fn enter<T: Node>(&mut self, node: &'a T) -> bool {
        let is_it = node.id() == self.id;
        if is_it && self.other.is_none() {
            self.other = Some((T::KIND, node.span()));
        }
        let any = node as &'a dyn Any;
        if let Some(node) = any.downcast_ref::<Declaration>() {
            if is_it {
                self.found = Some(self.declaration_of(node));
            }
            self.enclosing.push(Enclosing::Declaration(node));
        } else if let Some(node) = any.downcast_ref::<Method>() {
            if is_it {
                self.found =
                    Some(TargetDescription { is_fixed: true, ..self.describe(&node.name) });
            }
            self.enclosing.push(Enclosing::Method(node));
        }
        if !is_it {
            return true;
        }
        let owner = match self.enclosing.last() {
            Some(Enclosing::Declaration(owner)) => Some(*owner),
            _ => None,
        };
        if let Some(node) = any.downcast_ref::<Parameter>() {
            self.found = Some(self.parameter_of(node));
        } else if let Some(node) = any.downcast_ref::<Field>() {
            let field_of = owner.map(|owner| owner.id);
            self.found =
                Some(TargetDescription { field_of, is_member: true, ..self.describe(&node.name) });
        } else if let Some(node) = any.downcast_ref::<State>() {
            let is_fixed = &*node.name.text == "start";
            self.found = Some(TargetDescription { is_fixed, ..self.describe(&node.name) });
        } else if let Some(node) = any.downcast_ref::<EnumMember>() {
            let found = self.describe(&node.name);
            self.found = Some(TargetDescription { is_member: true, in_annotations: true, ..found });
        } else if let Some(node) = any.downcast_ref::<DeclaredName>() {
            let kind = owner.map(|owner| &owner.kind);
            let found = self.describe(&node.name);
            self.found = Some(TargetDescription {
                is_fixed: matches!(kind, Some(DeclarationKind::MatchKind(_))),
                is_member: matches!(kind, Some(DeclarationKind::Error(_))),
                ..found
            });
        } else if let Some(node) = any.downcast_ref::<Variable>() {
            self.found = Some(self.describe(&node.name));
        }
        true
    }

    fn leave<T: Node>(&mut self, node: &'a T) {
        let any = node as &dyn Any;
        if any.is::<Declaration>() || any.is::<Method>() {
            self.enclosing.pop();
        }
    }
}
