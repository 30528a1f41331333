#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::unwrap_used)]
use tollgate_sim::{LedgerKind, Scenario};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let from: u64 = args[2].parse().unwrap();
    let to: u64 = args[3].parse().unwrap();
    let lua = args.get(4).is_some_and(|a| a == "lua");
    let scenario = Scenario::parse("x", &text).unwrap_or_else(|e| panic!("{e}"));
    let mut bad = 0;
    for seed in from..to {
        let t = std::time::Instant::now();
        let o = scenario.run(seed, if lua { LedgerKind::Lua } else { LedgerKind::Memory }).unwrap();
        if to - from < 20 || o.failure.is_some() {
            println!(
                "seed {seed}: {} events, {} requests, {} calls {:?} per1000 {:?} busy {:.3} conv {:?}",
                o.events,
                o.summary.requests,
                o.summary.calls,
                t.elapsed(),
                o.summary.measure(tollgate_sim::scenario::Measure::Calls, None),
                o.summary.busy,
                o.summary.measure(tollgate_sim::scenario::Measure::Convergence, None)
            );
            if to - from < 4 {
                for a in o.summary.apps.iter().take(10) {
                    println!(
                        "  {} asked {} passed {} ideal {} util {:.4} over {:.4} fair {:.4} {:?} extras {:?}",
                        a.app,
                        a.asked,
                        a.passed,
                        a.ideal,
                        a.utilisation(),
                        a.over_admission,
                        a.fairness,
                        a.refused,
                        a.extras
                    );
                }
                println!("  unmet {:?}", o.summary.unmet(&scenario));
            }
        }
        if let Some(f) = o.failure {
            bad += 1;
            println!("  FAILED seed {seed} {}", f.violation);
            for p in f.faults {
                println!("    {p}");
            }
            if std::env::var("TRACE").is_ok() {
                for l in f.trace {
                    println!("    {l}");
                }
            }
        }
    }
    println!("{bad} bad");
}
