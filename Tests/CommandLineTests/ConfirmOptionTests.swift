import Configuration
import Core
import Inference
import Spotting
import TestSupport
import Testing

@testable import CommandLineTool

/// `--no-confirm`: commands do without the model's confirming networks.
struct ConfirmOptionTests {
    @Test func `every command that detects words with a model of choice has the option`() {
        for declaration in CommandLineTool.declarations {
            let names = Set(declaration.options.map(\.name))
            // What has no threshold detects nothing: record and enroll only need the model's front end or embedding.
            #expect(names.contains("--no-confirm") == names.isSuperset(of: ["--model", "--threshold"]), "\(names)")
        }
    }

    @Test func `networks are loaded unless the option says no, and only where words are detected`() throws {
        let model = ["--model", Checkout.confirmingModel]
        func listening(_ words: [String]) throws -> ListeningOptions {
            try ListeningOptions(Arguments("classify", words + ["a.wav"], Classify.declaration))
        }
        #expect(try listening(model).loadModel().confirmationState == .on)
        #expect(try listening(model).loadVocabulary().model.confirmationState == .on)
        #expect(try listening(model).loadModel(detects: false).confirmationState == .off)
        #expect(try listening(model + ["--no-confirm"]).loadModel().confirmationState == .off)
        #expect(try listening(model + ["--no-confirm"]).loadVocabulary().model.confirmationState == .off)
    }

    @Test func `the option overrides the configuration, and does not turn the networks on`() throws {
        for (words, isOn) in [([], true), (["--no-confirm"], false)] {
            let options = try ListenOptions(Arguments("listen", words, Listen.declaration))
            var configuration = Configuration()
            options.override(&configuration)
            #expect(configuration.confirms == isOn)
            configuration.confirms = false
            options.override(&configuration)
            #expect(!configuration.confirms)
        }
    }

    @Test func `pages of errors are made as the evaluation was`() throws {
        for (words, expected) in [(["--no-confirm"], ["--no-confirm"]), ([], [])] {
            let arguments = try Arguments("evaluate", words + ["--stream", "talk.wav"], Evaluate.declaration)
            #expect(try EvaluateOptions(arguments).inspectOptions == expected)
        }
    }
}
