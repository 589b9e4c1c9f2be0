// SPDX-License-Identifier: Apache-2.0
//! Packet sockets and offloads at pairs of interfaces in a namespace of the test's own.

use super::{
    FrameBuffers, PacketSocket, Received, in_namespace, turn_offloads_off, wait, wake_on_time,
};
use std::io;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use testing::live::can_run;

/// A namespace with the pair of interfaces `one` (10.0.0.1/24) and `other`.
struct Pair {
    namespace: String,
}

fn ip(words: &str) {
    let ran = Command::new("ip").args(words.split(' ')).status().expect("ip");
    assert!(ran.success(), "ip {words}");
}

impl Pair {
    fn make(test: &str) -> Pair {
        let namespace = format!("planetest-{}-{test}", std::process::id());
        ip(&format!("netns add {namespace}"));
        let pair = Pair { namespace };
        // The kernel sends nothing by itself.
        pair.within(|| {
            let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
            Ok(())
        });
        let within = |words: &str| ip(&format!("-n {} {words}", pair.namespace));
        within("link add one type veth peer name other");
        within("addr add 10.0.0.1/24 dev one");
        within("link set one up");
        within("link set other up");
        within("neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev one");
        pair
    }

    fn within<T: Send>(&self, call: impl FnOnce() -> io::Result<T> + Send) -> T {
        in_namespace(&PathBuf::from("/run/netns").join(&self.namespace), call)
            .expect("the namespace")
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        ip(&format!("netns delete {}", self.namespace));
    }
}

/// Frames that arrive within a second, until there are as many.
fn arrivals(socket: &PacketSocket, count: usize) -> Vec<Received> {
    let (mut buffers, mut frames) = (FrameBuffers::default(), Vec::new());
    let until = Instant::now() + Duration::from_secs(1);
    while frames.len() < count && Instant::now() < until {
        wait(std::iter::once(socket), Duration::from_millis(10));
        while socket.receive(&mut buffers, |frame| frames.push(frame)).expect("frames") {}
    }
    frames
}

#[test]
fn frames_with_any_vlan_tags_pass_as_they_are() {
    if !can_run("vlan", &[]) {
        return;
    }
    let pair = Pair::make("vlan");
    let (one, other) =
        pair.within(|| Ok((PacketSocket::open("one")?, PacketSocket::open("other")?)));
    let frame = |tags: &[u8], rest: usize| {
        let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1];
        frame.extend(tags);
        frame.extend([0x12, 0x34]);
        frame.extend((0..rest).map(|at| at as u8));
        frame
    };
    let mut sent = vec![
        frame(&[], 46),
        frame(&[0x81, 0, 0x20, 5], 46),
        frame(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 7], 46),
        frame(&[], 1_500),
    ];
    // More than one batch.
    sent.extend((0..100).map(|number| frame(&[0x81, 0, 0, number], 60)));
    assert_eq!(one.send(sent.iter().map(Vec::as_slice)), sent.len());
    let received: Vec<Vec<u8>> =
        arrivals(&other, sent.len()).into_iter().map(|frame| frame.bytes).collect();
    let is_own = |frame: &Vec<u8>| frame[5] == 9;
    let received: Vec<Vec<u8>> = received.into_iter().filter(is_own).collect();
    assert_eq!(received, sent);
    // A socket does not receive what it sends.
    assert!(arrivals(&one, 1).iter().all(|frame| !is_own(&frame.bytes)));
    assert_eq!(other.take_drops(), 0);
}

#[test]
fn hosts_leave_checksums_to_nobody_when_offloads_are_off() {
    if !can_run("offloads", &[]) {
        return;
    }
    let pair = Pair::make("offloads");
    let other = pair.within(|| PacketSocket::open("other"));
    let send = || {
        let socket = pair.within(|| UdpSocket::bind("10.0.0.1:1000"));
        socket.send_to(&[7; 100], "10.0.0.2:2000").expect("a datagram");
        let is_datagram = |frame: &Received| frame.bytes.ends_with(&[7; 100]);
        let mut frames = arrivals(&other, 1);
        frames.retain(is_datagram);
        frames.pop().expect("the datagram")
    };
    let with = send();
    assert!(with.lacks_checksum, "this kernel has no offload to turn off");
    let mut completed = with.bytes;
    crate::checksums::complete(&mut completed);
    pair.within(|| turn_offloads_off("one"));
    let without = send();
    assert!(!without.lacks_checksum);
    // The sum that the kernel makes itself is the one that is completed here, but for the number of the packet.
    let udp = 14 + 20;
    assert_eq!(completed[udp..], without.bytes[udp..]);
    assert!(pair.within(|| Ok(turn_offloads_off("none").is_err())));
    assert!(pair.within(|| Ok(turn_offloads_off("a-name-that-is-too-long").is_err())));
}

#[test]
fn a_wait_ends_in_time() {
    if !can_run("wait", &[]) {
        return;
    }
    let pair = Pair::make("wait");
    let other = pair.within(|| PacketSocket::open("other"));
    arrivals(&other, 0);
    std::thread::spawn(move || {
        wake_on_time();
        let began = Instant::now();
        let has_frames = wait(std::iter::once(&other), Duration::from_micros(500));
        assert_eq!(has_frames.len(), 1);
        assert!(began.elapsed() >= Duration::from_micros(500) || has_frames[0]);
    })
    .join()
    .expect("the thread");
}
