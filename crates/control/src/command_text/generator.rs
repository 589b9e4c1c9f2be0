// SPDX-License-Identifier: Apache-2.0
//! The commands for applications of the packet generator, which BMv2 does not have.

use super::{Words, number};
use crate::command::Command;
use crate::error::ControlError;
use crate::target::GeneratorTimer;

/// `pktgen_timer ID periodic|once NANOSECONDS [NAME=NUMBER]... [bytes=DIGITS]`
pub(super) fn timer(words: &mut Words<'_>) -> Result<Command, ControlError> {
    let application = words.number("the application")?;
    let is_periodic = match words.word("`periodic` or `once`")?.as_str() {
        "periodic" => true,
        "once" => false,
        other => return Err(words.error(format!("`periodic` or `once`, not `{other}`"))),
    };
    let mut timer = GeneratorTimer {
        application,
        is_periodic,
        period_ns: words.number("the timer in nanoseconds")?,
        offset_ns: 0,
        port: None,
        batches: 1,
        batch_gap_ns: 0,
        packets: 1,
        packet_gap_ns: 0,
        bytes: Vec::new(),
    };
    for word in words.rest() {
        let (name, text) = word.split_once('=').unwrap_or((&word, ""));
        if name == "bytes" {
            timer.bytes = bytes(text).ok_or_else(|| {
                words.error("`bytes` must have two hexadecimal digits a byte, such as bytes=0800ff")
            })?;
            continue;
        }
        let value = || {
            let text = format!("`{name}` must be a number, not `{text}`");
            number(word.split_once('=').map_or("", |word| word.1)).ok_or_else(|| words.error(text))
        };
        match name {
            "offset" => timer.offset_ns = value()?,
            "port" => timer.port = Some(value()?),
            "batches" => timer.batches = value()?,
            "batch_gap" => timer.batch_gap_ns = value()?,
            "packets" => timer.packets = value()?,
            "packet_gap" => timer.packet_gap_ns = value()?,
            _ => {
                return Err(words.error(format!("`{word}` is not understood")).help(
                    "write NAME=VALUE with offset, port, batches, batch_gap, packets, packet_gap or bytes; \
                     times are in nanoseconds",
                ));
            }
        }
    }
    Ok(Command::GeneratorTimer(timer))
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Command, &str>) {
        let (commands, errors) = super::super::read("c.txt", line);
        let found = match errors.first() {
            Some(error) => Err(error.message.clone()),
            None => Ok(commands[0].command.clone()),
        };
        assert_eq!(found, expected.map_err(str::to_string), "{line}");
    }

    #[test]
    fn timers_are_read() {
        let timer = GeneratorTimer {
            application: 3,
            is_periodic: true,
            period_ns: 1000,
            offset_ns: 0,
            port: None,
            batches: 1,
            batch_gap_ns: 0,
            packets: 1,
            packet_gap_ns: 0,
            bytes: Vec::new(),
        };
        check("pktgen_timer 3 periodic 1000", Ok(Command::GeneratorTimer(timer.clone())));
        let timer = GeneratorTimer {
            is_periodic: false,
            offset_ns: 1,
            port: Some(69),
            batches: 2,
            batch_gap_ns: 3,
            packets: 4,
            packet_gap_ns: 5,
            bytes: vec![0x0a, 0xff],
            ..timer
        };
        check(
            "pktgen_timer 3 once 1000 offset=1 port=69 batches=2 batch_gap=3 packets=4 packet_gap=5 \
             bytes=0aFF",
            Ok(Command::GeneratorTimer(timer)),
        );
        check("pktgen_stop 3", Ok(Command::GeneratorStop { application: 3 }));
        for (line, expected) in [
            ("pktgen_timer", "the application is missing"),
            ("pktgen_timer 1 twice 5", "`periodic` or `once`, not `twice`"),
            ("pktgen_timer 1 once", "the timer in nanoseconds is missing"),
            ("pktgen_timer 1 once 5 batches", "`batches` must be a number, not ``"),
            ("pktgen_timer 1 once 5 gap=3", "`gap=3` is not understood"),
            (
                "pktgen_timer 1 once 5 bytes=abc",
                "`bytes` must have two hexadecimal digits a byte, such as bytes=0800ff",
            ),
        ] {
            check(line, Err(&format!("pktgen_timer: {expected}")));
        }
    }
}
