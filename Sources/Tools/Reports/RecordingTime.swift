import Charts

/// The axis of time that all charts of a recording share.
struct RecordingTime: Sendable {
    let scale: Scale
    /// Where the file ends, in seconds; the silence that is appended to it follows.
    private let end: Double

    /// Largest number of points drawn along the axis.
    static let bins = 900

    init(_ trace: RecordingTrace) {
        scale = .time(trace.from, max(trace.hops.last?.time ?? 0, trace.to))
        end = trace.to
    }

    /// The axis with its title; a long recording is marked in clock times.
    var axis: Axis {
        Axis(scale.upper < 60 ? "time (s)" : scale.upper < 3600 ? "time (min:s)" : "time (h:min:s)", scale)
    }

    /// A chart over the time of the recording.
    func chart(title: String, summary: String, y: Axis, height: Double) -> Chart {
        var chart = Chart(title: title, summary: summary, x: axis, y: y, height: height)
        chart.time = scale.lower...scale.upper
        return chart
    }

    /// Marks the silence after the end of the file, in which the last word is decided.
    func markEnd(_ chart: inout Chart, isNamed: Bool = false) {
        guard scale.upper > end + 0.01 else { return }
        chart.add(.band(x: end...scale.upper, .faint, label: isNamed ? "after the end" : nil, opacity: 0.12))
    }
}
