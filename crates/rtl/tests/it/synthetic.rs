// SPDX-License-Identifier: Apache-2.0
//! A program with accesses that its packets bring along, for the simulator and as a plan for hardware: five arrays in four stages, two of
//! them in one stage, updates that do not commute, an access with a predicate on state, and drops by state.

use rtl::{Array, Group, Plan, Stage};
use scale::work::{Access, StageOutcome, Work};

/// Bits of values and of cells.
const VALUE_BITS: usize = 16;
/// Stage and cells of each array.
pub const ARRAYS: [(usize, u32); 5] = [(0, 16), (1, 5), (3, 8), (3, 4), (4, 16)];
/// The number of stages; stage 2 has no array.
pub const STAGES: usize = 5;
/// The array whose value decides whether the packet's access of the last array happens.
const DECIDER: usize = 0;

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Packet {
    pub value: u16,
    pub id: u16,
    /// The cell of each array that it accesses.
    pub cells: [Option<u8>; ARRAYS.len()],
    /// Its last access happens only if the decider's cell is odd.
    pub is_conditional: bool,
    /// It is dropped in stage 3 if it finds a multiple of 4.
    pub is_droppable: bool,
}

impl Packet {
    /// The binary digits of its header, the highest bit first.
    pub fn digits(&self) -> String {
        let mut bits = u128::from(self.value) | u128::from(self.id) << VALUE_BITS;
        let mut place = 2 * VALUE_BITS;
        for (cell, (_, cells)) in self.cells.iter().zip(ARRAYS) {
            bits |= u128::from(cell.is_some()) << place;
            bits |= u128::from(cell.unwrap_or(0)) << (place + 1);
            place += 1 + cell_bits(cells);
        }
        bits |= u128::from(self.is_conditional) << place;
        bits |= u128::from(self.is_droppable) << (place + 1);
        format!("{bits:0digits$b}", digits = header_bits())
    }
}

/// Bits of a cell's number.
fn cell_bits(cells: u32) -> usize {
    rtl::plan::index_bits(u64::from(cells))
}

/// Bits of a header.
pub fn header_bits() -> usize {
    2 * VALUE_BITS + ARRAYS.iter().map(|(_, cells)| 1 + cell_bits(*cells)).sum::<usize>() + 2
}

/// The program's state in each pipeline.
#[derive(Clone, Debug)]
pub struct Synthetic {
    groups: Vec<scale::work::Group>,
    /// Values by pipeline, array and cell.
    pub cells: Vec<Vec<Vec<u16>>>,
}

impl Synthetic {
    pub fn new(pipelines: usize) -> Synthetic {
        let groups = ARRAYS.iter().enumerate().map(|(index, (stage, cells))| scale::work::Group {
            name: format!("array{index}"),
            stage: *stage,
            cells: *cells,
        });
        let values = ARRAYS.iter().map(|(_, cells)| vec![0; *cells as usize]).collect();
        Synthetic { groups: groups.collect(), cells: vec![values; pipelines] }
    }
}

impl Work for Synthetic {
    type Packet = Packet;

    fn stages(&self) -> usize {
        STAGES
    }

    fn groups(&self) -> &[scale::work::Group] {
        &self.groups
    }

    fn resolve(&mut self, packet: &mut Packet, accesses: &mut Vec<Access>) {
        let cells = packet.cells.iter().zip(0_u32..);
        accesses.extend(
            cells.filter_map(|(cell, group)| Some(Access { group, cell: u32::from((*cell)?) })),
        );
    }

    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Packet) -> StageOutcome {
        let mut outcome = StageOutcome::default();
        let made = packet.cells.iter().flatten().count();
        for (index, (own, _)) in ARRAYS.iter().enumerate() {
            let Some(cell) = packet.cells[index].filter(|_| *own == stage) else { continue };
            let cell = &mut self.cells[pipeline][index][usize::from(cell)];
            let found = *cell;
            *cell = found.wrapping_mul(31).wrapping_add(packet.id);
            packet.value = packet.value.wrapping_mul(33) ^ found;
            if index == DECIDER
                && packet.is_conditional
                && found & 1 == 0
                && packet.cells[ARRAYS.len() - 1].take().is_some()
            {
                outcome.cancelled = 1 << (made - 1);
            }
            outcome.is_dropped |= packet.is_droppable && stage == 3 && found & 3 == 0;
        }
        outcome
    }

    fn move_cell(&mut self, access: Access, from: usize, to: usize) {
        let (group, cell) = (access.group as usize, access.cell as usize);
        self.cells[to][group][cell] = self.cells[from][group][cell];
    }
}

