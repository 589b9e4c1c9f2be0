// SPDX-License-Identifier: Apache-2.0
//! SVG charts of time per lookup over the number of entries: one panel per table, both axes logarithmic.

use crate::Curve;
use std::fmt::Write;

const PANEL: (f64, f64) = (420.0, 270.0);
const MARGIN: f64 = 48.0;
const COLOURS: [&str; 4] = ["#c0392b", "#2c6fbb", "#2e8b57", "#8e5ea2"];

/// Where a number from 1 to 10 to the `decades` lies on an axis of this length.
fn place(number: f64, decades: f64, length: f64) -> f64 {
    number.max(1.0).log10() / decades * length
}

fn panel(svg: &mut String, curves: &[&Curve], left: f64, top: f64) -> std::fmt::Result {
    let (width, height) = (PANEL.0 - 2.0 * MARGIN, PANEL.1 - 2.0 * MARGIN);
    let (x0, y0) = (left + MARGIN, top + PANEL.1 - MARGIN);
    writeln!(
        svg,
        r#"<text x="{x0}" y="{}" font-weight="bold">{}</text>"#,
        top + MARGIN - 14.0,
        curves[0].table
    )?;
    for decade in 0..=6 {
        let x = x0 + place(10f64.powi(decade), 6.0, width);
        writeln!(
            svg,
            r##"<line x1="{x}" y1="{y0}" x2="{x}" y2="{}" stroke="#ddd"/>"##,
            y0 - height
        )?;
        writeln!(svg, r#"<text x="{x}" y="{}" text-anchor="middle">1e{decade}</text>"#, y0 + 14.0)?;
    }
    for decade in 0..=4 {
        let y = y0 - place(10f64.powi(decade), 4.0, height);
        writeln!(
            svg,
            r##"<line x1="{x0}" y1="{y}" x2="{}" y2="{y}" stroke="#ddd"/>"##,
            x0 + width
        )?;
        let label = 10f64.powi(decade);
        writeln!(
            svg,
            r#"<text x="{}" y="{}" text-anchor="end">{label} ns</text>"#,
            x0 - 4.0,
            y + 4.0
        )?;
    }
    for (at, curve) in curves.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let points: Vec<String> = curve
            .points
            .iter()
            .map(|(entries, time)| {
                let x = x0 + place(*entries, 6.0, width);
                format!("{x:.1},{:.1}", y0 - place(*time, 4.0, height))
            })
            .collect();
        writeln!(
            svg,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
            points.join(" ")
        )?;
        let y = y0 - height + 12.0 + 13.0 * at as f64;
        writeln!(
            svg,
            r#"<text x="{}" y="{y}" fill="{colour}">{}</text>"#,
            x0 + 6.0,
            curve.contender
        )?;
    }
    Ok(())
}

/// The picture.
pub fn draw(curves: &[Curve]) -> String {
    let mut tables: Vec<&str> = curves.iter().map(|curve| curve.table).collect();
    tables.dedup();
    let rows = tables.len().div_ceil(2);
    let (width, height) = (PANEL.0 * 2.0, PANEL.1 * rows as f64);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">
<rect width="{width}" height="{height}" fill="white"/>
"#
    );
    for (at, table) in tables.iter().enumerate() {
        let of_table: Vec<&Curve> = curves.iter().filter(|curve| curve.table == *table).collect();
        let (left, top) = ((at % 2) as f64 * PANEL.0, (at / 2) as f64 * PANEL.1);
        // Writing to a string does not fail.
        let _ = panel(&mut svg, &of_table, left, top);
    }
    svg.push_str("</svg>\n");
    svg
}
