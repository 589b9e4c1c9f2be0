// SPDX-License-Identifier: Apache-2.0
//! Inference variables of types and sizes: their bindings, and unification. A generalized variable is
//! rigid and is never bound again. The caller words and places the message of a mismatch.

use super::Checker;
use super::checked::{Size, SizeTerm, TableType, Type, Variable};
use source::Span;
use std::sync::Arc;

/// All variables of a program.
#[derive(Default)]
pub(super) struct Variables {
    entries: Vec<Entry>,
    /// The numbers of arguments of memop types, where they are still variable.
    counts: Vec<Count>,
}

struct Entry {
    binding: Binding,
    rigid: bool,
    /// As the user wrote it, without the tick.
    name: Option<Arc<str>>,
}

enum Binding {
    Free,
    Type(Type),
    Size(Size),
}

#[derive(Clone, Copy)]
enum Count {
    Free,
    Known(usize),
    Same(usize),
}

/// Numbers of arguments from here on are indices into `Variables::counts`.
const FIRST_COUNT: usize = 1 << 16;

/// Limit of the terms in the width of an integer.
const LONGEST_SUM: usize = 256;

/// Two sizes that must be equal, which cannot be solved yet.
pub(super) struct Equation {
    pub left: Size,
    pub right: Size,
    pub span: Span,
}

impl Variables {
    /// A new variable; whether it is one of types or of sizes is seen where it stands.
    pub fn fresh(&mut self) -> Variable {
        self.named(None)
    }

    pub fn named(&mut self, name: Option<Arc<str>>) -> Variable {
        self.entries.push(Entry { binding: Binding::Free, rigid: false, name });
        Variable(self.entries.len() as u32 - 1)
    }

    pub fn fresh_size(&mut self) -> Size {
        Size::term(SizeTerm::Variable(self.fresh()))
    }

    pub fn fresh_int(&mut self) -> Type {
        Type::Int(self.fresh_size())
    }

    pub fn fresh_type(&mut self) -> Type {
        Type::Variable(self.fresh())
    }

    /// A memop type with an unknown number of arguments.
    pub fn fresh_memop(&mut self, width: Size) -> Type {
        self.counts.push(Count::Free);
        Type::Memop { arguments: FIRST_COUNT + self.counts.len() - 1, width }
    }

    pub fn name(&self, variable: Variable) -> Option<&Arc<str>> {
        self.entries[variable.0 as usize].name.as_ref()
    }

    pub fn make_rigid(&mut self, variable: Variable) {
        self.entries[variable.0 as usize].rigid = true;
    }

    pub fn is_rigid(&self, variable: Variable) -> bool {
        self.entries[variable.0 as usize].rigid
    }

    pub fn bind_size(&mut self, variable: Variable, size: Size) {
        self.entries[variable.0 as usize].binding = Binding::Size(size);
    }

    pub fn bind_type(&mut self, variable: Variable, ty: Type) {
        self.entries[variable.0 as usize].binding = Binding::Type(ty);
    }

    fn is_flexible(&self, term: SizeTerm) -> bool {
        matches!(term, SizeTerm::Variable(variable) if !self.is_rigid(variable))
    }

    fn count(&self, mut arguments: usize) -> (usize, Count) {
        loop {
            let Some(index) = arguments.checked_sub(FIRST_COUNT) else {
                return (arguments, Count::Known(arguments));
            };
            match self.counts[index] {
                Count::Free => return (arguments, Count::Free),
                Count::Known(number) => return (number, Count::Known(number)),
                Count::Same(other) => arguments = other,
            }
        }
    }

    /// The type with what its variables are bound to; of its head only.
    pub fn head(&self, ty: &Type) -> Type {
        self.borrowed_head(ty).clone()
    }

