// SPDX-License-Identifier: Apache-2.0
//! Types of P4Info: the type of a value, and the definitions of named types. Types with arguments get the name that p4c
//! gives their specialization (`pair_t_bit32`).

use super::annotations::{Annotations, named};
use ir::Bits;
use ir::lowering::control_plane_name;
use p4::ast::{AnnotationBody, Declaration, DeclarationKind, Field, NodeId, TypeParameter};
use p4::token::TokenKind;
use p4::typed::{Constant, Type, TypeKind, TypedProgram};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A bit string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitType {
    /// `bit<W>`
    Bit(u32),
    /// `int<W>`
    Int(u32),
    /// `varbit<W>`
    Varbit(u32),
}

/// The type of a value; named types have their definitions in [`TypeDefinitions`].
#[derive(Clone, Debug, PartialEq)]
pub enum TypeSpec {
    /// A bit string.
    Bits(BitType),
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// A tuple.
    Tuple(Vec<TypeSpec>),
    /// A struct.
    Struct(Arc<str>),
    /// A header.
    Header(Arc<str>),
    /// A header union.
    HeaderUnion(Arc<str>),
    /// A stack of headers of this type.
    HeaderStack(Arc<str>, u32),
    /// A stack of unions of this type.
    HeaderUnionStack(Arc<str>, u32),
    /// An enum.
    Enum(Arc<str>),
    /// An enum with an underlying type.
    SerializableEnum(Arc<str>),
    /// A `type` declaration.
    New(Arc<str>),
    /// A type that P4Info does not have.
    Other,
}

/// The controller's type of a translated `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdnType {
    /// A text.
    Text,
    /// A bit string of this width.
    Bits(u32),
}

/// A `type` declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum NewType {
    /// The controller sees the underlying type.
    Original(TypeSpec),
    /// The switch translates values (`@p4runtime_translation`).
    Translated {
        /// The name of the translation.
        uri: Arc<str>,
        /// The controller's type.
        ty: SdnType,
    },
}

/// Fields of a struct.
pub type StructFields = Vec<(Arc<str>, TypeSpec)>;

/// Fields of a header.
pub type HeaderFields = Vec<(Arc<str>, BitType)>;

/// Members of a header union, each with its header.
pub type UnionMembers = Vec<(Arc<str>, Arc<str>)>;

/// Members of an enum with their values.
pub type Members = Vec<(Arc<str>, Bits)>;

/// The definitions of named types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeDefinitions {
    /// Structs with their fields.
    pub structs: BTreeMap<Arc<str>, StructFields>,
    /// Headers with their fields; those of nested structs have dotted names.
    pub headers: BTreeMap<Arc<str>, HeaderFields>,
    /// Header unions: member and header.
    pub header_unions: BTreeMap<Arc<str>, UnionMembers>,
    /// Enums with their members.
    pub enums: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// The program's errors, if something has the type `error`.
    pub errors: Option<Vec<Arc<str>>>,
    /// Enums with an underlying type: its width, and members with their values.
    pub serializable_enums: BTreeMap<Arc<str>, (u32, Members)>,
    /// `type` declarations with their annotations.
    pub new_types: BTreeMap<Arc<str>, (NewType, Annotations)>,
}

/// All declarations of a program by node.
pub(super) type Declarations<'a> = HashMap<NodeId, &'a Declaration>;

/// Collects the declarations of a program, those of parsers and controls too.
pub(super) fn declarations(typed: &TypedProgram) -> Declarations<'_> {
    fn add<'a>(list: &'a [Declaration], found: &mut Declarations<'a>) {
        for declaration in list {
            found.insert(declaration.id, declaration);
            match &declaration.kind {
                DeclarationKind::Parser(parser) => add(&parser.locals, found),
                DeclarationKind::Control(control) => add(&control.locals, found),
                DeclarationKind::Typedef(p4::ast::TypedefTarget::Declaration(inner)) => {
                    add(std::slice::from_ref(inner), found);
                }
                _ => {}
            }
        }
    }
    let mut found = Declarations::new();
    add(&typed.program.declarations, &mut found);
    found
}

