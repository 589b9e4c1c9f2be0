// SPDX-License-Identifier: Apache-2.0
//! Draws a laid out network as SVG. Each half of a link has the colour of what its node sends.

use super::layout::{Area, Layout, Point};
use super::plan::{Plan, Side, text_width};
use crate::results::{DirectionResult, Results};
use network_file::model::{EventSubject, Network, Node};
use source::quantity;
use std::fmt::Write as _;

/// Least shares of use with their colours, which are legible on white and on black.
const COLOURS: [(f64, &str, &str); 7] = [
    (0.9, "#d92b3a", "90 %"),
    (0.75, "#e8702a", "75 %"),
    (0.5, "#dba106", "50 %"),
    (0.25, "#7fae2c", "25 %"),
    (0.1, "#22a08d", "10 %"),
    (0.01, "#3f8fe0", "1 %"),
    (0.0, "#8b95a1", "0 %"),
];

const STYLE: &str = "\
.back{fill:#fff}.box{fill:#f1f4f8;stroke:#59636e}.host{fill:#fff;stroke:#8b95a1}text{fill:#1d2126;font:11.5px \
system-ui,-apple-system,'Segoe UI','Liberation Sans',sans-serif;text-anchor:middle;dominant-baseline:central}\
.port{font-size:8.5px;fill:#59636e}.full{fill:#c3202f;font-weight:700}.head{font-size:15px;font-weight:600}\
.head,.left{text-anchor:start}.soft{fill:#59636e}polyline{fill:none}\
@media(prefers-color-scheme:dark){.back{fill:#16181c}.box{fill:#242a32;stroke:#9aa3ad}.host{fill:#16181c;stroke:#6f7985}\
text{fill:#e7e9ec}.port,.soft{fill:#a9b2bc}.full{fill:#ff8a80}}";

const MARGIN: f64 = 24.0;
const HEAD: f64 = 108.0;
const MIN_WIDTH: f64 = 860.0;

/// A network to draw.
pub(super) struct Drawing<'d> {
    pub(super) network: &'d Network,
    pub(super) results: &'d Results,
    pub(super) plan: &'d Plan,
    pub(super) layout: &'d Layout,
}

fn escaped(text: &str) -> String {
    page::escaped(text)
}

fn colour(share: f64) -> &'static str {
    let known = COLOURS.iter().find(|(least, ..)| share >= *least);
    known.map_or(COLOURS[6].1, |(_, colour, _)| colour)
}

/// The width of a line for a rate: 1 Gb/s has 3 pixels, each factor of ten 1.4 more or less.
fn line_width(rate_bps: Option<u64>) -> f64 {
    match rate_bps {
        None => 2.0,
        Some(rate) => (3.0 + 1.4 * ((rate as f64).log10() - 9.0)).clamp(1.8, 8.0),
    }
}

fn length([from, to]: [Point; 2]) -> f64 {
    (to.0 - from.0).hypot(to.1 - from.1)
}

/// Both halves of a way, each from its end to the middle.
fn halves(way: &[Point]) -> [Vec<Point>; 2] {
    let total: f64 = way.windows(2).map(|pair| length([pair[0], pair[1]])).sum();
    let (mut left, mut first) = (total / 2.0, Vec::new());
    for (at, pair) in way.windows(2).enumerate() {
        first.push(pair[0]);
        let own = length([pair[0], pair[1]]);
        if own >= left {
            let share = if own == 0.0 { 0.0 } else { left / own };
            let between = |one: f64, other: f64| one + (other - one) * share;
            let middle = (between(pair[0].0, pair[1].0), between(pair[0].1, pair[1].1));
            first.push(middle);
            let mut second: Vec<Point> = way[at + 1..].to_vec();
            second.reverse();
            second.push(middle);
            return [first, second];
        }
        left -= own;
    }
    [first, Vec::new()]
}

