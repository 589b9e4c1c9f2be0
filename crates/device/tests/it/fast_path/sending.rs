// SPDX-License-Identifier: Apache-2.0
//! Packets through a device in bursts.

use device::{Burst, Device};

/// Packets as they arrive: port and bytes.
pub type Arriving = Vec<(u32, Vec<u8>)>;

/// An output: number of the input packet, port and bytes.
pub type Sent = Vec<(usize, u32, Vec<u8>)>;

/// Sends packets in bursts of a size. No assertion of the program fails.
pub fn forward(device: &mut Device, size: usize, packets: &Arriving) -> Sent {
    forward_past_failures(device, size, packets, |_| panic!("an assertion failed"))
}

/// Sends packets in bursts of a size. Calls a function before it continues after a failed packet.
pub fn forward_past_failures(
    device: &mut Device,
    size: usize,
    packets: &Arriving,
    mut failed: impl FnMut(&mut Device),
) -> Sent {
    let (mut burst, mut all) = (Burst::new(size, 128), Vec::new());
    for (number, chunk) in packets.chunks(size).enumerate() {
        burst.clear();
        for (port, bytes) in chunk {
            burst.push(*port, bytes).expect("it fits");
        }
        while device.forward(&mut burst).is_err() {
            failed(device);
        }
        let sent = burst.outputs();
        all.extend(sent.map(|sent| (number * size + sent.packet, sent.port, sent.bytes.to_vec())));
    }
    all
}
