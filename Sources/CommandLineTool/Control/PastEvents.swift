import Actions
import Control
private import Core
private import Events
private import JSON
import System

/// The events since a time, for `beckon events --since`: those in the system's journal, else the recent words that the service keeps.
struct PastEvents {
    /// Lines of JSON, the oldest first.
    let lines: [String]
    /// Where they are from.
    let source: String

    /// - Parameter socket: the control socket of the service that is asked where the journal has none.
    init(since: Timestamp, socket: String) throws {
        let journal = Self.journal(since)
        if let journal, !journal.isEmpty {
            (lines, source) = (journal, "the journal")
            return
        }
        let kept = Self.kept(since, socket)
        if let kept, journal == nil || !kept.isEmpty {
            lines = kept
            source =
                "the service's recent words (misses): \(journal == nil ? "there is no journal to read" : "the journal shows none")"
            return
        }
        guard journal != nil else {
            throw Failure(
                "no record of events: journalctl does not read a journal here, and no service runs that keeps recent words (the key misses)"
            )
        }
        (lines, source) = (
            [], "the journal, as far as you may read it; members of the group systemd-journal may read all of it"
        )
    }

    /// The events in the journal of all services, or of the instance that the environment names; nil if it cannot be read.
    private static func journal(_ since: Timestamp) -> [String]? {
        guard let journalctl = SystemProgram("journalctl") else { return nil }
        let id = "MESSAGE_ID=\(DetectionEvent.messageID)"
        var matches = [id]
        if let instance = Instance.named(in: OwnEnvironment.variables) {
            let unit = "\(instance.folder).service"
            matches = [id, "_SYSTEMD_UNIT=\(unit)", "+", id, "_SYSTEMD_USER_UNIT=\(unit)"]
        }
        // In whole seconds; what is earlier in the first is left out below.
        let start = "--since=@\(since.microseconds / 1_000_000)"
        let options = ["-q", "-o", "cat", "--output-fields=BECKON_JSON", start]
        guard let text = journalctl.output(options + matches) else { return nil }
        var last: Substring?
        return text.split(separator: "\n").filter { line in
            // An action of the configuration may have written the same event again. And any program may write to the journal.
            defer { last = line }
            guard line != last, let node = try? JSONNode.parse(String(line)), node["event"]?.text != nil else {
                return false
            }
            return (node["date"]?.text).flatMap { Timestamp($0) }.map { $0 >= since } ?? false
        }.map(String.init)
    }

    /// The words that a running service keeps; nil if none runs, or it keeps none.
    private static func kept(_ since: Timestamp, _ socket: String) -> [String]? {
        guard var client = try? ControlClient(path: socket), case .words(let list)? = try? client.ask(.misses).reply,
            list.isOn
        else { return nil }
        return list.entries.reversed().filter { !$0.isNear && $0.date >= since }.map { "\($0.json)" }
    }
}
