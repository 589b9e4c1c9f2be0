// SPDX-License-Identifier: Apache-2.0
// The way in: packets of a cycle, in the order of their ports from number 0 without gaps, go to the pipelines in turn, and the next
// cycle goes on where this one ended (MP5 §3.1, D1). Every packet gets an identifier and its place among the packets of its cycle.
module mp5_spray #(
    parameter int PIPELINES = 2,
    parameter int LANE = 1,
    parameter int ID = 16,
    parameter int WIDTH = 512
) (
    input  logic                       clk,
    input  logic                       rst,
    input  logic [PIPELINES-1:0]       in_valid,
    input  logic [PIPELINES*WIDTH-1:0] in_packet,
    output logic [PIPELINES-1:0]       out_valid,
    output logic [PIPELINES*ID-1:0]    out_id,
    output logic [PIPELINES*LANE-1:0]  out_place,
    output logic [PIPELINES*WIDTH-1:0] out_packet
);
  localparam int SUM = LANE + 1;

  // The pipeline of the next packet, and its identifier.
  logic [LANE-1:0] next_lane;
  logic [ID-1:0]   next_id;
  logic [SUM-1:0]  count;

  function automatic logic [LANE-1:0] wrapped(input logic [SUM-1:0] sum);
    wrapped = sum >= SUM'(PIPELINES) ? LANE'(sum - SUM'(PIPELINES)) : LANE'(sum);
  endfunction

  always_comb begin
    count = '0;
    for (int port = 0; port < PIPELINES; port++) begin
      count = count + SUM'(in_valid[port]);
    end
  end

  for (genvar lane = 0; lane < PIPELINES; lane++) begin : lanes
    // The place of this lane's packet: how far the lane is behind `next_lane`.
    logic [LANE-1:0]  place;
    logic             valid;
    logic [WIDTH-1:0] packet;
    assign place = wrapped(SUM'(lane) + SUM'(PIPELINES) - SUM'(next_lane));
    always_comb begin
      valid = 1'b0;
      packet = '0;
      for (int port = 0; port < PIPELINES; port++) begin
        if (place == LANE'(port)) begin
          valid = in_valid[port];
          packet = in_packet[port*WIDTH +: WIDTH];
        end
      end
    end
    assign out_valid[lane] = valid && !rst;
    assign out_place[lane*LANE +: LANE] = place;
    assign out_id[lane*ID +: ID] = next_id + ID'(place);
    assign out_packet[lane*WIDTH +: WIDTH] = packet;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      next_lane <= '0;
      next_id <= '0;
    end else begin
      next_lane <= wrapped(SUM'(next_lane) + count);
      next_id <= next_id + ID'(count);
    end
  end
endmodule
