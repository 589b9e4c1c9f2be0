// SPDX-License-Identifier: Apache-2.0
// One look into the directory of a ring: which of its entries is the phantom of a packet (MP5 §3.2). The directory is an associative
// memory over the entries that wait for their packet, because a table by packet identifier would have a row for every identifier.
module mp5_directory #(
    parameter int DEPTH = 8,
    parameter int ID = 16
) (
    input  logic [DEPTH-1:0]    waiting,
    input  logic [DEPTH*ID-1:0] ids,
    input  logic                valid,
    input  logic [ID-1:0]       id,
    output logic [DEPTH-1:0]    found
);
  for (genvar entry = 0; entry < DEPTH; entry++) begin : entries
    assign found[entry] = valid && waiting[entry] && ids[entry*ID +: ID] == id;
  end
endmodule
