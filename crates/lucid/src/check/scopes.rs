// SPDX-License-Identifier: Apache-2.0
//! Modules as sets of names, and name lookup. Sizes, values, types, parsers and modules have separate
//! namespaces; constructors are searched after other values. A name refers to the latest declaration
//! before it in the innermost module that has one.

use super::Checker;
use super::checked::{Builtin, Definition, Instantiation, Signature, Type};
use super::codes;
use crate::syntax::ast::{Expression, NodeId, Path, Segment};
use source::{Diagnostic, Span};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Namespaces: names of different namespaces do not conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Namespace {
    Sizes,
    Values,
    Constructors,
    Types,
    Parsers,
    Modules,
}

impl Namespace {
    /// The noun for its names in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Namespace::Sizes => "size",
            Namespace::Values => "name",
            Namespace::Constructors => "constructor",
            Namespace::Types => "type",
            Namespace::Parsers => "parser",
            Namespace::Modules => "module",
        }
    }
}

/// Index into `Checker::scopes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub usize);

/// The definition of a name in a scope.
#[derive(Clone)]
pub(super) struct Entry {
    pub definition: Definition,
    /// Where it is declared.
    pub span: Span,
    /// Its view from outside its module, if it differs from the inside.
    pub view: Option<Rc<View>>,
    /// The names in it, if it is a module.
    pub scope: Option<ScopeId>,
}

/// Something in a module as its interface or a module alias shows it.
pub(super) struct View {
    /// With the variables of the interface.
    pub signature: Signature,
    /// The instantiation of the inner declaration, in terms of those variables.
    pub behind: Instantiation,
}

/// A module, or its interface.
pub(super) struct Scope {
    pub name: Arc<str>,
    pub names: BTreeMap<(Namespace, Arc<str>), Entry>,
    /// Of an interface: the module's own names.
    pub behind: Option<ScopeId>,
}

impl Scope {
    pub fn new(name: Arc<str>) -> Scope {
        Scope { name, names: BTreeMap::new(), behind: None }
    }

    pub fn get(&self, namespace: Namespace, name: &Arc<str>) -> Option<&Entry> {
        self.names.get(&(namespace, name.clone()))
    }
}

/// Names of the built-in modules.
pub(super) const BUILTIN_MODULES: [&str; 7] =
    ["Array", "PairArray", "Counter", "Table", "Event", "Sys", "Payload"];

/// Names of built-in values that need no module.
pub(super) const BUILTIN_VALUES: [(&str, Builtin); 7] = [
    ("self", Builtin::SelfSwitch),
    ("SELF", Builtin::SelfSwitch),
    ("this", Builtin::This),
    ("ingress_port", Builtin::IngressPort),
    ("recirculation_port", Builtin::RecirculationPort),
    ("LUCID_ETHERTY", Builtin::LucidEtherType),
    ("checksum", Builtin::Checksum),
];

/// Members of the built-in modules. The artifact's `Event.sslocate` and so on say by their letters
/// whether they take and give events to one switch (`s`) or to many (`m`).
pub(super) const BUILTIN_MEMBERS: [(&str, &str, Builtin); 27] = [
    ("Array", "create", Builtin::ArrayCreate),
    ("Array", "get", Builtin::ArrayGet),
    ("Array", "getm", Builtin::ArrayGetm),
    ("Array", "set", Builtin::ArraySet),
    ("Array", "setm", Builtin::ArraySetm),
    ("Array", "update", Builtin::ArrayUpdate),
    ("Array", "update_complex", Builtin::ArrayUpdateComplex),
    ("PairArray", "create", Builtin::PairArrayCreate),
    ("PairArray", "update", Builtin::PairArrayUpdate),
    ("Counter", "create", Builtin::CounterCreate),
    ("Counter", "add", Builtin::CounterAdd),
    ("Table", "create", Builtin::TableCreate),
    ("Table", "lookup", Builtin::TableLookup),
    ("Table", "install", Builtin::TableInstall),
    ("Table", "install_ternary", Builtin::TableInstallTernary),
    ("Event", "delay", Builtin::EventDelay),
    ("Event", "mdelay", Builtin::EventDelay),
    ("Event", "locate", Builtin::EventLocate),
    ("Event", "sslocate", Builtin::EventLocate),
    ("Event", "mslocate", Builtin::EventLocate),
    ("Event", "smlocate", Builtin::EventLocateMany),
    ("Event", "mmlocate", Builtin::EventLocateMany),
    ("Sys", "time", Builtin::SysTime),
    ("Sys", "random", Builtin::SysRandom),
    ("Sys", "dequeue_depth", Builtin::SysDequeueDepth),
    ("Payload", "empty", Builtin::PayloadEmpty),
    ("Payload", "parse", Builtin::PayloadParse),
];

/// The result of a name lookup.
pub(super) enum Resolution {
    Entry(Entry),
    Builtin(Builtin),
    /// Not found; already reported.
    Missing,
}

impl Checker {
    /// Declares a name in the innermost module.
    pub(super) fn declare(&mut self, namespace: Namespace, binder: &Segment, entry: Entry) {
        let scope = self.innermost();
        self.scopes[scope.0].names.insert((namespace, binder.name.clone()), entry);
    }

    /// The module being checked.
    pub(super) fn innermost(&self) -> ScopeId {
        *self.stack.last().unwrap_or(&ScopeId(0))
    }

