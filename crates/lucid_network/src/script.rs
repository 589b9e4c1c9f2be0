// SPDX-License-Identifier: Apache-2.0
//! What the control plane of a real Tofino sets up, as a Python script for its interactive shell
//! (`bfshell -b SCRIPT`): the same multicast groups, routes and values as the commands for our device
//! ([`super::deploy`]), and the release of the delay queue by the packet generator. None of it
//! was tested on hardware, and the script says so.

use super::deploy::{self, RECIRCULATION_RATE_BPS, SwitchSetup};
use super::installed;
use device::{GeneratorApplication, GeneratorTimer};
use lucid::core::Program;
use lucid_compiler::generator;
use lucid_compiler::{Compiled, Delay};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How a [`script`] begins.
pub const SCRIPT_BEGINS: &str = "# Sets up switch ";

/// The script for a switch. `name` is the program's name as it was loaded.
pub fn script(compiled: &Compiled, program: &Program, switch: &SwitchSetup, name: &str) -> String {
    let commands = deploy::set_up(compiled, program, switch);
    let name = lucid_compiler::names::identifier(name);
    let mut text = format!(
        "{SCRIPT_BEGINS}{number} for the program `{name}`. Run it in the shell of the switch:\n\
         #   bfshell -b THIS_FILE\n\
         # NOT TESTED ON HARDWARE: written from public documentation of the bfrt tables. Compare the names\n\
         # of tables and fields with those of your version (`bfrt.info()`).\n\n\
         p4 = bfrt.{name}.pipe\n\
         RECIRCULATION_PORT = {port}\n\n",
        number = switch.number,
        port = switch.recirculation_port,
    );
    Translator::default().commands(&commands, &mut text);
    text.push_str(&installed::script(compiled, program, &switch.tables));
    ports(compiled, &mut text);
    if compiled.options.delay == Delay::Queue {
        delay_queue(compiled, &mut text);
    }
    text.push_str("\nbfrt.complete_operations()\n");
    text
}

/// Multicast nodes are named when they are made and belong to groups later.
#[derive(Default)]
struct Translator {
    nodes: u32,
    has_sessions: bool,
    groups: BTreeMap<String, Vec<u32>>,
}

impl Translator {
    fn commands(&mut self, commands: &str, text: &mut String) {
        let mut ends = String::new();
        for line in commands.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["#", ..] => {
                    let _ = writeln!(text, "{line}");
                }
                ["pvs_add", set, value] => {
                    let _ = writeln!(text, "p4.IngressParser.{set}.add(f1={value})");
                }
                ["table_set_default", table, action, values @ ..] => {
                    let control = if *table == "egress_values" { "Egress" } else { "Ingress" };
                    let _ = writeln!(
                        text,
                        "p4.{control}.{table}.set_default_with_{action}({})",
                        values.join(", ")
                    );
                }
                ["table_add", "forward", action, place, "=>", port] => {
                    let _ = writeln!(
                        text,
                        "p4.Ingress.forward.add_with_{action}(place={place}, port={port})"
                    );
                }
                ["table_add", table, action, key, "=>", value] => {
                    let _ = writeln!(
                        text,
                        "p4.Egress.{table}.add_with_{action}(egress_rid={key}, switch_number={value})"
                    );
                }
                ["register_write", register, index, value] => {
                    let _ = writeln!(text, "p4.{register}.mod(REGISTER_INDEX={index}, f1={value})");
                }
                ["mirroring_add", session, port, bytes, queue] => {
                    if !std::mem::replace(&mut self.has_sessions, true) {
                        text.push_str(
                            "# 1 if max_pkt_len of your version counts the mirror header, else 0\n\
                             MIRROR_HEADER_BYTES = 0\n",
                        );
                    }
                    let _ = writeln!(
                        text,
                        "bfrt.mirror.cfg.add_with_normal(sid={session}, session_enable=True, \
                         direction='EGRESS', ucast_egress_port={port}, ucast_egress_port_valid=True, \
                         egress_port_queue={queue}, max_pkt_len={bytes} + MIRROR_HEADER_BYTES)"
                    );
                }
                ["mc_mgrp_create", group] => {
                    self.groups.insert((*group).to_string(), Vec::new());
                }
                ["mc_node_create", replica, ports @ ..] => {
                    self.nodes += 1;
                    let _ = writeln!(
                        text,
                        "bfrt.pre.node.add(MULTICAST_NODE_ID={}, MULTICAST_RID={replica}, \
                         MULTICAST_LAG_ID=[], DEV_PORT=[{}])",
                        self.nodes,
                        ports.join(", ")
                    );
                }
                ["mc_node_associate", group, _] => {
                    if let Some(nodes) = self.groups.get_mut(*group) {
                        nodes.push(self.nodes);
                    }
                }
                _ => {}
            }
        }
        for (group, nodes) in &self.groups {
            let list: Vec<String> = nodes.iter().map(u32::to_string).collect();
            let zeros = vec!["0"; nodes.len()].join(", ");
            let _ = writeln!(
                ends,
                "bfrt.pre.mgid.add(MGID={group}, MULTICAST_NODE_ID=[{}], \
                 MULTICAST_NODE_L1_XID_VALID=[{zeros}], MULTICAST_NODE_L1_XID=[{zeros}])",
                list.join(", ")
            );
        }
        text.push_str(&ends);
    }
}

