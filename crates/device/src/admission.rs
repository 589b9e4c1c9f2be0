// SPDX-License-Identifier: Apache-2.0
//! Admission: the rule by which a device chooses a program for each packet that arrives, from its port, bytes and
//! length. `event_loop` and `forwarding` apply the rule, once a packet.

use crate::packet::ProgramId;
use std::ops::RangeInclusive;

/// The decision of a rule about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// This program processes the packet.
    Program(ProgramId),
    /// The device drops the packet ([`crate::DropReason::NotAdmitted`]).
    Drop,
}

/// A ternary match on bytes of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedBytes {
    /// Offset of the first byte in the frame.
    pub offset_bytes: usize,
    /// The bits to compare. A frame that ends before the last byte of the mask does not match.
    pub mask: Vec<u8>,
    /// The value to compare with; missing bytes are 0.
    pub value: Vec<u8>,
}

impl MaskedBytes {
    /// Makes an exact match of whole bytes.
    pub fn exact(offset_bytes: usize, value: impl Into<Vec<u8>>) -> MaskedBytes {
        let value = value.into();
        MaskedBytes { offset_bytes, mask: vec![0xff; value.len()], value }
    }

    fn matches(&self, frame: &[u8]) -> bool {
        let frame = frame.get(self.offset_bytes..).unwrap_or_default();
        let values = self.value.iter().copied().chain(std::iter::repeat(0));
        frame.len() >= self.mask.len()
            && self
                .mask
                .iter()
                .zip(frame)
                .zip(values)
                .all(|((mask, byte), value)| byte & mask == value & mask)
    }
}

/// One rule of an [`Admission`]; a packet has to meet all its conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionRule {
    /// Ranges of ports; an empty list matches all ports.
    pub ports: Vec<RangeInclusive<u32>>,
    /// Matches on bytes of the frame.
    pub bytes: Vec<MaskedBytes>,
    /// The frame's length in bytes.
    pub length_bytes: RangeInclusive<usize>,
    /// The decision about packets that match.
    pub to: Admitted,
}

impl AdmissionRule {
    /// Makes a rule that matches all packets.
    pub fn all(to: Admitted) -> AdmissionRule {
        AdmissionRule { ports: Vec::new(), bytes: Vec::new(), length_bytes: 0..=usize::MAX, to }
    }

    fn matches(&self, port: u32, frame: &[u8]) -> bool {
        (self.ports.is_empty() || self.ports.iter().any(|ports| ports.contains(&port)))
            && self.length_bytes.contains(&frame.len())
            && self.bytes.iter().all(|bytes| bytes.matches(frame))
    }
}

/// Which program processes a packet: the decision of the first rule that matches, or else the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Rules in order of precedence.
    pub rules: Vec<AdmissionRule>,
    /// The decision about packets that match no rule.
    pub otherwise: Admitted,
}

impl Admission {
    /// Admits all packets to one program.
    pub fn all(program: ProgramId) -> Admission {
        Admission { rules: Vec::new(), otherwise: Admitted::Program(program) }
    }

    /// Admits packets to programs by port ranges and drops packets of other ports.
    pub fn by_port(
        programs: impl IntoIterator<Item = (RangeInclusive<u32>, ProgramId)>,
    ) -> Admission {
        let rule = |(ports, program)| AdmissionRule {
            ports: vec![ports],
            ..AdmissionRule::all(Admitted::Program(program))
        };
        Admission { rules: programs.into_iter().map(rule).collect(), otherwise: Admitted::Drop }
    }

    /// Decides about a frame that arrives at a port.
    pub fn of(&self, port: u32, frame: &[u8]) -> Admitted {
        let rule = self.rules.iter().find(|rule| rule.matches(port, frame));
        rule.map_or(self.otherwise, |rule| rule.to)
    }

    /// Returns the programs that the rules name, possibly with repetitions.
    pub fn programs(&self) -> impl Iterator<Item = ProgramId> {
        let all = self.rules.iter().map(|rule| rule.to).chain([self.otherwise]);
        all.filter_map(|to| match to {
            Admitted::Program(program) => Some(program),
            Admitted::Drop => None,
        })
    }

    /// Returns a copy with each program replaced.
    pub(crate) fn map(&self, program: impl Fn(ProgramId) -> ProgramId) -> Admission {
        let to = |to| match to {
            Admitted::Program(id) => Admitted::Program(program(id)),
            Admitted::Drop => Admitted::Drop,
        };
        let rules = self.rules.iter().map(|rule| AdmissionRule { to: to(rule.to), ..rule.clone() });
        Admission { rules: rules.collect(), otherwise: to(self.otherwise) }
    }

    /// Returns the program of all packets, if there are no rules and the default is a program.
    pub(crate) fn only_program(&self) -> Option<ProgramId> {
        match self.otherwise {
            Admitted::Program(program) if self.rules.is_empty() => Some(program),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Admitted = Admitted::Program(ProgramId(1));
    const B: Admitted = Admitted::Program(ProgramId(2));

    #[test]
    fn the_first_rule_that_matches_decides() {
        let admission = Admission {
            rules: vec![
                AdmissionRule { ports: vec![1..=2, 7..=7], ..AdmissionRule::all(A) },
                AdmissionRule {
                    bytes: vec![
                        MaskedBytes::exact(1, [8, 0]),
                        MaskedBytes { offset_bytes: 0, mask: vec![0xf0], value: vec![0x4f] },
                    ],
                    length_bytes: 3..=4,
                    ..AdmissionRule::all(B)
                },
                AdmissionRule {
                    bytes: vec![MaskedBytes { offset_bytes: 2, mask: vec![1, 0], value: vec![] }],
                    ..AdmissionRule::all(A)
                },
            ],
            otherwise: Admitted::Drop,
        };
        for (port, frame, expected) in [
            (1, &[][..], A),
            (7, &[0x40, 8, 0], A),
            (3, &[0x4c, 8, 0], B),
            (3, &[0x40, 8, 0, 9], B),
            (3, &[0x40, 8, 0, 9, 9], A),
            (3, &[0x50, 8, 0, 9], A),
            (3, &[0x50, 8, 1, 9], Admitted::Drop),
            (3, &[0x40, 8], Admitted::Drop),
            (3, &[0x50, 8, 0], Admitted::Drop),
        ] {
            assert_eq!(admission.of(port, frame), expected, "{port} {frame:?}");
        }
        assert_eq!(admission.only_program(), None);
        assert_eq!(Admission::all(ProgramId(3)).only_program(), Some(ProgramId(3)));
    }
}
