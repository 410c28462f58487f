import Core
private import Inference
import JSON
import Spotting
import WakeWords

/// The event `info`: what a server or satellite is and which words it detects.
///
/// All words stand in one program, because Home Assistant lists the words of the first program only. Name, attribution, `installed`
/// and `languages` must be there. Source: PyPI `wyoming` 1.10.2, `info.py`.
enum WyomingInfo {
    /// - Parameters:
    ///   - names: the words and phrases, in the order of the announcement.
    ///   - satellite: the satellite's name; nil for a server, whose wake words Home Assistant would not list beside a satellite.
    ///   - plays: whether the satellite has a speaker.
    static func event(
        _ names: [String],
        _ vocabulary: Vocabulary,
        satellite: String? = nil,
        plays: Bool = false
    ) -> [UInt8] {
        let model = vocabulary.model
        let models = names.map { name in
            if let manifest = vocabulary.wakeWords.first(where: { $0.name == name })?.manifest {
                return wakeWord(name, manifest)
            }
            var word = artifact(name, description: name, version: "\(model.name) \(model.identity)")
            word.append(["languages": [], "phrase": .string(name)])
            return word
        }
        var program = artifact("beckon", description: "Beckon, spoken words", version: version)
        program.append(["models": .array(models)])
        let speakers: [JSON] = plays ? [speaker] : []
        var info: JSON = [
            "asr": [], "tts": [], "handle": [], "intent": [], "wake": [program], "mic": [], "snd": .array(speakers),
        ]
        if let satellite {
            var description = artifact(satellite, description: "Beckon, a microphone that wakes", version: version)
            description.append([
                "area": .null, "has_vad": false, "active_wake_words": .array(names.map { .string($0) }),
                "max_active_wake_words": .number(names.count), "supports_trigger": false,
            ])
            info.append(["satellite": description])
        }
        return WyomingAnswer.encode("info", info)
    }

    /// What the satellite plays on, with the audio that Home Assistant sends: others are played as well.
    private static var speaker: JSON {
        var speaker = artifact("beckon", description: "Beckon's speaker", version: version)
        speaker.append(["snd_format": ["rate": 22_050, "width": 2, "channels": 1]])
        return speaker
    }

    /// A wake word of another's model.
    private static func wakeWord(_ name: String, _ manifest: WakeWordManifest) -> JSON {
        [
            "name": .string(name),
            "attribution": ["name": .string(manifest.author), "url": .string(manifest.website)], "installed": true,
            "description": .string(manifest.phrase), "version": manifest.kind == .microWakeWord ? "2" : "1",
            "languages": .strings(manifest.languages),
            "phrase": .string(manifest.phrase),
        ]
    }

    private static func artifact(_ name: String, description: String, version: String) -> JSON {
        [
            "name": .string(name), "attribution": ["name": "Beckon", "url": ""], "installed": true,
            "description": .string(description), "version": .string(version),
        ]
    }
}
