// SPDX-License-Identifier: Apache-2.0
//! Module aliases `module F = A if b else B;`: checks that both modules have the same visible items with the
//! same types, and makes a new abstract type of what both hide.

use super::Checker;
use super::body::Frame;
use super::checked::{
    CheckedProgram, Definition, Instantiation, Signature, Type, UserType, UserTypeBody,
};
use super::codes;
use super::reports::TypeExpectation;
use super::scopes::{Entry, Namespace, ScopeId, View, binder_of, show_path};
use crate::syntax::ast::{Binder, Expression, NodeId, Path, Segment};
use source::{Diagnostic, Span};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// One alias while its two modules are compared.
struct Alias {
    id: NodeId,
    span: Span,
    /// The names of the two modules, for messages.
    names: [String; 2],
    /// The types of the two modules that are one type of the alias.
    types: HashMap<NodeId, NodeId>,
}

impl Checker {
    pub(super) fn module_alias(
        &mut self,
        name: &Binder,
        condition: &Expression,
        then: &Path,
        otherwise: &Path,
    ) {
        self.begin(Frame::Value);
        let why = TypeExpectation::new(condition.span, "the condition of a module alias is {}");
        self.expect(condition, &Type::Bool, Some(&why));
        self.finish(Vec::new());
        let (first, second) = (self.aliased(then), self.aliased(otherwise));
        let scope = match (first, second) {
            (Some(first), Some(second)) => {
                let mut alias = Alias {
                    id: name.id,
                    span: name.span,
                    names: [show_path(then), show_path(otherwise)],
                    types: HashMap::new(),
                };
                self.merge(&mut alias, name.name.clone(), first, second)
            }
            _ => self.new_scope(name.name.clone(), None),
        };
        self.declare_module(name, scope);
    }

    fn aliased(&mut self, path: &Path) -> Option<ScopeId> {
        match self.lookup(Namespace::Modules, path) {
            super::scopes::Resolution::Entry(entry) => entry.scope,
            _ => None,
        }
    }

    /// The names that two modules have in common.
    fn merge(&mut self, alias: &mut Alias, name: Arc<str>, a: ScopeId, b: ScopeId) -> ScopeId {
        let scope = self.new_scope(name.clone(), None);
        let keys = |checker: &Checker, scope: ScopeId| -> Vec<(Namespace, Arc<str>)> {
            checker.scopes[scope.0].names.keys().cloned().collect()
        };
        let (of_a, of_b) = (keys(self, a), keys(self, b));
        for (at, (own, other)) in [(&of_a, &of_b), (&of_b, &of_a)].into_iter().enumerate() {
            for (namespace, missing) in own.iter().filter(|key| !other.contains(key)) {
                let there = [a, b][at];
                let span = self.scopes[there.0].get(*namespace, missing).map(|entry| entry.span);
                let (has, lacks) = (&alias.names[at], &alias.names[1 - at]);
                let mut diagnostic = Diagnostic::error(
                    codes::ALIAS,
                    alias.span,
                    format!(
                        "module `{has}` has the {} `{missing}`, module `{lacks}` does not",
                        namespace.noun()
                    ),
                )
                .help("give both modules the same interface");
                if let Some(span) = span {
                    diagnostic = diagnostic.label(span, "declared here");
                }
                self.diagnostics.push(diagnostic);
            }
        }
        let common: Vec<(Namespace, Arc<str>)> =
            of_a.into_iter().filter(|key| of_b.contains(key)).collect();
        // Types first: the others are compared in their terms.
        for (namespace, member) in &common {
            if *namespace == Namespace::Types {
                self.merge_types(alias, &name, scope, member, a, b);
            }
        }
        for (namespace, member) in &common {
            let (Some(of_a), Some(of_b)) = (
                self.scopes[a.0].get(*namespace, member).cloned(),
                self.scopes[b.0].get(*namespace, member).cloned(),
            ) else {
                continue;
            };
            let entry = match namespace {
                Namespace::Types => continue,
                Namespace::Sizes => self.merge_sizes(alias, member, &of_a, &of_b),
                Namespace::Modules => match (of_a.scope, of_b.scope) {
                    (Some(a), Some(b)) => {
                        let inner = self.merge(alias, member.clone(), a, b);
                        Some(Entry { scope: Some(inner), ..of_a })
                    }
                    _ => None,
                },
                Namespace::Values | Namespace::Constructors | Namespace::Parsers => {
                    self.merge_values(alias, member, &of_a, &of_b)
                }
            };
            if let Some(entry) = entry {
                self.scopes[scope.0].names.insert((*namespace, member.clone()), entry);
            }
        }
        scope
    }

