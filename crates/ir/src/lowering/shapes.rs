// SPDX-License-Identifier: Apache-2.0
//! [`Shape`]: the layout of a type with structs, enums, new types and generics resolved. `storage` allocates
//! slots for it.

use super::nodes::Node;
use super::{Lowered, Lowering, codes};
use crate::{Bits, Display, HeaderField, HeaderType, HeaderTypeId, MAX_WIDTH_BITS, ValueType};
use p4::ast::{DeclarationKind, NodeId, TypeRef};
use p4::typed::{Constant, Type, TypeKind};
use std::sync::Arc;

/// The layout of a type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// One slot.
    Scalar(ValueType, Display),
    /// A struct or tuple (fields named by their index).
    Struct(Arc<[(Arc<str>, Shape)]>),
    /// A header.
    Header(HeaderTypeId),
    /// A header union.
    Union(Arc<[(Arc<str>, HeaderTypeId)]>),
    /// A stack of headers or unions.
    Stack(Arc<Shape>, u32),
    /// Takes no storage: void, strings, objects.
    Empty,
}

/// Fields by name with their layouts.
pub(super) type FieldShapes = Arc<[(Arc<str>, Shape)]>;

impl Shape {
    /// An unsigned number.
    pub(crate) fn bits(width_bits: u32) -> Shape {
        Shape::Scalar(ValueType::Bits(width_bits), Display::Unsigned)
    }
}

/// How many bits number `count` members.
fn bits_for(count: usize) -> u32 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

