// SPDX-License-Identifier: Apache-2.0
//! Modules as sets of names, and name lookup. Sizes, values, types, parsers and modules have separate
//! namespaces; constructors are searched after other values. A name refers to the latest declaration
//! before it in the innermost module that has one.

use super::Checker;
use super::checked::{Builtin, Definition, Instantiation, Signature};
use crate::syntax::ast::{NodeId, Path, Segment};
use source::Span;
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
