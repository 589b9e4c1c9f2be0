//! x
/// Period of the delay queue's release, in picoseconds: 100 microseconds (Lucid §3.2).
pub const DELAY_PERIOD_PS: u64 = 100_000_000;
