// SPDX-License-Identifier: Apache-2.0
//! Writes `mp5_machine`: entry and address resolution, the phantom channel, the stages with crossbars and queues, and for each group
//! maps, counters and the remap. Pipelines and depth stay parameters of the module; stages and groups are the program's.

mod cancellations;
mod entry;
mod groups;
mod stage_logic;
mod stages;

use crate::plan::Plan;
use crate::text::Text;
use scale::machine::scan::scan_cycles;

/// Bits of a packet's identifier. A packet may not wait in a queue until as many packets have come behind it.
pub const ID_BITS: usize = 16;
/// Bits of an entry's timestamp: cycles, then the packet's place in its cycle.
pub const STAMP_BITS: usize = 32;
/// Bits of an access counter (MP5 §4.2).
pub const ACCESS_COUNT_BITS: usize = 16;
/// Registers between address resolution and stage 0.
pub const ENTRY_CYCLES: u64 = 2;

/// Bits of an in-flight counter: the paper's 8 (MP5 §4.2), or as many as hold all packets that the machine can hold at once.
pub fn in_flight_bits(plan: &Plan) -> usize {
    let queues = (0..plan.stages.len()).filter(|stage| plan.is_stateful(*stage)).count();
    let entries = queues * plan.pipelines * plan.pipelines * plan.depth;
    let registers = plan.pipelines * (plan.stages.len() + ENTRY_CYCLES as usize);
    crate::plan::index_bits((entries + registers + 1) as u64).max(8)
}

/// Writes the module.
pub fn machine(plan: &Plan) -> String {
    let mut text = Text::default();
    text.lines(&format!(
        "// SPDX-License-Identifier: Apache-2.0
// {}: {} stages behind address resolution, {} pipelines, rings of {}.",
        plan.program,
        plan.stages.len(),
        plan.pipelines,
        plan.depth
    ));
    for (index, group) in plan.groups.iter().enumerate() {
        text.lines(&format!(
            "// Group {index}: {} in stage {}, {} cells.",
            group.name, group.stage, group.cells
        ));
        if plan.is_remapped(index) {
            text.lines(&format!("// A remap of it takes {} cycles.", scan_cycles(group.cells)));
        }
    }
    text.open(&format!(
        "
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off PINCONNECTEMPTY */
/* verilator lint_off UNUSEDPARAM */
module mp5_machine #(
    parameter int PIPELINES = {},
    parameter int DEPTH = {}
) (
    input  logic                        clk,
    input  logic                        rst,
    // Packets in the order of their ports, from number 0 without gaps.
    input  logic [PIPELINES-1:0]        in_valid,
    input  logic [PIPELINES*{header}-1:0] in_header,
    // Packets behind the last stage, by pipeline; identifiers count packets in the order of arrival.
    output logic [PIPELINES-1:0]        out_valid,
    output logic [PIPELINES*{ID_BITS}-1:0]     out_id,
    output logic [PIPELINES*{header}-1:0] out_header
);",
        plan.pipelines,
        plan.depth,
        header = plan.header_bits
    ));
    parameters(plan, &mut text);
    entry::entry(plan, &mut text);
    for group in 0..plan.groups.len() {
        groups::group(plan, group, &mut text);
    }
    for stage in 0..plan.stages.len() {
        stages::stage(plan, stage, &mut text);
    }
    let last = plan.stages.len();
    text.lines(&format!(
        "
// Behind the last stage.
assign out_valid = s{last}_in_valid;
assign out_id = s{last}_in_id;
for (genvar lane = 0; lane < PIPELINES; lane++) begin : outputs
  assign out_header[lane*HEADER +: HEADER] = s{last}_in_packet[lane*WIDTH +: HEADER];
end"
    ));
    text.close(
        "endmodule\n/* verilator lint_on UNUSEDPARAM */\n/* verilator lint_on PINCONNECTEMPTY */\n/* verilator lint_on UNUSEDSIGNAL */",
    );
    text.finish()
}

/// The widths, and where a packet has its accesses: for each group whether the packet accesses it, in which pipeline, which cell.
fn parameters(plan: &Plan, text: &mut Text) {
    text.lines(&format!(
        "localparam int LANE = PIPELINES > 1 ? $clog2(PIPELINES) : 1;
localparam int ID = {ID_BITS};
localparam int STAMP = {STAMP_BITS};
localparam int COUNT = {ACCESS_COUNT_BITS};
localparam int TALLY = {};
localparam int HEADER = {};",
        in_flight_bits(plan),
        plan.header_bits
    ));
    let mut end = "HEADER".to_owned();
    for (index, group) in plan.groups.iter().enumerate() {
        text.lines(&format!(
            "localparam int G{index}_CELLS = {};
localparam int G{index}_CELL = {};
localparam int G{index}_ACCESS = {end};
localparam int G{index}_TO = G{index}_ACCESS + 1;
localparam int G{index}_INDEX = G{index}_TO + LANE;",
            group.cells,
            group.cell_bits()
        ));
        end = format!("G{index}_INDEX + G{index}_CELL");
    }
    text.lines(&format!("localparam int WIDTH = {end};"));
    for stage in 0..plan.stages.len() {
        if plan.is_stateful(stage) {
            text.lines(&format!(
                "// A phantom of stage {stage}: its group and cell; then its place, packet and pipeline.
localparam int S{stage}_NOTE = {};
localparam int S{stage}_PHANTOM = S{stage}_NOTE + LANE + ID + LANE;",
                plan.stage_cell_bits(stage) + plan.stage_group_bits(stage)
            ));
        }
    }
    text.lines("localparam int CANCEL = LANE + LANE + ID;");
}
