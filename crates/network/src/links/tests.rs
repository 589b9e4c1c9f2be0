// SPDX-License-Identifier: Apache-2.0
//! Tests of links: paths, rates, and the statistics of each impairment.

use super::*;

const PLAIN: LinkOptions = LinkOptions {
    latency_ps: 1000,
    jitter_ps: 0,
    keeps_order: true,
    loss: LossModel::NONE,
    corruption: 0.0,
    duplication: 0.0,
    reordering: 0.0,
    sender_rate_bps: None,
};

/// 0 - 1 - 2 and 0 - 2 directly by a link that is slow.
fn triangle() -> Links {
    let slow = LinkOptions { latency_ps: 9000, ..PLAIN };
    let mut links = Links::new(0);
    for (ends, options) in
        [([(0, 1), (1, 0)], PLAIN), ([(1, 2), (2, 1)], PLAIN), ([(0, 2), (2, 0)], slow)]
    {
        assert!(links.connect(ends, options));
    }
    links
}

fn one_link(options: LinkOptions, seed: u64) -> Links {
    let mut links = Links::new(seed);
    assert!(links.connect([(0, 0), (1, 0)], options));
    links
}

#[test]
fn paths_avoid_links_that_are_down() {
    let mut links = triangle();
    assert_eq!(links.carry_to_node(0, 2, 0, || 64), Some(Ok(9000)));
    assert_eq!(links.set_up((2, 0), false, 0), Some((0, 2)));
    assert_eq!(links.carry_to_node(0, 2, 0, || 64), Some(Ok(2000)));
    assert_eq!(links.set_up((1, 0), false, 0), Some((0, 1)));
    assert_eq!(links.carry_to_node(0, 2, 0, || 64), Some(Err(Loss::Down)));
    assert_eq!(links.set_up((0, 1), true, 0), Some((1, 0)));
    assert_eq!(links.carry_to_node(0, 2, 5, || 64), Some(Ok(2005)));
    assert_eq!(links.carry_to_node(0, 3, 0, || 64), None);
    assert_eq!(links.set_up((3, 0), false, 0), None);
}

#[test]
fn a_detour_names_the_link_that_is_down() {
    let mut links = triangle();
    assert_eq!(links.detour(0, 2), None);
    links.set_up((2, 0), false, 0);
    assert_eq!(links.detour(0, 2), Some([(0, 2), (2, 0)]));
    assert_eq!(links.detour(2, 0), Some([(2, 0), (0, 2)]));
    assert_eq!(links.detour(0, 1), None);
    // Without another path it is lost.
    links.set_up((1, 0), false, 0);
    assert_eq!(links.detour(0, 2), None);
    assert_eq!(links.detour(0, 3), None);
}

#[test]
fn a_port_has_one_link() {
    let mut links = triangle();
    assert!(!links.connect([(0, 1), (3, 0)], PLAIN));
    assert!(!links.connect([(3, 0), (0, 1)], PLAIN));
    assert!(!links.connect([(3, 0), (3, 0)], PLAIN));
    assert!(links.connect([(3, 0), (3, 1)], PLAIN));
    assert_eq!(links.ends().collect::<Vec<_>>().len(), 4);
}

#[test]
fn the_rate_of_a_sender_without_ports_spaces_frames() {
    let slow = LinkOptions { sender_rate_bps: Some(8_000_000_000), ..PLAIN };
    let mut links = Links::new(0);
    links.connect([(0, 7), (1, 3)], slow);
    let mut arrival = |from| {
        let (to, carried) = links.carry(from, 0, || 1)?;
        Some((to, carried.ok()?.arrives_ps))
    };
    assert_eq!(arrival((0, 7)), Some(((1, 3), 2000)));
    assert_eq!(arrival((0, 7)), Some(((1, 3), 3000)));
    assert_eq!(arrival((1, 3)), Some(((0, 7), 2000)));
    assert_eq!(arrival((1, 4)), None);
    assert_eq!(links.ports_to_others(0).collect::<Vec<_>>(), [7]);
}

/// What a link makes of frames that are sent one a nanosecond.
fn sent(options: LinkOptions, seed: u64, count: u64) -> (Vec<Result<Carried, Loss>>, Links) {
    let mut links = one_link(options, seed);
    let carried = (0..count)
        .filter_map(|number| links.carry((0, 0), number * 1000, || 100).map(|carried| carried.1));
    (carried.collect(), links)
}

