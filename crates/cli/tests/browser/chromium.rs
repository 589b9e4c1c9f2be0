// SPDX-License-Identifier: Apache-2.0
//! A real browser for tests of pages: Chromium without a window, steered through its debugging
//! protocol. Without Chromium these tests fail and say how to install it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser with one page.
pub struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    next_id: u64,
    session: String,
    /// What went wrong in the page, and what it loaded from elsewhere.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one with a page of this size in CSS pixels.
    pub fn start(width: u32, height: u32) -> Browser {
        let profile = tempfile::tempdir().expect("a folder for the browser");
        let mut process = launch(profile.path(), width, height).expect(
            "Chromium is installed (Debian: apt-get install chromium), or the environment variable \
             CHROMIUM says where it is",
        );
        let address = debugging_address(&mut process);
        let host = address.strip_prefix("ws://").expect("a WebSocket address");
        let host = host.split('/').next().expect("a host");
        let stream = TcpStream::connect(host).expect("the browser listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        let (socket, _) = tungstenite::client(&*address, stream).expect("the browser answers");
        let mut browser = Browser {
            process,
            socket,
            next_id: 0,
            session: String::new(),
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = attached["sessionId"].as_str().expect("a session").to_string();
        for domain in ["Page.enable", "Runtime.enable", "Network.enable"] {
            browser.call(domain, json!({}));
        }
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        browser
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next_id += 1;
        let mut request = json!({ "id": self.next_id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(request.to_string())).expect("the browser reads");
        loop {
            let message = self.socket.read().expect("the browser answers in time");
            let Message::Text(text) = message else { continue };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == json!(self.next_id) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(parameters["exceptionDetails"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                let address = parameters["request"]["url"].as_str().unwrap_or("");
                if !address.starts_with("file:") && !address.starts_with("data:") {
                    self.complaints.push(format!("the page loads {address}"));
                }
            }
            _ => {}
        }
    }

    /// Opens a page from a file and waits until it is ready.
    pub fn open(&mut self, file: &Path) {
        let file = file.canonicalize().expect("the page is there");
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        self.wait_for("document.readyState === 'complete'");
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// The text of an expression in the page.
    pub fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression).as_str().unwrap_or("").to_string()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let start = Instant::now();
        while self.evaluate(expression) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "never so: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until what was changed is drawn.
    pub fn settle(&mut self) {
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))",
        );
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), further: Value) {
        let mut parameters = json!({ "type": kind, "x": x, "y": y });
        for (name, value) in further.as_object().expect("an object") {
            parameters[name] = value.clone();
        }
        self.call("Input.dispatchMouseEvent", parameters);
    }

    /// Clicks with the left button.
    pub fn click(&mut self, place: (f64, f64)) {
        self.drag(place, place);
    }

    /// Moves with the left button held.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from, json!({}));
        self.mouse(
            "mousePressed",
            from,
            json!({ "button": "left", "buttons": 1, "clickCount": 1 }),
        );
        if from != to {
            let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
            self.mouse("mouseMoved", middle, json!({ "button": "left", "buttons": 1 }));
            self.mouse("mouseMoved", to, json!({ "button": "left", "buttons": 1 }));
        }
        self.mouse("mouseReleased", to, json!({ "button": "left", "clickCount": 1 }));
        self.settle();
    }

    /// Moves without a button.
    pub fn point(&mut self, place: (f64, f64)) {
        self.mouse("mouseMoved", place, json!({}));
        self.settle();
    }

    /// Turns the wheel; negative is away from the user.
    pub fn wheel(&mut self, place: (f64, f64), down: f64) {
        self.mouse("mouseWheel", place, json!({ "deltaX": 0, "deltaY": down }));
        self.settle();
    }

    /// Clicks the middle of the first element that a selector finds.
    pub fn click_on(&mut self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); \
             element.scrollIntoView({{block: 'nearest'}}); \
             const box = element.getBoundingClientRect(); \
             return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
        ));
        self.click(pair(&place));
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let mut parameters = json!({ "type": "keyDown", "key": key });
        if key.chars().count() == 1 {
            parameters["text"] = json!(key);
        }
        self.call("Input.dispatchKeyEvent", parameters);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
        self.settle();
    }

    /// Types a text where the focus is.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
        self.settle();
    }

    /// The page as a PNG in base 64.
    pub fn screenshot(&mut self) -> String {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        taken["data"].as_str().expect("a picture").to_string()
    }
}

/// A place in the window from a list of two numbers.
pub fn pair(value: &Value) -> (f64, f64) {
    let number = |at: usize| value[at].as_f64().unwrap_or_else(|| panic!("no place: {value}"));
    (number(0), number(1))
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn launch(profile: &Path, width: u32, height: u32) -> Option<Child> {
    let named = std::env::var("CHROMIUM").ok();
    let names = named.iter().map(String::as_str).chain(NAMES);
    for name in names {
        let started = Command::new(name)
            .args(["--headless", "--remote-debugging-port=0", "--no-first-run", "--disable-gpu"])
            // Containers often have neither user namespaces nor much shared memory; the page is ours.
            .args(["--no-sandbox", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        if let Ok(process) = started {
            return Some(process);
        }
    }
    None
}

/// What the browser prints when it listens.
fn debugging_address(process: &mut Child) -> String {
    let output = BufReader::new(process.stderr.take().expect("a pipe"));
    let (sender, receiver) = mpsc::channel();
    // Reads on for as long as the browser lives, so that it never waits for a reader.
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if let Some(address) = line.strip_prefix("DevTools listening on ") {
                let _ = sender.send(address.trim().to_string());
            }
        }
    });
    receiver.recv_timeout(PATIENCE).expect("the browser says where it listens")
}
