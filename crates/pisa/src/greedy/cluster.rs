// SPDX-License-Identifier: Apache-2.0
//! Groups and clusters: the units of an array form a group in one table, since an array is attached to one table; groups
//! that wait for each other at distance 0 form a cluster in one stage. Reports groups that no layout can satisfy.

use crate::problem::{ArrayId, DependencyKind, Gress, Problem, UnitId};
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Units of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Ascending.
    pub units: Vec<UnitId>,
    /// The array that keeps them together.
    pub array: Option<ArrayId>,
    /// Which half.
    pub gress: Gress,
    /// Whether the table may take other groups.
    pub may_merge: bool,
}

/// Groups of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Indexes of groups; one unless anti-dependencies go round between arrays.
    pub groups: Vec<usize>,
    /// All units, ascending.
    pub units: Vec<UnitId>,
    /// Which half.
    pub gress: Gress,
    /// Clusters that come before, and at least so many stages before.
    pub before: Vec<(usize, u32)>,
    /// Clusters that come after, and at least so many stages after.
    pub after: Vec<(usize, u32)>,
}

/// A problem's clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// Groups in order of their first units.
    pub groups: Vec<Group>,
    /// In order of their first units.
    pub clusters: Vec<Cluster>,
    /// The cluster of each unit.
    pub of_unit: Vec<usize>,
    /// The group of each unit.
    pub group_of_unit: Vec<usize>,
}

/// Why no layout exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Two accesses to an array of which one has to come a stage or a table later. Between them the
    /// chain of units that makes it so.
    Apart {
        /// The array.
        array: ArrayId,
        /// From the first access to the second.
        chain: Vec<UnitId>,
        /// The first step of the chain.
        kind: DependencyKind,
    },
    /// Accesses to an array from both halves.
    BothHalves {
        /// The array.
        array: ArrayId,
        /// An access from ingress.
        ingress: UnitId,
        /// An access from egress.
        egress: UnitId,
    },
    /// Accesses to an array from a table of the program and from elsewhere.
    TwoTables {
        /// The array.
        array: ArrayId,
        /// The one that may not be merged.
        first: UnitId,
        /// The other.
        second: UnitId,
    },
    /// Arrays that are accessed in one order here and in another there.
    Orders {
        /// From an access to one array to a later access to another, and so on, until the array of
        /// the first leg's beginning comes last.
        legs: Vec<Vec<UnitId>>,
    },
    /// Units that wait for each other.
    Circle {
        /// Each before the next, and the last before the first.
        chain: Vec<UnitId>,
    },
}

