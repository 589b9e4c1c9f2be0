// SPDX-License-Identifier: Apache-2.0
//! Admission: which of a device's programs a packet meets that arrives, by its port, its bytes and its length.
//! The device asks once, at arrival; what it does with the answer is in `event_loop` and `forwarding`.

use crate::packet::ProgramId;
use std::ops::RangeInclusive;

/// What a rule says about a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// It meets this program.
    Program(ProgramId),
    /// It is dropped ([`crate::DropReason::NotAdmitted`]).
    Drop,
}

/// Bytes of a frame that have to have certain bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedBytes {
    /// Where the first byte stands in the frame, from 0.
    pub offset_bytes: usize,
    /// The bits that are looked at; a frame that ends before the last of these bytes does not match.
    pub mask: Vec<u8>,
    /// What they have to be; bytes that are missing are 0.
    pub value: Vec<u8>,
}

impl MaskedBytes {
    /// Whole bytes.
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

/// One line of an [`Admission`]: all its conditions have to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionRule {
    /// Ranges of ports; none are all ports.
    pub ports: Vec<RangeInclusive<u32>>,
    /// Bytes of the frame.
    pub bytes: Vec<MaskedBytes>,
    /// The frame's length in bytes.
    pub length_bytes: RangeInclusive<usize>,
    /// What it says.
    pub to: Admitted,
}

impl AdmissionRule {
    /// A rule for all packets.
    pub fn all(to: Admitted) -> AdmissionRule {
        AdmissionRule { ports: Vec::new(), bytes: Vec::new(), length_bytes: 0..=usize::MAX, to }
    }

    fn matches(&self, port: u32, frame: &[u8]) -> bool {
        (self.ports.is_empty() || self.ports.iter().any(|ports| ports.contains(&port)))
            && self.length_bytes.contains(&frame.len())
            && self.bytes.iter().all(|bytes| bytes.matches(frame))
    }
}

/// Which program a packet meets: what the first rule says that matches, or else the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// In order.
    pub rules: Vec<AdmissionRule>,
    /// For packets that no rule matches.
    pub otherwise: Admitted,
}

impl Admission {
    /// All packets meet one program.
    pub fn all(program: ProgramId) -> Admission {
        Admission { rules: Vec::new(), otherwise: Admitted::Program(program) }
    }

    /// Packets of these ports meet these programs, others are dropped.
    pub fn by_port(
        programs: impl IntoIterator<Item = (RangeInclusive<u32>, ProgramId)>,
    ) -> Admission {
        let rule = |(ports, program)| AdmissionRule {
            ports: vec![ports],
            ..AdmissionRule::all(Admitted::Program(program))
        };
        Admission { rules: programs.into_iter().map(rule).collect(), otherwise: Admitted::Drop }
    }

    /// What it says of a frame that arrives at a port.
    pub fn of(&self, port: u32, frame: &[u8]) -> Admitted {
        let rule = self.rules.iter().find(|rule| rule.matches(port, frame));
        rule.map_or(self.otherwise, |rule| rule.to)
    }

    /// The programs that it names, some perhaps more than once.
    pub fn programs(&self) -> impl Iterator<Item = ProgramId> {
        let all = self.rules.iter().map(|rule| rule.to).chain([self.otherwise]);
        all.filter_map(|to| match to {
            Admitted::Program(program) => Some(program),
            Admitted::Drop => None,
        })
    }

    /// The same rule about other programs.
    pub(crate) fn map(&self, program: impl Fn(ProgramId) -> ProgramId) -> Admission {
        let to = |to| match to {
            Admitted::Program(id) => Admitted::Program(program(id)),
            Admitted::Drop => Admitted::Drop,
        };
        let rules = self.rules.iter().map(|rule| AdmissionRule { to: to(rule.to), ..rule.clone() });
        Admission { rules: rules.collect(), otherwise: to(self.otherwise) }
    }

    /// The program that all packets meet, if it is one.
    pub(crate) fn only(&self) -> Option<ProgramId> {
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
        assert_eq!(admission.only(), None);
        assert_eq!(Admission::all(ProgramId(3)).only(), Some(ProgramId(3)));
    }
}
