private import Audio
import Core
private import Glibc
private import Network
import Spotting
private import System

/// The checks that need the whole configuration: known words, webhook hosts, programs, margins of the gate.
struct ConfigurationCheck {
    let configuration: Configuration
    /// Nil if they could not be read, which skips their check.
    let words: KnownWords?

    private var vocabulary: Vocabulary? { words?.vocabulary }

    func run(_ findings: inout Findings) {
        if let words { checkWords(words, &findings) }
        checkSensitivities(&findings)
        checkSatellite(&findings)
        checkClients(&findings)
        for (key, action) in findings.actions { check(action, key: key, &findings) }
        let wyoming = configuration.wyoming
        for (key, sound) in [("heardSound", wyoming.heardSound), ("doneSound", wyoming.doneSound)] {
            if let sound { checkSound(sound, key: "wyoming.\(key)", &findings) }
        }
        for (key, sound) in configuration.esphome.sounds { checkSound(sound, key: key, &findings) }
        checkAddresses(&findings)
        checkSecrets(&findings)
        checkBroker(&findings)
        if case .channel(let reference) = configuration.echo.reference, case .only(let numbers) = configuration.channel,
            numbers.contains(reference)
        {
            findings.add("is a channel that is listened to; name the one with what is played", key: "echo.reference")
        }
        if configuration.echo.reference == .speaker, configuration.speaker == nil {
            findings.add(
                "removes nothing without a speaker; name its device with the key speaker, or --speaker",
                key: "echo.reference",
                isWarning: true
            )
        }
        if let reference = configuration.echo.device, reference == configuration.device {
            findings.add(
                "is the microphone itself; give the number of its channel with what is played",
                key: "echo.reference"
            )
        }
        if let dir = configuration.misses.dir, dir == configuration.clips.dir {
            findings.add("is the folder of clips, too; each would remove the other's files", key: "misses.dir")
        }
        if configuration.gate.endMargin < configuration.gate.startMargin {
            findings.add(
                "must not be less than startMargin, or speech would end where it begins",
                key: "gate.endMargin"
            )
        }
    }

    private func checkWords(_ words: KnownWords, _ findings: inout Findings) {
        let known = words.names + words.gone + words.missing.map(\.word)
        for missing in words.missing {
            let index = configuration.wakeWords.firstIndex(of: missing.name)
            findings.add(
                "a service runs without '\(missing.word)': \(missing.reason)",
                key: index.map { "wakeWords[\($0)]" } ?? "wakeWords",
                isWarning: true
            )
        }
        for (word, key) in findings.words(named: configuration, beside: known) {
            guard !findings.isFull else { return }
            reportUnknown(word, words, key: key, &findings)
        }
        SessionCheck(configuration: configuration, sessions: findings.sessions, vocabulary: vocabulary).run(&findings)
        var firstKeys: [String: String] = [:]
        for (key, phrase) in findings.phrases {
            guard !findings.isFull else { return }
            if let first = firstKeys[phrase.name] {
                findings.add("is the same as \(first), whose actions apply", key: key + ".phrase", isWarning: true)
            } else if !phrase.name.isEmpty {
                firstKeys[phrase.name] = key
            }
            let parts = Phrase.parts(of: phrase.phrase, words: known)
            if parts.count < 2 {
                findings.add(
                    "needs a phrase of two words or more, such as \"go left\"",
                    key: phrase.phrase.isEmpty ? key : key + ".phrase"
                )
            }
            for part in parts where configuration.words[part]?.enabled == false {
                findings.add("is never detected, as '\(part)' is not enabled", key: key + ".phrase", isWarning: true)
            }
        }
    }

    /// A command word, such as "stop", should not make Home Assistant listen.
    private func checkSatellite(_ findings: inout Findings) {
        let wyoming = configuration.wyoming
        if wyoming.satellite.isEmpty, wyoming.satelliteServer != nil {
            findings.add("has no effect without satellite", key: "wyoming.satelliteServer", isWarning: true)
        }
        if !configuration.esphome.listen.isEmpty, !configuration.esphome.encryption,
            configuration.esphome.listen.contains(where: { !$0.isLocal })
        {
            findings.add(
                "lets every machine of the network hear what follows a word; leave it true, and give Home Assistant the key of "
                    + "beckon esphome key",
                key: "esphome.encryption",
                isWarning: true
            )
        }
        guard !wyoming.satellite.isEmpty, wyoming.satelliteWords == nil else { return }
        findings.add(
            "reports every word, so that each of them makes Home Assistant listen to what follows; name those that should in "
                + "satelliteWords",
            key: "wyoming.satellite",
            isWarning: true
        )
    }

