// SPDX-License-Identifier: Apache-2.0
//! Spelling suggestions: the known name that a misspelled one was probably meant to be.

/// Longer names are not compared, as the comparison takes time quadratic in their length.
const MAX_COMPARED_BYTES: usize = 64;

/// Returns the name most similar to `written`, if at most a third of the characters differ
/// (Damerau-Levenshtein distance; letter case alone counts as no difference).
///
/// Of a dotted name the last component is compared, too. Of equally similar names the first in
/// alphabetical order is returned. A name equal to `written` is no suggestion.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if written.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let limit = written.chars().count() / 3;
    let distance = |name: &str| match name.eq_ignore_ascii_case(written) {
        true => Some(0),
        // The distance is at least the difference of the lengths.
        false if name.len().abs_diff(written.len()) > 4 * limit => None,
        false => Some(strsim::damerau_levenshtein(written, name)).filter(|found| *found <= limit),
    };
    names
        .into_iter()
        .filter(|name| *name != written)
        .filter_map(|name| {
            let last = name.rsplit('.').next().unwrap_or(name);
            let found = distance(name).into_iter().chain(distance(last)).min()?;
            Some((found, name))
        })
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_third_of_the_characters_may_differ() {
        assert_eq!(nearest("hedaer", ["header", "reader"]), Some("header"));
        assert_eq!(nearest("transiton", ["transition", "action"]), Some("transition"));
        assert_eq!(nearest("cat", ["dog", "cow"]), None);
        assert_eq!(nearest("in", ["on", "if"]), None);
    }

    #[test]
    fn letter_case_is_no_difference_but_the_same_name_is_no_suggestion() {
        assert_eq!(nearest("IP", ["tcp", "ip"]), Some("ip"));
        assert_eq!(nearest("port", ["port"]), None);
    }

    #[test]
    fn the_last_component_of_a_dotted_name_is_enough() {
        assert_eq!(
            nearest("acl_tabel", ["Ingress.acl_table", "Egress.x"]),
            Some("Ingress.acl_table")
        );
    }

    #[test]
    fn of_equally_similar_names_the_first_by_alphabet() {
        assert_eq!(nearest("count", ["mount", "fount"]), Some("fount"));
    }
}
