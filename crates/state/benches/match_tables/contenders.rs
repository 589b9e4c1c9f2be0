// SPDX-License-Identifier: Apache-2.0
//! Contenders: the indexes of this crate and of other crates, each behind the same three closures.

use crate::PEAK_ALLOC;
use crate::workloads::{Entry, Workload};
use foldhash::fast::FixedState;
use ip_network_table_deps_treebitmap::IpLookupTable;
use ir::{Bits, KeyPattern, MatchKind};
use poptrie::Poptrie;
use prefix_trie::PrefixMap;
use state::forwarding::index::{KeyLayout, MatchIndex, NO_MATCH, Packing};
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::rc::Rc;

/// A filled table.
pub struct Contender {
    pub name: &'static str,
    /// Bytes per entry, counted by the allocator.
    pub entry_bytes: f64,
    /// Looks up these packets and returns the sum of the leaves.
    pub look_up: Box<dyn Fn(Range<usize>) -> u64>,
    /// Removes an entry and inserts it again.
    pub update: Box<dyn FnMut(usize)>,
}

/// Fills a table and measures its memory.
fn fill<T>(entries: usize, make: impl FnOnce() -> T) -> (T, f64) {
    let before = PEAK_ALLOC.current_usage();
    let table = make();
    (table, PEAK_ALLOC.current_usage().saturating_sub(before) as f64 / entries as f64)
}

fn shared<T: 'static>(
    name: &'static str,
    filled: (T, f64),
    look_up: impl Fn(&T, Range<usize>) -> u64 + 'static,
    update: impl Fn(&mut T, usize) + 'static,
) -> Contender {
    let table = Rc::new(std::cell::RefCell::new(filled.0));
    let looked = table.clone();
    Contender {
        name,
        entry_bytes: filled.1,
        look_up: Box::new(move |range| look_up(&looked.borrow(), range)),
        update: Box::new(move |at| update(&mut table.borrow_mut(), at)),
    }
}

fn packed(layout: &KeyLayout, workload: &Workload) -> Vec<u64> {
    let mut keys = vec![0; workload.packets.len() * layout.words()];
    for (packet, key) in workload.packets.iter().zip(keys.chunks_exact_mut(layout.words())) {
        layout.pack(packet, key);
    }
    keys
}

fn counted(leaf: u32) -> u64 {
    u64::from(leaf)
}

/// The index of this crate.
pub fn this_crate(workload: &Rc<Workload>) -> Contender {
    let layout = KeyLayout::of_keys(workload.shape.clone());
    let filled = fill(workload.entries.len(), || {
        let mut index = MatchIndex::new(&layout);
        for (order, entry) in workload.entries.iter().enumerate() {
            index.insert(&layout, &entry.keys, entry.rank, order as u64, entry.leaf);
        }
        index
    });
    let keys = packed(&layout, workload);
    let packing = layout.packing;
    let workload = workload.clone();
    shared(
        "planewright",
        filled,
        move |index, range| match packing {
            Packing::Word => keys[range].iter().map(|&key| counted(index.find_word(key))).sum(),
            Packing::DoubleWord => keys[2 * range.start..2 * range.end]
                .chunks_exact(2)
                .map(|key| counted(index.find_double(key[0], key[1])))
                .sum(),
            Packing::Words(words) => {
                let keys = &keys[words * range.start..words * range.end];
                keys.chunks_exact(words).map(|key| counted(index.find_words(key))).sum()
            }
        },
        move |index, at| {
            let Entry { keys, rank, leaf } = &workload.entries[at];
            index.remove(&layout, keys, *rank, at as u64);
            index.insert(&layout, keys, *rank, at as u64, *leaf);
        },
    )
}

