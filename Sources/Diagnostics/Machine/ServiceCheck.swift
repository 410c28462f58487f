import Control

/// Whether the service runs on this machine, and its state.
public struct ServiceCheck: Sendable {
    public let diagnosis: Diagnosis
    /// Whether the service has the microphone open.
    public let isListening: Bool

    /// Asks the service over its control socket.
    ///
    /// - Parameter environment: environment variables, which may name the socket.
    public init(_ environment: [String: String]) {
        let path = ControlClient.findPath(environment: environment)
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            try client.send(.status)
            let lines = try client.nextLine().map { line throws(ControlError) in try ControlAnswer(line: line).lines }
            let state = lines?.first { $0.hasPrefix("state: ") }.map { String($0.dropFirst(7)) } ?? "unknown"
            isListening = state == "running"
            let text = "it runs; its state is: \(state)"
            switch state {
            case "running", "muted": diagnosis = Diagnosis(.ok, "service", text)
            default:
                diagnosis = Diagnosis(.warning, "service", text, "see beckon status and journalctl -u beckon")
            }
        } catch {
            isListening = false
            diagnosis =
                error == .notRunning
                ? Diagnosis(.ok, "service", "it does not run; systemctl start beckon starts it")
                : Diagnosis(.warning, "service", error.description, "see journalctl -u beckon")
        }
    }
}