    fn merge_types(
        &mut self,
        alias: &mut Alias,
        module: &Arc<str>,
        scope: ScopeId,
        member: &Arc<str>,
        a: ScopeId,
        b: ScopeId,
    ) {
        let of = |checker: &Checker, scope: ScopeId| {
            let entry = checker.scopes[scope.0].get(Namespace::Types, member)?.clone();
            let id = binder_of(&entry.definition)?;
            let user = checker.out.user_types.get(&id)?.clone();
            Some((entry, id, user))
        };
        let (Some((entry, id, user)), Some((other_entry, other_id, other))) =
            (of(self, a), of(self, b))
        else {
            return;
        };
        let place = (entry.span, other_entry.span);
        if user.parameters.len() != other.parameters.len() || user.is_global != other.is_global {
            self.unlike(alias, member, place, None);
            return;
        }
        let entry = if id == other_id {
            entry
        } else if self.is_transparent(id) && self.is_transparent(other_id) {
            let (UserTypeBody::Known(left), UserTypeBody::Known(right)) = (&user.body, &other.body)
            else {
                return;
            };
            let pairs = other.parameters.iter().zip(&user.parameters);
            let renamed = Instantiation {
                sizes: pairs
                    .map(|(from, to)| (*from, super::Size::term(super::SizeTerm::Variable(*to))))
                    .collect(),
                ..Instantiation::default()
            };
            let right = renamed.apply(&replace_users(right, &alias.types, &self.out));
            let left = replace_users(left, &alias.types, &self.out);
            if !self.unify(&left, &right) {
                let shown = (self.out.show(&left), self.out.show(&right));
                self.unlike(alias, member, place, Some(shown));
                return;
            }
            alias.types.insert(other_id, id);
            entry
        } else {
            let own = self.new_node();
            let outer = self.full_name(module);
            let full: Arc<str> = format!("{outer}.{member}").into();
            self.out.binders.insert(own, Segment { name: full.clone(), span: alias.span });
            self.out.user_types.insert(
                own,
                UserType {
                    name: full,
                    parameters: user.parameters.clone(),
                    body: UserTypeBody::Aliased { alias: alias.id, then: id, otherwise: other_id },
                    is_global: user.is_global,
                },
            );
            self.opaque.insert(own, None);
            if let Some(facts) = self.facts.get(&id).cloned() {
                self.facts.insert(own, facts);
            }
            alias.types.insert(id, own);
            alias.types.insert(other_id, own);
            Entry { definition: Definition::Type(own), ..entry }
        };
        self.scopes[scope.0].names.insert((Namespace::Types, member.clone()), entry);
    }

    fn unlike(
        &mut self,
        alias: &Alias,
        member: &str,
        places: (Span, Span),
        types: Option<(String, String)>,
    ) {
        let (first, second) = match types {
            Some((first, second)) => (
                format!("`{first}` in `{}`", alias.names[0]),
                format!("`{second}` in `{}`", alias.names[1]),
            ),
            None => (
                format!("declared here in `{}`", alias.names[0]),
                format!("declared here in `{}`", alias.names[1]),
            ),
        };
        self.diagnostics.push(
            Diagnostic::error(
                codes::ALIAS,
                alias.span,
                format!(
                    "`{member}` is not the same in modules `{}` and `{}`",
                    alias.names[0], alias.names[1]
                ),
            )
            .label(places.0, first)
            .label(places.1, second)
            .help("give both modules the same interface"),
        );
    }

    fn merge_sizes(&mut self, alias: &Alias, member: &str, a: &Entry, b: &Entry) -> Option<Entry> {
        let value = |checker: &Checker, entry: &Entry| {
            let id = binder_of(&entry.definition)?;
            Some((id, checker.out.declared_sizes.get(&id).cloned().flatten()))
        };
        let (of_a, of_b) = (value(self, a)?, value(self, b)?);
        if of_a.0 == of_b.0 || of_a.1.is_some() && of_a.1 == of_b.1 {
            return Some(a.clone());
        }
        let shown = |value: &Option<super::Size>| match value {
            Some(size) => self.out.show_size(size),
            None => "symbolic".to_owned(),
        };
        let types = Some((shown(&of_a.1), shown(&of_b.1)));
        self.unlike(alias, member, (a.span, b.span), types);
        None
    }

