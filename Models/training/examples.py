"""Which examples a pass holds, and how each is drawn: one batch of features and targets, seeded by (seed, pass, batch)."""

import numpy as np

import frontend
import mixing

COMMANDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
UNKNOWN, SILENCE = "_unknown_", "_silence_"
WINDOW = mixing.WINDOW
# Extra examples in a pass, as shares of the number of word recordings.
PARTIAL, RUNNING, REVERSED, QUIET, SYNTHETIC, PICTURED = 0.12, 0.34, 0.02, 0.10, 0.12, 0.20
# Of the running speech, the share that is read by the neural voices of recite.py, where there is any.
READ, NEURAL = 0.5, ("heart", "blend")
# What the numbers in `Examples.kinds` stand for.
KINDS = ("words", "parts of words", "running speech", "reversed words", "silence", "synthetic words", "pictured words")
# Of the pictured words, the share that are commands.
PICTURED_COMMANDS = 0.35
# A part of a command shorter than this share of it is surely none; a longer one is either none or that command.
SURELY_NONE = 0.4
# Of the noises around a word, those drawn above this are babble.
TALK, HARDER_TALK = 0.72, 0.62
# How many words get noise around them, and the range of its ratio in dB.
NOISY, HARDER = (0.7, -1, 36), (0.85, -3, 26)
# With harder noise, the share of running speech that is several talkers at once.
BABBLE = 0.25
# Words kept from training, recorded or pictured: what the network makes of them measures words never heard.
HELD_OUT = ("marvin", "sheila", "wow", "snowboy")
# Recordings of many different words under one label.
MANY_WORDS = ("honk_random", "synthetic")
# The dataset's own background recordings, and the share of each (its beginning) that is trained on.
BACKGROUND, BACKGROUND_SHARE = "gsc", 0.85
# A word with fewer training recordings than this shares the `other` output.
OWN_OUTPUT = 200


