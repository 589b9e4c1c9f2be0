// SPDX-License-Identifier: Apache-2.0
// A pipeline's copy of a register array. Each cell is active in one pipeline (MP5 §3.1, D2). The stage reads and writes a cell in one
// cycle; a remap reads it in one pipeline and writes it in another in one cycle.
module mp5_cells #(
    parameter int WIDTH = 32,
    parameter int CELLS = 16,
    parameter int CELL = 4,
    parameter logic [WIDTH-1:0] INITIAL = '0,
    // First values of the first cells, cell 0 in the low bits.
    parameter int FIRSTS = 1,
    parameter logic [FIRSTS*WIDTH-1:0] FIRST = {FIRSTS{INITIAL}}
) (
    input  logic             clk,
    input  logic [CELL-1:0]  cell_index,
    output logic [WIDTH-1:0] value,
    input  logic             write,
    input  logic [WIDTH-1:0] next,
    input  logic [CELL-1:0]  move_cell,
    output logic [WIDTH-1:0] moving,
    input  logic             arrives,
    input  logic [WIDTH-1:0] arriving
);
  logic [WIDTH-1:0] memory[0:CELLS-1];

  initial begin
    for (int index = 0; index < CELLS; index++) memory[index] = INITIAL;
    for (int index = 0; index < FIRSTS; index++) memory[index] = FIRST[index*WIDTH +: WIDTH];
  end

  assign value = memory[cell_index];
  assign moving = memory[move_cell];

  always_ff @(posedge clk) begin
    if (write) memory[cell_index] <= next;
    if (arrives) memory[move_cell] <= arriving;
  end
endmodule
