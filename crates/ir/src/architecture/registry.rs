// SPDX-License-Identifier: Apache-2.0
//! The registry of architectures, one line each, and the description of a program's own. Lowering receives
//! [`ARCHITECTURES`] as an argument.

use super::description::{BlockRole, Description, Gress};
use super::{pna, psa, tna, v1model};
use crate::lowering::{Architecture, ExternMeaning};
use crate::{Block, Program};

/// All described architectures, with the meaning of their externs if they have any.
pub(crate) static ARCHITECTURES: &[Architecture] = &[
    registered(&v1model::DESCRIPTION, Some(&v1model::externs::V1Model)),
    registered(&psa::DESCRIPTION, Some(&psa::externs::Psa)),
    registered(&pna::DESCRIPTION, Some(&pna::externs::Pna)),
    registered(&tna::DESCRIPTION, Some(&tna::externs::Tna)),
];

const fn registered(
    description: &'static Description,
    externs: Option<&'static dyn ExternMeaning>,
) -> Architecture {
    Architecture { description, externs }
}

/// Returns all descriptions.
pub fn descriptions() -> impl Iterator<Item = &'static Description> {
    ARCHITECTURES.iter().map(|architecture| architecture.description)
}

/// The description with this name.
pub fn named(name: &str) -> Option<&'static Description> {
    descriptions().find(|description| description.name == name)
}

/// The description of a program's architecture; `None` for a package without one.
pub fn of(program: &Program) -> Option<&'static Description> {
    named(&program.architecture)
}

/// The description of a block; `None` in a package without one.
pub fn role_of(program: &Program, block: &Block) -> Option<&'static BlockRole> {
    of(program)?.block(&block.role)
}

/// The half of the pipeline in which match-action stages hold a block; `None` if no stage does. In a package
/// without a description stages hold all controls, and the block's role tells the half: one of its parts is `eg`
/// or begins with `egress`.
pub fn stages_of(program: &Program, block: &Block) -> Option<Gress> {
    if let Some(role) = role_of(program, block) {
        return role.takes_stages.then_some(role.gress);
    }
    let undescribed = BlockRole::new(block.kind, Gress::Ingress);
    let is_egress = block.role.split('.').any(|part| part == "eg" || part.starts_with("egress"));
    undescribed.takes_stages.then_some(if is_egress { Gress::Egress } else { Gress::Ingress })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::MetadataField;
    use p4::interface_declarations::InterfaceDeclarations;

    #[test]
    fn descriptions_name_what_they_describe() {
        for description in descriptions() {
            let declared = InterfaceDeclarations::of(description.interface).expect("an interface");
            assert!(declared.names().contains(description.package), "{}", description.package);
            assert!(description.marker.is_none_or(|name| declared.names().contains(name)));
            for (property, _) in description.table_properties {
                let mut known = p4::interfaces::table_properties();
                assert!(*property == "size" || known.any(|name| name == *property), "{property}");
            }
            let is_described = |field: &MetadataField| description.metadata.contains(field);
            for block in description.blocks {
                assert!(block.reads.iter().all(is_described), "{}", block.role);
                assert!(block.drop_only.iter().all(|field| block.reads.contains(field)));
                let mut requests = block.requests.iter();
                assert!(requests.all(|request| description.requests.contains(request)));
                for transition in block.transitions {
                    assert!(description.block(transition.to).is_some(), "{}", transition.to);
                    let mut fields = transition.reads.iter().chain(transition.writes);
                    assert!(fields.all(is_described), "{} to {}", block.role, transition.to);
                    let mut requests = transition.on_requests.iter();
                    assert!(requests.all(|request| description.requests.contains(request)));
                }
            }
        }
    }
}