class Examples:
    """The training partition as batches. Outputs: the commands, every other well-recorded word, `other`, silence."""

    def __init__(self, table, batch, seed, commands=COMMANDS, pictures=None, harder=False, quiet=False):
        """`harder` draws more noise and more of babble; `quiet` draws the same examples and leaves the noise around them out."""
        self.table, self.batch, self.seed, self.commands = table, batch, seed, commands
        self.harder, self.quiet = harder, quiet
        train = (table["part"] == "training") & ~np.isin(table["label"], HELD_OUT)
        # The long background recordings are split in time instead: their end is kept for validation.
        background = (table["kind"] == "noise") & (table["label"] == BACKGROUND)
        train = train | background
        self.usable = np.where(background, (table["length"] * BACKGROUND_SHARE).astype(np.int64), table["length"])
        words = train & np.isin(table["kind"], ["clip", "word"])
        # What was made by synthesise.py: its folder of other words, and whatever lies in words/ under a command's name.
        made = (table["label"] == "synthetic") | ((table["kind"] == "word") & np.isin(table["label"], commands))
        self.words, self.synthetic = np.flatnonzero(words & ~made), np.flatnonzero(words & made)
        speech = np.flatnonzero(train & (table["kind"] == "speech"))
        # Without running speech, pieces of words take its place around words and in babble.
        self.speech = speech if len(speech) else self.words
        read = np.isin(table["label"][self.speech], NEURAL)
        # Recorded and read; where there is only one sort, that one.
        self.talkers = [rows for rows in (self.speech[~read], self.speech[read]) if len(rows)]
        self.noise = np.flatnonzero(train & (table["kind"] == "noise"))
        self.background = np.flatnonzero(background)
        self.pictures = pictures
        shown = np.zeros(0, str) if pictures is None else pictures["label"]
        names, counts = np.unique(np.concatenate([table["label"][self.words], shown]), return_counts=True)
        own = [n for n, c in zip(names, counts) if c >= OWN_OUTPUT and n not in (*commands, *MANY_WORDS, *HELD_OUT)]
        self.outputs = list(commands) + [str(n) for n in own] + ["other", SILENCE]
        index = {name: i for i, name in enumerate(self.outputs)}
        self.other, self.silence = index["other"], index[SILENCE]
        self.target = np.array([index.get(str(label), self.other) for label in table["label"]])
        self.commanded = self.words[np.isin(table["label"][self.words], commands)]
        if pictures is not None:
            self.shown_target = np.array([index.get(str(label), self.other) for label in shown])
            command, held = np.isin(shown, commands), np.isin(shown, HELD_OUT)
            self.shown_commands, self.shown_others = np.flatnonzero(command), np.flatnonzero(~command & ~held)
        shares = (
            PARTIAL,
            RUNNING if len(speech) else 0,
            REVERSED,
            QUIET,
            SYNTHETIC,
            0 if pictures is None else PICTURED,
        )
        self.kinds = np.repeat(np.arange(7), [len(self.words)] + [int(len(self.words) * share) for share in shares])
        generator = np.random.default_rng([seed, 1])
        self.rooms = mixing.rooms(300, generator)
        self.made = np.stack([mixing.coloured_noise(generator) for _ in range(300)])
        self.pass_number = 0

    def output_labels(self):
        return [n if n in self.commands or n == SILENCE else UNKNOWN for n in self.outputs]

    def __len__(self):
        return len(self.kinds) // self.batch

    def order(self):
        """The order of the pass."""
        return np.random.default_rng([self.seed, 2, self.pass_number]).permutation(len(self.kinds))

    def __getitem__(self, number):
        """Mel energies [batch, 79, 40], output indices [batch], and a second output that is right too, or −1 [batch]."""
        rows = self.order()[number * self.batch : (number + 1) * self.batch]
        generator = np.random.default_rng([self.seed, 3, self.pass_number, number])
        waves = np.zeros((self.batch, WINDOW), np.float32)
        targets, either = np.zeros(self.batch, np.int64), np.full(self.batch, -1, np.int64)
        shown = []
        for i, row in enumerate(rows):
            kind, extent = self.kinds[row], None
            if kind == 0:
                targets[i], extent = self.word(waves[i], self.words[row], generator)
            elif kind == 1:
                targets[i], either[i], extent = self.partial(waves[i], generator)
            elif kind == 2:
                targets[i], extent = self.running(waves[i], generator)
            elif kind == 3:
                targets[i], extent = self.word(waves[i], generator.choice(self.commanded), generator, reverse=True)
            elif kind == 5:
                row = generator.choice(self.synthetic if len(self.synthetic) > 0 else self.words)
                targets[i], extent = self.word(waves[i], row, generator)
            elif kind == 6:
                shown.append(i)
                self.beside(waves[i], generator)
                continue
            else:
                targets[i] = self.silence
            if extent is None:
                self.only_noise(waves[i], generator)
            else:
                self.surround(waves[i], extent, generator)
        energies = frontend.mel_energies(waves)
        for i in shown:
            command = generator.random() < PICTURED_COMMANDS
            row = generator.choice(self.shown_commands if command else self.shown_others)
            targets[i] = self.shown_target[row]
            energies[i] = self.pictured(energies[i], self.pictures["logs"][row], generator)
        return energies, targets, either

    def pictured(self, noise, logs, generator):
        """A word of which there is only a picture, moved by up to ±100 ms, with noise at a drawn ratio, at a drawn level."""
        energies = np.exp(logs.astype(np.float32))
        shift = generator.integers(-8, 9)
        moved = np.full_like(energies, 0)
        if shift >= 0:
            moved[shift:] = energies[: len(energies) - shift]
        else:
            moved[:shift] = energies[-shift:]
        energies = moved * 10 ** (generator.uniform(-35, 10) / 10)
        loudest = np.sort(energies.sum(axis=1))[-20:].mean() + 1e-9
        if generator.random() < 0.7:
            ratio = generator.uniform(4, 40)
            energies = energies + noise * (loudest * 10 ** (-ratio / 10) / (noise.sum(axis=1).mean() + 1e-9))
        return energies

    def beside(self, wave, generator):
        """Noise for a picture."""
        wave[:] = self.ambience(generator) * np.float32(0.05)

    def word(self, wave, row, generator, reverse=False):
        """A whole word: as recorded with ±100 ms of shift, or anywhere in the window with other speech around it."""
        table, speed = self.table, generator.uniform(0.88, 1.13)
        start, length = table["start"][row], table["length"][row]
        first, last = table["from"][row], table["to"][row]
        long = length > WINDOW
        if reverse:
            mixing.place(table["audio"], wave, start, length, float(last), -speed, 0.0, float(length))
            return self.other, (0, int((last - first) / speed))
        if not long and generator.random() < 0.65:
            offset = WINDOW / 2 * (1 - speed) + generator.uniform(-1600, 1600)
            mixing.place(table["audio"], wave, start, length, offset, speed, 0.0, float(length))
            return self.target[row], (int((first - offset) / speed), int((last - offset) / speed))
        spoken = (last - first) / speed
        at = generator.uniform(0, max(1.0, WINDOW - spoken))
        offset = first - at * speed
        isolate = generator.random() < 0.6 or long
        margin = generator.uniform(300, 1600)
        low, high = (max(0.0, first - margin), min(float(length), last + margin)) if isolate else (0.0, float(length))
        mixing.place(table["audio"], wave, start, length, offset, speed, low, high)
        extent = (int(at), int(at + spoken))
        if isolate and generator.random() < 0.5:
            self.add_context(wave, extent, generator)
        return self.target[row], extent

    def partial(self, wave, generator):
        """Part of a command, the rest of it outside the window or cut away: never another command. Of the word itself it is
        none if little is left; if much is left, it may be that word as well."""
        table, row, speed = self.table, generator.choice(self.commanded), generator.uniform(0.88, 1.13)
        start, length = table["start"][row], table["length"][row]
        first, last = float(table["from"][row]), float(table["to"][row])
        part = generator.uniform(0.2, 0.75)
        share = max(1600.0, part * (last - first))
        either = self.target[row] if share > SURELY_NONE * (last - first) else -1
        tail = generator.random() < 0.6
        low, high = (last - share, float(length)) if tail else (0.0, first + share)
        slide = generator.random() < 0.5
        if tail:
            at = 0.0 if slide else generator.uniform(0, WINDOW * 0.6)
            offset = low - at * speed
        else:
            at = float(WINDOW) if slide else generator.uniform(WINDOW * 0.4, WINDOW)
            offset = high - at * speed
        mixing.place(table["audio"], wave, start, length, offset, speed, low, high)
        extent = (int(at), int(at + share / speed)) if tail else (int(at - share / speed), int(at))
        if not slide and generator.random() < 0.4:
            self.add_context(wave, extent, generator)
        return self.other, either, extent

    def talk(self, generator):
        """A recording of running speech."""
        return generator.choice(self.talkers[0 if len(self.talkers) == 1 or generator.random() >= READ else 1])

    def running(self, wave, generator):
        """Running speech: a whole window of it, or a piece of it in quiet, as when somebody begins to talk."""
        if self.harder and generator.random() < BABBLE:
            return self.babble(wave, generator)
        table, row = self.table, self.talk(generator)
        length, speed = table["length"][row], generator.uniform(0.88, 1.13)
        if generator.random() < 0.35:
            span = generator.uniform(2400, 10000)
            low = generator.uniform(0, max(1.0, length - span))
            at = generator.uniform(0, WINDOW) - span / 2
            mixing.place(table["audio"], wave, table["start"][row], length, low - at * speed, speed, low, low + span)
            return self.other, (max(0, int(at)), min(WINDOW, int(at + span / speed)))
        offset = generator.uniform(-4000, max(1.0, length - 12000))
        mixing.place(table["audio"], wave, table["start"][row], length, offset, speed, 0.0, float(length))
        return self.other, (0, WINDOW)

    def babble(self, wave, generator):
        """Several talkers at once, none of them understood."""
        for _ in range(generator.integers(2, 6)):
            row = self.talk(generator)
            start, length = self.table["start"][row], self.table["length"][row]
            span = min(WINDOW, length - 1)
            begin = start + generator.integers(0, max(1, length - span))
            own = np.sqrt((self.table["audio"][begin : begin + span].astype(np.float32) ** 2).mean()) / 32768 + 1e-4
            gain = 0.05 / own * 10 ** (generator.uniform(-4, 4) / 20)
            mixing.add_segment(self.table["audio"], wave, begin, 0, span, gain)
        return self.other, (0, WINDOW)

    def add_context(self, wave, extent, generator):
        """Other speech that ends shortly before the word, begins shortly after it, or both."""
        loudness = mixing.level(wave, *extent)
        for before in (True, False):
            if generator.random() < (0.7 if before else 0.45):
                gap = int(generator.exponential(1200)) + 600
                span = int(generator.uniform(1600, WINDOW))
                first, last = (
                    (extent[0] - gap - span, extent[0] - gap) if before else (extent[1] + gap, extent[1] + gap + span)
                )
                if last <= 400 or first >= WINDOW - 400:
                    continue
                row = self.talk(generator) if generator.random() < 0.7 else generator.choice(self.words)
                start, length = self.table["start"][row], self.table["length"][row]
                if length <= span:
                    continue
                start += generator.integers(0, length - span)
                piece = self.table["audio"][start : start + span].astype(np.float32)
                own = np.sqrt((piece**2).mean()) / 32768 + 1e-5
                gain = min(20.0, loudness / own * 10 ** (generator.uniform(-9, 4) / 20))
                mixing.add_segment(self.table["audio"], wave, start, first, last, gain)

    def ambience(self, generator):
        """One second of something that is no word, unit RMS."""
        draw = generator.random()
        if draw < 0.2:
            return self.made[generator.integers(len(self.made))]
        talk = HARDER_TALK if self.harder else TALK
        row = generator.choice(self.noise) if draw < talk else self.talk(generator)
        start, length = self.table["start"][row], self.usable[row]
        begin = start + generator.integers(0, max(1, length - WINDOW))
        piece = self.table["audio"][begin : begin + WINDOW].astype(np.float32)
        piece = np.pad(piece, (0, WINDOW - len(piece)))
        if draw >= talk:  # babble: three talkers, none of them understood
            for _ in range(3):
                other = self.talk(generator)
                start, length = self.table["start"][other], self.table["length"][other]
                begin = start + generator.integers(0, max(1, length - WINDOW))
                piece = piece + self.table["audio"][begin : begin + WINDOW]
        return piece / (np.sqrt((piece**2).mean()) + 1.0)

    def surround(self, wave, extent, generator):
        """Room, noise at a drawn signal-to-noise ratio, level."""
        if generator.random() < 0.15:
            wave[:] = mixing.reverberate(wave[None], self.rooms[generator.integers(len(self.rooms))][None])[0]
        loudness = mixing.level(wave, *extent) + 1e-6
        share, least, most = HARDER if self.harder else NOISY
        if generator.random() < share:
            gain = loudness * 10 ** (-generator.uniform(least, most) / 20)
            mixing.add_scaled(wave, self.ambience(generator), 0 if self.quiet else gain)
        if generator.random() < 0.06:
            hum = mixing.hum(generator)
            gain = loudness * 10 ** (generator.uniform(-30, 3) / 20)
            mixing.add_scaled(wave, hum, 0 if self.quiet else gain)
        target = (
            10 ** (generator.uniform(-54, -8) / 20)
            if generator.random() < 0.6
            else loudness * 10 ** (generator.uniform(-6, 6) / 20)
        )
        mixing.finish(wave, target / loudness, self.offset(generator))

    def offset(self, generator):
        """The direct current of a cheap converter: none, mostly."""
        return generator.uniform(-0.1, 0.1) if generator.random() < 0.08 else 0.0

    def only_noise(self, wave, generator):
        """Silence: noise at any level from digital zero to full scale, from anything but speech in front."""
        if generator.random() < 0.10:
            wave[:] = self.offset(generator)
            return
        background = generator.random() < 0.35
        row = generator.choice(self.background if background else self.noise)
        if generator.random() < 0.65:
            start, length = self.table["start"][row], self.usable[row]
            begin = start + generator.integers(0, max(1, length - WINDOW))
            wave[:] = self.table["audio"][begin : begin + WINDOW] / 32768 if length >= WINDOW else 0
        else:
            wave[:] = self.made[generator.integers(len(self.made))]
            if generator.random() < 0.15:
                wave[: generator.integers(0, 14000)] = 0
        loudness = mixing.level(wave, 0, WINDOW) + 1e-6
        target = 10 ** (generator.uniform(-85, -3) / 20)
        mixing.finish(wave, target / loudness, self.offset(generator))
