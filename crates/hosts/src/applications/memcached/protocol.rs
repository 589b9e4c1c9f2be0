// SPDX-License-Identifier: Apache-2.0
//! Messages of memcached's text protocol (`protocol.txt`) and binary protocol, behind the frame header of its UDP
//! datagrams. Gets of one key and sets.

use arithmetic::random::mix;

/// The frame header: request, number of the datagram, number of datagrams, zero; each of two bytes.
pub(super) const FRAME_HEADER_BYTES: usize = 8;
/// A header of the binary protocol.
const BINARY_HEADER_BYTES: usize = 24;
const REQUEST_MAGIC: u8 = 0x80;
const RESPONSE_MAGIC: u8 = 0x81;
const GET: u8 = 0;
const SET: u8 = 1;
const KEY_NOT_FOUND: u16 = 1;
const UNKNOWN_COMMAND: u16 = 0x81;

/// The protocol of requests and responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Lines of text.
    #[default]
    Text,
    /// Headers of 24 bytes.
    Binary,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Get { key: Vec<u8> },
    Set { key: Vec<u8>, value: Vec<u8> },
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Response {
    Value {
        key: Vec<u8>,
        value: Vec<u8>,
    },
    NotFound,
    Stored,
    /// The server does not understand the request.
    Error,
}

/// Returns the key with a number.
pub(super) fn key(number: u64) -> Vec<u8> {
    format!("key{number:08}").into_bytes()
}

/// Returns the value of a key: printable bytes that depend on the key, so that a client can check them.
pub(super) fn value(key: &[u8], length: u32) -> Vec<u8> {
    let seed = key.iter().fold(0, |hash, byte| mix(hash ^ u64::from(*byte)));
    (0..u64::from(length))
        .map(|at| {
            let word = mix(seed ^ (at / 8));
            b'a' + ((word >> (at % 8 * 8)) as u8 % 26)
        })
        .collect()
}

/// Splits a message into datagrams of at most `most` bytes, each with its frame header.
pub(super) fn datagrams(request: u16, message: &[u8], most: usize) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = message.chunks(most - FRAME_HEADER_BYTES).collect();
    let count = parts.len() as u16;
    let with_header = |(number, part): (usize, &&[u8])| {
        let mut datagram = Vec::with_capacity(FRAME_HEADER_BYTES + part.len());
        for word in [request, number as u16, count, 0] {
            datagram.extend_from_slice(&word.to_be_bytes());
        }
        datagram.extend_from_slice(part);
        datagram
    };
    parts.iter().enumerate().map(with_header).collect()
}

/// Reads a frame header: request, number, count, and the part of the message.
pub(super) fn read_datagram(bytes: &[u8]) -> Option<(u16, u16, u16, &[u8])> {
    let (header, part) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>()?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    Some((word(0), word(2), word(4), part))
}

impl Protocol {
    pub(super) fn write_request(self, request: &Request) -> Vec<u8> {
        match (self, request) {
            (Protocol::Text, Request::Get { key }) => [b"get ", key.as_slice(), b"\r\n"].concat(),
            (Protocol::Text, Request::Set { key, value }) => {
                let length = format!(" 0 0 {}\r\n", value.len());
                [b"set ", key.as_slice(), length.as_bytes(), value, b"\r\n"].concat()
            }
            (Protocol::Binary, Request::Get { key }) => {
                binary(REQUEST_MAGIC, GET, 0, &[], key, &[])
            }
            (Protocol::Binary, Request::Set { key, value }) => {
                // Flags and expiration.
                binary(REQUEST_MAGIC, SET, 0, &[0; 8], key, value)
            }
        }
    }

    pub(super) fn read_request(self, bytes: &[u8]) -> Option<Request> {
        match self {
            Protocol::Text => {
                let (line, rest) = split_line(bytes)?;
                let words: Vec<&[u8]> = words(line).collect();
                match words[..] {
                    [b"get" | b"gets", key] => Some(Request::Get { key: key.to_vec() }),
                    [b"set", key, _flags, _expiration, length] => {
                        let value = rest.get(..number(length)?)?.to_vec();
                        Some(Request::Set { key: key.to_vec(), value })
                    }
                    _ => None,
                }
            }
            Protocol::Binary => {
                let message = read_binary(REQUEST_MAGIC, bytes)?;
                let key = message.key.to_vec();
                match message.operation {
                    GET => Some(Request::Get { key }),
                    SET => Some(Request::Set { key, value: message.value.to_vec() }),
                    _ => None,
                }
            }
        }
    }

    pub(super) fn write_response(self, response: &Response) -> Vec<u8> {
        match (self, response) {
            (Protocol::Text, Response::Value { key, value }) => {
                let length = format!(" 0 {}\r\n", value.len());
                [b"VALUE ", key.as_slice(), length.as_bytes(), value, b"\r\nEND\r\n"].concat()
            }
            (Protocol::Text, Response::NotFound) => b"END\r\n".to_vec(),
            (Protocol::Text, Response::Stored) => b"STORED\r\n".to_vec(),
            (Protocol::Text, Response::Error) => b"ERROR\r\n".to_vec(),
            (Protocol::Binary, Response::Value { value, .. }) => {
                binary(RESPONSE_MAGIC, GET, 0, &[0; 4], &[], value)
            }
            (Protocol::Binary, Response::NotFound) => {
                binary(RESPONSE_MAGIC, GET, KEY_NOT_FOUND, &[], &[], b"Not found")
            }
            (Protocol::Binary, Response::Stored) => binary(RESPONSE_MAGIC, SET, 0, &[], &[], &[]),
            (Protocol::Binary, Response::Error) => {
                binary(RESPONSE_MAGIC, GET, UNKNOWN_COMMAND, &[], &[], b"Unknown command")
            }
        }
    }