/// Contenders from other crates for the kind of table.
pub fn others(workload: &Rc<Workload>) -> Vec<Contender> {
    let lone = workload.shape.len() == 1;
    match &workload.shape[..] {
        [(MatchKind::Lpm, 32)] => routes_v4(workload),
        [(MatchKind::Lpm, 128)] => routes_v6(workload),
        shape if shape.iter().all(|(kind, _)| *kind == MatchKind::Exact) => exact(workload),
        shape if shape.iter().any(|(kind, _)| *kind == MatchKind::Range) => vec![scan(workload)],
        [(MatchKind::Exact, _), (MatchKind::Lpm, 32)] => {
            if workload.entries.len() <= MAX_POPTRIE {
                vec![domains(workload)]
            } else {
                vec![]
            }
        }
        _ if lone => vec![scan(workload)],
        _ => vec![scan(workload), tuple_space(workload)],
    }
}

/// Beyond this many entries poptrie takes minutes to fill.
const MAX_POPTRIE: usize = 100_000;

fn exact(workload: &Rc<Workload>) -> Vec<Contender> {
    let layout = KeyLayout::of_keys(workload.shape.clone());
    let packets = packed(&layout, workload);
    let entries = Rc::new(
        workload
            .entries
            .iter()
            .map(|entry| {
                let (mut value, mut mask) = (vec![0; layout.words()], vec![0; layout.words()]);
                layout.pack_pattern(&entry.keys, &mut value, &mut mask);
                (value, entry.leaf)
            })
            .collect::<Vec<_>>(),
    );
    macro_rules! map {
        ($name:expr, $words:expr, $key:ty, $make:expr, $hasher:ty) => {{
            let make: fn(&[u64]) -> $key = $make;
            let filled = fill(entries.len(), || {
                let mut map: HashMap<$key, u32, $hasher> = HashMap::default();
                for (key, leaf) in entries.iter() {
                    map.insert(make(key), *leaf);
                }
                map
            });
            let entries = entries.clone();
            let packets: Vec<$key> = packets.chunks_exact($words).map(make).collect();
            shared(
                $name,
                filled,
                move |map, range| {
                    packets[range]
                        .iter()
                        .map(|key| map.get(key).map_or(0, |&leaf| counted(leaf)))
                        .sum()
                },
                move |map, at| {
                    let (key, leaf) = &entries[at];
                    map.remove(&make(key));
                    map.insert(make(key), *leaf);
                },
            )
        }};
    }
    match layout.words() {
        1 => vec![
            map!("hashbrown with foldhash", 1, u64, |key| key[0], FixedState),
            map!("std HashMap", 1, u64, |key| key[0], std::hash::RandomState),
        ],
        2 => vec![
            map!("hashbrown with foldhash", 2, [u64; 2], |key| [key[0], key[1]], FixedState),
            map!("std HashMap", 2, [u64; 2], |key| [key[0], key[1]], std::hash::RandomState),
        ],
        words => {
            vec![map!("hashbrown with foldhash", words, Box<[u64]>, |key| key.into(), FixedState)]
        }
    }
}

fn route(pattern: &KeyPattern) -> (u128, u8) {
    match pattern {
        KeyPattern::Prefix { value, length_bits } => {
            (value.to_u128().unwrap_or(0), *length_bits as u8)
        }
        _ => (0, 0),
    }
}

fn address(value: &Bits) -> u128 {
    value.to_u128().unwrap_or(0)
}

