// SPDX-License-Identifier: Apache-2.0
//! Assignability: implicit casts (P4_16 v1.2.5 §8.12.2), expressions in braces that take the type
//! of their context, `...` and `{#}`, and l-values (§6.7). Explicit casts are in `casts`.

use super::constants::wrap;
use super::{Checker, FieldType, Node, ParameterRole, SyntacticContext};
use crate::ast::{DeclarationKind, Direction, Expression, ExpressionKind};
use crate::codes::typing as codes;
use crate::typed::{Constant, Definition, Type, TypeKind};
use num_bigint::BigInt;
use source::Diagnostic;
use std::sync::Arc;

impl<'a> Checker<'a> {
    /// Types an expression and makes it fit `to`.
    pub(super) fn check_against(
        &mut self,
        expression: &'a Expression,
        to: &Type,
        what: &str,
    ) -> bool {
        self.synthesize(expression);
        self.coerce(expression, to, what)
    }

    /// Makes a typed expression fit `to` by implicit casts, or reports that it does not. `what` says
    /// what the place is, such as "the condition".
    pub(super) fn coerce(&mut self, expression: &'a Expression, to: &Type, what: &str) -> bool {
        self.deeper(|checker| checker.coerce_inner(expression, to, what))
    }

    fn coerce_inner(&mut self, expression: &'a Expression, to: &Type, what: &str) -> bool {
        let from = self.expression_type(expression);
        let to = &self.solved(to);
        match (&*from, &**to) {
            (TypeKind::Unknown, _) | (_, TypeKind::Unknown) => return true,
            _ => {}
        }
        match &expression.kind {
            ExpressionKind::List(elements) if !matches!(&**to, TypeKind::DontCare) => {
                return self.coerce_list(expression, elements, to, what);
            }
            ExpressionKind::Struct { fields, rest } if !matches!(&**to, TypeKind::DontCare) => {
                return self.coerce_struct(expression, fields, *rest, to, what);
            }
            ExpressionKind::Conditional(_, then, otherwise)
                if from != *to
                    && !matches!(&**to, TypeKind::DontCare)
                    && is_made_of_parts(&from) =>
            {
                let fits = self.coerce(then, to, what) & self.coerce(otherwise, to, what);
                self.record_cast(expression, to);
                return fits;
            }
            ExpressionKind::InvalidHeader => {
                if matches!(
                    &**to,
                    TypeKind::Header(..) | TypeKind::HeaderUnion(..) | TypeKind::Variable(_)
                ) {
                    self.record_cast(expression, to);
                    return true;
                }
                return self.report_mismatch(expression, to, what);
            }
            ExpressionKind::Dots => {
                if !self.has_default(to) {
                    let shown = self.show(to);
                    self.error(
                        codes::TYPE_MISMATCH,
                        expression.span,
                        format!("type `{shown}` has no default value"),
                    );
                    return false;
                }
                self.record_cast(expression, to);
                if let Some(value) = self.default_constant(to) {
                    self.set_constant(expression, value);
                }
                return true;
            }
            ExpressionKind::Default | ExpressionKind::DontCare => {
                if !matches!(&**to, TypeKind::DontCare | TypeKind::Set(_)) {
                    self.error(
                        codes::MISPLACED_FORM,
                        expression.span,
                        format!("{what} needs a value here"),
                    );
                    return false;
                }
                return true;
            }
            _ => {}
        }
        if from == *to || matches!(&**to, TypeKind::DontCare) {
            return true;
        }
        if self.casts_implicitly(&from, to) {
            if matches!(&*from, TypeKind::Integer) {
                self.warn_if_truncated(expression, to);
            }
            self.record_cast(expression, to);
            return true;
        }
        if self.has_variables(&from) && self.unify(&from, to) {
            return true;
        }
        if let (
            TypeKind::Parser(wanted, wanted_arguments)
            | TypeKind::Control(wanted, wanted_arguments),
            TypeKind::Parser(found, found_arguments) | TypeKind::Control(found, found_arguments),
        ) = (&**to, &*from)
            && std::mem::discriminant(&**to) == std::mem::discriminant(&*from)
        {
            return match self.unify_blocks((*wanted, wanted_arguments), (*found, found_arguments)) {
                Ok(()) => true,
                Err(_) if self.repeated.contains(found) => true,
                Err(why) => {
                    let (wanted_name, wanted_span) =
                        (self.name_of(*wanted).to_string(), self.span_of(*wanted));
                    let found_name = self.name_of(*found).to_string();
                    let found_span = self.span_of(*found);
                    self.report(
                        Diagnostic::error(
                            codes::BLOCK_TYPE_MISMATCH,
                            expression.span,
                            format!("`{found_name}` does not fit `{wanted_name}`: {why}"),
                        )
                        .label(wanted_span, "the expected type")
                        .label(found_span, "what is given"),
                    );
                    false
                }
            };
        }
        if let (TypeKind::Package(wanted, a), TypeKind::Package(found, b)) = (&**to, &*from)
            && wanted == found
        {
            let (a, b) = (a.clone(), b.clone());
            if a.iter().zip(&b).all(|(a, b)| self.unify(a, b)) {
                return true;
            }
        }
        if let (TypeKind::Extern(wanted, a), TypeKind::Extern(found, b)) = (&**to, &*from)
            && wanted == found
        {
            let (a, b) = (a.clone(), b.clone());
            let open = |part: &Type| matches!(&**part, TypeKind::DontCare);
            if a.iter().zip(&b).all(|(a, b)| a == b || open(a) || open(b)) {
                return true;
            }
        }
        self.report_mismatch(expression, to, what)
    }

