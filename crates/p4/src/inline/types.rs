// SPDX-License-Identifier: Apache-2.0
//! Types as they can be written at any place of the program, and what variables of a type begin as.

use super::node_builder::NodeBuilder;
use super::obstacle::Obstacle;
use crate::ast::{
    Declaration, DeclarationKind, Expression, ExpressionKind, NodeId, Path, Statement, TypeRef,
    TypeRefKind,
};
use crate::typed::{Type, TypeKind};
use std::sync::Arc;

impl NodeBuilder<'_> {
    /// Returns the type reference that names a type; nominal types by their names at top level.
    pub(super) fn written(&mut self, ty: &Type) -> Result<TypeRef, Obstacle> {
        let kind = match &**ty {
            TypeKind::Bool => TypeRefKind::Bool,
            TypeKind::Error => TypeRefKind::Error,
            TypeKind::String => TypeRefKind::String,
            TypeKind::Bit(width) => TypeRefKind::Bit(Some(Box::new(self.number(*width)))),
            TypeKind::Int(width) => TypeRefKind::SignedBit(Box::new(self.number(*width))),
            TypeKind::Varbit(width) => TypeRefKind::Varbit(Box::new(self.number(*width))),
            TypeKind::Stack(element, size) => {
                let element = self.written(element)?;
                TypeRefKind::Stack(Box::new(element), Box::new(self.number(*size)))
            }
            TypeKind::Tuple(elements) => TypeRefKind::Tuple(self.all_written(elements)?),
            TypeKind::Struct(node, arguments)
            | TypeKind::Header(node, arguments)
            | TypeKind::HeaderUnion(node, arguments)
            | TypeKind::Extern(node, arguments) => {
                let path = self.top_level_path(*node)?;
                match arguments.is_empty() {
                    true => TypeRefKind::Named(path),
                    false => TypeRefKind::Specialized(path, self.all_written(arguments)?),
                }
            }
            TypeKind::Enum(node) | TypeKind::SerializableEnum(node) | TypeKind::NewType(node) => {
                TypeRefKind::Named(self.top_level_path(*node)?)
            }
            _ => return Err(Obstacle::UnwritableType),
        };
        Ok(self.type_ref(kind))
    }

    fn all_written(&mut self, types: &[Type]) -> Result<Vec<TypeRef>, Obstacle> {
        types.iter().map(|ty| self.written(ty)).collect()
    }

    fn number(&mut self, value: u32) -> Expression {
        self.expression(ExpressionKind::Integer { value: value.into(), width: None })
    }

    /// Returns the name of a type at top level, with a dot so that no inner name hides it.
    fn top_level_path(&mut self, node: NodeId) -> Result<Path, Obstacle> {
        let typed = self.rewriter.original();
        let named = typed.program.declarations.iter().find(|each| each.id == node);
        let name = named.ok_or(Obstacle::UnwritableType)?.name.text.clone();
        Ok(Path { absolute: true, name: self.name(&name) })
    }

    /// Returns statements that make all headers of a variable invalid, as those of an `out` parameter are
    /// (P4_16 v1.2.5 §6.8). `None` if the type has headers that cannot be reached by name.
    pub(super) fn invalidation(
        &mut self,
        ty: &Type,
        base: &dyn Fn(&mut Self) -> Expression,
    ) -> Option<Vec<Statement>> {
        match &**ty {
            TypeKind::Header(..) => {
                let header = base(self);
                Some(vec![self.method_call(header, "setInvalid")])
            }
            TypeKind::Struct(node, arguments) if arguments.is_empty() => {
                let mut statements = Vec::new();
                for (name, ty) in self.fields(*node)? {
                    let inner = |builder: &mut Self| {
                        let base = base(builder);
                        let name = builder.name(&name);
                        builder.expression(ExpressionKind::Member(Box::new(base), name))
                    };
                    statements.extend(self.invalidation(&ty, &inner)?);
                }
                Some(statements)
            }
            TypeKind::Bool
            | TypeKind::Error
            | TypeKind::Bit(_)
            | TypeKind::Int(_)
            | TypeKind::Varbit(_)
            | TypeKind::Enum(_)
            | TypeKind::SerializableEnum(_)
            | TypeKind::NewType(_) => Some(Vec::new()),
            _ => None,
        }
    }

    fn fields(&self, node: NodeId) -> Option<Vec<(Arc<str>, Type)>> {
        let typed = self.rewriter.original();
        let fields = |declaration: &Declaration| match &declaration.kind {
            DeclarationKind::Struct(list) => list
                .fields
                .iter()
                .map(|field| {
                    Some((field.name.text.clone(), typed.declared_types.get(&field.id)?.clone()))
                })
                .collect(),
            _ => None,
        };
        typed.program.declarations.iter().find(|each| each.id == node).and_then(fields)
    }
}
