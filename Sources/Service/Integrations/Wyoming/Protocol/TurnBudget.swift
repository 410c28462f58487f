/// What a client may have done in one turn of the thread that serves all: each event has a price.
///
/// So whatever a client orders, the next one's turn comes soon.
struct TurnBudget {
    /// As many events as 32 KiB of audio in chunks of 1 KiB.
    private static let most = 32
    private var left = most

    var isSpent: Bool { left <= 0 }

    mutating func renew() { left = Self.most }

    /// Pays for an event: 1 for what is read only, more for what is looked up, made or sent.
    mutating func pay(for event: WyomingEvent) {
        let price =
            switch event.kind {
            // Kilobytes for some bytes.
            case .describe: 16
            case .detect: 2 + (event.names?.count ?? 0) / 8 + (event.context?.utf8.count ?? 0) / 256
            case .audioStart, .audioStop, .info: 4
            case .ping: 1 + (event.text?.utf8.count ?? 0) / 1024
            case .pong, .audioChunk, .runSatellite, .pauseSatellite, .transcript, .error, .other: 1
            }
        left -= price
    }

    /// Ends the turn, for what is dear.
    mutating func spend() { left = 0 }
}