    /// What is kept of clients is for the live page, which knows them by their addresses.
    private func checkClients(_ findings: inout Findings) {
        let recent = configuration.wyoming.recent
        for address in recent.names.keys.sorted() where IPAddress(address) == nil {
            findings.add(
                "is not an address; name clients by theirs, such as \"192.168.1.20\": \"kitchen\"",
                key: "wyoming.recent.names.\(address)"
            )
        }
        guard recent.keep > 0, configuration.wyoming.listen.isEmpty || configuration.web.listen.isEmpty else { return }
        findings.add(
            "keeps nothing: words of clients are for the live page, so that wyoming.listen and web.listen are needed, too",
            key: "wyoming.recent.keep",
            isWarning: true
        )
    }

    /// A sensitivity must have thresholds where it applies, and should not be given beside a threshold that replaces it.
    private func checkSensitivities(_ findings: inout Findings) {
        // The default is in the sample file, beside which a threshold may be set.
        if configuration.threshold != nil, configuration.sensitivity != .balanced {
            findings.add("has no effect, as threshold is given too", key: "sensitivity", isWarning: true)
        }
        for (name, word) in configuration.words.sorted(by: { $0.key < $1.key }) {
            guard let sensitivity = word.sensitivity else { continue }
            let key = "words.\(name).sensitivity"
            if word.threshold != nil {
                findings.add("has no effect, as threshold is given too", key: key, isWarning: true)
            } else if let label = vocabulary?.labels.firstIndex(of: name), word.enabled {
                check(sensitivity, label: label, key: key, &findings)
            }
        }
        guard configuration.threshold == nil, let vocabulary else { return }
        // One word of the model without a choice of its own speaks for all of them.
        let label = vocabulary.modelWords.indices.first { label in
            let word = configuration.words[vocabulary.labels[label]]
            return word?.enabled != false && word?.choice == nil
        }
        if let label { check(configuration.sensitivity, label: label, key: "sensitivity", &findings) }
    }

    private func check(_ sensitivity: Sensitivity, label: Int, key: String, _ findings: inout Findings) {
        let mode = configuration.gate.mode
        guard let vocabulary, vocabulary.threshold(label: label, sensitivity, mode) == nil else { return }
        findings.add(vocabulary.noThresholds(label: label, sensitivity, mode).description, key: key)
    }

    /// Nothing for a known word; a warning for a taught word that is gone, because a service has to start without it; else an
    /// error.
    private func reportUnknown(_ word: String, _ words: KnownWords, key: String, _ findings: inout Findings) {
        let known = words.names
        guard !known.contains(word) else { return }
        guard !words.gone.contains(word) else {
            findings.add(
                "names '\(word)', which is not known any more and is left out; teach it again with beckon enroll, or remove it here",
                key: key,
                isWarning: true
            )
            return
        }
        // What its files would call a wake word is not always known: no mistake that keeps a service from starting.
        guard words.missing.isEmpty else {
            findings.add(
                "names '\(word)', which may be the wake word that cannot be loaded; it is left out here, too",
                key: key,
                isWarning: true
            )
            return
        }
        let hint = nearestName(to: word, of: known).map { "did you mean '\($0)'?" }
        findings.add(
            "the model does not know the word '\(word)'; \(hint ?? "it knows " + known.joined(separator: ", "))",
            key: key
        )
    }

    /// Files of secrets that every user of the machine can read.
    private func checkSecrets(_ findings: inout Findings) {
        guard let path = configuration.mqtt.passwordFile, let status = try? FileStatus(path: path),
            status.permissions & 0o004 != 0
        else { return }
        findings.add(
            "every user of this machine can read \(path), which holds a secret; try chmod o-r",
            key: "mqtt.passwordFile",
            isWarning: true
        )
    }

