// SPDX-License-Identifier: Apache-2.0
//! Evaluates sizes and types to *closed* types, which have numbers for sizes and no variables.
//! Instantiations of variables are passed from a use into the declaration that is used.

use super::{Elaborated, Elaborator, Scope, codes};
use crate::check::{Instantiation, Size, SizeTerm, TableType, Type, UserTypeBody, Variable};
use crate::core::MAX_INTEGER_BITS;
use crate::syntax::ast::NodeId;
use source::{Diagnostic, Span};

/// The value of an undetermined size variable: the width of a plain `int`.
const DEFAULT_SIZE: u128 = 32;

impl Elaborator<'_> {
    /// The value of a size.
    pub(super) fn size(&mut self, size: &Size, scope: &Scope, span: Span) -> Elaborated<u128> {
        let mut sum = size.constant;
        for term in &size.terms {
            let value = match term {
                SizeTerm::Variable(variable) => {
                    scope.sizes.get(variable).copied().unwrap_or(DEFAULT_SIZE)
                }
                SizeTerm::Symbolic(id) => self.symbolic_size(*id, span)?,
                SizeTerm::Loop(id) => match scope.loops.get(id) {
                    Some(value) => *value,
                    None => return Err(self.internal(span, "a loop variable outside its loop")),
                },
            };
            sum = sum.saturating_add(value);
        }
        Ok(sum)
    }

    /// A width of an integer in bits.
    pub(super) fn width_of(&mut self, bits: u128, span: Span) -> Elaborated<u32> {
        if (1..=u128::from(MAX_INTEGER_BITS)).contains(&bits) {
            return Ok(bits as u32);
        }
        let message = match bits {
            0 => "an integer of no bits".to_owned(),
            bits => format!("an integer of {bits} bits"),
        };
        let diagnostic = Diagnostic::error(codes::WIDTH, span, message)
            .note(format!("integers have 1 to {MAX_INTEGER_BITS} bits"));
        Err(self.report(diagnostic.help("change the size, or use several integers")))
    }

    /// The width of a closed integer type.
    pub(super) fn int_width(&mut self, ty: &Type, span: Span) -> Elaborated<u32> {
        match self.shape(ty, span)? {
            Type::Int(size) => self.width_of(size.constant, span),
            other => {
                let found = self.checked.show(&other);
                Err(self.internal(span, &format!("`{found}` where an integer is needed")))
            }
        }
    }

    /// A closed type: without variables.
    pub(super) fn close(&mut self, ty: &Type, scope: &Scope, span: Span) -> Elaborated<Type> {
        let closed = match ty {
            Type::Bool
            | Type::Void
            | Type::Event
            | Type::Group
            | Type::Bitstring
            | Type::Payload
            | Type::String => ty.clone(),
            Type::Int(size) => Type::Int(self.closed_size(size, scope, span)?),
            Type::Array(size) => Type::Array(self.closed_size(size, scope, span)?),
            Type::PairArray(size) => Type::PairArray(self.closed_size(size, scope, span)?),
            Type::Counter(size) => Type::Counter(self.closed_size(size, scope, span)?),
            Type::Pattern(size) => Type::Pattern(self.closed_size(size, scope, span)?),
            Type::Memop { arguments, width } => {
                let width = self.closed_size(width, scope, span)?;
                Type::Memop { arguments: *arguments, width }
            }
            Type::Record(fields) => {
                let mut closed = Vec::with_capacity(fields.len());
                for (label, field) in fields {
                    closed.push((label.clone(), self.close(field, scope, span)?));
                }
                Type::Record(closed)
            }
            Type::Vector(element, length) => {
                let element = self.close(element, scope, span)?;
                Type::Vector(Box::new(element), self.closed_size(length, scope, span)?)
            }
            Type::Tuple(types) => {
                let mut closed = Vec::with_capacity(types.len());
                for ty in types {
                    closed.push(self.close(ty, scope, span)?);
                }
                Type::Tuple(closed)
            }
            Type::User { definition, name, sizes } => {
                let mut closed = Vec::with_capacity(sizes.len());
                for size in sizes {
                    closed.push(self.closed_size(size, scope, span)?);
                }
                let (definition, name) = self.aliased_type(*definition, name.clone())?;
                Type::User { definition, name, sizes: closed }
            }
            Type::Table(table) => Type::Table(Box::new(self.close_table(table, scope, span)?)),
            Type::Action(table) => Type::Action(Box::new(self.close_table(table, scope, span)?)),
            Type::Variable(variable) => match scope.types.get(variable) {
                Some(ty) => ty.clone(),
                None => Type::Int(Size::constant(DEFAULT_SIZE)),
            },
            Type::Error => return Err(self.internal(span, "a type that is not known")),
        };
        Ok(closed)
    }

    fn close_table(
        &mut self,
        table: &TableType,
        scope: &Scope,
        span: Span,
    ) -> Elaborated<TableType> {
        Ok(TableType {
            key: self.close(&table.key, scope, span)?,
            // The older spelling of tables does not say what entries hold.
            install: match &table.install {
                Type::Error => Type::Error,
                install => self.close(install, scope, span)?,
            },
            argument: self.close(&table.argument, scope, span)?,
            result: self.close(&table.result, scope, span)?,
        })
    }

    fn closed_size(&mut self, size: &Size, scope: &Scope, span: Span) -> Elaborated<Size> {
        Ok(Size::constant(self.size(size, scope, span)?))
    }

    /// The user type behind module aliases.
    fn aliased_type(
        &mut self,
        mut definition: NodeId,
        mut name: std::sync::Arc<str>,
    ) -> Elaborated<(NodeId, std::sync::Arc<str>)> {
        for _ in 0..=self.checked.user_types.len() {
            let Some(user) = self.checked.user_types.get(&definition) else { break };
            let UserTypeBody::Aliased { alias, then, otherwise } = &user.body else { break };
            definition = if self.condition(*alias)? { *then } else { *otherwise };
            if let Some(user) = self.checked.user_types.get(&definition) {
                name = user.name.clone();
            }
        }
        Ok((definition, name))
    }

    /// What a closed type is, if it is a user type, at its head. Inside it user types stay.
    pub(super) fn shape(&mut self, ty: &Type, span: Span) -> Elaborated<Type> {
        let mut ty = ty.clone();
        for _ in 0..=self.checked.user_types.len() {
            let Type::User { definition, sizes, .. } = &ty else { return Ok(ty) };
            let Some(user) = self.checked.user_types.get(definition) else { break };
            let UserTypeBody::Known(body) = &user.body else { break };
            let mut scope = Scope::default();
            for (parameter, size) in user.parameters.iter().zip(sizes) {
                scope.sizes.insert(*parameter, size.constant);
            }
            ty = self.close(body, &scope, span)?;
        }
        let shown = self.checked.show(&ty);
        Err(self.internal(span, &format!("`{shown}` is not known")))
    }

    /// The closed type of an expression or of a binder.
    pub(super) fn type_of(&mut self, id: NodeId, scope: &Scope, span: Span) -> Elaborated<Type> {
        match self.checked.types.get(&id) {
            Some(ty) => self.close(&ty.clone(), scope, span),
            None => Err(self.internal(span, "something without a type")),
        }
    }

    /// The instantiation of a declaration's variables at a use.
    pub(super) fn instantiated(
        &mut self,
        use_site: NodeId,
        scope: &Scope,
        span: Span,
    ) -> Elaborated<Scope> {
        let mut inner = Scope::default();
        if let Some(instantiation) = self.checked.instantiations.get(&use_site) {
            let Instantiation { sizes, types } = instantiation;
            for (variable, size) in sizes {
                let value = self.size(size, scope, span)?;
                inner.sizes.insert(*variable, value);
            }
            for (variable, ty) in types {
                let ty = self.close(ty, scope, span)?;
                inner.types.insert(*variable, ty);
            }
        }
        Ok(inner)
    }

    /// Matches the closed type `ty` against `pattern` and binds its variables. Variables
    /// that are known already stay.
    pub(super) fn match_types(
        &mut self,
        pattern: &Type,
        ty: &Type,
        scope: &mut Scope,
        span: Span,
    ) -> Elaborated<()> {
        match (pattern, ty) {
            (Type::Variable(variable), _) => {
                scope.types.entry(*variable).or_insert_with(|| ty.clone());
            }
            (Type::Int(pattern), Type::Int(size))
            | (Type::Array(pattern), Type::Array(size))
            | (Type::PairArray(pattern), Type::PairArray(size))
            | (Type::Counter(pattern), Type::Counter(size))
            | (Type::Pattern(pattern), Type::Pattern(size))
            | (Type::Memop { width: pattern, .. }, Type::Memop { width: size, .. }) => {
                self.match_sizes(pattern, size.constant, scope, span)?;
            }
            (Type::Vector(inner, length), Type::Vector(element, size)) => {
                self.match_sizes(length, size.constant, scope, span)?;
                self.match_types(inner, element, scope, span)?;
            }
            (Type::Tuple(patterns), Type::Tuple(types)) => {
                for (pattern, ty) in patterns.iter().zip(types) {
                    self.match_types(pattern, ty, scope, span)?;
                }
            }
            (Type::Record(patterns), Type::Record(fields)) => {
                for ((_, pattern), (_, ty)) in patterns.iter().zip(fields) {
                    self.match_types(pattern, ty, scope, span)?;
                }
            }
            (Type::Table(pattern), Type::Table(table))
            | (Type::Action(pattern), Type::Action(table)) => {
                self.match_types(&pattern.key, &table.key, scope, span)?;
                self.match_types(&pattern.install, &table.install, scope, span)?;
                self.match_types(&pattern.argument, &table.argument, scope, span)?;
                self.match_types(&pattern.result, &table.result, scope, span)?;
            }
            (Type::User { definition, name, sizes: patterns }, Type::User { sizes, .. }) => {
                let (definition, _) = self.aliased_type(*definition, name.clone())?;
                if matches!(ty, Type::User { definition: of, .. } if *of == definition) {
                    for (pattern, size) in patterns.iter().zip(sizes) {
                        self.match_sizes(pattern, size.constant, scope, span)?;
                    }
                    return Ok(());
                }
                self.match_expanded(pattern, ty, scope, span)?;
            }
            (Type::User { .. }, _) | (_, Type::User { .. }) => {
                self.match_expanded(pattern, ty, scope, span)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// One step inside user types that are not the same.
    fn match_expanded(
        &mut self,
        pattern: &Type,
        ty: &Type,
        scope: &mut Scope,
        span: Span,
    ) -> Elaborated<()> {
        let conditions = self.conditions.clone();
        let inner = self.checked.expand_with(pattern, &|alias| conditions.get(&alias).copied());
        let shape = self.shape(ty, span)?;
        if matches!(inner, Type::User { .. }) {
            return Ok(());
        }
        self.match_types(&inner, &shape, scope, span)
    }

    fn match_sizes(
        &mut self,
        pattern: &Size,
        value: u128,
        scope: &mut Scope,
        span: Span,
    ) -> Elaborated<()> {
        let unknown: Vec<Variable> = (pattern.terms.iter())
            .filter_map(|term| match term {
                SizeTerm::Variable(variable) if !scope.sizes.contains_key(variable) => {
                    Some(*variable)
                }
                _ => None,
            })
            .collect();
        let [variable] = unknown.as_slice() else { return Ok(()) };
        let mut rest = pattern.clone();
        rest.terms.retain(|term| *term != SizeTerm::Variable(*variable));
        let rest = self.size(&rest, scope, span)?;
        if let Some(value) = value.checked_sub(rest) {
            scope.sizes.insert(*variable, value);
        }
        Ok(())
    }
}