impl Lowering<'_> {
    /// A type with the type parameters in force replaced.
    pub(crate) fn close(&self, ty: &Type) -> Type {
        self.substitute(ty, &|id| self.type_arguments.get(&id).cloned())
    }

    fn substitute(&self, ty: &Type, replace: &dyn Fn(NodeId) -> Option<Type>) -> Type {
        let all = |list: &[Type]| -> Vec<Type> {
            list.iter().map(|ty| self.substitute(ty, replace)).collect()
        };
        let kind = match &**ty {
            TypeKind::Variable(id) => match replace(*id) {
                Some(found) if found != *ty => return found,
                _ => return ty.clone(),
            },
            TypeKind::Struct(id, arguments) if !arguments.is_empty() => {
                TypeKind::Struct(*id, all(arguments))
            }
            TypeKind::Header(id, arguments) if !arguments.is_empty() => {
                TypeKind::Header(*id, all(arguments))
            }
            TypeKind::HeaderUnion(id, arguments) if !arguments.is_empty() => {
                TypeKind::HeaderUnion(*id, all(arguments))
            }
            TypeKind::Extern(id, arguments) if !arguments.is_empty() => {
                TypeKind::Extern(*id, all(arguments))
            }
            TypeKind::Parser(id, arguments) if !arguments.is_empty() => {
                TypeKind::Parser(*id, all(arguments))
            }
            TypeKind::Control(id, arguments) if !arguments.is_empty() => {
                TypeKind::Control(*id, all(arguments))
            }
            TypeKind::Package(id, arguments) if !arguments.is_empty() => {
                TypeKind::Package(*id, all(arguments))
            }
            TypeKind::Stack(element, size) => {
                TypeKind::Stack(self.substitute(element, replace), *size)
            }
            TypeKind::Tuple(elements) => TypeKind::Tuple(all(elements)),
            TypeKind::List(element) => TypeKind::List(self.substitute(element, replace)),
            TypeKind::Set(element) => TypeKind::Set(self.substitute(element, replace)),
            TypeKind::AnonymousStruct(fields) => TypeKind::AnonymousStruct(
                fields
                    .iter()
                    .map(|(name, ty)| (name.clone(), self.substitute(ty, replace)))
                    .collect(),
            ),
            _ => return ty.clone(),
        };
        Arc::new(kind)
    }

    /// The type behind new types and serializable enums.
    pub(crate) fn underlying(&self, ty: &Type) -> Type {
        match &**ty {
            TypeKind::NewType(id) | TypeKind::SerializableEnum(id) => {
                match self.nodes.declaration(*id).map(|declaration| &declaration.kind) {
                    Some(DeclarationKind::NewType(target)) => self.written_type(target),
                    Some(DeclarationKind::Enum { underlying: Some(target), .. }) => {
                        self.written_type(target)
                    }
                    _ => None,
                }
                .map_or_else(|| ty.clone(), |target| self.underlying(&target))
            }
            _ => ty.clone(),
        }
    }

    /// Whether values of the type are two's complement.
    pub(crate) fn is_signed(&self, ty: &Type) -> bool {
        matches!(*self.underlying(ty), TypeKind::Int(_))
    }

    /// A written type, closed.
    pub(crate) fn written_type(&self, written: &TypeRef) -> Option<Type> {
        self.typed.type_refs.get(&written.id).map(|ty| self.close(ty))
    }

    /// The closed type of a declared value.
    pub(crate) fn declared_type(&mut self, id: NodeId) -> Lowered<Type> {
        match self.typed.declared_types.get(&id) {
            Some(ty) => Ok(self.close(ty)),
            None => Err(self.missing_fact("the type of a declaration")),
        }
    }

    /// Names and closed types of the fields of a struct, header or union.
    pub(crate) fn fields_of(&mut self, ty: &Type) -> Lowered<Vec<(Arc<str>, Type)>> {
        let (id, arguments) = match &**ty {
            TypeKind::Struct(id, arguments)
            | TypeKind::Header(id, arguments)
            | TypeKind::HeaderUnion(id, arguments) => (*id, arguments),
            TypeKind::Tuple(elements) => {
                let name = |index: usize| -> Arc<str> { index.to_string().into() };
                return Ok(elements
                    .iter()
                    .enumerate()
                    .map(|(index, ty)| (name(index), ty.clone()))
                    .collect());
            }
            TypeKind::AnonymousStruct(fields) => return Ok(fields.clone()),
            _ => return Ok(Vec::new()),
        };
        let Some(declaration) = self.nodes.declaration(id) else {
            return Err(self.missing_fact("the declaration of a type"));
        };
        let (DeclarationKind::Struct(list)
        | DeclarationKind::Header(list)
        | DeclarationKind::HeaderUnion(list)) = &declaration.kind
        else {
            return Err(self.missing_fact("the fields of a type"));
        };
        let mut fields = Vec::with_capacity(list.fields.len());
        for field in &list.fields {
            let Some(written) = self.typed.type_refs.get(&field.ty.id) else {
                return Err(self.missing_fact("the type of a field"));
            };
            let replace = |id: NodeId| {
                let at = list.type_parameters.iter().position(|parameter| parameter.id == id)?;
                arguments.get(at).cloned()
            };
            let inner = self.substitute(written, &replace);
            fields.push((field.name.text.clone(), self.close(&inner)));
        }
        Ok(fields)
    }

    /// The layout of a type; the type is closed first.
    pub(crate) fn shape(&mut self, ty: &Type) -> Lowered<Shape> {
        let ty = self.close(ty);
        let scalar = |width: u32, display| Shape::Scalar(ValueType::Bits(width), display);
        let shape = match &*ty {
            TypeKind::Bool => scalar(1, Display::Bool),
            TypeKind::Error => scalar(16, Display::Error),
            TypeKind::Bit(width) => scalar(self.checked_width(*width)?, Display::Unsigned),
            TypeKind::Int(width) => scalar(self.checked_width(*width)?, Display::Signed),
            TypeKind::Varbit(width) => {
                Shape::Scalar(ValueType::Varbit(self.checked_width(*width)?), Display::Unsigned)
            }
            TypeKind::Enum(id) => self.enum_shape(*id)?,
            TypeKind::SerializableEnum(id) => {
                let underlying = self.underlying(&ty);
                match self.shape(&underlying)? {
                    Shape::Scalar(ty, _) => {
                        Shape::Scalar(ty, self.serializable_display(*id, ty.width_bits()))
                    }
                    other => other,
                }
            }
            TypeKind::NewType(_) => {
                let underlying = self.underlying(&ty);
                if underlying == ty {
                    return Err(self.missing_fact("the target of a new type"));
                }
                self.shape(&underlying)?
            }
            TypeKind::Struct(..) | TypeKind::Tuple(_) | TypeKind::AnonymousStruct(_) => {
                let mut fields = Vec::new();
                for (name, ty) in self.fields_of(&ty)? {
                    fields.push((name, self.shape(&ty)?));
                }
                Shape::Struct(fields.into())
            }
            TypeKind::Header(..) => Shape::Header(self.header_type(&ty)?),
            TypeKind::HeaderUnion(..) => {
                let mut members = Vec::new();
                for (name, ty) in self.fields_of(&ty)? {
                    members.push((name, self.header_type(&ty)?));
                }
                Shape::Union(members.into())
            }
            TypeKind::Stack(_, size) if u64::from(*size) > super::SLOT_LIMIT => {
                return Err(self.error(codes::CODE_GROWTH, format!("{size} elements are too many")));
            }
            TypeKind::Stack(element, size) => match self.shape(element)? {
                Shape::Empty => Shape::Empty,
                element @ (Shape::Header(_) | Shape::Union(_)) => {
                    Shape::Stack(Arc::new(element), *size)
                }
                // An array of something else is a struct whose fields are called by their index.
                element => Shape::Struct(
                    (0..*size)
                        .map(|index| (Arc::from(index.to_string()), element.clone()))
                        .collect(),
                ),
            },
            TypeKind::Set(element) => self.shape(element)?,
            TypeKind::Variable(_) | TypeKind::Inferred(_) | TypeKind::Unknown => {
                return Err(self.missing_fact("a concrete type"));
            }
            _ => Shape::Empty,
        };
        Ok(shape)
    }

    fn checked_width(&mut self, width: u32) -> Lowered<u32> {
        if width > MAX_WIDTH_BITS {
            return Err(self.error(
                codes::TOO_WIDE,
                format!("{width} bits are more than the {MAX_WIDTH_BITS} that are supported"),
            ));
        }
        Ok(width)
    }

    fn enum_shape(&mut self, id: NodeId) -> Lowered<Shape> {
        let Some(declaration) = self.nodes.declaration(id) else {
            return Err(self.missing_fact("an enum"));
        };
        let DeclarationKind::Enum { members, .. } = &declaration.kind else {
            return Err(self.missing_fact("the members of an enum"));
        };
        let width = bits_for(members.len());
        let values = members
            .iter()
            .enumerate()
            .map(|(index, member)| (member.name.text.clone(), Bits::from_u64(width, index as u64)))
            .collect();
        let display = Display::Enum(declaration.name.text.clone(), values);
        Ok(Shape::Scalar(ValueType::Bits(width), display))
    }

    fn serializable_display(&self, id: NodeId, width: u32) -> Display {
        let Some(declaration) = self.nodes.declaration(id) else { return Display::Unsigned };
        let DeclarationKind::Enum { members, .. } = &declaration.kind else {
            return Display::Unsigned;
        };
        let values = members
            .iter()
            .filter_map(|member| {
                let value = self.serializable_member(id, member.id)?;
                Some((member.name.text.clone(), Bits::from_bigint(width, &value)))
            })
            .collect();
        Display::Enum(declaration.name.text.clone(), values)
    }

    /// The value of a member of a serializable enum.
    pub(crate) fn serializable_member(
        &self,
        declaration: NodeId,
        member: NodeId,
    ) -> Option<num_bigint::BigInt> {
        let DeclarationKind::Enum { members, .. } = &self.nodes.declaration(declaration)?.kind
        else {
            return None;
        };
        let member = members.iter().find(|candidate| candidate.id == member)?;
        match self.typed.constants.get(&member.value.as_ref()?.id)? {
            Constant::Integer(value) => Some(value.clone()),
            Constant::EnumMember(inner, index) => {
                let Node::Declaration(inner_declaration) = self.nodes.get(*inner)? else {
                    return None;
                };
                let DeclarationKind::Enum { members, .. } = &inner_declaration.kind else {
                    return None;
                };
                self.serializable_member(*inner, members.get(*index)?.id)
            }
            _ => None,
        }
    }

    fn header_type(&mut self, ty: &Type) -> Lowered<HeaderTypeId> {
        if let Some(known) = self.header_types.get(ty) {
            return Ok(*known);
        }
        let TypeKind::Header(id, _) = &**ty else {
            return Err(
                self.not_expressible("a header union or stack holds something else than headers")
            );
        };
        let name = match self.nodes.declaration(*id) {
            Some(declaration) => declaration.name.text.clone(),
            None => return Err(self.missing_fact("the declaration of a header")),
        };
        let mut fields = Vec::new();
        for (name, ty) in self.fields_of(ty)? {
            fields.push((name, self.shape(&ty)?));
        }
        let mut flat = Vec::new();
        for (name, shape) in &fields {
            flatten_header_field(name, shape, &mut flat);
        }
        let id = HeaderTypeId(self.program.header_types.len() as u32);
        self.program.header_types.push(HeaderType { name, fields: flat });
        self.header_shapes.push(fields.into());
        self.header_types.insert(ty.clone(), id);
        Ok(id)
    }

    /// The fields of a header type with their layouts.
    pub(super) fn header_fields(&self, ty: HeaderTypeId) -> FieldShapes {
        self.header_shapes[ty.index()].clone()
    }

    /// The flat fields of a header type.
    pub(crate) fn flat_fields(&self, ty: HeaderTypeId) -> Vec<HeaderField> {
        self.program.header_types[ty.index()].fields.clone()
    }

    /// The flat index of the first slot of a named field, and the field's layout.
    pub(crate) fn header_field(&self, ty: HeaderTypeId, name: &str) -> Option<(u32, Shape)> {
        let mut index = 0;
        for (field, shape) in self.header_shapes[ty.index()].iter() {
            if &**field == name {
                return Some((index, shape.clone()));
            }
            index += scalar_count(shape);
        }
        None
    }
}

