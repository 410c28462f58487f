# The commands of the README. `make run` and `make test` need nothing but Debian 12 and Swift 6.3 on it.

VOICES  ?= /usr/share/sounds/alsa
MODEL   ?= Models/commands
PYTHON  ?= python3
VENV    := .build/training

.PHONY: run test build deps model validate lint format clean

run: build
	.build/release/beckon classify --stats $(VOICES)/*.wav

test: deps
	swift test
	swift test --sanitize=thread --scratch-path .build/thread-sanitizer --filter BlockRing

build: deps
	swift build -c release --product beckon

deps:
	@./install-dependencies

# Trains a model from the recordings in DATA; see Models/training/README.md. May be stopped and started again.
model: $(VENV)/done $(VENV)/synthetic/done
	@test -n "$(DATA)" || { echo "make model needs DATA=<folder of recordings>; see Models/training/README.md"; exit 2; }
	OMP_NUM_THREADS=1 $(VENV)/bin/python Models/training/train.py --data "$(DATA)" --data $(VENV)/synthetic \
		--runs $(VENV)/runs --out "$(MODEL)" $(OPTIONS)

$(VENV)/done: Models/training/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --requirement $<
	touch $@

# Measures a model on the validation clips in DATA, through the program itself.
validate: build $(VENV)/done
	@test -n "$(DATA)" || { echo "make validate needs DATA=<folder of recordings>"; exit 2; }
	$(VENV)/bin/python Models/training/validate.py --data "$(DATA)" --runs $(VENV)/runs \
		--beckon .build/release/beckon --model "$(MODEL)"

# Other words, spoken by synthetic voices.
$(VENV)/synthetic/done: $(VENV)/done Models/training/synthesise.py
	$(VENV)/bin/python Models/training/synthesise.py --out $(VENV)/synthetic
	touch $@

lint:
	swift format lint --strict --recursive Package.swift Sources Tests

format:
	swift format --in-place --recursive Package.swift Sources Tests

clean:
	rm -rf .build
