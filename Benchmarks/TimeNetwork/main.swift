// time-network MODEL INPUT: times a model's network alone. Commands come line by line, so other programs can run between.
//
// INPUT holds whole windows of the front end's columns, channels last, as little-endian floats. The first output line
// gives the kernels, the precision, and the columns of a window and of a hop. Each input line gets one output line:
//
//     window N     the first window, N times → nanoseconds of each run
//     hop N        N hops, going round the input → nanoseconds of each run
//     windows      every window → the answer to each, one after the other
//     stream       hop by hop → the answer to the last hop, which equals the answer of `windows` to the last window
//
// An answer is the logits and the newest hop's activity logits.

import Foundation
import Inference
import KernelInterface

private struct Failure: Error, CustomStringConvertible {
    let description: String
}

private func floats(_ path: String) throws -> [Float] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return stride(from: 0, through: data.count - 4, by: 4).map { start in
        var bits: UInt32 = 0
        for byte in (0..<4).reversed() { bits = bits << 8 | UInt32(data[start + byte]) }
        return Float(bitPattern: bits)
    }
}

/// The input columns, and the ranges of their windows and hops.
private struct Input {
    let columns: [Float]
    let windows: [Range<Int>]
    /// Whole hops, the last of which ends with the columns; empty where the model does not stream.
    let hops: [Range<Int>]

    init(_ path: String, for network: borrowing NetworkRunner) throws {
        columns = try floats(path)
        let count = columns.count
        let window = network.windowColumns * network.channels
        guard count > 0, count % window == 0 else {
            throw Failure(description: "\(path): \(count) floats are not whole windows of \(window)")
        }
        windows = stride(from: 0, to: count, by: window).map { $0..<$0 + window }
        let hop = network.hopColumns * network.channels
        hops = hop == 0 ? [] : stride(from: count % hop, to: count, by: hop).map { $0..<$0 + hop }
    }
}

private func times(_ count: Int, _ run: (Int) -> Void) -> String {
    var times: [UInt64] = []
    times.reserveCapacity(count)
    for index in 0..<count {
        let start = monotonicNanoseconds()
        run(index)
        times.append(monotonicNanoseconds() - start)
    }
    return joined(times)
}

private func joined<Number: CustomStringConvertible>(_ numbers: [Number]) -> String {
    numbers.map(\.description).joined(separator: " ")
}

private func answer(_ line: String, _ network: inout NetworkRunner, _ input: Input) throws -> String {
    let words = line.split(separator: " ")
    let count = words.count == 2 ? Int(words[1]) ?? 0 : 1
    guard (1...1_000_000).contains(count) else { throw Failure(description: "\(line): how many times?") }
    let columns = input.columns.span
    switch words.first {
    case "window":
        // As for the other runtimes, the input is in place before the time begins.
        network.setWindow(columns.extracting(input.windows[0]))
        return times(count) { _ in network.runWindow() }
    case "hop" where !input.hops.isEmpty:
        return times(count) { network.hop(columns.extracting(input.hops[$0 % input.hops.count])) }
    case "windows":
        var answers: [Float] = []
        for place in input.windows {
            network.window(columns.extracting(place))
            answers += network.answer
        }
        return joined(answers)
    case "stream" where !input.hops.isEmpty:
        for place in input.hops { network.hop(columns.extracting(place)) }
        return joined(network.answer)
    default: throw Failure(description: "\(line): no such command, or not for this model")
    }
}

private func monotonicNanoseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// Prints a line without buffering, also to a pipe.
private func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

guard CommandLine.arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: time-network MODEL INPUT\n".utf8))
    exit(2)
}
do {
    var network = NetworkRunner(try Model(folder: CommandLine.arguments[1]))
    let input = try Input(CommandLine.arguments[2], for: network)
    let model = network.model
    let (kernels, precision) = (model.kernels.instructionSet.rawValue, model.precision.rawValue)
    say("\(kernels) \(precision) \(network.windowColumns) \(network.hopColumns)")
    while let line = readLine() { say(try answer(line, &network, input)) }
} catch {
    FileHandle.standardError.write(Data("time-network: \(error)\n".utf8))
    exit(1)
}