    /// Whether a value of one type casts implicitly to another, leaving aside forms of expressions.
    pub(super) fn casts_implicitly(&self, from: &Type, to: &Type) -> bool {
        match (&**from, &**to) {
            (TypeKind::Integer, TypeKind::Bit(_) | TypeKind::Int(_)) => true,
            // A bare number is taken for a `type` over numbers too, as p4c has it.
            (TypeKind::Integer, TypeKind::NewType(node)) => {
                self.underlying.get(node).is_some_and(|ty| self.casts_implicitly(from, ty))
            }
            // A number with a width converts to `int`, as in p4c.
            (TypeKind::Bit(_) | TypeKind::Int(_), TypeKind::Integer) => true,
            (TypeKind::SerializableEnum(node), TypeKind::Bit(_) | TypeKind::Int(_)) => {
                self.underlying.get(node) == Some(to)
            }
            _ => false,
        }
    }

    pub(super) fn record_cast(&mut self, expression: &'a Expression, to: &Type) {
        self.typed.implicit_casts.insert(expression.id, to.clone());
        let converted =
            self.constant(expression).and_then(|value| self.convert_constant(value, to));
        match converted {
            Some(value) => self.set_constant(expression, value),
            None => {
                self.typed.constants.remove(&expression.id);
            }
        }
        if matches!(expression.kind, ExpressionKind::InvalidHeader) {
            self.set_constant(expression, Constant::InvalidHeader);
        }
    }

    /// Warns when a literal or constant `int` loses bits.
    pub(super) fn warn_if_truncated(&mut self, expression: &'a Expression, to: &Type) {
        let Some(Constant::Integer(value)) = self.constant(expression) else { return };
        let wrapped = wrap(value, &self.representation(to));
        // A mask such as `-1` or `0xFF` for `int<8>` loses no bits.
        if wrapped == *value {
            return;
        }
        let (value, shown) = (value.clone(), self.show(to));
        self.report(
            Diagnostic::warning(
                codes::VALUE_TRUNCATED,
                expression.span,
                format!("{value} does not fit `{shown}`"),
            )
            .here(format!("it becomes {wrapped}")),
        );
    }

