.DEFAULT_GOAL := help
SEEDS ?= 10000
TSAN ?= .build-tsan

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing (libssl-dev, libpq-dev, zlib1g-dev, libedit-dev, libsqlite3-dev, PostgreSQL) with apt-get
	deploy/setup

# `swift run` and `swift build --product` leave a plan behind in which the programs of other packages count as ours. A build of
# everything that followed it would compile protoc, for ten minutes.
OWN_PLAN = --disable-build-manifest-caching

build: setup ## Compile everything, for debugging
	swift build $(OWN_PLAN) --build-tests

# What it runs is built for release, as users have it: so it takes half the time. `swift test` without that is for a debugger.
TEST = swift test -c release $(OWN_PLAN)

test: setup ## The whole test suite, on a private PostgreSQL that it starts by itself
	$(TEST)

THREADED = Scheduling|Sockets|TLS|HTTP|WebSocket|Transport|LocalPostgres|Postgres|Store|Service|Sessions|Server|Kit
test-threads: setup ## Transport, engine, service and server under the thread sanitizer
	swift test --sanitize=thread --scratch-path $(TSAN) --filter '^Tidemark($(THREADED))Tests'

test-threads-programs: setup ## The same of whole programs together: read its reports as docs/testing.md says
	swift test --sanitize=thread --scratch-path $(TSAN) --filter '^EndToEndTests'

client-programs: setup ## Programs written for CloudKit, on 2, 5, 6 and 20 devices against the real server
	TIDEMARK_CLIENT_PROGRAMS=1 $(TEST) --filter '^EndToEndTests\.(Contacts|Notes|SharedListsProgram|SharedListsHistory)Tests'

lint: ## Formatting and style, as CI sees it
	swift format lint --strict --recursive --parallel Sources Tests Package.swift

format: ## Format in place
	swift format format --in-place --recursive --parallel Sources Tests Package.swift

api: ## Accept the public API as it is now (Tests/PublicAPI.txt); look at the difference before you commit it
	TIDEMARK_ACCEPT_API=1 $(TEST) --filter PublicAPITests

manual: ## Make the pages of deploy/man anew, from the help of the commands
	swift build $(OWN_PLAN) --product tidemark
	mkdir -p deploy/man
	.build/debug/tidemark generate-manual deploy/man

checks: ## What CI checks beside the tests: style, scripts, imports, documentation; after make test
	.ci/checks

RUNS ?= 5
test-loaded: setup ## The test suite RUNS times (5) beside two busy loops: a test that fails then waits for the wrong thing
	$(TEST) --filter '^nothing$$'
	for loop in 1 2; do (while kill -0 $$$$ 2>/dev/null; do :; done) & loops="$$loops $$!"; done; \
	trap 'kill $$loops' EXIT; \
	for run in $$(seq $(RUNS)); do echo "run $$run of $(RUNS)"; $(TEST) || exit 1; done

rules: ## Rules of Tests/RULES.md that no test names
	@grep -oE '^- R-[0-9]{3}|^\| R-[0-9]{3}' Tests/RULES.md | grep -oE 'R-[0-9]{3}' | sort -u > .rules-all; \
	grep -rhoE 'R-[0-9]{3}' Tests --include='*.swift' | sort -u > .rules-named; \
	comm -23 .rules-all .rules-named | column -c 100; \
	echo "$$(comm -12 .rules-all .rules-named | wc -l) of $$(wc -l < .rules-all) rules are named by a test"; \
	rm -f .rules-all .rules-named

simulate: ## Search for failing seeds, and for each planted fault: make simulate SEEDS=10000
	TIDEMARK_SEEDS=$(SEEDS) TIDEMARK_PLANTED=10000 \
		$(TEST) --filter SimulationTests

STEPS ?= 10000000
model: ## The naive models of sharing, STEPS steps of each (10,000,000), from seeds that it prints
	TIDEMARK_STEPS=$(STEPS) $(TEST) \
		--filter '(ZoneSharing|ShareAction|Hierarchies)HistoryTests|ShareHandlersHierarchiesTests'

