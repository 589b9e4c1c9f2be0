// SPDX-License-Identifier: Apache-2.0
//! Converts types and sizes of the source to checked types and sizes; declares and expands user types.

use super::Checker;
use super::body::{DeferredCheck, Frame};
use super::checked::{
    CheckedProgram, Definition, Instantiation, Size, SizeTerm, TableType, Type, UserType,
    UserTypeBody, Variable,
};
use super::codes;
use super::scopes::{Entry, Namespace, Resolution, show_path};
use crate::syntax::ast::{self, Binder, NodeId, Parameter, Path, Segment, SizeKind, TypeKind};
use source::{Diagnostic, Span};
use std::sync::Arc;

impl Checker {
    /// The type that is written.
    pub(super) fn resolve_type(&mut self, ty: &ast::Type) -> Type {
        match &ty.kind {
            TypeKind::Int(None) => Type::Int(Size::constant(super::body::DEFAULT_WIDTH)),
            TypeKind::Int(Some(width)) => {
                let resolved = self.resolve_size(width);
                if resolved.known() == Some(0) {
                    self.diagnostics.push(Diagnostic::error(
                        codes::SIZES,
                        width.span,
                        "an integer has at least one bit",
                    ));
                    return Type::Error;
                }
                Type::Int(resolved)
            }
            TypeKind::Bool => Type::Bool,
            TypeKind::Void => Type::Void,
            TypeKind::Event => Type::Event,
            TypeKind::Group => Type::Group,
            TypeKind::Bitstring => Type::Bitstring,
            TypeKind::Auto => self.variables.fresh_type(),
            TypeKind::Variable(name) => match self.written_type(name) {
                Some(variable) => Type::Variable(variable),
                None => Type::Error,
            },
            TypeKind::Record(fields) => {
                let mut resolved: Vec<(Arc<str>, Type)> = Vec::new();
                for field in fields {
                    let ty = self.resolve_type(&field.ty);
                    let earlier = fields.iter().find(|other| other.name.name == field.name.name);
                    if let Some(earlier) = earlier.filter(|other| other.name.id != field.name.id) {
                        self.duplicate(
                            "field",
                            &field.name.name,
                            field.name.span,
                            earlier.name.span,
                        );
                    } else {
                        resolved.push((field.name.name.clone(), ty));
                    }
                }
                Type::Record(resolved)
            }
            TypeKind::Vector(element, length) => {
                let element = self.resolve_type(element);
                Type::Vector(Box::new(element), self.resolve_size(length))
            }
            TypeKind::Tuple(types) => {
                Type::tuple(types.iter().map(|ty| self.resolve_type(ty)).collect())
            }
            TypeKind::Memop(sizes) => {
                let width = match sizes.first() {
                    Some(size) => self.resolve_size(size),
                    None => self.variables.fresh_size(),
                };
                self.variables.fresh_memop(width)
            }
            TypeKind::Named { path, sizes, .. } => self.named_type(path, sizes, ty.span),
            TypeKind::Applied { path, arguments } => self.applied_type(path, arguments, ty.span),
        }
    }

    fn named_type(&mut self, path: &Path, sizes: &[ast::Size], span: Span) -> Type {
        let found = self.peek(Namespace::Types, path);
        if found.is_none()
            && let Some(arguments) = memop_word(path)
        {
            let width = match sizes.first() {
                Some(size) => self.resolve_size(size),
                None => self.variables.fresh_size(),
            };
            return Type::Memop { arguments, width };
        }
        if found.is_none()
            && let Some(builtin) = builtin_type(path)
        {
            let resolved: Vec<Size> = sizes.iter().map(|size| self.resolve_size(size)).collect();
            return self.builtin_type(builtin, path, resolved, span);
        }
        let Resolution::Entry(entry) = self.lookup(Namespace::Types, path) else {
            for size in sizes {
                self.resolve_size(size);
            }
            return Type::Error;
        };
        let resolved: Vec<Size> = sizes.iter().map(|size| self.resolve_size(size)).collect();
        self.user_type(&entry, path, resolved, span)
    }

