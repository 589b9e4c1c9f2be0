// SPDX-License-Identifier: Apache-2.0
//! Finding objects by control-plane name: the full name, or a dotted suffix that is unique; and the
//! nearest name when there is none.

/// Why a name was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// No such name; the nearest one, if any is near.
    Unknown(Option<String>),
    /// The name is a suffix of several.
    Ambiguous(Vec<String>),
}

/// The index of the name that equals `wanted` or ends with `.wanted`.
pub fn find<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, NotFound> {
    let wanted = wanted.strip_prefix('.').unwrap_or(wanted);
    if let Some(at) = names.clone().position(|name| name == wanted) {
        return Ok(at);
    }
    let fits = |name: &str| {
        name.strip_suffix(wanted).is_some_and(|front| front.ends_with('.') || front.is_empty())
    };
    let found: Vec<(usize, &str)> =
        names.clone().enumerate().filter(|(_, name)| fits(name)).collect();
    match found.as_slice() {
        [(at, _)] => Ok(*at),
        [] => Err(NotFound::Unknown(source::nearest(wanted, names).map(str::to_string))),
        several => {
            Err(NotFound::Ambiguous(several.iter().map(|(_, name)| name.to_string()).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_suffix() {
        let names = ["MyIngress.ipv4_lpm", "MyIngress.acl", "MyEgress.acl"];
        let find = |wanted| find(wanted, names.iter().copied());
        assert_eq!(find("MyEgress.acl"), Ok(2));
        assert_eq!(find("ipv4_lpm"), Ok(0));
        assert_eq!(
            find("acl"),
            Err(NotFound::Ambiguous(vec!["MyIngress.acl".into(), "MyEgress.acl".into()]))
        );
        assert_eq!(find("ipv4_lmp"), Err(NotFound::Unknown(Some("MyIngress.ipv4_lpm".into()))));
        assert_eq!(find("4_lpm"), Err(NotFound::Unknown(None)));
        assert_eq!(find("zzz"), Err(NotFound::Unknown(None)));
    }
}
