//! Every drill in its short form, with the binary of this build.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may panic and talk")]

use tollgate_drill::{Drill, Form, Played, Program, catalogue, play};

fn run(name: &str) {
    pass(&catalogue::named(name).unwrap_or_else(|| panic!("there is no drill {name}")));
}

fn pass(drill: &Drill) {
    let program = Program::new(env!("CARGO_BIN_EXE_tollgate"));
    match play(drill, &program, Form::Short).unwrap() {
        Played::Skipped(why) => eprintln!("skipped {}: {why}", drill.name),
        Played::Done(outcome) => {
            let broken = outcome.broken();
            assert!(broken.is_empty(), "{}: {broken:#?}\n{outcome:?}", drill.name);
        }
    }
}

/// A test for each drill, and one that none is forgotten.
macro_rules! drills {
    ($($test:ident $name:literal,)*) => {
        $(#[test] fn $test() { run($name); })*

        #[test]
        fn every_drill_is_here() {
            let all: Vec<&str> = catalogue::all().iter().map(|drill| drill.name).collect();
            assert_eq!(all, [$($name),*]);
        }
    };
}

drills! {
    primary_killed "primary-killed",
    primary_killed_and_back "primary-killed-and-back",
    primary_killed_ahead "primary-killed-ahead",
    primary_restarted_empty "primary-restarted-empty",
    primary_stopped "primary-stopped",
    primary_stopped_briefly "primary-stopped-briefly",
    replica_killed "replica-killed",
    replica_stopped "replica-stopped",
    failover "failover",
    takeover "takeover",
    flushed "flushed",
    out_of_memory "out-of-memory",
    no_replicas_to_write "no-replicas-to-write",
    rights_taken "rights-taken",
    password_set "password-set",
    delayed_10_ms "delayed-10-ms",
    delayed_50_ms "delayed-50-ms",
    delayed_200_ms "delayed-200-ms",
    delayed_2000_ms "delayed-2000-ms",
    half_open "half-open",
    connections_dead "connections-dead",
    connections_cut "connections-cut",
    network_cut "network-cut",
    gateway_killed "gateway-killed",
    gateway_lost "gateway-lost",
    gateway_stopped "gateway-stopped",
    gateway_stopped_briefly "gateway-stopped-briefly",
    all_gateways_killed "all-gateways-killed",
    rolling_restart "rolling-restart",
    disk_full "disk-full",
    disk_full_and_killed "disk-full-and-killed",
    reload_storm "reload-storm",
    certificate_renewed "certificate-renewed",
    slow_heads "slow-heads",
    half_bodies "half-bodies",
    opened_and_dropped "opened-and-dropped",
    upstream_dies "upstream-dies",
}

#[test]
fn three_gateways_share_one_promise_while_a_primary_dies() {
    pass(&catalogue::SCALE_OUT);
}