    fn user_type(&mut self, entry: &Entry, path: &Path, sizes: Vec<Size>, span: Span) -> Type {
        let Definition::Type(definition) = entry.definition else { return Type::Error };
        let Some(user) = self.out.user_types.get(&definition) else { return Type::Error };
        let name = user.name.clone();
        let wanted = user.parameters.len();
        if wanted != sizes.len() {
            let expected = self.sizes_of(wanted);
            self.diagnostics.push(
                Diagnostic::error(
                    codes::SIZES,
                    span,
                    format!(
                        "type `{}` takes {expected}, but {} given",
                        show_path(path),
                        count(sizes.len())
                    ),
                )
                .label(entry.span, "declared here"),
            );
            return Type::Error;
        }
        Type::User { definition, name, sizes }
    }

    fn sizes_of(&self, count: usize) -> String {
        match count {
            0 => "no sizes".to_owned(),
            1 => "1 size".to_owned(),
            _ => format!("{count} sizes"),
        }
    }

    fn builtin_type(&mut self, name: &str, path: &Path, sizes: Vec<Size>, span: Span) -> Type {
        let wanted = usize::from(matches!(name, "Array" | "PairArray" | "Counter"));
        if name == "Table" {
            self.diagnostics.push(
                Diagnostic::error(codes::SIZES, span, "`Table.t` takes four types")
                    .help("write `Table.t<<key, installed, argument, result>>`; `()` is no value"),
            );
            return Type::Error;
        }
        if sizes.len() != wanted {
            let expected = self.sizes_of(wanted);
            let mut diagnostic = Diagnostic::error(
                codes::SIZES,
                span,
                format!(
                    "type `{}` takes {expected}, but {} given",
                    show_path(path),
                    count(sizes.len())
                ),
            );
            if wanted == 1 {
                diagnostic = diagnostic
                    .help(format!("write the width of a cell in bits, as in `{name}.t<32>`"));
            }
            self.diagnostics.push(diagnostic);
            return Type::Error;
        }
        match (name, sizes.into_iter().next()) {
            ("Array", Some(width)) => Type::Array(width),
            ("PairArray", Some(width)) => Type::PairArray(width),
            ("Counter", Some(width)) => Type::Counter(width),
            _ => Type::Payload,
        }
    }

