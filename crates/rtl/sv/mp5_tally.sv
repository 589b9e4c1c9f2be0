// SPDX-License-Identifier: Apache-2.0
// A pipeline's part of the in-flight counters of a group (MP5 §3.4): how often something happened to each cell, modulo 2^WIDTH. Packets
// enter and leave flight in different pipelines, several in a cycle, and a memory has one write port; so each pipeline counts its own
// events, and what is in flight is the sum of the packets resolved less those done and those lost.
module mp5_tally #(
    parameter int CELLS = 16,
    parameter int CELL = 4,
    parameter int WIDTH = 8
) (
    input  logic             clk,
    input  logic             count,
    input  logic [CELL-1:0]  cell_index,
    input  logic [CELL-1:0]  asked,
    output logic [WIDTH-1:0] answer
);
  logic [WIDTH-1:0] memory[0:CELLS-1];

  initial begin
    for (int index = 0; index < CELLS; index++) memory[index] = '0;
  end

  assign answer = memory[asked];

  always_ff @(posedge clk) begin
    if (count) memory[cell_index] <= memory[cell_index] + 1'b1;
  end
endmodule
