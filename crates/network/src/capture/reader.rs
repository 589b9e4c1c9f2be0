// SPDX-License-Identifier: Apache-2.0
//! `CaptureReader`: detects the format of a capture and returns its packets one at a time. `pcap` and `pcapng` decode the
//! records.

use super::input::{CountedInput, Step};
use super::pcap::PcapSection;
use super::pcapng::{self, PcapngState};
use super::{CaptureError, CaptureErrorKind, CapturedPacket, LinkType};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

#[derive(Debug)]
enum Format {
    Pcap(PcapSection),
    Pcapng(PcapngState),
}

/// Reads a pcap or pcapng file packet by packet, holding one packet at a time.
///
/// The iterator yields every packet before a damaged place, then one error, then nothing.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: CountedInput<R>,
    format: Format,
    path: Option<PathBuf>,
    records_read: u64,
    accepts_any_link_type: bool,
    is_finished: bool,
}

/// The input of a capture that is a file or standard input.
pub type CaptureInput = BufReader<Box<dyn Read>>;

impl CaptureReader<CaptureInput> {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`CaptureReader::new`], and `NET-E0101` when the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let file = File::open(path).map_err(|error| {
            CaptureError::of_file(CaptureErrorKind::Read(source::reason(&error))).with_path(path)
        })?;
        let mut reader = CaptureReader::new(input(file)).map_err(|error| error.with_path(path))?;
        reader.path = Some(path.to_path_buf());
        Ok(reader)
    }

    /// Reads standard input.
    ///
    /// # Errors
    /// As [`CaptureReader::new`].
    pub fn standard_input() -> Result<Self, CaptureError> {
        CaptureReader::new(input(std::io::stdin()))
    }
}

fn input(reader: impl Read + 'static) -> CaptureInput {
    BufReader::new(Box::new(reader))
}

impl<R: Read> CaptureReader<R> {
    /// Starts reading a capture: detects its format and byte order from its first bytes. The input should be buffered,
    /// because the reader makes small reads.
    ///
    /// # Errors
    /// When these bytes are those of no capture format, or of a version that is not read.
    pub fn new(input: R) -> Result<Self, CaptureError> {
        let mut input = CountedInput::new(input);
        let format = detect(&mut input).map_err(|kind| CaptureError {
            kind,
            path: None,
            record: None,
            offset_bytes: Some(0),
        })?;
        Ok(CaptureReader {
            input,
            format,
            path: None,
            records_read: 0,
            accepts_any_link_type: false,
            is_finished: false,
        })
    }

    /// Returns packets of every link type instead of Ethernet only; the caller checks [`CapturedPacket::link_type`].
    #[must_use]
    pub fn accepting_any_link_type(mut self) -> Self {
        self.accepts_any_link_type = true;
        self
    }

    /// Returns the file; `None` if the reader was not given one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the number of records read so far.
    pub fn records_read(&self) -> u64 {
        self.records_read
    }

    /// Returns the shortest snap length that the file has declared so far; 0 is no limit.
    pub fn snap_length_bytes(&self) -> Option<u32> {
        match &self.format {
            Format::Pcap(section) => Some(section.snap_length_bytes()),
            Format::Pcapng(state) => state.snap_length_bytes(),
        }
    }

    fn next_packet(&mut self) -> Result<Option<CapturedPacket>, CaptureError> {
        loop {
            let record = self.records_read.saturating_add(1);
            let offset_bytes = self.input.offset_bytes;
            let step = match &mut self.format {
                Format::Pcap(section) => section.next_record(&mut self.input),
                Format::Pcapng(state) => state.next_block(&mut self.input),
            };
            self.records_read = record;
            let checked = step.and_then(|step| match step {
                Step::Packet(packet)
                    if packet.link_type != LinkType::ETHERNET && !self.accepts_any_link_type =>
                {
                    Err(CaptureErrorKind::UnsupportedLinkType(packet.link_type))
                }
                step => Ok(step),
            });
            match checked {
                Ok(Step::Packet(packet)) => return Ok(Some(packet)),
                Ok(Step::Other) => {}
                Ok(Step::End) => return Ok(None),
                Err(kind) => {
                    return Err(CaptureError {
                        kind,
                        path: self.path.clone(),
                        record: Some(record),
                        offset_bytes: Some(offset_bytes),
                    });
                }
            }
        }
    }
}

impl<R: Read> Iterator for CaptureReader<R> {
    type Item = Result<CapturedPacket, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_finished {
            return None;
        }
        let next = self.next_packet().transpose();
        self.is_finished = !matches!(next, Some(Ok(_)));
        next
    }
}

impl<R: Read> std::iter::FusedIterator for CaptureReader<R> {}

fn detect<R: Read>(input: &mut CountedInput<R>) -> Result<Format, CaptureErrorKind> {
    let mut magic = [0; 4];
    let present = input.fill(&mut magic)?;
    if present == 0 {
        return Err(CaptureErrorKind::UnknownFormat("the file is empty".to_owned()));
    }
    if present < 4 {
        return Err(CaptureErrorKind::UnknownFormat(format!("the file has only {present} bytes")));
    }
    if magic == pcapng::SECTION_HEADER_BYTES {
        return PcapngState::start(input).map(Format::Pcapng);
    }
    if let Some((byte_order, fraction_ps)) = super::pcap::magic_meaning(magic) {
        return PcapSection::start(input, byte_order, fraction_ps).map(Format::Pcap);
    }
    let hint = match magic {
        [0x1f, 0x8b, ..] => "it is compressed with gzip; decompress it first".to_owned(),
        [0x28, 0xb5, 0x2f, 0xfd] => "it is compressed with zstd; decompress it first".to_owned(),
        [0x04, 0x22, 0x4d, 0x18] => "it is compressed with lz4; decompress it first".to_owned(),
        [0xa1, 0xb2, 0xcd, 0x34] | [0x34, 0xcd, 0xb2, 0xa1] => {
            "it is Kuznetzov's modified pcap; convert it with editcap".to_owned()
        }
        [a, b, c, d] => format!("its first bytes are {a:02x} {b:02x} {c:02x} {d:02x}"),
    };
    Err(CaptureErrorKind::UnknownFormat(hint))
}
