// SPDX-License-Identifier: Apache-2.0
//! Reports names that are not declared: declared later, hidden by an interface, of another kind, or similar to one that
//! is declared. `scopes` looks names up.

use super::Checker;
use super::checked::Type;
use super::codes;
use super::scopes::{BUILTIN_MEMBERS, BUILTIN_MODULES, BUILTIN_VALUES, Namespace, ScopeId};
use crate::syntax::ast::{Expression, Path, Segment};
use source::{Diagnostic, Span};
use std::sync::Arc;

impl Checker {
    /// Reports an undeclared path.
    pub(super) fn undeclared(&mut self, namespace: Namespace, path: &Path) {
        let last = &path.segments[path.segments.len() - 1];
        if path.segments.len() > 1 {
            match self.lookup_modules(path) {
                Ok(scope) => self.not_in_module(namespace, path, scope),
                Err(None) => {
                    let module = path.segments[0].name.clone();
                    let members: Vec<Arc<str>> = BUILTIN_MEMBERS
                        .iter()
                        .filter(|(of, _, _)| *of == &*module)
                        .map(|(_, member, _)| Arc::from(*member))
                        .collect();
                    let mut diagnostic = Diagnostic::error(
                        codes::UNDECLARED,
                        last.span,
                        format!("`{module}` has no `{}`", last.name),
                    );
                    diagnostic =
                        match source::nearest(&last.name, members.iter().map(|member| &**member)) {
                            Some(near) => {
                                diagnostic.help(format!("did you mean `{module}.{near}`?"))
                            }
                            None => diagnostic.note(format!("it has `{}`", members.join("`, `"))),
                        };
                    self.diagnostics.push(diagnostic);
                }
                Err(Some(at)) => {
                    let segment = path.segments[at].clone();
                    let diagnostic = Diagnostic::error(
                        codes::UNDECLARED,
                        segment.span,
                        format!("module `{}` is not declared", segment.name),
                    );
                    let before = Path { segments: path.segments[..=at].to_vec(), ..path.clone() };
                    let diagnostic = match self.lookup_modules(&before) {
                        Ok(scope) if at > 0 => {
                            let names = self.scopes[scope.0].names.keys();
                            let modules = names.filter(|(of, _)| *of == Namespace::Modules);
                            match source::nearest(&segment.name, modules.map(|(_, name)| &**name)) {
                                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                                None => diagnostic,
                            }
                        }
                        _ => self.suggest(diagnostic, Namespace::Modules, &segment.name),
                    };
                    self.diagnostics.push(diagnostic);
                }
            }
            return;
        }
        if !self.body.reported.insert((namespace, last.name.clone())) {
            return;
        }
        let diagnostic = self.undeclared_name(namespace, last);
        self.diagnostics.push(diagnostic);
    }

