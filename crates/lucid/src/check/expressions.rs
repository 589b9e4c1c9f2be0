// SPDX-License-Identifier: Apache-2.0
//! Infers types of expressions: literals, names, vectors, indices, slices, casts, hashes. Operators,
//! records and calls have files of their own.

use super::Checker;
use super::body::{DeferredCheck, Frame, NotGlobal};
use super::checked::{Builtin, Definition, Size, Type};
use super::codes;
use super::reports::TypeExpectation;
use super::scopes::{Entry, Namespace, Resolution, show_path};
use crate::syntax::ast::{self, Binder, Expression, ExpressionKind, Path, PatternKind, SizeKind};
use source::{Diagnostic, Span};

/// Stack that must be left for one level of an expression, in bytes.
const STACK_RESERVE_BYTES: usize = 256 << 10;

/// How much more stack is taken where that is not left, in bytes.
const STACK_PIECE_BYTES: usize = 1 << 20;

impl Checker {
    /// The type of an expression.
    pub(super) fn infer(&mut self, e: &Expression) -> Type {
        self.at = e.span;
        let ty = self.infer_kind(e, None);
        self.record(e, ty)
    }

    /// Checks that an expression has a type; gives the type it has, or `Type::Error`.
    pub(super) fn expect(
        &mut self,
        e: &Expression,
        expected: &Type,
        why: Option<&TypeExpectation>,
    ) -> Type {
        self.at = e.span;
        let found = self.infer_kind(e, Some(expected));
        let found = self.record(e, found);
        self.at = e.span;
        if self.unify(&found, expected) {
            return found;
        }
        self.expression_mismatch(e, &found, expected, why);
        Type::Error
    }

    pub(super) fn record(&mut self, e: &Expression, ty: Type) -> Type {
        let ty = self.of_bounded_size(ty, e.span);
        self.out.types.insert(e.id, ty.clone());
        self.body.typed.push(e.id);
        ty
    }

    /// `expected` only helps: with the places of mismatches inside, and with which record is meant.
    fn infer_kind(&mut self, e: &Expression, expected: Option<&Type>) -> Type {
        // Expressions can be deep, and threads have small stacks.
        stacker::maybe_grow(STACK_RESERVE_BYTES, STACK_PIECE_BYTES, || {
            self.infer_any_kind(e, expected)
        })
    }

