// SPDX-License-Identifier: Apache-2.0
//! [`Groups`]: which measurements have a working copy of their own (Mantis §5.2). What the same reactions take flips and is
//! read together, so a large measurement of a slow reaction costs a fast one nothing. Rates do not count, so a reload may
//! change them.

use crate::language::{ArgumentSource, P4rProgram};
use p4::ast::NodeId;
use std::collections::BTreeSet;

/// The groups of a program's measurements, by number in the order of the arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// The reactions that take a group's measurements.
    reactions: Vec<BTreeSet<usize>>,
    /// The registers that are arguments, with their groups.
    registers: Vec<(NodeId, usize)>,
}

impl Groups {
    /// The groups of a program.
    pub(super) fn of(program: &P4rProgram) -> Groups {
        let mut takers: Vec<(NodeId, BTreeSet<usize>)> = Vec::new();
        // A set of reactions for each argument that packets write, in order.
        let mut sets: Vec<Result<usize, NodeId>> = Vec::new();
        for (reaction, declared) in program.declarations.reactions.iter().enumerate() {
            for argument in &declared.arguments {
                match &argument.source {
                    ArgumentSource::Packet { .. } | ArgumentSource::Malleable { .. } => {
                        sets.push(Ok(reaction));
                    }
                    ArgumentSource::Register { path, .. } => {
                        let found = crate::language::arguments::register(program, path);
                        let Some((declaration, _)) = found else { continue };
                        let node = declaration.id;
                        sets.push(Err(node));
                        match takers.iter_mut().find(|(known, _)| *known == node) {
                            Some((_, reactions)) => {
                                reactions.insert(reaction);
                            }
                            None => takers.push((node, BTreeSet::from([reaction]))),
                        }
                    }
                    ArgumentSource::Constant(_) => {}
                }
            }
        }
        let mut groups = Groups::default();
        for set in sets {
            match set {
                Ok(reaction) => {
                    groups.number(BTreeSet::from([reaction]));
                }
                Err(node) => {
                    let own = takers.iter().find(|(known, _)| *known == node);
                    let group = groups.number(own.map(|(_, own)| own.clone()).unwrap_or_default());
                    if !groups.registers.iter().any(|(known, _)| *known == node) {
                        groups.registers.push((node, group));
                    }
                }
            }
        }
        groups
    }

    /// The number of a set of reactions.
    fn number(&mut self, reactions: BTreeSet<usize>) -> usize {
        match self.reactions.iter().position(|known| *known == reactions) {
            Some(at) => at,
            None => {
                self.reactions.push(reactions);
                self.reactions.len() - 1
            }
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.reactions.len()
    }

    /// The reactions that take the measurements of each group.
    pub(super) fn reactions(&self) -> Vec<Vec<usize>> {
        self.reactions.iter().map(|own| own.iter().copied().collect()).collect()
    }

    /// The registers that are arguments, in the order of the arguments.
    pub(super) fn registers(&self) -> impl Iterator<Item = NodeId> {
        self.registers.iter().map(|(node, _)| *node)
    }

    /// The group of the fields that a reaction takes.
    pub(super) fn of_fields(&self, reaction: usize) -> usize {
        let own = BTreeSet::from([reaction]);
        self.reactions.iter().position(|known| *known == own).unwrap_or(0)
    }

    /// The group of a register; 0 for one that is no argument.
    pub(super) fn of_register(&self, register: NodeId) -> usize {
        self.registers.iter().find(|(node, _)| *node == register).map_or(0, |(_, group)| *group)
    }
}