fn flatten_header_field(name: &str, shape: &Shape, flat: &mut Vec<HeaderField>) {
    match shape {
        Shape::Scalar(ty, display) => {
            flat.push(HeaderField { name: name.into(), ty: *ty, display: display.clone() });
        }
        Shape::Struct(fields) => {
            for (field, shape) in fields.iter() {
                flatten_header_field(&format!("{name}.{field}"), shape, flat);
            }
        }
        _ => {}
    }
}

/// How many scalars a scalar or a struct of scalars has.
pub(super) fn scalar_count(shape: &Shape) -> u32 {
    match shape {
        Shape::Scalar(..) => 1,
        Shape::Struct(fields) => fields.iter().map(|(_, shape)| scalar_count(shape)).sum(),
        _ => 0,
    }
}

/// Whether a type is made of more others than any program could use. Type arguments that double with
/// each call grow beyond all measure.
pub(super) fn is_too_large(ty: &Type) -> bool {
    const PARTS_LIMIT: usize = 10_000;
    let mut waiting = vec![ty];
    let mut seen = 0;
    while let Some(ty) = waiting.pop() {
        seen += 1;
        if seen > PARTS_LIMIT {
            return true;
        }
        match &**ty {
            TypeKind::Struct(_, parts)
            | TypeKind::Header(_, parts)
            | TypeKind::HeaderUnion(_, parts)
            | TypeKind::Extern(_, parts)
            | TypeKind::Tuple(parts) => waiting.extend(parts),
            TypeKind::Stack(part, _) | TypeKind::List(part) | TypeKind::Set(part) => {
                waiting.push(part);
            }
            TypeKind::AnonymousStruct(fields) => waiting.extend(fields.iter().map(|(_, ty)| ty)),
            _ => {}
        }
    }
    false
}
