//! Teams of clients that take turns on one server, a slice of time each.

use super::client::Client;
use super::ground::Ground;
use anyhow::Context;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Clients that do the same at the same time.
pub(super) struct Team {
    pub(super) name: String,
    /// How many applications each call is about.
    pub(super) applications: u32,
    pub(super) clients: Vec<Client>,
}

/// What a team did in its turn of one round.
#[derive(Clone, Debug, Default)]
pub(super) struct Slice {
    pub(super) calls: u32,
    /// From the start to the end of the last call.
    pub(super) took: Duration,
    /// What the server says it worked on these calls.
    pub(super) server: Duration,
    /// How long each call took, from the client's side.
    pub(super) latencies: Vec<Duration>,
}

/// What a team did in all rounds.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) name: String,
    pub(super) applications: u32,
    pub(super) slices: Vec<Slice>,
}

/// All teams, in turns.
pub(super) struct Relay {
    teams: Vec<Team>,
    tracks: Vec<Track>,
    rounds: usize,
}

impl Relay {
    /// The teams, each warmed up by a slice that does not count.
    pub(super) async fn start(
        teams: Vec<Team>,
        slice: Duration,
        ground: &mut Ground,
    ) -> anyhow::Result<Self> {
        let track = |team: &Team| Track {
            name: team.name.clone(),
            applications: team.applications,
            slices: Vec::new(),
        };
        let tracks = teams.iter().map(track).collect();
        let mut relay = Self { teams, tracks, rounds: 0 };
        for team in &mut relay.teams {
            team.slice(slice, ground).await?;
        }
        Ok(relay)
    }

    /// Lets each team run a slice; another one goes first in each round.
    pub(super) async fn round(&mut self, slice: Duration, ground: &mut Ground) -> anyhow::Result<()> {
        let count = self.teams.len();
        for index in (0..count).map(|turn| (self.rounds + turn) % count) {
            let slice = self.teams[index].slice(slice, ground).await?;
            self.tracks[index].slices.push(slice);
        }
        self.rounds += 1;
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<Track> {
        self.tracks
    }
}

impl Team {
    async fn slice(&mut self, slice: Duration, ground: &mut Ground) -> anyhow::Result<Slice> {
        let command = self.clients.first().context("a team without clients")?.command();
        let before = ground.stats().await?;
        let mut done = self.run(slice).await.with_context(|| self.name.clone())?;
        let effort = ground.stats().await?.since(&before).of(command);
        done.server = Duration::from_micros(effort.micros.into());
        Ok(done)
    }

    /// All clients at once, each one call after the other, until the time is up.
    async fn run(&mut self, slice: Duration) -> anyhow::Result<Slice> {
        let (start, mut tasks) = (Instant::now(), JoinSet::new());
        for client in self.clients.drain(..) {
            tasks.spawn(repeat(client, start + slice));
        }
        let mut done = Slice::default();
        while let Some(ended) = tasks.join_next().await {
            let (client, latencies) = ended??;
            self.clients.push(client);
            done.latencies.extend(latencies);
        }
        done.took = start.elapsed();
        done.calls = u32::try_from(done.latencies.len())?;
        Ok(done)
    }
}

async fn repeat(mut client: Client, until: Instant) -> anyhow::Result<(Client, Vec<Duration>)> {
    let mut latencies = Vec::new();
    let mut last = Instant::now();
    while last < until {
        client.call().await?;
        let now = Instant::now();
        latencies.push(now - last);
        last = now;
    }
    Ok((client, latencies))
}
