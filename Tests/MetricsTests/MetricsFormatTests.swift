import Testing

@testable import Metrics

/// Metrics as text.
struct MetricsFormatTests {
    private let words: [MetricFamily] = [
        .information(
            "beckon_build",
            "Version of the program.",
            [.init("version", "1.2.3"), .init("model", "a \"b\"\n\\c")]
        ),
        .counters(
            "beckon_detections",
            "Words\nwith a \"name\" and a \\.",
            [([.init("word", "stop")], 3), ([.init("word", "go left")], 0)]
        ),
        .gauge("beckon_audio_level_ratio", "Level.", unit: "ratio", 0.0625),
        .counter("beckon_audio_lost_seconds", "Lost.", unit: "seconds", 1.5),
        .gauges("beckon_empty", "None.", []),
        .histogram(
            "beckon_inference_duration_seconds",
            "Time.",
            unit: "seconds",
            bounds: [0.001, 0.01],
            counts: [2, 3, 1],
            sum: 0.25
        ),
    ]

    @Test func `the text of Prometheus has HELP and TYPE once a family, and escapes`() {
        #expect(
            MetricsFormat.prometheus.text(words) == #"""
                # HELP beckon_build_info Version of the program.
                # TYPE beckon_build_info gauge
                beckon_build_info{version="1.2.3",model="a \"b\"\n\\c"} 1
                # HELP beckon_detections_total Words\nwith a "name" and a \\.
                # TYPE beckon_detections_total counter
                beckon_detections_total{word="stop"} 3
                beckon_detections_total{word="go left"} 0
                # HELP beckon_audio_level_ratio Level.
                # TYPE beckon_audio_level_ratio gauge
                beckon_audio_level_ratio 0.0625
                # HELP beckon_audio_lost_seconds_total Lost.
                # TYPE beckon_audio_lost_seconds_total counter
                beckon_audio_lost_seconds_total 1.5
                # HELP beckon_inference_duration_seconds Time.
                # TYPE beckon_inference_duration_seconds histogram
                beckon_inference_duration_seconds_bucket{le="0.001"} 2
                beckon_inference_duration_seconds_bucket{le="0.01"} 5
                beckon_inference_duration_seconds_bucket{le="+Inf"} 6
                beckon_inference_duration_seconds_sum 0.25
                beckon_inference_duration_seconds_count 6

                """#
        )
    }

    @Test func `OpenMetrics names the family, has units, and ends with EOF`() {
        let text = MetricsFormat.openMetrics.text(words)
        #expect(
            text.hasPrefix("# HELP beckon_build Version of the program.\n# TYPE beckon_build info\nbeckon_build_info{")
        )
        #expect(text.contains("# TYPE beckon_detections counter\nbeckon_detections_total{word=\"stop\"} 3\n"))
        #expect(text.contains("# HELP beckon_detections Words\\nwith a \\\"name\\\" and a \\\\.\n"))
        #expect(
            text.contains(
                "# TYPE beckon_audio_lost_seconds counter\n# UNIT beckon_audio_lost_seconds seconds\n"
                    + "beckon_audio_lost_seconds_total 1.5\n"
            )
        )
        #expect(text.hasSuffix("_count 6\n# EOF\n"))
    }

    @Test(
        arguments: [
            (nil, .prometheus), ("", .prometheus), ("*/*", .prometheus), ("text/plain;version=0.0.4", .prometheus),
            ("application/openmetrics-text", .openMetrics),
            ("application/openmetrics-text; version=1.0.0; charset=utf-8", .openMetrics),
            ("Application/OpenMetrics-Text;version=1.0.0;q=0.5,text/plain;q=0.1", .openMetrics),
            ("application/openmetrics-text;version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .prometheus),
            ("application/openmetrics-text;version=1.0.0;q=0, text/plain", .prometheus),
            ("application/openmetrics-textual", .prometheus),
        ] as [(String?, MetricsFormat)]
    )
    func `OpenMetrics only where Accept asks for it`(accept: String?, format: MetricsFormat) {
        #expect(MetricsFormat(accept: accept) == format)
    }

    @Test(
        arguments: [
            (0.0, "0"), (-0.0, "0"), (12, "12"), (0.1, "0.1"), (1e-7, "1e-07"), (1e20, "1e+20"),
            (123_456_789_012, "123456789012"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        ] as [(Double, String)]
    )
    func `numbers`(value: Double, text: String) {
        #expect(MetricsFormat.number(value) == text)
    }
}
