// SPDX-License-Identifier: Apache-2.0
//! Checks modules against their interfaces. Outside a module only the items of its interface are visible,
//! with the interface's types; a type that the interface lists without a definition is abstract.

use super::Checker;
use super::body::Frame;
use super::checked::{Definition, Instantiation, Signature, Type, UserTypeBody};
use super::codes;
use super::reports::arguments as count_arguments;
use super::scopes::{Entry, Namespace, Scope, ScopeId, View, binder_of};
use crate::syntax::ast::{
    self, Binder, Constraint, Declaration, InterfaceItem, InterfaceItemKind, NodeId, Parameter,
    Segment, SizeParameter,
};
use source::Diagnostic;
use std::rc::Rc;
use std::sync::Arc;

impl Checker {
    pub(super) fn module(
        &mut self,
        name: &Binder,
        interface: Option<&[InterfaceItem]>,
        declarations: &[Declaration],
    ) {
        let scope = self.new_scope(name.name.clone(), None);
        self.stack.push(scope);
        self.declarations(declarations);
        self.stack.pop();
        let visible = match interface {
            Some(items) => self.interface(&name.name, items, scope),
            None => scope,
        };
        self.declare_module(name, visible);
    }

    pub(super) fn new_scope(&mut self, name: Arc<str>, behind: Option<ScopeId>) -> ScopeId {
        self.scopes.push(Scope { behind, ..Scope::new(name) });
        ScopeId(self.scopes.len() - 1)
    }

    pub(super) fn declare_module(&mut self, name: &Binder, scope: ScopeId) {
        self.declare_named(Namespace::Modules, name, Definition::Module(name.id));
        let innermost = self.innermost();
        let key = (Namespace::Modules, name.name.clone());
        if let Some(entry) = self.scopes[innermost.0].names.get_mut(&key) {
            entry.scope = Some(scope);
        }
    }

    /// The names that an interface shows of a module; each must fit the module.
    fn interface(&mut self, module: &Arc<str>, items: &[InterfaceItem], body: ScopeId) -> ScopeId {
        let view = self.new_scope(module.clone(), Some(body));
        self.stack.push(view);
        let mut hidden = Vec::new();
        for item in items {
            self.at = item.span;
            self.interface_item(module, item, body, &mut hidden);
        }
        self.stack.pop();
        // The comparison of the interface with the module expanded its types.
        for definition in hidden {
            self.opaque.insert(definition, Some(body));
        }
        view
    }

