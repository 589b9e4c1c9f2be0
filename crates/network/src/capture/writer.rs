// SPDX-License-Identifier: Apache-2.0
//! Writing captures: classic pcap, nanoseconds, little-endian, Ethernet, so that equal packets give
//! equal bytes on every machine. A file appears under its name only when it is complete.

use super::pcap::SECOND_PS;
use super::{
    CaptureError, CaptureErrorKind, CapturedPacket, LinkType, MAXIMUM_PACKET_LENGTH_BYTES,
};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes packets in pcap format to any [`Write`].
#[derive(Debug)]
pub struct PcapEncoder<W> {
    output: W,
    packets_written: u64,
}

impl<W: Write> PcapEncoder<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// `NET-E0108` when the output fails.
    pub fn new(mut output: W) -> Result<PcapEncoder<W>, CaptureError> {
        let mut header = Vec::with_capacity(24);
        header.extend_from_slice(&0xa1b2_3c4d_u32.to_le_bytes());
        header.extend_from_slice(&2_u16.to_le_bytes());
        header.extend_from_slice(&4_u16.to_le_bytes());
        header.extend_from_slice(&[0; 8]);
        header.extend_from_slice(&MAXIMUM_PACKET_LENGTH_BYTES.to_le_bytes());
        header.extend_from_slice(&u32::from(LinkType::ETHERNET.0).to_le_bytes());
        output.write_all(&header).map_err(write_failure)?;
        Ok(PcapEncoder { output, packets_written: 0 })
    }

    /// Writes a whole packet. The time is rounded down to nanoseconds, which is what the format
    /// holds.
    ///
    /// # Errors
    /// `NET-E0109` when the time is before 1970 or after 2106 or the packet is longer than
    /// [`MAXIMUM_PACKET_LENGTH_BYTES`]; `NET-E0108` when the output fails.
    pub fn write(&mut self, timestamp_ps: i128, data: &[u8]) -> Result<(), CaptureError> {
        // A longer packet is refused below before this length is used.
        let original_length_bytes = u32::try_from(data.len()).unwrap_or(u32::MAX);
        self.write_record(timestamp_ps, data, original_length_bytes)
    }

    /// Writes a packet as it was captured, with its length on the wire even if it is snapped.
    ///
    /// # Errors
    /// As [`PcapEncoder::write`], and `NET-E0109` for a packet that is not Ethernet or is said to
    /// be longer than it was.
    pub fn write_captured(&mut self, packet: &CapturedPacket) -> Result<(), CaptureError> {
        if packet.link_type != LinkType::ETHERNET {
            return Err(self.not_representable(format!(
                "a packet of link type {} cannot go into an Ethernet capture",
                packet.link_type
            )));
        }
        if packet.data.len() as u64 > u64::from(packet.original_length_bytes) {
            return Err(self.not_representable(format!(
                "a packet has {} bytes but is said to have had {}",
                packet.data.len(),
                packet.original_length_bytes
            )));
        }
        self.write_record(packet.timestamp_ps, &packet.data, packet.original_length_bytes)
    }

    fn write_record(
        &mut self,
        timestamp_ps: i128,
        data: &[u8],
        original_length_bytes: u32,
    ) -> Result<(), CaptureError> {
        let captured = u32::try_from(data.len())
            .ok()
            .filter(|length| *length <= MAXIMUM_PACKET_LENGTH_BYTES)
            .ok_or_else(|| {
                self.not_representable(format!(
                    "a packet of {} bytes is longer than a capture may hold \
                     ({MAXIMUM_PACKET_LENGTH_BYTES})",
                    data.len()
                ))
            })?;
        let seconds = u32::try_from(timestamp_ps.div_euclid(SECOND_PS)).map_err(|_| {
            self.not_representable(format!(
                "the time {timestamp_ps} ps since 1970 is outside what pcap holds (1970 to 2106)"
            ))
        })?;
        // The remainder is below 10^12 ps, so its nanoseconds fit.
        let nanoseconds = (timestamp_ps.rem_euclid(SECOND_PS) / 1000) as u32;
        let mut header = [0; 16];
        for (slot, value) in
            header.chunks_exact_mut(4).zip([seconds, nanoseconds, captured, original_length_bytes])
        {
            slot.copy_from_slice(&value.to_le_bytes());
        }
        self.output.write_all(&header).map_err(write_failure)?;
        self.output.write_all(data).map_err(write_failure)?;
        self.packets_written = self.packets_written.saturating_add(1);
        Ok(())
    }

    /// How many packets have been written.
    pub fn packets_written(&self) -> u64 {
        self.packets_written
    }

    /// Flushes and gives back the output.
    ///
    /// # Errors
    /// `NET-E0108` when the output fails.
    pub fn finish(mut self) -> Result<W, CaptureError> {
        self.output.flush().map_err(write_failure)?;
        Ok(self.output)
    }

    fn not_representable(&self, reason: String) -> CaptureError {
        CaptureError {
            kind: CaptureErrorKind::NotRepresentable(reason),
            path: None,
            record: Some(self.packets_written.saturating_add(1)),
            offset_bytes: None,
        }
    }
}

