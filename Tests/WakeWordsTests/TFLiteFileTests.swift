import TestSupport
import Testing

@testable import WakeWords

struct TFLiteFileTests {
    private func refusal(_ bytes: [UInt8]) -> WakeWordError? {
        do throws(WakeWordError) {
            _ = try StreamingNetwork(bytes: bytes)
            return nil
        } catch {
            return error
        }
    }

    /// Where the file has the number of an operator's kind.
    private func placesOfCodes(_ bytes: [UInt8]) throws -> [Int] {
        let buffer = FlatBuffer(bytes: bytes)
        var places: [Int] = []
        for table in try buffer.tables(buffer.root(), field: 1) {
            if let place = try buffer.place(table, field: 0) { places.append(place) }
        }
        return places
    }

    @Test func `a file cut anywhere is refused`() throws {
        let bytes = try Fixture.model("okay_nabu")
        for count in stride(from: 0, to: bytes.count, by: 211) {
            #expect(refusal(Array(bytes.prefix(count))) != nil, "\(count) bytes")
        }
    }

    @Test(arguments: Fixture.names) func `a file with damaged bytes is refused or runs`(name: String) throws {
        let bytes = try Fixture.model(name)
        let features = try Fixture.features("spoken").prefix(6)
        var random = SplitMix(seed: 47)
        var (refused, ran) = (0, 0)
        for _ in 0..<400 {
            var damaged = bytes
            for _ in 0..<8 {
                damaged[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let network = try? StreamingNetwork(bytes: damaged) else {
                refused += 1
                continue
            }
            ran += 1
            let stream = NetworkStream(network)
            for (index, row) in features.enumerated() { stream.put(row, hop: index % network.hopsPerStep) }
            #expect((0...1).contains(stream.run()))
        }
        #expect(refused > 10 && ran > 10)
    }

    @Test func `an operator that is not supported is named`() throws {
        var bytes = try Fixture.model("alexa")
        let place = try #require(try placesOfCodes(bytes).first { bytes[$0] == 14 })
        bytes[place] = 25
        let error = try #require(refusal(bytes))
        #expect(error == .unsupported)
        #expect(error.message.contains("the operator SOFTMAX (number 25) is not supported"))
        bytes[place] = 100
        #expect(refusal(bytes)?.message.contains("the operator number 100 is not supported") == true)
    }

    @Test func `a model of floats is refused in one line`() throws {
        var bytes = try Fixture.model("alexa")
        let buffer = FlatBuffer(bytes: bytes)
        let graph = try #require(try buffer.tables(buffer.root(), field: 2).first)
        let input = try #require(try buffer.tables(graph, field: 0).first)
        let type = try #require(try buffer.place(input, field: 1))
        #expect(bytes[type] == 9)
        bytes[type] = 0
        let error = try #require(refusal(bytes))
        #expect(error == .unsupported)
        #expect(error.message.contains("holds floats; only models quantised to 8 bits can run"))
    }

    @Test func `other files are refused`() {
        #expect(refusal([]) == .damaged)
        #expect(refusal(Array("RIFF0000WAVE".utf8)) == .damaged)
        #expect(refusal([8, 0, 0, 0] + Array("TFL3".utf8)) == .damaged)
        #expect(refusal([UInt8](repeating: 0, count: 13 << 20)) == .size)
    }
}
