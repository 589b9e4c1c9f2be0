// SPDX-License-Identifier: Apache-2.0
//! Queries on a [`CheckedProgram`]: expansion of user types, substitution of variables, arithmetic of
//! sizes, which types hold global data, and types as text. They infer nothing.

use super::checked::{
    CheckedProgram, Instantiation, Size, SizeTerm, TableType, Type, UserTypeBody, Variable,
};
use crate::syntax::ast::NodeId;

impl Size {
    /// A size that is one term.
    pub fn term(term: SizeTerm) -> Size {
        Size { constant: 0, terms: vec![term] }
    }

    /// The sum of two sizes, in normal form.
    pub fn plus(&self, other: &Size) -> Size {
        let mut terms = [self.terms.as_slice(), other.terms.as_slice()].concat();
        terms.sort_unstable();
        Size { constant: self.constant.saturating_add(other.constant), terms }
    }

    /// `self - other` if that is a size whatever the terms stand for.
    pub fn minus(&self, other: &Size) -> Option<Size> {
        let mut terms = self.terms.clone();
        for term in &other.terms {
            let at = terms.iter().position(|own| own == term)?;
            terms.remove(at);
        }
        Some(Size { constant: self.constant.checked_sub(other.constant)?, terms })
    }

    /// The size with its terms replaced; `None` keeps a term.
    pub fn replace(&self, mut replacement: impl FnMut(SizeTerm) -> Option<Size>) -> Size {
        let mut sum = Size::constant(self.constant);
        for term in &self.terms {
            sum = sum.plus(&replacement(*term).unwrap_or_else(|| Size::term(*term)));
        }
        sum
    }
}

impl Type {
    /// A tuple; of one type, that type.
    pub fn tuple(mut types: Vec<Type>) -> Type {
        if types.len() == 1 { types.remove(0) } else { Type::Tuple(types) }
    }

    /// The type with `ty` and `size` applied to everything directly inside it.
    pub fn map(
        &self,
        ty: &mut dyn FnMut(&Type) -> Type,
        size: &mut dyn FnMut(&Size) -> Size,
    ) -> Type {
        let table = |table: &TableType, ty: &mut dyn FnMut(&Type) -> Type| {
            Box::new(TableType {
                key: ty(&table.key),
                install: ty(&table.install),
                argument: ty(&table.argument),
                result: ty(&table.result),
            })
        };
        match self {
            Type::Int(width) => Type::Int(size(width)),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(label, of)| (label.clone(), ty(of))).collect())
            }
            Type::Vector(element, length) => Type::Vector(Box::new(ty(element)), size(length)),
            Type::Tuple(types) => Type::Tuple(types.iter().map(ty).collect()),
            Type::User { definition, name, sizes } => Type::User {
                definition: *definition,
                name: name.clone(),
                sizes: sizes.iter().map(size).collect(),
            },
            Type::Array(width) => Type::Array(size(width)),
            Type::PairArray(width) => Type::PairArray(size(width)),
            Type::Counter(width) => Type::Counter(size(width)),
            Type::Pattern(width) => Type::Pattern(size(width)),
            Type::Memop { arguments, width } => {
                Type::Memop { arguments: *arguments, width: size(width) }
            }
            Type::Table(inner) => Type::Table(table(inner, ty)),
            Type::Action(inner) => Type::Action(table(inner, ty)),
            Type::Bool
            | Type::Void
            | Type::Event
            | Type::Group
            | Type::Bitstring
            | Type::Payload
            | Type::String
            | Type::Variable(_)
            | Type::Error => self.clone(),
        }
    }

    /// The type with its variables replaced; `None` keeps a variable.
    pub fn replace(
        &self,
        types: &mut dyn FnMut(Variable) -> Option<Type>,
        sizes: &mut dyn FnMut(SizeTerm) -> Option<Size>,
    ) -> Type {
        if let Type::Variable(variable) = self {
            return types(*variable).unwrap_or_else(|| self.clone());
        }
        // Both closures are needed in both callbacks, one at a time.
        let sizes = std::cell::RefCell::new(sizes);
        self.map(&mut |inner| inner.replace(types, &mut **sizes.borrow_mut()), &mut |size| {
            size.replace(&mut **sizes.borrow_mut())
        })
    }
}

impl Instantiation {
    /// A type with these variables replaced by what they stand for. Variables that are not
    /// mentioned stay.
    pub fn apply(&self, ty: &Type) -> Type {
        ty.replace(&mut |variable| self.types.get(&variable).cloned(), &mut |term| self.term(term))
    }

    /// A size with these variables replaced.
    pub fn apply_to_size(&self, size: &Size) -> Size {
        size.replace(|term| self.term(term))
    }

    fn term(&self, term: SizeTerm) -> Option<Size> {
        match term {
            SizeTerm::Variable(variable) => self.sizes.get(&variable).cloned(),
            SizeTerm::Symbolic(_) | SizeTerm::Loop(_) => None,
        }
    }
}

impl CheckedProgram {
    /// What a user type is, until it is no user type (at its head). Types of a module alias stay as
    /// they are; [`CheckedProgram::expand_with`] goes through them.
    pub fn expand(&self, ty: &Type) -> Type {
        self.expand_with(ty, &|_| None)
    }

