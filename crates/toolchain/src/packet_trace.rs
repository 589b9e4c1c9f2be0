// SPDX-License-Identifier: Apache-2.0
//! Writes generated packet traces as capture files, with a summary of what they hold.

use frontend::{Console, ExitStatus, Failure, Work, coded};
use hosts::packet_trace::{PacketTrace, TraceOptions, TraceSummary};
use network::capture::{CaptureWriter, CapturedPacket, LinkType, MAXIMUM_PACKET_LENGTH_BYTES};
use network::frame::Frame;
use source::quantity;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Packets between two looks at the flag of interrupts.
const PACKETS_BETWEEN_LOOKS: u64 = 1 << 16;

/// A trace to write.
#[derive(Clone, Copy, Debug)]
pub struct TraceFile<'a> {
    /// What the trace has.
    pub options: &'a TraceOptions,
    /// The most bytes of each packet in the file.
    pub snap_bytes: Option<u32>,
    /// The file.
    pub path: &'a Path,
    /// Ends the command without a file.
    pub interrupted: &'a AtomicBool,
}

/// Writes a trace and prints its summary.
///
/// # Errors
///
/// Options that no trace has, or a file that cannot be written.
pub fn write(file: &TraceFile<'_>, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let mut trace = PacketTrace::new(file.options).map_err(Failure::Usage)?;
    let failed = |error: network::capture::CaptureError| {
        Failure::Message(coded(error.code().0, &error.to_string()))
    };
    let mut writer = CaptureWriter::create(file.path).map_err(failed)?;
    let most = file.snap_bytes.unwrap_or(MAXIMUM_PACKET_LENGTH_BYTES) as usize;
    let spinner = console.spinner(Work::Packets, console.is_quiet());
    let mut summary = TraceSummary::default();
    let mut frame = Frame::default();
    let mut packet = CapturedPacket {
        timestamp_ps: 0,
        data: Vec::new(),
        original_length_bytes: 0,
        link_type: LinkType::ETHERNET,
    };
    while let Some(sent) = trace.next_into(&mut frame) {
        summary.add(&sent);
        let length = frame.length_bytes() as usize;
        packet.timestamp_ps = sent.time_ps.into();
        packet.original_length_bytes = length as u32;
        packet.data.clear();
        packet.data.extend_from_slice(&frame.bytes[..frame.bytes.len().min(most)]);
        packet.data.resize(length.min(most), 0);
        writer.write_captured(&packet).map_err(failed)?;
        if writer.packets_written().is_multiple_of(PACKETS_BETWEEN_LOOKS) {
            spinner.set_position(writer.packets_written());
            if file.interrupted.load(Ordering::Relaxed) {
                return Err(Failure::Message(format!(
                    "interrupted: `{}` was not written",
                    file.path.display()
                )));
            }
        }
    }
    writer.finish().map_err(failed)?;
    drop(spinner);
    if !console.is_quiet() {
        console.print(&text(file, &summary));
    }
    Ok(ExitStatus::Fine)
}

fn text(file: &TraceFile<'_>, summary: &TraceSummary) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let of_packets = |count: u64| percent(count as f64 / summary.packets().max(1) as f64);
    format!(
        "{}: {} packets of {} flows in {}\n\
         bytes: {} of IPv4, a packet {:.0} on average; {} of the packets up to 64, {} from 1400 on\n\
         flows: {} packets in the median; the largest 1 % have {} of the bytes\n",
        file.path.display(),
        summary.packets(),
        summary.flows(),
        quantity::seconds(file.options.duration_ps),
        summary.bytes(),
        summary.bytes() as f64 / summary.packets().max(1) as f64,
        of_packets(summary.small),
        of_packets(summary.large),
        summary.median_packets(),
        percent(summary.bytes_of_largest(0.01)),
    )
}
