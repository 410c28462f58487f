import Capture
import Configuration
import Core
private import Diagnostics
import Input
private import System

/// The microphone named on the command line, else in the service's configuration.
struct ChosenMicrophone {
    let configuration: String?
    let device: String?
    let channels: Configuration.Channels?

    func open() throws -> MicrophoneSource {
        let environment = OwnEnvironment.variables
        var chosen = Configuration()
        // Only the device is needed, so the words that the configuration names are accepted even if not taught yet.
        if let path = try configuration ?? InstanceOption.configuration(environment) {
            do {
                chosen = try ParsedConfiguration(path: path).validated { KnownWords($0.namedWords()) }.configuration
            } catch {
                throw Misconfiguration(description: error.problems.map { "\($0)" }.joined(separator: "\n"))
            }
        }
        if let device { chosen.device = device }
        if let channels { chosen.channel = channels }
        if ServiceCheck(environment).isListening {
            Output.report(
                .notice,
                "the service is listening; if it uses the microphone exclusively, run beckon mute first"
            )
        }
        return try MicrophoneSource(
            InputSelection(device: DeviceChoice(chosen.device), mix: chosen.mix, reference: chosen.echo.device)
        )
    }
}