    pub(super) fn read_response(self, bytes: &[u8]) -> Option<Response> {
        match self {
            Protocol::Text => {
                let (line, rest) = split_line(bytes)?;
                let words: Vec<&[u8]> = words(line).collect();
                match words[..] {
                    [b"END"] => Some(Response::NotFound),
                    [b"STORED"] => Some(Response::Stored),
                    [b"VALUE", key, _flags, length] => {
                        let value = rest.get(..number(length)?)?.to_vec();
                        Some(Response::Value { key: key.to_vec(), value })
                    }
                    _ => Some(Response::Error),
                }
            }
            Protocol::Binary => {
                let message = read_binary(RESPONSE_MAGIC, bytes)?;
                Some(match (message.operation, message.status) {
                    (GET, 0) => {
                        Response::Value { key: message.key.to_vec(), value: message.value.to_vec() }
                    }
                    (GET, KEY_NOT_FOUND) => Response::NotFound,
                    (SET, 0) => Response::Stored,
                    _ => Response::Error,
                })
            }
        }
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    Some((&bytes[..end], &bytes[end + 2..]))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<usize> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A message of the binary protocol.
struct BinaryMessage<'a> {
    operation: u8,
    status: u16,
    key: &'a [u8],
    value: &'a [u8],
}

fn binary(
    magic: u8,
    operation: u8,
    status: u16,
    extras: &[u8],
    key: &[u8],
    value: &[u8],
) -> Vec<u8> {
    let mut bytes = vec![magic, operation];
    bytes.extend_from_slice(&(key.len() as u16).to_be_bytes());
    bytes.extend_from_slice(&[extras.len() as u8, 0]);
    bytes.extend_from_slice(&status.to_be_bytes());
    let body = (extras.len() + key.len() + value.len()) as u32;
    bytes.extend_from_slice(&body.to_be_bytes());
    // Opaque and CAS.
    bytes.extend_from_slice(&[0; 12]);
    for part in [extras, key, value] {
        bytes.extend_from_slice(part);
    }
    bytes
}

fn read_binary(magic: u8, bytes: &[u8]) -> Option<BinaryMessage<'_>> {
    let (header, body) = bytes.split_first_chunk::<BINARY_HEADER_BYTES>()?;
    if header[0] != magic {
        return None;
    }
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let body_bytes = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    let body = body.get(..body_bytes as usize)?;
    let (key_bytes, extras_bytes) = (usize::from(word(2)), usize::from(header[4]));
    let rest = body.get(extras_bytes..)?;
    let (key, value) = rest.split_at_checked(key_bytes)?;
    Some(BinaryMessage { operation: header[1], status: word(6), key, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let (key, value) = (key(7), value(&key(7), 300));
        let requests = [
            Request::Get { key: key.clone() },
            Request::Set { key: key.clone(), value: value.clone() },
        ];
        for protocol in [Protocol::Text, Protocol::Binary] {
            for request in &requests {
                let bytes = protocol.write_request(request);
                assert_eq!(protocol.read_request(&bytes).as_ref(), Some(request));
            }
            for response in [Response::NotFound, Response::Stored, Response::Error] {
                let bytes = protocol.write_response(&response);
                assert_eq!(protocol.read_response(&bytes), Some(response));
            }
            let response = Response::Value { key: key.clone(), value: value.clone() };
            let bytes = protocol.write_response(&response);
            let Some(Response::Value { value: read, .. }) = protocol.read_response(&bytes) else {
                panic!("{bytes:?}");
            };
            assert_eq!(read, value);
        }
    }

    /// Bytes of the text protocol's documentation and of the binary protocol's example of a get of "Hello".
    #[test]
    fn bytes_are_the_documented_ones() {
        let get = Request::Get { key: b"Hello".to_vec() };
        assert_eq!(Protocol::Text.write_request(&get), b"get Hello\r\n");
        let mut bytes = vec![0x80, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5];
        bytes.extend_from_slice(&[0; 12]);
        bytes.extend_from_slice(b"Hello");
        assert_eq!(Protocol::Binary.write_request(&get), bytes);
        let world = Response::Value { key: b"Hello".to_vec(), value: b"World".to_vec() };
        assert_eq!(Protocol::Text.write_response(&world), b"VALUE Hello 0 5\r\nWorld\r\nEND\r\n");
    }

    #[test]
    fn broken_requests_are_refused() {
        for bytes in
            [&b"get"[..], b"get \r\n", b"set a 0 0 9\r\nshort\r\n", b"set a 0 0 x\r\n", b""]
        {
            assert_eq!(Protocol::Text.read_request(bytes), None);
            assert_eq!(Protocol::Binary.read_request(bytes), None);
        }
    }

    #[test]
    fn long_messages_take_several_datagrams() {
        let message = vec![7; 2500];
        let parts = datagrams(9, &message, 1008);
        let read: Vec<_> = parts.iter().filter_map(|part| read_datagram(part)).collect();
        assert_eq!(
            read.iter().map(|part| (part.0, part.1, part.2)).collect::<Vec<_>>(),
            [(9, 0, 3), (9, 1, 3), (9, 2, 3)]
        );
        assert_eq!(read.iter().flat_map(|part| part.3.to_vec()).collect::<Vec<u8>>(), message);
    }
}
