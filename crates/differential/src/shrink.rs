// SPDX-License-Identifier: Apache-2.0
//! Shrinks a case on which two subjects differ: removes commands and packets, then pieces of the program, and replaces
//! expressions by simpler ones, as long as a difference of the same kind stays. Candidates that do not compile are
//! discarded.

use crate::case::Case;
use crate::forms::Forms;
use crate::runner::{Difference, compare};
use crate::subject::{Stimulus, Subject};
use testing::p4::piece::{Part, Piece, Role};

/// The maximum number of smaller cases that are tried.
const ATTEMPT_LIMIT: u32 = 6000;

/// Returns the small case and the difference on it.
pub fn shrink(
    case: Case,
    difference: Difference,
    left: &mut dyn Subject,
    right: &mut dyn Subject,
) -> (Case, Difference) {
    let mut shrinker = Shrinker { case, difference, left, right, attempts: 0 };
    loop {
        let before = (shrinker.case.tree.size(), shrinker.case.stimuli.len());
        shrinker.drop_stimuli();
        shrinker.drop_pieces();
        shrinker.simplify();
        let after = (shrinker.case.tree.size(), shrinker.case.stimuli.len());
        if before == after || shrinker.attempts >= ATTEMPT_LIMIT {
            break;
        }
    }
    (shrinker.case, shrinker.difference)
}

struct Shrinker<'s> {
    case: Case,
    difference: Difference,
    left: &'s mut dyn Subject,
    right: &'s mut dyn Subject,
    attempts: u32,
}

impl Shrinker<'_> {
    /// Takes a candidate if it still shows a difference of the kind.
    fn accept(&mut self, tree: Option<Piece>, stimuli: Option<Vec<Stimulus>>) -> bool {
        if self.attempts >= ATTEMPT_LIMIT {
            return false;
        }
        self.attempts += 1;
        let new_tree = tree.as_ref().unwrap_or(&self.case.tree);
        let Ok(forms) = Forms::of_text(&new_tree.print()) else { return false };
        let new_stimuli = stimuli.as_ref().unwrap_or(&self.case.stimuli);
        match compare(&forms, new_stimuli, self.left, self.right) {
            Err(difference) if difference.kind == self.difference.kind => {
                self.difference = *difference;
                self.case.tree = tree.unwrap_or_else(|| self.case.tree.clone());
                if let Some(stimuli) = stimuli {
                    self.case.stimuli = stimuli;
                }
                true
            }
            _ => false,
        }
    }

    fn drop_stimuli(&mut self) {
        // Nothing after the difference matters.
        if let Some(last) = self.difference.stimulus {
            self.case.stimuli.truncate(last + 1);
        }
        let mut length = self.case.stimuli.len().div_ceil(2);
        while length > 0 {
            let mut start = 0;
            while start < self.case.stimuli.len() {
                let mut fewer = self.case.stimuli.clone();
                fewer.drain(start..(start + length).min(fewer.len()));
                if !self.accept(None, Some(fewer)) {
                    start += length;
                }
            }
            length = if length == 1 { 0 } else { length / 2 };
        }
    }

    /// Drops runs of droppable siblings, longest runs first.
    fn drop_pieces(&mut self) {
        for length in [32, 16, 8, 4, 2, 1] {
            let mut at = 0;
            loop {
                let candidates = runs(&self.case.tree, length);
                let Some((path, parts)) = candidates.get(at).cloned() else { break };
                let mut tree = self.case.tree.clone();
                if let Some(piece) = tree.at_mut(&path) {
                    let mut number = 0;
                    piece.parts.retain(|_| {
                        number += 1;
                        !parts.contains(&(number - 1))
                    });
                }
                if !self.accept(Some(tree), None) {
                    at += 1;
                }
            }
        }
    }

    /// Replaces compounds by what is in them and expressions by simpler ones.
    fn simplify(&mut self) {
        let mut at = 0;
        loop {
            let paths = replaceable(&self.case.tree);
            let Some(path) = paths.get(at) else { break };
            let Some(piece) = self.case.tree.at(path) else { break };
            let mut taken = false;
            for replacement in replacements(piece) {
                let mut tree = self.case.tree.clone();
                if let Some(place) = tree.at_mut(path) {
                    *place = replacement;
                }
                if self.accept(Some(tree), None) {
                    taken = true;
                    break;
                }
            }
            if !taken {
                at += 1;
            }
        }
    }
}

/// Runs of up to `length` droppable parts of one piece: the piece's path and the parts' numbers.
fn runs(tree: &Piece, length: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut found = Vec::new();
    walk(tree, &mut Vec::new(), &mut |path, piece| {
        let droppable: Vec<usize> = piece
            .parts
            .iter()
            .enumerate()
            .filter(|(_, part)| match part {
                Part::Piece(inner) => matches!(inner.role, Role::Droppable | Role::Compound),
                Part::Text(_) => false,
            })
            .map(|(number, _)| number)
            .collect();
        // Runs shorter than asked for come with the smaller lengths.
        if length == 1 || droppable.len() > length / 2 {
            found.extend(droppable.chunks(length).map(|run| (path.to_vec(), run.to_vec())));
        }
    });
    found
}

fn replaceable(tree: &Piece) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    walk(tree, &mut Vec::new(), &mut |path, piece| {
        if matches!(piece.role, Role::Compound | Role::Expression { .. }) {
            found.push(path.to_vec());
        }
    });
    found
}

fn walk(piece: &Piece, path: &mut Vec<usize>, visit: &mut impl FnMut(&[usize], &Piece)) {
    visit(path, piece);
    for (number, part) in piece.parts.iter().enumerate() {
        if let Part::Piece(inner) = part {
            path.push(number);
            walk(inner, path, visit);
            path.pop();
        }
    }
}

/// What may stand in a piece's place, simplest first.
fn replacements(piece: &Piece) -> Vec<Piece> {
    let mut found = Vec::new();
    match &piece.role {
        Role::Expression { ty, simplest } => {
            let simple = Piece::new(piece.role.clone(), simplest, Vec::new());
            if simple == *piece {
                return found;
            }
            found.push(simple);
            walk(piece, &mut Vec::new(), &mut |path, inner| {
                let fits = matches!(&inner.role, Role::Expression { ty: other, .. } if other == ty);
                if !path.is_empty() && fits {
                    found.push(inner.clone());
                }
            });
        }
        Role::Compound => {
            collect_bodies(piece, &mut found);
        }
        _ => {}
    }
    found
}

/// The nearest lists of statements in a compound.
fn collect_bodies(piece: &Piece, found: &mut Vec<Piece>) {
    for inner in piece.pieces() {
        if inner.role == Role::Body {
            found.push(inner.clone());
        } else {
            collect_bodies(inner, found);
        }
    }
}
