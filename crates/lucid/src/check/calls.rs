// SPDX-License-Identifier: Apache-2.0
//! Checks calls of functions, events, constructors, extern functions and built-in functions, and records
//! the instantiation of polymorphic declarations at each use.

use super::Checker;
use super::argument_lists::{counted, named};
use super::body::{DeferredCheck, Frame};
use super::builtins::BuiltinType;
use super::checked::{
    Builtin, Definition, Instantiation, Signature, Size, SizeTerm, TableType, Type,
};
use super::codes;
use super::reports::TypeExpectation;
use super::scopes::{Entry, Namespace, Resolution, binder_of, show_path};
use crate::syntax::ast::{self, Expression, ExpressionKind, Path, Segment};
use source::{Diagnostic, Span};

impl Checker {
    /// The type of a call. `expected` only helps, where a type is declared that the arguments lack.
    pub(super) fn call(
        &mut self,
        e: &Expression,
        path: &Path,
        arguments: &[Expression],
        expected: Option<&Type>,
    ) -> Type {
        // A local of the same name does not hide what is called: locals cannot be called.
        self.at = path.span;
        let Some(found) = self.peek(Namespace::Values, path) else {
            if let Some(span) = self.local_span(path) {
                self.not_callable(path, "a local", Some(span));
            } else if !self.recursive(path) {
                if expected == Some(&Type::Event) {
                    self.undeclared_event(path, arguments);
                    return Type::Error;
                }
                self.undeclared(Namespace::Values, path);
            }
            for argument in arguments {
                self.infer(argument);
            }
            return Type::Error;
        };
        match found {
            Resolution::Builtin(builtin) => {
                self.builtin_call(e, path, builtin, arguments, expected)
            }
            Resolution::Entry(entry) => {
                self.use_definition(&entry.definition);
                self.out.definitions.insert(path.id, entry.definition.clone());
                self.entry_call(e, path, &entry, arguments)
            }
            Resolution::Missing => Type::Error,
        }
    }

    fn local_span(&self, path: &Path) -> Option<Span> {
        let [segment] = &path.segments[..] else { return None };
        let id = self.body.locals.get(&segment.name)?;
        self.out.binders.get(&id).map(|binder| binder.span)
    }

    fn not_callable(&mut self, path: &Path, what: &str, declared: Option<Span>) {
        let shown = show_path(path);
        let mut diagnostic = Diagnostic::error(
            codes::WRONG_KIND,
            path.span,
            format!("`{shown}` is {what} and cannot be called"),
        );
        if let Some(declared) = declared {
            diagnostic = diagnostic.label(declared, "declared here");
        }
        if what == "a memop" {
            diagnostic = diagnostic
                .note("a memop is run by an access to an array")
                .help(format!("hand it over, as in `Array.getm(a, i, {shown}, x)`"));
        }
        self.diagnostics.push(diagnostic);
    }