    fn coerce_list(
        &mut self,
        expression: &'a Expression,
        elements: &'a [Expression],
        to: &Type,
        what: &str,
    ) -> bool {
        let rest = elements.last().is_some_and(|last| matches!(last.kind, ExpressionKind::Dots));
        let given = if rest { &elements[..elements.len() - 1] } else { elements };
        for element in given {
            if matches!(element.kind, ExpressionKind::Dots) {
                self.error(
                    codes::MISPLACED_FORM,
                    element.span,
                    "`...` can only be the last element",
                );
                return false;
            }
        }
        let target = to.clone();
        let (types, names): (Vec<Type>, Option<Vec<FieldType>>) = match &*target {
            TypeKind::Struct(..) | TypeKind::Header(..) => {
                let fields = self.fields_of(to);
                (
                    fields.iter().map(|field| field.ty.clone()).collect(),
                    Some(fields.iter().cloned().collect()),
                )
            }
            TypeKind::Tuple(types) => (types.clone(), None),
            TypeKind::List(element) => {
                if rest {
                    self.error(
                        codes::MISPLACED_FORM,
                        elements[given.len()].span,
                        "a list has no size that `...` could fill up",
                    );
                    return false;
                }
                (vec![element.clone(); given.len()], None)
            }
            TypeKind::Stack(element, size) => {
                if given.len() > *size as usize || (!rest && given.len() != *size as usize) {
                    return self.report_element_count(expression, given.len(), *size as usize, to);
                }
                let mut types = vec![element.clone(); given.len()];
                if rest && given.len() < *size as usize {
                    types.push(element.clone());
                }
                (types, None)
            }
            _ => return self.report_mismatch(expression, to, what),
        };
        let is_array = matches!(&*target, TypeKind::Stack(..));
        if !is_array && (given.len() > types.len() || (!rest && given.len() != types.len())) {
            return self.report_element_count(expression, given.len(), types.len(), to);
        }
        if rest && given.len() < types.len() {
            for missing in &types[given.len()..] {
                if !self.has_default(missing) {
                    let shown = self.show(missing);
                    self.error(
                        codes::TYPE_MISMATCH,
                        elements[given.len()].span,
                        format!("type `{shown}` has no default value"),
                    );
                    return false;
                }
            }
        }
        let mut fits = true;
        for (index, (element, ty)) in given.iter().zip(&types).enumerate() {
            let part = match &names {
                Some(fields) => format!("field `{}`", fields[index].name),
                None => format!("element {}", index + 1),
            };
            fits &= self.coerce(element, ty, &part);
        }
        self.typed.implicit_casts.insert(expression.id, to.clone());
        // The value again, now that the elements have their types.
        let mut values: Option<Vec<Constant>> =
            given.iter().map(|element| self.constant(element).cloned()).collect();
        let total = match &*target {
            TypeKind::Stack(_, size) => *size as usize,
            _ => types.len(),
        };
        if total > given.len() + 4096 {
            values = None;
        }
        if let Some(known) = &mut values {
            while known.len() < total {
                let ty = match &*target {
                    TypeKind::Stack(element, _) => element.clone(),
                    _ => types[known.len()].clone(),
                };
                match self.default_constant(&ty) {
                    Some(value) => known.push(value),
                    None => break,
                }
            }
            if known.len() < total {
                values = None;
            }
        }
        match (values, names) {
            (Some(values), Some(fields)) => {
                let value = Constant::Struct(
                    fields.into_iter().map(|field| field.name).zip(values).collect(),
                );
                self.set_constant(expression, value);
            }
            (Some(values), None) => self.set_constant(expression, Constant::List(values)),
            (None, _) => {
                self.typed.constants.remove(&expression.id);
            }
        }
        fits
    }

    fn report_element_count(
        &mut self,
        expression: &'a Expression,
        given: usize,
        wanted: usize,
        to: &Type,
    ) -> bool {
        let shown = self.show(to);
        let mut diagnostic = Diagnostic::error(
            codes::INVALID_FIELDS,
            expression.span,
            format!(
                "`{shown}` has {}, but {given} {} given",
                super::type_names::count(wanted, "element"),
                if given == 1 { "is" } else { "are" }
            ),
        );
        if given < wanted {
            diagnostic =
                diagnostic.help("end the list with `...` to give the others their defaults");
        }
        self.report(diagnostic);
        false
    }

