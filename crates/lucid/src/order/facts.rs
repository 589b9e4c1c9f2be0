// SPDX-License-Identifier: Apache-2.0
//! The order of places that is known in a body, and what it implies: the declared order of globals, the order
//! of parts, and constraints, closed under transitivity. It is complete for constraints of the form `p < q`
//! and `p <= q` over places that are ranges of one order, so no solver is needed.

use super::place::{Place, Relation};

/// `before < after`, or `before <= after` when not strict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    pub before: Place,
    pub after: Place,
    pub strict: bool,
}

/// A set of facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    list: Vec<Fact>,
}

/// The goal of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// All of the first is before all of the second.
    Strict,
    /// The same, or they are the same place.
    OrSame,
    /// Some part of the first is at or before some part of the second, so that the second cannot be
    /// before the first.
    Refute,
}

impl Facts {
    /// Adds a fact and returns its number.
    pub(crate) fn add(&mut self, fact: Fact) -> usize {
        self.list.push(fact);
        self.list.len() - 1
    }

    /// Whether `before < after` holds in every order that the facts allow.
    pub(crate) fn implies(&self, before: &Place, after: &Place) -> bool {
        self.search(before, after, Goal::Strict).is_some()
    }

    /// Whether `before <= after` does.
    pub(crate) fn implies_or_same(&self, before: &Place, after: &Place) -> bool {
        self.search(before, after, Goal::OrSame).is_some()
    }

    /// The facts (by number) that rule out `before < after`, if they do; empty if it is ruled out by
    /// the declarations alone.
    pub(crate) fn refutation(&self, before: &Place, after: &Place) -> Option<Vec<usize>> {
        self.search(after, before, Goal::Refute)
    }

    /// Follows facts from `from` until the goal holds for `to`; returns the facts of that path.
    fn search(&self, from: &Place, to: &Place, goal: Goal) -> Option<Vec<usize>> {
        if reached(from, false, to, goal) {
            return Some(Vec::new());
        }
        // A state is a fact that was followed last, and whether the path so far is strict.
        let mut seen = vec![[false; 2]; self.list.len()];
        let mut states: Vec<(usize, bool, Option<usize>)> = Vec::new();
        let mut next = 0;
        let mut here: Option<(Place, bool, Option<usize>)> = Some((from.clone(), false, None));
        while let Some((place, strict, state)) = here {
            for (number, fact) in self.list.iter().enumerate() {
                // To refute, a part of the place at the beginning is enough.
                let any_part = goal == Goal::Refute && state.is_none();
                let Some(strict) = followed(&place, strict, any_part, fact) else { continue };
                if std::mem::replace(&mut seen[number][usize::from(strict)], true) {
                    continue;
                }
                states.push((number, strict, state));
                if reached(&fact.after, strict, to, goal) {
                    let mut path = Vec::new();
                    let mut at = Some(states.len() - 1);
                    while let Some(state) = at {
                        path.push(states[state].0);
                        at = states[state].2;
                    }
                    path.reverse();
                    return Some(path);
                }
            }
            here = states
                .get(next)
                .map(|(fact, strict, _)| (self.list[*fact].after.clone(), *strict, Some(next)));
            next += 1;
        }
        None
    }
}

/// Whether knowing `x <= place` (or `x < place`) for the x asked about gives the goal.
fn reached(place: &Place, strict: bool, to: &Place, goal: Goal) -> bool {
    let relation = place.relation(to);
    match goal {
        Goal::Strict | Goal::OrSame => match relation {
            Relation::Before => true,
            // All of `place` is behind x, so any part of it is.
            Relation::Holds => strict || goal == Goal::OrSame,
            Relation::Same => strict || goal == Goal::OrSame,
            _ => false,
        },
        Goal::Refute => matches!(
            relation,
            Relation::Before | Relation::Holds | Relation::Same | Relation::Within
        ),
    }
}

/// Whether `x <= place` (or `<`) lets a fact be followed, and whether `x < fact.after` then.
fn followed(place: &Place, strict: bool, any_part: bool, fact: &Fact) -> Option<bool> {
    match place.relation(&fact.before) {
        Relation::Before => Some(true),
        Relation::Same => Some(strict || fact.strict),
        Relation::Holds if strict => Some(true),
        Relation::Holds if any_part => Some(fact.strict),
        Relation::Within if fact.strict => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::{Base, Step};
    use super::*;
    use crate::syntax::ast::NodeId;
    use source::Span;

    fn parameter(id: u32) -> Place {
        Place::whole(Base::Parameter(NodeId(id)))
    }

    fn global(number: u32) -> Place {
        Place::whole(Base::Global(number))
    }

    fn field(of: &Place, position: u32) -> Place {
        of.part(Step::Field { position, label: "f".into(), declared: Span::NONE })
    }

    fn facts(list: &[(Place, Place, bool)]) -> Facts {
        let mut facts = Facts::default();
        for (before, after, strict) in list {
            facts.add(Fact { before: before.clone(), after: after.clone(), strict: *strict });
        }
        facts
    }

    #[test]
    fn what_follows() {
        let (a, b, c) = (parameter(1), parameter(2), parameter(3));
        let chain = facts(&[(a.clone(), b.clone(), true), (b.clone(), c.clone(), true)]);
        assert!(chain.implies(&a, &c));
        assert!(!chain.implies(&c, &a));
        assert!(chain.refutation(&c, &a).is_some());
        // Parts follow their wholes, not vice versa.
        assert!(chain.implies(&field(&a, 0), &field(&c, 3)));
        let parts = facts(&[(field(&a, 0), b.clone(), true)]);
        assert!(!parts.implies(&a, &b));
        assert!(!parts.implies(&field(&a, 1), &b));
        // Declared globals are facts by themselves.
        let mixed = facts(&[(a.clone(), global(3), true)]);
        assert!(mixed.implies(&a, &global(5)));
        assert!(!mixed.implies(&a, &global(2)));
        assert_eq!(mixed.refutation(&global(4), &a), Some(vec![0]));
        // One strict fact makes the path strict.
        let loose = facts(&[(a.clone(), b.clone(), false), (b.clone(), c.clone(), true)]);
        assert!(!loose.implies(&a, &b));
        assert!(loose.implies_or_same(&a, &b));
        assert!(loose.implies(&a, &c));
        // Behind one part and before a later part of the same place.
        let inside = facts(&[(field(&a, 0), b.clone(), true)]);
        assert_eq!(inside.refutation(&b, &field(&a, 0)), Some(vec![0]));
        assert_eq!(inside.refutation(&b, &field(&a, 1)), None);
        // All of `a` cannot be behind what is behind a part of it.
        assert_eq!(inside.refutation(&b, &a), Some(vec![0]));
    }
}
