import Core
import Glibc
import TestSupport
import Testing

@testable import Network

/// What goes before and after a request; requests to servers are in WebhookTests and SecureWebhookTests.
struct HTTPRequestTests {
    @Test(arguments: [
        (EPERM, "IPAddressAllow="), (EACCES, "IPAddressAllow="), (ENETUNREACH, "network"), (ECONNREFUSED, "running?"),
    ])
    func `why a server cannot be reached decides what to do`(_ number: Int32, remedy: String) {
        #expect(HTTPError.remedy(number).contains(remedy))
    }

    @Test func `look-ups that were given up are bounded`() {
        var lookups = AbandonedLookups()
        let start = Instant(nanoseconds: 1)
        func mayBegin(after time: Duration) -> Bool { lookups.mayBegin(at: start + time) }
        for number in 0..<AbandonedLookups.limit {
            #expect(mayBegin(after: .seconds(number)))
            lookups.add(at: start + .seconds(number))
        }
        #expect(!mayBegin(after: .seconds(AbandonedLookups.limit)))
        #expect(!mayBegin(after: .seconds(59)))
        // The thread of the first has ended.
        #expect(mayBegin(after: .seconds(60)))
        lookups.add(at: start + .seconds(60))
        #expect(!mayBegin(after: .milliseconds(60_500)))
    }

    @Test func `a file without certificates`() throws {
        let folder = try TestFolder()
        let pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
        #expect(certificateProblem(try folder.write("ca.pem", bytes: Array("# home\n\(pem)".utf8))) == nil)
        let key = pem.replacing("CERTIFICATE", with: "PRIVATE KEY")
        for (name, text) in [("key.pem", key), ("empty.pem", ""), ("der.pem", "0\u{82}")] {
            let path = try folder.write(name, bytes: Array(text.utf8))
            #expect(certificateProblem(path)?.contains("no certificate in PEM format") == true, "\(name)")
        }
        #expect(certificateProblem(folder.file("missing.pem")) == "No such file or directory")
        #expect(certificateProblem(folder.path) == "it is not a regular file")
    }
}