    fn applied_type(&mut self, path: &Path, arguments: &[ast::Type], span: Span) -> Type {
        let shadowed = self.peek(Namespace::Types, path);
        if shadowed.is_none() && builtin_type(path) == Some("Table") {
            let mut types: Vec<Type> =
                arguments.iter().map(|argument| self.resolve_type(argument)).collect();
            if types.len() != 4 {
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::SIZES,
                        span,
                        format!("`Table.t` takes four types, but {} given", count(types.len())),
                    )
                    .help("write `Table.t<<key, installed, argument, result>>`; `()` is no value"),
                );
                return Type::Error;
            }
            let mut next = || types.remove(0);
            return Type::Table(Box::new(TableType {
                key: next(),
                install: next(),
                argument: next(),
                result: next(),
            }));
        }
        // The paper's spelling has sizes in the double brackets.
        let sizes: Option<Vec<ast::Size>> = arguments.iter().map(type_as_size).collect();
        match sizes {
            Some(sizes) => self.named_type(path, &sizes, span),
            None => {
                self.diagnostics.push(Diagnostic::error(
                    codes::SIZES,
                    span,
                    format!("`{}` takes sizes, not types", show_path(path)),
                ));
                Type::Error
            }
        }
    }

    /// The size that is written.
    pub(super) fn resolve_size(&mut self, size: &ast::Size) -> Size {
        match &size.kind {
            SizeKind::Number(number) => Size::constant(*number),
            SizeKind::Auto => self.variables.fresh_size(),
            SizeKind::Variable(name) => match self.written_size(name) {
                Some(variable) => Size::term(SizeTerm::Variable(variable)),
                None => self.variables.fresh_size(),
            },
            SizeKind::Sum(parts) => {
                let mut sum = Size::default();
                for part in parts {
                    sum = sum.plus(&self.resolve_size(part));
                }
                sum
            }
            SizeKind::Named(path) => {
                let resolved = self.named_size(path);
                self.out.sizes.insert(path.id, resolved.clone());
                self.body.written.push(path.id);
                resolved
            }
        }
    }

    fn named_size(&mut self, path: &Path) -> Size {
        if let [segment] = &path.segments[..]
            && let Some((_, id)) =
                self.body.loops.iter().rev().find(|(name, _)| *name == segment.name)
        {
            let id = *id;
            self.used.insert(id);
            self.out.definitions.insert(path.id, Definition::Loop(id));
            return Size::term(SizeTerm::Loop(id));
        }
        self.at = path.span;
        match self.lookup(Namespace::Sizes, path) {
            Resolution::Entry(Entry { definition: Definition::Size(id), .. }) => {
                match self.out.declared_sizes.get(&id) {
                    Some(Some(value)) => value.clone(),
                    _ => Size::term(SizeTerm::Symbolic(id)),
                }
            }
            Resolution::Entry(_) | Resolution::Builtin(_) | Resolution::Missing => {
                self.variables.fresh_size()
            }
        }
    }

    fn written_size(&mut self, name: &Segment) -> Option<Variable> {
        if let Some(variable) = self.body.written_sizes.get(&name.name) {
            return Some(*variable);
        }
        if self.body.closed {
            self.undeclared_variable(name);
            return None;
        }
        let variable = self.variables.named(Some(name.name.clone()));
        self.out.variable_names.insert(variable, name.name.clone());
        self.body.written_sizes.insert(name.name.clone(), variable);
        Some(variable)
    }

    fn written_type(&mut self, name: &Segment) -> Option<Variable> {
        if let Some(variable) = self.body.written_types.get(&name.name) {
            return Some(*variable);
        }
        if self.body.closed {
            self.undeclared_variable(name);
            return None;
        }
        let variable = self.variables.named(Some(name.name.clone()));
        self.out.variable_names.insert(variable, name.name.clone());
        self.body.written_types.insert(name.name.clone(), variable);
        Some(variable)
    }

    fn undeclared_variable(&mut self, name: &Segment) {
        self.diagnostics.push(
            Diagnostic::error(
                codes::UNDECLARED,
                name.span,
                format!("`'{}` is not a parameter of this type", name.name),
            )
            .help(format!("add it to the parameters after the type's name: `<'{}>`", name.name)),
        );
    }

    /// Declares a user type.
    pub(super) fn declare_user_type(
        &mut self,
        name: &Binder,
        parameters: &[ast::SizeParameter],
        ty: &ast::Type,
    ) {
        self.begin(Frame::Value);
        let variables = self.type_parameters(parameters);
        self.body.closed = true;
        let resolved = self.resolve_type(ty);
        for variable in &variables {
            self.variables.make_rigid(*variable);
        }
        // `auto` in a type: what the older table types leave open.
        let (mut open, mut sizes) = (Vec::new(), Vec::new());
        self.variables.free(&self.variables.resolve(&resolved), &mut open, &mut sizes);
        for variable in open {
            self.variables.bind_type(variable, Type::Error);
        }
        let resolved = self.variables.resolve(&resolved);
        let is_global = self.out.is_global(&resolved);
        let is_record = matches!(resolved, Type::Record(_));
        self.finish(Vec::new());
        self.note_facts(name.id, &variables, &resolved);
        let full = self.full_name(&name.name);
        self.out.user_types.insert(
            name.id,
            UserType {
                name: full,
                parameters: variables,
                body: UserTypeBody::Known(resolved),
                is_global,
            },
        );
        if is_record {
            self.records.push(name.id);
        }
        self.declare_named(Namespace::Types, name, Definition::Type(name.id));
    }

    /// The parameters of a type, as variables.
    pub(super) fn type_parameters(&mut self, parameters: &[ast::SizeParameter]) -> Vec<Variable> {
        let mut variables = Vec::new();
        for parameter in parameters {
            let name = parameter.name.name.clone();
            if self.body.written_sizes.contains_key(&name) {
                let first = parameters.iter().find(|other| other.name.name == name);
                let first = first.map_or(parameter.name.span, |first| first.name.span);
                self.duplicate("size parameter", &format!("'{name}"), parameter.name.span, first);
            }
            let variable = self.variables.named(Some(name.clone()));
            self.name_binder(&parameter.name);
            self.out.variable_names.insert(variable, name.clone());
            self.body.written_sizes.insert(name, variable);
            variables.push(variable);
        }
        variables
    }

    /// Declares a name in the innermost module and complains if it is there already.
    pub(super) fn declare_named(
        &mut self,
        namespace: Namespace,
        name: &Binder,
        definition: Definition,
    ) {
        self.name_binder(name);
        let segment = Segment { name: name.name.clone(), span: name.span };
        let scope = self.innermost();
        let earlier = self.scopes[scope.0].get(namespace, &name.name).map(|entry| entry.span);
        if let Some(first) = earlier {
            self.duplicate(namespace.noun(), &name.name, name.span, first);
        }
        let entry = Entry { definition, span: name.span, view: None, scope: None };
        self.declare(namespace, &segment, entry);
    }

    /// Whether what a user type is made of is visible at the place being checked.
    pub(super) fn is_transparent(&self, definition: NodeId) -> bool {
        match self.opaque.get(&definition) {
            None => true,
            Some(None) => false,
            Some(Some(home)) => self.stack.contains(home),
        }
    }

    /// Expands a user type by one step, if it is visible here.
    pub(super) fn expand_here(&self, ty: &Type) -> Option<Type> {
        let Type::User { definition, sizes, .. } = ty else { return None };
        if !self.is_transparent(*definition) {
            return None;
        }
        let user = self.out.user_types.get(definition)?;
        let UserTypeBody::Known(body) = &user.body else { return None };
        let values = user.parameters.iter().copied().zip(sizes.iter().cloned());
        let instantiation = Instantiation { sizes: values.collect(), ..Instantiation::default() };
        Some(instantiation.apply(body))
    }

    /// Expands a type as far as it is visible here.
    pub(super) fn see_through(&self, ty: &Type) -> Type {
        let mut ty = self.variables.head(ty);
        while let Some(expanded) = self.expand_here(&ty) {
            ty = self.variables.head(&expanded);
        }
        ty
    }

    /// Brings parameters into scope and gives their types; complains about two of one name.
    pub(super) fn parameters(&mut self, parameters: &[Parameter]) -> Vec<Type> {
        let mut types = Vec::new();
        for (at, parameter) in parameters.iter().enumerate() {
            let ty = self.resolve_type(&parameter.ty);
            if let Some(first) =
                parameters[..at].iter().find(|other| other.name.name == parameter.name.name)
            {
                let name = parameter.name.name.clone();
                self.duplicate("parameter", &name, parameter.name.span, first.name.span);
            }
            if ty == Type::Void {
                self.diagnostics.push(Diagnostic::error(
                    codes::TYPE_MISMATCH,
                    parameter.ty.span,
                    format!("parameter `{}` cannot be `void`", parameter.name.name),
                ));
            }
            self.local(&parameter.name, ty.clone());
            types.push(ty);
        }
        types
    }

    /// Keeps what parameters are called and where they are, for messages about calls.
    pub(super) fn remember_parameters(&mut self, of: NodeId, parameters: &[Parameter]) {
        let segments = parameters.iter().map(|parameter| Segment {
            name: parameter.name.name.clone(),
            span: parameter.name.span,
        });
        self.parameters.insert(of, segments.collect());
    }

    /// Remembers that something may not hold persistent state.
    pub(super) fn forbid_global(&mut self, ty: &Type, what: super::body::NotGlobal, span: Span) {
        self.body.later.push(DeferredCheck::NotGlobal { ty: ty.clone(), what, span });
    }
}

