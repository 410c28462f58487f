import Configuration
import Core
import JSON
import Network

@testable import Actions
@testable import Web

/// Numbers, addresses and hosts, each as a whole text and after the usual beginning.
func fuzzHosts(_ bytes: [UInt8]) {
    let text = String(decoding: bytes.prefix(300), as: UTF8.self)
    fuzzNumbers(text)
    if let address = IPAddress(text) {
        check(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an address of \(text)")
        check(address.bytes.count == (text.contains(":") && !isMapped(address, text) ? 16 : 4), "bytes of \(text)")
        check(!text.contains("+") && !text.contains("-") || address.zone != nil, "an address of \(text)")
        let doubled = IPAddress(text)
        check(doubled == address && address.includes(address), "\(text) is not itself")
    }
    for beginning in ["", "tcp://", "unix:///", "tcp://127.0.0.1:", "tcp://["] {
        guard let address = try? ListenAddress(beginning + text) else { continue }
        check((try? ListenAddress(address.description)) == address, "\(address) does not read back")
        if case .tcp(let host, let port) = address { check(port > 0 && IPAddress(host) != nil, "\(address)") }
    }
    for beginning in ["", "http://", "http://127.0.0.1:", "http://["] {
        guard let address = try? WebAddress(beginning + text) else { continue }
        check(address.port > 0 && !address.host.contains("@"), "\(address.text)")
        guard address.isLoopback else { continue }
        check(address.host == "localhost" || IPAddress(address.host)?.isLoopback == true, "\(address.text) is far")
    }
    for host in [text, "127.0.0.1" + text, "[::1" + text, "kitchen" + text, "1.2.3." + text] {
        guard let name = WebRouter.name(of: host) else { continue }
        check(name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !name.contains("@"), "host \(host)")
        guard WebRouter.isAddress(name) else { continue }
        check(IPAddress(name)?.zone == nil && host.lowercased().contains(name), "host \(host)")
    }
}

private func isMapped(_ address: IPAddress, _ text: String) -> Bool { address.bytes.count == 4 && text.contains(":") }

private func fuzzNumbers(_ text: String) {
    let digits = "0123456789"
    if let number = Int(digits: text) {
        check(text.allSatisfy(digits.contains) && number >= 0, "\(text) is \(number)")
        check(Int(signedDigits: text) == number && Double(decimal: text) != nil, "\(text) is \(number) without a sign")
        check(text.drop { $0 == "0" } == (number == 0 ? "" : String(number)[...]), "\(text) is \(number)")
    }
    if let number = UInt8(digits: text) { check(Int(digits: text) == Int(number), "\(text) is \(number)") }
    if let number = Int64(signedDigits: text) { check(number >= 0 || text.hasPrefix("-"), "\(text) is \(number)") }
    if let number = UInt64(hexDigits: text) {
        check(String(number, radix: 16) == text.lowercased().drop { $0 == "0" } || number == 0, "\(text) is \(number)")
    }
    if let number = Double(decimal: text) {
        check(number.isFinite && text.allSatisfy { (digits + "-+.eE").contains($0) }, "\(text) is \(number)")
    }
}

/// The list of the last words, as anybody may have written it.
func fuzzMisses(_ bytes: [UInt8]) {
    for entry in RecentWords.entries(in: bytes) {
        check((1...RecentWord.highestNumber).contains(entry.number), "number \(entry.number)")
        check(
            (0...1).contains(entry.confidence) && (0...1).contains(entry.threshold ?? 0),
            "confidence \(entry.confidence)"
        )
        // As the service writes it, and as the list of words shows it.
        guard let again = RecentWords.entries(in: Array(entry.json.description.utf8)).first else {
            fatalError("\(entry.json) is no entry")
        }
        check(again.number == entry.number && again.word == entry.word && again.date == entry.date, "\(entry.json)")
        check(again.clip == entry.clip, "\(entry.json)")
        if let clip = entry.clip, RecentWords.isClip(clip, in: "/var/lib/beckon/misses") {
            fatalError("\(clip) is a clip")
        }
    }
}
