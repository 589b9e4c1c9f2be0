// SPDX-License-Identifier: Apache-2.0
//! The picture of a network (SVG): its topology, with the use of links as their colour. `plan` chooses an arrangement,
//! `layout` places nodes and links, `svg` draws them.

mod layout;
mod plan;
mod svg;

use crate::built::Built;
use crate::results::Results;
use layout::Layout;
use plan::Plan;

/// The picture after a run.
pub fn picture(built: &Built, results: &Results, title: &str) -> String {
    let network = built.network();
    let plan = Plan::new(network);
    let layout = Layout::new(&plan);
    svg::Drawing { network, results, plan: &plan, layout: &layout }.svg(title)
}

#[cfg(test)]
mod tests;
