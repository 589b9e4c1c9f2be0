// SPDX-License-Identifier: Apache-2.0
//! Other P4 engines that run on a processor, where they are on `PATH`. BMv2 is measured with the
//! router of the benchmark, from capture files; the others are only looked for.

use super::packets::{Packet, Sizes};
use super::processes::{Scratch, on_path};
use super::workload::Workload;
use super::{router, workload};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Peers that are not driven, and what is known of their speed.
const NAMED: [(&str, &str); 3] = [
    ("p4c-xdp", "published: 2.5 to 8.1 million packets/s"),
    ("x4c", "measured elsewhere: 88,000 packets/s without a table, 4,700 with 1,000 routes"),
    ("t4p4s.sh", "no figure for one core and packets in memory"),
];
const BMV2_PUBLISHED: &str = "published: 35,000 to 80,000 packets/s, IPv4 router, 64 bytes";
const BMV2_ROUTES: usize = 1000;

/// Says which peers were looked for, and how fast BMv2 is if it is there.
pub fn report(scratch: &Scratch) {
    let tools = ["simple_switch", "simple_switch_CLI", "p4c-bm2-ss"].map(|name| on_path(&[name]));
    match tools {
        [Some(switch), Some(command_line), Some(compiler)] => {
            let tools = Bmv2 { switch, command_line, compiler };
            match tools.measure(scratch) {
                Ok(speed) => println!(
                    "BMv2: {speed:.0} packets/s, router-{BMV2_ROUTES}, 64 bytes, from files; {BMV2_PUBLISHED}"
                ),
                Err(error) => println!("BMv2: {error}; {BMV2_PUBLISHED}"),
            }
        }
        [None, _, _] => println!("BMv2 (simple_switch): not found on PATH; {BMV2_PUBLISHED}"),
        _ => println!("BMv2: simple_switch_CLI or p4c-bm2-ss not found on PATH; {BMV2_PUBLISHED}"),
    }
    for (name, figures) in NAMED {
        match on_path(&[name]) {
            Some(path) => println!("{name}: at {}, not driven here; {figures}", path.display()),
            None => println!("{name}: not found on PATH; {figures}"),
        }
    }
}

struct Bmv2 {
    switch: PathBuf,
    command_line: PathBuf,
    compiler: PathBuf,
}

/// A process that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The port on which BMv2 takes commands.
const THRIFT_PORT: &str = "9797";
/// How long BMv2 waits before it reads its files, in seconds: entries are written meanwhile.
const WAIT_SECONDS: u64 = 20;

impl Bmv2 {
    /// Packets per second: the difference of two runs' times, so that start-up does not count.
    fn measure(&self, scratch: &Scratch) -> Result<f64, String> {
        let workload = router::workload(BMV2_ROUTES);
        let source = scratch.0.join("router.p4");
        let json = scratch.0.join("router.json");
        write(&source, workload.program.as_bytes())?;
        let compiled = Command::new(&self.compiler).arg("-o").arg(&json).arg(&source).status();
        if !compiled.is_ok_and(|status| status.success()) {
            return Err("p4c-bm2-ss does not compile the router".to_string());
        }
        let few = self.seconds(scratch, &workload, &json, 1)?;
        let many = self.seconds(scratch, &workload, &json, 5)?;
        let packets = 4 * workload::RING_PACKETS;
        Ok(packets as f64 / (many - few).max(1e-9))
    }

    /// From the moment that packets are read to the last byte written.
    fn seconds(
        &self,
        scratch: &Scratch,
        workload: &Workload,
        json: &Path,
        times: usize,
    ) -> Result<f64, String> {
        let folder = scratch.0.join(format!("bmv2-{times}"));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let packets = (workload.ring)(Sizes::Bytes64);
        write(&folder.join("in0_in.pcap"), &capture(&packets, times))?;
        let mut switch = Command::new(&self.switch);
        switch.args(["--use-files", &WAIT_SECONDS.to_string(), "--thrift-port", THRIFT_PORT]);
        for port in 0..64 {
            switch.arg("-i").arg(format!("{port}@in{port}"));
            if port > 0 {
                write(&folder.join(format!("in{port}_in.pcap")), &capture(&[], 0))?;
            }
        }
        let start = Instant::now();
        let child = switch
            .arg(json)
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot run simple_switch: {error}"))?;
        let _running = Running(child);
        std::thread::sleep(Duration::from_secs(2));
        self.write_entries(workload)?;
        let wait = Duration::from_secs(WAIT_SECONDS);
        if start.elapsed() > wait {
            return Err("writing entries took too long".to_string());
        }
        // The switch does not say when it is done: its files stop growing.
        let (mut length, mut last_change) = (0, Duration::ZERO);
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let now = start.elapsed();
            let outputs = (0..64).map(|port| folder.join(format!("in{port}_out.pcap")));
            let sum: u64 =
                outputs.filter_map(|path| Some(std::fs::metadata(path).ok()?.len())).sum();
            if sum != length {
                (length, last_change) = (sum, now);
            } else if now > wait + Duration::from_secs(3) && now > last_change * 11 / 10 {
                break;
            }
        }
        if last_change <= wait {
            return Err("simple_switch sent nothing".to_string());
        }
        Ok((last_change - wait).as_secs_f64())
    }

    fn write_entries(&self, workload: &Workload) -> Result<(), String> {
        let text = format!("{}{}", workload.commands.1, router::route_commands(BMV2_ROUTES));
        let mut child = Command::new(&self.command_line)
            .args(["--thrift-port", THRIFT_PORT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot run simple_switch_CLI: {error}"))?;
        let input = child.stdin.take();
        let written = input.is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok());
        match child.wait() {
            Ok(status) if status.success() && written => Ok(()),
            _ => Err("simple_switch_CLI does not take the entries".to_string()),
        }
    }
}

/// The packets so many times, as a capture file of one port.
fn capture(packets: &[Packet], times: usize) -> Vec<u8> {
    // Microseconds, version 2.4, no time zone, no limit, Ethernet.
    let mut file = workload::words([0xa1b2_c3d4, 0x0004_0002, 0, 0, 0xffff, 1]);
    for packet in (0..times).flat_map(|_| packets) {
        let length = packet.bytes.len() as u32;
        file.extend(workload::words([0, 0, length, length]));
        file.extend(&packet.bytes);
    }
    file
}

fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    std::fs::write(path, content)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}
