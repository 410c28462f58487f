import Core
import Events
import Foundation
import Glibc
import Network
import TestSupport
import Testing

@testable import Actions

/// Entries for the journal; the test receives them in place of journald.
struct JournalTests {
    @Test func `an entry is a datagram of fields`() throws {
        let folder = try TestFolder()
        let path = folder.file("journal")
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(receiver) }
        var address = try #require(UnixSocket.address(path))
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        let journal = Journal(path: path)
        try journal.write("two\nlines", level: .warning, fields: DetectionEvent.sample.fields)
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(receiver, &piece, piece.count, 0)
        let entry = String(decoding: piece.prefix(max(0, count)), as: UTF8.self)
        #expect(
            entry == "MESSAGE\n\u{9}\0\0\0\0\0\0\0two\nlines\nPRIORITY=4\nSYSLOG_IDENTIFIER=beckon\nBECKON_EVENT=word\n"
                + "BECKON_WORD=left\nBECKON_CONFIDENCE=0.9512\nBECKON_TIME=2026-03-01T12:30:05.250Z\n"
                + "BECKON_START=2026-03-01T12:30:04.650Z\nBECKON_END=2026-03-01T12:30:05.150Z\n"
                + "BECKON_DEVICE=hw:CARD=Mic\nBECKON_SEQUENCE=7\n"
        )

        // If journald does not read, the write fails and does not block.
        let begun = ContinuousClock.now
        #expect(throws: ActionError.journal) {
            for _ in 0..<10_000 { try journal.write("again", level: .info) }
        }
        #expect(begun.duration(to: .now) < .seconds(2))
    }

    @Test func `no journal is an error`() throws {
        let folder = try TestFolder()
        let error = #expect(throws: ActionError.journal) {
            try Journal(path: folder.file("none")).write("x", level: .info)
        }
        #expect(error?.description.contains("No such file or directory") == true)
    }
}
