# Everything a developer does, by name. `make` alone lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Where rustup puts cargo, for shells that do not say so.
export PATH := $(HOME)/.cargo/bin:$(PATH)

PROPTEST_CASES ?= 20000
ABUSE_NAMES ?= 1000000
SEEDS ?= 10000
FUZZ_SECONDS ?= 300
DRILL_TIMES ?= 10
SOAK_MINUTES ?= 30

.PHONY: help run test bench soak fmt lint deb sbom check-api check-deploy doc loom deny need-rust need-redis need-proxies need-peers need-throttlecrab need-envoy need-redis-clients need-postgres need-prometheus need-schemathesis need-cargo-deny console screenshots need-node need-chromium

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: need-rust console ## Run everything in one terminal, with traffic (tollgate demo); ARGS="--redis" for three gateways
	@echo "==> building, which takes some minutes the first time"
	@cargo build --locked -p tollgate
	@echo "==> running the demo"
	@cargo run --quiet --locked -p tollgate -- demo $(ARGS)

console: need-node ## Build the console, if it has changed
	@scripts/console build

screenshots: need-rust need-node need-chromium ## Make the pictures of the README anew, from the demo
	@echo "==> pictures of the console"
	@scripts/console screenshots

test: need-rust need-redis need-proxies need-envoy need-redis-clients need-postgres need-prometheus need-schemathesis need-node need-chromium ## Check everything: format, lints, tests, model, docs, examples, dependencies
	@scripts/test

bench: need-rust need-redis need-peers need-envoy need-throttlecrab ## Measure everything beside its peers, and sum it up in bench/results/REPORT.md: some fifty minutes; QUICK=1 for a first impression
	@scripts/bench

soak: need-rust need-redis need-proxies need-envoy need-redis-clients need-postgres need-prometheus ## Property tests with many more cases (PROPTEST_CASES), a million made-up names (ABUSE_NAMES), the model, 10,000 seeds (SEEDS) of the simulator, fuzzing (FUZZ_SECONDS each), every drill (DRILL_TIMES), half load (SOAK_MINUTES)
	@echo "==> tests, each property with $(PROPTEST_CASES) cases, and an attacker with $(ABUSE_NAMES) names and connections"
	@PROPTEST_CASES=$(PROPTEST_CASES) ABUSE_NAMES=$(ABUSE_NAMES) cargo test --workspace --all-features --exclude tollgate-bench --locked --lib --bins --tests
	@echo "==> model: every interleaving of the lock-free parts"
	@scripts/loom
	@echo "==> $(SEEDS) seeds of the story in which everything goes wrong"
	@cargo run --release --locked --quiet -p tollgate -- simulate scenarios/mixed.sim --seeds $(SEEDS)
	@seed=$${FUZZ_SEED:-$$(date +%s)}; \
	echo "==> fuzzing, $(FUZZ_SECONDS) seconds for each target, from FUZZ_SEED=$$seed"; \
	FUZZ_SEED=$$seed FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --workspace --all-features --exclude tollgate-bench --locked --lib --tests fuzz_ -- --nocapture --test-threads 1
	@echo "==> drills, each $(DRILL_TIMES) times"
	@cargo build --release --locked -p tollgate -p tollgate-bench
	@cargo run --release --locked --quiet -p tollgate-bench -- scale-out
	@cargo run --release --locked --quiet -p tollgate-bench -- drills --times $(DRILL_TIMES)
	@echo "==> half of the load for $(SOAK_MINUTES) minutes, in which memory must not grow"
	@cargo run --release --locked --quiet -p tollgate-bench -- soak --minutes $(SOAK_MINUTES)

fmt: need-rust ## Format the code
	@echo "==> formatting"
	@cargo fmt --all

lint: need-rust need-cargo-deny need-node ## Check format, lints and dependencies, and those of the console
	@echo "==> format"
	@cargo fmt --all --check
	@echo "==> lints"
	@cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	@echo "==> dependencies"
	@scripts/deny
	@echo "==> the console, and its types against the API"
	@scripts/console lint

deb: need-rust console ## Build the Debian package (cargo-deb, installed once)
	@scripts/deb

sbom: need-rust console ## List what the program is made of (CycloneDX; cargo-cyclonedx is installed once)
	@scripts/sbom

check-api: need-rust need-schemathesis ## Try every route of the admin API with what strangers may send (schemathesis)
	@echo "==> the admin API against its own description"
	@scripts/check-api

check-deploy: ## Check image, manifests and unit with their own tools
	@echo "==> what is deployed"
	@scripts/check-deploy

doc: need-rust ## Build the documentation of the crates
	@echo "==> documentation"
	@RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	@echo "open target/doc/tollgate_limiter/index.html"

loom: need-rust ## Try every interleaving of the lock-free parts
	@echo "==> model: every interleaving of the lock-free parts"
	@scripts/loom

deny: need-rust need-cargo-deny ## Check licences and sources of the dependencies
	@echo "==> dependencies"
	@scripts/deny

need-rust:
	@scripts/need-rust

need-redis:
	@scripts/need-redis

need-envoy:
	@scripts/need-envoy

need-redis-clients:
	@scripts/need-redis-clients

need-postgres:
	@scripts/need-postgres

need-prometheus:
	@scripts/need-prometheus

need-schemathesis:
	@scripts/need-schemathesis

need-cargo-deny:
	@scripts/need-cargo-deny

need-proxies:
	@scripts/need-proxies

need-peers:
	@scripts/need-peers

need-throttlecrab:
	@scripts/need-throttlecrab

need-node:
	@scripts/need-node

need-chromium:
	@scripts/need-chromium
