# Docket's tasks. `make help` lists them. Every task first installs the tools it lacks (scripts/setup.sh).
#
# BUILD_CACHE (default ~/.cache/docket-build) has cargo's target directory, npm's cache and the installed tools outside
# the clone, so that the next clone builds faster.
BUILD_CACHE ?= $(HOME)/.cache/docket-build
export BUILD_CACHE

.DEFAULT_GOAL := help
.PHONY: help run dev build dist test test-all lint supply-chain fmt fuzz e2e conformance crash soak soak-faults soak-code-host attack bench sizes screenshots settings setup clean

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: setup ## Start the demo: Docket, a built-in emulator of the platform and a year of sample data
	@scripts/build.sh demo
	@exec target/demo/docket demo

dev: ## Start the demo in a debug build that reloads when a file changes
	@scripts/setup.sh dev
	@scripts/dev.sh

build: setup ## Build target/release/docket, one file with everything, and check the size of the front end
	@scripts/build.sh

dist: ## Write dist/: tar file, Debian package, root of a container, the client alone, SBOM and checksums; the binaries run on glibc 2.28 and later
	@scripts/setup.sh dist
	@scripts/dist.sh

test: ## Check a change: format, lints, Rust tests, browser tests; the last line counts what passed and failed
	@scripts/test.sh

test-all: ## Check and test everything, for a release: also all tests on PostgreSQL, the packages, the supply chain
	@scripts/test.sh all

lint: ## Check formatting, clippy for server and browser, the types of the browser tests, and the description of the API
	@scripts/setup.sh lint
	@scripts/lint.sh

supply-chain: ## Check licenses and sources of the dependencies, and known vulnerabilities where their databases can be reached
	@scripts/setup.sh test-all
	@scripts/supply-chain.sh

fmt: ## Format the Rust code
	@cargo fmt --all
	@cargo fmt --manifest-path fuzz/Cargo.toml

# SECONDS=600 fuzzes each decoder for ten minutes, TARGETS=views only one of them.
fuzz: ## Fuzz the decoders, one minute each (SECONDS=, TARGETS=)
	@scripts/setup.sh fuzz
	@scripts/fuzz.sh $(or $(SECONDS),60) $(TARGETS)

e2e: ## Run the browser tests
	@scripts/setup.sh test
	@scripts/build.sh development
	@scripts/e2e.sh

conformance: ## Check a server against the specification: KEY=… make conformance URL=… PROJECT=… [JOB=…] [WRITES=1]
	@scripts/conformance.sh

# ROUNDS=1000 kills more often, SEED=7 changes the moments.
crash: ## Kill the process at 300 random moments under load (ROUNDS=, SEED=): nothing is lost or sent twice
	@scripts/crash.sh $(or $(ROUNDS),300) $(SEED)

# REPLICAS=3 is three processes on PostgreSQL.
soak: build ## Let 200 simulated people use the release binary through the platform's faults (MINUTES=): nothing grows, no response is wrong
	@scripts/soak.sh $(or $(MINUTES),10) $(or $(REPLICAS),1)

soak-faults: build ## Single things outside fail all the time (MINUTES=): everything else goes on at its usual pace
	@node scripts/soak-faults.mjs $$PWD/target/release/docket $(or $(MINUTES),5)

soak-code-host: build ## Respond to the queries to GitHub at random, by its published schema (MINUTES=): no panic, no impossible state
	cd end2end && BINARY=$$PWD/../target/release/docket SOAK_SECONDS=$$((60 * $(or $(MINUTES),10))) npx playwright test github_schema

attack: build ## Attack the availability of the release binary in every known way at once (DURATION= in seconds), while a person works
	@scripts/attack.sh $(or $(DURATION),30)

bench: build ## Measure start, memory and page times of the release binary, a large database and a long history
	@scripts/bench.sh

sizes: setup ## Print lines, compile time and memory, and share of the binary, by crate
	@scripts/sizes.sh

screenshots: build ## Take the pictures in docs/screenshots again that differ from the pages
	@scripts/setup.sh test
	@scripts/screenshots.sh update

settings: ## Write Leptos.toml and the table in docs/operate/configuration.md from the documentation of the settings
	@scripts/settings.sh

setup: ## Install the missing build tools
	@scripts/setup.sh build

clean: ## Remove the build results of this clone; the shared cache stays
	rm -rf target dist end2end/node_modules end2end/test-results end2end/playwright-report
