// SPDX-License-Identifier: Apache-2.0
//! [`Pareto`]: the Pareto distribution, cut at a largest value so that its mean exists for every shape.

/// A Pareto distribution between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// The least value, above 0.
    pub least: f64,
    /// The exponent of the tail, above 0; the smaller, the heavier.
    pub shape: f64,
    /// The largest value.
    pub most: f64,
}

impl Pareto {
    /// Returns the distribution up to `most` with a median and a mean. `None` if no shape has them: the mean is below the
    /// median, or too near to `most`.
    pub fn with_median_and_mean(median: f64, mean: f64, most: f64) -> Option<Pareto> {
        let of_shape = |shape: f64| {
            // Half of the values lie below the median: (1 - (l/m)^a) / (1 - (l/most)^a) = 1/2.
            let tail = libm::pow(median / most, shape);
            let least = median * libm::pow(0.5 / (1.0 - 0.5 * tail), 1.0 / shape);
            Pareto { least, shape, most }
        };
        let (mut heavy, mut light) = (0.05, 60.0);
        let means = of_shape(light).mean()..=of_shape(heavy).mean();
        let is_possible = median > 0.0 && median < most && means.contains(&mean);
        if !is_possible {
            return None;
        }
        for _ in 0..100 {
            let shape = (heavy + light) / 2.0;
            match of_shape(shape).mean() > mean {
                true => heavy = shape,
                false => light = shape,
            }
        }
        Some(of_shape(light))
    }

    /// The share of the uncut distribution that lies above `most`.
    fn cut(&self) -> f64 {
        libm::pow(self.least / self.most, self.shape)
    }

    /// Returns the value below which a share of all values lies.
    pub fn quantile(&self, share: f64) -> f64 {
        self.least * libm::pow((1.0 - share) + share * self.cut(), -1.0 / self.shape)
    }

    /// Returns the mean.
    pub fn mean(&self) -> f64 {
        let Pareto { least, shape, most } = *self;
        let ratio = most / least;
        let moment = match libm::fabs(shape - 1.0) < 1e-9 {
            true => least * libm::log(ratio),
            false => least * shape / (shape - 1.0) * (1.0 - libm::pow(ratio, 1.0 - shape)),
        };
        moment / (1.0 - self.cut())
    }

    /// Says what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let Pareto { least, shape, most } = *self;
        let is_possible = least > 0.0 && shape > 0.0 && most > least && most.is_finite();
        match is_possible && shape.is_finite() {
            true => Ok(()),
            false => Err(format!(
                "a Pareto distribution needs a least value above 0, a shape above 0 and a larger largest value; it has \
                 {least}, {shape} and {most}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_and_a_mean_have_one_shape() {
        for (median, mean, most) in [(4.0, 24.05, 44_500.0), (4.0, 6.0, 1e6), (1e3, 1e5, 1e9)] {
            let found = Pareto::with_median_and_mean(median, mean, most).expect("a shape");
            assert!((found.quantile(0.5) / median - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found.mean() / mean - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found.quantile(1.0) / most - 1.0).abs() < 1e-9, "{found:?}");
            // The mean of quantiles is the mean.
            let steps = 1_000_000;
            let at = |n| found.quantile((f64::from(n) + 0.5) / f64::from(steps));
            let numeric = (0..steps).map(at).sum::<f64>() / f64::from(steps);
            assert!((numeric / mean - 1.0).abs() < 0.01, "{found:?}: {numeric}");
        }
        assert_eq!(Pareto::with_median_and_mean(4.0, 3.0, 100.0), None);
        assert_eq!(Pareto::with_median_and_mean(4.0, 99.0, 100.0), None);
    }
}