    fn interface_item(
        &mut self,
        module: &Arc<str>,
        item: &InterfaceItem,
        body: ScopeId,
        hidden: &mut Vec<NodeId>,
    ) {
        match &item.kind {
            InterfaceItemKind::Size { name } => {
                if let Some(entry) = self.listed(module, Namespace::Sizes, name, body) {
                    self.show_item(Namespace::Sizes, name, entry);
                }
            }
            InterfaceItemKind::Type { name, parameters, ty, is_global } => {
                self.interface_type(
                    module,
                    name,
                    parameters,
                    ty.as_ref(),
                    *is_global,
                    body,
                    hidden,
                );
            }
            InterfaceItemKind::Value { name, ty } => {
                self.begin(Frame::Value);
                let wanted = self.resolve_type(ty);
                self.bind_name(name, wanted);
                self.finish(Vec::new());
                let Some(entry) = self.listed(module, Namespace::Values, name, body) else {
                    return;
                };
                let wanted = self.out.types.get(&name.id).cloned().unwrap_or(Type::Error);
                let is_value = matches!(
                    entry.definition,
                    Definition::Constant(_) | Definition::Symbolic(_) | Definition::Extern(_)
                );
                let found = match binder_of(&entry.definition).filter(|_| is_value) {
                    Some(id) => self.out.types.get(&id).cloned().unwrap_or(Type::Error),
                    None => {
                        self.wrong_sort(name, "a value", &entry);
                        Type::Error
                    }
                };
                if !self.inside(body, |checker| checker.unify(&found, &wanted)) {
                    self.misfit(name, &entry, "it", &wanted, &found);
                }
                self.show_item(Namespace::Values, name, entry);
            }
            InterfaceItemKind::Constructor { name, ty, parameters } => {
                let wanted = self.interface_signature(name, parameters, Some(ty), &[]);
                let namespace = Namespace::Constructors;
                self.interface_callable(module, name, namespace, wanted, body, "constructor");
            }
            InterfaceItemKind::Function { name, return_type, parameters, constraints } => {
                let wanted =
                    self.interface_signature(name, parameters, Some(return_type), constraints);
                self.interface_callable(module, name, Namespace::Values, wanted, body, "function");
            }
            InterfaceItemKind::Event { name, parameters, constraints } => {
                let wanted = self.interface_signature(name, parameters, None, constraints);
                self.interface_callable(module, name, Namespace::Values, wanted, body, "event");
            }
            InterfaceItemKind::Memop { name, parameters } => {
                let mut wanted = self.interface_signature(name, parameters, None, &[]);
                // A memop gives what its cell holds.
                if let Some(first) = wanted.parameters.first() {
                    wanted.result = first.clone();
                }
                self.interface_callable(module, name, Namespace::Values, wanted, body, "memop");
            }
            InterfaceItemKind::Module { name, interface } => {
                let Some(entry) = self.listed(module, Namespace::Modules, name, body) else {
                    return;
                };
                let Some(inner) = entry.scope else { return };
                let scope = self.interface(&name.name, interface, inner);
                self.name_binder(name);
                let entry = Entry { scope: Some(scope), ..entry };
                self.show_item(Namespace::Modules, name, entry);
            }
        }
    }

    /// Does something as if inside a module.
    fn inside<T>(&mut self, scope: ScopeId, act: impl FnOnce(&mut Checker) -> T) -> T {
        self.stack.push(scope);
        let result = act(self);
        self.stack.pop();
        result
    }

