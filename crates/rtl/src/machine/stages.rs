// SPDX-License-Identifier: Apache-2.0
//! A stage in all pipelines: crossbar, queues and slots (MP5 §3.2, §3.4), around its logic and its cancellations.

use super::cancellations::cancellations;
use super::stage_logic::{logic, moving};
use crate::plan::Plan;
use crate::text::Text;
use std::fmt::Write;

/// Writes a stage.
pub fn stage(plan: &Plan, stage: usize, text: &mut Text) {
    text.lines(&format!(
        "
// Stage {stage}: what it processes, by pipeline.
logic [PIPELINES-1:0]       s{stage}_work;
logic [PIPELINES-1:0]       s{stage}_accesses;
logic [PIPELINES-1:0]       s{stage}_dropped;
logic [PIPELINES*ID-1:0]    s{stage}_work_id;
logic [PIPELINES*LANE-1:0]  s{stage}_work_lane;
logic [PIPELINES*WIDTH-1:0] s{stage}_work_packet;"
    ));
    for group in &plan.stages[stage].cancels {
        text.lines(&format!("logic [PIPELINES-1:0]       s{stage}_g{group}_cancelled;"));
    }
    if plan.is_stateful(stage) {
        crossbar(plan, stage, text);
        cancellations(plan, stage, text);
        for (index, group) in plan.groups_of(stage) {
            for (place, array) in group.arrays.iter().enumerate() {
                moving(index, place, array.width, text);
            }
        }
    }
    text.open(&format!(
        "
for (genvar lane = 0; lane < PIPELINES; lane++) begin : s{stage}"
    ));
    if plan.is_stateful(stage) {
        queue(plan, stage, text);
    }
    slot(plan, stage, text);
    logic(plan, stage, text);
    text.close("end");
}

/// The crossbar, with whether each packet in front of the stage accesses a cell and where.
fn crossbar(plan: &Plan, stage: usize, text: &mut Text) {
    let (mut any, mut to) = (String::new(), String::new());
    for (index, _) in plan.groups_of(stage) {
        let access = format!("s{stage}_in_packet[lane*WIDTH+G{index}_ACCESS]");
        let separator = if any.is_empty() { "" } else { " || " };
        let _ = write!(any, "{separator}{access}");
        let separator = if to.is_empty() { "" } else { "\n      | " };
        let _ = write!(
            to,
            "{separator}({{LANE{{{access}}}}} & s{stage}_in_packet[lane*WIDTH+G{index}_TO +: LANE])"
        );
    }
    text.lines(&format!(
        "logic [PIPELINES-1:0]                 s{stage}_stateful;
logic [PIPELINES*LANE-1:0]            s{stage}_to;
logic [PIPELINES*PIPELINES-1:0]       s{stage}_insert;
logic [PIPELINES*PIPELINES*WIDTH-1:0] s{stage}_insert_packet;
logic [PIPELINES*PIPELINES-1:0]       s{stage}_found;
logic [PIPELINES-1:0]                 s{stage}_pass;
logic [PIPELINES-1:0]                 s{stage}_lost;
logic [PIPELINES-1:0]                 s{stage}_wasted;
// Phantoms by lane: which found no place, in any pipeline.
logic [PIPELINES*PIPELINES-1:0]       s{stage}_full;
logic [PIPELINES-1:0]                 s{stage}_full_any;
logic [PIPELINES*ID-1:0]              s{stage}_push_id;
logic [PIPELINES*STAMP-1:0]           s{stage}_push_stamp;
logic [PIPELINES*S{stage}_NOTE-1:0]         s{stage}_push_note;
logic [PIPELINES*LANE-1:0]            s{stage}_push_to;
for (genvar lane = 0; lane < PIPELINES; lane++) begin : s{stage}_sources
  assign s{stage}_stateful[lane] = {any};
  assign s{stage}_to[lane*LANE +: LANE] =
      {to};
  assign s{stage}_push_to[lane*LANE +: LANE] = s{stage}_phantom[lane*S{stage}_PHANTOM +: LANE];
  assign s{stage}_push_id[lane*ID +: ID] = s{stage}_phantom[lane*S{stage}_PHANTOM+LANE +: ID];
  assign s{stage}_push_stamp[lane*STAMP +: STAMP] =
      {{now, s{stage}_phantom[lane*S{stage}_PHANTOM+LANE+ID +: LANE]}};
  assign s{stage}_push_note[lane*S{stage}_NOTE +: S{stage}_NOTE] =
      s{stage}_phantom[lane*S{stage}_PHANTOM+LANE+ID+LANE +: S{stage}_NOTE];
end
always_comb begin
  s{stage}_full_any = '0;
  for (int lane = 0; lane < PIPELINES; lane++) begin
    s{stage}_full_any = s{stage}_full_any | s{stage}_full[lane*PIPELINES +: PIPELINES];
  end
end

mp5_crossbar #(.PIPELINES(PIPELINES), .LANE(LANE), .WIDTH(WIDTH)) s{stage}_crossbar (
    .in_valid(s{stage}_in_valid),
    .in_stateful(s{stage}_stateful),
    .in_to(s{stage}_to),
    .in_packet(s{stage}_in_packet),
    .insert(s{stage}_insert),
    .insert_packet(s{stage}_insert_packet),
    .found(s{stage}_found),
    .pass(s{stage}_pass),
    .lost(s{stage}_lost)
);"
    ));
    for (place, (index, group)) in plan.groups_of(stage).enumerate() {
        if plan.is_remapped(index) {
            losses(plan, stage, place, index, group.cell_bits(), text);
        }
    }
}

