// SPDX-License-Identifier: Apache-2.0
//! Integration tests of `cli`, one program.

mod atoms;
mod bench_mp5;
mod bmv2;
mod conduct;
mod documents;
mod domino;
mod domino_bmv2;
mod domino_captures;
mod emit_hardware;
mod engines;
mod examples;
mod gencap;
mod lucid;
mod lucid_emit;
mod lucid_examples;
mod lucid_lines;
mod lucid_live;
mod lucid_tests;
mod messages;
mod net;
mod net_controllers;
mod net_examples;
mod net_ipv6;
mod net_live;
mod net_live_reactions;
mod net_sweeps;
mod net_theory;
mod net_timeline;
mod p4info;
mod port_captures;
mod reactions;
mod recorded_commands;
mod run_captures;
mod scale;
mod scale_captures;
