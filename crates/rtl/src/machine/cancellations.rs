// SPDX-License-Identifier: Apache-2.0
//! The cancellations that reach a stage: of packets lost in front of earlier stages, dropped by them, or known not to access a cell.

use crate::plan::{CancelSource, Plan};
use crate::text::Text;

/// The cancellations that reach a stage: a lane of the channel from each source and pipeline.
pub fn cancellations(plan: &Plan, stage: usize, text: &mut Text) {
    let sources = plan.cancel_sources(stage);
    if sources.is_empty() {
        text.lines(&format!(
            "// Nothing cancels phantoms of stage {stage}.
localparam int S{stage}_CANCELS = 1;
logic [S{stage}_CANCELS-1:0]        s{stage}_cancel_valid;
logic [S{stage}_CANCELS*CANCEL-1:0] s{stage}_cancel;
assign s{stage}_cancel_valid = '0;
assign s{stage}_cancel = '0;"
        ));
        return;
    }
    text.lines(&format!(
        "// Cancellations of phantoms of stage {stage}: packet, lane, pipeline.
localparam int S{stage}_CANCELS = {} * PIPELINES;
logic [S{stage}_CANCELS-1:0]        s{stage}_cancel_valid;
logic [S{stage}_CANCELS*CANCEL-1:0] s{stage}_cancel;",
        sources.len()
    ));
    for (number, source) in sources.iter().enumerate() {
        let from = source.stage();
        let packet = match source {
            CancelSource::Entrance(_) => format!("s{from}_in_packet"),
            CancelSource::Logic(_) => format!("s{from}_work_packet"),
        };
        let (mut any, mut to) = (Vec::new(), Vec::new());
        for (index, _) in plan.groups_of(stage) {
            let access = format!("{packet}[lane*WIDTH+G{index}_ACCESS]");
            let logic = &plan.stages[from];
            let happens = match source {
                CancelSource::Entrance(_) => access,
                CancelSource::Logic(_) => match (logic.can_drop, logic.cancels.contains(&index)) {
                    (true, true) => format!(
                        "{access} && (s{from}_dropped[lane] || s{from}_g{index}_cancelled[lane])"
                    ),
                    (true, false) => format!("{access} && s{from}_dropped[lane]"),
                    (false, true) => format!("{access} && s{from}_g{index}_cancelled[lane]"),
                    (false, false) => continue,
                },
            };
            to.push(format!("({{LANE{{{happens}}}}} & {packet}[lane*WIDTH+G{index}_TO +: LANE])"));
            any.push(format!("({happens})"));
        }
        let (event, name) = match source {
            CancelSource::Entrance(_) => (format!("s{from}_lost[lane]"), "entrance"),
            CancelSource::Logic(_) => (format!("s{from}_work[lane]"), "logic"),
        };
        let (id, lane) = match source {
            CancelSource::Entrance(_) => (format!("s{from}_in_id"), format!("s{from}_in_lane")),
            CancelSource::Logic(_) => (format!("s{from}_work_id"), format!("s{from}_work_lane")),
        };
        text.lines(&format!(
            "for (genvar lane = 0; lane < PIPELINES; lane++) begin : s{stage}_cancels_{name}_{from}
  logic [LANE-1:0] to;
  assign to = {};
  mp5_channel #(.WIDTH(CANCEL), .HOPS({})) channel (
      .clk(clk),
      .rst(rst),
      .in_valid({event} && ({})),
      .in_message({{to, {lane}[lane*LANE +: LANE], {id}[lane*ID +: ID]}}),
      .out_valid(s{stage}_cancel_valid[{number}*PIPELINES+lane]),
      .out_message(s{stage}_cancel[({number}*PIPELINES+lane)*CANCEL +: CANCEL])
  );
end",
            to.join(" | "),
            stage - from,
            any.join(" || ")
        ));
    }
}
