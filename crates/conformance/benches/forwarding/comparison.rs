// SPDX-License-Identifier: Apache-2.0
//! Whether all sides send the same: every output packet, byte by byte, at the same port, and as many
//! digests. Speed is compared only after this.

use super::engine::Output;
use super::processes::{Prepared, Scratch, Side};

/// Compares all sides with the last one, the interpreter, and returns how many outputs there were.
pub fn compare(prepared: &Prepared, scratch: &Scratch) -> Result<usize, String> {
    let sides = prepared.sides();
    let (reference, others) = sides.split_last().ok_or("no engine forwards this workload")?;
    let expected = outputs(prepared, *reference, scratch)?;
    for side in others {
        let given = outputs(prepared, *side, scratch)?;
        if given.1 != expected.1 {
            return Err(format!(
                "{}: {} makes {} digests, {} makes {}",
                prepared.name,
                side.name(),
                given.1,
                reference.name(),
                expected.1
            ));
        }
        let pairs = given.0.len().max(expected.0.len());
        let different = (0..pairs).find(|at| given.0.get(*at) != expected.0.get(*at));
        if let Some(at) = different {
            let show = |output: Option<&Output>| match output {
                None => "nothing".to_string(),
                Some((packet, port, bytes)) => {
                    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    format!("packet {packet} at port {port}: {hex}")
                }
            };
            return Err(format!(
                "{}: outputs differ\n  {}: {}\n  {}: {}",
                prepared.name,
                side.name(),
                show(given.0.get(at)),
                reference.name(),
                show(expected.0.get(at))
            ));
        }
    }
    Ok(expected.0.len())
}

/// Outputs by packet, port and bytes, and the number of digests.
fn outputs(
    prepared: &Prepared,
    side: Side,
    scratch: &Scratch,
) -> Result<(Vec<Output>, u32), String> {
    let path = scratch.0.join("outputs");
    prepared.run(side, &["check", &path.display().to_string()])?;
    let file = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut rest = file.as_slice();
    let mut outputs = Vec::new();
    loop {
        let (head, tail) = rest.split_at_checked(12).ok_or("the outputs end too early")?;
        let word = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| head[4 * at + byte]));
        let (packet, port, length) = (word(0), word(1), word(2) as usize);
        if packet == u32::MAX {
            // Copies of a packet come in any order.
            outputs.sort();
            return Ok((outputs, port));
        }
        let (bytes, tail) = tail.split_at_checked(length).ok_or("the outputs end too early")?;
        outputs.push((packet, port, bytes.to_vec()));
        rest = tail;
    }
}
