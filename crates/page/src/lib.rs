// SPDX-License-Identifier: Apache-2.0
//! Time lines as HTML files that load nothing else: [`Page`] is the shell with style, zoom, mouse and keyboard;
//! [`columns`] packs numbers. What the lanes show is the page's own script.
//!
//! A page's script gets `run` (its data), and from `assets/view.js` and `assets/items.js` functions for times, canvases, input,
//! lists and selection; their heads say what they expect of the page.

pub mod columns;

use serde_json::Value;

const SHELL: &str = include_str!("assets/shell.html");
const STYLE: &str = include_str!("assets/style.css");
const SCRIPTS: [&str; 2] = [include_str!("assets/view.js"), include_str!("assets/items.js")];

/// The parts of a page that differ.
#[derive(Clone, Copy, Debug)]
pub struct Page<'p> {
    /// The title.
    pub title: &'p str,
    /// The HTML of the panel at the left, sections of filters.
    pub filters: &'p str,
    /// The HTML between lanes and list.
    pub below: &'p str,
    /// Additional style.
    pub style: &'p str,
    /// The scripts, in order, behind those of all pages.
    pub scripts: &'p [&'p str],
}

impl Page<'_> {
    /// The HTML. `write_data` appends one JSON value, escaped by [`in_page`], of about `data_bytes`.
    pub fn html(&self, data_bytes: usize, write_data: impl FnOnce(&mut String)) -> String {
        let mut page = String::with_capacity(data_bytes + 100_000);
        let mut rest = SHELL;
        let mut write_data = Some(write_data);
        // Each placeholder occurs once; inserted text is not searched again.
        for place in [
            "{{TITLE}}",
            "{{STYLE}}",
            "{{OWN STYLE}}",
            "{{FILTERS}}",
            "{{BELOW}}",
            "{{DATA}}",
            "{{SCRIPT}}",
        ] {
            let Some((before, after)) = rest.split_once(place) else { continue };
            page.push_str(before);
            match place {
                "{{TITLE}}" => page.push_str(&escaped(self.title)),
                "{{STYLE}}" => page.push_str(STYLE),
                "{{OWN STYLE}}" => page.push_str(self.style),
                "{{FILTERS}}" => page.push_str(self.filters),
                "{{BELOW}}" => page.push_str(self.below),
                "{{DATA}}" => write_data.take().into_iter().for_each(|write| write(&mut page)),
                _ => SCRIPTS.iter().chain(self.scripts).for_each(|one| page.push_str(one)),
            }
            rest = after;
        }
        page.push_str(rest);
        page
    }
}

/// JSON text as a page has it. A `<` stands only in texts, where it can be escaped: nothing ends the element.
pub fn in_page(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Text as HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_in_texts_ends_the_page_or_loads_anything() {
        let title = "</script><script>alert(1)</script>{{DATA}}&{{SCRIPT}}";
        let page = Page { title, filters: "", below: "", style: "", scripts: &["own();"] };
        let page = page.html(0, |to| to.push_str(&in_page(&json!({ "title": title }))));
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("alert(1)</script>"));
        assert!(page.contains("own();") && !page.contains("{{STYLE}}"));
        for outside in ["http://", "https://", "src=\"", "@import", "url("] {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(outside);
            assert!(!found, "{outside}");
        }
    }
}
