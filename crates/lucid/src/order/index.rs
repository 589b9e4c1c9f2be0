// SPDX-License-Identifier: Apache-2.0
//! Index for the order check: globals in the order of their declaration, fields of records, and the modules
//! that contain a declaration, so that code outside sees it as the interface declares it.

use crate::syntax::ast::{
    Constraint, Declaration, DeclarationKind, InterfaceItem, InterfaceItemKind, NodeId, Parameter,
    Program, Type, TypeKind,
};
use source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// A global.
#[derive(Clone, Debug)]
pub(crate) struct GlobalEntry {
    /// Its name, with its modules.
    pub name: Arc<str>,
    /// Where its name is declared.
    pub span: Span,
}

/// Parameters and constraints of something that can be called, as one of its declarations has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered<'p> {
    pub name: &'p Arc<str>,
    pub span: Span,
    pub parameters: &'p [Parameter],
    pub constraints: &'p [Constraint],
}

/// The side from which a declaration is seen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View<'p> {
    /// From inside the module.
    Inside,
    /// Through an interface, by the name in the interface.
    Interface(Ordered<'p>),
}

/// A module, for those inside and outside.
struct Module<'p> {
    name: &'p Arc<str>,
    interface: Option<&'p [InterfaceItem]>,
}

/// See the module's text.
#[derive(Default)]
pub(crate) struct Index<'p> {
    pub globals: Vec<GlobalEntry>,
    pub global_numbers: HashMap<NodeId, u32>,
    pub events: HashMap<NodeId, Ordered<'p>>,
    /// Fields of user types that are written as records, by the type's binder.
    fields: HashMap<NodeId, &'p [Parameter]>,
    /// Modules around a function or event, by its binder, outermost first.
    owners: HashMap<NodeId, Vec<usize>>,
    names: HashMap<NodeId, &'p Arc<str>>,
    modules: Vec<Module<'p>>,
    /// Modules by binder.
    module_numbers: HashMap<NodeId, usize>,
}

impl<'p> Index<'p> {
    pub(crate) fn new(program: &'p Program) -> Index<'p> {
        let mut index = Index::default();
        index.declarations(&program.declarations, &mut Vec::new());
        index
    }

    fn declarations(&mut self, declarations: &'p [Declaration], around: &mut Vec<usize>) {
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Global { name, .. } => {
                    let number = self.globals.len() as u32;
                    self.global_numbers.insert(name.id, number);
                    let name_with_modules = self.qualified(around, &name.name);
                    self.globals.push(GlobalEntry { name: name_with_modules, span: name.span });
                }
                DeclarationKind::Function { name, .. } => {
                    self.owners.insert(name.id, around.clone());
                    self.names.insert(name.id, &name.name);
                }
                DeclarationKind::Event { name, parameters, constraints, .. } => {
                    self.owners.insert(name.id, around.clone());
                    self.names.insert(name.id, &name.name);
                    let span = name.span;
                    let ordered = Ordered { name: &name.name, span, parameters, constraints };
                    self.events.insert(name.id, ordered);
                }
                DeclarationKind::UserType {
                    name,
                    ty: Type { kind: TypeKind::Record(fields), .. },
                    ..
                } => {
                    self.fields.insert(name.id, fields);
                }
                DeclarationKind::Module { name, interface, declarations } => {
                    let number = self.modules.len();
                    let interface = interface.as_deref();
                    self.modules.push(Module { name: &name.name, interface });
                    self.module_numbers.insert(name.id, number);
                    around.push(number);
                    self.declarations(declarations, around);
                    around.pop();
                }
                _ => {}
            }
        }
    }

    fn qualified(&self, around: &[usize], name: &str) -> Arc<str> {
        let mut full = String::new();
        for module in around {
            full.push_str(self.modules[*module].name);
            full.push('.');
        }
        full.push_str(name);
        full.into()
    }

    /// The name of a function or event as those inside these modules would write it.
    pub(crate) fn name_from(&self, id: NodeId, from: &[usize]) -> Arc<str> {
        let owners = self.owners.get(&id).map_or(&[][..], |owners| owners);
        let common = owners.iter().zip(from).take_while(|(own, from)| own == from).count();
        let name = self.names.get(&id).map_or("?", |name| name);
        self.qualified(&owners[common..], name)
    }

    /// The number of a module.
    pub(crate) fn module(&self, id: NodeId) -> Option<usize> {
        self.module_numbers.get(&id).copied()
    }

    /// Where a field of a user type is declared.
    pub(crate) fn field(&self, user_type: NodeId, label: &str) -> Option<Span> {
        let fields = self.fields.get(&user_type)?;
        fields.iter().find(|field| *field.name.name == *label).map(|field| field.name.span)
    }

    /// How a function or event looks to those inside these modules: the outermost module that is
    /// around it and not around them decides, if it has an interface.
    pub(crate) fn view(&self, id: NodeId, from: &[usize]) -> View<'p> {
        let (Some(owners), Some(name)) = (self.owners.get(&id), self.names.get(&id)) else {
            return View::Inside;
        };
        let common = owners.iter().zip(from).take_while(|(own, from)| own == from).count();
        let crossed = &owners[common..];
        for (at, module) in crossed.iter().enumerate() {
            let Some(mut items) = self.modules[*module].interface else { continue };
            for inner in &crossed[at + 1..] {
                let inner = self.modules[*inner].name;
                let found = items.iter().find_map(|item| match &item.kind {
                    InterfaceItemKind::Module { name, interface } if name.name == *inner => {
                        Some(interface.as_slice())
                    }
                    _ => None,
                });
                match found {
                    Some(found) => items = found,
                    None => return View::Inside,
                }
            }
            return match items.iter().find_map(|item| interface_entry(item, name)) {
                Some(ordered) => View::Interface(ordered),
                None => View::Inside,
            };
        }
        View::Inside
    }
}

/// A function or event of this name in an interface.
pub(crate) fn interface_entry<'p>(item: &'p InterfaceItem, wanted: &str) -> Option<Ordered<'p>> {
    match &item.kind {
        InterfaceItemKind::Function { name, parameters, constraints, .. }
        | InterfaceItemKind::Event { name, parameters, constraints }
            if *name.name == *wanted =>
        {
            Some(Ordered { name: &name.name, span: item.span, parameters, constraints })
        }
        _ => None,
    }
}
