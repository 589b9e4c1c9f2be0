// SPDX-License-Identifier: Apache-2.0
// The slot of a stage of a pipeline: one packet a cycle, and a packet that passes goes before one that waits in the queue (MP5 §3.4,
// Invariant 2). It offers the packet to the stage's logic and holds the result in the register behind the stage.
module mp5_slot #(
    parameter int LANE = 1,
    parameter int ID = 16,
    parameter int WIDTH = 512
) (
    input  logic             clk,
    input  logic             rst,
    // A packet that passes.
    input  logic             pass,
    input  logic [ID-1:0]    pass_id,
    input  logic [LANE-1:0]  pass_lane,
    input  logic [WIDTH-1:0] pass_packet,
    // The queue.
    output logic             take,
    input  logic             popped,
    input  logic [ID-1:0]    popped_id,
    input  logic [LANE-1:0]  popped_lane,
    input  logic [WIDTH-1:0] popped_packet,
    // The stage's logic. `work_accesses`: the packet comes from the queue.
    output logic             work,
    output logic             work_accesses,
    output logic [ID-1:0]    work_id,
    output logic [LANE-1:0]  work_lane,
    output logic [WIDTH-1:0] work_packet,
    input  logic             done_dropped,
    input  logic [WIDTH-1:0] done_packet,
    // The register behind the stage.
    output logic             out_valid,
    output logic [ID-1:0]    out_id,
    output logic [LANE-1:0]  out_lane,
    output logic [WIDTH-1:0] out_packet
);
  assign take = !pass;
  assign work = pass || popped;
  assign work_accesses = !pass;
  assign work_id = pass ? pass_id : popped_id;
  assign work_lane = pass ? pass_lane : popped_lane;
  assign work_packet = pass ? pass_packet : popped_packet;

  always_ff @(posedge clk) begin
    out_valid <= work && !done_dropped && !rst;
    out_id <= work_id;
    out_lane <= work_lane;
    out_packet <= done_packet;
  end
endmodule
