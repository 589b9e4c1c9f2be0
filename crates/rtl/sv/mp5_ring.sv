// SPDX-License-Identifier: Apache-2.0
// A ring buffer of a stage (MP5 §3.2): push adds a phantom at the tail, insert puts a packet in the place of its phantom, cancel marks a
// phantom whose packet will not come, pop takes the head. A packet that is inserted at the head can be popped in the same cycle, and
// a push has the place that a pop of the same cycle leaves.
module mp5_ring #(
    parameter int PIPELINES = 2,
    parameter int DEPTH = 8,
    parameter int ID = 16,
    parameter int STAMP = 32,
    parameter int NOTE = 16,
    parameter int WIDTH = 512,
    parameter int CANCELS = 1
) (
    input  logic                       clk,
    input  logic                       rst,
    // push: the phantom's packet, its time, and what to know if it is cancelled. `full`: it found no place.
    input  logic                       push,
    input  logic [ID-1:0]              push_id,
    input  logic [STAMP-1:0]           push_stamp,
    input  logic [NOTE-1:0]            push_note,
    output logic                       full,
    // insert: a packet from each pipeline. `found`: its phantom is here.
    input  logic [PIPELINES-1:0]       insert,
    input  logic [PIPELINES*ID-1:0]    insert_id,
    input  logic [PIPELINES*WIDTH-1:0] insert_packet,
    output logic [PIPELINES-1:0]       found,
    // cancel.
    input  logic [CANCELS-1:0]         cancel,
    input  logic [CANCELS*ID-1:0]      cancel_id,
    // pop, and the head with what happens to it in this cycle.
    input  logic                       pop,
    output logic                       head_valid,
    output logic                       head_ready,
    output logic                       head_cancelled,
    output logic [STAMP-1:0]           head_stamp,
    output logic [ID-1:0]              head_id,
    output logic [NOTE-1:0]            head_note,
    output logic [WIDTH-1:0]           head_packet
);
  /* verilator no_inline_module */
  localparam int ADDRESS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int USED = $clog2(DEPTH + 1);

  logic [ADDRESS-1:0]  head;
  logic [ADDRESS-1:0]  tail;
  logic [USED-1:0]     used;
  logic [DEPTH-1:0]    waiting;
  logic [DEPTH-1:0]    arrived;
  logic [DEPTH-1:0]    cancelled;
  logic [ID-1:0]       ids[0:DEPTH-1];
  logic [DEPTH*ID-1:0] all_ids;
  logic [STAMP-1:0]    stamps[0:DEPTH-1];
  logic [NOTE-1:0]     notes[0:DEPTH-1];
  logic [WIDTH-1:0]    packets[0:DEPTH-1];

  logic [PIPELINES*DEPTH-1:0]   insert_found;
  logic [PIPELINES*ADDRESS-1:0] insert_address;
  logic [CANCELS*DEPTH-1:0]     cancel_found;
  logic [DEPTH-1:0]             arriving;
  logic [DEPTH-1:0]             cancelling;
  logic [WIDTH-1:0]             arriving_packet;
  logic                         accepts;

  for (genvar source = 0; source < PIPELINES; source++) begin : inserts
    mp5_directory #(.DEPTH(DEPTH), .ID(ID)) directory (
        .waiting(waiting),
        .ids(all_ids),
        .valid(insert[source]),
        .id(insert_id[source*ID +: ID]),
        .found(insert_found[source*DEPTH +: DEPTH])
    );
    assign found[source] = |insert_found[source*DEPTH +: DEPTH];
  end
  for (genvar source = 0; source < CANCELS; source++) begin : cancels
    mp5_directory #(.DEPTH(DEPTH), .ID(ID)) directory (
        .waiting(waiting),
        .ids(all_ids),
        .valid(cancel[source]),
        .id(cancel_id[source*ID +: ID]),
        .found(cancel_found[source*DEPTH +: DEPTH])
    );
  end

  for (genvar entry = 0; entry < DEPTH; entry++) begin : entries
    assign all_ids[entry*ID +: ID] = ids[entry];
  end

  always_comb begin
    logic [DEPTH-1:0] found_here;
    found_here = '0;
    insert_address = '0;
    arriving = '0;
    cancelling = '0;
    arriving_packet = '0;
    for (int source = 0; source < PIPELINES; source++) begin
      arriving = arriving | insert_found[source*DEPTH +: DEPTH];
      for (int entry = 0; entry < DEPTH; entry++) begin
        if (insert_found[source*DEPTH+entry]) begin
          insert_address[source*ADDRESS +: ADDRESS] =
              insert_address[source*ADDRESS +: ADDRESS] | ADDRESS'(entry);
        end
      end
      found_here = insert_found[source*DEPTH +: DEPTH];
      if (found_here[head]) begin
        arriving_packet = arriving_packet | insert_packet[source*WIDTH +: WIDTH];
      end
    end
    for (int source = 0; source < CANCELS; source++) begin
      cancelling = cancelling | cancel_found[source*DEPTH +: DEPTH];
    end
  end

  assign head_valid = used != '0;
  assign head_cancelled = cancelled[head] || cancelling[head];
  assign head_ready = arrived[head] || arriving[head] || head_cancelled;
  assign head_stamp = stamps[head];
  assign head_id = ids[head];
  assign head_note = notes[head];
  assign head_packet = arriving[head] ? arriving_packet : packets[head];
  assign accepts = used != USED'(DEPTH) || pop;
  assign full = push && !accepts;

  always_ff @(posedge clk) begin
    if (rst) begin
      head <= '0;
      tail <= '0;
      used <= '0;
      waiting <= '0;
      arrived <= '0;
      cancelled <= '0;
    end else begin
      waiting <= waiting & ~arriving & ~cancelling;
      arrived <= arrived | arriving;
      cancelled <= cancelled | cancelling;
      if (pop) begin
        waiting[head] <= 1'b0;
        arrived[head] <= 1'b0;
        cancelled[head] <= 1'b0;
        head <= head == ADDRESS'(DEPTH - 1) ? '0 : head + 1'b1;
      end
      if (push && accepts) begin
        waiting[tail] <= 1'b1;
        tail <= tail == ADDRESS'(DEPTH - 1) ? '0 : tail + 1'b1;
      end
      used <= used + USED'(push && accepts) - USED'(pop);
    end
  end

  always_ff @(posedge clk) begin
    if (push && accepts) begin
      ids[tail] <= push_id;
      stamps[tail] <= push_stamp;
      notes[tail] <= push_note;
    end
  end

  always_ff @(posedge clk) begin
    for (int source = 0; source < PIPELINES; source++) begin
      if (found[source]) begin
        packets[insert_address[source*ADDRESS +: ADDRESS]] <= insert_packet[source*WIDTH +: WIDTH];
      end
    end
  end
endmodule
