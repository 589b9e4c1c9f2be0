// SPDX-License-Identifier: Apache-2.0
// The ring whose head has the smallest timestamp (MP5 §3.2, pop): a tree of comparators. Timestamps wrap, so heads of one queue are
// compared by the sign of their difference.
module mp5_oldest #(
    parameter int COUNT = 2,
    parameter int STAMP = 32
) (
    input  logic [COUNT-1:0]       valid,
    input  logic [COUNT*STAMP-1:0] stamps,
    output logic [COUNT-1:0]       oldest
);
  localparam int LEVELS = $clog2(COUNT);
  localparam int LEAVES = 1 << LEVELS;

  // Nodes by number: node 1 is the root, node n has the children 2n and 2n+1, the leaves come last.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [2*LEAVES-1:0]       some /* verilator split_var */;
  logic [2*LEAVES*STAMP-1:0] least /* verilator split_var */;
  // Whether the left child is the older one, and whether a node is on the way from the root to the oldest leaf.
  logic [2*LEAVES-1:0]       left /* verilator split_var */;
  logic [2*LEAVES-1:0]       chosen /* verilator split_var */;
  /* verilator lint_on UNUSEDSIGNAL */

  assign some[0] = 1'b0;
  assign least[0 +: STAMP] = '0;
  assign left[0] = 1'b0;
  assign chosen[0] = 1'b0;
  assign chosen[1] = 1'b1;

  for (genvar node = 1; node < LEAVES; node++) begin : nodes
    logic [STAMP-1:0] difference;
    assign difference = least[2*node*STAMP +: STAMP] - least[(2*node+1)*STAMP +: STAMP];
    assign left[node] = some[2*node] && (!some[2*node+1] || difference[STAMP-1]);
    assign some[node] = some[2*node] || some[2*node+1];
    assign least[node*STAMP +: STAMP] =
        left[node] ? least[2*node*STAMP +: STAMP] : least[(2*node+1)*STAMP +: STAMP];
    assign chosen[2*node] = chosen[node] && left[node];
    assign chosen[2*node+1] = chosen[node] && !left[node];
  end
  for (genvar leaf = 0; leaf < LEAVES; leaf++) begin : leaves
    assign left[LEAVES+leaf] = 1'b0;
    if (leaf < COUNT) begin : ring
      assign some[LEAVES+leaf] = valid[leaf];
      assign least[(LEAVES+leaf)*STAMP +: STAMP] = stamps[leaf*STAMP +: STAMP];
      assign oldest[leaf] = chosen[LEAVES+leaf] && valid[leaf];
    end else begin : none
      assign some[LEAVES+leaf] = 1'b0;
      assign least[(LEAVES+leaf)*STAMP +: STAMP] = '0;
    end
  end
endmodule