/// Three crates with equal interfaces, for addresses of one width.
macro_rules! route_crates {
    ($name:ident, $number:ty, $address:ty) => {
        fn $name(workload: &Rc<Workload>) -> Vec<Contender> {
            let count = workload.entries.len();
            let routes: Rc<Vec<($number, u8, u32)>> = Rc::new(
                workload
                    .entries
                    .iter()
                    .map(|entry| {
                        let (value, length) = route(&entry.keys[0]);
                        (value as $number, length, entry.leaf)
                    })
                    .collect(),
            );
            let packets: Rc<Vec<$number>> = Rc::new(
                workload.packets.iter().map(|packet| address(&packet[0]) as $number).collect(),
            );
            let filled = fill(count, || {
                let mut table = IpLookupTable::<$address, u32>::new();
                for &(value, length, leaf) in routes.iter() {
                    table.insert(<$address>::from(value), u32::from(length), leaf);
                }
                table
            });
            let (keys, list) = (packets.clone(), routes.clone());
            let tree_bitmap = shared(
                "treebitmap",
                filled,
                move |table, range| {
                    keys[range]
                        .iter()
                        .map(|&key| {
                            let found = table.longest_match(<$address>::from(key));
                            found.map_or(0, |(_, _, &leaf)| counted(leaf))
                        })
                        .sum()
                },
                move |table, at| {
                    let (value, length, leaf) = list[at];
                    table.remove(<$address>::from(value), u32::from(length));
                    table.insert(<$address>::from(value), u32::from(length), leaf);
                },
            );
            let filled = fill(count, || {
                let mut table = Poptrie::<($number, u8), u32>::new();
                let filled = if count <= MAX_POPTRIE { &routes[..] } else { &[] };
                for &(value, length, leaf) in filled {
                    table.insert((value, length), leaf);
                }
                table
            });
            let (keys, list) = (packets.clone(), routes.clone());
            let poptrie = shared(
                "poptrie",
                filled,
                move |table, range| {
                    let leaf = |key: &$number| table.lookup(*key).map_or(0, |&leaf| counted(leaf));
                    keys[range].iter().map(leaf).sum()
                },
                move |table, at| {
                    let (value, length, leaf) = list[at];
                    table.remove((value, length));
                    table.insert((value, length), leaf);
                },
            );
            let filled = fill(count, || {
                let mut table = PrefixMap::<($number, u8), u32>::new();
                for &(value, length, leaf) in routes.iter() {
                    table.insert((value, length), leaf);
                }
                table
            });
            let (keys, list) = (packets, routes);
            let prefix_trie = shared(
                "prefix-trie",
                filled,
                move |table, range| {
                    keys[range]
                        .iter()
                        .map(|&key| {
                            let found = table.get_lpm(&(key, <$number>::BITS as u8));
                            found.map_or(0, |(_, &leaf)| counted(leaf))
                        })
                        .sum()
                },
                move |table, at| {
                    let (value, length, leaf) = list[at];
                    table.remove(&(value, length));
                    table.insert((value, length), leaf);
                },
            );
            let mut contenders = vec![tree_bitmap, prefix_trie];
            if count <= MAX_POPTRIE {
                contenders.push(poptrie);
            }
            contenders
        }
    };
}

route_crates!(routes_v4, u32, Ipv4Addr);
route_crates!(routes_v6, u128, Ipv6Addr);

/// A hash table of tries.
fn domains(workload: &Rc<Workload>) -> Contender {
    type Tables = HashMap<u16, Poptrie<(u32, u8), u32>, FixedState>;
    let domain = |pattern: &KeyPattern| match pattern {
        KeyPattern::Exact(value) => value.low_u64() as u16,
        _ => 0,
    };
    let routes: Vec<(u16, u32, u8, u32)> = workload
        .entries
        .iter()
        .map(|entry| {
            let (value, length) = route(&entry.keys[1]);
            (domain(&entry.keys[0]), value as u32, length, entry.leaf)
        })
        .collect();
    let filled = fill(routes.len(), || {
        let mut tables = Tables::default();
        for &(domain, value, length, leaf) in &routes {
            tables.entry(domain).or_default().insert((value, length), leaf);
        }
        tables
    });
    let packets: Vec<(u16, u32)> = workload
        .packets
        .iter()
        .map(|packet| (packet[0].low_u64() as u16, packet[1].low_u64() as u32))
        .collect();
    shared(
        "hashbrown of poptrie",
        filled,
        move |tables, range| {
            packets[range]
                .iter()
                .map(|(domain, key)| {
                    let found = tables.get(domain).and_then(|table| table.lookup(*key));
                    found.map_or(0, |&leaf| counted(leaf))
                })
                .sum()
        },
        move |tables, at| {
            let (domain, value, length, leaf) = routes[at];
            let table = tables.entry(domain).or_default();
            table.remove((value, length));
            table.insert((value, length), leaf);
        },
    )
}