impl Clusters {
    /// Of a problem, or why it has no layout.
    pub fn of(problem: &Problem) -> Result<Clusters, Vec<Fault>> {
        let (groups, group_of_unit) = groups(problem);
        let mut faults = group_faults(problem, &groups);
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(groups.len(), 0);
        let nodes: Vec<_> = groups.iter().map(|_| graph.add_node(())).collect();
        let edges: Vec<(usize, usize, u32, UnitId, UnitId, DependencyKind)> = dependencies(problem)
            .map(|(before, after, kind)| {
                let (from, to) =
                    (group_of_unit[before.0 as usize], group_of_unit[after.0 as usize]);
                (from, to, kind.distance(), before, after, kind)
            })
            .filter(|(from, to, ..)| from != to)
            .collect();
        for (from, to, ..) in &edges {
            graph.update_edge(nodes[*from], nodes[*to], ());
        }
        let mut components: Vec<Vec<usize>> = tarjan_scc(&graph)
            .into_iter()
            .map(|component| {
                let mut groups: Vec<usize> =
                    component.into_iter().map(|node| node.index()).collect();
                groups.sort_unstable();
                groups
            })
            .collect();
        components.sort_by_key(|component| component.first().copied());
        let mut cluster_of_group = vec![0; groups.len()];
        for (index, component) in components.iter().enumerate() {
            for group in component {
                cluster_of_group[*group] = index;
            }
        }
        let mut clusters: Vec<Cluster> = components
            .into_iter()
            .map(|component| {
                let mut units: Vec<UnitId> =
                    component.iter().flat_map(|group| groups[*group].units.clone()).collect();
                units.sort_unstable();
                let gress = component.first().map(|group| groups[*group].gress).unwrap_or_default();
                Cluster { groups: component, units, gress, before: vec![], after: vec![] }
            })
            .collect();
        let mut distances: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        let mut circles: Vec<usize> = Vec::new();
        for (from, to, distance, before, after, kind) in edges {
            let ends = (cluster_of_group[from], cluster_of_group[to]);
            if ends.0 != ends.1 {
                let most = distances.entry(ends).or_insert(distance);
                *most = (*most).max(distance);
            } else if distance > 0 && !circles.contains(&ends.0) {
                circles.push(ends.0);
                faults.push(circle(problem, &groups, &group_of_unit, (before, after, kind)));
            }
        }
        for ((from, to), distance) in distances {
            clusters[from].after.push((to, distance));
            clusters[to].before.push((from, distance));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let of_unit = group_of_unit.iter().map(|group| cluster_of_group[*group]).collect();
        Ok(Clusters { groups, clusters, of_unit, group_of_unit })
    }

    /// How many stages come before each cluster at least, by dependencies alone.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.clusters.len()];
        for index in self.topological() {
            for (after, distance) in &self.clusters[index].after {
                depths[*after] = depths[*after].max(depths[index] + distance);
            }
        }
        depths
    }

    /// How many stages come after each cluster at least, by dependencies alone.
    pub fn heights(&self) -> Vec<u32> {
        let mut heights = vec![0; self.clusters.len()];
        for index in self.topological().into_iter().rev() {
            for (after, distance) in &self.clusters[index].after {
                heights[index] = heights[index].max(heights[*after] + distance);
            }
        }
        heights
    }

    /// Clusters so that none comes before one that it waits for; otherwise as written.
    pub(super) fn topological(&self) -> Vec<usize> {
        self.sorted_by(|cluster| cluster)
    }

    /// The same, with the least key first of those that are possible next.
    pub(super) fn sorted_by<K: Ord>(&self, key: impl Fn(usize) -> K) -> Vec<usize> {
        let mut waiting: Vec<usize> =
            self.clusters.iter().map(|cluster| cluster.before.len()).collect();
        let mut ready: BTreeSet<(K, usize)> =
            (0..waiting.len()).filter(|at| waiting[*at] == 0).map(|at| (key(at), at)).collect();
        let mut order = Vec::with_capacity(waiting.len());
        while let Some((_, next)) = ready.pop_first() {
            order.push(next);
            for (after, _) in &self.clusters[next].after {
                waiting[*after] -= 1;
                if waiting[*after] == 0 {
                    ready.insert((key(*after), *after));
                }
            }
        }
        order
    }
}

/// Dependencies that a layout has to respect: those within one half. A packet passes all of ingress
/// before egress.
pub(crate) fn dependencies(
    problem: &Problem,
) -> impl Iterator<Item = (UnitId, UnitId, DependencyKind)> {
    problem.dependencies.iter().filter_map(|each| {
        let before = problem.units.get(each.before.0 as usize)?;
        let after = problem.units.get(each.after.0 as usize)?;
        (before.gress == after.gress).then_some((each.before, each.after, each.kind))
    })
}

fn groups(problem: &Problem) -> (Vec<Group>, Vec<usize>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut of_array: BTreeMap<ArrayId, usize> = BTreeMap::new();
    let mut group_of_unit = Vec::with_capacity(problem.units.len());
    for (index, unit) in problem.units.iter().enumerate() {
        let id = UnitId(index as u32);
        let known = unit.array.and_then(|array| of_array.get(&array).copied());
        let group = known.unwrap_or(groups.len());
        group_of_unit.push(group);
        if known.is_some() {
            groups[group].units.push(id);
            groups[group].may_merge &= unit.may_merge();
        } else {
            of_array.extend(unit.array.map(|array| (array, group)));
            groups.push(Group {
                units: vec![id],
                array: unit.array,
                gress: unit.gress,
                may_merge: unit.may_merge(),
            });
        }
    }
    (groups, group_of_unit)
}