/// Says whether a note is of a group, as a condition behind `&&`.
fn note_is_of(plan: &Plan, stage: usize, place: usize, note: &str) -> String {
    let select = plan.stage_group_bits(stage);
    if select == 0 {
        return String::new();
    }
    format!(" && {note}[{} +: {select}] == {select}'d{place}", plan.stage_cell_bits(stage))
}

/// Phantoms of a group that found no place, one cycle later, so that they count as late as entries that leave.
fn losses(plan: &Plan, stage: usize, place: usize, index: usize, bits: usize, text: &mut Text) {
    let is_own = note_is_of(plan, stage, place, "note");
    text.lines(&format!(
        "for (genvar lane = 0; lane < PIPELINES; lane++) begin : g{index}_losses
  logic [S{stage}_NOTE-1:0] note;
  assign note = s{stage}_push_note[lane*S{stage}_NOTE +: S{stage}_NOTE];
  mp5_hop #(.WIDTH(G{index}_CELL)) late (
      .clk(clk),
      .rst(rst),
      .in_valid(s{stage}_full_any[lane]{is_own}),
      .in_message(note[0 +: {bits}]),
      .out_valid(g{index}_losing[lane]),
      .out_message(g{index}_losing_cell[lane*G{index}_CELL +: G{index}_CELL])
  );
end"
    ));
}

