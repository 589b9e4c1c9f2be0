// SPDX-License-Identifier: Apache-2.0
// A lane of the phantom channel from its source to one stage: HOPS hops in a row (MP5 §3.1, D4). It carries phantoms, and cancellations
// of phantoms. Every source and target have a lane of their own, so no message waits for another.
module mp5_channel #(
    parameter int WIDTH = 48,
    parameter int HOPS = 1
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    input  logic [WIDTH-1:0] in_message,
    output logic             out_valid,
    output logic [WIDTH-1:0] out_message
);
  logic [HOPS:0]             valids;
  logic [(HOPS+1)*WIDTH-1:0] messages;

  assign valids[0] = in_valid;
  assign messages[0 +: WIDTH] = in_message;
  assign out_valid = valids[HOPS];
  assign out_message = messages[HOPS*WIDTH +: WIDTH];

  for (genvar hop = 0; hop < HOPS; hop++) begin : hops
    mp5_hop #(.WIDTH(WIDTH)) register (
        .clk(clk),
        .rst(rst),
        .in_valid(valids[hop]),
        .in_message(messages[hop*WIDTH +: WIDTH]),
        .out_valid(valids[hop+1]),
        .out_message(messages[(hop+1)*WIDTH +: WIDTH])
    );
  end
endmodule
