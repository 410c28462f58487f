import Audio
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
    private struct Interface: Service {
        let lines: Lines
        let currentSettings: ServiceSettings

        var machine: String { "kitchen" }
        var log: ServiceLog { ServiceLog { lines.add("\($0) \($1)") } }
        var share: MachineShare { MachineShare() }
        var history: AudioHistory? { nil }
        var state: ServiceState { ServiceState(currentSettings, isMuted: nil, hasAudio: true, level: nil) }
        var live: LiveState { LiveState() }
        var metrics: [MetricFamily] { [.gauge("beckon_muted", "Muted.", 1)] }
        var problem: String? { nil }

        func perform(_ command: ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply? {
            .done
        }
    }

    /// Writes to a path every 20 ms.
    private func start(_ path: String, _ log: Lines = Lines()) throws -> MetricsFile {
        let settings = try ServiceSettings(Configuration(), Vocabulary(try Model(folder: Checkout.model)))
        var configured = Configuration.MetricsFile()
        (configured.file, configured.interval) = (path, 0.02)
        return try MetricsFile(configured, Interface(lines: log, currentSettings: settings))
    }

    @Test func `it is written whole and readable for all, and deleted at the end`() throws {
        let folder = try TestFolder()
        let path = folder.file("beckon.prom")
        let file = try start(path)
        #expect(
            comesTrue(within: 30) { file.counts.json.description.contains("\"writes\": 3") }
        )
        #expect(
            try folder.bytes("beckon.prom")
                == Array("# HELP beckon_muted Muted.\n# TYPE beckon_muted gauge\nbeckon_muted 1\n".utf8)
        )
        #expect(try FileStatus(path: path).permissions == 0o644)
        file.remove()
        #expect(file.stop(until: Clock.now + .seconds(10)))
        #expect(access(path, F_OK) != 0 && access(path + ".new", F_OK) != 0)
    }

    @Test func `a folder that is missing is said once, and written to when it is there`() throws {
        let folder = try TestFolder()
        let log = Lines()
        let file = try start(folder.file("late/beckon.prom"), log)
        #expect(comesTrue(within: 30) { file.counts.json.description.contains("\"failures\": 5") })
        #expect(log.all.count == 1 && log.all[0].contains("late/beckon.prom: open: No such file or directory"))
        try folder.folder("late")
        #expect(comesTrue(within: 30) { access(folder.file("late/beckon.prom"), F_OK) == 0 })
        file.stop(until: Clock.now + .seconds(10))
    }
}