fn count(number: usize) -> String {
    match number {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        _ => format!("{number} are"),
    }
}

/// The module of a built-in type that a path names: `Array.t` or the paper's `Array`.
fn builtin_type(path: &Path) -> Option<&'static str> {
    let names: Vec<&str> = path.segments.iter().map(|segment| &*segment.name).collect();
    let module = match names[..] {
        [module] => module,
        [module, "t"] => module,
        _ => return None,
    };
    ["Array", "PairArray", "Counter", "Table", "Payload"].into_iter().find(|name| *name == module)
}

/// The number of arguments in `memop2`, `memop3` and `memop4`.
fn memop_word(path: &Path) -> Option<usize> {
    match &path.segments[..] {
        [word] => match &*word.name {
            "memop2" => Some(2),
            "memop3" => Some(3),
            "memop4" => Some(4),
            _ => None,
        },
        _ => None,
    }
}

/// A size that a parser of types read as a type.
fn type_as_size(ty: &ast::Type) -> Option<ast::Size> {
    let kind = match &ty.kind {
        TypeKind::Variable(name) => SizeKind::Variable(name.clone()),
        TypeKind::Auto => SizeKind::Auto,
        TypeKind::Named { path, sizes, .. } if sizes.is_empty() => SizeKind::Named(path.clone()),
        _ => return None,
    };
    Some(ast::Size { kind, span: ty.span })
}

impl CheckedProgram {
    /// The fields of a record type, through user types; `None` if it is no record.
    pub fn fields(&self, ty: &Type) -> Option<Vec<(Arc<str>, Type)>> {
        match self.expand(ty) {
            Type::Record(fields) => Some(fields),
            _ => None,
        }
    }
}
