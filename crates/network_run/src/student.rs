// SPDX-License-Identifier: Apache-2.0
//! Student's t distribution (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).

/// The probability of -t to t.
fn within(t: f64, degrees_of_freedom: u32) -> f64 {
    let angle = (t / f64::from(degrees_of_freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees_of_freedom % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if is_odd { 1 } else { 0 };
    while power + 2 <= degrees_of_freedom {
        sum += term;
        power += 2;
        term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
    }
    match is_odd {
        true => (angle + sine * sum) * std::f64::consts::FRAC_2_PI,
        false => sine * sum,
    }
}

/// Returns t for which 95 % lie from -t to t.
pub(crate) fn quantile_95(degrees_of_freedom: u32) -> f64 {
    let (mut low, mut high) = (1.0, 16.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match within(middle, degrees_of_freedom.max(1)) < 0.95 {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of published tables.
    #[test]
    fn quantiles_are_those_of_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (19, 2.093),
            (20, 2.086),
            (30, 2.042),
            (120, 1.980),
            (100_000, 1.960),
        ];
        for (degrees_of_freedom, expected) in table {
            let found = quantile_95(degrees_of_freedom);
            assert!((found - expected).abs() < 6e-4, "{degrees_of_freedom}: {found}");
        }
    }
}
