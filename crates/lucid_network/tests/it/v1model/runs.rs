// SPDX-License-Identifier: Apache-2.0
//! Runs that the examples do not have: delay by recirculation, the user's P4 around the dispatcher,
//! mistakes in it, events to groups of switches, egress handlers, several events of which one leaves.

use super::compiled;
use device::EngineChoice;
use lucid::core::{GlobalId, Program};
use lucid_compiler::{Backend, Clock, Delay, Options, Recirculation, UserP4};
use lucid_network::deploy::{self, SwitchSetup};
use lucid_network::{CompiledSimulation, verify};
use lucid_reference::simulation::{NullObserver, Setup};
use lucid_reference::specification::{self, Format};
use lucid_testing::programs::{Disk, core};
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use source::SourceMap;
use std::path::Path;
use std::sync::Arc;

/// A program with its run on devices.
fn simulation(text: &str, run: &str, options: &Options) -> CompiledSimulation {
    let mut map = SourceMap::new();
    let program = core(&mut map, "run.dpt", text, &Disk);
    with_run(map, program, run, Format::Json, options)
}

fn with_run(
    mut map: SourceMap,
    program: Program,
    run: &str,
    format: Format,
    options: &Options,
) -> CompiledSimulation {
    let file = map.add("run", run);
    let (run, said) = specification::read(&map, file, format);
    let run = run.unwrap_or_else(|| panic!("{said:?}"));
    let options = &options.clone();
    let compiled = compiled(&map, &program, options).unwrap_or_else(|said| panic!("{said}"));
    let setup = Setup::new(Arc::new(program), &run).unwrap_or_else(|said| panic!("{said:?}"));
    CompiledSimulation::new(Arc::new(setup), Arc::new(compiled), EngineChoice::Jit)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Runs it beside the reference interpreter; how many handlers ran.
fn same(text: &str, run: &str, options: &Options) -> usize {
    let mut simulation = simulation(text, run, options);
    let verified = verify(&mut simulation, &mut NullObserver);
    if let Some(difference) = verified.difference {
        panic!("{difference}\n{}", simulation.compiled().built.print());
    }
    verified.schedule.dispatches.len()
}

/// What is in an array at the end of a run.
fn cells(text: &str, run: &str, options: &Options, indices: &[u64]) -> Vec<u128> {
    let mut simulation = simulation(text, run, options);
    simulation.run(&mut NullObserver);
    let cell = |index: &u64| simulation.cell(0, GlobalId(0), *index).expect("a cell")[0];
    indices.iter().map(cell).collect()
}

#[test]
fn delay_by_recirculation_does_what_it_means() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid/fast_rerouter");
    let path = folder.join("fast_rerouter.dpt");
    let text = std::fs::read_to_string(&path).expect("a program");
    let run = std::fs::read_to_string(folder.join("run.yaml")).expect("a run");
    let mut map = SourceMap::new();
    let program = core(&mut map, &path.display().to_string(), &text, &Disk);
    let options = Options { delay: Delay::Recirculation, ..Options::default() };
    let mut simulation = with_run(map, program, &run, Format::Yaml, &options);
    let verified = verify(&mut simulation, &mut NullObserver);
    assert_eq!(verified.difference, None);
    assert!(verified.schedule.dispatches.len() > 100);
}

