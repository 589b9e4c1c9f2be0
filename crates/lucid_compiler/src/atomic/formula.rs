// SPDX-License-Identifier: Apache-2.0
//! Conditions as decision diagrams (Bryant 1986): ordered, reduced and shared, so that equal functions
//! of the same tests are equal, and a condition of a branch is gone after the join. Tests are
//! conditions on subjects, which are numbers here: variables or values of [`super`]. From diagrams to
//! match rules in order: `rules`.

use pisa::Condition;
use std::collections::HashMap;

/// Index into the nodes of a [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Formula(u32);

impl Formula {
    pub(super) const NEVER: Formula = Formula(0);
    pub(super) const ALWAYS: Formula = Formula(1);
}

/// A test of a subject: `subject & mask == value` or `subject <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Test {
    pub(super) subject: u32,
    pub(super) width_bits: u32,
    pub(super) condition: Condition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// Index into the tests; lower ones are nearer to the root.
    test: u32,
    low: Formula,
    high: Formula,
}

/// Shared nodes of many formulas.
#[derive(Clone, Debug)]
pub(super) struct Formulas {
    tests: Vec<Test>,
    numbers: HashMap<Test, u32>,
    nodes: Vec<Node>,
    unique: HashMap<Node, Formula>,
    known: HashMap<(Formula, Formula, Formula), Formula>,
}

impl Default for Formulas {
    fn default() -> Formulas {
        let end = |formula| Node { test: u32::MAX, low: formula, high: formula };
        Formulas {
            tests: Vec::new(),
            numbers: HashMap::new(),
            nodes: vec![end(Formula::NEVER), end(Formula::ALWAYS)],
            unique: HashMap::new(),
            known: HashMap::new(),
        }
    }
}

impl Formulas {
    fn node(&mut self, test: u32, low: Formula, high: Formula) -> Formula {
        if low == high {
            return low;
        }
        let node = Node { test, low, high };
        let next = Formula(self.nodes.len() as u32);
        *self.unique.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    /// That a test holds.
    fn test(&mut self, test: Test) -> Formula {
        let next = self.tests.len() as u32;
        let number = *self.numbers.entry(test).or_insert_with(|| {
            self.tests.push(test);
            next
        });
        self.node(number, Formula::NEVER, Formula::ALWAYS)
    }

    /// `subject & mask == value`.
    pub(super) fn ternary(
        &mut self,
        (subject, width_bits): (u32, u32),
        value: u128,
        mask: u128,
    ) -> Formula {
        if value & !mask != 0 {
            return Formula::NEVER;
        }
        if mask == 0 {
            return Formula::ALWAYS;
        }
        // Of a single bit only one of the two tests is used.
        if mask.is_power_of_two() && value == 0 {
            let set = self.ternary((subject, width_bits), mask, mask);
            return self.not(set);
        }
        self.test(Test { subject, width_bits, condition: Condition::Ternary { value, mask } })
    }

    /// `subject <= high`.
    pub(super) fn at_most(&mut self, (subject, width_bits): (u32, u32), high: u128) -> Formula {
        let all = lucid::core::arithmetic::mask(width_bits);
        if high >= all {
            return Formula::ALWAYS;
        }
        // As many zeros at the top, nothing asked of the rest.
        if (high + 1).is_power_of_two() {
            return self.ternary((subject, width_bits), 0, all & !high);
        }
        // The upper half or less of the top values: ones at the top say no.
        if (high + 1) & (all - high).wrapping_sub(1) == 0 && (all - high).is_power_of_two() {
            let above = self.ternary((subject, width_bits), high + 1, high + 1);
            return self.not(above);
        }
        let condition = Condition::Range { low: 0, high };
        self.test(Test { subject, width_bits, condition })
    }

    /// If `condition` then `high` else `low`.
    pub(super) fn choose(&mut self, condition: Formula, high: Formula, low: Formula) -> Formula {
        match condition {
            Formula::ALWAYS => return high,
            Formula::NEVER => return low,
            _ if high == low => return high,
            _ if high == Formula::ALWAYS && low == Formula::NEVER => return condition,
            _ => {}
        }
        let key = (condition, high, low);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let first = [condition, high, low].map(|formula| self.nodes[formula.0 as usize].test);
        let test = first.into_iter().min().unwrap_or(u32::MAX);
        let side = |formulas: &Self, formula: Formula, upper: bool| {
            let node = formulas.nodes[formula.0 as usize];
            match (node.test == test, upper) {
                (false, _) => formula,
                (true, true) => node.high,
                (true, false) => node.low,
            }
        };
        let part = |formulas: &mut Self, upper| {
            let condition = side(formulas, condition, upper);
            let (high, low) = (side(formulas, high, upper), side(formulas, low, upper));
            stacker::maybe_grow(128 * 1024, 1024 * 1024, || formulas.choose(condition, high, low))
        };
        let upper = part(self, true);
        let lower = part(self, false);
        let made = self.node(test, lower, upper);
        self.known.insert(key, made);
        made
    }

    pub(super) fn not(&mut self, formula: Formula) -> Formula {
        self.choose(formula, Formula::NEVER, Formula::ALWAYS)
    }

    pub(super) fn and(&mut self, left: Formula, right: Formula) -> Formula {
        self.choose(left, right, Formula::NEVER)
    }

    pub(super) fn or(&mut self, left: Formula, right: Formula) -> Formula {
        self.choose(left, Formula::ALWAYS, right)
    }

    /// Whether `left` holds only where `right` does.
    pub(super) fn implies(&mut self, left: Formula, right: Formula) -> bool {
        let not = self.not(right);
        self.and(left, not) == Formula::NEVER
    }

    /// The test at the root and what follows if it does not hold and if it does.
    pub(super) fn root(&self, formula: Formula) -> Option<(Test, Formula, Formula)> {
        if formula == Formula::ALWAYS || formula == Formula::NEVER {
            return None;
        }
        let node = self.nodes[formula.0 as usize];
        Some((self.tests[node.test as usize], node.low, node.high))
    }

    /// The tests that a formula depends on, nearest to the root first.
    pub(super) fn tests_of(&self, formula: Formula) -> Vec<Test> {
        let mut seen = std::collections::HashSet::new();
        let mut found = std::collections::BTreeSet::new();
        let mut open = vec![formula];
        while let Some(formula) = open.pop() {
            if self.root(formula).is_none() || !seen.insert(formula) {
                continue;
            }
            let node = self.nodes[formula.0 as usize];
            found.insert(node.test);
            open.extend([node.low, node.high]);
        }
        found.into_iter().map(|test| self.tests[test as usize]).collect()
    }

    /// The formula with other subjects: each test becomes what `map` says of it.
    pub(super) fn replace(
        &mut self,
        formula: Formula,
        map: &mut dyn FnMut(&mut Formulas, Test) -> Formula,
    ) -> Formula {
        let mut done = HashMap::new();
        self.replace_known(formula, map, &mut done)
    }

    fn replace_known(
        &mut self,
        formula: Formula,
        map: &mut dyn FnMut(&mut Formulas, Test) -> Formula,
        done: &mut HashMap<Formula, Formula>,
    ) -> Formula {
        let Some((test, low, high)) = self.root(formula) else { return formula };
        if let Some(known) = done.get(&formula) {
            return *known;
        }
        let (low, high) = stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
            (self.replace_known(low, map, done), self.replace_known(high, map, done))
        });
        let condition = map(self, test);
        let made = self.choose(condition, high, low);
        done.insert(formula, made);
        made
    }
}