type Rule = (i64, u64, Vec<u64>, Vec<u64>, Vec<state::forwarding::index::RangeCheck>, u32);

fn rules(workload: &Workload, layout: &KeyLayout) -> Vec<Rule> {
    let rule = |(order, entry): (usize, &Entry)| {
        let (mut value, mut mask) = (vec![0; layout.words()], vec![0; layout.words()]);
        let checks = layout.pack_pattern(&entry.keys, &mut value, &mut mask);
        (-entry.rank, order as u64, value, mask, checks, entry.leaf)
    };
    workload.entries.iter().enumerate().map(rule).collect()
}

/// All entries, the best first.
fn scan(workload: &Rc<Workload>) -> Contender {
    let layout = KeyLayout::of_keys(workload.shape.clone());
    let words = layout.words();
    let source = rules(workload, &layout);
    let filled = fill(source.len(), || {
        let mut list = source.clone();
        list.sort_by_key(|rule| (rule.0, rule.1));
        list
    });
    let packets = packed(&layout, workload);
    shared(
        "scan",
        filled,
        move |list, range| {
            let find = |key: &[u64]| {
                list.iter()
                    .find(|(_, _, value, mask, checks, _)| {
                        (0..words).all(|at| key[at] & mask[at] == value[at])
                            && checks.iter().all(|check| check.accepts(key))
                    })
                    .map_or(counted(NO_MATCH), |rule| counted(rule.5))
            };
            packets[words * range.start..words * range.end].chunks_exact(words).map(find).sum()
        },
        move |list, at| {
            let rule = &source[at];
            let find =
                |list: &[Rule]| list.partition_point(|other| (other.0, other.1) < (rule.0, rule.1));
            let at = find(list);
            list.remove(at);
            list.insert(at, rule.clone());
        },
    )
}

/// One hash table per mask, the best rank first, as in the tables of the control plane.
fn tuple_space(workload: &Rc<Workload>) -> Contender {
    type Tuple = (i64, Vec<u64>, HashMap<[u64; 2], (i64, u64, u32), FixedState>);
    let layout = KeyLayout::of_keys(workload.shape.clone());
    let source = rules(workload, &layout);
    let add = |tuples: &mut Vec<Tuple>, rule: &Rule| {
        let (rank, order, value, mask, _, leaf) = rule;
        let tuple = match tuples.iter_mut().find(|tuple| tuple.1 == *mask) {
            Some(tuple) => tuple,
            None => {
                tuples.push((0, mask.clone(), HashMap::default()));
                tuples.last_mut().unwrap_or_else(|| unreachable!())
            }
        };
        tuple.0 = tuple.0.min(*rank);
        tuple.2.insert([value[0], value[1]], (*rank, *order, *leaf));
    };
    let filled = fill(source.len(), || {
        let mut tuples = Vec::new();
        source.iter().for_each(|rule| add(&mut tuples, rule));
        tuples.sort_by_key(|tuple: &Tuple| tuple.0);
        tuples
    });
    let packets = packed(&layout, workload);
    shared(
        "tuple space of hashbrown",
        filled,
        move |tuples, range| {
            let find = |key: &[u64]| {
                let mut best = (i64::MAX, 0, NO_MATCH);
                for (bound, mask, map) in tuples {
                    if *bound > best.0 {
                        break;
                    }
                    if let Some(&found) = map.get(&[key[0] & mask[0], key[1] & mask[1]]) {
                        best = best.min(found);
                    }
                }
                counted(best.2)
            };
            packets[2 * range.start..2 * range.end].chunks_exact(2).map(find).sum()
        },
        move |tuples, at| {
            let rule = &source[at];
            if let Some(tuple) = tuples.iter_mut().find(|tuple| tuple.1 == rule.3) {
                tuple.2.remove(&[rule.2[0], rule.2[1]]);
            }
            add(tuples, rule);
        },
    )
}
