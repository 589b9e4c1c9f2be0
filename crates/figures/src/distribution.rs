// SPDX-License-Identifier: Apache-2.0
//! Many measurements of one thing, and where most of them lie. What is measured is the figures'.

/// Measurements in ascending order; the unit is that of what was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Distribution(Vec<f64>);

impl Distribution {
    pub(super) fn new(values: impl IntoIterator<Item = f64>) -> Distribution {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Distribution(values)
    }

    /// The mean; 0 of nothing.
    pub(super) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The value that a share of all, from 0 to 1, does not exceed: 0 is the least, 0.5 the median, 1 the
    /// largest; 0 of nothing.
    pub(super) fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_values_in_order() {
        let found = Distribution::new([5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!((found.at(0.0), found.at(0.5), found.at(1.0)), (1.0, 3.0, 5.0));
        assert_eq!(found.mean(), 3.0);
        assert_eq!(Distribution::new([]).at(0.5), 0.0);
    }
}