/// The program as a plan.
pub fn plan(pipelines: usize, depth: usize, remap_every: Option<u64>) -> Plan {
    let mut place = 2 * VALUE_BITS;
    let mut resolution = String::from("assign header_out = header_in;\n");
    let mut places = Vec::new();
    for (index, (_, cells)) in ARRAYS.iter().enumerate() {
        let bits = cell_bits(*cells);
        resolution += &format!(
            "assign g{index}_access = header_in[{place}];\nassign g{index}_cell = header_in[{} +: {bits}];\n",
            place + 1
        );
        places.push(place);
        place += 1 + bits;
    }
    let conditional = place;
    let stages = (0..STAGES).map(|stage| {
        let mut body = String::from(
            "logic [15:0] found;\nlogic accesses;\nlogic [15:0] id;\nassign id = header_in[16 +: 16];\n",
        );
        let own: Vec<usize> = (0..ARRAYS.len()).filter(|index| ARRAYS[*index].0 == stage).collect();
        let any = own.iter().map(|index| format!("g{index}_access")).collect::<Vec<_>>();
        body += &format!(
            "assign accesses = {};\n",
            if any.is_empty() { "1'b0".to_owned() } else { any.join(" || ") }
        );
        let mut found = "16'd0".to_owned();
        for index in &own {
            found = format!("g{index}_access ? g{index}_a0_value : {found}");
            body += &format!(
                "assign g{index}_a0_index = g{index}_cell;\nassign g{index}_a0_write = 1'b1;\nassign g{index}_a0_next = g{index}_a0_value * 16'd31 + id;\n"
            );
        }
        body += &format!("assign found = {found};\n");
        let mut cancels = Vec::new();
        let last = ARRAYS.len() - 1;
        let clears = if stage == ARRAYS[DECIDER].0 {
            cancels.push(last);
            body += &format!(
                "assign g{last}_cancelled = accesses && header_in[{conditional}] && !found[0];\n"
            );
            format!(
                "  if (g{last}_cancelled) header_out[{} +: {}] = '0;\n",
                places[last],
                1 + cell_bits(ARRAYS[last].1)
            )
        } else {
            String::new()
        };
        body += &format!(
            "always_comb begin\n  header_out = header_in;\n  if (accesses) header_out[15:0] = header_in[15:0] * 16'd33 ^ found;\n{clears}end\n"
        );
        let can_drop = stage == 3;
        body += &if can_drop {
            format!("assign dropped = accesses && header_in[{}] && found[1:0] == 2'd0;\n", conditional + 1)
        } else {
            "assign dropped = 1'b0;\n".to_owned()
        };
        Stage { body, can_drop, cancels }
    });
    let groups = ARRAYS.iter().enumerate().map(|(index, (stage, cells))| Group {
        name: format!("array{index}"),
        stage: *stage,
        cells: *cells,
        arrays: vec![Array {
            name: format!("array{index}"),
            width: VALUE_BITS,
            cells: *cells,
            initial: "'0".to_owned(),
            first: Vec::new(),
        }],
    });
    Plan {
        program: "a synthetic program".to_owned(),
        pipelines,
        depth,
        remap_every,
        header_bits: header_bits(),
        groups: groups.collect(),
        resolution,
        stages: stages.collect(),
    }
}
