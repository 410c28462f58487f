private import Beckon
public import CBeckon

// The functions of beckon.h for streams; the header describes them.

@_cdecl("beckon_stream_open")
public func openStream(
    _ spotter: OpaquePointer?,
    _ rate: Int32,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> OpaquePointer? {
    attempt(error) { () throws(CallError) in
        let spotter = try object(spotter, SpotterHandle.self)
        do throws(SpotterError) {
            return handle(try StreamHandle(spotter, rate: Int(rate)))
        } catch {
            throw CallError(error)
        }
    }
}

@_cdecl("beckon_stream_push")
public func pushFloats(
    _ stream: OpaquePointer?,
    _ samples: UnsafePointer<Float>?,
    _ count: Int,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> beckon_code {
    push(stream, samples, count, error) { stream, samples throws(SpotterError) in try stream.process(samples) }
}

@_cdecl("beckon_stream_push_int16")
public func pushIntegers(
    _ stream: OpaquePointer?,
    _ samples: UnsafePointer<Int16>?,
    _ count: Int,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> beckon_code {
    push(stream, samples, count, error) { stream, samples throws(SpotterError) in try stream.process(samples) }
}

@_cdecl("beckon_stream_push_frames")
public func pushFrames(
    _ stream: OpaquePointer?,
    _ samples: UnsafeRawPointer?,
    _ format: beckon_format,
    _ frames: Int,
    _ channels: Int32,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> beckon_code {
    status(error) { () throws(CallError) in
        let mono = try mean(of: samples, format, frames, channels)
        try object(stream, StreamHandle.self).push { stream throws(SpotterError) in try stream.process(mono) }
    }
}

@_cdecl("beckon_stream_scores")
public func getScores(_ stream: OpaquePointer?, _ scores: UnsafeMutablePointer<UnsafePointer<Float>?>?) -> Int {
    let history = (try? object(stream, StreamHandle.self))?.scores
    scores?.pointee = history?.newest.baseAddress
    return history.map { $0.newest.count / $0.labels } ?? 0
}

@_cdecl("beckon_stream_hops")
public func countHops(_ stream: OpaquePointer?) -> UInt64 {
    UInt64(clamping: (try? object(stream, StreamHandle.self))?.scores.hops ?? 0)
}

@_cdecl("beckon_stream_keep")
public func keepScores(
    _ stream: OpaquePointer?,
    _ seconds: Double,
    _ error: UnsafeMutablePointer<beckon_error>?
) -> beckon_code {
    status(error) { () throws(CallError) in try object(stream, StreamHandle.self).keep(seconds: seconds) }
}

@_cdecl("beckon_stream_finish")
public func finishStream(_ stream: OpaquePointer?, _ error: UnsafeMutablePointer<beckon_error>?) -> beckon_code {
    status(error) { () throws(CallError) in try object(stream, StreamHandle.self).finish() }
}

@_cdecl("beckon_stream_poll")
public func pollStream(_ stream: OpaquePointer?, _ detection: UnsafeMutablePointer<beckon_detection>?) -> Int32 {
    guard let detection, let next = (try? object(stream, StreamHandle.self))?.next() else { return 0 }
    detection.pointee = next
    return 1
}

@_cdecl("beckon_stream_close")
public func closeStream(_ stream: OpaquePointer?) { release(stream, StreamHandle.self) }

/// Pushes the samples of the caller, of a type that a stream processes; `NULL` where there are none.
private func push<Sample>(
    _ stream: OpaquePointer?,
    _ samples: UnsafePointer<Sample>?,
    _ count: Int,
    _ error: UnsafeMutablePointer<beckon_error>?,
    _ process: (inout Spotter.Stream, [Sample]) throws(SpotterError) -> [Detection]
) -> beckon_code {
    status(error) { () throws(CallError) in
        guard count >= 0, samples != nil || count == 0 else {
            throw CallError("the samples are NULL, or their count is too large")
        }
        let samples = Array(UnsafeBufferPointer(start: samples, count: count))
        try object(stream, StreamHandle.self).push { stream throws(SpotterError) in try process(&stream, samples) }
    }
}
