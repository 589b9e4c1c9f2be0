// SPDX-License-Identifier: Apache-2.0
// A pipeline's access counters of a group (MP5 §3.4). Two banks: the bank of the current epoch counts, the other keeps the counts of
// the last epoch until the scan has read and cleared them. So all counters begin at 0 in one cycle, when the epoch bit flips.
module mp5_accesses #(
    parameter int CELLS = 16,
    parameter int CELL = 4,
    parameter int WIDTH = 16
) (
    input  logic             clk,
    input  logic             epoch,
    input  logic             count,
    input  logic [CELL-1:0]  cell_index,
    input  logic [CELL-1:0]  scan,
    input  logic             clear,
    output logic [WIDTH-1:0] scanned
);
  logic [WIDTH-1:0] even[0:CELLS-1];
  logic [WIDTH-1:0] odd[0:CELLS-1];
  logic [CELL-1:0]  even_cell;
  logic [CELL-1:0]  odd_cell;
  logic [WIDTH-1:0] even_value;
  logic [WIDTH-1:0] odd_value;
  logic [WIDTH-1:0] counted;

  initial begin
    for (int index = 0; index < CELLS; index++) begin
      even[index] = '0;
      odd[index] = '0;
    end
  end

  assign even_cell = epoch ? scan : cell_index;
  assign odd_cell = epoch ? cell_index : scan;
  assign even_value = even[even_cell];
  assign odd_value = odd[odd_cell];
  assign scanned = epoch ? even_value : odd_value;
  // A counter that is full stays full.
  assign counted = epoch ? odd_value + WIDTH'(odd_value != '1) : even_value + WIDTH'(even_value != '1);

  always_ff @(posedge clk) begin
    if (epoch ? clear : count) even[even_cell] <= epoch ? '0 : counted;
    if (epoch ? count : clear) odd[odd_cell] <= epoch ? counted : '0;
  end
endmodule
