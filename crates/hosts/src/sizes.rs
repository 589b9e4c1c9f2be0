// SPDX-License-Identifier: Apache-2.0
//! [`FlowSizes`]: distributions of flow sizes: tables of bytes and cumulative probability, linear in between, and
//! [`Pareto`].

mod pareto;

pub use pareto::Pareto;

/// Web search (Alizadeh et al. 2010, "Data Center TCP"); mean 1.711 MB.
const WEB_SEARCH: &[(u64, f64)] = &[
    (0, 0.0),
    (10_000, 0.15),
    (20_000, 0.2),
    (30_000, 0.3),
    (50_000, 0.4),
    (80_000, 0.53),
    (200_000, 0.6),
    (1_000_000, 0.7),
    (2_000_000, 0.8),
    (5_000_000, 0.9),
    (10_000_000, 0.97),
    (30_000_000, 1.0),
];

/// Data mining (Greenberg et al. 2009, "VL2"); mean 12.66 MB.
const DATA_MINING: &[(u64, f64)] = &[
    (0, 0.0),
    (180, 0.1),
    (216, 0.2),
    (560, 0.3),
    (900, 0.4),
    (1_100, 0.5),
    (1_870, 0.6),
    (3_160, 0.7),
    (10_000, 0.8),
    (400_000, 0.9),
    (3_160_000, 0.95),
    (100_000_000, 0.98),
    (1_000_000_000, 1.0),
];

/// A distribution of flow sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowSizes {
    /// Web search.
    WebSearch,
    /// Data mining.
    DataMining,
    /// One size.
    Fixed(u64),
    /// Bytes with their cumulative probabilities, from 0 or the least size on, to 1.
    Table(Vec<(u64, f64)>),
    /// A heavy tail.
    Pareto(Pareto),
}

impl FlowSizes {
    fn table(&self) -> &[(u64, f64)] {
        match self {
            FlowSizes::WebSearch => WEB_SEARCH,
            FlowSizes::DataMining => DATA_MINING,
            FlowSizes::Table(table) => table,
            FlowSizes::Fixed(_) | FlowSizes::Pareto(_) => &[],
        }
    }

    /// Says what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        if *self == FlowSizes::Fixed(0) {
            return Err("a flow of 0 bytes never starts: write at least 1".to_owned());
        }
        if let FlowSizes::Pareto(pareto) = self {
            return pareto.check();
        }
        let FlowSizes::Table(table) = self else { return Ok(()) };
        let (Some(first), Some(last)) = (table.first(), table.last()) else {
            return Err("the table of flow sizes is empty".to_owned());
        };
        if first.1 < 0.0 || (last.1 - 1.0).abs() > 1e-9 || last.0 == 0 {
            return Err(format!(
                "the table of flow sizes must end with a size above 0 and probability 1; it ends with {} bytes and {}",
                last.0, last.1
            ));
        }
        for pair in table.windows(2) {
            if pair[1].0 < pair[0].0 || pair[1].1 < pair[0].1 || pair[1].1.is_nan() {
                return Err(format!(
                    "sizes and probabilities of flows must grow; {} bytes with {} follow {} bytes with {}",
                    pair[1].0, pair[1].1, pair[0].0, pair[0].1
                ));
            }
        }
        Ok(())
    }

    /// The mean, in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            FlowSizes::Fixed(bytes) => return *bytes as f64,
            FlowSizes::Pareto(pareto) => return pareto.mean(),
            _ => {}
        }
        let table = self.table();
        let first = table.first().map_or(0.0, |(bytes, share)| *bytes as f64 * share);
        let mean = |pair: &[(u64, f64)]| {
            (pair[1].1 - pair[0].1) * (pair[0].0 as f64 + pair[1].0 as f64) / 2.0
        };
        first + table.windows(2).map(mean).sum::<f64>()
    }

    /// The size below which this share of flows lies, at least 1.
    pub fn draw(&self, share: f64) -> u64 {
        match self {
            FlowSizes::Fixed(bytes) => return *bytes,
            FlowSizes::Pareto(pareto) => {
                return (libm::round(pareto.quantile(share)) as u64).max(1);
            }
            _ => {}
        }
        let table = self.table();
        let at = table.partition_point(|(_, known)| *known <= share);
        let bytes = match (at.checked_sub(1).and_then(|at| table.get(at)), table.get(at)) {
            (Some(low), Some(high)) => {
                let part = (share - low.1) / (high.1 - low.1);
                low.0 as f64 + part * (high.0 - low.0) as f64
            }
            (None, Some(only)) | (Some(only), None) => only.0 as f64,
            (None, None) => 1.0,
        };
        (libm::round(bytes) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arithmetic::random::stream::Stream;

    #[test]
    fn means_are_the_published_ones() {
        assert!((FlowSizes::WebSearch.mean() / 1.711e6 - 1.0).abs() < 0.001);
        assert!((FlowSizes::DataMining.mean() / 12.66e6 - 1.0).abs() < 0.001);
        let table = FlowSizes::Table(vec![(100, 0.5), (200, 1.0)]);
        assert_eq!((table.mean(), table.draw(0.2), table.draw(0.75)), (125.0, 100, 150));
    }

    #[test]
    fn drawn_sizes_have_the_mean() {
        let mut stream = Stream::new(1, 2, 3);
        let count = 200_000;
        let sum: u64 = (0..count).map(|_| FlowSizes::WebSearch.draw(stream.fraction())).sum();
        let mean = sum as f64 / f64::from(count);
        assert!((mean / 1.711e6 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn tables_that_do_not_grow_are_refused() {
        for table in
            [vec![], vec![(5, 0.5)], vec![(5, 0.5), (4, 1.0)], vec![(5, 0.5), (9, 0.4), (9, 1.0)]]
        {
            assert!(FlowSizes::Table(table).check().is_err());
        }
        assert!(FlowSizes::Table(vec![(0, 0.0), (9, 1.0)]).check().is_ok());
    }
}
