//! What happens to Redis.

use super::FLEET;
use crate::drill::ByRedis::{Continue, Kill, Restart, Stop, Tell};
use crate::drill::Server::{FirstPrimary, FirstReplica, Primary, Replica};
use crate::drill::Step::{Redis, Rest};
use crate::drill::Drill;

pub(super) const DRILLS: &[Drill] = &[
    Drill {
        name: "primary-killed",
        about: "the primary with the books is killed, and its replica takes its place",
        stage: FLEET,
        steps: &[Redis(Primary, Kill), Rest(2_000)],
        losses: 1,
        outages: 1,
    },
    Drill {
        name: "primary-killed-and-back",
        about: "the same, and the old primary comes back as a replica",
        stage: FLEET,
        steps: &[Redis(Primary, Kill), Rest(6_000), Redis(FirstPrimary, Restart)],
        losses: 1,
        outages: 1,
    },
    Drill {
        name: "primary-restarted-empty",
        about: "the primary is killed and back at once, with nothing in it",
        stage: FLEET,
        steps: &[Redis(Primary, Kill), Redis(FirstPrimary, Restart)],
        losses: 1,
        outages: 1,
    },
    Drill {
        name: "primary-stopped",
        about: "the primary stands still with its connections open, and goes on after it was replaced",
        stage: FLEET,
        steps: &[Redis(Primary, Stop), Rest(5_000), Redis(FirstPrimary, Continue)],
        losses: 1,
        outages: 1,
    },
    Drill {
        name: "primary-stopped-briefly",
        about: "the primary stands still for less than it takes to be replaced",
        stage: FLEET,
        steps: &[Redis(Primary, Stop), Rest(1_000), Redis(FirstPrimary, Continue)],
        losses: 0,
        outages: 1,
    },
    Drill {
        name: "replica-killed",
        about: "the replica of the books is killed and comes back",
        stage: FLEET,
        steps: &[Redis(Replica, Kill), Rest(1_500), Redis(FirstReplica, Restart)],
        losses: 0,
        outages: 0,
    },
    Drill {
        name: "replica-stopped",
        about: "the replica of the books stands still and goes on",
        stage: FLEET,
        steps: &[Redis(Replica, Stop), Rest(1_500), Redis(FirstReplica, Continue)],
        losses: 0,
        outages: 0,
    },
    Drill {
        name: "failover",
        about: "an operator moves the books to the replica (CLUSTER FAILOVER)",
        stage: FLEET,
        steps: &[Redis(Replica, Tell(&["CLUSTER", "FAILOVER"])), Rest(2_000)],
        losses: 0,
        outages: 1,
    },
    Drill {
        name: "takeover",
        about: "the replica takes the books without asking anybody (CLUSTER FAILOVER TAKEOVER)",
        stage: FLEET,
        steps: &[Redis(Replica, Tell(&["CLUSTER", "FAILOVER", "TAKEOVER"])), Rest(2_000)],
        losses: 1,
        outages: 1,
    },
    Drill {
        name: "flushed",
        about: "somebody runs FLUSHALL on the primary",
        stage: FLEET,
        steps: &[Redis(Primary, Tell(&["FLUSHALL"])), Rest(2_000)],
        losses: 1,
        outages: 0,
    },
    Drill {
        name: "out-of-memory",
        about: "Redis has no memory left for writes (maxmemory)",
        stage: FLEET,
        steps: &[
            Redis(Primary, Tell(&["CONFIG", "SET", "maxmemory", "1"])),
            Rest(2_000),
            Redis(Primary, Tell(&["CONFIG", "SET", "maxmemory", "0"])),
        ],
        losses: 0,
        outages: 1,
    },
    Drill {
        name: "no-replicas-to-write",
        about: "Redis refuses writes because it has too few replicas (min-replicas-to-write)",
        stage: FLEET,
        steps: &[
            Redis(Primary, Tell(&["CONFIG", "SET", "min-replicas-to-write", "5"])),
            Rest(2_000),
            Redis(Primary, Tell(&["CONFIG", "SET", "min-replicas-to-write", "0"])),
        ],
        losses: 0,
        outages: 1,
    },
    Drill {
        name: "rights-taken",
        about: "the user of the gateways loses the right to run scripts (ACL)",
        stage: FLEET,
        steps: &[
            Redis(Primary, Tell(&["ACL", "SETUSER", "default", "-eval", "-evalsha", "-script"])),
            Rest(2_000),
            Redis(Primary, Tell(&["ACL", "SETUSER", "default", "+@all"])),
        ],
        losses: 0,
        outages: 1,
    },
    Drill {
        name: "password-set",
        about: "Redis suddenly wants a password, and cuts everybody's connection",
        stage: FLEET,
        steps: &[
            Redis(Primary, Tell(&["CONFIG", "SET", "requirepass", "secret"])),
            Redis(Primary, Tell(&["-a", "secret", "--no-auth-warning", "CLIENT", "KILL", "TYPE", "normal"])),
            Rest(2_000),
            Redis(FirstPrimary, Tell(&["-a", "secret", "--no-auth-warning", "CONFIG", "SET", "requirepass", ""])),
        ],
        losses: 1,
        outages: 1,
    },
];