#[test]
fn one_of_several_leaves_at_once() {
    let text = "event note(int x);
        event out(int x);
        global Array.t<32> seen = Array.create(16);
        memop plus(int stored, int x) { return stored + x; }
        handle note(int x) { Array.setm(seen, x, plus, 1); }
        handle out(int x) { Array.setm(seen, 0, plus, x); }
        event work(int x);
        handle work(int x) {
            generate note(1);
            if (x != 3) { generate_port(2, out(x)); }
            generate Event.delay(note(2), 5000);
            generate_port(100, out(x + 1));
        }";
    let run = "{\"max time\": 400000, \"events\": [
        {\"name\": \"work\", \"args\": [7], \"timestamp\": 0},
        {\"name\": \"work\", \"args\": [3], \"timestamp\": 50}]}";
    for delay in [Delay::Queue, Delay::Recirculation] {
        assert_eq!(same(text, run, &Options { delay, ..Options::default() }), 6);
    }
}

/// The device file that people get says what a device is built with.
#[test]
fn device_files_say_how_devices_are_built() {
    let text = "event tick(); handle tick() { generate Event.delay(tick(), 1000); }";
    let site = SwitchSetup { recirculation_port: 7, ..SwitchSetup::default() };
    let check = |options: &Options| {
        let mut map = SourceMap::new();
        let program = core(&mut map, "tick.dpt", text, &Disk);
        let compiled = compiled(&map, &program, options).expect("it compiles");
        let text = deploy::device_file(&compiled, &site);
        let file = map.add("device.toml", text.as_str());
        let read = device::configuration::read(file, &text);
        let built = deploy::device_options(&compiled, &site);
        assert_eq!(read.map_err(|said| format!("{said:?}")), Ok(built), "{text}");
    };
    for delay in [Delay::Queue, Delay::Recirculation] {
        for recirculation in [Recirculation::Port, Recirculation::Primitive] {
            for clock in [Clock::Nanoseconds, Clock::Microseconds] {
                check(&Options { recirculation, delay, clock, ..Options::default() });
            }
        }
        for delay_period_ps in [100_000_000, 1_000_000_000] {
            let target = Backend::Tna;
            check(&Options { target, delay, delay_period_ps, ..Options::default() });
        }
    }
}

#[test]
fn groups_of_switches_get_an_event_each() {
    let text = "event note(int x);
        global Array.t<32> seen = Array.create(4);
        memop plus(int stored, int x) { return stored + x; }
        handle note(int x) { Array.setm(seen, (int<32>)ingress_port, plus, x); }
        event work(int x);
        handle work(int x) {
            mgenerate Event.mslocate(note(x), {0, 1, 2});
        }";
    let run =
        "{\"switches\": 3, \"links\": {\"0:1\": \"1:1\", \"1:2\": \"2:2\"}, \"max time\": 20000,
        \"events\": [{\"name\": \"work\", \"args\": [7], \"timestamp\": 0}]}";
    assert_eq!(same(text, run, &Options::default()), 4);
}

/// Packets of a program with a table of the user's in front of the dispatcher.
const CLASSIFIED: &str =
    "packet event eth(int<48> destination, int<48> source, int<16> kind, Payload.t rest);
    event flagged(int<48> source);
    global Array.t<32> seen = Array.create(4);
    memop plus(int stored, int x) { return stored + x; }
    handle eth(int<48> destination, int<48> source, int<16> kind, Payload.t rest) {
        Array.setm(seen, 1, plus, 1);
    }
    handle flagged(int<48> source) { Array.setm(seen, 2, plus, (int<32>)source); }
    parser main(bitstring packet) {
        int<48> destination = read(packet);
        int<48> source = read(packet);
        int<16> kind = read(packet);
        Payload.t rest = Payload.parse(packet);
        generate(eth(destination, source, kind, rest));
    }";

const CLASSIFIED_RUN: &str = "{\"max time\": 20000, \"events\": [
    {\"type\": \"packet\", \"bytes\": \"0000000000010000000000050800\", \"timestamp\": 0, \"locations\": [\"0:1\"]},
    {\"type\": \"packet\", \"bytes\": \"0000000000020000000000060800aa\", \"timestamp\": 100, \"locations\": [\"0:1\"]}]}";

/// What the user's P4 includes.
struct Included;

impl IncludeLoader for Included {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(match path {
            "keys.p4" => Some("#define KEY 48w2\nconst bit<8> UNUSED = 3;".to_string()),
            "wrong.p4" => Some("const bit<8> GOOD = 1;\nconst bit<8> BAD = missing;".to_string()),
            _ => None,
        })
    }
}

fn before(text: &str) -> Options {
    let user = UserP4::read("classify.p4", text, &PreprocessorOptions::default(), &Included);
    Options { before: Some(user), ..Options::default() }
}

#[test]
fn the_users_p4_classifies_before_the_dispatcher() {
    let options = before(
        "control before(inout headers_t hdr, inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
            action flag() {
                hdr.flagged = { hdr.eth.source };
                hdr.eth.setInvalid();
                meta.event = EVENT_flagged;
            }
            action pass() { }
            table classify {
                key = { hdr.eth.destination: exact; }
                actions = { flag; pass; }
                const entries = { 48w2: flag(); }
                default_action = pass();
            }
            apply { if (hdr.eth.isValid()) { classify.apply(); } }
        }",
    );
    assert_eq!(cells(CLASSIFIED, CLASSIFIED_RUN, &options, &[1, 2]), [1, 6]);
    assert_eq!(cells(CLASSIFIED, CLASSIFIED_RUN, &Options::default(), &[1, 2]), [2, 0]);
}

#[test]
fn mistakes_in_the_users_p4_are_told_in_its_file() {
    let check = |text: &str, expected: &str| {
        let mut map = SourceMap::new();
        let program = core(&mut map, "run.dpt", CLASSIFIED, &Disk);
        let options = before(text);
        let said = lucid_compiler::compile(&program, &map, &options).expect_err("a mistake");
        lucid_compiler::v1model::add_files(&mut map, &options);
        let rendered = source::render_text(&map, &said, source::RenderOptions::default());
        assert!(rendered.contains(expected), "no {expected}: {rendered}");
        assert!(!rendered.contains("LU-E0799"), "{rendered}");
        // The program does not see that.
        assert!(rendered.lines().count() < 30, "{rendered}");
    };
    let control = |body: &str| {
        format!(
            "control before(inout headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {{\n{body}\n}}"
        )
    };
    check(&control("apply { hdr.missing.setValid(); }"), "classify.p4:3:13");
    check("control other() { apply { } }", "declares no control `before`");
    // Too early an end, a brace too many, no P4 at all, a type that there is not.
    check("control before(inout headers_t hdr) { apply {", "classify.p4:1:46");
    check(&format!("{} }}", control("apply { }")), "classify.p4:4:3");
    check(&control("apply { hdr.eth.source = ; }"), "classify.p4:3:26");
    check(&control("apply { bit<8> x = 1 $ 2; }"), "classify.p4:3:22");
    check(&format!("{} const nothing_t x = 1;", control("apply { }")), "classify.p4:4:9");
    // Other parameters, names of the program's own.
    check("control before(inout headers_t hdr) { apply { } }", "classify.p4:1:9");
    check(
        &format!("{} control egress() {{ apply {{ }} }}", control("apply { }")),
        "classify.p4:4:11",
    );
    check(&format!("{} struct headers_t {{ }}", control("apply { }")), "classify.p4:4:10");
    // Included files.
    check(&format!("#include \"nowhere.p4\"\n{}", control("apply { }")), "classify.p4:1:10");
    check(&format!("#include \"wrong.p4\"\n{}", control("apply { }")), "wrong.p4:2:20");
}

#[test]
fn the_users_p4_includes_files() {
    let options = before(
        "#include <core.p4>
        #include <v1model.p4>
        #include \"keys.p4\"
        control before(inout headers_t hdr, inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
            apply {
                if (hdr.eth.isValid() && hdr.eth.destination == KEY) {
                    hdr.flagged = { hdr.eth.source };
                    hdr.eth.setInvalid();
                    meta.event = EVENT_flagged;
                }
            }
        }",
    );
    assert_eq!(cells(CLASSIFIED, CLASSIFIED_RUN, &options, &[1, 2]), [1, 6]);
}

#[test]
fn egress_handlers_run_as_events_leave() {
    let text = "event note(int x);
        event out(int x);
        global Array.t<32> seen = Array.create(16);
        memop plus(int stored, int x) { return stored + x; }
        handle note(int x) { Array.setm(seen, x, plus, 1); }
        @egress handle out(int x) { if (x == 9) { generate note(x + 1); } else { generate out(x + 2); } }
        handle out(int x) { Array.setm(seen, 0, plus, x); }
        event work(int x);
        handle work(int x) { generate out(x); }";
    let run = "{\"max time\": 20000, \"events\": [
        {\"name\": \"work\", \"args\": [7], \"timestamp\": 0},
        {\"name\": \"work\", \"args\": [9], \"timestamp\": 50}]}";
    assert_eq!(cells(text, run, &Options::default(), &[0, 10]), [9, 1]);
}

/// The calculations of actions come after those of handlers in front of them, and each keeps its polynomial.
#[test]
fn actions_of_tables_hash() {
    let text = "action int mixed(int salt)(int x, int<16> y) { return hash<32>(7, salt, x, y) ^^ salt; }
         action int summed(int salt)(int x, int<16> y) { return (int<32>)(hash<16>(checksum, y, salt)); }
         action int wide(int salt)(int x, int<16> y) { return hash<48>(3, x)[40:9] + x; }
         global Table.t<<int, int, (int, int<16>), int>> t = Table.create(8, [mixed; summed; wide], mixed, 5);
         global Array.t<32> found = Array.create(8);
         event go(int k, int<16> y) {
             int before = hash<32>(1, k);
             int result = Table.lookup(t, k, (before, y));
             int after = hash<32>(2, result);
             Array.set(found, k & 7, after ^^ result);
         }";
    let run = r#"{"max time": 100000, "events": [
        {"type": "command", "name": "Table.install",
         "args": {"table": "t", "key": [1], "action": "summed", "args": [305419896]}},
        {"type": "command", "name": "Table.install",
         "args": {"table": "t", "key": [2], "action": "wide", "args": [0]}},
        {"type": "command", "name": "Table.install",
         "args": {"table": "t", "key": [3], "action": "mixed", "args": [4294967295]}},
        {"type": "generator", "name": "go", "args": [{"sequence": 0}, {"sequence": {"start": 65530}}],
         "count": 8, "gap": "1us"}]}"#;
    assert_eq!(same(text, run, &Options::default()), 8);
}

/// The header with the sum 0xb861 is a common example of RFC 1071; the next has two bytes exchanged, and another a
/// wrong byte.
#[test]
fn parsers_check_the_sum_of_a_header() {
    let text = "global Array.t<16> sums = Array.create(4);
         event good(int<4> k, int<16> sum);
         event bad(int<4> k, int<16> sum);
         handle good(int<4> k, int<16> sum) { Array.set(sums, (int<32>)k & 3, sum); }
         handle bad(int<4> k, int<16> sum) { Array.set(sums, (int<32>)k & 3, ~sum); }
         parser main(bitstring packet) {
             int<4> k = read(packet);
             int<4> fill = read(packet);
             int<4> version = read(packet);
             int<4> words = read(packet);
             int<8> service = read(packet);
             int<16> length = read(packet);
             int<16> id = read(packet);
             int<3> flags = read(packet);
             int<13> offset = read(packet);
             int<8> ttl = read(packet);
             int<8> protocol = read(packet);
             int<16> found = read(packet);
             int source = read(packet);
             int destination = read(packet);
             int<16> wanted = hash<16>(checksum, version, words, service, length, id, flags, offset,
                 ttl, protocol, source, destination);
             match hash<16>(checksum, version, words, service, length, id, flags, offset, ttl,
                 protocol, found, source, destination) with
             | 0 -> { generate(good(k, wanted)); }
             | _ -> { generate(bad(k, wanted)); }
         }";
    let run = r#"{"max time": 100000, "events": [
        {"type": "packet", "bytes": "0045000073000040004011b861c0a80001c0a800c7"},
        {"type": "packet", "bytes": "1045000073000040004011b861c0a800c7c0a80001", "timestamp": 2000},
        {"type": "packet", "bytes": "2045000073000040004011b862c0a80001c0a800c7", "timestamp": 4000},
        {"type": "packet", "bytes": "3045000073000040003f11b861c0a80001c0a800c7", "timestamp": 6000}]}"#;
    let options = Options::default();
    assert_eq!(same(text, run, &options), 4);
    let found = cells(text, run, &options, &[0, 1, 2, 3]);
    assert_eq!(found, [0xb861, 0xb861, !0xb861 & 0xffff, !0xb961 & 0xffff]);
}