#[test]
fn loss_is_repeatable_and_near_its_rate() {
    let options = LinkOptions { loss: LossModel::Random(0.1), ..PLAIN };
    let (carried, links) = sent(options, 1, 10_000);
    let lost = carried.iter().filter(|carried| carried.is_err()).count() as u64;
    assert!((900..1100).contains(&lost), "{lost} of 10000 lost");
    assert_eq!(links.statistics((0, 0)).map(|counts| counts.lost), Some(lost));
    assert_eq!(carried, sent(options, 1, 10_000).0);
    assert_ne!(carried, sent(options, 2, 10_000).0);
}

/// The share of the bad state is p / (p + r), the mean stay in it 1 / r frames (Gilbert 1960).
#[test]
fn bursts_have_their_share_and_length() {
    let loss = LossModel::GilbertElliott {
        to_bad: 0.02,
        to_good: 0.1,
        loss_in_bad: 1.0,
        loss_in_good: 0.0,
    };
    let (carried, _) = sent(LinkOptions { loss, ..PLAIN }, 5, 200_000);
    let lost = carried.iter().filter(|carried| carried.is_err()).count() as f64;
    let begins = |pair: &&[Result<Carried, Loss>]| pair[0].is_ok() && pair[1].is_err();
    let bursts = carried.windows(2).filter(begins).count() as f64;
    let share = lost / 200_000.0;
    assert!((share - 0.02 / 0.12).abs() < 0.01, "{share}");
    assert!((lost / bursts - 10.0).abs() < 0.6, "{}", lost / bursts);
}

#[test]
fn a_link_that_is_down_loses_everything() {
    let mut links = one_link(PLAIN, 0);
    links.set_up((1, 0), false, 10);
    assert_eq!(links.carry((0, 0), 20, || 1).map(|carried| carried.1), Some(Err(Loss::Down)));
    links.set_up((0, 0), true, 30);
    assert!(links.carry((0, 0), 30, || 1).is_some_and(|carried| carried.1.is_ok()));
    let counts = links.statistics((0, 0)).expect("a link");
    assert_eq!((counts.delivered, counts.lost_while_down, counts.lost), (1, 1, 0));
    assert!(!links.was_down_at((0, 0), 9) && links.was_down_at((0, 0), 10));
    assert!(links.was_down_at((0, 0), 29) && !links.was_down_at((0, 0), 30));
}

#[test]
fn jitter_keeps_the_order_unless_overtaking_is_allowed() {
    let jittery = LinkOptions { jitter_ps: 5000, ..PLAIN };
    let times = |options| -> Vec<u64> {
        let carried = sent(options, 3, 1000).0;
        carried.iter().filter_map(|carried| carried.ok()).map(|one| one.arrives_ps).collect()
    };
    assert!(times(jittery).is_sorted());
    let late = |(number, time): (usize, &u64)| time - number as u64 * 1000 - 1000;
    let loose = times(LinkOptions { keeps_order: false, ..jittery });
    assert!(!loose.is_sorted());
    assert!(loose.iter().enumerate().map(late).all(|late| late <= 5000));
}

#[test]
fn corruption_duplication_and_reordering_are_counted() {
    let options = LinkOptions { corruption: 0.2, duplication: 0.1, reordering: 0.05, ..PLAIN };
    let (carried, links) = sent(options, 9, 10_000);
    let counts = links.statistics((0, 0)).expect("a link");
    let carried: Vec<Carried> = carried.into_iter().flatten().collect();
    assert_eq!(carried.len(), 10_000);
    let count = |test: &dyn Fn(&Carried) -> bool| carried.iter().filter(|one| test(one)).count();
    assert_eq!(count(&|one| one.flipped_bit.is_some()) as u64, counts.corrupted);
    assert_eq!(count(&|one| one.copy_arrives_ps.is_some()) as u64, counts.duplicated);
    assert_eq!(counts.delivered, 10_000 + counts.duplicated);
    assert_eq!(counts.delivered_bytes, 100 * counts.delivered);
    for (found, expected) in
        [(counts.corrupted, 2000), (counts.duplicated, 1000), (counts.reordered, 500)]
    {
        assert!(found.abs_diff(expected) < 150, "{found} of {expected}");
    }
}