    /// Files that the connection to a broker needs.
    private func checkBroker(_ findings: inout Findings) {
        let mqtt = configuration.mqtt
        if let path = mqtt.passwordFile, isMissing(path) {
            findings.add("no such file: \(printable(path))", key: "mqtt.passwordFile", isWarning: true)
        }
        checkAuthorities(mqtt.caFile, key: "mqtt.caFile", &findings)
        if mqtt.caFile != nil, !mqtt.tls {
            findings.add("has no effect without tls: true", key: "mqtt.caFile", isWarning: true)
        }
    }

    /// A file with certificates. It may be made after the configuration, so one that does not serve is only a warning.
    private func checkAuthorities(_ path: String?, key: String, _ findings: inout Findings) {
        guard let path, !path.hasPrefix(Self.credentials) else { return }
        if isMissing(path) {
            findings.add("no such file: \(printable(path))", key: key, isWarning: true)
        } else if let problem = certificateProblem(path) {
            findings.add("\(printable(path)) does not serve: \(problem)", key: key, isWarning: true)
        }
    }

    /// systemd puts credentials there while the service runs.
    private static let credentials = "/run/credentials/"

    private func isMissing(_ path: String) -> Bool {
        !path.hasPrefix(Self.credentials) && access(path, F_OK) != 0 && errno == ENOENT
    }

    /// Two servers cannot listen at one address.
    private func checkAddresses(_ findings: inout Findings) {
        var known: [ListenAddress: String] = [:]
        if case .path(let path) = configuration.socket { known[.unix(path: path)] = "socket" }
        for (key, addresses) in [
            ("wyoming.listen", configuration.wyoming.listen), ("wyoming.satellite", configuration.wyoming.satellite),
            ("esphome.listen", configuration.esphome.listen), ("web.listen", configuration.web.listen),
        ] {
            for address in addresses {
                switch known.updateValue(key, forKey: address) {
                case nil: break
                case key: findings.add("names \(address) twice; leave one of them out", key: key)
                case "socket": findings.add("is the control socket; give the server a path of its own", key: key)
                case let other?: findings.add("names \(address), as \(other) does; choose another address", key: key)
                }
            }
        }
    }

    private func check(_ action: Action, key: String, _ findings: inout Findings) {
        switch action.effect {
        case .run(let arguments, let directory):
            // It may be installed after the configuration, so a missing one is only a warning.
            if let problem = ProgramFile.problem(arguments.first ?? "") {
                findings.add(problem, key: "\(key).run", isWarning: true)
            }
            if !isFolder(directory) {
                findings.add("no such folder: \(directory)", key: "\(key).directory", isWarning: true)
            }
        case .webhook(let address, let caFile, _):
            checkAuthorities(caFile, key: "\(key).caFile", &findings)
            if caFile != nil, !address.isSecure {
                findings.add("has no effect without https", key: "\(key).caFile", isWarning: true)
            }
            let listed = configuration.webhookHosts.map { $0.lowercased() }
            guard !address.isLoopback, !listed.contains(address.host) else { return }
            findings.add(
                "'\(address.host)' is not this machine; if it is meant, add it to webhookHosts",
                key: "\(key).webhook"
            )
        case .unix(let path):
            if configuration.socket == .path(path) {
                findings.add("is the control socket; give the stream a path of its own", key: "\(key).unix")
            }
        case .play(let path): checkSound(path, key: "\(key).play", &findings)
        case .print, .journal: break
        }
    }

    /// A sound is a file of the user's own, so one that cannot be played is a mistake.
    private func checkSound(_ path: String, key: String, _ findings: inout Findings) {
        if configuration.speaker == nil {
            findings.add(
                "is not heard without a speaker; name its device with the key speaker, or --speaker",
                key: key,
                isWarning: true
            )
        }
        do throws(AudioError) {
            _ = try FileBlocks.readClip(path: path, atMost: Self.checkedSeconds)
        } catch {
            findings.add("\(error)", key: key)
        }
    }

    /// A sound's first seconds, which are read to find damage.
    private static let checkedSeconds = 60.0
}
