// SPDX-License-Identifier: Apache-2.0
//! Messages of type mismatches: the found and the expected type, the reason for the expectation, and a
//! correction. Unification in `variables` finds the mismatches.

use super::Checker;
use super::checked::{Definition, Type};
use super::codes;
use super::scopes::show_path;
use crate::syntax::ast::{Expression, ExpressionKind, Size, SizeKind};
use source::{Diagnostic, Span};
use std::borrow::Cow;

/// The reason for an expected type.
#[derive(Clone, Debug)]
pub(super) struct TypeExpectation {
    /// The place.
    pub span: Span,
    /// The label there; `{}` becomes the expected type.
    pub text: Cow<'static, str>,
}

impl TypeExpectation {
    pub fn new(span: Span, text: impl Into<Cow<'static, str>>) -> TypeExpectation {
        TypeExpectation { span, text: text.into() }
    }
}

impl Checker {
    /// Reports that something has another type than it must have.
    pub(super) fn mismatch(
        &mut self,
        span: Span,
        found: &Type,
        expected: &Type,
        why: Option<&TypeExpectation>,
    ) {
        let diagnostic = self.mismatch_diagnostic(span, found, expected, why);
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn mismatch_diagnostic(
        &self,
        span: Span,
        found: &Type,
        expected: &Type,
        why: Option<&TypeExpectation>,
    ) -> Diagnostic {
        let found = self.variables.resolve(found);
        let expected = self.variables.resolve(expected);
        let widths = matches!((&found, &expected), (Type::Int(_), Type::Int(_)));
        let code = if widths { codes::WIDTH_MISMATCH } else { codes::TYPE_MISMATCH };
        let (shown_found, shown_expected) = (self.describe(&found), self.describe(&expected));
        let mut diagnostic = Diagnostic::error(
            code,
            span,
            format!("expected {shown_expected}, found {shown_found}"),
        )
        .here(format!("this is {shown_found}"));
        if let Some(why) = why {
            let text = why.text.replace("{}", &shown_expected);
            diagnostic = diagnostic.label(why.span, text);
        }
        for (ty, other) in [(&found, &expected), (&expected, &found)] {
            if matches!(other, Type::Record(_) | Type::User { .. })
                && let Some(name) = self.hidden_type(ty)
            {
                diagnostic = diagnostic
                    .note(format!("what `{name}` is made of is visible only inside its module"));
                break;
            }
        }
        if let (Type::Memop { arguments: given, .. }, Type::Memop { arguments: wanted, .. }) =
            (&found, &expected)
            && given != wanted
        {
            diagnostic = diagnostic
                .note(
                    "an ALU that does two memops of two arguments at once has no room for more \
                     (Lucid appendix C)",
                )
                .help(
                    "memops of two arguments fit Array.getm, setm and update; of three \
                     Array.update_complex; of four PairArray.update",
                );
        }
        diagnostic
    }

    /// As [`Checker::mismatch`] for an expression, with what can be said about it.
    pub(super) fn expression_mismatch(
        &mut self,
        e: &Expression,
        found: &Type,
        expected: &Type,
        why: Option<&TypeExpectation>,
    ) {
        let mut diagnostic = self.mismatch_diagnostic(e.span, found, expected, why);
        if let Some((place, name)) = self.declaration_of(e) {
            let found = self.describe(&self.variables.resolve(found));
            diagnostic = diagnostic.label(place, format!("`{name}` is {found}"));
        }
        let found = self.variables.resolve(found);
        let expected = self.variables.resolve(expected);
        let text = snippet(e);
        match (&found, &expected) {
            (Type::Int(_), Type::Int(width)) => {
                let width = self.out.show_size(width);
                diagnostic = diagnostic.help(format!("cast it: `(int<{width}>){text}`"));
            }
            (Type::Int(_), Type::Bool) => {
                diagnostic = diagnostic.help(format!("compare it: `{text} != 0`"));
            }
            (Type::Event, Type::Int(_) | Type::Bool) => {
                diagnostic = diagnostic.note("an event is a value of its own type `event`");
            }
            _ => {}
        }
        self.diagnostics.push(diagnostic);
    }

    /// A type in a sentence.
    pub(super) fn describe(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "nothing (`void`)".to_owned(),
            Type::Variable(variable) if !self.variables.is_rigid(*variable) => {
                "something of any type".to_owned()
            }
            Type::Int(width) if self.is_open(width) => "an integer".to_owned(),
            Type::Memop { arguments: 0, width } if self.is_open(width) => "a memop".to_owned(),
            Type::Memop { arguments, width } if self.is_open(width) => {
                format!("a memop of {arguments} arguments")
            }
            Type::Action(_) => "an action".to_owned(),
            Type::String => "a text".to_owned(),
            Type::Array(width) if self.is_open(width) => "an array".to_owned(),
            Type::PairArray(width) if self.is_open(width) => "an array of pairs".to_owned(),
            Type::Counter(width) if self.is_open(width) => "a counter".to_owned(),
            Type::Vector(_, length) if self.is_open(length) => "a vector".to_owned(),
            Type::Pattern(width) => match width.known() {
                Some(width) => format!("a pattern of {width} bits"),
                None => "a pattern".to_owned(),
            },
            Type::Table(table) if matches!(&table.result, Type::Variable(v) if !self.variables.is_rigid(*v)) => {
                "a table".to_owned()
            }
            _ => format!("`{}`", self.out.show(ty)),
        }
    }