    fn borrowed_head<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        while let Type::Variable(variable) = ty {
            match &self.entries[variable.0 as usize].binding {
                Binding::Type(bound) => ty = bound,
                Binding::Free | Binding::Size(_) => break,
            }
        }
        ty
    }

    /// Whether a type stays within limits of parts and depth. Counts `parts` down.
    pub fn is_within(&self, ty: &Type, parts: &mut usize, depth: usize) -> bool {
        if *parts == 0 || depth == 0 {
            return false;
        }
        *parts -= 1;
        let mut within = |ty: &Type| self.is_within(ty, parts, depth - 1);
        match self.borrowed_head(ty) {
            Type::Int(width) => {
                width.terms.is_empty() || self.resolve_size(width).terms.len() <= LONGEST_SUM
            }
            Type::Record(fields) => fields.iter().all(|(_, ty)| within(ty)),
            Type::Vector(element, _) => within(element),
            Type::Tuple(types) => types.iter().all(within),
            Type::Table(table) | Type::Action(table) => {
                within(&table.key)
                    && within(&table.install)
                    && within(&table.argument)
                    && within(&table.result)
            }
            _ => true,
        }
    }

    /// The type with what its variables are bound to.
    pub fn resolve(&self, ty: &Type) -> Type {
        match self.head(ty) {
            Type::Memop { arguments, width } => {
                let (number, count) = self.count(arguments);
                let arguments = if matches!(count, Count::Free) { 0 } else { number };
                Type::Memop { arguments, width: self.resolve_size(&width) }
            }
            head => head.map(&mut |ty| self.resolve(ty), &mut |size| self.resolve_size(size)),
        }
    }

    /// As [`Variables::resolve`], but leaves numbers of memop arguments open.
    fn resolve_open(&self, ty: &Type) -> Type {
        let head = self.head(ty);
        head.map(&mut |ty| self.resolve_open(ty), &mut |size| self.resolve_size(size))
    }

    /// The size with what its variables are bound to.
    pub fn resolve_size(&self, size: &Size) -> Size {
        if size.terms.is_empty() {
            return size.clone();
        }
        size.replace(|term| match term {
            SizeTerm::Variable(variable) => match &self.entries[variable.0 as usize].binding {
                Binding::Size(bound) => Some(self.resolve_size(bound)),
                Binding::Free | Binding::Type(_) => None,
            },
            SizeTerm::Symbolic(_) | SizeTerm::Loop(_) => None,
        })
    }

    /// The free variables of a resolved type: those of types, those of sizes, in order of appearance.
    pub fn free(&self, ty: &Type, types: &mut Vec<Variable>, sizes: &mut Vec<Variable>) {
        let _ = ty.replace(
            &mut |variable| {
                if !types.contains(&variable) {
                    types.push(variable);
                }
                None
            },
            &mut |term| {
                if let SizeTerm::Variable(variable) = term
                    && !sizes.contains(&variable)
                {
                    sizes.push(variable);
                }
                None
            },
        );
    }
}

