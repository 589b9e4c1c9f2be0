// SPDX-License-Identifier: Apache-2.0
//! [`Groups`]: which measurements share a working copy (Mantis §5.2). A group is what exactly the same reactions take: it is
//! flipped and read as one, so a fast reaction does not pay for the large measurement of a slow one. Groups do not depend on
//! rates, so a reload may change rates.

use crate::language::{ArgumentSource, P4rProgram};
use p4::ast::NodeId;
use std::collections::BTreeSet;

/// What an argument measures first.
enum Measured {
    /// Fields that packets write for a reaction.
    Fields { reaction: usize },
    /// A register, by its place in the list of those that are taken.
    Register { taker: usize },
}

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
        // The reactions that take each register, then what each argument measures, in order.
        let mut takers: Vec<(NodeId, BTreeSet<usize>)> = Vec::new();
        let mut measured: Vec<Measured> = Vec::new();
        for (reaction, declared) in program.declarations.reactions.iter().enumerate() {
            for argument in &declared.arguments {
                match &argument.source {
                    ArgumentSource::Packet { .. } | ArgumentSource::Malleable { .. } => {
                        measured.push(Measured::Fields { reaction });
                    }
                    ArgumentSource::Register { path, .. } => {
                        let found = crate::language::arguments::register(program, path);
                        let Some((declaration, _)) = found else { continue };
                        let known = takers.iter().position(|(node, _)| *node == declaration.id);
                        let taker = known.unwrap_or_else(|| {
                            takers.push((declaration.id, BTreeSet::new()));
                            measured.push(Measured::Register { taker: takers.len() - 1 });
                            takers.len() - 1
                        });
                        takers[taker].1.insert(reaction);
                    }
                    ArgumentSource::Constant(_) => {}
                }
            }
        }
        let mut groups = Groups::default();
        for one in measured {
            match one {
                Measured::Fields { reaction } => {
                    groups.number(BTreeSet::from([reaction]));
                }
                Measured::Register { taker } => {
                    let (node, reactions) = &takers[taker];
                    let group = groups.number(reactions.clone());
                    groups.registers.push((*node, group));
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

    /// Whether a register is an argument.
    pub(super) fn measures(&self, register: NodeId) -> bool {
        self.registers().any(|node| node == register)
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
