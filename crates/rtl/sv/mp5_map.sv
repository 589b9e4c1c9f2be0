// SPDX-License-Identifier: Apache-2.0
// A pipeline's copy of the index-to-pipeline map of a group (MP5 §3.1 D2, §3.3): packets read it, remaps write it. All copies are
// written in the same cycle. The second read port is for the scan of a remap.
module mp5_map #(
    parameter int PIPELINES = 2,
    parameter int LANE = 1,
    parameter int CELLS = 16,
    parameter int CELL = 4
) (
    input  logic            clk,
    input  logic [CELL-1:0] cell_index,
    output logic [LANE-1:0] pipeline,
    input  logic [CELL-1:0] scan,
    output logic [LANE-1:0] scanned,
    input  logic            move,
    input  logic [CELL-1:0] move_cell,
    input  logic [LANE-1:0] move_to
);
  logic [LANE-1:0] memory[0:CELLS-1];

  initial begin
    for (int index = 0; index < CELLS; index++) begin
      memory[index] = LANE'(index % PIPELINES);
    end
  end

  assign pipeline = memory[cell_index];
  assign scanned = memory[scan];

  always_ff @(posedge clk) begin
    if (move) memory[move_cell] <= move_to;
  end
endmodule
