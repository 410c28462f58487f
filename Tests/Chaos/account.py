"""The account of a run: what the service counted, beside what was seen from outside. Every check is one line of a table."""

import statistics
from dataclasses import dataclass
from datetime import datetime

from .chaos import ACTIONS, WORKERS
from .world import LOOP_SECONDS, RATE

# Seconds of audio before and after a decision that must be without a break for the word to be found for certain.
BEFORE, AFTER = 1.6, 0.5
# A decision may come this much before or after the place in the loop, in seconds.
EARLY, LATE = 0.5, 1.2
# Sorts of lost audio, and what the card says about them.
DEVICE_CAUSES = {
    "overrun": ["xrun", "storm", "late"], "suspended": ["suspend"], "missing": ["skip"],
    "device": ["gone", "eio", "busy", "stall", "hang"], "muted": ["closed"], "selection": [],
}
AFTER_READING = ["incomplete", "stale", "late", "ringFull"]


@dataclass(frozen=True)
class Check:
    what: str
    counted: str
    seen: str
    is_right: bool


class Account:
    def __init__(self, chaos):
        self.chaos = chaos
        self.status = chaos.last.status
        self.audio = self.status["audio"]
        self.segments = chaos.card.segments
        self.checks = []

    def check(self, what, counted, seen, is_right):
        self.checks.append(Check(what, str(counted), str(seen), bool(is_right)))

    def equal(self, what, counted, seen):
        self.check(what, counted, seen, counted == seen)

    def close(self, what, counted, seen, tolerance):
        self.check(what, f"{counted:.1f}", f"{seen:.1f} ± {tolerance:.1f}", abs(counted - seen) <= tolerance)

    # ---- Audio ----

    def gaps(self):
        """Audio that the card did not deliver, by its reason, in seconds."""
        lost = {}
        # What is lost since the last segment is lost to the mute at the end.
        ends = [*((one.begin, one.reason) for one in self.segments[1:]), (self.position(self.chaos.last.end), "closed")]
        for before, (begin, reason) in zip(self.segments, ends):
            lost[reason] = lost.get(reason, 0) + begin - before.end
        return lost

    def position(self, time):
        """Where the card is in the audio at a time of the service's clock."""
        return time - self.chaos.card.epoch

    def check_audio(self):
        audio, lost, gaps = self.audio, self.audio["lost"], self.gaps()
        self.check("card's table of segments: room left", len(self.segments), "", not self.chaos.card.is_full)
        self.equal("frames read / delivered by the card", self.status["frames"], self.chaos.card.delivered)
        # Each break is known to the service as precisely as it knows the time of two frames.
        tolerance = 0.5 + 0.05 * len(self.segments) + 0.001 * audio["seconds"]
        world = self.position(self.chaos.last.end) - self.segments[0].begin
        self.close("audio since the first frame, s / played by the card", audio["seconds"], world, tolerance)
        all_parts = audio["heard"] + audio["waiting"] + sum(lost.values())
        self.close("audio heard, on its way or lost, s / since the first frame", all_parts, audio["seconds"], tolerance)
        counted = sum(lost[cause] for cause in DEVICE_CAUSES)
        self.close("audio that never came, s / not delivered by the card", counted, sum(gaps.values()), tolerance)
        after = sum(lost[cause] for cause in AFTER_READING)
        delivered = self.chaos.card.delivered / RATE
        self.close("audio heard or lost after it was read, s / delivered", audio["heard"] + after, delivered, 0.2)
        self.equal("blocks heard / hops", round(audio["heard"] * 10), self.status["hops"])

    # ---- Events ----

    def events(self):
        """All events that any sink got, by sequence number: the word and the place in the audio."""
        found = {}
        sinks = [self.chaos.subscriber.events, self.chaos.slow_subscriber.events, self.chaos.program.events]
        if self.chaos.printed:
            sinks.append(self.chaos.printed.json)
        sinks.append(self.chaos.hook.events)
        for sink in sinks:
            for number, event in sink.events.items():
                if event:
                    date = datetime.fromisoformat(event["date"]).timestamp()
                    found[number] = event["word"], self.position(date - self.chaos.pace.wall)
                else:
                    found.setdefault(number, None)
        return found

    def check_events(self):
        status, chaos = self.status, self.chaos
        events = self.events()
        newest = max(events, default=0)
        not_made = status["suppressed"] + status["unnamed"] + status["lostDetections"]
        made = status["events"] - status["suppressed"]
        self.equal("detections counted / number of the newest event seen", made + not_made, newest)
        self.check("events seen by any sink / of", len(events), made, len(events) <= made)
        program, hook = chaos.program.events, chaos.hook.events
        done = program.lines + hook.lines
        named = f"{program.lines} by the program, {hook.lines} by the web server"
        lines = 0
        if chaos.printed:
            lines = chaos.printed.json.lines + chaos.printed.printed.lines
            done += chaos.printed.printed.lines
            named += f", {chaos.printed.printed.lines} printed"
            lost = status["droppedLines"]["output"]
            self.equal("lines of output: seen and dropped / 2 an event", lines + lost, 2 * made)
            self.check("lines of output that are neither", "", len(chaos.printed.odd), not chaos.printed.odd)
        failed, dropped = status["actionsFailed"], status["actionsDropped"]
        actions = ACTIONS if chaos.printed else ACTIONS - 1
        total = done + failed + dropped
        # A program that is ended at its timeout may have done its work before; on a machine that is too busy, so may one that
        # does not hang. The others hung, and never did theirs.
        late = status["actionsTimedOut"] - chaos.program.hung - chaos.hook.hung
        self.check(
            f"actions done ({named}), failed ({failed}) and dropped ({dropped}) / {actions} an event",
            total, f"{actions * made}" + (f" to {actions * made + late}: {late} late" if late > 0 else ""),
            actions * made <= total <= actions * made + max(0, late) and done <= status["actionsStarted"],
        )
        self.equal("actions started and dropped / the same", status["actionsStarted"] + dropped, actions * made)
        clips = status["clips"]
        self.equal("clips saved / found in the folder", clips["saved"], chaos.clips.count)
        self.check("clips that are not whole", "", len(chaos.clips.broken), not chaos.clips.broken)
        self.equal("clips saved, failed, dropped / one an event", sum(clips.values()), made)
        sinks = {"program": program, "web server": hook, "subscriber": chaos.subscriber.events}
        sinks["slow subscriber"] = chaos.slow_subscriber.events
        if chaos.printed:
            sinks |= {"output": chaos.printed.json, "print": chaos.printed.printed}
        twice = {name: sink.twice for name, sink in sinks.items() if sink.twice}
        self.check("events that came twice", "", twice or 0, not twice)
        self.check_subscribers(events, made)
        if chaos.printed:
            self.equal(
                "lines of the log dropped / told by the log itself", status["droppedLines"]["log"], chaos.log.dropped
            )

    def check_subscribers(self, events, made):
        steady, slow = self.chaos.subscriber, self.chaos.slow_subscriber
        # Both were there before the first audio.
        closed = steady.connections - 1
        self.check("steady subscriber: events / of, connections", steady.events.lines, f"{made}, {closed + 1}",
                   steady.events.lines == made or closed > 0)
        for name, one in {"steady": steady, "slow": slow}.items():
            skipped = one.skipped(events)
            self.check(f"events that an open connection did not get, {name} subscriber", "", len(skipped), not skipped)
        clients = self.status["clients"]
        lost = closed + slow.connections - 1
        counted = sum(clients[key] for key in ("slow", "closed", "refused"))
        self.check("clients closed or refused: counted / subscribers that were closed", counted, lost, counted >= lost)

    # ---- Words ----

    def doubtful(self):
        """Times in which the service counted audio or detections as lost, as intervals of positions."""
        found = []
        keys = ["missing", *AFTER_READING]
        for one, next in zip(self.chaos.service.answers, self.chaos.service.answers[1:]):
            counts = [
                [answer.status["audio"]["lost"][key] for key in keys]
                + [answer.status[key] for key in ("unnamed", "lostDetections", "suppressed")]
                for answer in (one, next)
            ]
            if counts[0] != counts[1]:
                found.append((self.position(one.begin) - BEFORE, self.position(next.end) + BEFORE))
        return found

    def check_words(self):
        doubtful = self.doubtful()
        whole = [(one.begin + BEFORE, one.end - AFTER) for one in self.segments]

        def is_whole(time):
            return any(begin <= time < end for begin, end in whole) and not any(
                begin <= time < end for begin, end in doubtful
            )

        played = list(self.chaos.world.between(self.segments[0].begin, self.segments[-1].end))
        heard = [event for event in self.events().values() if event]
        unknown = sum(event is None for event in self.events().values())
        free = dict.fromkeys(range(len(played)))
        phantoms = []
        for word, time in sorted(heard, key=lambda event: event[1]):
            fits = [
                index for index, (place, one) in enumerate(played)
                if one.name == word and free[index] is None and place - EARLY <= time < place + LATE
            ]
            if fits:
                free[min(fits, key=lambda index: abs(played[index][0] - time))] = time
            elif is_whole(time):
                phantoms.append((round(time, 2), round(time % LOOP_SECONDS, 2), word))
        certain = [index for index, (place, word) in enumerate(played) if word.is_certain and is_whole(place)]
        missed = [index for index in certain if free[index] is None]
        found = sum(time is not None for time in free.values())
        self.check(
            "words played / of these without any break, in parts of the audio where nothing was lost",
            len(played), len(certain), len(certain) > len(played) / 20,
        )
        self.check("words found / of them without any break", found, len(certain) - len(missed), True)
        # An event of which no sink knows more than its number may be one of them.
        places = [(round(played[index][0], 2), round(played[index][1].time, 2), played[index][1].name) for index in missed]
        self.check("words without any break that were not found", len(missed), places[:5], len(missed) <= unknown)
        self.check("events where no word was, without any break", len(phantoms), phantoms[:5], not phantoms)

    # ---- The process ----

    def check_process(self):
        samples = self.chaos.service.samples
        quarter = len(samples) // 4
        if quarter < 3:
            return self.check("samples of the process", len(samples), "", False)
        first, last = samples[:quarter], samples[-quarter:]

        def both(field, pick):
            return pick([getattr(one, field) for one in first]), pick([getattr(one, field) for one in last])

        before, after = both("memory", statistics.median)
        self.check("memory, KiB, median: first quarter / last", before, after, after <= before + 2048)
        most = max(one.memory for one in samples)
        self.check("memory at most, KiB", most, "", most < before + 65536)
        before, after = both("descriptors", min)
        # The first samples may be from before the connection to the broker: a socket, and a pair that wakes its thread.
        extra = 3 if self.chaos.broker else 0
        self.check("descriptors, least: first quarter / last", before, after, after <= before + extra)
        # Threads for actions and clips start when they are first needed, and stay.
        before, after = both("threads", min)
        self.check("threads, least: first quarter / last", before, after, after <= before + WORKERS)

    def check_words_taught(self):
        words, listed = self.chaos.words, self.chaos.words.listed()
        self.equal("words taught and not forgotten / listed", sorted(words.names), sorted(listed))
        known = {name for name in self.status["thresholds"] if name.startswith("chaos ")}
        self.equal("the same / known to the service", sorted(words.names), sorted(known))

    # ---- The MQTT broker ----

    def check_broker(self):
        broker = self.chaos.broker
        if not broker:
            return
        counts = self.status["mqtt"]
        self.check("MQTT is on, and connected", f"{not counts['off']}, {counts['connected']}", "", counts["connected"] and not counts["off"])
        # What was under way when a connection broke is not counted by both.
        self.check("MQTT connections / taken by the broker", counts["connects"], broker.connects, 0 < counts["connects"] <= broker.connects)
        self.check("MQTT messages that were not obeyed / hostile ones", counts["refusedMessages"], broker.hostile,
                   counts["refusedMessages"] >= broker.hostile * 0.9)
        self.check("MQTT commands / sent", counts["commands"], broker.commands, counts["commands"] <= broker.commands)

    def make(self):
        """All checks of the service that is muted and idle."""
        self.check_audio()
        self.check_events()
        self.check_words()
        self.check_words_taught()
        self.check_broker()
        self.check_process()
        if self.chaos.neighbours:
            self.check_neighbours(self.chaos.neighbours)

    def check_neighbours(self, server):
        after = server.finish()
        for who, delays in (("words said to the wake-word server", server.delays), ("over a new connection each", server.visits)):
            heard = [one for one in delays if one is not None]
            worst = f"{max(heard, default=0):.1f} s from a word's first sample at most"
            self.check(f"{who} / heard", len(delays), f"{len(heard)}, {worst}", heard and len(heard) == len(delays))
        odd = [one for one in server.readiness if one != 200]
        self.check("/readyz beside its hostile clients: asked / other than 200", len(server.readiness), odd[:5] or 0, not odd)
        self.check("its memory, KiB: before / after", server.before, after, 0 < after < server.before + 61_440)
        self.check("its exit status", server.stop(), "", server.process.returncode == 0)
        self.check("its satellite's connection", "", server.problems or "held", not server.problems)

    # ---- Printing ----

    def causes(self):
        """The table of lost audio: cause, seconds counted by the service, seconds seen at the card."""
        gaps = self.gaps()
        for cause, seconds in self.audio["lost"].items():
            yield cause, seconds, sum(gaps.get(one, 0) for one in DEVICE_CAUSES[cause]) if cause in DEVICE_CAUSES else None
