// SPDX-License-Identifier: Apache-2.0
//! [`Plan`]: a program as its hardware sees it. Groups and stages as in `scale`; what address resolution and the stages compute, as
//! bodies of SystemVerilog modules.

use crate::text::Text;
use std::fmt::Write;

/// A machine to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The program, for people.
    pub program: String,
    /// The number of pipelines, at least 1.
    pub pipelines: usize,
    /// The entries of a ring, at least 1.
    pub depth: usize,
    /// Cycles between two remaps; nothing if cells stay.
    pub remap_every: Option<u64>,
    /// The bits that a packet carries from stage to stage besides its accesses.
    pub header_bits: usize,
    /// The groups of arrays that are sharded together, in ascending order of stages.
    pub groups: Vec<Group>,
    /// The body of module `mp5_resolution`.
    pub resolution: String,
    /// The stages.
    pub stages: Vec<Stage>,
}

/// A group of arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its arrays' names, for people.
    pub name: String,
    /// The stage that accesses it.
    pub stage: usize,
    /// The number of cells that are sharded; 1 for a group that lies in one pipeline.
    pub cells: u32,
    /// Its arrays.
    pub arrays: Vec<Array>,
}

/// A register array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name, for people.
    pub name: String,
    /// Bits of a cell.
    pub width: usize,
    /// The number of cells.
    pub cells: u32,
    /// The value of each cell at the start, as a SystemVerilog literal or `'0`.
    pub initial: String,
    /// The values of the first cells at the start, as literals, where not all cells have one value.
    pub first: Vec<String>,
}

/// A stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// The body of module `mp5_stage_N`.
    pub body: String,
    /// It may drop a packet.
    pub can_drop: bool,
    /// Groups of later stages whose accesses it may cancel.
    pub cancels: Vec<usize>,
}

/// Bits that hold the numbers 0 to `count - 1`, at least 1.
pub fn index_bits(count: u64) -> usize {
    match count {
        0..=2 => 1,
        _ => (u64::BITS - (count - 1).leading_zeros()) as usize,
    }
}

impl Group {
    /// Bits of the group's cell.
    pub fn cell_bits(&self) -> usize {
        index_bits(u64::from(self.cells))
    }
}

impl Array {
    /// Bits of an index.
    pub fn index_bits(&self) -> usize {
        index_bits(u64::from(self.cells))
    }
}

impl Plan {
    /// The groups of a stage, by index.
    pub fn groups_of(&self, stage: usize) -> impl Iterator<Item = (usize, &Group)> {
        self.groups.iter().enumerate().filter(move |(_, group)| group.stage == stage)
    }

    /// Says whether a stage has groups.
    pub fn is_stateful(&self, stage: usize) -> bool {
        self.groups_of(stage).next().is_some()
    }

    /// Says whether cells of a group move.
    pub fn is_remapped(&self, group: usize) -> bool {
        self.remap_every.is_some() && self.groups[group].cells > 1
    }

    /// The bits of the cell in a phantom of a stage.
    pub fn stage_cell_bits(&self, stage: usize) -> usize {
        self.groups_of(stage).map(|(_, group)| group.cell_bits()).max().unwrap_or(1)
    }

    /// The bits that tell the groups of a stage apart in a phantom; 0 for one group.
    pub fn stage_group_bits(&self, stage: usize) -> usize {
        match self.groups_of(stage).count() {
            0 | 1 => 0,
            count => index_bits(count as u64),
        }
    }

    /// Where cancellations for a stage come from: stages that lose packets at their entrance, and stages whose logic drops packets
    /// or cancels accesses.
    pub fn cancel_sources(&self, target: usize) -> Vec<CancelSource> {
        let mut sources = Vec::new();
        for stage in 0..target {
            if self.is_stateful(stage) {
                sources.push(CancelSource::Entrance(stage));
            }
            let logic = &self.stages[stage];
            if logic.can_drop
                || logic.cancels.iter().any(|group| self.groups[*group].stage == target)
            {
                sources.push(CancelSource::Logic(stage));
            }
        }
        sources
    }

    /// Writes the modules of address resolution and of the stages.
    pub fn logic(&self) -> String {
        let mut text = Text::default();
        text.lines(&format!(
            "// SPDX-License-Identifier: Apache-2.0\n// {}: address resolution and what the stages compute.",
            self.program
        ));
        let mut ports = format!(
            "    input  logic [{0}:0] header_in,\n    output logic [{0}:0] header_out",
            self.header_bits - 1
        );
        for (index, group) in self.groups.iter().enumerate() {
            let _ = write!(
                ports,
                ",\n    output logic g{index}_access,\n    output logic [{}:0] g{index}_cell",
                group.cell_bits() - 1
            );
        }
        text.lines(&format!(
            "\n/* verilator lint_off UNUSEDSIGNAL */\n/* verilator lint_off DECLFILENAME */\nmodule mp5_resolution (\n{ports}\n);"
        ));
        text.lines(&self.resolution);
        text.lines("endmodule");
        for (number, stage) in self.stages.iter().enumerate() {
            let mut ports = format!(
                "    input  logic [{0}:0] header_in,\n    output logic [{0}:0] header_out,\n    output logic dropped",
                self.header_bits - 1
            );
            for (index, group) in self.groups_of(number) {
                let _ = write!(
                    ports,
                    ",\n    input  logic g{index}_access,\n    input  logic [{}:0] g{index}_cell",
                    group.cell_bits() - 1
                );
                for (place, array) in group.arrays.iter().enumerate() {
                    let name = format!("g{index}_a{place}");
                    let _ = write!(
                        ports,
                        ",\n    // {}\n    output logic [{}:0] {name}_index,\n    input  logic [{width}:0] {name}_value,\n    output logic {name}_write,\n    output logic [{width}:0] {name}_next",
                        array.name,
                        array.index_bits() - 1,
                        width = array.width - 1
                    );
                }
            }
            for group in &stage.cancels {
                let _ = write!(ports, ",\n    output logic g{group}_cancelled");
            }
            text.lines(&format!("\nmodule mp5_stage_{number} (\n{ports}\n);"));
            text.lines(&stage.body);
            text.lines("endmodule");
        }
        text.lines("/* verilator lint_on DECLFILENAME */\n/* verilator lint_on UNUSEDSIGNAL */");
        text.finish()
    }
}

/// Where cancellations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelSource {
    /// Packets lost in front of a stage, by the pipeline from which they came.
    Entrance(usize),
    /// Packets dropped and accesses cancelled by a stage's logic, by pipeline.
    Logic(usize),
}

impl CancelSource {
    /// The stage.
    pub fn stage(self) -> usize {
        match self {
            CancelSource::Entrance(stage) | CancelSource::Logic(stage) => stage,
        }
    }
}
