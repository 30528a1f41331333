# Everything a developer does, by name. `make` alone lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Where rustup puts cargo, for shells that do not say so.
export PATH := $(HOME)/.cargo/bin:$(PATH)

PROPTEST_CASES ?= 20000

.PHONY: help run test bench soak fmt lint check-api doc loom deny need-rust need-redis need-proxies need-envoy need-redis-clients need-postgres need-prometheus need-cargo-deny

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: need-rust ## Run everything in one terminal, with traffic (tollgate demo)
	@echo "==> building and running the demo"
	@cargo run --quiet --locked -p tollgate -- demo

test: need-rust need-redis need-proxies need-envoy need-redis-clients need-postgres need-prometheus ## Check everything: format, lints, tests, model, docs, examples, dependencies
	@scripts/test

bench: need-rust need-redis ## Measure the limiter and the ledger against their peers
	@echo "==> measuring the limiter against its peers"
	@cargo run --release --locked -p tollgate-bench -- limiter
	@echo "==> measuring the ledger on Redis beside plain commands"
	@cargo run --release --locked -p tollgate-bench -- ledger

soak: need-rust need-redis need-proxies need-envoy need-redis-clients ## Run the property tests with many more cases (PROPTEST_CASES), and the model
	@echo "==> tests, each property with $(PROPTEST_CASES) cases"
	@PROPTEST_CASES=$(PROPTEST_CASES) cargo test --workspace --all-features --exclude tollgate-bench --locked --lib --bins --tests
	@echo "==> model: every interleaving of the lock-free parts"
	@scripts/loom

fmt: need-rust ## Format the code
	@echo "==> formatting"
	@cargo fmt --all

lint: need-rust need-cargo-deny ## Check format, lints and dependencies
	@echo "==> format"
	@cargo fmt --all --check
	@echo "==> lints"
	@cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	@echo "==> dependencies"
	@scripts/deny

check-api: need-rust ## Try every route of the admin API with what strangers may send (schemathesis)
	@echo "==> the admin API against its own description"
	@scripts/check-api

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

need-cargo-deny:
	@scripts/need-cargo-deny

need-proxies:
	@scripts/need-proxies
