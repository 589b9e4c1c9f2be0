// SPDX-License-Identifier: Apache-2.0
//! Reads what `ping` of iputils prints.

use network_run::results::Measured;

/// Reads it. Replies behind the time, and those of a duplicated frame, do not count.
pub(super) fn read(text: &str, timeout_ps: u64) -> Measured {
    let mut round_trips_ps = Vec::new();
    let (mut ttl, mut sent, mut last) = (None, 0, 0);
    for line in text.lines() {
        let field = |name: &str| {
            let (_, rest) = line.split_once(name)?;
            let end = rest.find(|each: char| !each.is_ascii_digit() && each != '.');
            Some(&rest[..end.unwrap_or(rest.len())])
        };
        if line.contains(" packets transmitted") {
            sent = line.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        }
        if line.contains("DUP!") {
            continue;
        }
        if let (Some(sequence), Some(time)) = (field(" icmp_seq="), field(" time="))
            && let (Ok(sequence), Ok(time_ms)) = (sequence.parse::<u64>(), time.parse::<f64>())
        {
            last = last.max(sequence);
            let time_ps = (time_ms * 1e9) as u64;
            if time_ps <= timeout_ps {
                round_trips_ps.push(time_ps);
                ttl = field(" ttl=").and_then(|ttl| ttl.parse().ok());
            }
        }
    }
    // A ping that was ended has no summary.
    Measured::Ping { sent: sent.max(last), round_trips_ps, ttl }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, sent: u64, times_us: &[u64], ttl: Option<u8>) {
        let round_trips_ps = times_us.iter().map(|time_us| time_us * 1_000_000).collect();
        assert_eq!(read(text, 1_000_000_000_000), Measured::Ping { sent, round_trips_ps, ttl });
    }

    #[test]
    fn replies_and_the_summary_are_read() {
        check(
            "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n\
             64 bytes from 10.0.0.2: icmp_seq=1 ttl=63 time=0.163 ms\n\
             From 10.0.0.9 icmp_seq=2 Time to live exceeded\n\
             64 bytes from 10.0.0.2: icmp_seq=3 ttl=62 time=12.5 ms\n\
             64 bytes from 10.0.0.2: icmp_seq=3 ttl=62 time=12.6 ms (DUP!)\n\
             64 bytes from 10.0.0.2: icmp_seq=4 ttl=62 time=1201 ms\n\n\
             --- 10.0.0.2 ping statistics ---\n\
             5 packets transmitted, 3 received, +1 duplicates, 40% packet loss, time 204ms\n",
            5,
            &[163, 12_500],
            Some(62),
        );
        check("64 bytes from 10.0.0.2: icmp_seq=2 ttl=63 time=1 ms\n", 2, &[1000], Some(63));
        check("ping: connect: Network is unreachable\n", 0, &[], None);
    }
}
