import Glibc

/// Ends the run: libFuzzer reports a trap and keeps the input.
func check(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError(what()) }
}

/// What may come from outside, by name. `make fuzz` runs all of them.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "configuration": fuzzConfiguration, "control": fuzzControl, "model": fuzzModel, "tensors": fuzzTensors,
    "words": fuzzWords, "labels": fuzzLabels, "audio": fuzzAudio, "webhook": fuzzWebhook, "wyoming": fuzzWyoming,
    "worker": fuzzWorker, "results": fuzzJournal, "mqtt": fuzzMQTT, "broker": fuzzBroker, "group": fuzzGroup,
    "web": fuzzWeb,
    "hosts": fuzzHosts, "misses": fuzzMisses, "json": fuzzJSON, "wakewords": fuzzWakeWords,
    "backup": fuzzBackup, "heads": fuzzHeads, "esphome": fuzzESPHome, "sounds": fuzzSounds,
]

private let target: @Sendable ([UInt8]) -> Void = {
    let name = getenv("TARGET").map { String(cString: $0) } ?? ""
    guard let target = targets[name] else {
        fatalError("TARGET names one of \(targets.keys.sorted().joined(separator: ", "))")
    }
    return target
}()

/// Called by libFuzzer's `main` for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}
