#![allow(missing_docs, clippy::all)]
use lucid::compile::{Options, Target, tna};
use lucid::elaborate::Symbolics;
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut map = source::SourceMap::new();
        let sym = std::path::Path::new(&path).with_extension("symb");
        let _ = sym;
        let compiled = match lucid::front::compile(&mut map, &path, text, &Files, &Symbolics::default(), &[]) {
            Ok(c) => c,
            Err(d) => { for x in d.iter() { println!("{path}: FRONT {}: {}", x.code.0, x.message); } continue; }
        };
        let target = pisa::Target::named("tofino", source::Span::NONE).unwrap();
        let options = Options { target: Target::Tna, ..Options::default() };
        let start = std::time::Instant::now();

        match tna::compile_with(&compiled.program, map, &options, &|p| { 
            pisa::greedy::greedy_unlimited(p, &target) }) {
            Ok(made) => {
                let text = made.compiled.built.print();
                println!("{path}: ok {} stages, {} lines, {:?}", made.layout.stages.len(), text.lines().count(), start.elapsed());
                for w in made.compiled.built.warnings.iter() { println!("  warning {} {} {:?}", w.code.0, w.message, made.compiled.built.map.location(w.primary.span)); }
                if std::env::var("STAGES").is_ok() { for (n, st) in made.layout.stages.iter().enumerate() { println!("  stage {n}"); for t in &st.tables { println!("    {:?}", t.gress); for u in &t.units { println!("      {u:?} {} ", made.problem.units[u.0 as usize].name); } } } }
                if std::env::var("SHOW").is_ok() { println!("{text}"); }
                let mut d = source::Diagnostics::new();
                ir::lowering::lower(&made.compiled.built.program, &mut d); for x in d.iter() { println!("  LOWER {} {} {:?}", x.code.0, x.message, made.compiled.built.map.location(x.primary.span)); }
                let _ = &mut d;
            }
            Err(d) => for x in d.iter() { println!("{path}: {}: {} {:?} {}", x.code.0, x.message, x.primary.span, if std::env::var("SHOW").is_ok() {format!("{:?}", x.notes)} else {String::new()}); }
        }
    }
}
struct Files;
impl lucid::syntax::Loader for Files {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(path).ok())
    }
}
