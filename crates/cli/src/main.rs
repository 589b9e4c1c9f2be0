// SPDX-License-Identifier: Apache-2.0
//! `plane`: arguments, progress, printing and exit codes; nothing else lives here.

fn main() {}