    /// As [`CheckedProgram::expand`], and through module aliases: `choice` tells of an alias (by
    /// binder) whether its condition holds.
    pub fn expand_with(&self, ty: &Type, choice: &dyn Fn(NodeId) -> Option<bool>) -> Type {
        let mut ty = ty.clone();
        // A chain of user types cannot be longer than there are user types.
        for _ in 0..=self.user_types.len() {
            let Type::User { definition, sizes, .. } = &ty else { break };
            let Some(user) = self.user_types.get(definition) else { break };
            ty = match &user.body {
                UserTypeBody::Known(body) => {
                    let values = user.parameters.iter().copied().zip(sizes.iter().cloned());
                    let instantiation =
                        Instantiation { sizes: values.collect(), ..Instantiation::default() };
                    instantiation.apply(body)
                }
                UserTypeBody::Aliased { alias, then, otherwise } => {
                    let Some(chosen) = choice(*alias) else { break };
                    let definition = if chosen { *then } else { *otherwise };
                    let Some(target) = self.user_types.get(&definition) else { break };
                    Type::User { definition, name: target.name.clone(), sizes: sizes.clone() }
                }
            };
        }
        ty
    }

    /// A type of a polymorphic declaration at one use of it.
    pub fn substitute(&self, ty: &Type, instantiation: &Instantiation) -> Type {
        instantiation.apply(ty)
    }

    /// Whether values of this type are, or hold, persistent state.
    pub fn is_global(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(_) | Type::PairArray(_) | Type::Counter(_) | Type::Table(_) => true,
            Type::Vector(element, _) => self.is_global(element),
            Type::Tuple(types) => types.iter().any(|ty| self.is_global(ty)),
            Type::Record(fields) => fields.iter().any(|(_, ty)| self.is_global(ty)),
            Type::User { definition, .. } => {
                self.user_types.get(definition).is_some_and(|user| user.is_global)
            }
            _ => false,
        }
    }

    /// A type as a user would write it.
    pub fn show(&self, ty: &Type) -> String {
        let size = |size: &Size| self.show_size(size);
        let list =
            |types: &[Type]| types.iter().map(|ty| self.show(ty)).collect::<Vec<_>>().join(", ");
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Int(width) => format!("int<{}>", size(width)),
            Type::Void => "void".to_owned(),
            Type::Event => "event".to_owned(),
            Type::Group => "group".to_owned(),
            Type::Record(fields) => {
                let fields = fields.iter().map(|(label, ty)| format!("{} {label};", self.show(ty)));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(" "))
            }
            Type::Vector(element, length) => {
                // `T[2][3]` is three vectors of two.
                format!("{}[{}]", self.show(element), size(length))
            }
            Type::Tuple(types) => format!("({})", list(types)),
            Type::User { name, sizes, .. } if sizes.is_empty() => name.to_string(),
            Type::User { name, sizes, .. } => {
                format!("{name}<{}>", sizes.iter().map(size).collect::<Vec<_>>().join(", "))
            }
            Type::Array(width) => format!("Array.t<{}>", size(width)),
            Type::PairArray(width) => format!("PairArray.t<{}>", size(width)),
            Type::Counter(width) => format!("Counter.t<{}>", size(width)),
            Type::Table(table) => format!(
                "Table.t<<{}, {}, {}, {}>>",
                self.show(&table.key),
                self.show(&table.install),
                self.show(&table.argument),
                self.show(&table.result)
            ),
            Type::Memop { arguments: 2..=4, width } => {
                let Type::Memop { arguments, .. } = ty else { return String::new() };
                format!("memop{arguments}<{}>", size(width))
            }
            Type::Memop { width, .. } => format!("memop<{}>", size(width)),
            Type::Action(table) => format!(
                "action {} ({})({})",
                self.show(&table.result),
                parameters(self, &table.install),
                parameters(self, &table.argument)
            ),
            Type::Pattern(width) => format!("pattern<{}>", size(width)),
            Type::Bitstring => "bitstring".to_owned(),
            Type::Payload => "Payload.t".to_owned(),
            Type::String => "string".to_owned(),
            Type::Variable(variable) => self.show_variable(*variable),
            Type::Error => "?".to_owned(),
        }
    }

    /// A size as a user would write it.
    pub fn show_size(&self, size: &Size) -> String {
        let mut parts: Vec<String> = Vec::new();
        for term in &size.terms {
            parts.push(match term {
                SizeTerm::Variable(variable) => self.show_variable(*variable),
                SizeTerm::Symbolic(id) | SizeTerm::Loop(id) => match self.binders.get(id) {
                    Some(binder) => binder.name.to_string(),
                    None => "?".to_owned(),
                },
            });
        }
        if size.constant > 0 || parts.is_empty() {
            parts.push(size.constant.to_string());
        }
        parts.join(" + ")
    }

    fn show_variable(&self, variable: Variable) -> String {
        match self.variable_names.get(&variable) {
            Some(name) => format!("'{name}"),
            None => "_".to_owned(),
        }
    }
}

/// The types of an action's parameter list, from its tuple type.
fn parameters(program: &CheckedProgram, ty: &Type) -> String {
    match ty {
        Type::Tuple(types) => {
            types.iter().map(|ty| program.show(ty)).collect::<Vec<_>>().join(", ")
        }
        single => program.show(single),
    }
}
