// SPDX-License-Identifier: Apache-2.0
//! What can be wrong with a capture file, and where. The long texts are in `explanation`.

use super::LinkType;
use source::Code;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureErrorKind {
    /// The operating system could not open or read the file. `NET-E0101`
    Read(String),
    /// The first bytes are those of no capture format; the text says what they may be. `NET-E0102`
    UnknownFormat(String),
    /// The file ends inside something. `NET-E0103`
    Truncated {
        /// What was being read.
        what: &'static str,
        /// How many bytes it needs.
        needed_bytes: u64,
        /// How many bytes of it the file has.
        present_bytes: u64,
    },
    /// A length is larger than any real packet's or block's. `NET-E0104`
    TooLong {
        /// What has the length.
        what: &'static str,
        /// The length in the file.
        length_bytes: u64,
        /// The largest accepted.
        limit_bytes: u64,
    },
    /// Fields of the file contradict one another. `NET-E0105`
    Malformed(String),
    /// The packet is of a link type that the reader does not accept. `NET-E0106`
    UnsupportedLinkType(LinkType),
    /// A format version that is not read. `NET-E0107`
    UnsupportedVersion {
        /// `pcap` or `pcapng`.
        format: &'static str,
        /// The major version.
        major: u16,
        /// The minor version.
        minor: u16,
    },
    /// The operating system could not create or write the file. `NET-E0108`
    Write(String),
    /// A packet or its time cannot be expressed in a pcap file. `NET-E0109`
    NotRepresentable(String),
}

/// An error with its place: which file, which record, which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureError {
    /// What is wrong.
    pub kind: CaptureErrorKind,
    /// The file, where one is known.
    pub path: Option<PathBuf>,
    /// Which record (pcap: packet; pcapng: block), counted from 1; `None` for the file header and
    /// for matters of the whole file.
    pub record: Option<u64>,
    /// Where in the file that record or header starts, in bytes; `None` where no place applies.
    pub offset_bytes: Option<u64>,
}

impl CaptureError {
    /// An error that concerns a whole file or stream.
    pub(crate) fn of_file(kind: CaptureErrorKind) -> CaptureError {
        CaptureError { kind, path: None, record: None, offset_bytes: None }
    }

    /// The same error, naming the file.
    #[must_use]
    pub fn with_path(mut self, path: &Path) -> CaptureError {
        self.path = Some(path.to_path_buf());
        self
    }

    /// The stable code, as in [`super::EXPLANATIONS`].
    pub fn code(&self) -> Code {
        Code(match self.kind {
            CaptureErrorKind::Read(_) => "NET-E0101",
            CaptureErrorKind::UnknownFormat(_) => "NET-E0102",
            CaptureErrorKind::Truncated { .. } => "NET-E0103",
            CaptureErrorKind::TooLong { .. } => "NET-E0104",
            CaptureErrorKind::Malformed(_) => "NET-E0105",
            CaptureErrorKind::UnsupportedLinkType(_) => "NET-E0106",
            CaptureErrorKind::UnsupportedVersion { .. } => "NET-E0107",
            CaptureErrorKind::Write(_) => "NET-E0108",
            CaptureErrorKind::NotRepresentable(_) => "NET-E0109",
        })
    }
}

impl fmt::Display for CaptureErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptureErrorKind::Read(reason) => write!(formatter, "cannot read: {reason}"),
            CaptureErrorKind::UnknownFormat(reason) => {
                write!(formatter, "not a pcap or pcapng file: {reason}")
            }
            CaptureErrorKind::Truncated { what, needed_bytes, present_bytes } => write!(
                formatter,
                "the file ends inside {what}: {needed_bytes} bytes needed, {present_bytes} present"
            ),
            CaptureErrorKind::TooLong { what, length_bytes, limit_bytes } => write!(
                formatter,
                "{what} claims {length_bytes} bytes; the most that is accepted is {limit_bytes}"
            ),
            CaptureErrorKind::Malformed(reason) => formatter.write_str(reason),
            CaptureErrorKind::UnsupportedLinkType(link_type) => write!(
                formatter,
                "the packet has link type {link_type}; a port carries Ethernet, link type 1"
            ),
            CaptureErrorKind::UnsupportedVersion { format, major, minor } => {
                write!(formatter, "{format} version {major}.{minor} is not supported")
            }
            CaptureErrorKind::Write(reason) => write!(formatter, "cannot write: {reason}"),
            CaptureErrorKind::NotRepresentable(reason) => formatter.write_str(reason),
        }
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(formatter, "{}: ", path.display())?;
        }
        match (self.record, self.offset_bytes) {
            (Some(record), Some(offset)) => {
                write!(formatter, "record {record} at byte {offset}: ")?;
            }
            (Some(record), None) => write!(formatter, "record {record}: ")?,
            (None, Some(offset)) => write!(formatter, "at byte {offset}: ")?,
            (None, None) => {}
        }
        self.kind.fmt(formatter)
    }
}

impl std::error::Error for CaptureError {}
