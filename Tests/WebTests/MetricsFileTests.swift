import Configuration
import Control
import Core
import Events
import Glibc
import Inference
import IntegrationInterface
import JSON
import Metrics
import Spotting
import System
import TestSupport
import Testing

@testable import Web

/// The file for node-exporter.
struct MetricsFileTests {
    private func service(_ log: Lines = Lines()) throws -> Service {
        let settings = try ServiceSettings(Configuration(), Vocabulary(try Model(folder: Checkout.model)))
        return Service(
            machine: "kitchen",
            log: ServiceLog { log.add("\($0) \($1)") },
            settings: { settings },
            state: { ServiceState(settings, isMuted: nil, hasAudio: true, level: nil) },
            metrics: { [.gauge("beckon_muted", "Muted.", 1)] },
            perform: { _, _ in .done }
        )
    }

    @Test func `it is written whole and readable for all, and deleted at the end`() throws {
        let folder = try TestFolder()
        let path = folder.file("beckon.prom")
        let file = try MetricsFile(path, every: .milliseconds(20), try service())
        #expect(
            comesTrue(within: 30) { file.counts.json.description.contains("\"writes\": 3") }
        )
        #expect(
            try folder.bytes("beckon.prom")
                == Array("# HELP beckon_muted Muted.\n# TYPE beckon_muted gauge\nbeckon_muted 1\n".utf8)
        )
        #expect(try FileStatus(path: path).permissions == 0o644)
        #expect(file.stop(isRemoved: true, until: Clock.now + .seconds(10)))
        #expect(access(path, F_OK) != 0 && access(path + ".new", F_OK) != 0)
    }

    @Test func `a folder that is missing is said once, and written to when it is there`() throws {
        let folder = try TestFolder()
        let log = Lines()
        let file = try MetricsFile(folder.file("late/beckon.prom"), every: .milliseconds(10), try service(log))
        #expect(comesTrue(within: 30) { file.counts.json.description.contains("\"failures\": 5") })
        #expect(log.all.count == 1 && log.all[0].contains("late/beckon.prom: open: No such file or directory"))
        try folder.folder("late")
        #expect(comesTrue(within: 30) { access(folder.file("late/beckon.prom"), F_OK) == 0 })
        file.stop(isRemoved: false, until: Clock.now + .seconds(10))
    }
}
