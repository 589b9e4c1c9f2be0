// SPDX-License-Identifier: Apache-2.0
//! The time line of `plane net --timeline` in a real browser: sums, zoom, a drop by its reason, the path of a frame, filters,
//! and a run of a million events.

use crate::chromium::{Browser, pair};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Two senders share a bottleneck with a short queue.
const NETWORK: &str = "
topology: {kind: dumbbell, hosts_per_side: 2, program: ROUTER, rate: 100Mbps, latency: 100us, bottleneck: {rate: 10Mbps, queue: 8p, latency: 1ms}}
hosts:
  h1: {applications: [{tcp: {to: h3, bytes: 300KB, name: bulk}}]}
  h2: {applications: [{udp: {to: h4, rate: 8Mbps, duration: 200ms}}]}
events: [{at: 100ms, link: s1-s2, state: down, for: 10ms}]
controllers: {c: {switches: [s1], commands: [{at: 250ms, text: table_clear RouterIngress.next_hops}]}}
seed: 4
until: 300ms
";

/// Runs a network; returns its results and the page.
fn run(folder: &Path, text: &str) -> (Value, PathBuf) {
    let router = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/router/router.p4");
    let router = router.canonicalize().expect("the router").display().to_string();
    let (file, page) = (folder.join("n.yaml"), folder.join("run.html"));
    std::fs::write(&file, text.replace("ROUTER", &router)).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    let command = command.arg("net").arg(&file).args(["--json", "-q", "--timeline"]).arg(&page);
    let ran = command.output().expect("plane starts");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    (serde_json::from_slice(&ran.stdout).expect("JSON"), page)
}

const STATUS: &str = "document.getElementById('status').textContent";
const DETAILS: &str = "document.getElementById('details').innerText";

fn open(browser: &mut Browser, page: &Path) {
    browser.open(page);
    browser.wait_for(&format!("window.timeline !== undefined && {STATUS}.length > 0"));
    browser.settle();
}

