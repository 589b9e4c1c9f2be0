// SPDX-License-Identifier: Apache-2.0
// Figure 6 of MP5 as a state machine. Every EVERY cycles, if the last remap is over, it freezes the access counters, adds them up by
// pipeline (one cell a cycle, all pipelines' counters of the cell at once), finds the cell to move (one cell a cycle), and moves it if no
// packet is in flight for it and none is resolved to it in that cycle. A remap takes 2 * CELLS + 1 cycles.
module mp5_remap #(
    parameter int PIPELINES = 2,
    parameter int LANE = 1,
    parameter int CELLS = 16,
    parameter int CELL = 4,
    parameter int EVERY = 100,
    parameter int COUNT = 16,
    parameter int TALLY = 8
) (
    input  logic                       clk,
    input  logic                       rst,
    // The access counters.
    output logic                       epoch,
    output logic [CELL-1:0]            scan,
    output logic                       clear,
    input  logic [PIPELINES*COUNT-1:0] counts,
    input  logic [LANE-1:0]            pipeline,
    // The in-flight counters of the cell that was found, and the packets that are resolved in this cycle.
    output logic [CELL-1:0]            best,
    input  logic [PIPELINES*TALLY-1:0] resolved,
    input  logic [PIPELINES*TALLY-1:0] done,
    input  logic [PIPELINES*TALLY-1:0] lost,
    input  logic [PIPELINES-1:0]       resolving,
    input  logic [PIPELINES*CELL-1:0]  resolving_cell,
    // The cell `best` moves at the end of this cycle.
    output logic                       move,
    output logic [LANE-1:0]            move_from,
    output logic [LANE-1:0]            move_to
);
  /* verilator no_inline_module */
  localparam int TIMER = $clog2(EVERY + 1);
  localparam int SUM = COUNT + CELL;

  typedef enum logic [1:0] {
    IDLE,
    ADD,
    FIND,
    CHECK
  } state_t;

  state_t                   state;
  logic [TIMER-1:0]         timer;
  logic [PIPELINES*SUM-1:0] sums;
  logic                     has_best;
  logic [COUNT-1:0]         best_count;

  logic [COUNT-1:0]         value;
  logic [LANE-1:0]          most_at;
  logic [LANE-1:0]          least_at;
  logic [SUM-1:0]           most;
  logic [SUM-1:0]           least;
  logic [SUM-1:0]           difference;
  logic                     fits;
  logic [TALLY-1:0]         in_flight;
  logic                     is_resolving;
  logic                     is_due;
  logic                     is_last;

  // The cell's accesses in all pipelines; a sum that is full stays full.
  always_comb begin
    logic [COUNT:0] sum;
    value = '0;
    for (int lane = 0; lane < PIPELINES; lane++) begin
      sum = {1'b0, value} + {1'b0, counts[lane*COUNT +: COUNT]};
      value = sum[COUNT] ? '1 : sum[COUNT-1:0];
    end
  end

  // The pipelines with the most and the fewest accesses; of equal ones the last.
  always_comb begin
    most = sums[0 +: SUM];
    least = sums[0 +: SUM];
    most_at = '0;
    least_at = '0;
    for (int lane = 1; lane < PIPELINES; lane++) begin
      if (sums[lane*SUM +: SUM] >= most) begin
        most = sums[lane*SUM +: SUM];
        most_at = LANE'(lane);
      end
      if (sums[lane*SUM +: SUM] <= least) begin
        least = sums[lane*SUM +: SUM];
        least_at = LANE'(lane);
      end
    end
  end

  assign difference = most - least;
  // Less than half the difference.
  assign fits = {{CELL{1'b0}}, value, 1'b0} < {1'b0, difference};

  always_comb begin
    in_flight = '0;
    is_resolving = 1'b0;
    for (int lane = 0; lane < PIPELINES; lane++) begin
      in_flight = in_flight + resolved[lane*TALLY +: TALLY] - done[lane*TALLY +: TALLY]
          - lost[lane*TALLY +: TALLY];
      if (resolving[lane] && resolving_cell[lane*CELL +: CELL] == best) is_resolving = 1'b1;
    end
  end

  assign is_due = timer == TIMER'(EVERY - 1);
  assign is_last = scan == CELL'(CELLS - 1);
  assign clear = state == FIND;
  assign move = state == CHECK && has_best && in_flight == '0 && !is_resolving && !rst;
  assign move_from = most_at;
  assign move_to = least_at;

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= IDLE;
      timer <= '0;
      epoch <= 1'b0;
      scan <= '0;
      has_best <= 1'b0;
      best <= '0;
      best_count <= '0;
      sums <= '0;
    end else begin
      timer <= is_due ? '0 : timer + 1'b1;
      case (state)
        ADD: begin
          for (int lane = 0; lane < PIPELINES; lane++) begin
            if (pipeline == LANE'(lane)) begin
              sums[lane*SUM +: SUM] <= sums[lane*SUM +: SUM] + {{CELL{1'b0}}, value};
            end
          end
          scan <= is_last ? '0 : scan + 1'b1;
          if (is_last) state <= FIND;
        end
        FIND: begin
          if (pipeline == most_at && fits && (!has_best || value > best_count)) begin
            has_best <= 1'b1;
            best <= scan;
            best_count <= value;
          end
          scan <= is_last ? '0 : scan + 1'b1;
          if (is_last) state <= CHECK;
        end
        default: begin
          state <= IDLE;
          if (is_due) begin
            state <= ADD;
            epoch <= !epoch;
            has_best <= 1'b0;
            sums <= '0;
          end
        end
      endcase
    end
  end
endmodule
