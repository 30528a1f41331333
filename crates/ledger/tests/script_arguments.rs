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

/// What is no amount, no count and no time.
const NO_NUMBERS: [&str; 6] = ["-1", "0.5", "nan", "inf", "-inf", "9007199254740994"];

/// Whether that call, the next one, is found to be invalid and leaves everything as it was.
fn is_refused(engine: &MluaEngine, before: &Store, call: &str) -> bool {
    engine.restore(before.clone());
    let Some(Turn::Call(script, args)) = turns(call).into_iter().next() else { panic!("no call: {call}") };
    let answer = done(engine.eval(script, KEY, args));
    let is_invalid = match &answer {
        Ok(Value::Array(parts)) => parts.get(1) == Some(&Value::Bulk(b"invalid".to_vec())),
        Ok(_) => false,
        // What is too short cannot even be read.
        Err(error) => error.to_string().contains("are no row"),
    };
    is_invalid && engine.store() == *before
}

#[test]
fn numbers_that_are_none_are_refused_before_anything_is_written() {
    let engine = MluaEngine::new(|| Millis::new(BEGINNING)).unwrap();
    let seed = "seed\n100000000\n1000\n12000\n15000\n5000\n-1\n\
        app-0\n9000000\n49000000000\n60000\n0\n10000000000\n2000\n5000\n1\n1\n{}\n\n";
    // The second call of a node is a plain one, which has a way of its own through the script.
    let sync = |name: &str, seq: u32, entry: &[&str]| {
        format!("{name}\nnode-0\n(0 1 0 {seq} 0 {} 0 5000)\napp-0\n({})\n\n", seq - 1, entry.join(" "))
    };
    let entry = ["0", "0", "0", "0", "0", "1000000", "100000", "1", "2", "0"];
    for turn in turns(&[seed, &sync("sync", 1, &entry)].concat()) {
        let Turn::Call(script, args) = turn else { continue };
        assert!(!is_complaint(&done(engine.eval(script, KEY, args)).unwrap()), "{}", script.name);
    }
    let before = engine.store();
    let mut next = entry;
    next[3] = "1000000";
    for name in ["sync", "depart"] {
        assert!(!is_refused(&engine, &before, &sync(name, 2, &next)), "{name} of what is as it should be");
        for (place, number) in (0..entry.len()).flat_map(|place| NO_NUMBERS.map(|number| (place, number))) {
            let mut entry = next;
            entry[place] = number;
            assert!(
                is_refused(&engine, &before, &sync(name, 2, &entry)),
                "{name}: {number} in place {place}"
            );
        }
        assert!(is_refused(&engine, &before, &sync(name, 2, &next[..8])), "{name}: half of an operation");
        assert!(is_refused(&engine, &before, &sync(name, 2, &next[..6])), "{name}: no whole entry");
        for (place, number) in (0..8).flat_map(|place| NO_NUMBERS.map(|number| (place, number))) {
            let mut head = ["0", "1", "0", "2", "0", "1", "0", "5000"];
            head[place] = number;
            let call = format!("{name}\nnode-0\n({})\napp-0\n({})", head.join(" "), next.join(" "));
            assert!(is_refused(&engine, &before, &call), "{name}: {number} in place {place} of the head");
        }
    }
    for number in NO_NUMBERS {
        for call in [
            format!("acquire\napp-0\n{number}"),
            format!("borrow\napp-0\n{number}"),
            format!("repay\napp-0\n{number}"),
            format!("reserve\nheld\napp-0\n{number}\n1000"),
            format!("reserve\nheld\napp-0\n1000000\n{number}"),
            format!("complete\nheld\n{number}"),
            format!("declare_emergency\na test\n{number}"),
            format!("changes\n{number}\n10"),
            format!("scheduled\n{number}\n10"),
            format!("apps\n\n{number}"),
        ] {
            // An empty line would end the call: the first page begins after no application.
            let call = call.replace("apps\n\n", "apps\napp\n");
            assert!(is_refused(&engine, &before, &call), "{call}");
        }
    }
}