    fn entry_call(
        &mut self,
        e: &Expression,
        path: &Path,
        entry: &Entry,
        arguments: &[Expression],
    ) -> Type {
        let mut definition = &entry.definition;
        while let Definition::Aliased { then, .. } = definition {
            definition = then;
        }
        let what = match definition {
            Definition::Function(_) => "function",
            Definition::Event(_) => "event",
            Definition::ExternFunction(_) => "extern function",
            Definition::Constructor(_) => "constructor",
            other => {
                let what = match other {
                    Definition::Memop(_) => "a memop",
                    Definition::Action(_) => "an action",
                    Definition::Constant(_) => "a constant",
                    Definition::Global(_) => "a global",
                    _ => "a value",
                };
                self.not_callable(path, what, Some(entry.span));
                for argument in arguments {
                    self.infer(argument);
                }
                return Type::Error;
            }
        };
        let names = binder_of(definition).and_then(|id| self.parameters.get(&id).cloned());
        let names = names.unwrap_or_default();
        let Some((parameters, result)) = self.instantiate(path, entry) else {
            for argument in arguments {
                self.infer(argument);
            }
            return Type::Error;
        };
        if what == "constructor"
            && !matches!(self.body.frame, Frame::Global | Frame::Constructor)
            && self.out.is_global(&self.variables.resolve(&result))
        {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::GLOBAL_MISUSE,
                    e.span,
                    "persistent state cannot be built while the program runs",
                )
                .help("call the constructor in a `global` declaration or in another constructor"),
            );
        }
        if parameters.len() != arguments.len() {
            let shown = format!("{what} `{}`", show_path(path));
            let expected = self.declared_arguments(entry, &parameters);
            self.wrong_count(e.span, &shown, &expected, arguments.len(), Some(entry.span));
        }
        self.check_arguments(&parameters, arguments, &|at| {
            let segment: &Segment = names.get(at)?;
            Some(TypeExpectation::new(
                segment.span,
                format!("parameter `{}` is {{}}", segment.name),
            ))
        });
        result
    }

    fn check_arguments(
        &mut self,
        parameters: &[Type],
        arguments: &[Expression],
        why: &dyn Fn(usize) -> Option<TypeExpectation>,
    ) {
        for (at, argument) in arguments.iter().enumerate() {
            match parameters.get(at) {
                Some(parameter) => {
                    self.expect(argument, parameter, why(at).as_ref());
                }
                None => {
                    self.infer(argument);
                }
            }
        }
    }

    /// Parameters and result of something at one use, with new variables for its own, which are
    /// recorded under the path. `None` if its declaration was wrong.
    pub(super) fn instantiate(&mut self, path: &Path, entry: &Entry) -> Option<(Vec<Type>, Type)> {
        let (signature, behind) = match &entry.view {
            Some(view) => (view.signature.clone(), Some(view.behind.clone())),
            None => {
                let id = binder_of(&entry.definition)?;
                if self.body.own_event == Some(id) {
                    self.body.own_uses.push(path.id);
                }
                (self.out.signatures.get(&id)?.clone(), None)
            }
        };
        let fresh = self.fresh_instantiation(&signature);
        let recorded = match behind {
            Some(behind) => compose(&behind, &fresh),
            None => fresh.clone(),
        };
        if !recorded.sizes.is_empty() || !recorded.types.is_empty() {
            self.out.instantiations.insert(path.id, recorded);
            self.body.instantiated.push(path.id);
        }
        let parameters = signature.parameters.iter().map(|ty| fresh.apply(ty)).collect();
        Some((parameters, fresh.apply(&signature.result)))
    }

    /// New variables for those of a signature. A variable may stand for a type or for a size; both
    /// are given, and only the one in use is kept.
    pub(super) fn fresh_instantiation(&mut self, signature: &Signature) -> Instantiation {
        let (mut types, mut sizes) = (Vec::new(), Vec::new());
        for ty in signature.parameters.iter().chain([&signature.result]) {
            self.variables.free(ty, &mut types, &mut sizes);
        }
        let mut fresh = Instantiation::default();
        for variable in &signature.variables {
            if types.contains(variable) {
                let new = self.variables.fresh_type();
                fresh.types.insert(*variable, new);
            } else {
                let new = self.variables.fresh();
                fresh.sizes.insert(*variable, Size::term(SizeTerm::Variable(new)));
            }
        }
        fresh
    }

    /// An action as a value, to be put into a table.
    pub(super) fn action_value(&mut self, path: &Path, entry: &Entry) -> Type {
        let mut definition = &entry.definition;
        while let Definition::Aliased { then, .. } = definition {
            definition = then;
        }
        let Some(id) = binder_of(definition) else { return Type::Error };
        let Some((mut parameters, result)) = self.instantiate(path, entry) else {
            return Type::Error;
        };
        let installed = self.install_counts.get(&id).copied().unwrap_or(0).min(parameters.len());
        let argument = parameters.split_off(installed);
        Type::Action(Box::new(TableType {
            key: self.variables.fresh_type(),
            install: Type::tuple(parameters),
            argument: Type::tuple(argument),
            result,
        }))
    }

    fn builtin_call(
        &mut self,
        e: &Expression,
        path: &Path,
        builtin: Builtin,
        arguments: &[Expression],
        expected: Option<&Type>,
    ) -> Type {
        let mut builtin = builtin;
        if matches!(builtin, Builtin::EventLocate | Builtin::EventLocateMany) {
            return self.locate(e, path, arguments);
        }
        // The paper's `get` and `set` with a memop are those of their own names today.
        if arguments.len() == 4 {
            builtin = match builtin {
                Builtin::ArrayGet => Builtin::ArrayGetm,
                Builtin::ArraySet => Builtin::ArraySetm,
                other => other,
            };
        }
        self.out.definitions.insert(path.id, Definition::Builtin(builtin));
        let shown = show_path(path);
        let Some(of) = self.builtin_type_of(builtin, arguments.len()) else {
            self.not_callable(path, "a value", None);
            return Type::Error;
        };
        self.builtin_place(e, builtin, &shown);
        let BuiltinType { parameters, result, takes } = of;
        if let Some(expected) = expected.filter(|_| builtin == Builtin::TableCreate) {
            // Says what is installed, or that it differs between the actions.
            let table = self.see_through(expected);
            if matches!(table, Type::Table(_)) {
                self.unify(&result, &table);
            }
        }
        let mut installed = None;
        if parameters.len() != arguments.len() {
            let expected = match takes {
                Some(takes) => takes.to_owned(),
                None => counted(&named(&parameters)),
            };
            self.wrong_count(e.span, &format!("`{shown}`"), &expected, arguments.len(), None);
        }
        for (at, argument) in arguments.iter().enumerate() {
            match parameters.get(at) {
                Some((_, ty)) if builtin == Builtin::TableCreate && at == 1 => {
                    self.table_actions(argument, ty);
                }
                Some((_, ty)) if at + 1 == parameters.len() && installed.is_some() => {
                    let installed = installed.take().unwrap_or_else(|| ty.clone());
                    let action = &arguments[at - 1];
                    let why = TypeExpectation::new(action.span, "this action is installed with {}");
                    self.expect(argument, &installed, Some(&why));
                }
                Some((_, ty)) if matches!(self.variables.head(ty), Type::Action(_)) => {
                    let why = arguments.first().filter(|_| builtin != Builtin::TableCreate);
                    let why = why.map(|table| TypeExpectation::new(table.span, "this table"));
                    installed = self.table_action(argument, ty, why.as_ref());
                }
                Some((name, ty)) => {
                    // The first argument fixes the widths; it is what the others must fit to.
                    let why = match arguments.first() {
                        Some(first) if at > 0 => {
                            TypeExpectation::new(first.span, format!("so {name} must be {{}}"))
                        }
                        _ => TypeExpectation::new(path.span, format!("{name} must be {{}}")),
                    };
                    self.expect(argument, ty, Some(&why));
                }
                None => {
                    self.infer(argument);
                }
            }
        }
        result
    }

    /// `Event.locate` and the artifact's relatives: where to, a switch or many.
    fn locate(&mut self, e: &Expression, path: &Path, arguments: &[Expression]) -> Type {
        let mut builtin = Builtin::EventLocate;
        if arguments.len() != 2 {
            let shown = format!("`{}`", show_path(path));
            let expected = counted(&["the event".to_owned(), "the switch or group".to_owned()]);
            self.wrong_count(e.span, &shown, &expected, arguments.len(), None);
        }
        if let Some(event) = arguments.first() {
            let why = TypeExpectation::new(path.span, "what is sent must be {}");
            self.expect(event, &Type::Event, Some(&why));
        }
        if let Some(place) = arguments.get(1) {
            let found = self.infer(place);
            match self.see_through(&found) {
                Type::Group => builtin = Builtin::EventLocateMany,
                Type::Error => {}
                _ => {
                    let int = self.variables.fresh_int();
                    if !self.unify(&found, &int) {
                        let why = TypeExpectation::new(
                            path.span,
                            "a switch, or a group of them, is wanted here",
                        );
                        self.expression_mismatch(place, &found, &int, Some(&why));
                    }
                }
            }
        }
        self.out.definitions.insert(path.id, Definition::Builtin(builtin));
        Type::Event
    }

    /// Where built-in functions may stand.
    fn builtin_place(&mut self, e: &Expression, builtin: Builtin, shown: &str) {
        let (wrong, code, where_to) = match (builtin, &self.body.frame) {
            (
                Builtin::ArrayCreate
                | Builtin::PairArrayCreate
                | Builtin::CounterCreate
                | Builtin::TableCreate,
                frame,
            ) => (
                !matches!(frame, Frame::Global | Frame::Constructor),
                codes::GLOBAL_MISUSE,
                "only in `global` declarations and constructors",
            ),
            (Builtin::PayloadParse, frame) => {
                (*frame != Frame::Parser, codes::PARSER, "only in parsers")
            }
            (Builtin::PayloadEmpty, frame) => {
                (*frame == Frame::Parser, codes::PARSER, "everywhere but in parsers")
            }
            (_, Frame::Memop(..) | Frame::Action(..) | Frame::Parser) => {
                (true, codes::WRONG_KIND, "only in handlers and functions")
            }
            (_, Frame::Global | Frame::Constructor | Frame::Value) => {
                (true, codes::WRONG_KIND, "only in handlers and functions")
            }
            _ => (false, codes::WRONG_KIND, ""),
        };
        if wrong {
            self.diagnostics.push(Diagnostic::error(
                code,
                e.span,
                format!("`{shown}` may stand {where_to}"),
            ));
        }
    }

    /// The actions of a new table.
    fn table_actions(&mut self, e: &Expression, action: &Type) {
        let list = match &e.kind {
            ExpressionKind::Tuple(actions) | ExpressionKind::Vector(actions) => &actions[..],
            _ => std::slice::from_ref(e),
        };
        for one in list {
            let first = list.first().filter(|first| first.id != one.id);
            let why = first.map(|first| {
                TypeExpectation::new(first.span, "as this action and the table's type have it")
            });
            self.table_action(one, action, why.as_ref());
        }
        if !std::ptr::eq(list, std::slice::from_ref(e)) {
            let length = Size::constant(list.len() as u128);
            self.out.types.insert(e.id, Type::Vector(Box::new(action.clone()), length));
            self.body.typed.push(e.id);
        }
    }

    /// Checks that an action fits a table; gives what it is installed with.
    fn table_action(
        &mut self,
        e: &Expression,
        wanted: &Type,
        why: Option<&TypeExpectation>,
    ) -> Option<Type> {
        let found = self.infer(e);
        let (Type::Action(action), Type::Action(table)) =
            (self.variables.head(&found), self.variables.head(wanted))
        else {
            if !self.unify(&found, wanted) {
                self.expression_mismatch(e, &found, wanted, None);
            }
            return None;
        };
        self.unify(&action.key, &table.key);
        let parts = [
            ("is installed with", &action.install, &table.install),
            ("takes", &action.argument, &table.argument),
            ("returns", &action.result, &table.result),
        ];
        for (verb, own, others) in parts {
            if self.unify(own, others) {
                continue;
            }
            let own = self.describe(&self.variables.resolve(own));
            let others = self.describe(&self.variables.resolve(others));
            let name = super::reports::snippet(e);
            let mut diagnostic = Diagnostic::error(
                codes::TYPE_MISMATCH,
                e.span,
                format!("action `{name}` {verb} {own}, but the table wants {others}"),
            );
            if let Some(why) = why {
                diagnostic = diagnostic.label(why.span, why.text.to_string());
            }
            if let Some((place, _)) = self.declaration_of(e) {
                diagnostic = diagnostic.label(place, "declared here");
            }
            self.diagnostics.push(diagnostic);
        }
        Some(action.install.clone())
    }

    /// The paper's `new Array<<32>>(8)`.
    pub(super) fn new_global(
        &mut self,
        e: &Expression,
        written: &ast::Type,
        arguments: &[Expression],
    ) -> Type {
        let ty = self.resolve_type(written);
        if !matches!(self.body.frame, Frame::Global | Frame::Constructor) {
            self.diagnostics.push(
                Diagnostic::error(
                    codes::GLOBAL_MISUSE,
                    e.span,
                    "persistent state cannot be built while the program runs",
                )
                .help("build it in a `global` declaration or in a constructor"),
            );
        }
        let builtin = match &ty {
            Type::Array(_) => Builtin::ArrayCreate,
            Type::PairArray(_) => Builtin::PairArrayCreate,
            Type::Counter(_) => Builtin::CounterCreate,
            Type::Error => return Type::Error,
            other => {
                let shown = self.describe(other);
                self.diagnostics.push(
                    Diagnostic::error(
                        codes::WRONG_KIND,
                        written.span,
                        format!("`new` makes arrays and counters, not {shown}"),
                    )
                    .help("call a constructor of the type"),
                );
                return Type::Error;
            }
        };
        let Some(of) = self.builtin_type_of(builtin, arguments.len()) else { return ty };
        self.unify(&of.result, &ty);
        if of.parameters.len() != arguments.len() {
            let expected = counted(&named(&of.parameters));
            self.wrong_count(e.span, "`new`", &expected, arguments.len(), None);
        }
        let parameters: Vec<Type> = of.parameters.into_iter().map(|(_, ty)| ty).collect();
        let span = written.span;
        self.check_arguments(&parameters, arguments, &|_| {
            Some(TypeExpectation::new(span, "the argument must be {}"))
        });
        ty
    }

    /// Remembers that a statement's value is dropped.
    pub(super) fn dropped(&mut self, e: &Expression, ty: Type) {
        self.body.later.push(DeferredCheck::Dropped { ty, span: e.span });
    }
}

/// What the variables behind a view stand for, once the variables of the view do.
pub(super) fn compose(behind: &Instantiation, view: &Instantiation) -> Instantiation {
    Instantiation {
        sizes: behind.sizes.iter().map(|(v, size)| (*v, view.apply_to_size(size))).collect(),
        types: behind.types.iter().map(|(v, ty)| (*v, view.apply(ty))).collect(),
    }
}
