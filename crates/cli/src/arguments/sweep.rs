// SPDX-License-Identifier: Apache-2.0
//! The options of `plane net` for runs with several seeds.

use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;
use toolchain::net::sweep::Shard;

/// The most seeds of a sweep.
const MAX_SEEDS: u64 = 1_000_000;

/// Options of sweeps.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// Run with each of these seeds, such as 1..20 or 1,5,7..9, and print means with 95 % confidence intervals.
    #[arg(long, value_name = "SEEDS", conflicts_with_all = ["seed", "live"])]
    pub seeds: Option<Seeds>,
    /// Runs side by side; without it one on each processor.
    #[arg(long, value_name = "N", requires = "seeds", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Run part I of N of the seeds; auto takes I from Slurm or Kubernetes, and auto/N the N from here.
    #[arg(long, value_name = "I/N", requires = "seeds")]
    pub shard: Option<ShardChoice>,
    /// Write the results of all runs into this file, or into a file in this folder, for `plane net merge`.
    #[arg(long, value_name = "FILE", requires = "seeds")]
    pub results: Option<PathBuf>,
}

/// Arguments of `plane net merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// Files that `plane net --seeds --shard --results` wrote, all of one sweep.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print the results as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Write each table as a CSV file into this folder.
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// The most rows of each table.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub rows: usize,
}

/// Seeds in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// As the user wrote them.
    pub text: String,
    /// The seeds.
    pub list: Vec<u64>,
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let number = |word: &str| {
            let wrong = || format!("`{word}` is no seed; write a range such as 1..20");
            word.trim().parse::<u64>().map_err(|_| wrong())
        };
        let mut list = Vec::new();
        for part in text.split(',') {
            let (first, last) = match part.split_once("..") {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(format!(
                    "the range {part} is empty: the first seed is the smaller one"
                ));
            }
            if last - first >= MAX_SEEDS {
                return Err(format!("the range {part} has more than {MAX_SEEDS} seeds"));
            }
            list.extend(first..=last);
        }
        list.sort_unstable();
        if let Some(pair) = list.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("seed {} is there twice", pair[0]));
        }
        Ok(Seeds { text: text.to_string(), list })
    }
}

/// A part of a sweep as the user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardChoice {
    /// By numbers.
    Given(Shard),
    /// By the environment; the number of parts may be given.
    Auto(Option<usize>),
}

impl FromStr for ShardChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardChoice, String> {
        let wrong =
            || format!("`{text}` is no shard; write I/N with I from 1 to N, auto, or auto/N");
        let positive = |word: &str| word.parse().ok().filter(|number: &usize| *number > 0);
        match text.split_once('/') {
            None if text == "auto" => Some(ShardChoice::Auto(None)),
            Some(("auto", count)) => positive(count).map(|count| ShardChoice::Auto(Some(count))),
            Some((number, count)) => match (positive(number), positive(count)) {
                (Some(number), Some(count)) if number <= count => {
                    Some(ShardChoice::Given(Shard { number, count }))
                }
                _ => None,
            },
            None => None,
        }
        .ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_ranges_and_numbers() {
        let check = |text: &str, expected: Result<&[u64], &str>| {
            let found = text.parse::<Seeds>().map(|seeds| seeds.list);
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
                (found, expected) => panic!("{text}: {found:?}, and not {expected:?}"),
            }
        };
        check("1..3", Ok(&[1, 2, 3]));
        check("7..8,1", Ok(&[1, 7, 8]));
        check("3..1", Err("the first seed is the smaller one"));
        check("1..3,2", Err("seed 2 is there twice"));
        check("1..x", Err("`x` is no seed"));
        check("", Err("`` is no seed"));
        check("0..18446744073709551615", Err("more than 1000000 seeds"));
    }

    #[test]
    fn shards_count_from_one() {
        let given = |number, count| Ok(ShardChoice::Given(Shard { number, count }));
        assert_eq!("2/3".parse(), given(2, 3));
        assert_eq!("auto".parse(), Ok(ShardChoice::Auto(None)));
        assert_eq!("auto/4".parse(), Ok(ShardChoice::Auto(Some(4))));
        for wrong in ["0/3", "4/3", "1/0", "auto/0", "3", "x/y", ""] {
            assert!(wrong.parse::<ShardChoice>().is_err(), "{wrong}");
        }
    }
}
