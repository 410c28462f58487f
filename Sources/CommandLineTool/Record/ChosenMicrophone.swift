import Capture
import Configuration
import Core
import Daemon
private import FoundationEssentials

/// The microphone that the command line names, or else the service's configuration.
struct ChosenMicrophone {
    let configuration: String?
    let device: String?
    let channels: Configuration.Channels?

    func open() throws -> Microphone {
        let environment = ProcessInfo.processInfo.environment
        var chosen = Configuration()
        // A word that it names may be taught yet.
        if let path = configuration ?? ConfigurationFile.find(environment: environment) {
            do {
                chosen = try ConfigurationFile(path: path, words: \.namedWords).configuration
            } catch {
                throw Failure(error.problems.map { "\($0)" }.joined(separator: "\n"))
            }
        }
        if let device { chosen.device = device }
        if let channels { chosen.channel = channels }
        if ServiceCheck(environment).isListening {
            Terminal.tell(.notice, "the service listens; where it has the microphone for itself, say beckon mute first")
        }
        var settings = Microphone.Settings()
        settings.selection = InputSelection(chosen)
        return try Microphone(settings)
    }
}