    /// Whether a size is one variable that nothing determines yet.
    pub(super) fn is_open(&self, size: &super::Size) -> bool {
        let size = self.variables.resolve_size(size);
        matches!(size.terms[..], [super::SizeTerm::Variable(v)] if !self.variables.is_rigid(v))
            && size.constant == 0
    }

    /// The name of a user type that is abstract here.
    fn hidden_type(&self, ty: &Type) -> Option<String> {
        match ty {
            Type::User { definition, name, .. } if !self.is_transparent(*definition) => {
                Some(name.to_string())
            }
            _ => None,
        }
    }

    /// Where what an expression names is declared.
    pub(super) fn declaration_of(&self, e: &Expression) -> Option<(Span, String)> {
        let path = match &e.kind {
            ExpressionKind::Name(path) => path,
            ExpressionKind::Call { function, .. } => function,
            _ => return None,
        };
        let id = match self.out.definitions.get(&path.id)? {
            Definition::Local(id)
            | Definition::Constant(id)
            | Definition::Symbolic(id)
            | Definition::Extern(id)
            | Definition::Global(id)
            | Definition::Action(id) => *id,
            _ => return None,
        };
        let binder = self.out.binders.get(&id)?;
        Some((binder.span, show_path(path)))
    }

    /// Reports two operands that should have the same type.
    pub(super) fn operand_mismatch(
        &mut self,
        operator: &str,
        operands: (&Expression, &Expression),
        types: (&Type, &Type),
        span: Span,
    ) {
        let left = self.variables.resolve(types.0);
        let right = self.variables.resolve(types.1);
        let widths = matches!((&left, &right), (Type::Int(_), Type::Int(_)));
        let code = if widths { codes::WIDTH_MISMATCH } else { codes::TYPE_MISMATCH };
        let what = if widths { "widths" } else { "types" };
        let mut diagnostic = Diagnostic::error(
            code,
            span,
            format!("the operands of `{operator}` have different {what}"),
        )
        .label(operands.0.span, format!("this is {}", self.describe(&left)))
        .label(operands.1.span, format!("this is {}", self.describe(&right)));
        for (operand, ty) in [(operands.0, &left), (operands.1, &right)] {
            if let Some((place, name)) = self.declaration_of(operand) {
                diagnostic = diagnostic.label(place, format!("`{name}` is {}", self.describe(ty)));
            }
        }
        if let (Type::Int(a), Type::Int(b)) = (&left, &right) {
            let (width, text) = match (a.known(), b.known()) {
                (Some(a), Some(b)) if a > b => (self.out.show_size(&left_width(a)), operands.1),
                _ => (self.out.show_size(b), operands.0),
            };
            let text = snippet(text);
            diagnostic = diagnostic.help(format!("cast one of them, as in `(int<{width}>){text}`"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// Reports a wrong number of arguments.
    pub(super) fn wrong_count(
        &mut self,
        span: Span,
        what: &str,
        expected: &str,
        found: usize,
        declared: Option<Span>,
    ) {
        let mut diagnostic = Diagnostic::error(
            codes::ARGUMENT_COUNT,
            span,
            format!("{what} takes {expected}, but {} given", were(found)),
        );
        if let Some(declared) = declared {
            diagnostic = diagnostic.label(declared, "declared here");
        }
        self.diagnostics.push(diagnostic);
    }

    /// Reports two declarations of one name.
    pub(super) fn duplicate(&mut self, what: &str, name: &str, second: Span, first: Span) {
        self.diagnostics.push(
            Diagnostic::error(
                codes::DUPLICATE,
                second,
                format!("{what} `{name}` is declared twice"),
            )
            .label(first, "first declared here")
            .help("rename one of them"),
        );
    }
}

fn left_width(width: u128) -> super::Size {
    super::Size::constant(width)
}

fn were(count: usize) -> String {
    match count {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        _ => format!("{count} are"),
    }
}

/// "no arguments", "1 argument", "3 arguments".
pub(super) fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

/// A short expression as it is written, in parentheses if a cast in front of it needs them.
pub(super) fn snippet(e: &Expression) -> String {
    match &e.kind {
        ExpressionKind::Name(path) => show_path(path),
        ExpressionKind::Integer { value, width: None, .. } => value.to_string(),
        ExpressionKind::Integer {
            value,
            width: Some(Size { kind: SizeKind::Number(width), .. }),
            ..
        } => format!("{value}w{width}"),
        ExpressionKind::Field { record, label } => format!("{}#{}", snippet(record), label.name),
        ExpressionKind::Call { function, .. } => format!("{}(...)", show_path(function)),
        _ => "(...)".to_owned(),
    }
}
