//! What a client with the rights of a node, and none of its manners, may hand to the scripts: they answer or complain, soon, and
//! the books can be read afterwards.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tollgate_core::id::ClusterId;
use tollgate_core::units::Millis;
use tollgate_ledger::script::{ALL, Engine, EngineError, MluaEngine, Script, ScriptLedger, Store, Value};
use tollgate_ledger::{Ledger, LedgerError};
use tollgate_testkit::Fuzz;

const KEY: &str = "ratelimit:{cluster-01}";

/// No call gives more commands than this, whatever it is told: a server does nothing else meanwhile.
const MOST_COMMANDS: usize = 5_000;

/// When each input begins, in milliseconds.
const BEGINNING: u64 = 1_700_000_000_123;

/// Between two calls no more time passes than this, in milliseconds.
const LONGEST: u64 = 3_600_000;

/// Scripts that do all or nothing, whatever they are told.
const WHOLE: [&str; 2] = ["hold", "report_connections"];

/// Nothing here waits.
fn done<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

/// What a client does next.
enum Turn {
    Call(&'static Script, Vec<Vec<u8>>),
    Wait(u64),
}

/// Calls as their contracts write them: a line with the name of a script, then a line for each argument, where what is in
/// brackets is packed; an empty line ends a call. Between them may be `later` with a line of how many milliseconds.
fn turns(text: &str) -> Vec<Turn> {
    let turn = |text: &str| {
        let mut lines = text.lines();
        let name = lines.next()?;
        if name == "later" {
            return Some(Turn::Wait(lines.next()?.parse().ok()?));
        }
        let script = ALL.iter().find(|script| script.name == name)?;
        Some(Turn::Call(script, lines.map(argument).collect()))
    };
    text.split("\n\n").filter_map(turn).collect()
}

fn argument(line: &str) -> Vec<u8> {
    let Some(row) = line.strip_prefix('(') else { return line.as_bytes().to_vec() };
    let numbers =
        row.trim_end_matches(')').split(' ').map(|number| number.parse::<f64>().unwrap_or(f64::NAN));
    numbers.flat_map(f64::to_le_bytes).collect()
}

/// Whether a script says why it did nothing.
fn is_complaint(answer: &Value) -> bool {
    matches!(answer, Value::Array(parts) if matches!(parts.first(), Some(Value::Bulk(word)) if word == b"err"))
}

/// What became of a call, without its numbers.
fn shape(answer: &Result<Value, EngineError>) -> String {
    match answer {
        Ok(Value::Array(parts)) => {
            let word = |part: &Value| match part {
                Value::Bulk(text) if text.len() < 16 => String::from_utf8_lossy(text).into_owned(),
                _ => String::new(),
            };
            parts
                .iter()
                .take(2)
                .map(word)
                .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
                .collect()
        }
        Ok(_) => "something else".into(),
        Err(error) => error.to_string().chars().filter(|letter| !letter.is_ascii_digit()).take(120).collect(),
    }
}

#[test]
fn fuzz_script_arguments() {
    let cluster = ClusterId::new("cluster-01").unwrap();
    let fuzz = Fuzz {
        target: "script-arguments",
        words: &[
            "sync\n",
            "depart\n",
            "acquire\n",
            "reserve\n",
            "put_app\n",
            "hold\n",
            "report_connections\n",
            "pin\n",
            "complete\n",
            "repay\n",
            "later\n1000\n",
            "held 1",
            "\n\n",
            "\n",
            "app-0",
            "node-0",
            "(",
            ")",
            " ",
            "nan",
            "inf",
            "-inf",
            "-1",
            "1e308",
            "4503599627370496",
            "keep",
            "scale",
            "reset",
        ],
        mutations: 4_000,
    };
    let clock = Arc::new(AtomicU64::new(BEGINNING));
    let read = Arc::clone(&clock);
    let engine = MluaEngine::new(move || Millis::new(read.load(Ordering::Relaxed))).unwrap();
    let ledger = ScriptLedger::new(engine.clone());
    let mut succeeded = BTreeSet::new();
    fuzz.run(|input| {
        engine.restore(Store::default());
        clock.store(BEGINNING, Ordering::Relaxed);
        let mut shapes = Vec::new();
        for turn in turns(&String::from_utf8_lossy(input)).into_iter().take(8) {
            let (script, args) = match turn {
                Turn::Call(script, args) => (script, args),
                Turn::Wait(millis) => {
                    clock.fetch_add(millis.min(LONGEST), Ordering::Relaxed);
                    continue;
                }
            };
            let before = engine.store();
            let answer = done(engine.eval(script, KEY, args));
            assert!(
                engine.commands() <= MOST_COMMANDS,
                "{} gave {} commands",
                script.name,
                engine.commands()
            );
            // A script that stops in the middle leaves what it has written. Those of the books believe a node that its numbers are
            // numbers, and what they leave can be read (below); those of connections look at each first.
            let is_whole = answer.is_ok() || engine.store() == before;
            assert!(
                is_whole || !WHOLE.contains(&script.name),
                "{} stopped half-way: {answer:?}",
                script.name
            );
            if answer.as_ref().is_ok_and(|answer| !is_complaint(answer)) {
                succeeded.insert(script.name);
            }
            shapes.push((script.name, shape(&answer)));
        }
        let audit = done(ledger.audit(&cluster));
        assert!(matches!(audit, Ok(_) | Err(LedgerError::Unseeded)), "the books cannot be read: {audit:?}");
        shapes.push(("audit", audit.map_or_else(|error| format!("{error:?}"), |_| String::new())));
        shapes
    })
    .unwrap();
    let never: Vec<&str> =
        ALL.iter().map(|script| script.name).filter(|name| !succeeded.contains(name)).collect();
    let is_one_input = std::env::var_os("FUZZ_INPUT").is_some();
    assert!(never.is_empty() || is_one_input, "nothing that was tried got as far as to succeed in {never:?}");
}