/// Pieces across words, computed and constant ones, carries that carry, a checksum of a checksum, in a parser that two
/// branches call.
#[test]
fn parsers_add_up_checksums() {
    let text = "global Array.t<64> last = Array.create(8);
         event sums(int<8> k, int<16> a, int<16> b, int<16> c, int<16> d);
         handle sums(int<8> k, int<16> a, int<16> b, int<16> c, int<16> d) {
             Array.set(last, (int<32>)k & 7, a ^ b ^ c ^ d);
         }
         parser deeper(int<8> k, int<16> before, bitstring packet) {
             bool odd = read(packet);
             int<15> more = read(packet);
             int<16> all = hash<16>(checksum, odd, before, more);
             match k with
             | 0b*******1 -> {
                 int<5> checksum_5 = read(packet);
                 int<3> rest = read(packet);
                 int<16> inner = hash<16>(checksum, rest, 0xffffw16, more - 1, 0w1, checksum_5 == 3);
                 generate(sums(k, all, inner, hash<16>(checksum, rest), hash<16>(checksum, inner + all, k)));
             }
             | _ -> { generate(sums(k, all, before, hash<16>(checksum, 0xffffw16, 2w32), ingress_port ^ 0w7)); }
         }
         parser main(bitstring packet) {
             int<8> k = read(packet);
             int<48> x = read(packet);
             int<80> y = read(packet);
             match k with
             | 7 -> { deeper(k, hash<16>(checksum, x + 1, y) + 1, packet); }
             | _ -> { deeper(k, hash<16>(checksum, x, y), packet); }
         }";
    let packets = [
        "00000000000000000000000000000000000000",
        "01ffffffffffffffffffffffffffffffffffffff",
        "02ffffffff0001000000000000000000007fff",
        "03123456789abcdef0fedcba987654321080018b",
        "0400000000000000000000000000000001ffff",
        "05ffffffffffff000000000000000000018000a3",
        "06a5a5a5a5a5a55a5a5a5a5a5a5a5a5a5a0f0f",
        "07ffffffffffffffff00000000000000000001001b",
    ];
    let packets = packets.iter().zip(0..).map(|(bytes, at)| {
        format!(
            "{{\"type\": \"packet\", \"bytes\": \"{bytes}\", \"timestamp\": {}, \
             \"locations\": [\"0:3\"]}}",
            2000 * at
        )
    });
    let packets: Vec<String> = packets.collect();
    let run = format!("{{\"max time\": 100000, \"events\": [{}]}}", packets.join(", "));
    assert_eq!(same(text, &run, &Options::default()), 8);
    // The sum of zeros, and 0xffff + 0xffff + 1, which carries twice.
    let found = cells(text, &run, &Options::default(), &[0, 2]);
    assert_eq!(found.iter().map(|cell| cell >> 32).collect::<Vec<_>>(), [0xffff, 0x1_fffe]);
}
