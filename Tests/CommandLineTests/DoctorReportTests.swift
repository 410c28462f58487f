import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// `beckon doctor --report`: a file that may be sent to strangers.
struct DoctorReportTests {
    private static let redaction = Redaction(
        homes: ["/home/anna", "/var/lib/people/anna"],
        users: ["anna", "Lovelace", "root"],
        machines: ["attic.example.net"],
        secrets: ["hunter2", "hey anna lovelace", "kitchen"]
    )

    @Test(arguments: [
        ("/home/anna/secret/config.json5: bad", "~/…: bad"), ("see /var/lib/people/anna/words.", "see ~/…."),
        ("'/root/x y'", "'~/… y'"), ("/home/other/x, /media/STICK/x", "/home/…, /media/…"),
        ("anna runs annabel; ANNA", "USER runs annabel; ANNA"), ("user=anna;", "user=USER;"),
        ("anna's mic", "USER's mic"),
        ("attic.example.net and attic:1883", "MACHINE and MACHINE:1883"), ("atticus", "atticus"),
        ("password 'hunter2'", "password '…'"), ("'hey anna lovelace' is taught", "'…' is taught"),
        ("http://10.0.0.7:8123/api/webhook/abc", "http://…"), ("mqtts://user:word@host", "mqtts://…"),
        ("tcp://0.0.0.0:10400.", "tcp://…."), ("from 192.168.1.20", "from ADDRESS"), ("192.168.1.20:1883", "ADDRESS"),
        ("fe80::1ff:fe23:4567:890a", "ADDRESS"), ("00:1a:2b:3c:4d:5e", "ADDRESS"), ("a.b@example.org", "…@…"),
        ("token 9f86d081884c7d659a2f", "token …"), ("usb-Blue_Yeti_REV8000000012345AB-00", "…"),
        ("hw:CARD=Yeti,DEV=0 at 48000 Hz", "hw:CARD=Yeti,DEV=0 at 48000 Hz"),
        ("beckon root 16 kHz 0.12 %", "beckon root 16 kHz 0.12 %"),
        ("/usr/lib/systemd/system/beckon.service", "/usr/lib/systemd/system/beckon.service"),
        ("/usr/bin/beckon: level -23.5 dB", "/usr/bin/beckon: level -23.5 dB"), ("at 12:30:05", "at 12:30:05"),
        ("", ""),
    ])
    func `what tells who and where somebody is goes, and the rest stays`(text: String, expected: String) {
        #expect(Self.redaction(text) == expected)
    }

    @Test func `texts of a configuration are secrets, but for its own words and devices`() {
        let text = """
            { mode: "spot", device: 'hw:0', // "a comment" is one too
              mqtt: { password: "it's", user: 'me' }, broken: "no end
              next: "x" }
            """
        #expect(Redaction.texts(in: text) == ["a comment", "it's", "me", "no end", "x"])
    }

    @Test func `the report of a person's machine has nothing of theirs`() throws {
        let folder = try TestFolder()
        let home = try folder.folder("ada-home")
        try folder.folder("ada-home/beckon")
        let secrets = ["s3cretword", "broker.ada.example", "/api/webhook/xyz", "zanzibar", "attic-key"]
        let configuration = """
            { mode: "spot", wakeWord: 7, mqtt: { host: "\(secrets[1])", user: "ada", password: "\(secrets[0])" },
              words: { \(secrets[3]): { actions: [{ webhook: "http://10.1.2.3\(secrets[2])" }] } },
              "\(secrets[4])": true }
            """
        try folder.write("ada-home/beckon/config.json5", bytes: Array(configuration.utf8))
        let words = folder.file("words")
        let taught = try Program.beckon([
            "enroll", "zanzibar", "--force", "--words", words, "--from", Voices.path("Rear_Center"),
        ])
        #expect(taught.status == 0, "\(taught.error)")
        let environment = [
            "HOME": home, "USER": "ada", "LOGNAME": "ada", "XDG_CONFIG_HOME": home, "BECKON_WORDS": words,
            "BECKON_SOCKET": folder.file("none"),
        ]
        let program = try Program.beckon(
            ["doctor", "--report", "--device", "none"],
            environment: environment,
            folder: folder.path
        )
        #expect(program.status == 1 && program.error.contains("beckon-report.txt is written"), "\(program.error)")
        let report = try String(contentsOfFile: folder.file("beckon-report.txt"), encoding: .utf8)
        #expect(report.hasPrefix("beckon ") && report.contains("commands") && report.contains("devices"))
        #expect(report.contains("keys       mode wakeWord mqtt words "))
        for secret in secrets.dropLast() + [home, "ada-home", ProcessInfo.processInfo.hostName, "10.1.2.3", " ada "] {
            #expect(!report.contains(secret), "\(secret): \(report)")
        }
    }
}
