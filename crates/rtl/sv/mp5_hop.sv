// SPDX-License-Identifier: Apache-2.0
// One hop of the phantom channel: a register that a message leaves after one cycle, whatever happens in the stages beside it (MP5 §3.4,
// Invariant 1). It never queues.
module mp5_hop #(
    parameter int WIDTH = 48
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    input  logic [WIDTH-1:0] in_message,
    output logic             out_valid,
    output logic [WIDTH-1:0] out_message
);
  always_ff @(posedge clk) begin
    out_valid   <= in_valid && !rst;
    out_message <= in_message;
  end
endmodule
