// SPDX-License-Identifier: Apache-2.0
//! Writes `mp5_bench`, a test bench: it reads packets, a line a cycle, runs the machine, and writes what happens as a line an event, in
//! the simulator's cycles, and at the end the cells.
//!
//! Its files are named by the arguments `+arrivals=FILE`, `+trace=FILE` and `+cycles=N`. A line of arrivals has a binary digit for each
//! pipeline, number 0 last, and the packets' headers as one hexadecimal number, packet 0 in the low bits. Behind the last line no packet
//! arrives.

use crate::machine::{ENTRY_CYCLES, ID_BITS};
use crate::plan::Plan;
use crate::text::Text;

/// Writes the module.
pub fn bench(plan: &Plan) -> String {
    let mut text = Text::default();
    let header = plan.header_bits;
    text.open(&format!(
        "// SPDX-License-Identifier: Apache-2.0
// A test bench of {}. Events, with the cycle of the simulator first:
// P stage pipeline packet accesses: the stage processed the packet, and accessed a cell or not.
// W stage pipeline: the stage spent its cycle on a cancelled entry.
// Q stage packet: the packet's phantom entered a queue of the stage.
// L stage packet: the packet found no phantom at the stage and was dropped.
// D stage packet: the stage's logic dropped the packet.
// R group cell from to: the cell is elsewhere from this cycle on.
// O packet header: the packet left.
// At the end, without a cycle: M group cell pipeline, and C group array cell value.

/* verilator lint_off UNUSEDSIGNAL */
module mp5_bench;
  localparam int PIPELINES = {};
  localparam int HEADER = {header};
  localparam int ID = {ID_BITS};

  logic                        clk;
  logic                        rst;
  logic [PIPELINES-1:0]        in_valid;
  logic [PIPELINES*HEADER-1:0] in_header;
  logic [PIPELINES-1:0]        out_valid;
  logic [PIPELINES*ID-1:0]     out_id;
  logic [PIPELINES*HEADER-1:0] out_header;

  mp5_machine #(.PIPELINES(PIPELINES), .DEPTH({})) dut (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_header(in_header),
      .out_valid(out_valid),
      .out_id(out_id),
      .out_header(out_header)
  );

  integer arrivals;
  integer trace;
  integer cycles;
  integer cycle;
  integer lane;
  integer index;
  integer fields;
  logic [8*1024-1:0] name;

  initial begin",
        plan.program, plan.pipelines, plan.depth
    ));
    text.level_up();
    text.lines(
        "if ($value$plusargs(\"arrivals=%s\", name) == 0) $fatal(1, \"+arrivals=FILE is missing\");
arrivals = $fopen(name, \"r\");
if (arrivals == 0) $fatal(1, \"the arrivals cannot be read\");
if ($value$plusargs(\"trace=%s\", name) == 0) $fatal(1, \"+trace=FILE is missing\");
trace = $fopen(name, \"w\");
if (trace == 0) $fatal(1, \"the trace cannot be written\");
if ($value$plusargs(\"cycles=%d\", cycles) == 0) $fatal(1, \"+cycles=N is missing\");
clk = 1'b0;
rst = 1'b1;
in_valid = '0;
in_header = '0;
#1 clk = 1'b1;
#1 clk = 1'b0;
rst = 1'b0;",
    );
    text.open(
        "for (cycle = 0; cycle < cycles; cycle = cycle + 1) begin
  fields = $fscanf(arrivals, \"%b %h\", in_valid, in_header);
  if (fields != 2) begin
    in_valid = '0;
    in_header = '0;
  end
  #1;",
    );
    for group in 0..plan.groups.len() {
        text.lines(&format!(
            "if (dut.g{group}_move) $fwrite(trace, \"%0d R {group} %0d %0d %0d\\n\", cycle + 1, dut.g{group}_best, dut.g{group}_move_from, dut.g{group}_move_to);"
        ));
    }
    text.open("for (lane = 0; lane < PIPELINES; lane = lane + 1) begin");
    for stage in 0..plan.stages.len() {
        text.lines(&format!(
            "if (dut.s{stage}_work[lane]) $fwrite(trace, \"%0d P {stage} %0d %0d %b\\n\", cycle - {ENTRY_CYCLES}, lane, dut.s{stage}_work_id[lane*ID +: ID], dut.s{stage}_accesses[lane]);"
        ));
        if plan.stages[stage].can_drop {
            text.lines(&format!(
                "if (dut.s{stage}_work[lane] && dut.s{stage}_dropped[lane]) $fwrite(trace, \"%0d D {stage} %0d\\n\", cycle - {ENTRY_CYCLES}, dut.s{stage}_work_id[lane*ID +: ID]);"
            ));
        }
        if plan.is_stateful(stage) {
            text.lines(&format!(
                "if (dut.s{stage}_wasted[lane]) $fwrite(trace, \"%0d W {stage} %0d\\n\", cycle - {ENTRY_CYCLES}, lane);
if (dut.s{stage}_lost[lane]) $fwrite(trace, \"%0d L {stage} %0d\\n\", cycle - {ENTRY_CYCLES}, dut.s{stage}_in_id[lane*ID +: ID]);
if (dut.s{stage}_phantom_valid[lane] && !dut.s{stage}_full_any[lane]) $fwrite(trace, \"%0d Q {stage} %0d\\n\", cycle - {}, dut.s{stage}_push_id[lane*ID +: ID]);",
                ENTRY_CYCLES - 1
            ));
        }
    }
    text.lines(&format!(
        "if (out_valid[lane]) $fwrite(trace, \"%0d O %0d %h\\n\", cycle - {}, out_id[lane*ID +: ID], out_header[lane*HEADER +: HEADER]);",
        ENTRY_CYCLES + 1
    ));
    text.close("end");
    text.close("  clk = 1'b1;\n  #1 clk = 1'b0;\nend");
    for (index, group) in plan.groups.iter().enumerate() {
        text.lines(&format!(
            "for (index = 0; index < {}; index = index + 1) $fwrite(trace, \"M {index} %0d %0d\\n\", index, dut.lanes[0].g{index}_map.memory[index]);",
            group.cells
        ));
        for (place, array) in group.arrays.iter().enumerate() {
            for lane in 0..plan.pipelines {
                text.lines(&format!(
                    "for (index = 0; index < {}; index = index + 1) $fwrite(trace, \"C {index} {place} {lane} %0d %h\\n\", index, dut.s{}[{lane}].g{index}_a{place}.memory[index]);",
                    array.cells, group.stage
                ));
            }
        }
    }
    text.lines("$fclose(trace);\n$finish;");
    text.level_down();
    text.close("  end\nendmodule\n/* verilator lint_on UNUSEDSIGNAL */");
    text.finish()
}
