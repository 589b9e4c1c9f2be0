// SPDX-License-Identifier: Apache-2.0
//! Entry: spray, address resolution in each pipeline, the lookup of pipelines, and the phantoms that leave for their stages (MP5 §3.1
//! D1 and D4, §3.3).

use crate::plan::Plan;
use crate::text::Text;
use std::fmt::Write;

/// Writes the entry.
pub fn entry(plan: &Plan, text: &mut Text) {
    text.lines(
        "
// Entry.
logic [PIPELINES-1:0]        entry_valid;
logic [PIPELINES*ID-1:0]     entry_id;
logic [PIPELINES*LANE-1:0]   entry_place;
logic [PIPELINES*HEADER-1:0] entry_header;
logic [STAMP-LANE-1:0]       now;

always_ff @(posedge clk) begin
  now <= rst ? '0 : now + 1'b1;
end

mp5_spray #(.PIPELINES(PIPELINES), .LANE(LANE), .ID(ID), .WIDTH(HEADER)) spray (
    .clk(clk),
    .rst(rst),
    .in_valid(in_valid),
    .in_packet(in_header),
    .out_valid(entry_valid),
    .out_id(entry_id),
    .out_place(entry_place),
    .out_packet(entry_header)
);",
    );
    for stage in 0..=plan.stages.len() {
        text.lines(&format!(
            "
// In front of {}.
logic [PIPELINES-1:0]       s{stage}_in_valid;
logic [PIPELINES*ID-1:0]    s{stage}_in_id;
logic [PIPELINES*LANE-1:0]  s{stage}_in_lane;
logic [PIPELINES*WIDTH-1:0] s{stage}_in_packet;",
            if stage == plan.stages.len() {
                "the way out".to_owned()
            } else {
                format!("stage {stage}")
            }
        ));
        if stage < plan.stages.len() && plan.is_stateful(stage) {
            text.lines(&format!(
                "logic [PIPELINES-1:0]       s{stage}_phantom_valid;
logic [PIPELINES*S{stage}_PHANTOM-1:0] s{stage}_phantom;"
            ));
        }
    }
    for (index, _) in plan.groups.iter().enumerate() {
        text.lines(&format!(
            "
// What the pipelines resolve of group {index}, and the scan of its map.
logic [PIPELINES-1:0]           g{index}_resolving;
logic [PIPELINES*G{index}_CELL-1:0]   g{index}_resolving_cell;
logic [G{index}_CELL-1:0]             g{index}_scan;
logic [PIPELINES*LANE-1:0]      g{index}_scanned;
logic                           g{index}_move;
logic [G{index}_CELL-1:0]             g{index}_best;
logic [LANE-1:0]                g{index}_move_from;
logic [LANE-1:0]                g{index}_move_to;"
        ));
    }
    text.open(
        "
for (genvar lane = 0; lane < PIPELINES; lane++) begin : lanes",
    );
    lane(plan, text);
    text.close("end");
}