impl Drawing<'_> {
    /// The picture.
    pub(super) fn svg(&self, title: &str) -> String {
        let (width, height) = self.layout.size();
        let full = (width + 2.0 * MARGIN).max(MIN_WIDTH);
        let (left, top) = ((full - width) / 2.0, HEAD);
        let mut svg = String::new();
        let tall = height + HEAD + MARGIN;
        let _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full:.0} {tall:.0}\" width=\"{full:.0}\" height=\"{tall:.0}\">\n\
             <style>{STYLE}</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>"
        );
        self.write_head(&mut svg, title);
        let _ = writeln!(svg, "<g transform=\"translate({left:.1} {top:.1})\">");
        // Busy links are drawn over others.
        let mut order: Vec<usize> = (0..self.network.links.len()).collect();
        let busiest = |link: usize| {
            let shares =
                self.results.links[link].iter().filter_map(|direction| direction.utilization);
            shares.fold(0.0, f64::max)
        };
        order.sort_by(|one, other| busiest(*one).total_cmp(&busiest(*other)));
        for link in order {
            self.write_link(&mut svg, link);
        }
        for node in 0..self.layout.boxes.len() {
            self.write_node(&mut svg, node);
        }
        for link in 0..self.network.links.len() {
            self.write_ports(&mut svg, link);
        }
        svg.push_str("</g>\n</svg>\n");
        svg
    }

    fn write_head(&self, svg: &mut String, title: &str) {
        let _ =
            writeln!(svg, "<text class=\"head\" x=\"{MARGIN}\" y=\"24\">{}</text>", escaped(title));
        let time = quantity::rounded(self.results.ended_ps);
        let mut x = MARGIN;
        let _ = writeln!(
            svg,
            "<text class=\"left soft\" x=\"{x}\" y=\"50\">use of links in {time} by what the near node sends, from</text>"
        );
        x += 352.0;
        for (_, colour, text) in COLOURS.iter().rev() {
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"44\" width=\"22\" height=\"12\" rx=\"2\" fill=\"{colour}\"/>\
                 <text class=\"left soft\" x=\"{}\" y=\"50\">{text}</text>",
                x + 26.0
            );
            x += 66.0;
        }
        x = MARGIN;
        let mut rates: Vec<u64> = self
            .network
            .links
            .iter()
            .flat_map(|link| &link.directions)
            .filter_map(|one| one.rate_bps)
            .collect();
        rates.sort_unstable();
        rates.dedup();
        // Of many rates the least, the middle and the largest.
        if rates.len() > 4 {
            rates = vec![rates[0], rates[rates.len() / 2], rates[rates.len() - 1]];
        }
        for rate in rates {
            let text = quantity::rate(rate as f64);
            let _ = writeln!(
                svg,
                "<polyline points=\"{x},72 {},72\" stroke=\"#8b95a1\" stroke-width=\"{:.1}\"/>\
                 <text class=\"left soft\" x=\"{}\" y=\"72\">{text}</text>",
                x + 30.0,
                line_width(Some(rate)),
                x + 36.0
            );
            x += 52.0 + text_width(&text);
        }
        if (0..self.network.links.len()).any(|link| !self.outages(link).is_empty()) {
            let _ = writeln!(
                svg,
                "<polyline points=\"{x},72 {},72\" stroke=\"#8b95a1\" stroke-width=\"3\" stroke-dasharray=\"6 4\"/>\
                 <text class=\"left soft\" x=\"{}\" y=\"72\">was down</text>",
                x + 30.0,
                x + 36.0
            );
            x += 106.0;
        }
        if self.results.links.iter().flatten().any(|direction| direction.dropped > 0) {
            let _ = writeln!(
                svg,
                "<text class=\"left full\" x=\"{x}\" y=\"72\">7</text>\
                 <text class=\"left soft\" x=\"{}\" y=\"72\">port whose queue was full</text>",
                x + 12.0
            );
        }
    }

    /// The times in which a link was down: beginning, and end if it returned.
    fn outages(&self, link: usize) -> Vec<(u64, Option<u64>)> {
        let ends = &self.network.links[link].ends;
        let mut outages: Vec<(u64, Option<u64>)> = Vec::new();
        let mut events: Vec<_> = self.network.events.iter().collect();
        events.sort_by_key(|event| event.at_ps);
        for event in events.into_iter().filter(|event| event.at_ps <= self.results.ended_ps) {
            let is_its = match event.subject {
                EventSubject::Link(other) => other == link,
                EventSubject::Node(node) => ends.iter().any(|end| end.node == node),
                EventSubject::Controller(_) => false,
            };
            match (is_its, event.is_up, outages.last_mut()) {
                (true, true, Some(last @ (_, None))) => last.1 = Some(event.at_ps),
                (true, false, None | Some((_, Some(_)))) => outages.push((event.at_ps, None)),
                _ => {}
            }
        }
        outages
    }

    fn write_link(&self, svg: &mut String, number: usize) {
        let link = &self.network.links[number];
        let outages = self.outages(number);
        let mut title = String::new();
        for side in [0, 1] {
            let direction = &self.results.links[number][side];
            let names = [side, 1 - side].map(|end| self.network.port_name(&link.ends[end]));
            let _ = writeln!(title, "{} \u{2192} {}: {}", names[0], names[1], figures(direction));
        }
        let [one, other] = link.directions.each_ref().map(|direction| {
            let rate = direction
                .rate_bps
                .map_or("no rate".to_string(), |rate| quantity::rate(rate as f64));
            format!("{rate}, {}", quantity::rounded(direction.options.latency_ps))
        });
        title.push_str(&if one == other { one } else { format!("{one}; back {other}") });
        for (from_ps, to_ps) in &outages {
            let from = quantity::rounded(*from_ps);
            let to = to_ps.map_or("the end".to_string(), quantity::rounded);
            let _ = write!(title, "\ndown from {from} to {to}");
        }
        let dash = if outages.is_empty() { "" } else { " stroke-dasharray=\"6 4\"" };
        let _ = writeln!(svg, "<g><title>{}</title>", escaped(&title));
        for (side, half) in halves(&self.layout.ways[number]).iter().enumerate() {
            let points: Vec<String> = half.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let share = self.results.links[number][side].utilization.unwrap_or(0.0);
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" stroke=\"{}\" stroke-width=\"{:.1}\"{dash}/>",
                points.join(" "),
                colour(share),
                line_width(link.directions[side].rate_bps)
            );
        }
        svg.push_str("</g>\n");
    }

    fn write_node(&self, svg: &mut String, node: usize) {
        let Area { x, y, width, height } = self.layout.boxes[node];
        let (class, name, title) = match node.checked_sub(self.plan.switches()) {
            None => ("box", &self.network.switches[node].name, self.switch_title(node)),
            Some(host) => ("host", &self.network.hosts[host].name, self.host_title(host)),
        };
        let radius = if class == "box" { 4.0 } else { height / 2.0 };
        let _ = writeln!(
            svg,
            "<g><title>{}</title><rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"{radius}\"/><text x=\"{x:.1}\" y=\"{y:.1}\">{}</text></g>",
            escaped(&title),
            x - width / 2.0,
            y - height / 2.0,
            escaped(name)
        );
    }

    fn switch_title(&self, number: usize) -> String {
        let result = &self.results.switches[number];
        let mut title = format!(
            "{}: {} received, {} sent",
            self.network.switches[number].name, result.received, result.sent
        );
        for (reason, count) in &result.drops {
            let _ = write!(title, "\n{count} dropped: {reason}");
        }
        title
    }

    fn host_title(&self, number: usize) -> String {
        let host = &self.network.hosts[number];
        let addresses: Vec<String> = host.addresses().map(|own| own.value.to_string()).collect();
        let mut title = format!("{} {}", host.name, addresses.join(", "));
        if let Some(counts) = self.results.hosts.get(number) {
            let _ = write!(title, "\n{} received, {} sent", counts.received, counts.sent);
            for (reason, count) in counts.drops().into_iter().filter(|(_, count)| *count > 0) {
                let _ = write!(title, "\n{count} dropped: {reason}");
            }
        }
        title
    }

    /// The numbers of the ports of switches, inside their boxes.
    fn write_ports(&self, svg: &mut String, number: usize) {
        let way = &self.layout.ways[number];
        let ends = [way.first(), way.last()];
        for (side, end) in self.network.links[number].ends.iter().enumerate() {
            let (Node::Switch(_), Some((x, y))) = (end.node, ends[side]) else { continue };
            let inset = 5.0 + 2.6 * (end.port.to_string().len() as f64 - 1.0);
            let (x, y) = match self.plan.ends[number][side].1 {
                Side::Top => (*x, y + 7.0),
                Side::Bottom => (*x, y - 7.0),
                Side::Left => (x + inset, *y),
                Side::Right => (x - inset, *y),
            };
            let class =
                if self.results.links[number][side].dropped > 0 { "port full" } else { "port" };
            let _ = writeln!(
                svg,
                "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                end.port
            );
        }
    }
}

