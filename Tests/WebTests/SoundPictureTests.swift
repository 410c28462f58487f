import Audio
import Core
import Foundation
import Inference
import TestSupport
import Testing

@testable import Web

/// The picture of the last seconds, and its way to the page.
struct SoundPictureTests {
    private static func column(_ bytes: [UInt8], _ column: Int, bands: Int) -> [Int16] {
        let start = column * (2 + bands) * 2
        return (0..<(2 + bands)).map {
            Int16(bitPattern: UInt16(bytes[start + $0 * 2]) | UInt16(bytes[start + $0 * 2 + 1]) << 8)
        }
    }

    /// A hop whose samples are a ramp from −level to level.
    private static func window(_ level: Float) -> [Float] {
        [Float](repeating: 0, count: AudioFormat.windowSamples - AudioFormat.hopSamples)
            + (0..<AudioFormat.hopSamples).map { level * (Float($0) / Float(AudioFormat.hopSamples - 1) * 2 - 1) }
    }

    @Test func `columns have the lowest and highest sample, and the bands that the model's front end computes`() throws
    {
        let model = try Model(folder: Checkout.model)
        let history = AudioHistory()
        let picture = SoundPicture(model, from: 0)
        #expect(picture.columns == 8 && picture.bands == 40)
        history.add(Self.window(0.5).span)
        picture.advance(history)
        let (first, bytes) = picture.columns(from: 0)
        #expect(first == 0 && bytes.count == 8 * 42 * 2)
        #expect(Self.column(bytes, 0, bands: 40)[0] == -16384)
        #expect(Self.column(bytes, 7, bands: 40)[1] == 16384)
        #expect(Self.column(bytes, 4, bands: 40)[0] >= 0 && Self.column(bytes, 3, bands: 40)[1] <= 0)
        var extractor = FeatureExtractor(model, newest: 8)
        let window = Self.window(0.5)
        extractor.run(window: window.span)
        for column in 0..<8 {
            let values = Self.column(bytes, column, bands: 40).dropFirst(2).map { Float($0) / 256 }
            for (value, expected) in zip(values, extractor.columns[column * 40..<(column + 1) * 40]) {
                #expect(abs(value - expected) <= 0.002)
            }
        }
    }

    @Test func `a reader gets what is new, and after a long time only what is kept`() throws {
        let history = AudioHistory()
        let picture = SoundPicture(try Model(folder: Checkout.model), from: 0)
        for _ in 0..<3 { history.add(Self.window(0.1).span) }
        picture.advance(history)
        #expect(picture.columns(from: 0).bytes.count == 3 * 8 * 84)
        #expect(picture.columns(from: 2).first == 2 && picture.columns(from: 2).bytes.count == 8 * 84)
        #expect(picture.columns(from: 3) == (3, []) && picture.columns(from: 99) == (3, []))
        for _ in 0..<200 { history.add(Self.window(0.1).span) }
        picture.advance(history)
        let kept = AudioHistory.seconds * 10
        #expect(picture.columns(from: 0).first == 203 - kept)
        #expect(picture.columns(from: 0).bytes.count == kept * 8 * 84)
    }

    @Test func `samples beyond full scale, and none at all, do not overflow`() throws {
        let history = AudioHistory()
        let picture = SoundPicture(try Model(folder: Checkout.model), from: 0)
        var window = [Float](repeating: 1e30, count: AudioFormat.windowSamples)
        window[AudioFormat.windowSamples - 1] = -.infinity
        history.add(window.span)
        history.add([Float](repeating: .nan, count: AudioFormat.windowSamples).span)
        picture.advance(history)
        #expect(picture.columns(from: 0).bytes.count == 2 * 8 * 84)
        #expect(Self.column(picture.columns(from: 0).bytes, 0, bands: 40)[1] == 32767)
    }

    @Test func `base64 is that of everybody`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
            #expect(base64(bytes) == Data(bytes).base64EncodedString())
        }
    }
}