fn group_faults(problem: &Problem, groups: &[Group]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for group in groups {
        let Some(array) = group.array else { continue };
        let of = |gress| {
            group.units.iter().copied().find(|unit| problem.units[unit.0 as usize].gress == gress)
        };
        if let (Some(ingress), Some(egress)) = (of(Gress::Ingress), of(Gress::Egress)) {
            faults.push(Fault::BothHalves { array, ingress, egress });
            continue;
        }
        if !group.may_merge && group.units.len() > 1 {
            let fixed =
                group.units.iter().copied().find(|id| !problem.units[id.0 as usize].may_merge());
            let first = fixed.unwrap_or(group.units[0]);
            let second = group.units.iter().copied().find(|unit| *unit != first);
            faults.push(Fault::TwoTables { array, first, second: second.unwrap_or(first) });
            continue;
        }
        let inner = dependencies(problem).find(|(before, after, kind)| {
            *kind != DependencyKind::Anti
                && group.units.contains(before)
                && group.units.contains(after)
        });
        if let Some((before, after, kind)) = inner {
            faults.push(Fault::Apart { array, chain: vec![before, after], kind });
        }
    }
    faults
}

/// Returns the fault of a group that has to come after itself: the shortest path from `after` back to the group of
/// `before`. A path enters a group at one unit and may leave it at another, which the group's array
/// ties to the first; from one such place to the next is a leg.
fn circle(
    problem: &Problem,
    groups: &[Group],
    group_of_unit: &[usize],
    (before, after, kind): (UnitId, UnitId, DependencyKind),
) -> Fault {
    let group = |unit: UnitId| group_of_unit[unit.0 as usize];
    // Of each unit: where the path before it entered its group, and at which unit it left.
    let mut came_from: BTreeMap<UnitId, Option<(UnitId, UnitId)>> = BTreeMap::new();
    let mut queue: VecDeque<UnitId> = [after].into();
    came_from.insert(after, None);
    let mut back = None;
    while let Some(unit) = queue.pop_front() {
        if group(unit) == group(before) {
            back = Some(unit);
            break;
        }
        let mates = &groups[group(unit)].units;
        for (from, to, _) in dependencies(problem).filter(|(from, ..)| mates.contains(from)) {
            if let Entry::Vacant(place) = came_from.entry(to) {
                place.insert(Some((unit, from)));
                queue.push_back(to);
            }
        }
    }
    // Entered and left, from `after` to the group of `before`.
    let mut steps: Vec<(UnitId, UnitId)> = Vec::new();
    if let Some(last) = back {
        steps.push((last, before));
        let mut unit = last;
        while let Some((entered, left)) = came_from.get(&unit).copied().flatten() {
            steps.push((entered, left));
            unit = entered;
        }
    }
    steps.reverse();
    let mut legs: Vec<Vec<UnitId>> = Vec::new();
    let mut leg = vec![before];
    for (entered, left) in steps {
        leg.push(entered);
        if entered != left {
            legs.push(std::mem::replace(&mut leg, vec![left]));
        }
    }
    // What is left over goes round to the beginning, and ends with its first unit.
    if leg.len() > 1
        && let Some(first) = legs.first_mut()
    {
        leg.extend(first.iter().skip(1));
        *first = std::mem::take(&mut leg);
    }
    match legs.as_slice() {
        [] => Fault::Circle { chain: leg },
        [chain] => match groups[group(chain[0])].array {
            Some(array) => Fault::Apart { array, chain: chain.clone(), kind },
            None => Fault::Circle { chain: chain.clone() },
        },
        _ => Fault::Orders { legs },
    }
}