/// Writes what every pipeline resolves.
fn lane(plan: &Plan, text: &mut Text) {
    text.lines(
        "logic [HEADER-1:0]   header;
logic [WIDTH-1:0]    packet;
logic [ID+WIDTH-1:0] arriving;",
    );
    let mut ports = String::new();
    let mut packet = "header".to_owned();
    for index in 0..plan.groups.len() {
        text.lines(&format!(
            "logic                g{index}_access;
logic [G{index}_CELL-1:0]  g{index}_cell;
logic [LANE-1:0]     g{index}_to;"
        ));
        let _ = write!(
            ports,
            ",\n    .g{index}_access(g{index}_access),\n    .g{index}_cell(g{index}_cell)"
        );
        packet = format!("g{index}_cell, g{index}_to, g{index}_access, {packet}");
    }
    text.lines(&format!(
        "mp5_resolution resolution (
    .header_in(entry_header[lane*HEADER +: HEADER]),
    .header_out(header){ports}
);"
    ));
    for index in 0..plan.groups.len() {
        text.lines(&format!(
            "mp5_map #(.PIPELINES(PIPELINES), .LANE(LANE), .CELLS(G{index}_CELLS), .CELL(G{index}_CELL)) g{index}_map (
    .clk(clk),
    .cell_index(g{index}_cell),
    .pipeline(g{index}_to),
    .scan(g{index}_scan),
    .scanned(g{index}_scanned[lane*LANE +: LANE]),
    .move(g{index}_move),
    .move_cell(g{index}_best),
    .move_to(g{index}_move_to)
);
assign g{index}_resolving[lane] = entry_valid[lane] && g{index}_access;
assign g{index}_resolving_cell[lane*G{index}_CELL +: G{index}_CELL] = g{index}_cell;"
        ));
    }
    text.lines(&format!(
        "assign packet = {{{packet}}};
mp5_channel #(.WIDTH(ID + WIDTH), .HOPS({})) registers (
    .clk(clk),
    .rst(rst),
    .in_valid(entry_valid[lane]),
    .in_message({{entry_id[lane*ID +: ID], packet}}),
    .out_valid(s0_in_valid[lane]),
    .out_message(arriving)
);
assign s0_in_id[lane*ID +: ID] = arriving[WIDTH +: ID];
assign s0_in_packet[lane*WIDTH +: WIDTH] = arriving[0 +: WIDTH];
assign s0_in_lane[lane*LANE +: LANE] = LANE'(lane);",
        super::ENTRY_CYCLES
    ));
    for stage in 0..plan.stages.len() {
        if plan.is_stateful(stage) {
            phantom(plan, stage, text);
        }
    }
}

/// Writes the phantom of a lane for a stage. A packet has one there at most: its first access, if the program's could not tell.
fn phantom(plan: &Plan, stage: usize, text: &mut Text) {
    let bits = plan.stage_cell_bits(stage);
    let select = plan.stage_group_bits(stage);
    let groups: Vec<usize> = plan.groups_of(stage).map(|(index, _)| index).collect();
    let any =
        groups.iter().map(|index| format!("g{index}_access")).collect::<Vec<_>>().join(" || ");
    let choose = |value: &dyn Fn(usize, usize) -> String| {
        let last = groups.len() - 1;
        let mut chosen = value(last, groups[last]);
        for (place, index) in groups.iter().enumerate().rev().skip(1) {
            chosen = format!("g{index}_access ? {} : {chosen}", value(place, *index));
        }
        chosen
    };
    let to = choose(&|_, index| format!("g{index}_to"));
    let note = choose(&|place, index| {
        let pad = bits - plan.groups[index].cell_bits();
        let mut parts = Vec::new();
        if select > 0 {
            parts.push(format!("{select}'d{place}"));
        }
        if pad > 0 {
            parts.push(format!("{pad}'d0"));
        }
        parts.push(format!("g{index}_cell"));
        format!("{{{}}}", parts.join(", "))
    });
    text.lines(&format!(
        "logic [LANE-1:0]    s{stage}_to;
logic [S{stage}_NOTE-1:0] s{stage}_note;
assign s{stage}_to = {to};
assign s{stage}_note = {note};
mp5_channel #(.WIDTH(S{stage}_PHANTOM), .HOPS({})) s{stage}_channel (
    .clk(clk),
    .rst(rst),
    .in_valid(entry_valid[lane] && ({any})),
    .in_message({{s{stage}_note, entry_place[lane*LANE +: LANE], entry_id[lane*ID +: ID], s{stage}_to}}),
    .out_valid(s{stage}_phantom_valid[lane]),
    .out_message(s{stage}_phantom[lane*S{stage}_PHANTOM +: S{stage}_PHANTOM])
);",
        stage as u64 + super::ENTRY_CYCLES - 1
    ));
}
