// SPDX-License-Identifier: Apache-2.0
//! All described architectures, and the description of a program's own. An architecture is one line here and
//! one in `extern_meanings`.

use super::description::{BlockRole, Description, Gress};
use super::{pna, psa, tna, v1model};
use crate::{Block, Program};

/// All described architectures.
pub static ARCHITECTURES: &[&Description] =
    &[&v1model::DESCRIPTION, &psa::DESCRIPTION, &pna::DESCRIPTION, &tna::DESCRIPTION];

/// The description with this name.
pub fn named(name: &str) -> Option<&'static Description> {
    ARCHITECTURES.iter().copied().find(|description| description.name == name)
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
        for description in ARCHITECTURES {
            let declared = InterfaceDeclarations::of(description.interface).expect("an interface");
            assert!(declared.names().contains(description.package), "{}", description.package);
            assert!(description.marker.is_none_or(|name| declared.names().contains(name)));
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
