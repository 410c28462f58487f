// swift-tools-version: 6.2
import PackageDescription

/// Kernels are optimised in debug builds too, so that tests over hours of audio are fast.
///
/// Unchecked, because their callers have validated all arguments, and overflow traps in inner loops cost 10 % of the
/// speed.
///
/// Compiled as a whole module in debug builds too, so that helpers in other files are inlined. With more than one
/// thread the compiler writes one object per file, as debug builds expect.
let kernelSettings: [SwiftSetting] = [
    .unsafeFlags(["-Ounchecked", "-wmo", "-num-threads", "2", "-enforce-exclusivity=unchecked"])
]

/// One compilation of `Sources/Base/Kernels/Shared` for an instruction set.
///
/// Each target contains a directory link to that folder, because two targets may not share a path.
func vectorKernels(_ name: String, _ settings: [SwiftSetting] = []) -> Target {
    .target(
        name: "Kernels\(name)",
        dependencies: ["KernelInterface"],
        path: "Sources/Base/Kernels/\(name)",
        swiftSettings: kernelSettings + settings
    )
}

/// Swift 6.2 needs to be told that a function which writes through a span keeps the span's lifetime; 6.3 finds out.
let spanSettings: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

/// For code that runs once a command, or once an hour: small counts more than fast.
let smallSettings: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

// The manifest sees the architecture that it runs on; a cross-build names the other one.
#if arch(arm64)
let ownArchitecture = "aarch64"
#else
let ownArchitecture = "x86_64"
#endif
let architecture = Context.environment["BECKON_ARCHITECTURE"] ?? ownArchitecture

// Not every processor has these instructions: `Kernels/Dispatch` calls them only if the processor has them.
let wideKernelFlags =
    architecture == "aarch64"
    ? [("DotProduct", ["-march=armv8.2-a+dotprod"])]
    : [("AVX2", ["-march=x86-64-v3"]), ("AVX512", ["-march=x86-64-v4", "-mavx512vnni"])]

let wideKernels = wideKernelFlags.map { name, flags in
    vectorKernels(name, [.define("KERNEL_\(name.uppercased())"), .unsafeFlags(flags.flatMap { ["-Xcc", $0] })])
}

/// How the program is linked: equal functions are folded, relocations are packed (glibc 2.36 and later read them), and `beckon.ld` drops sections.
///
/// By LLVM's linker, which Swift brings along: gold cannot pack.
let smallLinking = LinkerSetting.unsafeFlags(
    ["-use-ld=lld"]
        + [
            "--icf=all", "-z", "pack-relative-relocs", "--no-eh-frame-hdr",
            "-T", "\(Context.packageDirectory)/Sources/beckon/beckon.ld",
        ].flatMap { ["-Xlinker", $0] },
    .when(configuration: .release)
)

/// The floors of `Sources`, lowest first, and the rooms in their folders: a module imports modules of its own floor and of
/// lower floors only.
///
/// `.ci/house` checks that, and knows the order of the rooms of a floor; docs/architecture.md draws it.
let floors: KeyValuePairs<String, [String]> = [
    "CLibraries": [
        "CALSA", "CALSAMessages", "CArchive", "CBeckon", "CCurl", "CFLAC", "CMPG123", "CMicroHTTPD", "CMosquitto",
        "CQREncode",
        "CSampleRate", "CSessionBus", "CSndFile", "CSodium", "CSpeexDSP", "CSystem", "CZlib",
    ],
    // Also `Kernels`, whose targets have paths of their own.
    "Base": ["Core", "JSON", "System", "Network"],
    "Sound": ["Echo", "Audio", "Capture", "Playback", "Input"],
    "Engine": ["Inference", "WakeWords", "Phonemes", "Spotting", "Enrollment"],
    // Also `Integrations`, likewise.
    "Service": ["Configuration", "Events", "Actions", "Control", "DeviceGroup", "LiveTeaching", "Daemon"],
    "Tools": ["Evaluation", "Charts", "Reports", "Diagnostics", "Corpus", "Benchmarking"],
]