/// What a direction of a link carried.
fn figures(direction: &DirectionResult) -> String {
    let mut text = match direction.utilization {
        Some(share) => format!("use {:.1} %, ", share * 100.0),
        None => String::new(),
    };
    let _ =
        write!(text, "{} frames, {}", direction.sent, quantity::bytes(direction.sent_bytes as f64));
    for (count, what) in [
        (direction.dropped, "dropped: queue full"),
        (direction.link.lost, "lost"),
        (direction.link.lost_while_down, "lost while down"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    if direction.peak_queue > 0 {
        let _ = write!(
            text,
            ", queue mean {:.1}, max {} packets",
            direction.mean_queue, direction.peak_queue
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_meet_in_the_middle_of_the_way() {
        let way = [(0.0, 0.0), (10.0, 0.0), (10.0, 30.0)];
        let [first, second] = halves(&way);
        assert_eq!(first, [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)]);
        assert_eq!(second, [(10.0, 30.0), (10.0, 10.0)]);
    }

    #[test]
    fn the_colour_is_that_of_the_share() {
        assert_eq!(colour(0.0), "#8b95a1");
        assert_eq!(colour(0.009), "#8b95a1");
        assert_eq!(colour(0.01), "#3f8fe0");
        assert_eq!(colour(0.95), colour(1.2));
        assert!(line_width(Some(10_000_000_000)) > line_width(Some(1_000_000_000)));
    }
}