    fn coerce_struct(
        &mut self,
        expression: &'a Expression,
        given: &'a [(crate::ast::Name, Expression)],
        rest: bool,
        to: &Type,
        what: &str,
    ) -> bool {
        if !matches!(&**to, TypeKind::Struct(..) | TypeKind::Header(..)) {
            return self.report_mismatch(expression, to, what);
        }
        let fields = self.fields_of(to);
        let mut fits = true;
        for (name, value) in given {
            match fields.iter().find(|field| field.name == name.text) {
                Some(field) => {
                    let ty = field.ty.clone();
                    fits &= self.coerce(value, &ty, &format!("field `{}`", name.text));
                }
                None => {
                    fits = false;
                    let shown = self.show(to);
                    let mut diagnostic = Diagnostic::error(
                        codes::INVALID_FIELDS,
                        name.span,
                        format!("`{shown}` has no field `{}`", name.text),
                    );
                    let nearest =
                        source::nearest(&name.text, fields.iter().map(|field| &*field.name));
                    if let Some(nearest) = nearest {
                        diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
                    }
                    self.report(diagnostic);
                }
            }
        }
        let missing: Vec<&FieldType> = fields
            .iter()
            .filter(|field| !given.iter().any(|(name, _)| name.text == field.name))
            .collect();
        if let Some(first) = missing.first() {
            if !rest {
                let shown = self.show(to);
                let names: Vec<String> =
                    missing.iter().map(|field| format!("`{}`", field.name)).collect();
                self.report(
                    Diagnostic::error(
                        codes::INVALID_FIELDS,
                        expression.span,
                        format!("{} of `{shown}` not given", names.join(", ")),
                    )
                    .label(first.span, "declared here")
                    .help("end with `...` to give the others their defaults"),
                );
                return false;
            }
            for field in &missing {
                if !self.has_default(&field.ty) {
                    let shown = self.show(&field.ty);
                    self.error(
                        codes::INVALID_FIELDS,
                        expression.span,
                        format!(
                            "field `{}` has type `{shown}`, which has no default value",
                            field.name
                        ),
                    );
                    return false;
                }
            }
        }
        self.typed.implicit_casts.insert(expression.id, to.clone());
        let values: Option<Vec<(Arc<str>, Constant)>> = fields
            .iter()
            .map(|field| {
                let value = match given.iter().find(|(name, _)| name.text == field.name) {
                    Some((_, value)) => self.constant(value).cloned(),
                    None => self.default_constant(&field.ty),
                };
                value.map(|value| (field.name.clone(), value))
            })
            .collect();
        match values {
            Some(values) => self.set_constant(expression, Constant::Struct(values)),
            None => {
                self.typed.constants.remove(&expression.id);
            }
        }
        fits
    }

    /// Whether `...` can stand for a value of the type (§7.3).
    pub(super) fn has_default(&self, ty: &Type) -> bool {
        match &**ty {
            TypeKind::MatchKind
            | TypeKind::Void
            | TypeKind::Extern(..)
            | TypeKind::Parser(..)
            | TypeKind::Control(..)
            | TypeKind::Package(..)
            | TypeKind::Table(_)
            | TypeKind::Action(_)
            | TypeKind::Function
            | TypeKind::Set(_)
            | TypeKind::List(_) => false,
            TypeKind::Struct(..) => {
                self.fields_of(ty).iter().all(|field| self.has_default(&field.ty))
            }
            TypeKind::Tuple(elements) => elements.iter().all(|element| self.has_default(element)),
            TypeKind::Stack(element, _) => self.has_default(element),
            _ => true,
        }
    }

    pub(super) fn report_mismatch(
        &mut self,
        expression: &'a Expression,
        to: &Type,
        what: &str,
    ) -> bool {
        let from = self.expression_type(expression);
        if matches!(&*from, TypeKind::Unknown) {
            return false;
        }
        let (from_shown, to_shown) = (self.show(&from), self.show(to));
        let found = match expression.kind {
            ExpressionKind::InvalidHeader => "an invalid header".to_string(),
            ExpressionKind::List(_) => "a list".to_string(),
            ExpressionKind::Struct { .. } => "a list of fields".to_string(),
            _ => format!("`{from_shown}`"),
        };
        let mut diagnostic = Diagnostic::error(
            codes::TYPE_MISMATCH,
            expression.span,
            format!("{what} has type `{to_shown}`, but this is {found}"),
        );
        match (&*from, &**to) {
            (TypeKind::Bit(_), TypeKind::Bit(_)) | (TypeKind::Int(_), TypeKind::Int(_)) => {
                diagnostic = diagnostic.help(format!("cast it: `({to_shown}) ...`"));
            }
            (TypeKind::Bit(a), TypeKind::Int(b)) | (TypeKind::Int(a), TypeKind::Bit(b))
                if a == b =>
            {
                diagnostic = diagnostic.help(format!("cast it: `({to_shown}) ...`"));
            }
            (TypeKind::Bool, TypeKind::Bit(1)) | (TypeKind::Bit(1), TypeKind::Bool) => {
                diagnostic = diagnostic.help(format!("cast it: `({to_shown}) ...`"));
            }
            (TypeKind::NewType(node), _) if self.underlying.get(node) == Some(to) => {
                diagnostic = diagnostic.help(format!("cast it: `({to_shown}) ...`"));
            }
            (_, TypeKind::NewType(node) | TypeKind::SerializableEnum(node))
                if self
                    .underlying
                    .get(node)
                    .is_some_and(|ty| *ty == from || self.casts_implicitly(&from, ty)) =>
            {
                diagnostic = diagnostic.help(format!("cast it: `({to_shown}) ...`"));
            }
            (TypeKind::Function, _) => {
                diagnostic = diagnostic.help("call it with `(...)`");
            }
            _ => {}
        }
        self.report(diagnostic);
        false
    }

