import CSndFile
import Foundation
import Synchronization
import TestSupport
import Testing

/// Two services of one machine that share a group, each with a recording of the same word, from near and from far.
struct GroupTests {
    @Test func `of two services that hear a word the nearer one acts, and the other yields`() throws {
        let folder = try TestFolder()
        let voice = try Voices.samples("Front_Left")
        var noise = SplitMix(seed: 1)
        let far = voice.map { $0 * 0.4 + noise.float() * 0.003 }
        let format = SF_FORMAT_WAV | SF_FORMAT_FLOAT
        // Before the word is time for the other service to start.
        let silence = [Float](repeating: 0, count: Voices.rate)
        for (name, samples) in [("kitchen", voice), ("hall", far)] {
            try folder.write("\(name).wav", format: format, rate: Voices.rate, silence + samples + silence)
            try folder.folder("beckon@\(name)")
        }
        let settings = #"{ mode: "spot", group: { name: "home", window: 1 }, actions: [{ print: "acted" }] }"#
        try folder.write("config.json5", bytes: Array(settings.utf8))
        let names = ["kitchen", "hall"]
        let outputs = Mutex<[String: [String]]>([:])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let name = names[index]
            let result = try? Program.beckon(
                ["listen", "--config", folder.file("config.json5"), "--file", folder.file("\(name).wav"), "--json"],
                environment: ["RUNTIME_DIRECTORY": folder.file("beckon@\(name)"), "BECKON_INSTANCE": name]
            )
            outputs.withLock { $0[name] = result.map { $0.lines.map(String.init) + [$0.error] } ?? [] }
        }
        let (near, away) = outputs.withLock { ($0["kitchen"] ?? [], $0["hall"] ?? []) }
        #expect(near.count == 3 && near.contains { $0.contains(#""event": "print", "text": "acted""#) }, "\(near)")
        #expect(near.contains { $0.contains(#""event": "word", "word": "left""#) }, "\(near)")
        #expect(away.count == 2 && away[0].contains(#""event": "yielded", "word": "left""#), "\(away)")
        #expect(away.first?.hasSuffix(#""to": "kitchen"}"#) == true, "\(away)")
        #expect(away.last?.contains("yielded to kitchen") == true, "\(away)")
    }
}