let package = Package(
    name: "beckon",
    products: [
        .executable(name: "beckon", targets: ["beckon"]),
        // For Swift programs that find words themselves; see Examples/Spot.
        .library(name: "Beckon", targets: ["Beckon"]),
        // For programs in C and other languages: libbeckon.so, which the packages and the wheel install under that name.
        .library(name: "beckon-c", type: .dynamic, targets: ["CInterface"]),
        // A fake sound card for tests, which alsa-lib loads by path; it is not installed.
        .library(name: "FakeCard", type: .dynamic, targets: ["FakeCard"]),
        // A clock and name servers for tests, preloaded; it is not installed.
        .library(name: "FakeSystem", type: .dynamic, targets: ["FakeSystem"]),
    ],
    targets: [
        // C libraries: a module map and a thin shim each.
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CMPG123", pkgConfig: "libmpg123", providers: [.apt(["libmpg123-dev"])]),
        .systemLibrary(name: "CSampleRate", pkgConfig: "samplerate", providers: [.apt(["libsamplerate0-dev"])]),
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        // Without pkgConfig, which would link them: they are loaded when they are needed.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CArchive"),
        .systemLibrary(name: "CQREncode"),
        .systemLibrary(name: "CSessionBus"),
        .systemLibrary(name: "CSodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CSpeexDSP", providers: [.apt(["libspeexdsp-dev"])]),
        // The header of our own library, whose types CInterface uses.
        .systemLibrary(name: "CBeckon"),
        .systemLibrary(name: "CSystem"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        .target(name: "JSON", dependencies: ["Core"]),
        .target(name: "System", dependencies: ["Core", "CSystem"]),
        .target(name: "Network", dependencies: ["CCurl", "Core", "CSystem", "JSON", "System"]),
        .target(name: "CALSAMessages", dependencies: ["CALSA"]),
        .target(name: "CMosquitto"),
        .target(name: "CFLAC"),
        // Optimised in debug builds too: tests cancel the echo of minutes.
        .target(
            name: "Echo",
            dependencies: ["CSpeexDSP", "Core"],
            swiftSettings: spanSettings + [.unsafeFlags(["-O"])]
        ),
        .target(
            name: "Audio",
            dependencies: [
                "CFLAC", "CMPG123", "Core", "CSndFile", "CSampleRate", "CSystem", "Echo", "KernelInterface", "Kernels",
                "System",
            ],
            swiftSettings: spanSettings
        ),
        .target(
            name: "Capture",
            dependencies: ["Audio", "CALSA", "CALSAMessages", "Core", "Echo", "System"],
            swiftSettings: spanSettings
        ),
        .target(
            name: "Playback",
            dependencies: ["Audio", "CALSA", "Capture", "Core", "System"],
            swiftSettings: spanSettings
        ),
        .target(name: "Input", dependencies: ["Audio", "Capture", "Core", "System"]),
        .target(name: "KernelInterface", path: "Sources/Base/Kernels/Interface", swiftSettings: kernelSettings),
        vectorKernels("Baseline"),
        .target(
            name: "Kernels",
            dependencies: ["CSystem", "KernelInterface", "KernelsBaseline"]
                + wideKernels.map { .byName(name: $0.name) },
            path: "Sources/Base/Kernels",
            exclude: ["Interface", "Shared", "Baseline", "DotProduct", "AVX2", "AVX512"],
            sources: ["Scalar", "Dispatch"],
            swiftSettings: kernelSettings
        ),
        // Optimised in debug builds too: each test that scores audio runs networks.
        .target(
            name: "Inference",
            dependencies: ["Core", "JSON", "KernelInterface", "Kernels", "System"],
            swiftSettings: [.unsafeFlags(["-O"])]
        ),
        // Optimised in debug builds too: tests look at seconds of audio, and search for pronunciations.
        .target(
            name: "Phonemes",
            dependencies: ["Core", "Inference", "JSON", "KernelInterface", "Kernels"],
            swiftSettings: [.unsafeFlags(["-O", "-enforce-exclusivity=unchecked"])]
        ),
        // Optimised in debug builds too: tests compare minutes of audio.
        .target(
            name: "WakeWords",
            dependencies: ["Core", "JSON", "KernelInterface", "Kernels", "System"],
            swiftSettings: [.unsafeFlags(["-O", "-enforce-exclusivity=unchecked"])]
        ),
        .target(
            name: "Spotting",
            dependencies: ["Audio", "Core", "Inference", "Kernels", "Phonemes", "System", "WakeWords"],
            // Optimised in debug builds too: `enroll` looks at the texts that it tries.
            swiftSettings: [.unsafeFlags(["-O"])]
        ),
        .target(name: "Evaluation", dependencies: ["Audio", "Core", "Inference", "Spotting", "System"]),
        .target(
            name: "Enrollment",
            dependencies: [
                "Audio", "Core", "Inference", "JSON", "KernelInterface", "Kernels", "Phonemes", "Spotting", "System",
                "WakeWords",
            ],
            // Optimised in debug builds too: tests compare a word with an hour of talk.
            swiftSettings: [.unsafeFlags(["-O"])]
        ),
        .target(name: "Core"),
        .target(name: "Corpus", dependencies: ["Core", "JSON", "System"]),
        .target(name: "Events", dependencies: ["Core", "JSON", "Spotting", "System"]),
        .target(
            name: "Configuration",
            dependencies: [
                "Audio", "CArchive", "CZlib", "Core", "Echo", "Events", "JSON", "Network", "Spotting", "System",
                "WakeWords",
            ],
            swiftSettings: smallSettings
        ),
        .target(
            name: "Actions",
            dependencies: [
                "Audio", "Configuration", "Core", "Events", "JSON", "Network", "Playback", "Spotting", "System",
            ]
        ),
        .target(
            name: "Control",
            dependencies: ["Actions", "Configuration", "Core", "Events", "JSON", "Network", "Spotting", "System"]
        ),
        .target(
            name: "DeviceGroup",
            dependencies: ["Configuration", "Core", "Events", "JSON", "Metrics", "Network", "Spotting", "System"]
        ),
        .target(
            name: "LiveTeaching",
            dependencies: ["Audio", "Control", "Core", "Enrollment", "Inference", "Phonemes", "Spotting", "System"]
        ),
        // Integrations: each a room of its own, which knows the service by IntegrationInterface, and which Daemon starts.
        .target(name: "Metrics", dependencies: ["Core", "JSON"], path: "Sources/Service/Integrations/Metrics"),
        .target(
            name: "IntegrationInterface",
            dependencies: [
                "Audio", "Configuration", "Control", "Core", "DeviceGroup", "Events", "JSON", "Metrics", "Network",
                "Playback",
                "Spotting", "System",
            ],
            path: "Sources/Service/Integrations/Interface"
        ),
        .target(
            name: "Web",
            dependencies: [
                "Actions",
                "Audio", "CMicroHTTPD", "Configuration", "Control", "Core", "Events", "Inference",
                "IntegrationInterface",
                "JSON", "Metrics", "Network", "Spotting", "System",
            ],
            path: "Sources/Service/Integrations/Web",
            resources: ["html", "css", "js"].map { .embedInCode("Page/live-page.\($0)") }
                + ["pair", "sound", "teach", "type"].map { .embedInCode("Page/live-page-\($0).js") }
        ),
        .target(
            name: "Wyoming",
            dependencies: [
                "Audio", "Configuration", "Core", "Events", "Inference", "IntegrationInterface", "JSON", "Metrics",
                "Network", "Playback",
                "Spotting",
                "System", "WakeWords",
            ],
            path: "Sources/Service/Integrations/Wyoming"
        ),
        .target(
            name: "ESPHome",
            dependencies: [
                "Audio", "CQREncode", "CSessionBus", "CSodium", "Configuration", "Control", "Core", "Events",
                "IntegrationInterface", "JSON",
                "Metrics", "Network", "Playback", "Spotting", "System", "WakeWords",
            ],
            path: "Sources/Service/Integrations/ESPHome"
        ),
        .target(
            name: "MQTT",
            dependencies: [
                "CMosquitto", "Configuration", "Control", "Core", "DeviceGroup", "Events", "IntegrationInterface",
                "JSON", "Metrics",
                "Network", "Spotting",
                "System",
            ],
            path: "Sources/Service/Integrations/MQTT"
        ),
        .target(
            name: "Daemon",
            dependencies: [
                "Actions", "Audio", "Capture", "Configuration", "Control", "Core", "DeviceGroup", "ESPHome",
                "Enrollment",
                "Events",
                "Inference", "Input", "IntegrationInterface", "JSON", "LiveTeaching", "MQTT", "Metrics", "Network",
                "Playback", "Spotting",
                "System",
                "Web",
                "WakeWords", "Wyoming",
            ]
        ),
        .target(name: "Charts", dependencies: ["Core", "CZlib"], swiftSettings: smallSettings),
        .target(
            name: "Diagnostics",
            dependencies: ["Audio", "Capture", "Control", "Core", "Inference", "Input", "Spotting", "System"],
            // Optimised in debug builds too: tests measure minutes of audio.
            swiftSettings: [.unsafeFlags(["-O"])]
        ),
        .target(
            name: "Reports",
            dependencies: [
                "Audio", "Charts", "Core", "Diagnostics", "Evaluation", "Inference", "JSON", "Phonemes", "Spotting",
            ],
            swiftSettings: smallSettings
        ),
        .target(
            name: "Benchmarking",
            dependencies: [
                "Actions", "Audio", "Capture", "Configuration", "Core", "Daemon", "Evaluation", "Events", "Inference",
                "Input", "JSON", "KernelInterface", "Kernels", "Network", "Phonemes", "Spotting", "System", "WakeWords",
                "Wyoming",
            ]
        ),
        .target(
            name: "CommandLineTool",
            dependencies: [
                "Actions", "Audio", "Benchmarking", "Capture", "Configuration",
                "Control", "Core",
                "Corpus",
                "Daemon", "Diagnostics", "ESPHome", "Echo", "Enrollment", "Evaluation", "Events", "Inference", "Input",
                "IntegrationInterface", "JSON", "KernelInterface", "Kernels",
                "Network", "Phonemes", "Reports", "Spotting", "System", "WakeWords", "Web",
            ],
            swiftSettings: smallSettings
        ),
        .target(
            name: "Beckon",
            dependencies: ["Audio", "Core", "Enrollment", "Inference", "Spotting", "System"],
            path: "Sources/Library"
        ),
        .target(
            name: "CInterface",
            dependencies: ["Beckon", "CBeckon", "Core", "System"],
            exclude: ["libbeckon.map"],
            linkerSettings: [
                .unsafeFlags(
                    [
                        "-Xlinker", "-soname=libbeckon.so.0",
                        "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/CInterface/libbeckon.map",
                    ]
                        // SwiftPM's --static-swift-stdlib links programs only.
                        + (Context.environment["BECKON_STATIC_LIBRARY"] == nil ? [] : ["-static-stdlib"])
                )
            ]
        ),
        // Its function `main` is in Swift, and no statements: only so it gets its arguments. SwiftPM lets `main` be `beckon_main`.
        .executableTarget(
            name: "beckon",
            dependencies: ["CommandLineTool"],
            exclude: ["beckon.ld"],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [smallLinking]
        ),
        .executableTarget(name: "spot", dependencies: ["Beckon"], path: "Examples/Spot"),
        .executableTarget(name: "soak", dependencies: ["Audio", "Capture", "Core", "System"], path: "Benchmarks/Soak"),
        .executableTarget(name: "make-recording", dependencies: ["Audio"], path: "Benchmarks/MakeRecording"),
        .executableTarget(
            name: "negatives",
            dependencies: ["Audio", "Core", "Inference", "Spotting", "WakeWords"],
            path: "Training/Negatives"
        ),
        .executableTarget(name: "write-start-time", path: "Benchmarks/WriteStartTime"),
        .executableTarget(name: "wake-word-outputs", dependencies: ["WakeWords"], path: "Benchmarks/WakeWordOutputs"),
        .executableTarget(
            name: "record-detections",
            dependencies: ["Audio", "Core", "Enrollment", "Evaluation", "Spotting", "WakeWords"],
            path: "Benchmarks/Detections"
        ),
        .executableTarget(
            name: "time-network",
            dependencies: ["Inference", "KernelInterface"],
            path: "Benchmarks/TimeNetwork"
        ),

        .target(
            name: "TestSupport",
            dependencies: ["CSndFile", "Network"],
            path: "Tests/TestSupport",
            // Optimised, because tests make hours of noise.
            swiftSettings: [.unsafeFlags(["-O"])]
        ),
        .target(name: "FakeCard", dependencies: ["CALSA"], path: "Tests/FakeCard", cSettings: [.define("PIC")]),
        // Not instrumented, because programs of actions, which are not, load it too.
        .target(
            name: "FakeSystem",
            path: "Tests/FakeSystem",
            cSettings: [.define("PIC"), .unsafeFlags(["-fno-sanitize=all"])]
        ),
        .testTarget(name: "CoreTests", dependencies: ["Core"]),
        .testTarget(name: "JSONTests", dependencies: ["Core", "JSON"]),
        .testTarget(name: "CorpusTests", dependencies: ["Core", "Corpus", "TestSupport"]),
        .testTarget(name: "SystemTests", dependencies: ["Core", "System", "TestSupport"]),
        .testTarget(name: "NetworkTests", dependencies: ["Core", "Network", "System", "TestSupport"]),
        .testTarget(name: "CaptureTests", dependencies: ["Audio", "Capture", "Core", "Echo", "System", "TestSupport"]),
        .testTarget(
            name: "PlaybackTests",
            dependencies: ["Audio", "Capture", "Core", "Echo", "Playback", "System", "TestSupport"]
        ),
        .testTarget(
            name: "EchoTests",
            dependencies: ["Core", "Echo", "TestSupport"],
            swiftSettings: [.unsafeFlags(["-O"])]
        ),
        .testTarget(name: "AudioTests", dependencies: ["Audio", "CFLAC", "Core", "CSndFile", "Echo", "TestSupport"]),
        .testTarget(name: "InputTests", dependencies: ["Audio", "Capture", "Core", "Input", "System", "TestSupport"]),
        .testTarget(name: "KernelTests", dependencies: ["KernelInterface", "Kernels", "TestSupport"]),
        .testTarget(
            name: "InferenceTests",
            dependencies: ["Core", "Inference", "KernelInterface", "Kernels", "TestSupport"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "PhonemesTests",
            dependencies: ["Inference", "KernelInterface", "Kernels", "Phonemes", "TestSupport"]
        ),
        .testTarget(
            name: "EnrollmentTests",
            dependencies: [
                "Core", "Enrollment", "Inference", "Phonemes", "Spotting", "System", "TestSupport", "WakeWords",
            ]
        ),
        .testTarget(name: "DiagnosticsTests", dependencies: ["Audio", "Capture", "Diagnostics", "TestSupport"]),
        .testTarget(
            name: "BenchmarkingTests",
            dependencies: [
                "Benchmarking", "Core", "Inference", "JSON", "KernelInterface", "Kernels", "Spotting", "TestSupport",
            ]
        ),
        .testTarget(
            name: "ReportsTests",
            dependencies: [
                "Charts", "Core", "Diagnostics", "Evaluation", "Inference", "Phonemes", "Reports", "Spotting",
                "TestSupport",
            ]
        ),
        .testTarget(name: "BeckonTests", dependencies: ["Beckon", "TestSupport", "beckon", "spot"]),
        .testTarget(
            name: "CInterfaceTests",
            dependencies: ["Beckon", "TestSupport", "beckon"],
            exclude: ["check.c", "fork.c"]
        ),
        .testTarget(name: "ChartsTests", dependencies: ["Charts", "CZlib", "TestSupport"]),
        .testTarget(
            name: "WakeWordsTests",
            dependencies: ["KernelInterface", "Kernels", "TestSupport", "WakeWords"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "SpottingTests",
            dependencies: ["Audio", "Core", "Inference", "Phonemes", "Spotting", "TestSupport", "WakeWords"]
        ),
        .testTarget(
            name: "EvaluationTests",
            dependencies: ["Core", "Evaluation", "Inference", "JSON", "Spotting", "TestSupport"]
        ),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "Configuration", "Core", "Inference", "JSON", "Network", "Spotting", "System", "TestSupport",
            ]
        ),
        .testTarget(
            name: "ActionsTests",
            dependencies: [
                "Actions", "Audio", "Configuration", "Core", "Events", "JSON", "Network", "Playback", "Spotting",
                "System", "TestSupport",
            ]
        ),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "Actions", "Configuration", "Control", "Core", "Events", "JSON", "Network", "Spotting", "System",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "WyomingTests",
            dependencies: [
                "Audio", "Configuration", "Core", "Events", "Inference", "IntegrationInterface", "JSON", "Network",
                "Playback", "Spotting", "System", "TestSupport", "Wyoming",
            ]
        ),
        .testTarget(
            name: "ESPHomeTests",
            dependencies: [
                "Control", "Core", "ESPHome", "Events", "Network", "System", "TestSupport", "WakeWords",
            ]
        ),
        .testTarget(name: "MetricsTests", dependencies: ["JSON", "Metrics"]),
        .testTarget(
            name: "WebTests",
            dependencies: [
                "Actions",
                "Audio", "Configuration", "Control", "Core", "Events", "Inference", "IntegrationInterface", "JSON",
                "Metrics",
                "Network", "Spotting", "System", "TestSupport", "Web",
            ]
        ),
        .testTarget(
            name: "MQTTTests",
            dependencies: [
                "Audio", "Configuration", "Control", "Core", "DeviceGroup", "Events", "IntegrationInterface", "JSON",
                "MQTT", "Metrics",
                "Network",
                "Spotting",
                "System",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "DeviceGroupTests",
            dependencies: [
                "Configuration", "Core", "DeviceGroup", "Events", "JSON", "Network", "Spotting", "System",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "LiveTeachingTests",
            dependencies: [
                "Audio", "Control", "Core", "Enrollment", "Inference", "LiveTeaching", "System", "TestSupport",
            ]
        ),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "Actions", "Audio", "Capture", "Configuration", "Control", "Core", "Daemon", "Enrollment", "Events",
                "Inference", "Input", "IntegrationInterface", "JSON", "Metrics", "Network", "Spotting", "System",
                "TestSupport", "WakeWords",
            ]
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "Audio", "Benchmarking", "Capture", "CommandLineTool", "Configuration", "Control", "Core", "CSndFile",
                "Enrollment", "Events",
                "Inference", "Input", "IntegrationInterface", "JSON", "KernelInterface", "Kernels",
                "Network", "Spotting", "System", "TestSupport", "beckon", "write-start-time",
            ],
            exclude: ["Snapshots"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

package.targets += wideKernels

for (floor, rooms) in floors {
    for target in package.targets where rooms.contains(target.name) {
        target.path = "Sources/\(floor)/\(target.name)"
    }
}

// Tests that are emulated or sanitized take long to build: only those named, and what they need; of `AudioTests/RingTests.swift` only
// this file.
if let named = Context.environment["BECKON_TESTS"] {
    let paths = named.split(separator: ",").map { $0.split(separator: "/").map(String.init) }
    for path in paths where path.count == 2 {
        let target = package.targets.first { $0.name == path[0] }
        target?.sources = (target?.sources ?? []) + [path[1]]
    }
    var (needed, rest) = (Set<String>(), paths.compactMap(\.first) + ["FakeCard", "FakeSystem"])
    while let name = rest.popLast() {
        guard needed.insert(name).inserted else { continue }
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            if case .byNameItem(let other, _) = dependency { rest.append(other) }
        }
    }
    // Tests of other things have the baseline's kernels only: the others are the same code, and take longer to compile.
    if !needed.contains("KernelTests") {
        let wide = Set(wideKernels.map(\.name))
        needed.subtract(wide)
        package.targets.first { $0.name == "Kernels" }?.dependencies.removeAll {
            if case .byNameItem(let name, _) = $0 { wide.contains(name) } else { false }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { !needed.contains($0.name) }
}

// Fuzz targets need instrumented modules, so `make fuzz` builds them into a folder of their own.
if Context.environment["BECKON_FUZZ"] != nil {
    let modules = [
        "Actions", "Audio", "Configuration", "Control", "Core", "Corpus", "DeviceGroup", "ESPHome", "Enrollment",
        "Evaluation",
        "Inference",
        "IntegrationInterface", "JSON", "KernelInterface", "Kernels", "MQTT", "Metrics", "Network",
        "Phonemes", "Playback",
        "Spotting", "System", "WakeWords", "Web", "Wyoming",
    ]
    package.targets.append(
        .executableTarget(name: "fuzz", dependencies: modules.map { .byName(name: $0) }, path: "Fuzz/Targets")
    )
}

let houseSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + houseSettings
}

// Without debug information compiling takes a twelfth less processor time, and the program is a twelfth smaller. A failed test tells its line
// without, a fuzz target's crash does not. For the frontend, because SwiftPM gives the driver `-g` after these options.
func withoutDebugInformation(_ condition: BuildSettingCondition? = nil) -> SwiftSetting {
    .unsafeFlags(["-Xfrontend", lineTables ?? "-gnone"], condition)
}

// Packages have the names and lines of functions, which debian/rules puts into a package of debug symbols.
let lineTables = Context.environment["BECKON_LINE_TABLES"].map { _ in "-gline-tables-only" }

/// Rooms whose code runs once a command, an event or a change of the settings, not for each hop of each stream.
let smallRooms: Set<String> = [
    "Actions", "Benchmarking", "Charts", "Configuration", "Control", "Core", "Corpus", "Daemon", "DeviceGroup",
    "Diagnostics", "ESPHome", "Evaluation", "Events", "IntegrationInterface", "LiveTeaching", "MQTT", "Metrics",
    "Network", "Playback", "Reports", "System", "Web", "Wyoming",
]

/// Without the names of members, which only `Mirror` and the default text of a value read: where a user may see it, `"\(value)"` is of a type
/// with a description.
let withoutReflection: SwiftSetting = .unsafeFlags(
    ["-Xfrontend", "-disable-reflection-metadata"],
    .when(configuration: .release)
)
/// Where that would leave out a type that another room's code needs, and the linker misses it: `PartDecoder`.
let reflectedRooms: Set<String> = ["Audio"]

/// Tests that work most themselves: they make and measure minutes of audio. Optimising them saves more time than it takes.
let busyTests: Set<String> = ["AudioTests", "KernelTests"]

// Whole modules take less processor time than their files one by one. The largest room of tests, which is compiled last, is quicker by files,
// on all processors.
for target in package.targets where target.type != .system {
    let isOwn = target.path?.hasPrefix("Sources/") == true || target.name == "TestSupport"
    if smallRooms.contains(target.name) { target.swiftSettings? += smallSettings }
    // Each function in a section of its own, so that the linker drops those that nothing calls, public ones too.
    if target.type != .test {
        let sections: SwiftSetting = .unsafeFlags(
            ["-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link"],
            .when(configuration: .release)
        )
        target.swiftSettings?.append(sections)
        if !reflectedRooms.contains(target.name) { target.swiftSettings?.append(withoutReflection) }
    }
    if target.type == .test {
        target.swiftSettings?.append(withoutDebugInformation())
        if busyTests.contains(target.name) { target.swiftSettings?.append(.unsafeFlags(["-O"])) }
    } else if Context.environment["BECKON_FUZZ"] == nil {
        target.swiftSettings?.append(withoutDebugInformation(.when(configuration: .release)))
    }
    let isRoomOfTests = target.type == .test && target.name != "CommandLineTests"
    guard isRoomOfTests || target.type == .regular && isOwn else { continue }
    target.swiftSettings?.append(.unsafeFlags(["-wmo", "-num-threads", "2"], .when(configuration: .debug)))
}