    fn merge_values(&mut self, alias: &Alias, member: &str, a: &Entry, b: &Entry) -> Option<Entry> {
        let definition = Definition::Aliased {
            alias: alias.id,
            then: Box::new(a.definition.clone()),
            otherwise: Box::new(b.definition.clone()),
        };
        let places = (a.span, b.span);
        if sort_of(&a.definition) != sort_of(&b.definition) {
            self.unlike(alias, member, places, None);
            return None;
        }
        let first = self.shown_signature(a, alias)?;
        let second = self.shown_signature(b, alias)?;
        self.begin(Frame::Value);
        let fresh = self.fresh_instantiation(&second);
        let fits = first.parameters.len() == second.parameters.len()
            && first
                .parameters
                .iter()
                .zip(&second.parameters)
                .chain([(&first.result, &second.result)])
                .all(|(wanted, found)| {
                    let found = fresh.apply(found);
                    self.unify(&found, wanted)
                });
        self.solve();
        if !fits {
            let shown = (self.show_signature(&first), self.show_signature(&second));
            self.body = super::body::Body::default();
            self.unlike(alias, member, places, Some(shown));
            return None;
        }
        // The variables of the alias are those of the first module.
        let own = Instantiation {
            sizes: first
                .variables
                .iter()
                .map(|v| (*v, super::Size::term(super::SizeTerm::Variable(*v))))
                .collect(),
            types: first.variables.iter().map(|v| (*v, Type::Variable(*v))).collect(),
        };
        let own = keep_kinds(own, &first);
        let mut behind = self.behind(a, &own);
        let other = self.behind(b, &fresh);
        behind.sizes.extend(other.sizes);
        behind.types.extend(other.types);
        self.body = super::body::Body::default();
        let view = Some(Rc::new(View { signature: first, behind }));
        Some(Entry { definition, span: a.span, view, scope: None })
    }

    /// The signature of an entry with the types of the alias; of a value, one without parameters.
    fn shown_signature(&self, entry: &Entry, alias: &Alias) -> Option<Signature> {
        let signature = match &entry.view {
            Some(view) => view.signature.clone(),
            None => {
                let mut definition = &entry.definition;
                while let Definition::Aliased { then, .. } = definition {
                    definition = then;
                }
                let id = binder_of(definition)?;
                match self.out.signatures.get(&id) {
                    Some(signature) => signature.clone(),
                    None => Signature {
                        parameters: Vec::new(),
                        result: self.out.types.get(&id)?.clone(),
                        variables: Vec::new(),
                    },
                }
            }
        };
        let shown = |ty: &Type| replace_users(ty, &alias.types, &self.out);
        Some(Signature {
            parameters: signature.parameters.iter().map(shown).collect(),
            result: shown(&signature.result),
            variables: signature.variables,
        })
    }

    fn show_signature(&self, signature: &Signature) -> String {
        let result = self.out.show(&self.variables.resolve(&signature.result));
        if signature.parameters.is_empty() {
            return result;
        }
        let parameters: Vec<String> = signature
            .parameters
            .iter()
            .map(|ty| self.out.show(&self.variables.resolve(ty)))
            .collect();
        format!("{result} ({})", parameters.join(", "))
    }
}

/// Keeps of each variable what it is one of: a size or a type.
fn keep_kinds(mut all: Instantiation, signature: &Signature) -> Instantiation {
    let mut types = Vec::new();
    for ty in signature.parameters.iter().chain([&signature.result]) {
        let _ = ty.replace(
            &mut |variable| {
                types.push(variable);
                None
            },
            &mut |_| None,
        );
    }
    all.sizes.retain(|variable, _| !types.contains(variable));
    all.types.retain(|variable, _| types.contains(variable));
    all
}

fn sort_of(definition: &Definition) -> u8 {
    match definition {
        Definition::Aliased { then, .. } => sort_of(then),
        Definition::Constant(_) | Definition::Symbolic(_) | Definition::Extern(_) => 0,
        Definition::ExternFunction(_) => 1,
        Definition::Event(_) => 2,
        Definition::Function(_) => 3,
        Definition::Memop(_) => 4,
        Definition::Constructor(_) => 5,
        Definition::Action(_) => 6,
        Definition::Parser(_) => 7,
        _ => 8,
    }
}

/// The type with user types replaced by others with the same parameters.
fn replace_users(ty: &Type, types: &HashMap<NodeId, NodeId>, program: &CheckedProgram) -> Type {
    let inner = ty.map(&mut |ty| replace_users(ty, types, program), &mut Clone::clone);
    match inner {
        Type::User { definition, name, sizes } => match types.get(&definition) {
            Some(other) => {
                let name = program.user_types.get(other).map_or(name, |user| user.name.clone());
                Type::User { definition: *other, name, sizes }
            }
            None => Type::User { definition, name, sizes },
        },
        other => other,
    }
}