    /// The module's entry for a name in its interface; reports a missing entry.
    fn listed(
        &mut self,
        module: &Arc<str>,
        namespace: Namespace,
        name: &Binder,
        body: ScopeId,
    ) -> Option<Entry> {
        self.name_binder(name);
        let found = self.scopes[body.0].get(namespace, &name.name).cloned();
        if let Some(entry) = &found {
            // Users of a module may use the members of its interface.
            let definition = entry.definition.clone();
            self.use_definition(&definition);
        } else {
            let mut diagnostic = Diagnostic::error(
                codes::INTERFACE,
                name.span,
                format!(
                    "module `{module}` has no {} `{}` that its interface lists",
                    namespace.noun(),
                    name.name
                ),
            );
            let names: Vec<Arc<str>> = self.scopes[body.0]
                .names
                .keys()
                .filter(|(of, _)| *of == namespace)
                .map(|(_, name)| name.clone())
                .collect();
            if let Some(near) = source::nearest(&name.name, names.iter().map(|name| &**name)) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                if let Some(entry) = self.scopes[body.0].get(namespace, &near.into()) {
                    diagnostic = diagnostic.label(entry.span, format!("`{near}` is declared here"));
                }
            }
            self.diagnostics.push(diagnostic);
        }
        found
    }

    fn show_item(&mut self, namespace: Namespace, name: &Binder, entry: Entry) {
        let scope = self.innermost();
        if let Some(first) = self.scopes[scope.0].get(namespace, &name.name) {
            // The entry has the place in the module; the interface's is the binder of the first.
            let first = first.span;
            self.duplicate("interface entry", &name.name, name.span, first);
        }
        let segment = Segment { name: name.name.clone(), span: name.span };
        self.declare(namespace, &segment, entry);
    }

    fn wrong_sort(&mut self, name: &Binder, wanted: &str, entry: &Entry) {
        self.diagnostics.push(
            Diagnostic::error(
                codes::INTERFACE,
                name.span,
                format!("the interface lists `{}` as {wanted}, which it is not", name.name),
            )
            .label(entry.span, "the module declares it here"),
        );
    }

    fn misfit(&mut self, name: &Binder, entry: &Entry, part: &str, wanted: &Type, found: &Type) {
        let wanted = self.describe(&self.variables.resolve(wanted));
        let found = self.describe(&self.variables.resolve(found));
        self.diagnostics.push(
            Diagnostic::error(
                codes::INTERFACE,
                name.span,
                format!("`{}` does not match the interface", name.name),
            )
            .here(format!("{part} is {wanted} here"))
            .label(entry.span, format!("{part} is {found} in the module")),
        );
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one entry and where it belongs")]
    fn interface_type(
        &mut self,
        module: &Arc<str>,
        name: &Binder,
        parameters: &[SizeParameter],
        ty: Option<&ast::Type>,
        is_global: bool,
        body: ScopeId,
        hidden: &mut Vec<NodeId>,
    ) {
        self.begin(Frame::Value);
        let variables = self.type_parameters(parameters);
        self.body.closed = true;
        let wanted = ty.map(|ty| self.resolve_type(ty));
        for variable in &variables {
            self.variables.make_rigid(*variable);
        }
        self.finish(Vec::new());
        let Some(entry) = self.listed(module, Namespace::Types, name, body) else { return };
        let Some(user) = binder_of(&entry.definition).and_then(|id| self.out.user_types.get(&id))
        else {
            return;
        };
        let user = user.clone();
        if user.parameters.len() != parameters.len() {
            let sizes = |count: usize| count_arguments(count).replace("argument", "size");
            self.diagnostics.push(
                Diagnostic::error(
                    codes::INTERFACE,
                    name.span,
                    format!("type `{}` has another number of sizes in the interface", name.name),
                )
                .here(format!("{} here", sizes(parameters.len())))
                .label(entry.span, format!("{} in the module", sizes(user.parameters.len()))),
            );
        } else if let (Some(wanted), UserTypeBody::Known(found)) = (&wanted, &user.body) {
            let renamed = Instantiation {
                sizes: user
                    .parameters
                    .iter()
                    .zip(&variables)
                    .map(|(from, to)| (*from, super::Size::term(super::SizeTerm::Variable(*to))))
                    .collect(),
                ..Instantiation::default()
            };
            let found = renamed.apply(found);
            if !self.inside(body, |checker| checker.unify(&found, wanted)) {
                self.misfit(name, &entry, "it", wanted, &found);
            }
        }
        let shown_global = is_global || wanted.as_ref().is_some_and(|ty| self.out.is_global(ty));
        if shown_global != user.is_global {
            let (message, help) = if user.is_global {
                ("holds persistent state, which the interface does not say", "write `global type`")
            } else {
                (
                    "holds no persistent state, but the interface declares that it does",
                    "write `type`",
                )
            };
            self.diagnostics.push(
                Diagnostic::error(
                    codes::INTERFACE,
                    name.span,
                    format!("type `{}` {message}", name.name),
                )
                .label(entry.span, "declared here")
                .help(help),
            );
        }
        if wanted.is_none()
            && let Some(id) = binder_of(&entry.definition)
        {
            hidden.push(id);
        }
        self.show_item(Namespace::Types, name, entry);
    }

    /// The signature that an interface gives to something, whose variables are the interface's.
    fn interface_signature(
        &mut self,
        name: &Binder,
        parameters: &[Parameter],
        result: Option<&ast::Type>,
        constraints: &[Constraint],
    ) -> Signature {
        self.begin(Frame::Value);
        let types = self.parameters(parameters);
        let result = result.map_or(Type::Event, |result| self.resolve_type(result));
        self.constraints(constraints);
        self.remember_parameters(name.id, parameters);
        let signature = Signature { parameters: types, result, variables: Vec::new() };
        self.finish(vec![(name.id, signature)]);
        let empty =
            Signature { parameters: Vec::new(), result: Type::Error, variables: Vec::new() };
        self.out.signatures.get(&name.id).cloned().unwrap_or(empty)
    }

    /// Compares what the interface says of a function, constructor, event or memop with what the
    /// module has, and shows it with the interface's types.
    fn interface_callable(
        &mut self,
        module: &Arc<str>,
        name: &Binder,
        namespace: Namespace,
        wanted: Signature,
        body: ScopeId,
        what: &str,
    ) {
        let Some(entry) = self.listed(module, namespace, name, body) else { return };
        let right_sort = match what {
            "constructor" => matches!(entry.definition, Definition::Constructor(_)),
            "function" => matches!(entry.definition, Definition::Function(_)),
            "event" => matches!(entry.definition, Definition::Event(_)),
            _ => matches!(entry.definition, Definition::Memop(_)),
        };
        if !right_sort {
            let article = if what == "event" { "an" } else { "a" };
            self.wrong_sort(name, &format!("{article} {what}"), &entry);
            return;
        }
        let found = match &entry.view {
            Some(view) => Some(view.signature.clone()),
            None => {
                binder_of(&entry.definition).and_then(|id| self.out.signatures.get(&id).cloned())
            }
        };
        let Some(found) = found else { return };
        self.begin(Frame::Value);
        let fresh = self.fresh_instantiation(&found);
        let mut fits = true;
        if found.parameters.len() != wanted.parameters.len() {
            fits = false;
            let parameters = |count: usize| count_arguments(count).replace("argument", "parameter");
            self.diagnostics.push(
                Diagnostic::error(
                    codes::INTERFACE,
                    name.span,
                    format!(
                        "{what} `{}` has another number of parameters in the interface",
                        name.name
                    ),
                )
                .here(format!("{} here", parameters(wanted.parameters.len())))
                .label(entry.span, format!("{} in the module", parameters(found.parameters.len()))),
            );
        }
        let names = self.parameters.get(&name.id).cloned().unwrap_or_default();
        let parts = found.parameters.iter().zip(&wanted.parameters).enumerate();
        for (at, (found, wanted)) in parts {
            let found = fresh.apply(found);
            if fits && !self.inside(body, |checker| checker.unify(&found, wanted)) {
                fits = false;
                let part = match names.get(at) {
                    Some(segment) => format!("parameter `{}`", segment.name),
                    None => format!("parameter {}", at + 1),
                };
                self.misfit(name, &entry, &part, wanted, &found);
            }
        }
        let result = fresh.apply(&found.result);
        if fits && !self.inside(body, |checker| checker.unify(&result, &wanted.result)) {
            fits = false;
            self.misfit(name, &entry, "the result", &wanted.result, &result);
        }
        self.solve();
        let behind = if fits { self.behind(&entry, &fresh) } else { Instantiation::default() };
        self.body = super::body::Body::default();
        let view = Some(Rc::new(View { signature: wanted, behind }));
        self.show_item(namespace, name, Entry { view, ..entry });
    }

    /// What the variables of the declarations behind an entry stand for, when those of its own
    /// signature stand for the inferred types.
    pub(super) fn behind(&self, entry: &Entry, found: &Instantiation) -> Instantiation {
        let resolved = Instantiation {
            sizes: found
                .sizes
                .iter()
                .map(|(variable, size)| (*variable, self.variables.resolve_size(size)))
                .collect(),
            types: found
                .types
                .iter()
                .map(|(variable, ty)| (*variable, self.variables.resolve(ty)))
                .collect(),
        };
        match &entry.view {
            Some(view) => super::calls::compose(&view.behind, &resolved),
            None => resolved,
        }
    }
}