    /// The name with the modules it is declared in.
    pub(super) fn full_name(&self, name: &Arc<str>) -> Arc<str> {
        let mut full = String::new();
        for scope in self.stack.iter().skip(1) {
            full.push_str(&self.scopes[scope.0].name);
            full.push('.');
        }
        full.push_str(name);
        full.into()
    }

    /// The nearest declaration of a name, from the inside out.
    pub(super) fn lookup_name(&self, namespace: Namespace, name: &Arc<str>) -> Option<&Entry> {
        self.stack.iter().rev().find_map(|scope| {
            let scope = &self.scopes[scope.0];
            scope.get(namespace, name).or_else(|| {
                let constructors = namespace == Namespace::Values;
                constructors.then(|| scope.get(Namespace::Constructors, name)).flatten()
            })
        })
    }

    /// The scope that the modules in front of a path's last segment lead to. `Err(None)` is a
    /// built-in module, `Err(Some(i))` says that segment `i` is no module.
    pub(super) fn lookup_modules(&self, path: &Path) -> Result<ScopeId, Option<usize>> {
        let first = &path.segments[0].name;
        let mut scope = match self.lookup_name(Namespace::Modules, first).and_then(|e| e.scope) {
            Some(scope) => scope,
            None if path.segments.len() == 2 && BUILTIN_MODULES.contains(&&**first) => {
                return Err(None);
            }
            None => return Err(Some(0)),
        };
        for (at, segment) in
            path.segments.iter().enumerate().take(path.segments.len().saturating_sub(1)).skip(1)
        {
            match self.scopes[scope.0].get(Namespace::Modules, &segment.name) {
                Some(Entry { scope: Some(inner), .. }) => scope = *inner,
                _ => return Err(Some(at)),
            }
        }
        Ok(scope)
    }

    /// Looks a path up, without saying anything.
    pub(super) fn peek(&self, namespace: Namespace, path: &Path) -> Option<Resolution> {
        let last = &path.segments[path.segments.len() - 1].name;
        if path.segments.len() == 1 {
            if let Some(entry) = self.lookup_name(namespace, last) {
                return Some(Resolution::Entry(entry.clone()));
            }
            return match namespace {
                Namespace::Values => builtin_value(last).map(Resolution::Builtin),
                Namespace::Parsers if &**last == "do_lucid_parsing" => {
                    Some(Resolution::Builtin(Builtin::LucidParser))
                }
                _ => None,
            };
        }
        match self.lookup_modules(path) {
            Ok(scope) => {
                let scope = &self.scopes[scope.0];
                let constructors = namespace == Namespace::Values;
                let found = scope.get(namespace, last).or_else(|| {
                    constructors.then(|| scope.get(Namespace::Constructors, last)).flatten()
                });
                found.map(|entry| Resolution::Entry(entry.clone()))
            }
            Err(None) if namespace == Namespace::Values => {
                builtin_member(&path.segments[0].name, last).map(Resolution::Builtin)
            }
            Err(_) => None,
        }
    }

    /// Resolves a path and records its definition; reports an undeclared path.
    pub(super) fn lookup(&mut self, namespace: Namespace, path: &Path) -> Resolution {
        match self.peek(namespace, path) {
            Some(found) => {
                match &found {
                    Resolution::Entry(entry) => {
                        self.use_definition(&entry.definition);
                        self.out.definitions.insert(path.id, entry.definition.clone());
                    }
                    Resolution::Builtin(builtin) => {
                        self.out.definitions.insert(path.id, Definition::Builtin(*builtin));
                    }
                    Resolution::Missing => {}
                }
                found
            }
            None => {
                self.undeclared(namespace, path);
                Resolution::Missing
            }
        }
    }

    /// Marks what a path means as used.
    pub(super) fn use_definition(&mut self, definition: &Definition) {
        match definition {
            Definition::Aliased { then, otherwise, .. } => {
                self.use_definition(then);
                self.use_definition(otherwise);
            }
            Definition::Builtin(_) => {}
            other => {
                if let Some(id) = binder_of(other) {
                    self.used.insert(id);
                }
            }
        }
    }

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

/// The binder that a definition is about, if it is a single one.
pub(super) fn binder_of(definition: &Definition) -> Option<NodeId> {
    match definition {
        Definition::Local(id)
        | Definition::Loop(id)
        | Definition::Constant(id)
        | Definition::Symbolic(id)
        | Definition::Size(id)
        | Definition::Extern(id)
        | Definition::ExternFunction(id)
        | Definition::Global(id)
        | Definition::Event(id)
        | Definition::Function(id)
        | Definition::Memop(id)
        | Definition::Constructor(id)
        | Definition::Action(id)
        | Definition::Parser(id)
        | Definition::Type(id)
        | Definition::Module(id) => Some(*id),
        Definition::Aliased { .. } | Definition::Builtin(_) => None,
    }
}

fn builtin_value(name: &str) -> Option<Builtin> {
    BUILTIN_VALUES.iter().find(|(other, _)| *other == name).map(|(_, builtin)| *builtin)
}

fn builtin_member(module: &str, name: &str) -> Option<Builtin> {
    let mut members = BUILTIN_MEMBERS.iter();
    members.find(|(of, member, _)| *of == module && *member == name).map(|(_, _, builtin)| *builtin)
}

/// A path as it is written.
pub(super) fn show_path(path: &Path) -> String {
    path.segments.iter().map(|segment| &*segment.name).collect::<Vec<_>>().join(".")
}

fn show_path_but_last(path: &Path) -> String {
    let segments = &path.segments[..path.segments.len() - 1];
    segments.iter().map(|segment| &*segment.name).collect::<Vec<_>>().join(".")
}
