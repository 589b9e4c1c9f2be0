// SPDX-License-Identifier: Apache-2.0
// The crossbar in front of a stage (MP5 §3.1, D3; §3.4, packet steering). A packet that accesses a cell of the stage goes to the
// queue in the cell's pipeline; every other packet stays in its pipeline and passes. Each pipeline's queue has a port for each
// pipeline that it may come from, so no packet waits. A packet whose phantom is not in the queue is lost.
module mp5_crossbar #(
    parameter int PIPELINES = 2,
    parameter int LANE = 1,
    parameter int WIDTH = 512
) (
    input  logic [PIPELINES-1:0]                 in_valid,
    input  logic [PIPELINES-1:0]                 in_stateful,
    input  logic [PIPELINES*LANE-1:0]            in_to,
    input  logic [PIPELINES*WIDTH-1:0]           in_packet,
    // To the queues: bit (pipeline, source).
    output logic [PIPELINES*PIPELINES-1:0]       insert,
    output logic [PIPELINES*PIPELINES*WIDTH-1:0] insert_packet,
    input  logic [PIPELINES*PIPELINES-1:0]       found,
    // Past the queues.
    output logic [PIPELINES-1:0]                 pass,
    // Lost packets by source.
    output logic [PIPELINES-1:0]                 lost
);
  /* verilator no_inline_module */
  for (genvar source = 0; source < PIPELINES; source++) begin : sources
    logic [PIPELINES-1:0] found_at;
    assign pass[source] = in_valid[source] && !in_stateful[source];
    assign lost[source] = in_valid[source] && in_stateful[source] && found_at == '0;
    for (genvar to = 0; to < PIPELINES; to++) begin : crosspoints
      assign insert[to*PIPELINES+source] =
          in_valid[source] && in_stateful[source] && in_to[source*LANE +: LANE] == LANE'(to);
      assign insert_packet[(to*PIPELINES+source)*WIDTH +: WIDTH] =
          insert[to*PIPELINES+source] ? in_packet[source*WIDTH +: WIDTH] : '0;
      assign found_at[to] = found[to*PIPELINES+source];
    end
  end
endmodule