    /// Whether an expression can be assigned to; the error says why not.
    pub(super) fn l_value(&self, expression: &Expression) -> Result<(), String> {
        match &expression.kind {
            ExpressionKind::Path(path) => match self.typed.definitions.get(&expression.id) {
                Some(Definition::Node(node)) => match self.node(*node) {
                    Node::Declaration(declaration) => match declaration.kind {
                        DeclarationKind::Variable { .. } => Ok(()),
                        DeclarationKind::Constant { .. } => {
                            Err(format!("`{}` is a constant", path.name.text))
                        }
                        _ => Err(format!("`{}` is not a variable", path.name.text)),
                    },
                    Node::Parameter(parameter, role) => match (parameter.direction, role) {
                        (Direction::Out | Direction::InOut, _) => Ok(()),
                        (Direction::In, _) => {
                            Err(format!("`{}` is an `in` parameter", path.name.text))
                        }
                        (Direction::None, ParameterRole::Action) => {
                            Err(format!("`{}` is set by the control plane", path.name.text))
                        }
                        (Direction::None, _) => {
                            Err(format!("`{}` is a parameter without direction", path.name.text))
                        }
                    },
                    Node::LoopVariable(_) => Ok(()),
                    _ => Err(format!("`{}` is not a variable", path.name.text)),
                },
                _ => Ok(()),
            },
            ExpressionKind::Member(base, name) => {
                let base_type = self.expression_type(base);
                match &*base_type {
                    TypeKind::Stack(..) => match &*name.text {
                        "next" => self.l_value(base),
                        "last" => Err("`last` can only be read".to_string()),
                        _ => Err(format!("`{}` can only be read", name.text)),
                    },
                    TypeKind::Struct(..) | TypeKind::Header(..) | TypeKind::HeaderUnion(..) => {
                        self.l_value(base)
                    }
                    TypeKind::Unknown => Ok(()),
                    _ => Err(format!("`{}` cannot be assigned to", name.text)),
                }
            }
            ExpressionKind::Index(base, _) => self.l_value(base),
            ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => {
                self.l_value(base)
            }
            ExpressionKind::Extension(extension)
                if self.dialect.is_some_and(|dialect| dialect.is_variable(extension)) =>
            {
                Ok(())
            }
            ExpressionKind::Invalid => Ok(()),
            _ => Err("this is a value, not a variable or field".to_string()),
        }
    }

    pub(super) fn expression_type(&self, expression: &Expression) -> Type {
        let ty = self.typed.expression_types.get(&expression.id);
        match ty {
            Some(ty) => self.solved(ty),
            None => self.known.unknown.clone(),
        }
    }

    /// Casts an enum with an underlying type to that type, where a number is expected (§8.12.2).
    pub(super) fn enum_to_underlying(&mut self, expression: &'a Expression, ty: &Type) -> Type {
        if let TypeKind::SerializableEnum(node) = &**ty
            && let Some(underlying) = self.underlying.get(node).cloned()
        {
            self.record_cast(expression, &underlying);
            return underlying;
        }
        ty.clone()
    }

    /// Whether stacks may be walked with `next` and `last` here.
    pub(super) fn in_parser(&self) -> bool {
        matches!(self.context, SyntacticContext::ParserState | SyntacticContext::ParserLocals)
    }

    /// Returns the constant integer value of a typed expression.
    pub(super) fn integer_value(&self, expression: &Expression) -> Option<BigInt> {
        match self.constant(expression) {
            Some(Constant::Integer(value)) => Some(value.clone()),
            _ => None,
        }
    }
}

/// Whether a type is that of literals which take their type from the place where they stand.
fn is_made_of_parts(ty: &Type) -> bool {
    matches!(
        &**ty,
        TypeKind::Tuple(_) | TypeKind::AnonymousStruct(_) | TypeKind::DontCare | TypeKind::Integer
    )
}
