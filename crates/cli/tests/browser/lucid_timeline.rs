// SPDX-License-Identifier: Apache-2.0
//! The time line of `plane run --timeline` in a real browser: what it shows, zooming, moving,
//! filtering, details, and a run of more than 100,000 events.
//!
//! With `PLANEWRIGHT_SCREENSHOTS=DIR` pictures of the page are written there.

use crate::chromium::{Browser, pair};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "\
global Array.t<32> pings = Array.create(4);

memop plus(int stored, int more) { return stored + more; }

event pong(int<32> number, bool is_even);

event ping(int<32> number) {
  Array.setm(pings, 1, plus, 1);
  printf(\"ping %d\", number);
  generate_port(1, pong(number, (number & 1) == 0));
}

event unwanted(int<32> number);

handle pong(int<32> number, bool is_even) {
  if (is_even) {
    generate_port(9, unwanted(number));
  }
}
";

/// Pings at switch 0, each answered by a pong at switch 1; every other of them sends something out.
fn specification(count: u64) -> String {
    format!(
        "switches: 3
links: {{0:1: 1:1, 1:2: 2:1}}
max time: 1s
events:
  - {{type: generator, name: ping, args: [{{sequence: 0}}], count: {count}, gap: 1us}}
  - {{type: command, name: Array.get, args: {{array: pings, index: 1}}, timestamp: 500}}
"
    )
}

fn page(folder: &Path, count: u64) -> PathBuf {
    let (program, run) = (folder.join("ping.dpt"), folder.join("ping.yaml"));
    std::fs::write(&program, PROGRAM).expect("a program");
    std::fs::write(&run, specification(count)).expect("a specification");
    let page = folder.join("ping.html");
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .arg("run")
        .arg(&program)
        .args(["--quiet", "--engine", "reference"])
        .arg("--timeline")
        .arg(&page)
        .output()
        .expect("plane starts");
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{errors}");
    page
}

fn screenshot(browser: &mut Browser, name: &str) {
    let Some(folder) = std::env::var_os("PLANEWRIGHT_SCREENSHOTS") else { return };
    let picture = browser.screenshot();
    let path = Path::new(&folder).join(name);
    // Base 64 as the browser gives it: `base64 -d` makes a PNG of it.
    std::fs::write(path, picture).expect("a picture");
}

const STATUS: &str = "document.getElementById('status').textContent";
const DETAILS: &str = "document.getElementById('details').innerText";

/// The first and the last picosecond in view.
fn view(browser: &mut Browser) -> (f64, f64) {
    let view = browser.evaluate("[timeline.model.from, timeline.model.to]");
    pair(&view)
}

/// The place of an item on the screen, by its number.
fn place(browser: &mut Browser, item: &Value) -> (f64, f64) {
    let place = browser.evaluate(&format!("timeline.place({item})"));
    pair(&place)
}

/// The first item of a name.
fn item(browser: &mut Browser, text: &str) -> Value {
    let found = browser.evaluate(&format!(
        "[...Array(timeline.model.count).keys()].find(at => itemText(timeline.model, at) === {text:?}) ?? -1"
    ));
    assert_ne!(found, Value::from(-1), "no {text}");
    found
}

#[test]
fn a_small_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page(folder.path(), 10);
    let mut browser = Browser::start(1300, 800);
    browser.open(&page);
    browser.wait_for(&format!("{STATUS}.length > 0"));
    browser.settle();
    screenshot(&mut browser, "small.txt");

    // 10 pings, 10 pongs, 5 that leave, one command.
    let status = browser.text(STATUS);
    assert!(status.starts_with("26 of 26 shown, 0 ns to "), "{status}");
    assert!(!status.contains("summed up"), "{status}");
    assert!(browser.text("document.title").contains("ping.dpt with "));
    let legend = browser.text("document.getElementById('legend').innerText.replace(/\\s+/g, ' ')");
    for part in ["ping 10", "pong 10", "unwanted 5", "commands, links, packets 1"] {
        assert!(legend.contains(part), "{legend}");
    }
    assert_eq!(browser.evaluate("document.querySelectorAll('#topology circle').length"), 3);
    assert_eq!(browser.evaluate("document.querySelectorAll('#topology line').length"), 2);
    let counters =
        browser.text("document.getElementById('counters').innerText.replace(/\\s+/g, ' ')");
    assert!(counters.contains("switch handled generated left 0 10 10 0 1 10 5 5"), "{counters}");

    // The lanes fill their box.
    let fills = "timeline.drawing.height === document.getElementById('lanes').clientHeight";
    assert_eq!(browser.evaluate(fills), Value::Bool(true));

    // A click on a ping tells its arguments, what it did and what came of it.
    let ping = item(&mut browser, "ping(number=2)");
    let at = place(&mut browser, &ping);
    browser.point(at);
    let tip = browser.text("document.getElementById('tip').hidden ? '' : tip.textContent");
    assert!(tip.starts_with("ping(number=2) handled, "), "{tip}");
    browser.click(at);
    let details = browser.text(DETAILS);
    for part in
        ["ping", "handled at switch 0, port 0", "number\t2", "ping 2", "pings[1]: 2 \u{2192} 3"]
    {
        assert!(details.contains(part), "no {part:?} in {details}");
    }
    let time = browser.text("document.getElementById('detail-time').textContent");
    assert!(time.ends_with(" ns"), "{time}");

    // From what it generated to the pong, from there to what left, and back to the ping.
    browser.click_on("#detail-generated button");
    let details = browser.text(DETAILS);
    assert!(
        details.trim().starts_with("pong") && details.contains("handled at switch 1, port 1"),
        "{details}"
    );
    assert!(details.contains("is_even\ttrue"), "{details}");
    screenshot(&mut browser, "details.txt");
    browser.click_on("#detail-generated button");
    assert!(browser.text(DETAILS).contains("left the network at switch 1, port 9"));
    browser.click_on("#detail-cause button");
    browser.click_on("#detail-cause button");
    assert_eq!(browser.evaluate("timeline.drawing.selected"), ping);
    // Next and previous by the keyboard, and nothing selected in the end.
    browser.press("n");
    assert_ne!(browser.evaluate("timeline.drawing.selected"), ping);
    browser.press("p");
    assert_eq!(browser.evaluate("timeline.drawing.selected"), ping);
    browser.press("Escape");
    assert_eq!(browser.evaluate("timeline.drawing.selected"), -1);

    // Filters by name, by switch and by text.
    browser.click_on("#legend li[data-name=ping] input");
    browser.settle();
    assert!(browser.text(STATUS).starts_with("16 of 26 shown"));
    browser.click_on("#no-names");
    browser.settle();
    assert!(browser.text(STATUS).starts_with("0 of 26 shown"));
    browser.click_on("#all-names");
    browser.click_on("#topology circle[data-switch='1']");
    browser.settle();
    assert!(browser.text(STATUS).starts_with("11 of 26 shown"));
    browser.click_on("#all-switches");
    browser.click_on("#search");
    browser.write("pong number=4");
    browser.wait_for(&format!("{STATUS}.startsWith('1 of 26 shown')"));
    browser.press("Escape");
    browser.evaluate("document.getElementById('search').value = ''");
    browser.evaluate("document.getElementById('search').dispatchEvent(new Event('input'))");
    browser.wait_for(&format!("{STATUS}.startsWith('26 of 26 shown')"));

    // Zoom with the wheel stays at the pointer; drag moves; 0 shows everything again.
    let whole = view(&mut browser);
    let at = place(&mut browser, &ping);
    browser.wheel(at, -500.0);
    let near = view(&mut browser);
    assert!(near.1 - near.0 < (whole.1 - whole.0) * 0.6, "{near:?} in {whole:?}");
    let after = place(&mut browser, &ping);
    assert!((after.0 - at.0).abs() < 1.5, "{at:?} {after:?}");
    browser.drag((600.0, 300.0), (500.0, 300.0));
    let moved = view(&mut browser);
    assert!(moved.0 > near.0 && (moved.1 - moved.0 - (near.1 - near.0)).abs() < 1e3, "{moved:?}");
    let status = browser.text(STATUS);
    assert!(!status.starts_with("26 of 26"), "{status}");
    browser.press("0");
    assert_eq!(view(&mut browser), whole);
    browser.click_on("#zoom-in");
    assert!(view(&mut browser).1 - view(&mut browser).0 < (whole.1 - whole.0) * 0.51);
    browser.click_on("#fit");
    assert_eq!(view(&mut browser), whole);

    // Dark and light.
    let back = "getComputedStyle(document.body).backgroundColor";
    let light = browser.text(back);
    browser.click_on("#theme");
    assert_ne!(browser.text(back), light);
    screenshot(&mut browser, "dark.txt");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_large_run() {
    let folder = tempfile::tempdir().expect("a folder");
    // 40,000 pings, as many pongs and half as many that leave: 100,001 with the command.
    let page = page(folder.path(), 40_000);
    let mut browser = Browser::start(1300, 800);
    browser.open(&page);
    browser.wait_for(&format!("{STATUS}.length > 0"));
    let status = browser.text(STATUS);
    assert!(status.starts_with("100,001 of 100,001 shown"), "{status}");
    assert!(status.ends_with("summed up"), "{status}");
    screenshot(&mut browser, "large.txt");

    // Something is drawn in every column of the lanes in use.
    let painted = browser.evaluate(
        "(() => { const canvas = document.getElementById('canvas'); const { laneHeight } = timeline.drawing; \
         const bytes = canvas.getContext('2d').getImageData(150, 26 + laneHeight - 6, 400, 1).data; \
         const colours = new Set(); \
         for (let at = 0; at < bytes.length; at += 4) colours.add(bytes.slice(at, at + 3).join(' ')); \
         return colours.size; })()",
    );
    assert!(painted.as_u64().is_some_and(|colours| colours >= 2), "{painted}");

    // Drawing and filtering everything is quick enough to work with.
    let took = browser.evaluate(
        "(() => { const start = performance.now(); choose(timeline.model); draw(timeline.drawing); \
         return performance.now() - start; })()",
    );
    assert!(took.as_f64().is_some_and(|milliseconds| milliseconds < 2000.0), "{took} ms");

    // A click into a column zooms in, until events are drawn one by one and can be clicked.
    for _ in 0..12 {
        if browser.evaluate("timeline.drawing.summed") == Value::Bool(false) {
            break;
        }
        browser.click((700.0, 200.0));
    }
    assert_eq!(browser.evaluate("timeline.drawing.summed"), Value::Bool(false));
    let drawn = browser.evaluate("timeline.drawing.places.length");
    assert!(drawn.as_u64().is_some_and(|drawn| drawn > 10), "{drawn}");
    let first = browser.evaluate(
        "timeline.drawing.places.find(place => place.x > 200 && timeline.model.kind[place.at] === 0).at",
    );
    let at = place(&mut browser, &first);
    browser.click(at);
    assert_eq!(browser.evaluate("timeline.drawing.selected"), first);
    assert!(browser.text(DETAILS).contains("number"));
    screenshot(&mut browser, "near.txt");

    // From the keyboard an event far away is brought into view.
    browser.press("0");
    browser.press("n");
    let shown = browser.evaluate("timeline.place(timeline.drawing.selected) !== null");
    assert_eq!(shown, Value::Bool(true));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn marks_of_a_name_stand_in_a_line_and_a_broken_link_is_a_band() {
    let folder = tempfile::tempdir().expect("a folder");
    let (program, run) = (folder.path().join("ping.dpt"), folder.path().join("ping.yaml"));
    std::fs::write(&program, PROGRAM).expect("a program");
    // So near that marks hide each other.
    let dense = specification(300).replace("gap: 1us", "gap: 10ns")
        + "  - {type: link, link: \"1:2\", state: down, timestamp: 1000}\n"
        + "  - {type: link, link: \"1:2\", state: up, timestamp: 2000}\n";
    std::fs::write(&run, dense).expect("a specification");
    let page = folder.path().join("ping.html");
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .arg("run")
        .arg(&program)
        .args(["--quiet", "--engine", "reference", "--timeline"])
        .arg(&page)
        .status();
    assert!(ran.expect("plane starts").success());
    let mut browser = Browser::start(1300, 800);
    browser.open(&page);
    browser.wait_for(&format!("{STATUS}.length > 0"));
    browser.settle();
    screenshot(&mut browser, "dense.txt");

    // Each name has one height in a lane, and names that meet have different ones.
    let heights = "Object.entries(timeline.drawing.places.reduce((found, place) => { \
        const key = timeline.model.name[place.at] + ' ' + timeline.model.lane[place.at]; \
        (found[key] ??= new Set()).add(Math.round(place.y)); return found; }, {})) \
        .map(([key, set]) => [key, [...set].length])";
    let found = browser.evaluate(heights);
    let found = found.as_array().expect("a list");
    assert!(found.len() >= 3, "{found:?}");
    for each in found {
        assert_eq!(each[1], 1, "{each}");
    }

    // The band is in the lanes of both switches, from its beginning to its end, and nowhere else.
    let colour = |browser: &mut Browser, time_ns: u64, lane: u32| {
        // Where no arrow goes: those of switch 0 go down.
        let up = if lane == 0 { "laneHeight + 2" } else { "3" };
        browser.text(&format!(
            "(() => {{ const {{ laneHeight }} = timeline.drawing; \
             const x = Math.round(xOf(timeline.drawing, {time_ns}000)), ratio = devicePixelRatio; \
             const y = 26 + ({lane} + 1) * laneHeight - {up}; \
             return [...document.getElementById('canvas').getContext('2d') \
             .getImageData(x * ratio, y * ratio, 1, 1).data].join(' '); }})()"
        ))
    };
    for (lane, has_band) in [(0, false), (1, true), (2, true)] {
        let before = colour(&mut browser, 700, lane);
        let inside = colour(&mut browser, 1500, lane);
        let after = colour(&mut browser, 2300, lane);
        assert_eq!(before != inside, has_band, "switch {lane}: {before}, {inside}");
        assert_eq!(before, after, "switch {lane}");
    }

    // The list has what is in view; its lines select.
    let lines = browser.evaluate("document.querySelectorAll('#list li').length");
    assert_eq!(lines, 201);
    browser.click_on("#list li:nth-child(3) button");
    assert_ne!(browser.evaluate("timeline.drawing.selected"), -1);
    assert_eq!(browser.complaints, Vec::<String>::new());
}