/// Converts types and collects the definitions that they name.
pub(super) struct Types<'a> {
    pub typed: &'a TypedProgram,
    pub declarations: &'a Declarations<'a>,
    pub definitions: TypeDefinitions,
}

/// The control-plane name of a declaration at the top level.
fn name_of(declaration: &Declaration) -> Arc<str> {
    control_plane_name("", &declaration.annotations, &declaration.name.text)
}

impl<'a> Types<'a> {
    fn declaration(&self, id: NodeId) -> Option<&'a Declaration> {
        self.declarations.get(&id).copied()
    }

    /// Returns the name of the `type` declaration that a type is, and keeps its definition.
    pub fn new_type_name(&mut self, ty: &Type) -> Option<Arc<str>> {
        match self.spec(ty) {
            TypeSpec::New(name) => Some(name),
            _ => None,
        }
    }

    /// Converts a type.
    pub fn spec(&mut self, ty: &Type) -> TypeSpec {
        match &**ty {
            TypeKind::Bit(width) => TypeSpec::Bits(BitType::Bit(*width)),
            TypeKind::Int(width) => TypeSpec::Bits(BitType::Int(*width)),
            TypeKind::Varbit(width) => TypeSpec::Bits(BitType::Varbit(*width)),
            TypeKind::Bool => TypeSpec::Bool,
            TypeKind::Error => {
                self.definitions.errors.get_or_insert_with(|| self.typed.errors.clone());
                TypeSpec::Error
            }
            TypeKind::Tuple(members) => {
                TypeSpec::Tuple(members.iter().map(|member| self.spec(member)).collect())
            }
            TypeKind::Struct(id, arguments) => self.of_struct(*id, arguments),
            TypeKind::Header(id, arguments) => {
                self.header(*id, arguments).map_or(TypeSpec::Other, TypeSpec::Header)
            }
            TypeKind::HeaderUnion(id, arguments) => {
                self.header_union(*id, arguments).map_or(TypeSpec::Other, TypeSpec::HeaderUnion)
            }
            TypeKind::Stack(element, size) => match self.spec(element) {
                TypeSpec::Header(name) => TypeSpec::HeaderStack(name, *size),
                TypeSpec::HeaderUnion(name) => TypeSpec::HeaderUnionStack(name, *size),
                _ => TypeSpec::Other,
            },
            TypeKind::Enum(id) => {
                let Some(declaration) = self.declaration(*id) else { return TypeSpec::Other };
                let DeclarationKind::Enum { members, .. } = &declaration.kind else {
                    return TypeSpec::Other;
                };
                let name = name_of(declaration);
                let members = members.iter().map(|member| member.name.text.clone()).collect();
                self.definitions.enums.insert(name.clone(), members);
                TypeSpec::Enum(name)
            }
            TypeKind::SerializableEnum(id) => {
                self.serializable_enum(*id).map_or(TypeSpec::Other, TypeSpec::SerializableEnum)
            }
            TypeKind::NewType(id) => self.new_type(*id).map_or(TypeSpec::Other, TypeSpec::New),
            _ => TypeSpec::Other,
        }
    }

    /// Returns the width of a value as the controller sees it, in bits: that of a translated type is in its annotation.
    /// `None` is a text or an enum without representation.
    pub fn controller_width_bits(&self, ty: &Type) -> Option<u32> {
        let declaration = match &**ty {
            TypeKind::NewType(id) => self.declaration(*id),
            _ => None,
        };
        let annotations = declaration.map_or(&[][..], |declaration| &declaration.annotations);
        let translation = named(annotations, "p4runtime_translation");
        match translation.and_then(|annotation| translated(&annotation.body)) {
            Some(NewType::Translated { ty: SdnType::Bits(width), .. }) => Some(width),
            Some(NewType::Translated { ty: SdnType::Text, .. }) => None,
            _ => self.width_bits(ty),
        }
    }

    /// Returns the width of a value in bits.
    pub fn width_bits(&self, ty: &Type) -> Option<u32> {
        match &**ty {
            TypeKind::Bit(width) | TypeKind::Int(width) | TypeKind::Varbit(width) => Some(*width),
            TypeKind::Bool => Some(1),
            TypeKind::NewType(_) => self.width_bits(&self.underlying(ty)?),
            TypeKind::SerializableEnum(id) => {
                let DeclarationKind::Enum { underlying: Some(ty), .. } =
                    &self.declaration(*id)?.kind
                else {
                    return None;
                };
                self.width_bits(self.typed.type_refs.get(&ty.id)?)
            }
            _ => None,
        }
    }

    /// Returns the fields of a header, those of nested structs with dotted names: name, type and field.
    pub fn flattened(&self, id: NodeId, arguments: &[Type]) -> Vec<(Arc<str>, Type, &'a Field)> {
        let mut found = Vec::new();
        for (field, ty) in self.fields(id, arguments) {
            let name = field_name(field);
            match &*ty {
                TypeKind::Struct(inner, arguments) => {
                    for (rest, ty, field) in self.flattened(*inner, arguments) {
                        found.push((format!("{name}.{rest}").into(), ty, field));
                    }
                }
                _ => found.push((name, ty, field)),
            }
        }
        found
    }

    /// Returns the fields of a struct, header or union with their types.
    pub fn fields(&self, id: NodeId, arguments: &[Type]) -> Vec<(&'a Field, Type)> {
        let Some(declaration) = self.declaration(id) else { return Vec::new() };
        let (DeclarationKind::Struct(list)
        | DeclarationKind::Header(list)
        | DeclarationKind::HeaderUnion(list)) = &declaration.kind
        else {
            return Vec::new();
        };
        let ty = |field: &'a Field| {
            let ty = self.typed.declared_types.get(&field.id)?;
            Some((field, substituted(ty, &list.type_parameters, arguments)))
        };
        list.fields.iter().filter_map(ty).collect()
    }

    fn specialized_name(&self, id: NodeId, arguments: &[Type]) -> Option<Arc<str>> {
        let name = name_of(self.declaration(id)?);
        if arguments.is_empty() {
            return Some(name);
        }
        let mut text = name.to_string();
        for argument in arguments {
            text.push('_');
            text.push_str(&match &**argument {
                TypeKind::Bit(width) => format!("bit{width}"),
                TypeKind::Int(width) => format!("int{width}"),
                TypeKind::Bool => "bool".to_string(),
                TypeKind::Struct(id, inner) | TypeKind::Header(id, inner) => {
                    self.specialized_name(*id, inner)?.to_string()
                }
                TypeKind::Enum(id) | TypeKind::SerializableEnum(id) | TypeKind::NewType(id) => {
                    name_of(self.declaration(*id)?).to_string()
                }
                _ => "t".to_string(),
            });
        }
        Some(text.into())
    }

    fn of_struct(&mut self, id: NodeId, arguments: &[Type]) -> TypeSpec {
        let Some(name) = self.specialized_name(id, arguments) else { return TypeSpec::Other };
        if !self.definitions.structs.contains_key(&name) {
            let fields = self.fields(id, arguments);
            let fields = fields.iter().map(|(field, ty)| (field_name(field), self.spec(ty)));
            let fields = fields.collect();
            self.definitions.structs.insert(name.clone(), fields);
        }
        TypeSpec::Struct(name)
    }

    fn header(&mut self, id: NodeId, arguments: &[Type]) -> Option<Arc<str>> {
        let name = self.specialized_name(id, arguments)?;
        let mut fields = Vec::new();
        for (field, ty, _) in self.flattened(id, arguments) {
            // Named types of fields have their definitions too.
            let ty = match self.spec(&ty) {
                TypeSpec::Bits(ty) => ty,
                _ => BitType::Bit(self.width_bits(&ty).unwrap_or(0)),
            };
            fields.push((field, ty));
        }
        self.definitions.headers.insert(name.clone(), fields);
        Some(name)
    }

    fn header_union(&mut self, id: NodeId, arguments: &[Type]) -> Option<Arc<str>> {
        let name = self.specialized_name(id, arguments)?;
        let mut members = Vec::new();
        for (field, ty) in self.fields(id, arguments) {
            if let TypeSpec::Header(header) = self.spec(&ty) {
                members.push((field_name(field), header));
            }
        }
        self.definitions.header_unions.insert(name.clone(), members);
        Some(name)
    }

    fn serializable_enum(&mut self, id: NodeId) -> Option<Arc<str>> {
        let declaration = self.declaration(id)?;
        let DeclarationKind::Enum { underlying: Some(underlying), members } = &declaration.kind
        else {
            return None;
        };
        let width_bits = self.width_bits(self.typed.type_refs.get(&underlying.id)?)?;
        let name = name_of(declaration);
        let value = |member: &p4::ast::EnumMember| {
            let value = self.typed.constants.get(&member.value.as_ref()?.id)?;
            let Constant::Integer(value) = value else { return None };
            Some((member.name.text.clone(), Bits::from_bigint(width_bits, value)))
        };
        let members = members.iter().filter_map(value).collect();
        self.definitions.serializable_enums.insert(name.clone(), (width_bits, members));
        Some(name)
    }

    fn new_type(&mut self, id: NodeId) -> Option<Arc<str>> {
        let declaration = self.declaration(id)?;
        let name = name_of(declaration);
        let translation = named(&declaration.annotations, "p4runtime_translation");
        let ty = match translation.and_then(|annotation| translated(&annotation.body)) {
            Some(translated) => translated,
            None => {
                let mut ty: Type = Arc::new(TypeKind::NewType(id));
                while let Some(inner) = self.underlying(&ty) {
                    ty = inner;
                }
                NewType::Original(self.spec(&ty))
            }
        };
        let without = ["p4runtime_translation"];
        let annotations = Annotations::of(self.typed, &declaration.annotations, &without);
        self.definitions.new_types.insert(name.clone(), (ty, annotations));
        Some(name)
    }

    /// Returns the type that a `type` declaration is made of.
    fn underlying(&self, ty: &Type) -> Option<Type> {
        let TypeKind::NewType(id) = &**ty else { return None };
        let DeclarationKind::NewType(inner) = &self.declaration(*id)?.kind else { return None };
        self.typed.type_refs.get(&inner.id).cloned()
    }
}

