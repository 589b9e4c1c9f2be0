// SPDX-License-Identifier: Apache-2.0
//! The times in which links are down, for the bands of the time line.

use serde_json::{Value as Json, json};

/// Outages in the order of their beginnings.
#[derive(Default)]
pub(super) struct Outages(Vec<Outage>);

/// The time in which a link is down.
struct Outage {
    ends: [(u32, u32); 2],
    from_ps: u64,
    /// `None`: to the end of the run.
    to_ps: Option<u64>,
}

impl Outages {
    /// A link goes down or up. A link that is down already stays down.
    pub fn link(&mut self, ends: [(u32, u32); 2], time_ps: u64, up: bool) {
        let is_same = |outage: &&mut Outage| {
            outage.to_ps.is_none() && (outage.ends == ends || outage.ends == [ends[1], ends[0]])
        };
        match (self.0.iter_mut().find(is_same), up) {
            (Some(outage), true) => outage.to_ps = Some(time_ps),
            (None, false) => self.0.push(Outage { ends, from_ps: time_ps, to_ps: None }),
            _ => {}
        }
    }

    /// As the page has them: switch and port of both ends, beginning, end.
    pub fn json(&self) -> Json {
        let outages = self.0.iter().map(|outage| {
            let [from, to] = outage.ends;
            json!([from.0, from.1, to.0, to.1, outage.from_ps, outage.to_ps])
        });
        outages.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_down_is_an_outage_with_its_beginning_and_end() {
        let (one, other) = ([(0, 1), (1, 1)], [(1, 2), (2, 1)]);
        let swapped = [one[1], one[0]];
        let mut outages = Outages::default();
        for (time_ps, ends, up) in [
            (5, one, false),
            (6, one, false),
            (7, other, false),
            (9, swapped, true),
            (10, swapped, true),
            (20, one, false),
        ] {
            outages.link(ends, time_ps, up);
        }
        let expected = json!([[0, 1, 1, 1, 5, 9], [1, 2, 2, 1, 7, null], [0, 1, 1, 1, 20, null]]);
        assert_eq!(outages.json(), expected);
    }
}
