// SPDX-License-Identifier: Apache-2.0
//! Control flow: each basic block is reached under a condition, with the values that slots have on the way to it.

use super::{Logic, Reached};
use crate::codes;
use ir::control_flow::{predecessors, reverse_postorder};
use ir::{Operand, RegionId, Terminator};

impl Logic<'_> {
    /// Lowers a region. Returns where it ends, and where it ends the whole block.
    pub(super) fn region(
        &mut self,
        region: RegionId,
        start: Reached,
    ) -> (Vec<Reached>, Vec<Reached>) {
        let program = self.program;
        let code = &program.regions[region.index()];
        let order = reverse_postorder(code);
        let predecessors = predecessors(code);
        let mut places: Vec<Vec<Reached>> = vec![Vec::new(); code.blocks.len()];
        let mut done = vec![false; code.blocks.len()];
        let (mut ends, mut exits) = (Vec::new(), Vec::new());
        let Some(first) = places.first_mut() else { return (vec![start], exits) };
        first.push(start);
        let temps = std::mem::take(&mut self.temps);
        for at in order {
            let block = &code.blocks[at];
            if predecessors[at].iter().any(|before| !done[*before]) {
                let help = "write a loop with a constant bound";
                let message = "hardware has no loops at run time".to_owned();
                self.refuse(codes::LOOP, block.origin, message, help);
                break;
            }
            done[at] = true;
            let Some(mut place) = self.join(std::mem::take(&mut places[at])) else { continue };
            self.temps.clear();
            let mut is_over = false;
            for instruction in &block.instructions {
                match self.instruction(instruction, &mut place, &code.temps, &mut exits) {
                    Some(()) => {}
                    None => {
                        is_over = true;
                        break;
                    }
                }
            }
            if is_over {
                continue;
            }
            match &block.terminator {
                Terminator::Goto(next) => places[next.index()].push(place),
                Terminator::Branch { condition, then, otherwise } => {
                    let bit = self.operand(condition);
                    for (target, is_set) in [(then, true), (otherwise, false)] {
                        let reached = self.narrowed(&place.condition, &[(&bit, is_set)]);
                        let slots = place.slots.clone();
                        places[target.index()].push(Reached { condition: reached, slots });
                    }
                }
                Terminator::Switch { value, cases, default } => {
                    let value = self.operand(value);
                    let mut equals = Vec::new();
                    for (case, _) in cases {
                        let case = self.operand(&Operand::Constant(case.clone()));
                        equals.push(self.wire(1, &format!("{value} == {case}")));
                    }
                    for (at, (_, target)) in cases.iter().enumerate() {
                        let bits: Vec<(&str, bool)> = equals
                            .iter()
                            .enumerate()
                            .map(|(other, bit)| (&**bit, other == at))
                            .collect();
                        let reached = self.narrowed(&place.condition, &bits);
                        let slots = place.slots.clone();
                        places[target.index()].push(Reached { condition: reached, slots });
                    }
                    let none: Vec<(&str, bool)> =
                        equals.iter().map(|bit| (&**bit, false)).collect();
                    let reached = self.narrowed(&place.condition, &none);
                    places[default.index()].push(Reached { condition: reached, ..place });
                }
                Terminator::Return => ends.push(place),
                Terminator::Exit => exits.push(place),
                Terminator::Reject(_) => {
                    let help = "only controls become hardware";
                    let message = "a parser's reject in a stage".to_owned();
                    self.refuse(codes::OPERATION, block.origin, message, help);
                }
            }
        }
        self.temps = temps;
        (ends, exits)
    }
}
