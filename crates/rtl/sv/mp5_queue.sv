// SPDX-License-Identifier: Apache-2.0
// The queue in front of a stage of a pipeline: one ring for each pipeline that resolves addresses, which together are one queue in
// the order of timestamps (MP5 §3.2). A phantom waits in the ring of its packet's lane. The oldest entry goes first; as long as it
// is a phantom, nothing goes. A cancelled entry leaves alone and costs its cycle.
module mp5_queue #(
    parameter int PIPELINES = 2,
    parameter int LANE = 1,
    parameter int DEPTH = 8,
    parameter int ID = 16,
    parameter int STAMP = 32,
    parameter int NOTE = 16,
    parameter int WIDTH = 512,
    parameter int CANCELS = 1
) (
    input  logic                       clk,
    input  logic                       rst,
    // Phantoms by lane; `full` by lane.
    input  logic [PIPELINES-1:0]       push,
    input  logic [PIPELINES*ID-1:0]    push_id,
    input  logic [PIPELINES*STAMP-1:0] push_stamp,
    input  logic [PIPELINES*NOTE-1:0]  push_note,
    output logic [PIPELINES-1:0]       full,
    // Packets by the pipeline from which they come; `found`: the phantom is here.
    input  logic [PIPELINES-1:0]       insert,
    input  logic [PIPELINES*ID-1:0]    insert_id,
    input  logic [PIPELINES*LANE-1:0]  insert_lane,
    input  logic [PIPELINES*WIDTH-1:0] insert_packet,
    output logic [PIPELINES-1:0]       found,
    // Cancellations.
    input  logic [CANCELS-1:0]         cancel,
    input  logic [CANCELS*ID-1:0]      cancel_id,
    input  logic [CANCELS*LANE-1:0]    cancel_lane,
    // The stage can process an entry in this cycle; what it gets.
    input  logic                       take,
    output logic                       popped,
    output logic                       wasted,
    output logic [ID-1:0]              popped_id,
    output logic [LANE-1:0]            popped_lane,
    output logic [NOTE-1:0]            popped_note,
    output logic [WIDTH-1:0]           popped_packet
);
  /* verilator no_inline_module */
  logic [PIPELINES-1:0]           head_valid;
  logic [PIPELINES-1:0]           head_ready;
  logic [PIPELINES-1:0]           head_cancelled;
  logic [PIPELINES*STAMP-1:0]     head_stamp;
  logic [PIPELINES*ID-1:0]        head_id;
  logic [PIPELINES*NOTE-1:0]      head_note;
  logic [PIPELINES*WIDTH-1:0]     head_packet;
  logic [PIPELINES-1:0]           oldest;
  logic [PIPELINES-1:0]           pop;
  logic [PIPELINES*PIPELINES-1:0] ring_found;

  for (genvar lane = 0; lane < PIPELINES; lane++) begin : rings
    logic [PIPELINES-1:0] insert_here;
    logic [CANCELS-1:0]   cancel_here;
    for (genvar source = 0; source < PIPELINES; source++) begin : inserts
      assign insert_here[source] = insert[source] && insert_lane[source*LANE +: LANE] == LANE'(lane);
    end
    for (genvar source = 0; source < CANCELS; source++) begin : cancels
      assign cancel_here[source] = cancel[source] && cancel_lane[source*LANE +: LANE] == LANE'(lane);
    end
    mp5_ring #(
        .PIPELINES(PIPELINES),
        .DEPTH(DEPTH),
        .ID(ID),
        .STAMP(STAMP),
        .NOTE(NOTE),
        .WIDTH(WIDTH),
        .CANCELS(CANCELS)
    ) ring (
        .clk(clk),
        .rst(rst),
        .push(push[lane]),
        .push_id(push_id[lane*ID +: ID]),
        .push_stamp(push_stamp[lane*STAMP +: STAMP]),
        .push_note(push_note[lane*NOTE +: NOTE]),
        .full(full[lane]),
        .insert(insert_here),
        .insert_id(insert_id),
        .insert_packet(insert_packet),
        .found(ring_found[lane*PIPELINES +: PIPELINES]),
        .cancel(cancel_here),
        .cancel_id(cancel_id),
        .pop(pop[lane]),
        .head_valid(head_valid[lane]),
        .head_ready(head_ready[lane]),
        .head_cancelled(head_cancelled[lane]),
        .head_stamp(head_stamp[lane*STAMP +: STAMP]),
        .head_id(head_id[lane*ID +: ID]),
        .head_note(head_note[lane*NOTE +: NOTE]),
        .head_packet(head_packet[lane*WIDTH +: WIDTH])
    );
  end

  mp5_oldest #(.COUNT(PIPELINES), .STAMP(STAMP)) order (
      .valid(head_valid),
      .stamps(head_stamp),
      .oldest(oldest)
  );

  assign pop = take ? oldest & head_ready : '0;
  assign popped = |(pop & ~head_cancelled);
  assign wasted = |(pop & head_cancelled);

  always_comb begin
    found = '0;
    popped_id = '0;
    popped_lane = '0;
    popped_note = '0;
    popped_packet = '0;
    for (int lane = 0; lane < PIPELINES; lane++) begin
      found = found | ring_found[lane*PIPELINES +: PIPELINES];
      if (oldest[lane]) begin
        popped_id = popped_id | head_id[lane*ID +: ID];
        popped_lane = popped_lane | LANE'(lane);
        popped_note = popped_note | head_note[lane*NOTE +: NOTE];
        popped_packet = popped_packet | head_packet[lane*WIDTH +: WIDTH];
      end
    end
  end
endmodule
