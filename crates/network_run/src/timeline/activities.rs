// SPDX-License-Identifier: Apache-2.0
//! [`Activities`]: what the agents of reacting switches did, within the window and a budget. Commits and failures have
//! budgets of their own, because there are far more dialogues in which nothing changes.

use super::Window;
use serde_json::{Value, json};

/// The most dialogues of each kind; later ones are counted.
const MAX_EACH: usize = 20_000;

/// The longest text, in characters.
const MAX_TEXT: usize = 600;

/// A dialogue of a switch's agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// When it began, in picoseconds.
    pub began_ps: u64,
    /// When it ended.
    pub ended_ps: u64,
    /// What came of it.
    pub kind: ActivityKind,
    /// All of it.
    pub text: String,
}

/// What came of a dialogue. The numbers are those of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityKind {
    /// Nothing changed.
    Idle = 0,
    /// A change was committed.
    Commit = 1,
    /// A commit failed, or a reaction is dead.
    Failure = 2,
}

/// The dialogues of all switches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activities {
    of_switches: Vec<Vec<Activity>>,
    kept: [usize; 3],
    omitted: u64,
}

impl Activities {
    pub(crate) fn add(&mut self, window: Window, switch: usize, activity: Activity) {
        if activity.ended_ps < window.from_ps || activity.began_ps > window.to_ps {
            return;
        }
        let kept = &mut self.kept[activity.kind as usize];
        if *kept == MAX_EACH {
            self.omitted += 1;
            return;
        }
        *kept += 1;
        if self.of_switches.len() <= switch {
            self.of_switches.resize(switch + 1, Vec::new());
        }
        let text = activity.text.trim_end().chars().take(MAX_TEXT).collect();
        self.of_switches[switch].push(Activity { text, ..activity });
    }

    /// For each switch with dialogues its number, and of each dialogue begin, end, kind and text.
    pub(crate) fn json(&self) -> Value {
        let switches = self.of_switches.iter().enumerate().filter(|(_, own)| !own.is_empty());
        let of_switch = |(number, own): (usize, &Vec<Activity>)| {
            let all =
                own.iter().map(|one| json!([one.began_ps, one.ended_ps, one.kind as u8, one.text]));
            json!([number, all.collect::<Vec<_>>()])
        };
        switches.map(of_switch).collect::<Vec<_>>().into()
    }

    /// How many dialogues in the window found no room.
    pub(crate) fn omitted(&self) -> u64 {
        self.omitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_have_room_when_idle_dialogues_have_none() {
        let mut activities = Activities::default();
        let window = Window { from_ps: 10, to_ps: u64::MAX };
        let activity = |at_ps: u64, kind| Activity {
            began_ps: at_ps,
            ended_ps: at_ps + 1,
            kind,
            text: "dialogue\n".to_string(),
        };
        activities.add(window, 1, activity(2, ActivityKind::Commit));
        for at_ps in 0..MAX_EACH as u64 + 3 {
            activities.add(window, 1, activity(at_ps + 10, ActivityKind::Idle));
        }
        activities.add(window, 1, activity(1 << 40, ActivityKind::Commit));
        assert_eq!(activities.omitted(), 3);
        let json = activities.json();
        assert_eq!(json[0][0], 1);
        let own = json[0][1].as_array().expect("dialogues");
        assert_eq!(own.len(), MAX_EACH + 1);
        assert_eq!(own[MAX_EACH], json!([1u64 << 40, (1u64 << 40) + 1, 1, "dialogue"]));
    }
}
