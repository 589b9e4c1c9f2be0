// SPDX-License-Identifier: Apache-2.0
//! What a group of arrays has in every pipeline: access counters, in-flight counters, and the remap that reads them (MP5 §3.4).

use crate::plan::Plan;
use crate::text::Text;

/// Writes the counters and the remap of a group, or ties its moves to 0.
pub fn group(plan: &Plan, index: usize, text: &mut Text) {
    let Some(every) = plan.remap_every.filter(|_| plan.is_remapped(index)) else {
        text.lines(&format!(
            "
// Cells of group {index} stay.
assign g{index}_scan = '0;
assign g{index}_move = 1'b0;
assign g{index}_best = '0;
assign g{index}_move_from = '0;
assign g{index}_move_to = '0;"
        ));
        return;
    };
    text.open(&format!(
        "
// Group {index}: counters by pipeline, remap.
logic                       g{index}_epoch;
logic                       g{index}_clear;
logic [PIPELINES*COUNT-1:0] g{index}_counts;
logic [PIPELINES*TALLY-1:0] g{index}_resolved;
logic [PIPELINES*TALLY-1:0] g{index}_done;
logic [PIPELINES*TALLY-1:0] g{index}_lost;
// Entries that leave the queues, by pipeline; phantoms that found no place, by lane.
logic [PIPELINES-1:0]       g{index}_leaving;
logic [PIPELINES*G{index}_CELL-1:0] g{index}_leaving_cell;
logic [PIPELINES-1:0]       g{index}_losing;
logic [PIPELINES*G{index}_CELL-1:0] g{index}_losing_cell;

mp5_remap #(
    .PIPELINES(PIPELINES),
    .LANE(LANE),
    .CELLS(G{index}_CELLS),
    .CELL(G{index}_CELL),
    .EVERY({every}),
    .COUNT(COUNT),
    .TALLY(TALLY)
) g{index}_remap (
    .clk(clk),
    .rst(rst),
    .epoch(g{index}_epoch),
    .scan(g{index}_scan),
    .clear(g{index}_clear),
    .counts(g{index}_counts),
    .pipeline(g{index}_scanned[0 +: LANE]),
    .best(g{index}_best),
    .resolved(g{index}_resolved),
    .done(g{index}_done),
    .lost(g{index}_lost),
    .resolving(g{index}_resolving),
    .resolving_cell(g{index}_resolving_cell),
    .move(g{index}_move),
    .move_from(g{index}_move_from),
    .move_to(g{index}_move_to)
);

for (genvar lane = 0; lane < PIPELINES; lane++) begin : g{index}_counters"
    ));
    text.lines(&format!(
        "mp5_accesses #(.CELLS(G{index}_CELLS), .CELL(G{index}_CELL), .WIDTH(COUNT)) accesses (
    .clk(clk),
    .epoch(g{index}_epoch),
    .count(g{index}_resolving[lane]),
    .cell_index(g{index}_resolving_cell[lane*G{index}_CELL +: G{index}_CELL]),
    .scan(g{index}_scan),
    .clear(g{index}_clear),
    .scanned(g{index}_counts[lane*COUNT +: COUNT])
);"
    ));
    for (name, event) in [("resolved", "resolving"), ("done", "leaving"), ("lost", "losing")] {
        text.lines(&format!(
            "mp5_tally #(.CELLS(G{index}_CELLS), .CELL(G{index}_CELL), .WIDTH(TALLY)) {name} (
    .clk(clk),
    .count(g{index}_{event}[lane]),
    .cell_index(g{index}_{event}_cell[lane*G{index}_CELL +: G{index}_CELL]),
    .asked(g{index}_best),
    .answer(g{index}_{name}[lane*TALLY +: TALLY])
);"
        ));
    }
    text.close("end");
}
