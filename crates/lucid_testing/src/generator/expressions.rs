// SPDX-License-Identifier: Apache-2.0
//! Generates expressions of a type over the variables in scope, without effects.

use super::Generator;

impl Generator {
    /// An integer of a width.
    pub(super) fn integer(&mut self, width: u32, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(width);
        }
        let (below, kind) = (depth - 1, self.choose(16));
        let operators = ["+", "-", "&", "|", "^^", "|+|", "|-|"];
        match kind {
            0..=5 => self.leaf(width),
            6..=9 => {
                let operator = operators[self.choose(operators.len())];
                let left = self.integer(width, below);
                let right = self.integer(width, below);
                format!("({left} {operator} {right})")
            }
            10 => {
                let left = self.integer(width, below);
                let operator = ["<<", ">>"][self.choose(2)];
                format!("({left} {operator} {})", self.choose(10))
            }
            11 => {
                let from = [8, 16, 32][self.choose(3)];
                let inner = self.integer(from, below);
                format!("(int<{width}>)({inner})")
            }
            12 if width < 32 => {
                let low = self.choose((32 - width) as usize) as u32;
                let inner = self.variable(32).unwrap_or_else(|| "self".to_owned());
                format!("({inner}[{}:{low}])", low + width - 1)
            }
            13 if width == 16 => {
                let (upper, lower) = (self.integer(8, below), self.integer(8, below));
                format!("({upper} ^ {lower})")
            }
            14 if width <= 32 => {
                let seed = self.choose(5);
                let first = [8, 16, 32][self.choose(3)];
                let first = self.integer(first, 0);
                let second = self.integer(32, 0);
                format!("hash<{width}>({seed}, {first}, {second})")
            }
            15 => {
                let inner = self.integer(width, below);
                format!("(~{inner})")
            }
            _ => self.leaf(width),
        }
    }

    fn leaf(&mut self, width: u32) -> String {
        match self.choose(8) {
            0 => self.number(width),
            5 if width == 32 => "self".to_owned(),
            6 if width == 9 => "ingress_port".to_owned(),
            7 if self.features.time && width == 32 => "Sys.time()".to_owned(),
            _ => self.variable(width).unwrap_or_else(|| self.number(width)),
        }
    }

    fn number(&mut self, width: u32) -> String {
        format!("{}w{width}", self.constant(width))
    }

    /// A variable of a width, if there is one.
    pub(super) fn variable(&mut self, width: u32) -> Option<String> {
        let fitting: Vec<String> = (self.variables.iter())
            .filter(|variable| variable.width == width)
            .map(|variable| variable.name.clone())
            .collect();
        if fitting.is_empty() { None } else { Some(fitting[self.choose(fitting.len())].clone()) }
    }

    /// A boolean.
    pub(super) fn condition(&mut self, depth: u32) -> String {
        if depth == 0 {
            let comparisons = ["==", "!=", "<", ">", "<=", ">="];
            let width = [32, 8, 16][self.choose(3)];
            let left = self.variable(width).unwrap_or_else(|| self.number(width));
            if self.choose(2) == 1 {
                // As often true as false.
                return format!("(({left} & {}) == {})", 1 << self.choose(3), self.choose(2));
            }
            let operator = comparisons[self.choose(comparisons.len())];
            let right = self.integer(width, 1);
            return format!("({left} {operator} {right})");
        }
        match self.choose(6) {
            3 => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                let operator = ["&&", "||"][self.choose(2)];
                format!("({left} {operator} {right})")
            }
            4 => format!("!{}", self.condition(depth - 1)),
            5 => self.variable(0).unwrap_or_else(|| "true".to_owned()),
            _ => self.condition(0),
        }
    }

    /// A value of a type: an integer, or a boolean for width 0.
    pub(super) fn value(&mut self, width: u32, depth: u32) -> String {
        if width == 0 { self.condition(depth) } else { self.integer(width, depth) }
    }
}