    fn infer_any_kind(&mut self, e: &Expression, expected: Option<&Type>) -> Type {
        match &e.kind {
            ExpressionKind::Integer { value, width, .. } => {
                let width = match width {
                    Some(width) => self.resolve_size(width),
                    None => self.variables.fresh_size(),
                };
                let later =
                    DeferredCheck::Literal { value: *value, width: width.clone(), span: e.span };
                self.body.later.push(later);
                Type::Int(width)
            }
            ExpressionKind::Boolean(_) => Type::Bool,
            ExpressionKind::String(_) => Type::String,
            ExpressionKind::Name(path) => self.name(path),
            ExpressionKind::Call { function, arguments, unordered: _ } => {
                self.call(e, function, arguments, expected)
            }
            ExpressionKind::New { ty, arguments } => self.new_global(e, ty, arguments),
            ExpressionKind::Unary { operator, operand } => self.unary(*operator, operand),
            ExpressionKind::Binary { .. } => self.binary_chain(e),
            ExpressionKind::Cast { ty, operand } => self.cast(ty, operand),
            ExpressionKind::Slice { operand, high, low } => self.slice(e, operand, high, low),
            ExpressionKind::Hash { width, arguments } => self.hash(e, width, arguments),
            ExpressionKind::Flood(port) => {
                self.integer(port, "a port");
                Type::Group
            }
            ExpressionKind::SizeToInt { size, width } => {
                let resolved = self.resolve_size(size);
                self.out.expression_sizes.insert(e.id, vec![resolved]);
                self.body.sized.push(e.id);
                match width {
                    Some(width) => Type::Int(self.resolve_size(width)),
                    None => Type::Int(Size::constant(super::body::DEFAULT_WIDTH)),
                }
            }
            ExpressionKind::Record(fields) => self.record_literal(e, fields, expected),
            ExpressionKind::With { record, fields } => self.record_update(e, record, fields),
            ExpressionKind::Field { record, label } => self.field(e, record, label),
            ExpressionKind::Vector(elements) => self.vector(e, elements, expected),
            ExpressionKind::Comprehension { element, variable, bound } => {
                self.comprehension(e, element, variable, bound)
            }
            ExpressionKind::Index { vector, index } => self.index(e, vector, index),
            ExpressionKind::Tuple(parts) => self.tuple(e, parts, expected),
            ExpressionKind::Group(members) => {
                for member in members {
                    self.integer(member, "a port or switch");
                }
                Type::Group
            }
            ExpressionKind::Pattern(kind) => match kind {
                PatternKind::Bits(bits) => Type::Pattern(Size::constant(bits.len() as u128)),
                PatternKind::Named(path) => match self.name(path) {
                    Type::Int(width) => Type::Pattern(width),
                    other => other,
                },
                PatternKind::Number(value) => {
                    let width = self.variables.fresh_size();
                    let later = DeferredCheck::Pattern {
                        value: *value,
                        width: width.clone(),
                        span: e.span,
                    };
                    self.body.later.push(later);
                    Type::Pattern(width)
                }
                PatternKind::Wildcard => Type::Pattern(self.variables.fresh_size()),
                PatternKind::Event { .. } => {
                    self.diagnostics.push(Diagnostic::error(
                        codes::PATTERN,
                        e.span,
                        "an event pattern is allowed only in a `match`",
                    ));
                    Type::Error
                }
            },
            ExpressionKind::Masked { value, mask } => {
                let width = self.variables.fresh_size();
                let int = Type::Int(width.clone());
                self.expect(value, &int, None);
                let why = TypeExpectation::new(value.span, "the value has {}");
                self.expect(mask, &int, Some(&why));
                Type::Pattern(width)
            }
        }
    }

    /// Checks that an expression is an integer and gives its width.
    pub(super) fn integer(&mut self, e: &Expression, what: &str) -> Option<Size> {
        let found = self.infer(e);
        self.as_integer(e, found, what)
    }

