import Core
import Foundation
import Inference
import TestSupport
import Testing

@testable import Spotting

/// Which threshold each word gets from the choices for all words and for single ones.
struct ThresholdChoicesTests {
    /// "computer" has estimates for all sensitivities, "lamp" has none.
    private static func vocabulary(_ thresholds: ModelCopy.Thresholds = ModelCopy.complete) throws -> Vocabulary {
        let description = try [UInt8](ModelCopy.description(thresholds))
        let weights = try [UInt8](Data(contentsOf: URL(fileURLWithPath: Checkout.model + "/model.safetensors")))
        let model = try Model(description: description, weights: weights, confirms: false)
        var table = SensitivityTable<Float>()
        for (sensitivity, command, spot) in [(Sensitivity.strict, 0.9 as Float, 0.95 as Float), (.eager, 0.4, 0.45)] {
            table[sensitivity, .command] = command
            table[sensitivity, .spot] = spot
        }
        func word(_ name: String, _ table: SensitivityTable<Float>) throws -> TaughtWord {
            try #require(
                TaughtWord(
                    name: name,
                    threshold: 0.8,
                    sensitivities: table,
                    templates: [[1]],
                    templateSpacing: 0,
                    boundary: 0.5
                )
            )
        }
        return Vocabulary(model, taught: [try word("computer", table), try word("lamp", SensitivityTable())])
    }

    @Test func `a taught word that is said alone has the threshold of mode command in mode spot too`() throws {
        let vocabulary = try Self.vocabulary()
        let label = try #require(vocabulary.labels.firstIndex(of: "computer"))
        func alone(_ all: ThresholdChoice, _ mode: DetectionMode, _ words: [String: ThresholdChoice] = [:]) throws
            -> Float?
        {
            var choices = ThresholdChoices()
            (choices.all, choices.words) = (all, words)
            return try choices.thresholds(of: vocabulary, mode: mode).alone[label]
        }
        #expect(try alone(.sensitivity(.strict), .spot) == 0.9 && alone(.sensitivity(.eager), .spot) == 0.4)
        // Not where both are the same: in mode command, or by the user's choice.
        #expect(try alone(.sensitivity(.strict), .command) == nil && alone(.confidence(0.7), .spot) == nil)
        #expect(try alone(.sensitivity(.strict), .spot, ["computer": .confidence(0.7)]) == nil)
        var thresholds = try ThresholdChoices().thresholds(of: vocabulary, mode: .spot)
        #expect(thresholds.alone.allSatisfy { $0 == nil })
        var choices = ThresholdChoices()
        choices.all = .sensitivity(.strict)
        thresholds = try choices.thresholds(of: vocabulary, mode: .spot)
        var values = thresholds.values
        values[label] = 0.99
        #expect(thresholds.replacing(thresholds.values).alone == thresholds.alone)
        #expect(thresholds.replacing(values).alone[label] == nil)
        try thresholds.set("computer", to: 0.97)
        #expect(thresholds.alone[label] == nil)
    }

    @Test func `a word's own choice comes before the one for all words`() throws {
        let vocabulary = try Self.vocabulary()
        typealias Row = (
            all: ThresholdChoice, words: [String: ThresholdChoice], mode: DetectionMode, yes: Float?, computer: Float?,
            lamp: Float?
        )
        let table: [Row] = [
            (.sensitivity(.balanced), [:], .command, 0.93, 0.8, 0.8),
            (.sensitivity(.balanced), [:], .spot, 0.9925, 0.8, 0.8),
            (.sensitivity(.strict), [:], .command, 0.995, 0.9, 0.8),
            (.sensitivity(.strict), [:], .spot, 0.996, 0.95, 0.8),
            (.sensitivity(.eager), [:], .command, 0.5, 0.4, 0.8), (.sensitivity(.eager), [:], .spot, 0.6, 0.45, 0.8),
            (.confidence(0.7), [:], .spot, 0.7, 0.7, 0.7),
            (.confidence(0.7), ["yes": .sensitivity(.eager)], .spot, 0.6, 0.7, 0.7),
            (.sensitivity(.eager), ["yes": .confidence(0.9)], .command, 0.9, 0.4, 0.8),
            (
                .sensitivity(.eager), ["yes": .sensitivity(.strict), "computer": .sensitivity(.balanced)], .command,
                0.995,
                0.8, 0.8
            ),
            (.sensitivity(.strict), ["lamp": .confidence(0.3), "computer": .confidence(0.2)], .spot, 0.996, 0.2, 0.3),
        ]
        for row in table {
            var choices = ThresholdChoices()
            choices.all = row.all
            choices.words = row.words
            let thresholds = try choices.thresholds(of: vocabulary, mode: row.mode)
            func threshold(_ word: String) -> Float? {
                vocabulary.labels.firstIndex(of: word).flatMap { thresholds.values[$0] }
            }
            #expect(threshold("yes") == row.yes, "\(row)")
            #expect(threshold("computer") == row.computer, "\(row)")
            #expect(threshold("lamp") == row.lamp, "\(row)")
            #expect(threshold("_silence_") == nil && threshold("_unknown_") == nil)
        }
        #expect(vocabulary.thresholds(mode: .spot).values[0] == 0.9925)
    }

    @Test func `a disabled word has no threshold, whatever else is chosen`() throws {
        var choices = ThresholdChoices()
        choices.disabled = ["yes"]
        choices.words = ["yes": .confidence(0.5)]
        let thresholds = try choices.thresholds(of: try Self.vocabulary(), mode: .spot)
        #expect(thresholds.values[0] == nil && thresholds.values[1] == 0.9925)
    }

    @Test func `what has no thresholds is an error that says what there is`() throws {
        typealias Row = (
            model: ModelCopy.Thresholds, all: ThresholdChoice, words: [String: ThresholdChoice], mode: DetectionMode,
            says: String
        )
        let half: ModelCopy.Thresholds = ["eager": ["command": 0.5]]
        let table: [Row] = [
            (
                [:], .sensitivity(.strict), [:], .command,
                "the model 'commands' has no thresholds for the sensitivity strict in command mode; it has balanced; choose"
            ),
            (half, .sensitivity(.eager), [:], .spot, "eager in spot mode; it has balanced; choose"),
            (half, .sensitivity(.strict), [:], .command, "strict in command mode; it has balanced, eager; choose"),
            (half, .sensitivity(.balanced), ["yes": .sensitivity(.strict)], .command, "sensitivity strict"),
            (
                [:], .sensitivity(.balanced), ["lamp": .sensitivity(.eager)], .command,
                "the taught word 'lamp' has no estimate for the sensitivity eager"
            ),
        ]
        for row in table {
            var choices = ThresholdChoices()
            choices.all = row.all
            choices.words = row.words
            let error = #expect(throws: SpottingError.noThresholds) {
                try choices.thresholds(of: try Self.vocabulary(row.model), mode: row.mode)
            }
            #expect(error?.description.contains(row.says) == true, "\(error?.description ?? "")")
        }
        // Where no word needs the sensitivity, it may be missing.
        var choices = ThresholdChoices()
        let vocabulary = try Self.vocabulary([:])
        choices.words = ["computer": .sensitivity(.strict)]
        #expect(try choices.thresholds(of: vocabulary, mode: .spot).values[10] == 0.95)
    }

    @Test func `an unknown word is an error, enabled or not`() throws {
        let vocabulary = try Self.vocabulary()
        var choices = ThresholdChoices()
        choices.words = ["maybe": .confidence(0.5)]
        #expect(throws: SpottingError.unknownWord("", known: [])) {
            try choices.thresholds(of: vocabulary, mode: .spot)
        }
        choices.words = ["_silence_": .confidence(0.5)]
        #expect(throws: SpottingError.unknownWord("", known: [])) {
            try choices.thresholds(of: vocabulary, mode: .spot)
        }
        choices.words = [:]
        choices.disabled = ["maybe"]
        #expect(throws: SpottingError.unknownWord("", known: [])) {
            try choices.thresholds(of: vocabulary, mode: .spot)
        }
    }

    @Test func `where only some words are chosen, no other one has a threshold`() throws {
        let vocabulary = try Self.vocabulary()
        var choices = ThresholdChoices()
        choices.only = ["LAMP", "yes"]
        choices.disabled = ["yes"]
        let thresholds = try choices.thresholds(of: vocabulary, mode: .spot)
        #expect(thresholds.words == ["lamp"])
        choices.only = ["yes", "lmap"]
        #expect {
            try choices.thresholds(of: vocabulary, mode: .spot)
        } throws: { error in
            "\(error)".contains("'lmap'; did you mean 'lamp'? It knows yes, no")
        }
        choices.only = []
        #expect(try choices.thresholds(of: vocabulary, mode: .spot).words == [])
    }
}