#[test]
fn sums_drops_and_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    let (results, page) = run(folder.path(), NETWORK);
    let mut browser = Browser::start(1400, 900);
    open(&mut browser, &page);

    // The table of the page is that of the results, a row for each direction that carried frames.
    browser.evaluate("document.getElementById('totals').open = true");
    let rows = browser.evaluate(
        "[...document.querySelectorAll('#totals tr')].slice(1).map(row => [...row.children].map(cell => cell.textContent))",
    );
    let links = results["links"].as_array().expect("a table");
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), links.len());
    for link in links {
        let name = link["link"].as_str().expect("a name").replace("->", "\u{2192}");
        let row = rows.iter().find(|row| row[0] == *name).unwrap_or_else(|| panic!("{name}"));
        let count = |at: usize| row[at].as_str().expect("a text").replace(',', "");
        assert_eq!(count(1), link["frames"].to_string(), "{name}");
        assert_eq!(count(2), link["bytes"].to_string(), "{name}");
        let share = link["use"].as_f64().expect("a share");
        assert_eq!(count(3), format!("{:.1} %", share * 100.0), "{name}");
        if name.starts_with('s') {
            assert_eq!(count(7), link["queue_max_packets"].to_string(), "{name}");
        }
    }
    let sent =
        browser.text("document.querySelector('#kinds li[data-name=sent] .count').textContent");
    assert_eq!(sent.replace(',', ""), results["frames"].to_string());

    // A drop is found by its reason; its fields and its path are shown.
    browser.click_on("#search");
    browser.write("queue full udp");
    browser.wait_for("timeline.model.chosen.length < timeline.model.count");
    let found = browser.evaluate("timeline.model.chosen.length");
    assert!(found.as_u64().is_some_and(|found| found > 0), "{found}");
    browser.click_on("#next");
    let details = browser.text(DETAILS);
    for part in ["dropped: queue full at s1:3", "UDP", "(h2)", "(h4)", "1,512 B", "h2.udp"] {
        assert!(details.contains(part), "no {part:?} in {details}");
    }
    let path = browser.text("document.getElementById('detail-path').innerText");
    let steps: Vec<&str> =
        path.lines().map(|line| line.split(',').next().expect("a step")).collect();
    assert_eq!(steps, ["sent at h2", "received at s1:2", "dropped: queue full at s1:3"]);
    browser.evaluate("document.getElementById('search').value = ''");
    browser.evaluate("document.getElementById('search').dispatchEvent(new Event('input'))");
    browser.wait_for("timeline.model.chosen.length === timeline.model.count");

    // It is drawn, and a click on it selects it. Its tip has the fields.
    assert_eq!(browser.evaluate("timeline.drawing.summed"), false);
    let selected = browser.evaluate("timeline.drawing.selected");
    browser.settle();
    let place = browser.evaluate(&format!("timeline.place({selected})"));
    browser.press("Escape");
    assert_eq!(browser.evaluate("timeline.drawing.selected"), -1);
    browser.click(pair(&place));
    assert_eq!(browser.evaluate("timeline.drawing.selected"), selected);
    browser.point(pair(&place));
    let tip = browser.text("document.getElementById('tip').textContent");
    assert!(
        tip.contains("dropped: queue full at s1:3")
            && tip.contains(" ms")
            && tip.contains("1,512 B"),
        "{tip}"
    );

    // A frame that arrives goes through both switches.
    let received = browser.evaluate(
        "timeline.model.chosen.find(at => kindText(timeline.model, timeline.model.kind[at]) === 'received' \
         && portName(timeline.model, timeline.model.port[at]) === 'h4')",
    );
    browser.evaluate(&format!("select({received}, true)"));
    let path = browser.text("document.getElementById('detail-path').innerText");
    let steps: Vec<&str> =
        path.lines().map(|line| line.split(',').next().expect("a step")).collect();
    let expected = [
        "sent at h2",
        "received at s1:2",
        "sent at s1:3",
        "received at s2:3",
        "sent at s2:2",
        "received at h4",
    ];
    assert_eq!(steps, expected);

    // Lanes of controllers and links, and what a filter of nodes leaves.
    browser.press("0");
    let names = "timeline.drawing.rows.map(row => rowName(timeline.model, row))";
    let all = browser.evaluate(names).to_string();
    for lane in [
        "links up and down",
        "controller c",
        "s1:3 \u{2192} s2:3",
        "h1 \u{2192} h3 bulk",
        "h2 \u{2192} h4 h2.udp",
    ] {
        assert!(all.contains(lane), "no {lane:?} in {all}");
    }
    assert!(!all.contains("s1:9"));
    browser.click_on("#no-nodes");
    browser.click_on("#nodes li[data-name=s2] input");
    let left = browser.evaluate(names).to_string();
    assert!(left.contains("s2:3 \u{2192} s1:3") && !left.contains("s1:3 \u{2192} s2:3"), "{left}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Lanes show the depth of a queue, use and outages at the places of their times.
#[test]
fn lanes_show_use_queues_and_outages() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, page) = run(folder.path(), NETWORK);
    let mut browser = Browser::start(1400, 900);
    open(&mut browser, &page);
    let colours = |browser: &mut Browser, time_ms: f64, share: f64| {
        browser.text(&format!(
            "(() => {{ const drawing = timeline.drawing; \
             const row = drawing.rows.findIndex(row => rowName(timeline.model, row) === 's1:3 \u{2192} s2:3'); \
             document.getElementById('lanes').scrollTop = 0; draw(drawing); \
             const x = Math.round(xOf(drawing, {time_ms} * 1e9)), y = Math.round(rowTop(drawing, row) + {share} * rowHeight(drawing, row)); \
             return [...drawing.canvas.getContext('2d').getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data].join(' '); }})()"
        ))
    };
    let (busy, down, idle) = (
        colours(&mut browser, 60.0, 0.8),
        colours(&mut browser, 105.0, 0.8),
        colours(&mut browser, 290.0, 0.8),
    );
    assert!(busy != down && busy != idle && down != idle, "{busy}, {down}, {idle}");
    // Where time is zoomed, each change of the queue is known.
    browser.evaluate("look(timeline.model, 50e9, 52e9); redraw()");
    browser.settle();
    let known = browser.evaluate(
        "(() => { const at = timeline.model.run.ports.findIndex(port => port[1] === 's1:3'); \
         const { time, depth } = timeline.model.samples[at]; \
         return [time.length > 10, Math.max(...depth), timeline.model.run.samplesUntil >= 300e9]; })()",
    );
    assert_eq!(known, serde_json::json!([true, 8, true]));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// A switch with reactions, which are exchanged in the middle.
const REACTING: &str = "
switches: {s1: {program: p.p4r}}
hosts:
  h1: {address: 10.0.0.1/24, applications: [{udp: {to: h2, rate: 8Mbps, duration: 4ms}}]}
  h2: {address: 10.0.0.2/24}
links: [{ends: [h1, 's1:1'], rate: 1Gbps}, {ends: [h2, 's1:2'], rate: 1Gbps}]
events: [{at: 2ms, node: s1, reload: q.p4r}]
until: 5ms
";

