// SPDX-License-Identifier: Apache-2.0
//! What a stage computes in a pipeline: the program's logic with its register arrays, and cells of arrays that move (MP5 §3.4).

use crate::plan::Plan;
use crate::text::Text;
use std::fmt::Write;

/// The value of an array's cell that moves.
pub fn moving(index: usize, place: usize, width: usize, text: &mut Text) {
    let name = format!("g{index}_a{place}");
    text.lines(&format!(
        "logic [PIPELINES*{width}-1:0] {name}_moving;
logic [{}:0] {name}_moved;
always_comb begin
  {name}_moved = '0;
  for (int lane = 0; lane < PIPELINES; lane++) begin
    if (g{index}_move_from == LANE'(lane)) {name}_moved = {name}_moving[lane*{width} +: {width}];
  end
end",
        width - 1
    ));
}

/// The logic of a pipeline with its register arrays.
pub fn logic(plan: &Plan, stage: usize, text: &mut Text) {
    let mut ports = String::new();
    for (index, group) in plan.groups_of(stage) {
        text.lines(&format!(
            "logic g{index}_access;
assign g{index}_access = s{stage}_accesses[lane] && packet[G{index}_ACCESS];"
        ));
        let _ = write!(
            ports,
            ",\n    .g{index}_access(g{index}_access),\n    .g{index}_cell(packet[G{index}_INDEX +: G{index}_CELL])"
        );
        for (place, array) in group.arrays.iter().enumerate() {
            let name = format!("g{index}_a{place}");
            let (width, bits) = (array.width, array.index_bits());
            let first = match array.first.len() {
                0 => String::new(),
                count => {
                    let values: Vec<&str> = array.first.iter().rev().map(|it| &**it).collect();
                    format!(",\n    .FIRSTS({count}),\n    .FIRST({{{}}})", values.join(", "))
                }
            };
            let best = if group.cells > 1 { format!("g{index}_best") } else { "'0".to_owned() };
            text.lines(&format!(
                "// {}
logic [{}:0] {name}_index;
logic [{high}:0] {name}_value;
logic {name}_write;
logic [{high}:0] {name}_next;
mp5_cells #(
    .WIDTH({width}),
    .CELLS({}),
    .CELL({bits}),
    .INITIAL({}){first}
) {name} (
    .clk(clk),
    .cell_index({name}_index),
    .value({name}_value),
    .write(s{stage}_work[lane] && g{index}_access && {name}_write),
    .next({name}_next),
    .move_cell({best}),
    .moving({name}_moving[lane*{width} +: {width}]),
    .arrives(g{index}_move && g{index}_move_to == LANE'(lane)),
    .arriving({name}_moved)
);",
                array.name,
                bits - 1,
                array.cells,
                array.initial,
                high = width - 1,
            ));
            let _ = write!(
                ports,
                ",\n    .{name}_index({name}_index),\n    .{name}_value({name}_value),\n    .{name}_write({name}_write),\n    .{name}_next({name}_next)"
            );
        }
    }
    for group in &plan.stages[stage].cancels {
        let _ = write!(ports, ",\n    .g{group}_cancelled(s{stage}_g{group}_cancelled[lane])");
    }
    text.lines(&format!(
        "logic [HEADER-1:0] header;
mp5_stage_{stage} unit (
    .header_in(packet[0 +: HEADER]),
    .header_out(header),
    .dropped(s{stage}_dropped[lane]){ports}
);
always_comb begin
  done = packet;
  done[0 +: HEADER] = header;"
    ));
    for group in &plan.stages[stage].cancels {
        text.lines(&format!(
            "  if (s{stage}_g{group}_cancelled[lane]) done[G{group}_ACCESS] = 1'b0;"
        ));
    }
    text.lines("end");
}