/// Reads `@p4runtime_translation("uri", 32)`, `("uri", bit<32>)` or `("uri", string)`.
fn translated(body: &AnnotationBody) -> Option<NewType> {
    let AnnotationBody::Unstructured(tokens) = body else { return None };
    let uri = tokens.first().filter(|token| token.kind == TokenKind::String)?.text.clone();
    let width = tokens.iter().find(|token| token.kind == TokenKind::Integer);
    let ty = match width {
        Some(token) => SdnType::Bits(u32::try_from(crate::values::number(&token.text)?).ok()?),
        None => SdnType::Text,
    };
    Some(NewType::Translated { uri, ty })
}

fn field_name(field: &Field) -> Arc<str> {
    control_plane_name("", &field.annotations, &field.name.text)
}

/// Replaces type parameters by arguments.
fn substituted(ty: &Type, parameters: &[TypeParameter], arguments: &[Type]) -> Type {
    let inner = |list: &[Type]| -> Vec<Type> {
        list.iter().map(|ty| substituted(ty, parameters, arguments)).collect()
    };
    match &**ty {
        TypeKind::Variable(node) => {
            let at = parameters.iter().position(|parameter| parameter.id == *node);
            at.and_then(|at| arguments.get(at)).unwrap_or(ty).clone()
        }
        TypeKind::Struct(id, list) => Arc::new(TypeKind::Struct(*id, inner(list))),
        TypeKind::Header(id, list) => Arc::new(TypeKind::Header(*id, inner(list))),
        TypeKind::HeaderUnion(id, list) => Arc::new(TypeKind::HeaderUnion(*id, inner(list))),
        TypeKind::Stack(element, size) => {
            Arc::new(TypeKind::Stack(substituted(element, parameters, arguments), *size))
        }
        TypeKind::Tuple(list) => Arc::new(TypeKind::Tuple(inner(list))),
        _ => ty.clone(),
    }
}
