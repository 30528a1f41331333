//! Tries what strangers may send: everything in a corpus, then mutations of it.

mod mutate;

use anyhow::Context;
use fastrand::Rng;
use mutate::mutate;
use std::any::Any;
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Write, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

/// For how many seconds to go on; unless it is set, a fixed number of mutations is tried.
const SECONDS: &str = "FUZZ_SECONDS";

/// Where the mutations start from; unless it is set, always from the same.
const SEED: &str = "FUZZ_SEED";

/// A file to be tried instead of everything else, to repeat what was found.
const INPUT: &str = "FUZZ_INPUT";

/// Inputs that did something new are kept to be mutated further, so many at most.
const MOST_KEPT: usize = 4_096;

/// An input that keeps a target busy for longer than this is a find too.
const PATIENCE: Duration = Duration::from_secs(20);

/// Something that reads what strangers send.
#[derive(Clone, Copy, Debug)]
pub struct Fuzz {
    /// Its name, and that of its folder in `fuzz/corpus`.
    pub target: &'static str,
    /// Words that it may know: a mutation may put one anywhere.
    pub words: &'static [&'static str],
    /// How many mutations are tried when nobody says for how long.
    pub mutations: u32,
}

impl Fuzz {
    /// Hands inputs to `taste`, which panics if something is wrong, and else says what became of the input: inputs that
    /// had an end of their own are mutated further.
    pub fn run<T: Hash>(&self, mut taste: impl FnMut(&[u8]) -> T) -> anyhow::Result<()> {
        if let Some(path) = env::var_os(INPUT) {
            let input = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            return self.check(&input, &mut taste).map(drop);
        }
        let mut kept = self.corpus()?;
        let mut ends = HashSet::new();
        let watchdog = Watchdog::start(self.target);
        for input in &kept {
            watchdog.show(input);
            ends.insert(self.check(input, &mut taste)?);
        }
        let (seed, seconds) = (number(SEED)?.unwrap_or(1), number(SECONDS)?.map(Duration::from_secs));
        let (mut rng, start, mut tried) = (Rng::with_seed(seed), Instant::now(), 0_u32);
        while seconds.map_or(tried < self.mutations, |seconds| start.elapsed() < seconds) {
            let input = mutate(&kept, self.words, &mut rng);
            watchdog.show(&input);
            if ends.insert(self.check(&input, &mut taste)?) && kept.len() < MOST_KEPT {
                kept.push(input);
            }
            tried += 1;
        }
        let (target, ends) = (self.target, ends.len());
        writeln!(
            stderr(),
            "{target}: {tried} mutations from seed {seed}, {ends} ends, in {:.0?}",
            start.elapsed()
        )?;
        Ok(())
    }

    /// The same, and not in vain: so many inputs at least must come to an end that has that word in it. One that never gets past the
    /// first check proves nothing of what is behind it.
    pub fn run_to<T: Hash + Debug>(
        &self,
        wanted: &[(&str, u32)],
        mut taste: impl FnMut(&[u8]) -> T,
    ) -> anyhow::Result<()> {
        let mut missing: Vec<(&str, u32)> = wanted.to_vec();
        self.run(|input| {
            let end = taste(input);
            if !missing.is_empty() {
                let told = format!("{end:?}");
                missing.iter_mut().filter(|(word, _)| told.contains(word)).for_each(|(_, count)| *count -= 1);
                missing.retain(|(_, count)| *count > 0);
            }
            end
        })?;
        let is_one_input = env::var_os(INPUT).is_some();
        anyhow::ensure!(
            is_one_input || missing.is_empty(),
            "{}: too few inputs came to these ends, by so many: {missing:?}",
            self.target
        );
        Ok(())
    }

    /// Tries one input; what became of it, as a number. A find is saved, with a word on how to repeat it.
    fn check<T: Hash>(&self, input: &[u8], taste: &mut impl FnMut(&[u8]) -> T) -> anyhow::Result<u64> {
        let tasted = catch_unwind(AssertUnwindSafe(|| taste(input)));
        let end = tasted.map_err(|panic| {
            anyhow::anyhow!("{}: {}\n{}", self.target, message(&*panic), save(self.target, input))
        })?;
        let mut hasher = DefaultHasher::new();
        end.hash(&mut hasher);
        Ok(hasher.finish())
    }

    /// What is committed, in the order of its names.
    fn corpus(&self) -> anyhow::Result<Vec<Vec<u8>>> {
        let folder = root().join("fuzz/corpus").join(self.target);
        let files = fs::read_dir(&folder).with_context(|| format!("no corpus in {}", folder.display()))?;
        let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        paths.sort();
        anyhow::ensure!(!paths.is_empty(), "nothing in {}", folder.display());
        paths.iter().map(|path| fs::read(path).map_err(Into::into)).collect()
    }
}

/// Tells of an input that keeps a target busy for ever: nobody else could.
struct Watchdog {
    current: Arc<Mutex<(Instant, Vec<u8>)>>,
    is_over: Arc<AtomicBool>,
}

impl Watchdog {
    fn start(target: &'static str) -> Self {
        let watchdog =
            Self { current: Arc::new(Mutex::new((Instant::now(), Vec::new()))), is_over: Arc::default() };
        let (current, is_over) = (Arc::clone(&watchdog.current), Arc::clone(&watchdog.is_over));
        thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                let (since, input) = &*current.lock().unwrap_or_else(PoisonError::into_inner);
                if since.elapsed() > PATIENCE && !is_over.load(Ordering::Relaxed) {
                    let _ = writeln!(stderr(), "{target}: busy for {PATIENCE:?}\n{}", save(target, input));
                    process::abort();
                }
            }
        });
        watchdog
    }

    fn show(&self, input: &[u8]) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.0 = Instant::now();
        input.clone_into(&mut current.1);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Saves an input, and says how to try it again.
fn save(target: &str, input: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let folder = root().join("target/fuzz");
    let path = folder.join(format!("{target}-{:016x}", hasher.finish()));
    let saved = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input));
    let shown = String::from_utf8_lossy(&input[..input.len().min(200)]).into_owned();
    let test = target.replace('-', "_");
    match saved {
        Ok(()) => format!(
            "input: {shown:?}\nto repeat it: {INPUT}={} cargo test --workspace --all-features fuzz_{test}",
            path.display()
        ),
        Err(error) => format!("input: {shown:?}\nit could not be saved to {}: {error}", path.display()),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

fn number(variable: &str) -> anyhow::Result<Option<u64>> {
    let text = env::var(variable).ok().filter(|text| !text.is_empty());
    text.map(|text| text.parse().with_context(|| format!("{variable} is no number: {text}"))).transpose()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_never_gets_far_is_told() {
        let fuzz = Fuzz { target: "s3-classification", words: &[], mutations: 10 };
        let run = |wanted| fuzz.run_to(wanted, |_| ("refused", 400)).map_err(|error| error.to_string());
        assert_eq!(run(&[("refused", 11), ("400", 1)]), Ok(()));
        let told = run(&[("refused", 1), ("good", 3)]).unwrap_err();
        assert!(told.ends_with("by so many: [(\"good\", 3)]"), "{told}");
    }
}
