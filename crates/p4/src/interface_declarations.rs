// SPDX-License-Identifier: Apache-2.0
//! [`InterfaceDeclarations`]: what a built-in interface declares, read from its text, for tools that write
//! programs for it. What the declarations mean for a device is not known here.

use crate::ast::{DeclarationKind, Direction, Program, TypeRefKind};
use crate::interfaces::{InterfacesOnly, interface};
use crate::parser::parse;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use crate::printer::print_type_ref;
use source::{Diagnostics, SourceMap};
use std::collections::BTreeSet;

/// The declarations of a built-in interface and of those that it includes.
#[derive(Clone, Debug)]
pub struct InterfaceDeclarations {
    program: Program,
}

impl InterfaceDeclarations {
    /// Reads a built-in interface; `None` if there is no interface with this name.
    pub fn of(name: &str) -> Option<InterfaceDeclarations> {
        let (mut map, mut found) = (SourceMap::new(), Diagnostics::new());
        let main = map.add(name, interface(name)?.to_string());
        let options = PreprocessorOptions::default();
        let tokens = preprocess(&mut map, &InterfacesOnly, main, &options, &mut found);
        Some(InterfaceDeclarations { program: parse(tokens, &mut found) })
    }

    /// Names that a program cannot declare at the top level: those of declarations and of match kinds.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        for declaration in &self.program.declarations {
            match &declaration.kind {
                DeclarationKind::Error(_) => {}
                DeclarationKind::MatchKind(kinds) => {
                    names.extend(kinds.iter().map(|kind| &*kind.name.text));
                }
                _ => {
                    names.insert(&*declaration.name.text);
                }
            }
        }
        names
    }

    /// The parameters of a control or parser type as a declaration writes them, in parentheses, with type
    /// arguments for its type parameters in order; `None` if there is no such type.
    pub fn parameters(&self, type_name: &str, type_arguments: &[&str]) -> Option<String> {
        let declarations = self.program.declarations.iter();
        let mut types = declarations.filter_map(|declaration| match &declaration.kind {
            DeclarationKind::ControlType(ty) | DeclarationKind::ParserType(ty) => {
                (&*declaration.name.text == type_name).then_some(ty)
            }
            _ => None,
        });
        let ty = types.next()?;
        let argument = |name: &str| {
            let parameters = ty.type_parameters.iter();
            let mut pairs = parameters.zip(type_arguments);
            pairs
                .find(|(parameter, _)| &*parameter.name.text == name)
                .map(|(_, argument)| *argument)
        };
        let parameters: Vec<String> = ty
            .parameters
            .iter()
            .map(|parameter| {
                let direction = match parameter.direction {
                    Direction::None => "",
                    Direction::In => "in ",
                    Direction::Out => "out ",
                    Direction::InOut => "inout ",
                };
                let written = match &parameter.ty.kind {
                    TypeRefKind::Named(path) => argument(&path.name.text).map(str::to_string),
                    _ => None,
                };
                let ty = written.unwrap_or_else(|| print_type_ref(&parameter.ty));
                format!("{direction}{ty} {}", parameter.name.text)
            })
            .collect();
        Some(format!("({})", parameters.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_tell_names_and_parameters() {
        let declarations = InterfaceDeclarations::of("v1model.p4").expect("it is built in");
        let names = declarations.names();
        for name in ["standard_metadata_t", "V1Switch", "selector", "mark_to_drop", "packet_in"] {
            assert!(names.contains(name), "{name}");
        }
        assert_eq!(
            declarations.parameters("Egress", &["headers_t", "metadata_t"]).as_deref(),
            Some(
                "(inout headers_t hdr, inout metadata_t meta, \
                 inout standard_metadata_t standard_metadata)"
            )
        );
        assert_eq!(declarations.parameters("Missing", &[]), None);
        assert!(InterfaceDeclarations::of("missing.p4").is_none());
    }
}
