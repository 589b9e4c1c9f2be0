// SPDX-License-Identifier: Apache-2.0
//! [`Predicates`]: conditions as boolean functions of variables, in one form each: reduced ordered decision diagrams with
//! shared nodes (Bryant, 1986). What the variables stand for is the caller's.

use std::collections::{BTreeSet, HashMap};

/// The most nodes. A control with more has conditions of which nothing is said.
const MAX_NODES: usize = 1 << 20;

/// A boolean function. Equal functions have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Predicate(u32);

impl Predicate {
    /// Never.
    pub const FALSE: Predicate = Predicate(0);
    /// Always.
    pub const TRUE: Predicate = Predicate(1);
}

/// A decision by a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    low: Predicate,
    high: Predicate,
}

/// Nodes of predicates, each once.
#[derive(Clone, Debug, Default)]
pub struct Predicates {
    /// Without the two constants.
    nodes: Vec<Node>,
    known: HashMap<Node, Predicate>,
    choices: HashMap<(Predicate, Predicate, Predicate), Predicate>,
}

impl Predicates {
    /// Whether the limit of nodes has been reached; predicates made since then are wrong.
    pub fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_NODES
    }

    /// Returns the predicate that a variable is true.
    pub fn variable(&mut self, variable: u32) -> Predicate {
        self.node(Node { variable, low: Predicate::FALSE, high: Predicate::TRUE })
    }

    fn node(&mut self, node: Node) -> Predicate {
        if node.low == node.high {
            return node.low;
        }
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        if self.is_full() {
            return Predicate::TRUE;
        }
        self.nodes.push(node);
        let predicate = Predicate(self.nodes.len() as u32 + 1);
        self.known.insert(node, predicate);
        predicate
    }

    /// Returns the first decision of a predicate: the variable, and what holds if it is false or true. `None` of
    /// constants.
    pub fn decision(&self, predicate: Predicate) -> Option<(u32, Predicate, Predicate)> {
        let at = (predicate.0 as usize).checked_sub(2)?;
        let Node { variable, low, high } = *self.nodes.get(at)?;
        Some((variable, low, high))
    }

    fn first_variable(&self, predicates: &[Predicate]) -> Option<u32> {
        predicates.iter().filter_map(|one| self.decision(*one)).map(|(variable, ..)| variable).min()
    }

    /// What holds where a variable, which no decision is in front of, is false and true.
    fn cofactors(&self, predicate: Predicate, variable: u32) -> (Predicate, Predicate) {
        match self.decision(predicate) {
            Some((first, low, high)) if first == variable => (low, high),
            _ => (predicate, predicate),
        }
    }

    /// Returns `condition ? then : otherwise`.
    pub fn choose(
        &mut self,
        condition: Predicate,
        then: Predicate,
        otherwise: Predicate,
    ) -> Predicate {
        match (condition, then, otherwise) {
            (Predicate::TRUE, ..) => return then,
            (Predicate::FALSE, ..) => return otherwise,
            (_, Predicate::TRUE, Predicate::FALSE) => return condition,
            _ if then == otherwise => return then,
            _ => {}
        }
        let key = (condition, then, otherwise);
        if let Some(known) = self.choices.get(&key) {
            return *known;
        }
        let Some(variable) = self.first_variable(&[condition, then, otherwise]) else {
            return otherwise;
        };
        let (condition, then, otherwise) = (
            self.cofactors(condition, variable),
            self.cofactors(then, variable),
            self.cofactors(otherwise, variable),
        );
        let low = self.choose(condition.0, then.0, otherwise.0);
        let high = self.choose(condition.1, then.1, otherwise.1);
        let result = self.node(Node { variable, low, high });
        self.choices.insert(key, result);
        result
    }

    /// Returns that both hold.
    pub fn and(&mut self, left: Predicate, right: Predicate) -> Predicate {
        self.choose(left, right, Predicate::FALSE)
    }

    /// Returns that one of them holds, or both.
    pub fn or(&mut self, left: Predicate, right: Predicate) -> Predicate {
        self.choose(left, Predicate::TRUE, right)
    }

    /// Returns that it does not hold.
    pub fn not(&mut self, predicate: Predicate) -> Predicate {
        self.choose(predicate, Predicate::FALSE, Predicate::TRUE)
    }

    /// Returns a predicate that is equal wherever `care` holds, with fewer decisions if possible (Coudert and Madre,
    /// 1990).
    pub fn restrict(&mut self, predicate: Predicate, care: Predicate) -> Predicate {
        self.restrict_within(predicate, care, &mut HashMap::new())
    }

    fn restrict_within(
        &mut self,
        predicate: Predicate,
        care: Predicate,
        known: &mut HashMap<(Predicate, Predicate), Predicate>,
    ) -> Predicate {
        let Some((of_care, low, high)) = self.decision(care) else { return predicate };
        let Some((variable, ..)) = self.decision(predicate) else { return predicate };
        if let Some(known) = known.get(&(predicate, care)) {
            return *known;
        }
        let restricted = if of_care < variable {
            let care = self.or(low, high);
            self.restrict_within(predicate, care, known)
        } else {
            let (low, high) = self.cofactors(predicate, variable);
            let (care_low, care_high) = self.cofactors(care, variable);
            if care_low == Predicate::FALSE {
                self.restrict_within(high, care_high, known)
            } else if care_high == Predicate::FALSE {
                self.restrict_within(low, care_low, known)
            } else {
                let low = self.restrict_within(low, care_low, known);
                let high = self.restrict_within(high, care_high, known);
                self.node(Node { variable, low, high })
            }
        };
        known.insert((predicate, care), restricted);
        restricted
    }

    /// Returns the predicate that some values of the variables make the given one true, which of these variables the answer
    /// does not depend on.
    pub fn whatever(
        &mut self,
        predicate: Predicate,
        is_any: &mut dyn FnMut(u32) -> bool,
    ) -> Predicate {
        let mut known = HashMap::new();
        self.whatever_within(predicate, is_any, &mut known)
    }

    fn whatever_within(
        &mut self,
        predicate: Predicate,
        is_any: &mut dyn FnMut(u32) -> bool,
        known: &mut HashMap<Predicate, Predicate>,
    ) -> Predicate {
        let Some((variable, low, high)) = self.decision(predicate) else { return predicate };
        if let Some(known) = known.get(&predicate) {
            return *known;
        }
        let low = self.whatever_within(low, is_any, known);
        let high = self.whatever_within(high, is_any, known);
        let result = match is_any(variable) {
            true => self.or(low, high),
            false => self.node(Node { variable, low, high }),
        };
        known.insert(predicate, result);
        result
    }

    /// Returns the variables that predicates depend on.
    pub fn variables(&self, predicates: &[Predicate]) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = predicates.to_vec();
        while let Some(predicate) = open.pop() {
            if let Some((variable, low, high)) = self.decision(predicate)
                && seen.insert(predicate)
            {
                found.insert(variable);
                open.extend([low, high]);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a predicate when the bits of `values` are the variables.
    fn value(predicates: &Predicates, mut predicate: Predicate, values: u32) -> bool {
        while let Some((variable, low, high)) = predicates.decision(predicate) {
            predicate = if values >> variable & 1 == 1 { high } else { low };
        }
        predicate == Predicate::TRUE
    }

    /// Functions of four variables that operations make of each other.
    fn some(predicates: &mut Predicates) -> Vec<Predicate> {
        let mut all: Vec<Predicate> = (0..4).map(|at| predicates.variable(at)).collect();
        for at in 0..60usize {
            let [a, b, c] = [at, at * 7 + 3, at * 5 + 1].map(|one| all[one % all.len()]);
            let next = match at % 4 {
                0 => predicates.and(a, b),
                1 => predicates.or(b, c),
                2 => predicates.not(c),
                _ => predicates.choose(c, a, b),
            };
            all.push(next);
        }
        all
    }

    #[test]
    fn operations_are_those_of_truth_tables() {
        let mut predicates = Predicates::default();
        let all = some(&mut predicates);
        for (at, &a) in all.iter().enumerate() {
            let (b, c) = (all[(at * 3 + 1) % all.len()], all[(at * 11 + 5) % all.len()]);
            let (and, or, not) = (predicates.and(a, b), predicates.or(a, b), predicates.not(a));
            let choice = predicates.choose(a, b, c);
            let restricted = predicates.restrict(a, b);
            let whatever = predicates.whatever(a, &mut |variable| variable == 1);
            for values in 0..16 {
                let is = |one| value(&predicates, one, values);
                assert_eq!(is(and), is(a) && is(b));
                assert_eq!(is(or), is(a) || is(b));
                assert_eq!(is(not), !is(a));
                assert_eq!(is(choice), if is(a) { is(b) } else { is(c) });
                assert!(!is(b) || is(restricted) == is(a));
                let with = |bit: u32| value(&predicates, a, values & !2 | bit << 1);
                assert_eq!(is(whatever), with(0) || with(1));
            }
            assert!(!predicates.variables(&[whatever]).contains(&1));
        }
    }

    /// Without a memory of what is known this takes 2^60 steps.
    #[test]
    fn restriction_visits_each_pair_once() {
        let mut predicates = Predicates::default();
        // The number of true variables is 0 modulo `divisor`.
        let mut divides = |divisor: usize| {
            let mut remainders = vec![Predicate::FALSE; divisor];
            remainders[0] = Predicate::TRUE;
            for variable in (0..60).rev() {
                let variable = predicates.variable(variable);
                let next = (0..divisor).map(|at| {
                    let after = remainders[(at + divisor - 1) % divisor];
                    predicates.choose(variable, after, remainders[at])
                });
                remainders = next.collect();
            }
            remainders[0]
        };
        let (even, care) = (divides(2), divides(3));
        let restricted = predicates.restrict(even, care);
        assert_eq!(predicates.and(restricted, care), predicates.and(even, care));
    }

    #[test]
    fn equal_functions_are_one() {
        let mut predicates = Predicates::default();
        let all = some(&mut predicates);
        for &a in &all {
            for &b in &all {
                let equal = (0..16)
                    .all(|values| value(&predicates, a, values) == value(&predicates, b, values));
                assert_eq!(a == b, equal);
            }
        }
    }
}
