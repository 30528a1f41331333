#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]
use tollgate_sim::{Sabotage, Scenario};
fn main() {
    let text = std::fs::read_to_string("scenarios/mixed.sim").unwrap();
    let scenario = Scenario::parse("x", &text).unwrap();
    for s in Sabotage::ALL {
        let mut caught = None;
        for seed in 1..=100 {
            let o = scenario.run_sabotaged(seed, s).unwrap();
            if let Some(f) = o.failure {
                caught = Some((seed, f.violation.rule, f.violation.at));
                break;
            }
        }
        println!("{s:?}: {caught:?}");
    }
}