/// The queue of a pipeline.
fn queue(plan: &Plan, stage: usize, text: &mut Text) {
    text.lines(&format!(
        "logic [PIPELINES-1:0]    push;
logic [S{stage}_CANCELS-1:0]    cancel;
logic [S{stage}_CANCELS*ID-1:0] cancel_id;
logic [S{stage}_CANCELS*LANE-1:0] cancel_lane;
logic                    take;
logic                    popped;
logic [ID-1:0]           popped_id;
logic [LANE-1:0]         popped_lane;
logic [S{stage}_NOTE-1:0]      popped_note;
logic [WIDTH-1:0]        popped_packet;
for (genvar source = 0; source < PIPELINES; source++) begin : pushes
  assign push[source] =
      s{stage}_phantom_valid[source] && s{stage}_push_to[source*LANE +: LANE] == LANE'(lane);
end
for (genvar source = 0; source < S{stage}_CANCELS; source++) begin : cancels
  assign cancel[source] =
      s{stage}_cancel_valid[source] && s{stage}_cancel[source*CANCEL+ID+LANE +: LANE] == LANE'(lane);
  assign cancel_id[source*ID +: ID] = s{stage}_cancel[source*CANCEL +: ID];
  assign cancel_lane[source*LANE +: LANE] = s{stage}_cancel[source*CANCEL+ID +: LANE];
end
mp5_queue #(
    .PIPELINES(PIPELINES),
    .LANE(LANE),
    .DEPTH(DEPTH),
    .ID(ID),
    .STAMP(STAMP),
    .NOTE(S{stage}_NOTE),
    .WIDTH(WIDTH),
    .CANCELS(S{stage}_CANCELS)
) queue (
    .clk(clk),
    .rst(rst),
    .push(push),
    .push_id(s{stage}_push_id),
    .push_stamp(s{stage}_push_stamp),
    .push_note(s{stage}_push_note),
    .full(s{stage}_full[lane*PIPELINES +: PIPELINES]),
    .insert(s{stage}_insert[lane*PIPELINES +: PIPELINES]),
    .insert_id(s{stage}_in_id),
    .insert_lane(s{stage}_in_lane),
    .insert_packet(s{stage}_insert_packet[lane*PIPELINES*WIDTH +: PIPELINES*WIDTH]),
    .found(s{stage}_found[lane*PIPELINES +: PIPELINES]),
    .cancel(cancel),
    .cancel_id(cancel_id),
    .cancel_lane(cancel_lane),
    .take(take),
    .popped(popped),
    .wasted(s{stage}_wasted[lane]),
    .popped_id(popped_id),
    .popped_lane(popped_lane),
    .popped_note(popped_note),
    .popped_packet(popped_packet)
);"
    ));
    for (place, (index, group)) in plan.groups_of(stage).enumerate() {
        if plan.is_remapped(index) {
            let is_own = note_is_of(plan, stage, place, "popped_note");
            text.lines(&format!(
                "assign g{index}_leaving[lane] = (popped || s{stage}_wasted[lane]){is_own};
assign g{index}_leaving_cell[lane*G{index}_CELL +: G{index}_CELL] = popped_note[0 +: {}];",
                group.cell_bits()
            ));
        }
    }
}

/// The slot of a pipeline.
fn slot(plan: &Plan, stage: usize, text: &mut Text) {
    let (pass, queue) = if plan.is_stateful(stage) {
        (
            format!("s{stage}_pass[lane]"),
            "
    .take(take),
    .popped(popped),
    .popped_id(popped_id),
    .popped_lane(popped_lane),
    .popped_packet(popped_packet),",
        )
    } else {
        (
            format!("s{stage}_in_valid[lane]"),
            "
    .take(),
    .popped(1'b0),
    .popped_id('0),
    .popped_lane('0),
    .popped_packet('0),",
        )
    };
    let next = stage + 1;
    text.lines(&format!(
        "logic [WIDTH-1:0] packet;
logic [WIDTH-1:0] done;
assign packet = s{stage}_work_packet[lane*WIDTH +: WIDTH];
mp5_slot #(.LANE(LANE), .ID(ID), .WIDTH(WIDTH)) slot (
    .clk(clk),
    .rst(rst),
    .pass({pass}),
    .pass_id(s{stage}_in_id[lane*ID +: ID]),
    .pass_lane(s{stage}_in_lane[lane*LANE +: LANE]),
    .pass_packet(s{stage}_in_packet[lane*WIDTH +: WIDTH]),{queue}
    .work(s{stage}_work[lane]),
    .work_accesses(s{stage}_accesses[lane]),
    .work_id(s{stage}_work_id[lane*ID +: ID]),
    .work_lane(s{stage}_work_lane[lane*LANE +: LANE]),
    .work_packet(s{stage}_work_packet[lane*WIDTH +: WIDTH]),
    .done_dropped(s{stage}_dropped[lane]),
    .done_packet(done),
    .out_valid(s{next}_in_valid[lane]),
    .out_id(s{next}_in_id[lane*ID +: ID]),
    .out_lane(s{next}_in_lane[lane*LANE +: LANE]),
    .out_packet(s{next}_in_packet[lane*WIDTH +: WIDTH])
);"
    ));
}
