// SPDX-License-Identifier: Apache-2.0
//! The action data of an entry: an action with arguments, directly or through an action profile. `profile` resolves
//! members and groups.

use ir::{ActionId, Bits};

/// An action with the arguments that the control plane gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoundAction {
    /// The action.
    pub action: ActionId,
    /// Arguments in the order of [`ir::Action::parameters`], in the widths of their slots.
    pub arguments: Vec<Bits>,
}

/// Number of a member of an action profile, chosen by the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberId(pub u32);

/// Number of a group of an action selector, chosen by the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// One action of a one-shot action set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WeightedAction {
    /// The action.
    pub action: BoundAction,
    /// Its share, at least 1.
    pub weight: u32,
    /// Port whose state decides whether it takes part, in the control plane's bytes; kept for reading
    /// back.
    pub watch_port: Vec<u8>,
}

/// The action data of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ActionData {
    /// Runs this action.
    Direct(BoundAction),
    /// Runs the action of a member of the table's profile.
    Member(MemberId),
    /// Runs a member of the group, chosen by hash.
    Group(GroupId),
    /// Runs one of these, chosen by hash and weight (P4Runtime's one-shot).
    OneShot(Vec<WeightedAction>),
}

/// Chooses an index by hash: `hash` modulo the sum of the weights, counted through the weights in order.
pub(crate) fn choose_by_weight(
    weights: impl Iterator<Item = u32> + Clone,
    hash: u64,
) -> Option<usize> {
    let total: u64 = weights.clone().map(u64::from).sum();
    if total == 0 {
        return None;
    }
    let mut rest = hash % total;
    for (at, weight) in weights.enumerate() {
        let weight = u64::from(weight);
        if rest < weight {
            return Some(at);
        }
        rest -= weight;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::choose_by_weight;

    #[test]
    fn choice_follows_the_weights() {
        let weights = [2u32, 0, 1];
        let chosen: Vec<_> =
            (0..7).map(|hash| choose_by_weight(weights.iter().copied(), hash)).collect();
        assert_eq!(chosen, [0, 0, 2, 0, 0, 2, 0].map(Some));
        assert_eq!(choose_by_weight([].into_iter(), 3), None);
    }
}