impl Checker {
    /// Makes two types equal if that is possible. User types are looked through where the place
    /// being checked may see what they are.
    pub(super) fn unify(&mut self, left: &Type, right: &Type) -> bool {
        let left = self.variables.head(left);
        let right = self.variables.head(right);
        match (&left, &right) {
            (Type::Variable(a), Type::Variable(b)) if a == b => true,
            (Type::Variable(a), other) if !self.variables.is_rigid(*a) => self.bind(*a, other),
            (other, Type::Variable(b)) if !self.variables.is_rigid(*b) => self.bind(*b, other),
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Bool, Type::Bool)
            | (Type::Void, Type::Void)
            | (Type::Event, Type::Event)
            | (Type::Group, Type::Group)
            | (Type::Bitstring, Type::Bitstring)
            | (Type::Payload, Type::Payload)
            | (Type::String, Type::String) => true,
            (Type::Int(a), Type::Int(b))
            | (Type::Array(a), Type::Array(b))
            | (Type::PairArray(a), Type::PairArray(b))
            | (Type::Counter(a), Type::Counter(b))
            | (Type::Pattern(a), Type::Pattern(b)) => self.unify_sizes(a, b),
            (
                Type::Memop { arguments: a, width: left },
                Type::Memop { arguments: b, width: right },
            ) => self.unify_counts(*a, *b) && self.unify_sizes(left, right),
            (
                Type::User { definition: a, sizes: left_sizes, .. },
                Type::User { definition: b, sizes: right_sizes, .. },
            ) if a == b => {
                // Where it is visible that the type does not depend on a size, that need not agree.
                left_sizes.len() == right_sizes.len()
                    && left_sizes.iter().zip(right_sizes).enumerate().all(|(at, (left, right))| {
                        self.unify_sizes(left, right) || !self.depends_on(*a, at)
                    })
            }
            (Type::User { .. }, _) | (_, Type::User { .. }) => {
                if matches!((&left, &right), (Type::User { .. }, Type::User { .. }))
                    && self.same_users.contains(&(left.clone(), right.clone()))
                {
                    return true;
                }
                // Expands one side at a time, so that two names of one type meet before both are expanded.
                let same = if let Some(expanded) = self.expand_here(&left) {
                    self.unify(&expanded, &right)
                } else if let Some(expanded) = self.expand_here(&right) {
                    self.unify(&left, &expanded)
                } else {
                    false
                };
                if same && has_known_sizes(&left) && has_known_sizes(&right) {
                    // Taken apart once; otherwise that would double with each level of records.
                    self.same_users.insert((left, right));
                }
                same
            }
            (Type::Vector(a, m), Type::Vector(b, n)) => self.unify_sizes(m, n) & self.unify(a, b),
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unify(a, b))
            }
            (Type::Record(a), Type::Record(b)) => {
                // The order of labels does not matter, as in the reference implementation.
                a.len() == b.len()
                    && a.iter().all(|(label, ty)| {
                        let other = b.iter().find(|(other, _)| other == label);
                        other.is_some_and(|(_, other)| self.unify(ty, other))
                    })
            }
            (Type::Table(a), Type::Table(b)) | (Type::Action(a), Type::Action(b)) => {
                self.unify_tables(a, b)
            }
            _ => false,
        }
    }

    fn unify_tables(&mut self, left: &TableType, right: &TableType) -> bool {
        self.unify(&left.key, &right.key)
            & self.unify(&left.install, &right.install)
            & self.unify(&left.argument, &right.argument)
            & self.unify(&left.result, &right.result)
    }

    fn unify_counts(&mut self, left: usize, right: usize) -> bool {
        let variables = &mut self.variables;
        match (variables.count(left), variables.count(right)) {
            ((_, Count::Known(a)), (_, Count::Known(b))) => a == b || a == 0 || b == 0,
            ((free, Count::Free), (_, Count::Known(number)))
            | ((_, Count::Known(number)), (free, Count::Free)) => {
                variables.counts[free - FIRST_COUNT] = Count::Known(number);
                true
            }
            ((a, _), (b, _)) => {
                if a != b {
                    variables.counts[a - FIRST_COUNT] = Count::Same(b);
                }
                true
            }
        }
    }

    fn bind(&mut self, variable: Variable, ty: &Type) -> bool {
        let resolved = self.variables.resolve_open(ty);
        let (mut types, mut sizes) = (Vec::new(), Vec::new());
        self.variables.free(&resolved, &mut types, &mut sizes);
        if types.contains(&variable) {
            return false;
        }
        if let Type::Variable(other) = resolved
            && !self.variables.is_rigid(other)
            && self.variables.name(other).is_none()
        {
            // The user's name is the one to keep.
            let name = self.variables.entries[variable.0 as usize].name.clone();
            self.variables.entries[other.0 as usize].name = name;
        }
        self.variables.bind_type(variable, resolved);
        true
    }

    /// Unifies two sizes. Defers undecided equations to the end of the declaration.
    pub(super) fn unify_sizes(&mut self, left: &Size, right: &Size) -> bool {
        let whole = (self.variables.resolve_size(left), self.variables.resolve_size(right));
        if whole.0 == whole.1 {
            return true;
        }
        let (left, right) = without_common(whole.0.clone(), whole.1.clone());
        let flexible = |variables: &Variables, size: &Size| {
            size.terms.iter().any(|term| variables.is_flexible(*term))
        };
        for (side, other) in [(&left, &right), (&right, &left)] {
            let Some(SizeTerm::Variable(variable)) = side.terms.first().copied() else { continue };
            if self.variables.is_rigid(variable) || side.constant > 0 {
                continue;
            }
            if side.terms.len() == 1 {
                if let [SizeTerm::Variable(target)] = other.terms[..]
                    && other.constant == 0
                    && !self.variables.is_rigid(target)
                    && self.variables.name(target).is_none()
                {
                    let name = self.variables.entries[variable.0 as usize].name.clone();
                    self.variables.entries[target.0 as usize].name = name;
                }
                self.variables.bind_size(variable, other.clone());
                return true;
            }
            let times = side.terms.len() as u128;
            let all_same = side.terms.iter().all(|term| *term == side.terms[0]);
            if all_same && other.terms.is_empty() {
                let even = other.constant % times == 0;
                if even {
                    self.variables.bind_size(variable, Size::constant(other.constant / times));
                }
                return even;
            }
        }
        let too_large = |side: &Size, other: &Size| side.constant > 0 && other.terms.is_empty();
        let (open_left, open_right) =
            (flexible(&self.variables, &left), flexible(&self.variables, &right));
        if !open_left && !open_right || too_large(&left, &right) || too_large(&right, &left) {
            return false;
        }
        let span = self.at;
        self.body.equations.push(Equation { left: whole.0, right: whole.1, span });
        true
    }
}

/// Whether a type is a user type whose sizes are numbers.
fn has_known_sizes(ty: &Type) -> bool {
    matches!(ty, Type::User { sizes, .. } if sizes.iter().all(|size| size.known().is_some()))
}

/// Two sizes without the terms and the part of the constants that both have.
fn without_common(mut left: Size, mut right: Size) -> (Size, Size) {
    let constant = left.constant.min(right.constant);
    left.constant -= constant;
    right.constant -= constant;
    left.terms.retain(|term| match right.terms.iter().position(|other| other == term) {
        Some(at) => {
            right.terms.remove(at);
            false
        }
        None => true,
    });
    (left, right)
}
