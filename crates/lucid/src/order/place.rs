// SPDX-License-Identifier: Apache-2.0
//! Places in the order of globals, and the relation of two places. A place is the paper's stage
//! (Lucid §5.2): the declared position of a global, or a parameter that stands for one, then fields in the
//! order of their declaration and elements in the order of their index.

use crate::check::{Size, SizeTerm};
use crate::syntax::ast::NodeId;
use source::Span;
use std::sync::Arc;

/// Where a place begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Base {
    /// The beginning of the checked function: not the place of a global, but comparable with places.
    Start,
    /// A global, by its number in order of declaration.
    Global(u32),
    /// A parameter, by its binder.
    Parameter(NodeId),
}

/// A part of what is at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A field of a record: its position among the fields, its label, and where it is declared.
    Field { position: u32, label: Arc<str>, declared: Span },
    /// An element of a vector.
    Element(Size),
}

/// A global or a part of one. A record or vector of globals is at the place of all its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub base: Base,
    pub steps: Vec<Step>,
}

/// The relation of two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// All of the first is before all of the second.
    Before,
    /// The converse.
    After,
    /// They are the same.
    Same,
    /// The second is a part of the first.
    Holds,
    /// The first is a part of the second.
    Within,
    /// Elements of one vector whose indexes are neither distinct nor ordered for all values of
    /// the sizes in them.
    Unclear,
    /// It depends on the values of the parameters.
    Open,
}

impl Place {
    /// A whole global, parameter, or the start.
    pub(crate) fn whole(base: Base) -> Place {
        Place { base, steps: Vec::new() }
    }

    /// A part of this place.
    pub(crate) fn part(&self, step: Step) -> Place {
        let mut part = self.clone();
        part.steps.push(step);
        part
    }

    /// The relation of this place to another.
    pub(crate) fn relation(&self, other: &Place) -> Relation {
        match (self.base, other.base) {
            (Base::Global(own), Base::Global(others)) if own < others => return Relation::Before,
            (Base::Global(own), Base::Global(others)) if own > others => return Relation::After,
            (own, others) if own != others => return Relation::Open,
            _ => {}
        }
        for (own, others) in self.steps.iter().zip(&other.steps) {
            match (own, others) {
                (Step::Field { position: own, .. }, Step::Field { position: others, .. }) => {
                    match own.cmp(others) {
                        std::cmp::Ordering::Less => return Relation::Before,
                        std::cmp::Ordering::Greater => return Relation::After,
                        std::cmp::Ordering::Equal => {}
                    }
                }
                (Step::Element(own), Step::Element(others)) if own == others => {}
                (Step::Element(own), Step::Element(others)) => {
                    // Sizes are never negative, so a difference that has a constant part is one.
                    let ahead = |low: &Size, high: &Size| {
                        high.minus(low).is_some_and(|difference| difference.constant > 0)
                    };
                    return if ahead(own, others) {
                        Relation::Before
                    } else if ahead(others, own) {
                        Relation::After
                    } else {
                        Relation::Unclear
                    };
                }
                // No value has both fields and elements; the type checker has reported it.
                _ => return Relation::Unclear,
            }
        }
        match self.steps.len().cmp(&other.steps.len()) {
            std::cmp::Ordering::Less => Relation::Holds,
            std::cmp::Ordering::Equal => Relation::Same,
            std::cmp::Ordering::Greater => Relation::Within,
        }
    }

    /// The place with the variable of a loop replaced by a size.
    pub(crate) fn at_round(&self, variable: NodeId, value: &Size) -> Place {
        let replace = |term: SizeTerm| (term == SizeTerm::Loop(variable)).then(|| value.clone());
        let steps = self.steps.iter().map(|step| match step {
            Step::Element(index) => Step::Element(index.replace(replace)),
            field => field.clone(),
        });
        Place { base: self.base, steps: steps.collect() }
    }

    /// The place of everything this is in some round of the loop: cut off before the variable.
    pub(crate) fn of_all_rounds(&self, variable: NodeId) -> Place {
        self.cut_before(|term| term == SizeTerm::Loop(variable))
    }

    /// The place cut off before the first index with such a term.
    pub(crate) fn cut_before(&self, hit: impl Fn(SizeTerm) -> bool) -> Place {
        let keep = self.steps.iter().position(
            |step| matches!(step, Step::Element(index) if index.terms.iter().any(|term| hit(*term))),
        );
        let mut place = self.clone();
        if let Some(keep) = keep {
            place.steps.truncate(keep);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(base: Base, steps: &[Step]) -> Place {
        Place { base, steps: steps.to_vec() }
    }

    fn field(position: u32) -> Step {
        Step::Field { position, label: position.to_string().into(), declared: Span::NONE }
    }

    fn element(constant: u128, loops: &[u32]) -> Step {
        let terms = loops.iter().map(|id| SizeTerm::Loop(NodeId(*id))).collect();
        Step::Element(Size { constant, terms })
    }

    #[test]
    fn relations() {
        use Relation::*;
        let (one, two) = (Base::Global(1), Base::Global(2));
        let p = Base::Parameter(NodeId(7));
        let table: &[(Place, Place, Relation)] = &[
            (place(one, &[]), place(two, &[]), Before),
            (place(one, &[field(3)]), place(two, &[]), Before),
            (place(two, &[]), place(one, &[field(3)]), After),
            (place(one, &[field(0)]), place(one, &[field(1)]), Before),
            (place(one, &[field(0), field(5)]), place(one, &[field(1)]), Before),
            (place(one, &[field(0)]), place(one, &[]), Within),
            (place(one, &[]), place(one, &[field(0)]), Holds),
            (place(one, &[element(0, &[])]), place(one, &[element(1, &[])]), Before),
            (place(one, &[element(0, &[9])]), place(one, &[element(1, &[9])]), Before),
            (place(one, &[element(0, &[9])]), place(one, &[element(0, &[9])]), Same),
            (place(one, &[element(1, &[9])]), place(one, &[element(0, &[9])]), After),
            (place(one, &[element(0, &[9])]), place(one, &[element(1, &[])]), Unclear),
            (place(one, &[element(0, &[8])]), place(one, &[element(0, &[9])]), Unclear),
            // Whatever the variable is, `i + 2` is behind 1.
            (place(one, &[element(1, &[])]), place(one, &[element(2, &[9])]), Before),
            (place(p, &[field(0)]), place(p, &[field(1)]), Before),
            (place(p, &[]), place(one, &[]), Open),
            (place(Base::Start, &[]), place(one, &[]), Open),
        ];
        for (first, second, expected) in table {
            assert_eq!(first.relation(second), *expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn rounds() {
        let variable = NodeId(9);
        let third = place(Base::Global(0), &[field(1), element(0, &[9]), field(2)]);
        let first_round = place(Base::Global(0), &[field(1), element(0, &[]), field(2)]);
        assert_eq!(third.at_round(variable, &Size::constant(0)), first_round);
        assert_eq!(third.of_all_rounds(variable), place(Base::Global(0), &[field(1)]));
    }
}
