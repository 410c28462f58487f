import Core
import Inference
import Spotting
import TestSupport
import Testing

/// Many streams in a batch must find what a detector for each of them finds.
struct BatchDetectorTests {
    /// Gives a stream its next hop.
    private func feed(_ stream: DetectorStream, _ audio: [Float], hop: Int) {
        stream.fill { room in
            for index in room.indices { room[index] = audio[hop * 1600 + index] }
            return room.count
        }
    }

    /// The detections of audio by a detector of its own.
    private func alone(_ vocabulary: Vocabulary, _ audio: [Float]) -> [Detection] {
        var detector = Detector(DetectorSettings(vocabulary))
        let window = [Float](repeating: 0, count: 16_000) + audio
        var found: [Detection] = []
        for hop in 1...audio.count / 1600 {
            detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { found.append($0) }
        }
        return found
    }

    @Test(arguments: [false, true])
    func `each stream finds what a detector of its own finds`(isTaught: Bool) throws {
        let model = try RecordedVoice.model()
        let taught = isTaught ? [try RecordedVoice.taught("rear center", by: "Rear_Center", model)] : []
        let vocabulary = Vocabulary(model, taught: taught)
        let names = ["Rear_Left", "Front_Right", "Rear_Center"]
        let voices = try names.map { try RecordedVoice.voice($0) + RecordedVoice.quiet }
        let count = voices.map(\.count).min() ?? 0
        let audio = voices.map { Array($0[..<(count / 1600 * 1600)]) }
        var batch = BatchDetector(DetectorSettings(vocabulary))
        let streams = audio.map { _ in batch.makeStream() }
        var found = audio.map { _ in [Detection]() }
        for hop in 0..<count / 1600 {
            for (stream, audio) in zip(streams, audio) { feed(stream, audio, hop: hop) }
            batch.process(streams) { found[$0].append($1) }
        }
        #expect(found == audio.map { alone(vocabulary, $0) })
        #expect(found[0].map { batch.settings.name(of: $0) }.contains("left"))
        if isTaught { #expect(found[2].map { batch.settings.name(of: $0) } == ["rear center"]) }
    }

    @Test func `looks of all streams of a batch are counted as those of detectors of their own`() throws {
        let folder = try TestFolder()
        let vocabulary = Vocabulary(try Model(folder: ModelCopy.confirming(in: folder)))
        var settings = DetectorSettings(vocabulary)
        settings.thresholds.setAll(0.3)
        let voices = try ["Rear_Left", "Front_Right"].map { try RecordedVoice.voice($0) + RecordedVoice.quiet }
        let count = (voices.map(\.count).min() ?? 0) / 1600
        var batch = BatchDetector(settings)
        let streams = voices.map { _ in batch.makeStream() }
        var found = voices.map { _ in [Detection]() }
        for hop in 0..<count {
            for (stream, audio) in zip(streams, voices) { feed(stream, audio, hop: hop) }
            batch.process(streams) { found[$0].append($1) }
        }
        var (looks, refusals) = (0, 0)
        for (index, audio) in voices.enumerated() {
            var detector = Detector(settings)
            let window = [Float](repeating: 0, count: 16_000) + audio
            var alone: [Detection] = []
            for hop in 1...count {
                detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { alone.append($0) }
            }
            #expect(found[index] == alone)
            looks += detector.looks
            refusals += detector.refusals
        }
        #expect(batch.looks == looks && batch.refusals == refusals, "\(batch.looks) \(batch.refusals)")
        #expect(looks > refusals && refusals > 0, "\(looks) \(refusals): some found a word, some did not")
    }

    @Test func `a stream that begins again finds the same again, later`() throws {
        let vocabulary = Vocabulary(try RecordedVoice.model())
        let audio = try RecordedVoice.voice("Rear_Left")
        var batch = BatchDetector(DetectorSettings(vocabulary))
        let stream = batch.makeStream()
        var found: [Detection] = []
        let hops = audio.count / 1600
        for _ in 0..<2 {
            batch.reset(stream)
            for hop in 0..<hops {
                feed(stream, audio, hop: hop)
                batch.process([stream]) { found.append($1) }
            }
        }
        #expect(found.map { batch.settings.name(of: $0) } == ["left", "left"])
        #expect(abs(found[1].time - found[0].time - Double(hops) * 0.1) < 1e-6)
        #expect(abs(stream.time - Double(2 * hops) * 0.1) < 1e-6)
    }

    @Test func `what is pending where a stream ends is decided as a detector of its own does`() throws {
        let vocabulary = Vocabulary(try RecordedVoice.model())
        var settings = GateSettings()
        settings.trigger = .end
        var thresholds = vocabulary.thresholds(mode: .spot)
        thresholds.setAll(0.0001)
        let audio = try RecordedVoice.voice("Rear_Left")
        let hops = audio.count / 1600
        var detector = Detector(DetectorSettings(vocabulary, gate: settings, thresholds: thresholds))
        let window = [Float](repeating: 0, count: 16_000) + audio
        var expected: [Detection] = []
        for hop in 1...hops {
            detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { expected.append($0) }
        }
        #expect(expected.isEmpty)
        detector.finish { expected.append($0) }
        #expect(expected.map { detector.settings.name(of: $0) } == ["left"])
        var batch = BatchDetector(DetectorSettings(vocabulary, gate: settings, thresholds: thresholds))
        let stream = batch.makeStream()
        var found: [Detection] = []
        for hop in 0..<hops {
            feed(stream, audio, hop: hop)
            stream.endsWithHop = hop == hops - 1
            batch.process([stream]) { found.append($1) }
        }
        #expect(found == expected && !stream.endsWithHop)
    }

    @Test func `a word that is taught while streams run is found in them`() throws {
        let model = try RecordedVoice.model()
        let before = Vocabulary(model)
        let taught = Vocabulary(model, taught: [try RecordedVoice.taught("rear center", by: "Rear_Center", model)])
        let audio = try RecordedVoice.voice("Rear_Center")
        var batch = BatchDetector(DetectorSettings(before))
        let stream = batch.makeStream()
        for hop in 0..<3 {
            feed(stream, audio, hop: hop)
            batch.process([stream]) { _, _ in }
        }
        // In the middle of a hop.
        stream.fill { room in
            for index in 0..<400 { room[index] = audio[4800 + index] }
            return 400
        }
        batch.update(DetectorSettings(taught))
        stream.fill { room in
            for index in room.indices { room[index] = audio[5200 + index] }
            return room.count
        }
        #expect(stream.isComplete)
        var found: [Detection] = []
        batch.process([stream]) { found.append($1) }
        for hop in 4..<audio.count / 1600 {
            feed(stream, audio, hop: hop)
            batch.process([stream]) { found.append($1) }
        }
        #expect(found.map { batch.settings.name(of: $0) } == ["rear center"])
    }

    @Test(arguments: [false, true])
    func `the first taught word, and the last that is forgotten, disturb no stream at any hop`(isForgotten: Bool) throws
    {
        let model = try RecordedVoice.model()
        let plain = Vocabulary(model)
        let taught = Vocabulary(model, taught: [try RecordedVoice.taught("rear center", by: "Rear_Center", model)])
        let (before, after) = isForgotten ? (taught, plain) : (plain, taught)
        let audio = try RecordedVoice.voice("Rear_Left") + RecordedVoice.quiet
        let expected = try #require(alone(plain, audio).first)
        for change in 1..<audio.count / 1600 {
            var batch = BatchDetector(DetectorSettings(before))
            let stream = batch.makeStream()
            var found: [Detection] = []
            for hop in 0..<audio.count / 1600 {
                if hop == change {
                    batch.update(DetectorSettings(after))
                }
                feed(stream, audio, hop: hop)
                batch.process([stream]) { found.append($1) }
            }
            // The taught word's probability is fused with the others, so that "left" may be decided a hop earlier or later.
            #expect(found.map { batch.settings.name(of: $0) } == ["left"], "changed before hop \(change)")
            #expect(found.allSatisfy { abs($0.time - expected.time) < 0.11 }, "changed before hop \(change)")
        }
    }

    @Test func `two changes within a second, and a stream that missed the first, go on`() throws {
        let model = try RecordedVoice.model()
        let plain = Vocabulary(model)
        let taught = Vocabulary(model, taught: [try RecordedVoice.taught("rear center", by: "Rear_Center", model)])
        let audio = try RecordedVoice.quiet + RecordedVoice.voice("Rear_Left") + RecordedVoice.quiet
        var batch = BatchDetector(DetectorSettings(plain))
        func apply(_ vocabulary: Vocabulary) {
            batch.update(DetectorSettings(vocabulary))
        }
        let streams = [batch.makeStream(), batch.makeStream()]
        var found = [[Detection]](repeating: [], count: 2)
        for hop in 0..<audio.count / 1600 {
            if hop == 2 { apply(taught) }
            if hop == 4 { apply(plain) }
            let present = (2..<4).contains(hop) ? Array(streams.prefix(1)) : streams
            for stream in present { feed(stream, audio, hop: hop) }
            batch.process(present) { found[$0].append($1) }
        }
        #expect(found.map { $0.map { batch.settings.name(of: $0) } } == [["left"], ["left"]])
    }
}
