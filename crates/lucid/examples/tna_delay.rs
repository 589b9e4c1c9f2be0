#![allow(missing_docs, clippy::all)]
use lucid::compile::{Options, Target, deploy};
use std::sync::Arc;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let number: u16 = std::env::args().nth(2).unwrap().parse().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut map = source::SourceMap::new();
    let compiled = lucid::front::compile(&mut map, &path, text, &Files, &Default::default(), &[]).unwrap();
    let options = Options { target: Target::Tna, ..Options::default() };
    let made = lucid::compile::compile(&compiled.program, &map, &options).unwrap();
    let mut d = source::Diagnostics::new();
    let program = Arc::new(ir::lowering::lower(&made.built.program, &mut d).unwrap());
    let site = deploy::Site { switch: 0, recirculation_port: 196, ..Default::default() };
    let mut o = deploy::device_options(&made, &site, false);
    o.traffic_manager.ports.get_mut(&196).unwrap().loopback = false;
    println!("{:?}", o.packet_generator.iter().map(|t| (t.port, t.offset_ps, t.period_ps)).collect::<Vec<_>>());
    let mut device = device::Device::new(program.clone(), o).unwrap();
    let commands = deploy::commands(&made, &compiled.program, &site);
    println!("{commands}");
    let mut session = control::session::Session::new(program);
    let (located, errors) = control::command_text::read("x", &commands);
    println!("{errors:?}");
    let _ = (&mut session, &located);
    let mut bytes = vec![2,0,0,0,0,0,2,0x10,0,0,0,0,2,0x9a];
    bytes.extend(number.to_be_bytes());
    bytes.extend([0;16]);
    device.inject(3, 0, bytes).unwrap();
    for _ in 0..8 {
        let Some(next) = device.next_event_ps() else { break };
        device.advance(next).unwrap();
        let out = device.drain_transmitted();
        for t in out {
            println!("{next} {t:?}");
            device.inject(196, next + 600_000, t.bytes.to_vec()).unwrap();
        }
    }
}
struct Files;
impl lucid::syntax::Loader for Files {
    fn load(&self, path: &str) -> Result<Option<String>, String> { Ok(std::fs::read_to_string(path).ok()) }
}