    /// As [`Checker::integer`], for an expression of known type.
    pub(super) fn as_integer(&mut self, e: &Expression, found: Type, what: &str) -> Option<Size> {
        match self.see_through(&found) {
            Type::Int(width) => Some(width),
            Type::Error => None,
            Type::Variable(variable) if !self.variables.is_rigid(variable) => {
                let width = self.variables.fresh_size();
                self.variables.bind_type(variable, Type::Int(width.clone()));
                Some(width)
            }
            other => {
                let shown = self.describe(&self.variables.resolve(&found));
                let mut diagnostic = Diagnostic::error(
                    codes::TYPE_MISMATCH,
                    e.span,
                    format!("{what} is an integer, but this is {shown}"),
                );
                if let Some((place, name)) = self.declaration_of(e) {
                    diagnostic = diagnostic.label(place, format!("`{name}` is {shown}"));
                }
                if other == Type::Bool {
                    let text = super::reports::snippet(e);
                    diagnostic = diagnostic.help(format!("cast it: `(int<1>){text}`"));
                }
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    /// Describes a name in an expression.
    fn name(&mut self, path: &Path) -> Type {
        if let [segment] = &path.segments[..] {
            if let Some(id) = self.body.locals.get(&segment.name) {
                self.used.insert(id);
                self.out.definitions.insert(path.id, Definition::Local(id));
                return self.out.types.get(&id).cloned().unwrap_or(Type::Error);
            }
            if let Frame::Memop(arguments, width) = &self.body.frame
                && let Some(cell) = cell(&segment.name).filter(|_| *arguments > 2)
            {
                let ty = Type::Int(width.clone());
                self.out.definitions.insert(path.id, Definition::Builtin(cell));
                return ty;
            }
        }
        self.at = path.span;
        match self.lookup(Namespace::Values, path) {
            Resolution::Entry(entry) => self.named_value(path, &entry),
            Resolution::Builtin(builtin) => self.builtin_value(path, builtin),
            Resolution::Missing => Type::Error,
        }
    }

    fn named_value(&mut self, path: &Path, entry: &Entry) -> Type {
        let mut definition = &entry.definition;
        while let Definition::Aliased { then, .. } = definition {
            definition = then;
        }
        match definition {
            Definition::Constant(id)
            | Definition::Symbolic(id)
            | Definition::Extern(id)
            | Definition::Global(id) => match &entry.view {
                Some(view) => view.signature.result.clone(),
                None => self.out.types.get(id).cloned().unwrap_or(Type::Error),
            },
            Definition::Memop(_) => {
                let Some((parameters, result)) = self.instantiate(path, entry) else {
                    return Type::Error;
                };
                match result {
                    Type::Int(width) => Type::Memop { arguments: parameters.len(), width },
                    _ => Type::Error,
                }
            }
            Definition::Action(_) => self.action_value(path, entry),
            Definition::Event(_) => {
                let Some((parameters, _)) = self.instantiate(path, entry) else {
                    return Type::Error;
                };
                if parameters.is_empty() {
                    return Type::Event;
                }
                self.without_arguments(path, entry, "an event");
                Type::Error
            }
            Definition::Function(_) => {
                self.without_arguments(path, entry, "a function");
                Type::Error
            }
            Definition::Constructor(_) => {
                self.without_arguments(path, entry, "a constructor");
                Type::Error
            }
            Definition::ExternFunction(_) => {
                self.without_arguments(path, entry, "an extern function");
                Type::Error
            }
            _ => Type::Error,
        }
    }

    fn without_arguments(&mut self, path: &Path, entry: &Entry, what: &str) {
        let shown = show_path(path);
        self.diagnostics.push(
            Diagnostic::error(
                codes::WRONG_KIND,
                path.span,
                format!("`{shown}` is {what} and is used here without arguments"),
            )
            .label(entry.span, "declared here")
            .help(format!("write `{shown}(...)`")),
        );
    }

    fn builtin_value(&mut self, path: &Path, builtin: Builtin) -> Type {
        let shown = show_path(path);
        let Some(ty) = self.builtin_value_type(builtin) else {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::WRONG_KIND,
                    path.span,
                    format!("`{shown}` is a function and is used here without arguments"),
                )
                .help(format!("write `{shown}(...)`")),
            );
            return Type::Error;
        };
        let allowed = match (builtin, &self.body.frame) {
            (Builtin::This, Frame::Handler | Frame::Function(..)) => true,
            (Builtin::This, _) => false,
            (Builtin::IngressPort, Frame::Handler | Frame::Function(..) | Frame::Parser) => true,
            (Builtin::IngressPort, _) => false,
            _ => true,
        };
        if !allowed {
            self.diagnostics.push(Diagnostic::error(
                codes::WRONG_KIND,
                path.span,
                format!("`{shown}` has a meaning only where an event is handled"),
            ));
            return Type::Error;
        }
        ty
    }

    fn cast(&mut self, written: &ast::Type, operand: &Expression) -> Type {
        let target = self.resolve_type(written);
        let found = self.infer(operand);
        match self.see_through(&target) {
            Type::Int(_) => {
                if let Type::Variable(variable) = self.see_through(&found)
                    && !self.variables.is_rigid(variable)
                {
                    let int = self.variables.fresh_int();
                    self.variables.bind_type(variable, int);
                }
                self.body.later.push(DeferredCheck::Castable { ty: found, span: operand.span });
                target
            }
            Type::Error => Type::Error,
            Type::Bool => {
                let text = super::reports::snippet(operand);
                if self.unify(&found, &Type::Bool) {
                    return Type::Bool;
                }
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::TYPE_MISMATCH,
                        written.span,
                        "no cast gives a boolean",
                    )
                    .help(format!("compare instead: `{text} != 0`")),
                );
                Type::Bool
            }
            other => {
                let shown = self.describe(&other);
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::TYPE_MISMATCH,
                        written.span,
                        format!("no cast gives {shown}"),
                    )
                    .note("casts are between integers, and from booleans to integers"),
                );
                target
            }
        }
    }

    fn slice(
        &mut self,
        e: &Expression,
        operand: &Expression,
        high: &ast::Size,
        low: &ast::Size,
    ) -> Type {
        let width = self.integer(operand, "what is sliced");
        let (high_size, low_size) = (self.resolve_size(high), self.resolve_size(low));
        self.out.expression_sizes.insert(e.id, vec![high_size.clone(), low_size.clone()]);
        self.body.sized.push(e.id);
        if let Some(width) = width {
            let span = high.span;
            let (known, width) = (high_size.known(), self.variables.resolve_size(&width));
            if let (Some(high), Some(there)) = (known, width.known())
                && high >= there
            {
                self.slice_is_inside(&high_size, &width, span);
                return Type::Error;
            }
            self.body.later.push(DeferredCheck::Slice { high: high_size.clone(), width, span });
        }
        let high_size = self.variables.resolve_size(&high_size);
        let low_size = self.variables.resolve_size(&low_size);
        match high_size.plus(&Size::constant(1)).minus(&low_size) {
            Some(width) if width.known() != Some(0) => Type::Int(width),
            _ => {
                let shown = (self.out.show_size(&high_size), self.out.show_size(&low_size));
                let known = high_size.known().is_some() && low_size.known().is_some();
                let message = if known {
                    format!("the high bit {} is below the low bit {}", shown.0, shown.1)
                } else {
                    format!("nothing makes sure that `{}` is not below `{}`", shown.0, shown.1)
                };
                let mut diagnostic =
                    Diagnostic::error(codes::SLICE, high.span.to(low.span), message);
                if known {
                    diagnostic = diagnostic
                        .help(format!("write the high bit first: `[{}:{}]`", shown.1, shown.0));
                } else {
                    diagnostic = diagnostic.help("write the high bit as the low bit and a number");
                }
                self.diagnostics.push(diagnostic);
                Type::Error
            }
        }
    }

    fn hash(&mut self, e: &Expression, width: &ast::Size, arguments: &[Expression]) -> Type {
        let width = self.resolve_size(width);
        if arguments.len() < 2 {
            self.wrong_count(
                e.span,
                "`hash`",
                "a seed and at least one value",
                arguments.len(),
                None,
            );
        }
        for (at, argument) in arguments.iter().enumerate() {
            if at == 0 {
                self.integer(argument, "the seed of a hash");
            } else {
                let ty = self.infer(argument);
                self.body.later.push(DeferredCheck::Hashable { ty, span: argument.span });
            }
        }
        Type::Int(width)
    }

    /// Remembers that what is built here is no persistent state, unless this is where that is built.
    pub(super) fn built(&mut self, ty: &Type, span: Span) {
        if !matches!(self.body.frame, Frame::Global | Frame::Constructor) {
            self.forbid_global(ty, NotGlobal::Built, span);
        }
    }

    fn vector(&mut self, e: &Expression, elements: &[Expression], expected: Option<&Type>) -> Type {
        let expected = expected.map(|expected| self.see_through(expected));
        let element = match expected {
            Some(Type::Vector(element, _)) => *element,
            _ => self.variables.fresh_type(),
        };
        for (at, part) in elements.iter().enumerate() {
            let why =
                (at > 0).then(|| TypeExpectation::new(elements[0].span, "the first element is {}"));
            self.expect(part, &element, why.as_ref());
        }
        self.built(&element, e.span);
        Type::Vector(Box::new(element), Size::constant(elements.len() as u128))
    }

    fn tuple(&mut self, e: &Expression, parts: &[Expression], expected: Option<&Type>) -> Type {
        let expected = expected.map(|expected| self.see_through(expected));
        let types: Vec<Type> = match expected {
            Some(Type::Tuple(types)) if types.len() == parts.len() && parts.len() > 1 => {
                parts.iter().zip(&types).map(|(part, ty)| self.expect(part, ty, None)).collect()
            }
            _ => parts.iter().map(|part| self.infer(part)).collect(),
        };
        let ty = Type::tuple(types);
        self.built(&ty, e.span);
        ty
    }

    fn comprehension(
        &mut self,
        e: &Expression,
        element: &Expression,
        variable: &Binder,
        bound: &ast::Size,
    ) -> Type {
        let length = self.loop_variable(variable, bound);
        let element = self.infer(element);
        self.body.loops.pop();
        self.built(&element, e.span);
        Type::Vector(Box::new(element), length)
    }

    /// Brings a loop's variable into scope; the caller takes it out.
    pub(super) fn loop_variable(&mut self, variable: &Binder, bound: &ast::Size) -> Size {
        let size = self.resolve_size(bound);
        self.name_binder(variable);
        self.out.loop_bounds.insert(variable.id, size.clone());
        self.body.bounds.push(variable.id);
        self.body.later.push(DeferredCheck::Bound { bound: size.clone(), span: bound.span });
        self.body.loops.push((variable.name.clone(), variable.id));
        size
    }

    fn index(&mut self, e: &Expression, vector: &Expression, index: &ast::Size) -> Type {
        let found = self.infer(vector);
        let size = self.index_size(index);
        let (element, length) = match self.see_through(&found) {
            Type::Vector(element, length) => (*element, length),
            Type::Error => return Type::Error,
            Type::Variable(variable) if !self.variables.is_rigid(variable) => {
                let (element, length) = (self.variables.fresh_type(), self.variables.fresh_size());
                let vector = Type::Vector(Box::new(element.clone()), length.clone());
                self.variables.bind_type(variable, vector);
                (element, length)
            }
            other => {
                let shown = self.describe(&self.variables.resolve(&other));
                let mut diagnostic = Diagnostic::error(
                    codes::TYPE_MISMATCH,
                    vector.span,
                    format!("only vectors have elements, but this is {shown}"),
                );
                if self.out.is_global(&other) {
                    diagnostic = diagnostic.help("read a cell of an array with `Array.get`");
                }
                self.diagnostics.push(diagnostic);
                return Type::Error;
            }
        };
        let Some(size) = size else { return element };
        self.out.expression_sizes.insert(e.id, vec![size.clone()]);
        self.body.sized.push(e.id);
        // A plain loop variable makes an unknown length the loop's bound, and vice versa.
        if let [super::SizeTerm::Loop(id)] = size.terms[..]
            && size.constant == 0
            && let Some(bound) = self.out.loop_bounds.get(&id).cloned()
        {
            let bound = self.variables.resolve_size(&bound);
            let length = self.variables.resolve_size(&length);
            if bound.known().is_none() || length.known().is_none() {
                self.at = index.span;
                // Bounds that cannot be unified are reported with the others.
                self.unify_sizes(&bound, &length);
            }
        }
        let bounds =
            self.body.loops.iter().filter_map(|(_, id)| {
                self.out.loop_bounds.get(id).map(|bound| (*id, bound.clone()))
            });
        let bounds: Vec<_> = bounds.collect();
        self.body.later.push(DeferredCheck::Index {
            index: size,
            bounds,
            length,
            span: index.span,
        });
        element
    }

    /// The size of an index; a local there is a common slip.
    fn index_size(&mut self, index: &ast::Size) -> Option<Size> {
        if let SizeKind::Named(path) = &index.kind
            && let [segment] = &path.segments[..]
            && !self.body.loops.iter().any(|(name, _)| *name == segment.name)
            && self.lookup_name(Namespace::Sizes, &segment.name).is_none()
            && let Some(id) = self.body.locals.get(&segment.name)
        {
            self.used.insert(id);
            let mut diagnostic = Diagnostic::error(
                codes::INDEX,
                path.span,
                format!("`{}` is a value, but an index of a vector is a size", segment.name),
            )
            .note("vectors are taken apart before the program runs, so indices must be known then")
            .help("use a number or the variable of a `for` loop; for an index that changes, use an array");
            if let Some(binder) = self.out.binders.get(&id) {
                diagnostic = diagnostic.label(binder.span, "declared here");
            }
            self.diagnostics.push(diagnostic);
            return None;
        }
        Some(self.resolve_size(index))
    }
}

/// `cell1` and `cell2` in memops of three and four arguments.
pub(super) fn cell(name: &str) -> Option<Builtin> {
    match name {
        "cell1" => Some(Builtin::Cell1),
        "cell2" => Some(Builtin::Cell2),
        _ => None,
    }
}
