//! Whoever interrupts tests, drills or benchmarks leaves nothing of them behind.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tollgate_testkit::{Process, Undo, run};

const PATIENCE: Duration = Duration::from_secs(20);

/// Names the folder in which this test is the one that is interrupted.
const FOLDER: &str = "TOLLGATE_INTERRUPTED_IN";

#[test]
fn nothing_outlives_an_interruption() {
    if let Some(folder) = env::var_os(FOLDER) {
        hold(Path::new(&folder));
    }
    for (name, number) in [("-INT", 2), ("-TERM", 15)] {
        let folder = tempfile::tempdir().unwrap();
        let mut holder = Command::new(env::current_exe().unwrap())
            .args(["--exact", "nothing_outlives_an_interruption"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let noted = folder.path().join("held");
        until(|| noted.exists());
        let held = fs::read_to_string(noted).unwrap();
        assert!(runs(&held));
        run(Command::new("kill").arg(name).arg(holder.id().to_string())).unwrap();
        let status = holder.wait().unwrap();
        assert_eq!(status.signal(), Some(number), "it ends as if nobody had listened");
        assert!(
            folder.path().join("second").exists(),
            "a command of its own was run, after the one noted later"
        );
        until(|| !runs(&held));
    }
}

/// Holds a process and two things that are undone one after the other, and waits for what comes.
fn hold(folder: &Path) -> ! {
    let process = Process::start(Command::new("sleep").arg("600")).unwrap();
    let undo = |from: &str, to: &str| {
        let mut command = Command::new("mv");
        command.arg(folder.join(from)).arg(folder.join(to));
        Undo::by(command)
    };
    fs::write(folder.join("none"), "").unwrap();
    let _undone = (undo("first", "second"), undo("none", "first"));
    drop(undo("none", "forgotten"));
    // In one step, as somebody waits for it.
    fs::write(folder.join("half"), process.id().to_string()).unwrap();
    fs::rename(folder.join("half"), folder.join("held")).unwrap();
    loop {
        thread::park();
    }
}

/// Whether the process does something: one that has ended may wait for its parent.
fn runs(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat"));
    state.is_ok_and(|state| !state.contains(") Z "))
}

fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "it did not come to that");
        thread::sleep(Duration::from_millis(10));
    }
}
