# Two commands matter to a newcomer, `make demo` and `make test`; `make help` lists the rest.
# Everything is installed into .venv, nothing outside the checkout is touched.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# The extras that a user gets: reports with layouts by Graphviz, and the page to work in.
USUAL  := report,app

# Stamps: a step is done again only when what it was made from is newer.
INSTALLED := $(VENV)/.installed
DEV       := $(VENV)/.installed-dev
BENCH     := $(VENV)/.installed-bench
PACKAGING := $(VENV)/.installed-packaging

RUST    := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml $(wildcard Cargo.lock)
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check
MATURIN := $(shell sed -n 's/^requires = \["\(maturin.*\)"\]/\1/p' pyproject.toml)
MSRV    := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# Lints and formats the scripts and style sheets of the report.
BIOME := 2.6.7

# pyo3's build script must find the interpreter that the extension is built for.
export PYO3_PYTHON := $(abspath $(BIN)/python)

# Bytecode is kept even where the environment says otherwise: the tests start hundreds of processes,
# and each would compile kes anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*## .*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## Learn from the built-in ALARM network, print the summary and write a report
	@rm -rf demo && mkdir demo
	$(BIN)/kes learn --example alarm --k 0.8 --runs 100 --seed 0 --out demo/alarm.kes.json.gz
	$(BIN)/kes report demo/alarm.kes.json.gz --example alarm
	@printf '\nFiles written:\n' && ls -1sh demo/*

test: lint test-rust test-page test-python ## Check everything: style, types, stubs, Rust and Python tests

lint: lint-page $(DEV) ## Check style, types, and the stubs against the built core
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/python -m mypy.stubtest kes._core
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

# The scripts and style sheets of the report need no packages, so their tools are not installed: npm
# fetches Biome into its cache, and Node.js runs the tests by itself.
lint-page: ## Check the scripts and style sheets of the report, where there is npm
	@if command -v npm > /dev/null; then \
	  npm exec --yes --loglevel=error --package=@biomejs/biome@$(BIOME) -- biome ci --error-on-warnings; \
	else echo "SKIPPED: npm is missing, so the scripts of the report are not linted"; fi

test-page: ## Run the tests of the report's scripts, where there is Node.js
	@if command -v node > /dev/null; then node --test tests/page/*.test.js; \
	else echo "SKIPPED: Node.js is missing, so the scripts of the report are not tested"; fi

# The dev profile checks for overflow. The bindings have no Rust tests: Python tests them.
test-rust: ## Run the tests of the Rust core
	cargo test --locked --package kes-core

# Files are shared out between processes, so that what a file sets up is set up once. The slow ones,
# with browsers and processes, come first by name, so all end at about the same time. As these often
# wait for others, there is one process more than cores on a small machine.
test-python: $(DEV) ## Run the Python tests
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

test-all: test test-builds ## Check everything, and hundreds of kills, interrupts and lost clusters too
	$(BIN)/python -m pytest -m slow
	cargo test --locked --release --package kes-core --test posterior

test-builds: $(DEV) ## Build the core optimised or not, for this processor or any; compare results
	$(BIN)/python -m tests.builds

mutants: $(DEV) ## Change 150 places of each language, one by one; list what no test notices
	$(BIN)/python -m tests.mutants python $(if $(COUNT),--count '$(COUNT)') $(if $(SEED),--seed '$(SEED)')
	$(BIN)/python -m tests.mutants rust $(if $(COUNT),--count '$(COUNT)') $(if $(SEED),--seed '$(SEED)')

coverage: $(DEV) ## Count the lines of Rust and Python that the tests run
	$(BIN)/python -m tests.covered

soak: $(DEV) ## Compare random cases with brute force, as in MINUTES=30 SEED=1
	nice $(BIN)/python -m tests.soak --minutes $(or $(MINUTES),30) $(if $(SEED),--seed '$(SEED)')

licences: $(DEV) ## List the licences of everything that is built in or installed with kes
	$(BIN)/python -m tests.supply licences

audit: $(DEV) ## Look for known weaknesses of what kes depends on, where the databases can be reached
	$(BIN)/python -m tests.supply audit

paper: $(DEV) ## Do the paper's evaluation again and fill in docs/reproduction.md
	$(BIN)/kes paper --out target/paper --fill docs/reproduction.md

bench: $(BENCH) ## Measure speed and memory and those of PyBNesian, as ratios in one run
	$(BIN)/python benchmarks/speed.py

bench-against: $(DEV) ## Time this version and an earlier one in turns, as in REV=56d3890
	$(BIN)/python benchmarks/against.py '$(REV)' $(if $(TASKS),--tasks '$(TASKS)') \
	  $(if $(TABLES),--tables '$(TABLES)') $(if $(NETWORKS),--networks '$(NETWORKS)') \
	  $(if $(REPEAT),--repeat '$(REPEAT)')

# These write tables of README.md and docs. Where peers are measured, single results are kept in
# target/bench, so that a command given again goes on; remove that to measure anew.
bench-peers: $(DEV) ## Install each peer apart from the others, compare seconds and BIC
	$(BIN)/python benchmarks/peers.py --install --fill

bench-quality: $(DEV) ## Compare highest scores and distances from the truth with those of peers
	$(BIN)/python benchmarks/quality.py --fill

bench-optimal: $(DEV) ## See how often searches reach the highest score, where it is proven
	$(BIN)/python benchmarks/optimal.py --fill

bench-heldout: $(DEV) ## Compare the log-likelihood of new cases with that of peers
	$(BIN)/python benchmarks/heldout.py --fill

bench-average: $(DEV) ## Compare averaged networks with the best single one on new cases
	$(BIN)/python benchmarks/average.py --fill

bench-classify: $(DEV) ## Classify real tables, as other classifiers do
	$(BIN)/python benchmarks/classify.py --install --fill

bench-large-peers: $(DEV) ## Score against CPU seconds on large networks, of kes and peers
	$(BIN)/python benchmarks/large_peers.py --fill $(if $(NETWORKS),--networks '$(NETWORKS)')

bench-inference: $(DEV) ## Time exact inference against pyAgrum, as in NETWORKS=../shared/data/bif
	$(BIN)/python benchmarks/inference.py $(if $(NETWORKS),--networks '$(NETWORKS)')

bench-coverage: $(DEV) ## See how good the estimates are of what runs have not found
	$(BIN)/python benchmarks/unseen.py

bench-evidence: $(DEV) ## See how well evidence ranks edges, and whether effects cover the truth
	$(BIN)/python benchmarks/evidence.py $(if $(SAMPLES),--samples '$(SAMPLES)')

bench-calibration: $(DEV) ## See how often probabilities, evidence and words are right, as in SAMPLES=2
	$(BIN)/python benchmarks/calibration.py --fill $(if $(SAMPLES),--samples '$(SAMPLES)')
	$(BIN)/python benchmarks/calibration.py --held-out --fill $(if $(SAMPLES),--samples '$(SAMPLES)')
	$(BIN)/python benchmarks/calibration.py --samplers --fill $(if $(SAMPLES),--samples '$(SAMPLES)')

bench-optima: $(DEV) ## Count all local optima near the best, and how many of them runs find
	$(BIN)/python benchmarks/local_optima.py --fill

bench-posterior: $(DEV) ## Compare chains with exact probabilities and with sumu
	$(BIN)/python benchmarks/posterior.py --install

bench-knowledge: $(DEV) ## Compare distances from the truth with tiers and without
	$(BIN)/python benchmarks/knowledge.py

bench-missing: $(DEV) ## Compare distances from the truth by what is done about missing values
	$(BIN)/python benchmarks/missing.py

bench-large: $(DEV) ## Score against CPU seconds on large networks, as in NETWORKS=../shared/data/bif
	$(BIN)/python benchmarks/large.py $(if $(NETWORKS),--networks '$(NETWORKS)') \
	  $(if $(ONLY),--only '$(ONLY)') $(if $(SAMPLES),--samples '$(SAMPLES)') \
	  $(if $(SECONDS),--seconds '$(SECONDS)')

bench-wide-engine: $(DEV) ## Time GES on thousands of columns, as in TABLES=er2:4000,golub PEERS=fges
	$(BIN)/python benchmarks/wide_engine.py $(if $(TABLES),--tables '$(TABLES)') \
	  $(if $(PEERS),--peers '$(PEERS)') $(if $(THREADS),--threads) $(if $(FILL),--fill)

bench-default: $(DEV) ## See what learning does by default, as in NETWORKS=../shared/data/bif REV=56d3890
	$(BIN)/python benchmarks/default.py $(if $(ONLY),--only '$(ONLY)') \
	  $(if $(NETWORKS),--networks '$(NETWORKS)') $(if $(REV),--against '$(REV)')

bench-long: $(DEV) ## Measure memory and time on long tables, as in ROWS=1000000,10000000 FORMAT=csv KIND=distinct
	$(BIN)/python benchmarks/long.py $(if $(ROWS),--rows '$(ROWS)') $(if $(FORMAT),--format '$(FORMAT)') \
	  $(if $(KIND),--kind '$(KIND)')

bench-cluster: $(DEV) ## Measure runs per second with 1, 2 and 4 worker processes
	$(BIN)/python benchmarks/cluster.py

bench-proofs: $(DEV) ## See what can be proven, as in NETWORKS=../shared/data/bif ONLY='alarm child'
	$(BIN)/python benchmarks/proofs.py $(if $(NETWORKS),--networks '$(NETWORKS)') \
	  $(if $(ONLY),--only $(ONLY)) $(if $(CASES),--cases $(CASES)) $(if $(LIMITS),--limits $(LIMITS)) \
	  $(if $(CRITERIA),--criteria $(CRITERIA)) $(if $(BUDGET),--budget '$(BUDGET)')

fuzz: $(DEV) ## Attack readers, commands and tables by random input, as in CASES=100000 SEED=1
	$(BIN)/python -m tests.fuzz $(if $(CASES),--cases '$(CASES)') $(if $(SEED),--seed '$(SEED)') \
	  $(if $(TARGET),--target '$(TARGET)')

bench-gaussian: $(DEV) ## Compare seconds and BIC on continuous tables with those of peers
	$(BIN)/python benchmarks/gaussian.py --install

bench-mixed: $(BENCH) ## Compare distances from the truth on mixed tables
	$(BIN)/python benchmarks/mixed.py

bench-experiments: $(DEV) ## Compare directions learned from experiments with the truth; also GIES
	$(BIN)/python benchmarks/experiments.py

bench-time: $(DEV) ## Compare networks over time with the truth; also PCMCI and Granger tests
	$(BIN)/python benchmarks/over_time.py

bench-curves: $(DEV) ## Compare distances from the truth on curved tables with those of peers
	$(BIN)/python benchmarks/curves.py --install

bench-wide: $(DEV) ## See what noise and true networks give with many variables for the cases
	$(BIN)/python benchmarks/wide.py

bench-ordinal: $(DEV) ## Compare treatments of whole numbers by distances from the truth
	$(BIN)/python benchmarks/ordinal.py

bench-halves: $(DEV) ## See how often halves of real tables agree on directions, as in TABLES='a.csv b.csv'
	$(BIN)/python benchmarks/halves.py $(TABLES)

bench-app: $(DEV) ## Measure the page of kes app: memory when idle, and a large table, as in MEGABYTES=200
	$(BIN)/python benchmarks/app.py $(if $(MEGABYTES),--megabytes '$(MEGABYTES)')

pictures: $(DEV) ## Draw the pictures of the README and of the docs, light and dark
	$(BIN)/python docs/pictures --screens

docs: $(DEV) ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

build: $(INSTALLED) ## Build the Rust core in release mode and install kes into .venv

# The wheel is built from the source distribution, which proves that nothing is missing there. On
# Linux, zig links to a C library of 2012 (manylinux2014), for this or, by TARGET, another processor.
OLDEST := $(if $(findstring musl,$(TARGET)),musllinux_1_2,manylinux2014)
LINUX  := $(filter Linux,$(shell uname -s))
dist: $(PACKAGING) ## Build the wheel and the source distribution into dist/
	$(require_cargo)
	@rm -rf dist
	CARGO_TARGET_DIR=$(abspath target/dist) PATH="$(abspath $(BIN)):$$PATH" \
	  maturin build --profile dist --sdist --out dist \
	  $(if $(LINUX),--zig --compatibility $(OLDEST)) $(if $(TARGET),--target '$(TARGET)')
	$(if $(LINUX),$(BIN)/auditwheel show dist/*.whl)
	@printf '\nFiles written:\n' && ls -1sh dist/*

clean: ## Remove .venv and everything else that was built
	rm -rf $(VENV) target site demo dist python/kes/_core*.so
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@command -v $(PYTHON) > /dev/null || { \
	  echo "kes needs Python 3.11 or newer. Install it (https://www.python.org/downloads/) or" \
	       "name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "kes needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	       "Name another: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { \
	  echo "This Python cannot make virtual environments." \
	       "On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A user needs little; who works on kes needs the rest as well, which includes the little.
$(INSTALLED): $(BIN)/python pyproject.toml $(RUST)
	$(call install,$(USUAL))
	@touch $@

$(DEV): $(BIN)/python pyproject.toml $(RUST)
	$(call install,dev)
	@touch $(INSTALLED) $@

define require_cargo
	@command -v cargo > /dev/null || { \
	  echo "kes needs Rust $(MSRV) or newer to build its core. Install it: https://rustup.rs" >&2; \
	  exit 1; }
	@found=$$(cargo --version | cut -d ' ' -f 2); \
	  test "$$(printf '%s\n' $(MSRV) "$$found" | sort -V | head -n 1)" = $(MSRV) || { \
	  echo "kes needs Rust $(MSRV) or newer; this is $$found. Update it: rustup update stable" >&2; \
	  exit 1; }
endef

# maturin shows how far cargo is, which pip would hide for minutes. Then pip finds this kes, and adds
# what the extra asks for.
define install
	$(require_cargo)
	@echo "Building the core and installing kes into $(VENV); the first time takes a minute or two."
	@$(PIP) '$(MATURIN)'
	@VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release
	@echo "Installing what kes[$(1)] needs."
	@$(PIP) 'kes[$(1)]'
endef

$(BENCH): $(DEV) benchmarks/requirements.txt
	$(PIP) -r benchmarks/requirements.txt
	@touch $@

$(PACKAGING): $(BIN)/python
	$(PIP) '$(MATURIN)' ziglang auditwheel
	@touch $@
