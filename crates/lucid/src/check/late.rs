// SPDX-License-Identifier: Apache-2.0
//! Checks that are deferred until the types of a declaration are known: widths of literals, bits of
//! slices, indices of vectors, and the kinds of values that a place admits.

use super::Checker;
use super::body::{DeferredCheck, NotGlobal};
use super::checked::{Size, SizeTerm, Type};
use super::codes;
use crate::syntax::ast::NodeId;
use source::{Diagnostic, Span};

impl Checker {
    pub(super) fn late_check(&mut self, later: DeferredCheck) {
        match later {
            DeferredCheck::Literal { value, width, span } => self.literal_fits(value, &width, span),
            DeferredCheck::Pattern { value, width, span } => {
                self.pattern_matches(value, &width, span)
            }
            DeferredCheck::Slice { high, width, span } => self.slice_is_inside(&high, &width, span),
            DeferredCheck::Index { index, bounds, length, span } => {
                self.index_is_inside(&index, &bounds, &length, span);
            }
            DeferredCheck::Bound { .. } => {}
            DeferredCheck::NotGlobal { ty, what, span } => self.not_global(&ty, &what, span),
            DeferredCheck::Global { ty, name } => {
                let ty = self.variables.resolve(&ty);
                if !matches!(ty, Type::Error) && !self.out.is_global(&ty) {
                    let shown = self.out.show(&ty);
                    self.diagnostics.push(
                        Diagnostic::error(
                            codes::GLOBAL_MISUSE,
                            name.span,
                            format!("global `{}` holds no persistent state", name.name),
                        )
                        .here(format!("this is `{shown}`"))
                        .note("globals are arrays, counters, tables and records or vectors of them")
                        .help(format!("for a value that never changes, write `const {shown}`")),
                    );
                }
            }
            DeferredCheck::Comparable { ty, span } => {
                self.must(&ty, span, codes::TYPE_MISMATCH, "cannot be compared", Checker::is_plain);
            }
            DeferredCheck::Ordered { slip, width, span } => {
                self.signed_comparison(&slip, &width, span);
            }
            DeferredCheck::Hashable { ty, span } => {
                self.must(&ty, span, codes::TYPE_MISMATCH, "cannot be hashed", Checker::is_plain);
            }
            DeferredCheck::Readable { ty, span } => {
                self.must(&ty, span, codes::PARSER, "cannot be read from a packet", |own, ty| {
                    own.is_plain(ty) && !matches!(ty, Type::Group)
                });
            }
            DeferredCheck::Castable { ty, span } => {
                self.must(
                    &ty,
                    span,
                    codes::TYPE_MISMATCH,
                    "cannot be cast to an integer",
                    |_, ty| {
                        matches!(ty, Type::Int(_) | Type::Bool | Type::Variable(_) | Type::Error)
                    },
                );
            }
            DeferredCheck::Dropped { ty, span } => {
                if self.variables.resolve(&ty) == Type::Event {
                    self.diagnostics.push(
                        Diagnostic::warning(
                            codes::EVENT_DROPPED,
                            span,
                            "this makes an event and does nothing with it",
                        )
                        .help("write `generate` in front of it"),
                    );
                }
            }
        }
    }

    fn literal_fits(&mut self, value: u128, width: &Size, span: Span) {
        let Some(width) = self.variables.resolve_size(width).known() else { return };
        if fits(value, width) {
            return;
        }
        let needed = 128 - value.leading_zeros();
        self.diagnostics.push(
            Diagnostic::error(
                codes::LITERAL_TOO_WIDE,
                span,
                format!("{value} does not fit into {width} {}", bits(width)),
            )
            .here(format!("this needs {needed} bits"))
            .note(format!("`int<{width}>` ends at {}", largest(width))),
        );
    }

    fn pattern_matches(&mut self, value: u128, width: &Size, span: Span) {
        let Some(width) = self.variables.resolve_size(width).known() else { return };
        if !fits(value, width) {
            self.diagnostics.push(
                Diagnostic::warning(
                    codes::PATTERN_NEVER_MATCHES,
                    span,
                    format!(
                        "{value} does not fit into {width} {}, so this never matches",
                        bits(width)
                    ),
                )
                .note(format!("`int<{width}>` ends at {}", largest(width))),
            );
        }
    }