    /// Reports a generated event that is not declared, with the declaration that it needs.
    pub(super) fn undeclared_event(&mut self, path: &Path, arguments: &[Expression]) {
        let typed: Vec<(&Expression, Type)> =
            arguments.iter().map(|argument| (argument, self.infer(argument))).collect();
        let [name] = &path.segments[..] else { return self.undeclared(Namespace::Values, path) };
        if !self.body.reported.insert((Namespace::Values, name.name.clone())) {
            return;
        }
        let mut diagnostic = self.undeclared_name(Namespace::Values, name);
        let is_unknown = self.declared_later(Namespace::Values, &name.name).is_none()
            && self.other_namespace(Namespace::Values, &name.name).is_none();
        if is_unknown && let Some(declaration) = self.event_declaration(&name.name, &typed) {
            let or = if diagnostic.help.is_empty() { "" } else { "or " };
            diagnostic = diagnostic.help(format!("{or}declare it: `{declaration}`"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// The diagnostic of a name that is not declared here.
    fn undeclared_name(&mut self, namespace: Namespace, name: &Segment) -> Diagnostic {
        let shown = &name.name;
        let message = match namespace {
            Namespace::Values | Namespace::Constructors => format!("`{shown}` is not declared"),
            other => format!("{} `{shown}` is not declared", other.noun()),
        };
        let diagnostic = Diagnostic::error(codes::UNDECLARED, name.span, message);
        if let Some(later) = self.declared_later(namespace, shown) {
            return diagnostic
                .label(later, "it is declared only here")
                .help("names can be used only after their declaration: move the declaration up");
        }
        let Some((other, span)) = self.other_namespace(namespace, shown) else {
            return self.suggest(diagnostic, namespace, shown);
        };
        let is_value = |space| matches!(space, Namespace::Values | Namespace::Constructors);
        let noun = if is_value(other) { "value" } else { other.noun() };
        if other == Namespace::Sizes && is_value(namespace) {
            let message = format!("`{shown}` is a size, and a value is needed here");
            return Diagnostic::error(codes::WRONG_KIND, name.span, message)
                .label(span, format!("`{shown}` is declared as a size"))
                .help(format!("the number of a size is a value with `size_to_int({shown})`"));
        }
        if namespace == Namespace::Sizes && is_value(other) {
            let message = format!("`{shown}` is a value, and a size is needed here");
            return Diagnostic::error(codes::WRONG_KIND, name.span, message)
                .label(span, format!("`{shown}` is declared as a value"))
                .note("widths, lengths and bounds of loops are sizes, which are no values")
                .help("declare a size: `size n = 4;`");
        }
        let diagnostic = diagnostic.label(span, format!("`{shown}` is a {noun}"));
        match namespace {
            Namespace::Sizes => diagnostic.help("declare a size: `size n = 4;`"),
            _ => diagnostic,
        }
    }

    fn not_in_module(&mut self, namespace: Namespace, path: &Path, scope: ScopeId) {
        let last = &path.segments[path.segments.len() - 1];
        let module = show_path_but_last(path);
        let mut diagnostic = Diagnostic::error(
            codes::UNDECLARED,
            last.span,
            format!("module `{module}` has no {} `{}`", namespace.noun(), last.name),
        );
        let hidden = self.scopes[scope.0].behind.and_then(|behind| {
            self.scopes[behind.0].get(namespace, &last.name).map(|entry| entry.span)
        });
        if let Some(hidden) = hidden {
            diagnostic = diagnostic
                .label(hidden, "the module has it, but its interface does not list it")
                .help(format!("add `{}` to the interface of `{module}`", last.name));
        } else {
            let names = self.scopes[scope.0].names.iter();
            let names: Vec<(Arc<str>, Span)> = names
                .filter(|((of, _), _)| same_kind(*of, namespace))
                .map(|((_, name), entry)| (name.clone(), entry.span))
                .collect();
            if let Some(near) = source::nearest(&last.name, names.iter().map(|(name, _)| &**name)) {
                let span = names.iter().find(|(name, _)| **name == *near).map(|(_, span)| *span);
                diagnostic = diagnostic.help(format!("did you mean `{module}.{near}`?"));
                if let Some(span) = span {
                    diagnostic = diagnostic.label(span, format!("`{near}` is declared here"));
                }
            }
        }
        self.diagnostics.push(diagnostic);
    }

    /// Where a name is declared further down in one of the modules around.
    fn declared_later(&self, namespace: Namespace, name: &Arc<str>) -> Option<Span> {
        self.stack.iter().rev().find_map(|scope| {
            let spans = self.later.get(&(*scope, namespace, name.clone()))?;
            spans
                .iter()
                .copied()
                .find(|span| span.file != self.at.file || span.start > self.at.start)
        })
    }

    /// The same name with another kind of meaning.
    fn other_namespace(&self, namespace: Namespace, name: &Arc<str>) -> Option<(Namespace, Span)> {
        if namespace == Namespace::Values
            && let Some((_, id)) = self.body.loops.iter().rev().find(|(other, _)| other == name)
        {
            return Some((Namespace::Sizes, self.out.binders.get(id)?.span));
        }
        if namespace == Namespace::Sizes
            && let Some(id) = self.body.locals.get(name)
        {
            return Some((Namespace::Values, self.out.binders.get(&id)?.span));
        }
        let all = [
            Namespace::Sizes,
            Namespace::Values,
            Namespace::Types,
            Namespace::Parsers,
            Namespace::Modules,
        ];
        let others = all.into_iter().filter(|other| *other != namespace);
        others
            .filter_map(|other| self.lookup_name(other, name).map(|entry| (other, entry.span)))
            .next()
    }

    /// Adds the nearest visible name to a diagnostic.
    fn suggest(
        &mut self,
        diagnostic: Diagnostic,
        namespace: Namespace,
        name: &Arc<str>,
    ) -> Diagnostic {
        if self.suggestions_left == 0 {
            return diagnostic;
        }
        self.suggestions_left -= 1;
        let mut names: Vec<(Arc<str>, Option<Span>)> = Vec::new();
        if namespace == Namespace::Values {
            for (local, id) in self.body.locals.latest_first() {
                names.push((local.clone(), self.out.binders.get(id).map(|binder| binder.span)));
            }
            names.extend(BUILTIN_VALUES.iter().map(|(name, _)| (Arc::from(*name), None)));
        }
        if namespace == Namespace::Sizes {
            for (local, id) in self.body.loops.iter().rev() {
                names.push((local.clone(), self.out.binders.get(id).map(|binder| binder.span)));
            }
        }
        if namespace == Namespace::Modules {
            names.extend(BUILTIN_MODULES.iter().map(|name| (Arc::from(*name), None)));
        }
        for scope in self.stack.iter().rev() {
            for ((of, name), entry) in &self.scopes[scope.0].names {
                if same_kind(*of, namespace) {
                    names.push((name.clone(), Some(entry.span)));
                }
            }
        }
        let Some(near) = source::nearest(name, names.iter().map(|(name, _)| &**name)) else {
            return diagnostic;
        };
        let place = names.iter().find(|(name, _)| **name == *near).and_then(|(_, span)| *span);
        let diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        match place {
            Some(span) => diagnostic.label(span, format!("`{near}` is declared here")),
            None => diagnostic,
        }
    }
}

fn same_kind(of: Namespace, wanted: Namespace) -> bool {
    of == wanted || of == Namespace::Constructors && wanted == Namespace::Values
}

fn show_path_but_last(path: &Path) -> String {
    let segments = &path.segments[..path.segments.len() - 1];
    segments.iter().map(|segment| &*segment.name).collect::<Vec<_>>().join(".")
}