fn ports(compiled: &Compiled, text: &mut String) {
    let _ = writeln!(
        text,
        "\n# the recirculation port; front panel ports are the operator's\n\
         if RECIRCULATION_PORT % 128 < 64:\n    \
         bfrt.port.port.add(DEV_PORT=RECIRCULATION_PORT, SPEED='BF_SPEED_100G', FEC='BF_FEC_TYP_NONE', \
         LOOPBACK_MODE='BF_LPBK_MAC_NEAR', PORT_ENABLE=True)"
    );
    if compiled.options.delay == Delay::Queue {
        let class = compiled.options.delay_queue & 7;
        let _ = writeln!(
            text,
            "# its MAC obeys priority flow control for the delay queue's class\n\
             bfrt.port.port.mod(DEV_PORT=RECIRCULATION_PORT, RX_PFC_EN_MAP={:#04x})",
            1 << class
        );
    }
}

/// PFC frames that release the queue and pause it again: what the device's applications make.
fn delay_queue(compiled: &Compiled, text: &mut String) {
    let rate_bps = Some(RECIRCULATION_RATE_BPS);
    let port = generator::port(&compiled.options);
    let _ = write!(
        text,
        "\n# the packet generator makes PFC frames that time the delay queue (Lucid section 3.2); the program\n\
         # sends them to the recirculation port. The generator's own header stands in place of the first\n\
         # six bytes; the program puts the address back.\n\
         bfrt.tf1.pktgen.port_cfg.mod(dev_port={port}, pktgen_enable=True)\n",
    );
    let period_ps = compiled.delay_period_ps;
    let applications = match period_ps {
        0 => Vec::new(),
        _ => generator::applications(&compiled.options, period_ps, rate_bps).to_vec(),
    };
    for application in &applications {
        let bytes: Vec<String> =
            application.bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
        let GeneratorApplication { id, batches, packets, .. } = application;
        let timer = match application.timer {
            GeneratorTimer::Periodic => "periodic",
            GeneratorTimer::Once => "one_shot",
        };
        let offset = 64 * u32::from(*id);
        let _ = writeln!(
            text,
            "frame = bytearray([{}])\n\
             bfrt.tf1.pktgen.pkt_buffer.add(pkt_buffer_offset={offset}, pkt_buffer_size=len(frame), \
             buffer=frame)\n\
             bfrt.tf1.pktgen.app_cfg.add_with_trigger_timer_{timer}(app_id={id}, \
             timer_nanosec={}, app_enable=True, pkt_len=len(frame), pkt_buffer_offset={offset}, \
             pipe_local_source_port={}, increment_source_port=False, \
             batch_count_cfg={}, packets_per_batch_cfg={}, ibg={}, ibg_jitter=0, ipg={}, ipg_jitter=0)",
            bytes.join(", "),
            application.period_ps / 1000,
            port % 128,
            batches - 1,
            packets - 1,
            application.batch_gap_ps / 1000,
            application.packet_gap_ps / 1000,
        );
    }
}