fn write_failure(error: std::io::Error) -> CaptureError {
    CaptureError::of_file(CaptureErrorKind::Write(source::reason(&error)))
}

/// Writes a capture file. Until [`CaptureWriter::finish`] the bytes are in a temporary file in the
/// same directory; dropping the writer without finishing removes it and leaves an older file of
/// that name as it was.
#[derive(Debug)]
pub struct CaptureWriter {
    /// `None` once finished.
    encoder: Option<PcapEncoder<BufWriter<File>>>,
    path: PathBuf,
    temporary_path: PathBuf,
}

impl CaptureWriter {
    /// Begins a capture file at `path`. The directory must exist.
    ///
    /// # Errors
    /// `NET-E0108` when the temporary file cannot be created.
    pub fn create(path: &Path) -> Result<CaptureWriter, CaptureError> {
        let Some(name) = path.file_name() else {
            return Err(CaptureError::of_file(CaptureErrorKind::Write(
                "the path does not end in a file name".to_owned(),
            ))
            .with_path(path));
        };
        // The process number keeps two runs into one directory apart.
        let mut temporary_name = std::ffi::OsString::from(".");
        temporary_name.push(name);
        temporary_name.push(format!(".{}.partial", std::process::id()));
        let temporary_path = path.with_file_name(temporary_name);
        let file =
            File::create(&temporary_path).map_err(|error| write_failure(error).with_path(path))?;
        let mut writer = CaptureWriter { encoder: None, path: path.to_path_buf(), temporary_path };
        let encoder = PcapEncoder::new(BufWriter::new(file))
            .map_err(|error| error.with_path(&writer.path))?;
        writer.encoder = Some(encoder);
        Ok(writer)
    }

    /// As [`PcapEncoder::write`].
    ///
    /// # Errors
    /// As [`PcapEncoder::write`].
    pub fn write(&mut self, timestamp_ps: i128, data: &[u8]) -> Result<(), CaptureError> {
        match &mut self.encoder {
            Some(encoder) => encoder.write(timestamp_ps, data),
            None => Ok(()),
        }
        .map_err(|error| error.with_path(&self.path))
    }

    /// As [`PcapEncoder::write_captured`].
    ///
    /// # Errors
    /// As [`PcapEncoder::write_captured`].
    pub fn write_captured(&mut self, packet: &CapturedPacket) -> Result<(), CaptureError> {
        match &mut self.encoder {
            Some(encoder) => encoder.write_captured(packet),
            None => Ok(()),
        }
        .map_err(|error| error.with_path(&self.path))
    }

    /// The file that [`CaptureWriter::finish`] completes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a file of this name is an unfinished capture of a process that has ended.
    pub fn is_abandoned(file_name: &str) -> bool {
        let process = file_name
            .strip_prefix('.')
            .and_then(|name| name.strip_suffix(".partial")?.rsplit_once(".pcap."))
            .and_then(|(_, process)| process.parse::<u32>().ok());
        // Without /proc the running processes are unknown.
        let is_running = |process: u32| {
            !Path::new("/proc/self").exists() || Path::new(&format!("/proc/{process}")).exists()
        };
        process.is_some_and(|process| !is_running(process))
    }

    /// How many packets have been written.
    pub fn packets_written(&self) -> u64 {
        self.encoder.as_ref().map_or(0, PcapEncoder::packets_written)
    }

    /// Completes the file and gives it its name; returns the number of packets in it.
    ///
    /// # Errors
    /// `NET-E0108` when writing or renaming fails; the temporary file is then removed.
    pub fn finish(mut self) -> Result<u64, CaptureError> {
        let Some(encoder) = self.encoder.take() else { return Ok(0) };
        let packets_written = encoder.packets_written();
        encoder
            .finish()
            .and_then(|output| {
                drop(output);
                fs::rename(&self.temporary_path, &self.path).map_err(write_failure)
            })
            .map_err(|error| error.with_path(&self.path))?;
        Ok(packets_written)
    }
}

impl Drop for CaptureWriter {
    fn drop(&mut self) {
        // After `finish` the file has been renamed and there is nothing to remove; a failure to
        // remove cannot be reported from here and does no harm.
        let _ = fs::remove_file(&self.temporary_path);
    }
}
