// SPDX-License-Identifier: Apache-2.0
//! How many bytes of a packet a program can read. Simulations leave out the bytes behind them.

use crate::control_flow::reverse_postorder;
use crate::effects::headers_of;
use crate::{Operand, Operation, Program, Region, RegionKind};

/// Returns the most bytes of a packet that the parsers of a verified program read. `None` if there is no limit (a parser
/// with a loop, or that advances by a computed number of bits), and if the program reads the payload.
pub fn max_read_bytes(program: &Program) -> Option<usize> {
    let mut all = program.regions.iter().flat_map(|region| &region.blocks);
    let reads_payload = |operation: &Operation| {
        matches!(operation, Operation::Hash { payload: true, .. } | Operation::CallExtern { .. })
    };
    if all.any(|block| block.instructions.iter().any(|one| reads_payload(&one.operation))) {
        return None;
    }
    let parsers = program.regions.iter().filter(|region| region.kind == RegionKind::Parser);
    let mut bits = parsers.map(|region| max_read_bits(program, region));
    let most = bits.try_fold(0, |most, bits| bits.map(|bits| most.max(bits)))?;
    usize::try_from(most.div_ceil(8)).ok()
}

/// The most bits that a parser reads from the beginning on.
fn max_read_bits(program: &Program, region: &Region) -> Option<u64> {
    let order = reverse_postorder(region);
    let mut place = vec![None; region.blocks.len()];
    for (at, block) in order.iter().enumerate() {
        place[*block] = Some(at);
    }
    // By block: where the cursor is at most when the block begins.
    let mut cursors = vec![0_u64; region.blocks.len()];
    let mut most = 0;
    for (at, number) in order.iter().enumerate() {
        let block = &region.blocks[*number];
        let mut cursor = cursors[*number];
        for instruction in &block.instructions {
            match &instruction.operation {
                Operation::Extract { varbit_bits: Some(_), .. } => return None,
                Operation::Extract { header, .. } => {
                    let bits = |id| u64::from(program.header_type(id).fixed_bits());
                    cursor += headers_of(program, header).into_iter().map(bits).max()?;
                }
                Operation::Lookahead { result } => {
                    most = most
                        .max(cursor + u64::from(region.temps.get(result.index())?.width_bits()));
                }
                Operation::Advance { bits: Operand::Constant(bits) } => cursor += bits.low_u64(),
                Operation::Advance { .. } => return None,
                _ => {}
            }
        }
        most = most.max(cursor);
        for next in block.terminator.successors() {
            // A way back is a loop.
            if place[next.index()]? <= at {
                return None;
            }
            let known = &mut cursors[next.index()];
            *known = cursor.max(*known);
        }
    }
    Some(most)
}