    pub(super) fn slice_is_inside(&mut self, high: &Size, width: &Size, span: Span) {
        let high = self.variables.resolve_size(high);
        let width = self.variables.resolve_size(width);
        let outside = match (high.known(), width.known()) {
            (Some(high), Some(width)) => high >= width,
            // Sizes are at least zero: `n + 7` is beyond a width of `n`.
            _ => high.minus(&width).is_some(),
        };
        if outside {
            let (high, width) = (self.out.show_size(&high), self.out.show_size(&width));
            self.diagnostics.push(
                Diagnostic::error(
                    codes::SLICE,
                    span,
                    format!("bit {high} is not there: the value has {width} bits"),
                )
                .note("bits are counted from 0, and both bounds belong to the slice"),
            );
        }
    }

    fn index_is_inside(
        &mut self,
        index: &Size,
        bounds: &[(NodeId, Size)],
        length: &Size,
        span: Span,
    ) {
        let length = self.variables.resolve_size(length);
        let index = self.variables.resolve_size(index);
        // The largest value: every loop variable at its bound less one. In sums, the ones to take off
        // are kept apart, as sizes are never negative.
        let mut loops = 0u128;
        let largest = index.replace(|term| match term {
            SizeTerm::Loop(id) => {
                let (_, bound) = bounds.iter().find(|(other, _)| *other == id)?;
                loops += 1;
                Some(self.variables.resolve_size(bound))
            }
            SizeTerm::Variable(_) | SizeTerm::Symbolic(_) => None,
        });
        // Inside means largest - loops < length, so largest + 1 <= length + loops.
        let needed = largest.plus(&Size::constant(1));
        let there = length.plus(&Size::constant(loops));
        if there.minus(&needed).is_some() {
            return;
        }
        let known = needed.known().is_some() && there.known().is_some();
        let shown_length = self.out.show_size(&length);
        let (message, note) = if known {
            let value = largest.constant.saturating_sub(loops);
            let up = if loops > 0 { "goes up to" } else { "is" };
            (format!("the index {up} {value}, but the vector has {shown_length} elements"), None)
        } else {
            let shown = self.out.show_size(&index);
            (
                format!("nothing makes sure that `{shown}` is below the length `{shown_length}`"),
                Some("the bound of the loop must be the length of the vector"),
            )
        };
        let mut diagnostic = Diagnostic::error(codes::INDEX, span, message);
        if let Some(note) = note {
            diagnostic = diagnostic.note(note);
        }
        for (id, bound) in bounds {
            if index.terms.contains(&SizeTerm::Loop(*id))
                && let Some(binder) = self.out.binders.get(id)
            {
                let bound = self.out.show_size(&self.variables.resolve_size(bound));
                let text = format!("`{}` stays below {bound}", binder.name);
                diagnostic = diagnostic.label(binder.span, text);
            }
        }
        self.diagnostics.push(diagnostic);
    }

    fn not_global(&mut self, ty: &Type, what: &NotGlobal, span: Span) {
        let ty = self.variables.resolve(ty);
        if !self.out.is_global(&ty) {
            return;
        }
        let shown = self.out.show(&ty);
        let (message, help) = match what {
            NotGlobal::Local(name) => (
                format!("local `{name}` cannot hold persistent state"),
                "use the global itself, or take it as a parameter",
            ),
            NotGlobal::Constant(name) => (
                format!("constant `{name}` cannot hold persistent state"),
                "declare it with `global`",
            ),
            NotGlobal::Extern(name) => (
                format!("extern `{name}` cannot hold persistent state"),
                "declare it with `global`",
            ),
            NotGlobal::Symbolic(name) => (
                format!("symbolic `{name}` cannot hold persistent state"),
                "declare it with `global`",
            ),
            NotGlobal::Result(name) => (
                format!("function `{name}` cannot return persistent state"),
                "take the global as a parameter and return what is read from it",
            ),
            NotGlobal::Built => (
                "persistent state cannot be built while the program runs".to_owned(),
                "build it in a `global` declaration or in a constructor",
            ),
        };
        self.diagnostics.push(
            Diagnostic::error(codes::GLOBAL_MISUSE, span, message)
                .here(format!("this is `{shown}`"))
                .help(help),
        );
    }

    fn must(
        &mut self,
        ty: &Type,
        span: Span,
        code: source::Code,
        complaint: &str,
        good: impl Fn(&Checker, &Type) -> bool,
    ) {
        let ty = self.variables.resolve(ty);
        let seen = self.out.expand(&ty);
        if !good(self, &seen) {
            let shown = self.describe(&ty);
            self.diagnostics.push(
                Diagnostic::error(code, span, format!("{shown} {complaint}"))
                    .here(format!("this is {shown}")),
            );
        }
    }
}

fn fits(value: u128, width: u128) -> bool {
    width >= 128 || value >> width == 0
}

fn bits(width: u128) -> &'static str {
    if width == 1 { "bit" } else { "bits" }
}

fn largest(width: u128) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}
