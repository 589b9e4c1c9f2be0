// SPDX-License-Identifier: Apache-2.0
//! Names of a program's objects as specifications write them: Planewright's names (`M.filter#cells[2]`), and
//! the reference implementation's, with points for fields of records (`fwd.portTable`) or underscores
//! throughout (`fwd_portTable`, `Fwd_out_port`).

/// The name without the signs in which the two differ.
fn plain(name: &str) -> String {
    let sign = |character| matches!(character, '.' | '#' | '[');
    name.chars()
        .filter(|character| *character != ']')
        .map(|character| if sign(character) { '_' } else { character })
        .collect()
}

/// The number of the name that is meant: the same, or the only one that is the same but for signs.
pub fn find_name<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<usize> {
    if let Some(at) = names.clone().position(|name| name == wanted) {
        return Some(at);
    }
    let wanted = plain(wanted);
    only(names.enumerate().filter(|(_, name)| plain(name) == wanted).map(|(at, _)| at))
}

/// As [`find_name`], where the name of something that holds it may stand before it: a table or a
/// module before an action.
pub fn find_member<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    wanted: &str,
) -> Option<usize> {
    if let Some(at) = find_name(names.clone(), wanted) {
        return Some(at);
    }
    let wanted = plain(wanted);
    let ends =
        |name: &str| wanted.strip_suffix(&plain(name)).is_some_and(|before| before.ends_with('_'));
    // Of `hit` and `Fwd.hit` the longer one is meant where both fit.
    let fits = names.enumerate().filter(|(_, name)| ends(name));
    fits.max_by_key(|(_, name)| name.len()).map(|(at, _)| at)
}

fn only(mut found: impl Iterator<Item = usize>) -> Option<usize> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let names = ["counts", "fwd#portTable", "a#b[2]", "x.y", "x#y", "Fwd.out_port", "hit"];
        for (wanted, name, member) in [
            ("counts", Some(0), Some(0)),
            ("fwd#portTable", Some(1), Some(1)),
            ("fwd.portTable", Some(1), Some(1)),
            ("fwd_portTable", Some(1), Some(1)),
            ("a.b[2]", Some(2), Some(2)),
            ("a_b_2", Some(2), Some(2)),
            ("x.y", Some(3), Some(3)),
            ("x#y", Some(4), Some(4)),
            // It could be either.
            ("x_y", None, None),
            ("fwd.portTable.Fwd_out_port", None, Some(5)),
            ("routes.hit", None, Some(6)),
            ("Fwd_out_port", Some(5), Some(5)),
            ("nohit", None, None),
            ("count", None, None),
            ("", None, None),
        ] {
            let list = names.iter().copied();
            let found = (find_name(list.clone(), wanted), find_member(list, wanted));
            assert_eq!(found, (name, member), "{wanted:?}");
        }
    }
}
