// SPDX-License-Identifier: Apache-2.0
//! Flows: which cells of which stages the packets of a flow access.

use arithmetic::random::stream::Stream;

/// What random numbers are for.
const STAGES: u64 = 1;
const CELLS: u64 = 2;

/// How flows share cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each flow takes the next cell in each of its stages, until an array is used up: no two flows share a cell. The paper's artifact
    /// does so.
    Own,
    /// So many flows with random cells in 1 to all stateful stages.
    Random {
        /// The number of flows.
        flows: u32,
    },
    /// Flow `i` has cell `i` in every stateful stage: each packet meets each array, and no two flows share a cell.
    OwnEverywhere,
    /// So many flows with a random cell in every stateful stage.
    Everywhere {
        /// The number of flows.
        flows: u32,
    },
}

/// Parameters of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flows {
    /// The number of stages. Stateful stages are random ones but the last.
    pub stages: usize,
    /// The number of stateful stages.
    pub stateful: usize,
    /// The cells of an array.
    pub cells: u32,
    /// How flows share cells.
    pub sharing: Sharing,
}

impl Flows {
    /// Returns the stage and cell of each access of each flow. If all stages are stateful, there is one stage more.
    pub fn generate(&self, seed: u64) -> Vec<Vec<(usize, u32)>> {
        if self.stateful == 0 {
            return Vec::new();
        }
        let mut random = Stream::new(seed, STAGES, 0);
        let stages = if self.stages == self.stateful { self.stages + 1 } else { self.stages };
        let mut order: Vec<usize> = (0..stages - 1).collect();
        shuffle(&mut order, &mut random);
        let mut stateful = order[..self.stateful].to_vec();
        stateful.sort_unstable();
        let mut next = vec![0; self.stateful];
        let mut flows = Vec::new();
        let most = match self.sharing {
            Sharing::Own | Sharing::OwnEverywhere => u32::MAX,
            Sharing::Random { flows } | Sharing::Everywhere { flows } => flows,
        };
        let mut random = Stream::new(seed, CELLS, 0);
        let mut places: Vec<usize> = (0..self.stateful).collect();
        while flows.len() < most as usize {
            let takes_next = matches!(self.sharing, Sharing::Own | Sharing::OwnEverywhere);
            if takes_next && next.contains(&self.cells) {
                break;
            }
            shuffle(&mut places, &mut random);
            let count = match self.sharing {
                Sharing::Everywhere { .. } | Sharing::OwnEverywhere => self.stateful,
                _ => 1 + random.up_to(self.stateful as u64 - 1) as usize,
            };
            let flow = places[..count].iter().map(|place| {
                let cell = if takes_next {
                    next[*place] += 1;
                    next[*place] - 1
                } else {
                    random.up_to(u64::from(self.cells) - 1) as u32
                };
                (stateful[*place], cell)
            });
            flows.push(flow.collect());
        }
        flows
    }
}

/// A random order (Fisher and Yates).
fn shuffle<T>(items: &mut [T], random: &mut Stream) {
    for index in (1..items.len()).rev() {
        items.swap(index, random.up_to(index as u64) as usize);
    }
}
