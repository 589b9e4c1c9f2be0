// SPDX-License-Identifier: Apache-2.0
//! [`TargetInterface`]: the built-in interface that compiled programs of a target include: the names that it
//! takes, and the parameters of its controls.

use crate::names::Names;
use p4::interface_declarations::InterfaceDeclarations;

/// The interface of a target.
#[derive(Debug)]
pub(crate) struct TargetInterface {
    declarations: Option<InterfaceDeclarations>,
    /// The scope that each scope of a program begins with.
    names: Names,
}

impl TargetInterface {
    /// The interface, in programs where the compiler declares names of its own.
    pub(crate) fn new(interface: &str, own_names: &[&str]) -> TargetInterface {
        let declarations = InterfaceDeclarations::of(interface);
        let declared = declarations.iter().flat_map(InterfaceDeclarations::names);
        let taken: Vec<&str> = declared.chain(own_names.iter().copied()).collect();
        TargetInterface { names: Names::new(&taken), declarations }
    }

    /// A scope in which the interface's names and the compiler's are taken.
    pub(crate) fn names(&self) -> Names {
        self.names.clone()
    }

    /// The parameters of a control type for these type arguments, in parentheses.
    pub(crate) fn parameters(&self, control: &str, type_arguments: &[&str]) -> String {
        let declarations = self.declarations.as_ref();
        let parameters = declarations.and_then(|it| it.parameters(control, type_arguments));
        parameters.unwrap_or_default()
    }
}
