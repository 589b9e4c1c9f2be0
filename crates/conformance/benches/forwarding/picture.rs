// SPDX-License-Identifier: Apache-2.0
//! A picture of the results: for each workload a bar for each side, on a logarithmic scale of packets
//! per second, as SVG that follows the reader's light or dark background.

use super::engine::EngineName;
use super::measurement::Results;
use super::packets::Sizes;
use super::processes::Side;
use super::report::grouped;

const BAR_HEIGHT: f64 = 11.0;
const GROUP_GAP: f64 = 14.0;
const LEFT: f64 = 170.0;
const WIDTH: f64 = 560.0;
const RIGHT: f64 = 110.0;
const TOP: f64 = 58.0;
/// The scale goes from here, in powers of ten of packets per second.
const FIRST_DECADE: i32 = 2;

fn colour(side: Side) -> &'static str {
    match side {
        Side::ByHand => "#3b6fb6",
        Side::Ours(EngineName::Interpreter) => "#9a9a9a",
        Side::Ours(_) => "#d9822b",
    }
}

/// Bars for the 64-byte packets of all workloads.
pub fn svg(results: &[Results]) -> String {
    let rows: Vec<_> = results
        .iter()
        .flat_map(|result| &result.rows)
        .filter(|row| row.sizes == Sizes::Bytes64)
        .collect();
    let fastest = rows
        .iter()
        .flat_map(|row| &row.sides)
        .map(|measured| measured.packets_per_second)
        .fold(1.0, f64::max);
    let last_decade = (fastest.log10().ceil() as i32).max(FIRST_DECADE + 1);
    let place = |value: f64| {
        let share =
            (value.log10() - f64::from(FIRST_DECADE)) / f64::from(last_decade - FIRST_DECADE);
        LEFT + WIDTH * share.clamp(0.0, 1.0)
    };
    let bars: usize = rows.iter().map(|row| row.sides.len()).sum();
    let height = TOP + bars as f64 * BAR_HEIGHT + rows.len() as f64 * GROUP_GAP + 24.0;
    let total_width = LEFT + WIDTH + RIGHT;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total_width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <style>text {{ fill: #222 }} .line {{ stroke: #ccc }}\n\
         @media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .line {{ stroke: #444 }} }}</style>\n\
         <text x=\"{LEFT}\" y=\"16\" font-size=\"13\">Packets per second, one core, 64-byte packets (logarithmic)</text>\n"
    );
    let mut legend_x = LEFT;
    let mut named = Vec::new();
    for side in rows.iter().flat_map(|row| &row.sides).map(|measured| measured.side) {
        if named.contains(&side) {
            continue;
        }
        named.push(side);
        text.push_str(&format!(
            "<rect x=\"{legend_x}\" y=\"24\" width=\"10\" height=\"10\" fill=\"{}\"/>\
             <text x=\"{}\" y=\"33\">{}</text>\n",
            colour(side),
            legend_x + 14.0,
            side.name()
        ));
        legend_x += 100.0;
    }
    for decade in FIRST_DECADE..=last_decade {
        let x = place(10f64.powi(decade));
        text.push_str(&format!(
            "<line class=\"line\" x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{}\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            height - 20.0,
            TOP - 6.0,
            decade_name(decade)
        ));
    }
    let mut y = TOP + GROUP_GAP / 2.0;
    for row in rows {
        let middle = y + row.sides.len() as f64 * BAR_HEIGHT / 2.0 + 4.0;
        text.push_str(&format!(
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>\n",
            LEFT - 8.0,
            row.workload
        ));
        for measured in &row.sides {
            let end = place(measured.packets_per_second);
            let ratio = measured.by_c.map_or(String::new(), |ratio| format!(" ({ratio:.2} of C)"));
            text.push_str(&format!(
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"9\">{}{ratio}</text>\n",
                end - LEFT,
                BAR_HEIGHT - 1.0,
                colour(measured.side),
                end + 4.0,
                y + BAR_HEIGHT - 2.5,
                grouped(measured.packets_per_second)
            ));
            y += BAR_HEIGHT;
        }
        y += GROUP_GAP;
    }
    text.push_str("</svg>\n");
    text
}

fn decade_name(decade: i32) -> String {
    match decade {
        0..3 => format!("{}", 10u32.pow(decade as u32)),
        3..6 => format!("{} k", 10u32.pow(decade as u32 - 3)),
        6..9 => format!("{} M", 10u32.pow(decade as u32 - 6)),
        _ => format!("10^{decade}"),
    }
}
