// SPDX-License-Identifier: Apache-2.0
//! Tests of Domino: the meaning of programs, comparisons with g++, and the compiled program on a device.

mod diagnostics;
mod examples;
mod generate;
mod generated;
mod guards;
mod meaning;
mod on_device;
mod oracle;
mod packets;
mod passes;
mod program;
mod stages;
mod thirty;