package: setup ## The Debian package in .build, of a program that has the runtime of Swift in it
	swift build -c release --static-swift-stdlib --product tidemark
	deploy/package .build/release/tidemark .build
	! command -v lintian >/dev/null || lintian --fail-on error,warning .build/tidemark_*.deb

package-trial: package ## The package in a minimal Debian: install, sync, upgrade, back up, restore, purge (root, debootstrap)
	swift build -c release --product foldersync
	Tests/Package/run "$$(ls -t .build/tidemark_*.deb | head -n 1)"

ATTACK_SECONDS ?= 60
hostile: setup ## Each attack on a server built for release, by nobody, by one account and by ten, and what a neighbour notices of it
	TIDEMARK_HOSTILE_SECONDS=$(ATTACK_SECONDS) $(TEST) --filter HostileTests

KILLS ?= 200
killed-servers: setup ## Three servers killed KILLS times (200) under 20 devices, while shares come and go
	TIDEMARK_KILLS=$(KILLS) $(TEST) --filter KilledServersTests

RESTARTS ?= 5
rolling: setup ## Each of two servers behind HAProxy restarted RESTARTS times (5), while 200 devices save
	TIDEMARK_RESTARTS=$(RESTARTS) $(TEST) --filter RollingRestartTests

bench: ## All measurements, each beside its reference, as a table; of programs linked as deploy/Dockerfile does
	for product in tidemark tidemark-echo tidemark-yardstick tidemark-bench; do \
		swift build -c release --static-swift-stdlib --product $$product || exit 1; \
	done
	.build/release/tidemark-bench

BUILT ?=
docs: ## TidemarkKit's reference and articles by DocC, in .build/docs; fails on any warning. BUILT=.build/release: of that build
	$(if $(BUILT),,swift build --target TidemarkKit)
	mkdir -p .build/symbols
	swift symbolgraph-extract -module-name TidemarkKit -minimum-access-level public -output-dir .build/symbols \
		-I $(or $(BUILT),.build/debug)/Modules $$(find Sources $(or $(BUILT),.build/debug)/C*.build -name module.modulemap -exec dirname {} + | sed 's/^/-I /') \
		-target $$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\([^"]*\)".*/\1/p')
	docc convert Sources/TidemarkKit/TidemarkKit.docc --warnings-as-errors --output-dir .build/docs \
		--fallback-display-name TidemarkKit --fallback-bundle-identifier TidemarkKit \
		--additional-symbol-graph-dir .build/symbols >.build/docc.log 2>&1 || { cat .build/docc.log; exit 1; }

fuzz: ## Every fuzzer for ten minutes (FUZZ_SECONDS=600)
	Sources/tidemark-fuzz/run

autobahn: ## The Autobahn suite in both roles (needs Python 2.7)
	Tests/Autobahn/run

torture: ## Kill server, PostgreSQL and clients at random under a folder in sync (Python 3)
	swift build -c release --product tidemark
	swift build -c release --product foldersync
	Tests/Torture/run

provider: ## Sign-in with a real OpenID Connect provider and two real servers (Python 3.11, PyPI)
	swift build --product tidemark
	swift build --product foldersync
	Tests/SignIn/run

examples: ## What deploy/ has for containers and Kubernetes, by tools that judge its form (Python 3, PyPI)
	Tests/Examples/run

OLDER ?=
upgrade-trial: setup ## The last release's server beside this one, over a migration (OLDER=COMMIT or OLDER=PROGRAM)
	swift build -c release --static-swift-stdlib --product tidemark
	swift build -c release --product foldersync
	Tests/Upgrade/run $(if $(OLDER),$(if $(wildcard $(OLDER)),--older,--commit) $(OLDER))

recovery: ## Point-in-time recovery and backups of a million records, timed
	swift build -c release --product tidemark
	Tests/Recovery/run

protocol: ## Make the Swift code of the messages from the .proto files (needs protoc, libprotobuf-dev)
	Sources/TidemarkWire/generate

.PHONY: api checks hostile killed-servers rolling package package-trial test-loaded help setup build test client-programs test-threads test-threads-programs lint format rules simulate model bench docs fuzz autobahn torture provider recovery examples upgrade-trial protocol