/// Dialogues and commits of an agent are bars in a lane of its own, beside the packets.
#[test]
fn agents_have_lanes() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = include_str!("../it/net_live/counting.p4r");
    std::fs::write(folder.path().join("p.p4r"), program).expect("a file");
    // After the reload nothing changes any more.
    let silent = program.replace("${level} = n;", "");
    assert_ne!(silent, program);
    std::fs::write(folder.path().join("q.p4r"), silent).expect("a file");
    let (_, page) = run(folder.path(), REACTING);
    let mut browser = Browser::start(1400, 900);
    open(&mut browser, &page);
    let row = "timeline.drawing.rows.findIndex(row => rowName(timeline.model, row) === 'reactions of s1')";
    assert!(browser.evaluate(row).as_i64().is_some_and(|row| row >= 0));
    let figures = |browser: &mut Browser| {
        browser.text(&format!("rowFigures(timeline.model, timeline.drawing.rows[{row}])"))
    };
    let all = figures(&mut browser);
    assert!(all.contains(" dialogues") && all.contains(" commits"), "{all}");
    // A commit is higher than a dialogue in which nothing changes.
    let colour = |browser: &mut Browser, time_ms: f64| {
        browser.text(&format!(
            "(() => {{ const drawing = timeline.drawing, row = {row}; \
             document.getElementById('lanes').scrollTop = 0; draw(drawing); \
             const x = Math.round(xOf(drawing, {time_ms} * 1e9)), y = Math.round(rowTop(drawing, row) + 0.4 * rowHeight(drawing, row)); \
             return [...drawing.canvas.getContext('2d').getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data].join(' '); }})()"
        ))
    };
    browser.evaluate("look(timeline.model, 1e9, 4e9); redraw()");
    browser.settle();
    let (commits, idle) = (colour(&mut browser, 1.5), colour(&mut browser, 3.5));
    assert_ne!(commits, idle);
    browser.evaluate("look(timeline.model, 3e9, 4e9); redraw()");
    let late = figures(&mut browser);
    assert!(late.contains(" dialogues") && !late.contains("commits"), "{late}");
    let tip = browser.text(&format!(
        "agentTip(timeline.drawing, timeline.drawing.rows[{row}], xOf(timeline.drawing, 3.5e9))"
    ));
    assert!(tip.contains("dialogue ") && tip.contains("r(seen[0:0] = "), "{tip}");
    assert!(tip.contains("nothing changed"), "{tip}");
    // The node filter takes the lane away.
    browser.click_on("#no-nodes");
    assert_eq!(browser.evaluate(row), -1);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_million_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "
topology: {kind: line, switches: 3, hosts_per_switch: 4, program: ROUTER, rate: 10Gbps, latency: 1us}
hosts: {h1: {applications: [{tcp: {to: h9, bytes: 250MB}}]}, h2: {applications: [{tcp: {to: h10, bytes: 100MB}}]}}
";
    let (results, page) = run(folder.path(), text);
    assert!(
        results["frames"].as_u64().is_some_and(|frames| frames > 500_000),
        "{}",
        results["frames"]
    );
    let mut browser = Browser::start(1400, 900);
    let start = Instant::now();
    open(&mut browser, &page);
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 10.0, "{seconds:.1} s to open");
    let status = browser.text(STATUS);
    assert!(status.starts_with("1,000,") && status.contains(" in view, summed up, "), "{status}");
    assert!(
        browser
            .text("document.getElementById('kept').textContent")
            .contains("later ones are only in the sums")
    );
    // Drawing and choosing everything is quick enough to work with.
    let took = browser.evaluate(
        "(() => { const start = performance.now(); choose(timeline.model); draw(timeline.drawing); \
         return performance.now() - start; })()",
    );
    assert!(took.as_f64().is_some_and(|milliseconds| milliseconds < 1000.0), "{took} ms");
    // Clicks zoom in until single frames are drawn.
    for _ in 0..14 {
        if browser.evaluate("timeline.drawing.summed") == false {
            break;
        }
        let place = browser.evaluate(
            "(() => { const { model, drawing } = timeline, box = drawing.canvas.getBoundingClientRect(); \
             return [box.left + xOf(drawing, model.time[model.count >> 1]), box.top + 300]; })()",
        );
        browser.click(pair(&place));
    }
    assert_eq!(browser.evaluate("timeline.drawing.summed"), false);
    let drawn = browser.evaluate("timeline.drawing.places.length");
    assert!(drawn.as_u64().is_some_and(|drawn| drawn > 10), "{drawn}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}
