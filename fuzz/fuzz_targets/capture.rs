// SPDX-License-Identifier: Apache-2.0
//! Capture files: packets, then at most one error, and never more memory than the limit of a packet.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reader) = network::capture::CaptureReader::new(bytes) {
        for packet in reader.accepting_any_link_type() {
            match packet {
                Ok(packet) => assert!(packet.data.len() <= network::capture::MAXIMUM_PACKET_LENGTH_BYTES as usize),
                Err(error) => {
                    let _ = error.to_string();
                    break;
                }
            }
        }
    }
});
