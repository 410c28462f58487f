import Core

/// The header in JSON, with sorted keys.
struct StoreHeader: Codable {
    struct Take: Codable {
        let templates: Int
        let templateSpacing: Int
        let samples: Int
        /// Missing for a single word, and before version 6.
        var parts: Int?
        /// Number of vectors; missing for a take without one, and before version 7.
        var sequence: Int?
        /// Number of vectors of 96; missing for a take without some, and before version 8.
        var speech: Int?

        enum CodingKeys: String, CodingKey {
            case templates = "anchors"
            case templateSpacing = "lag"
            case samples, parts, sequence, speech
        }

        var isWithinLimits: Bool {
            (1...WordStore.Limit.templates).contains(templates) && (0...100).contains(templateSpacing)
                && (0...WordStore.Limit.audio).contains(samples)
                && (0...WordStore.Limit.parts).contains(parts ?? 0)
                && (0...WordStore.Limit.sequence).contains(sequence ?? 0)
                && (0...WordStore.Limit.speech).contains(speech ?? 0)
        }
    }

    struct Negative: Codable {
        let moments: Int
        /// Of each moment.
        let templates: Int
        let samples: Int

        var isWithinLimits: Bool {
            (0...WordStore.Limit.moments).contains(moments) && (1...WordStore.Limit.templates).contains(templates)
                && (0...WordStore.Limit.audio).contains(samples)
        }
    }

    struct Word: Codable {
        let name: String
        /// Nil in version 1.
        var embedding: String?
        /// Nil in version 1.
        var dimensions: Int?
        let threshold: Float
        let boundary: Float
        /// By sensitivity and mode; missing in files of earlier versions.
        let sensitivities: [String: [String: Float]]?
        let takes: [Take]
        /// Missing in version 2.
        var negatives: [Negative]?
        /// Number of vectors; missing for a word that was not calibrated, and before version 4.
        var cohort: Int?
        /// Number of vectors, 1; missing for a word without one, and before version 5.
        var text: Int?
        /// Missing for a word without a second look, and before version 8.
        var look: Look?
        /// Missing for a word that is known by its takes alone, and before version 9.
        var sounds: [String]?
        /// Of a word with takes and sounds what is of its sounds alone; missing for others, and before version 10.
        var heard: Heard?
        /// As ``WordStore/Sounds/rule``; missing for a word without sounds, and for the first rule.
        var rule: Int?

        struct Heard: Codable {
            let boundary: Float
            let sensitivities: [String: [String: Float]]?
        }

        struct Look: Codable {
            let proposal: Float
            let boundary: Float

            var isWithinLimits: Bool { (0...1).contains(proposal) && (-4...4).contains(boundary) }
        }

        /// The table of `sensitivities`.
        var table: SensitivityTable<Float>? { Self.table(sensitivities) }

        /// Nil for a threshold outside 0…1. Names of later versions are left out.
        static func table(_ members: [String: [String: Float]]?) -> SensitivityTable<Float>? {
            var table = SensitivityTable<Float>()
            for (name, modes) in members ?? [:] {
                for (modeName, threshold) in modes {
                    guard (0...1).contains(threshold) else { return nil }
                    guard let sensitivity = Sensitivity(rawValue: name), let mode = DetectionMode(rawValue: modeName)
                    else { continue }
                    table[sensitivity, mode] = threshold
                }
            }
            return table
        }

        /// How the name sounds; nil for a word that is known by its takes alone.
        var heardSounds: WordStore.Sounds? {
            get throws(StoreDamage) {
                guard let sounds, !sounds.isEmpty else { return nil }
                let boundary = heard?.boundary ?? boundary
                guard sounds.count <= WordStore.Limit.pronunciations,
                    sounds.allSatisfy({ $0.utf8.count <= WordStore.Limit.soundBytes }), (-9...2).contains(boundary),
                    let table = Self.table(heard == nil ? sensitivities : heard?.sensitivities)
                else { throw .word(name) }
                return WordStore.Sounds(ways: sounds, boundary: boundary, sensitivities: table, rule: rule ?? 1)
            }
        }

        static func members(of table: SensitivityTable<Float>) -> [String: [String: Float]]? {
            var members: [String: [String: Float]] = [:]
            for mode in DetectionMode.allCases {
                for sensitivity in table.sensitivities(mode: mode) {
                    members[sensitivity.rawValue, default: [:]][mode.rawValue] = table[sensitivity, mode]
                }
            }
            return members.isEmpty ? nil : members
        }
    }

    /// Nil from version 2 on.
    var embedding: String?
    /// Nil from version 2 on.
    var dimensions: Int?
    let words: [Word]
    /// Names of forgotten words; missing in files of earlier versions, and where there are none.
    var forgotten: [String]?
}
