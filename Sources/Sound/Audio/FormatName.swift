import CSndFile

/// Short names for libsndfile's format numbers: container, then encoding.
enum FormatName {
    static func name(of format: Int32) -> String {
        let container = Int(format) & SF_FORMAT_TYPEMASK
        let coding = Int(format) & SF_FORMAT_SUBMASK
        return "\(containers[container] ?? "audio") \(codings[coding] ?? "coded")"
    }

    /// Whether the file stores samples as integers, which cannot be NaN.
    static func isInteger(_ format: Int32) -> Bool {
        integers.contains(Int(format) & SF_FORMAT_SUBMASK)
    }

    /// What the file says that its samples are; nil for what leaves nothing to tell.
    static func declared(_ format: Int32) -> SampleReading.Declared? {
        switch Int(format) & SF_FORMAT_SUBMASK {
        case SF_FORMAT_FLOAT, SF_FORMAT_DOUBLE: .floats
        case SF_FORMAT_PCM_24, SF_FORMAT_ALAC_24: .integers(bits: 24)
        case SF_FORMAT_PCM_32, SF_FORMAT_ALAC_32: .integers(bits: 32)
        default: nil
        }
    }

    private static let containers: [Int: String] = [
        SF_FORMAT_WAV: "WAV", SF_FORMAT_WAVEX: "WAV", SF_FORMAT_RF64: "RF64", SF_FORMAT_W64: "W64",
        SF_FORMAT_AIFF: "AIFF", SF_FORMAT_AU: "AU", SF_FORMAT_CAF: "CAF", SF_FORMAT_FLAC: "FLAC",
        SF_FORMAT_OGG: "Ogg", SF_FORMAT_MPEG: "MPEG", SF_FORMAT_VOC: "VOC", SF_FORMAT_NIST: "NIST",
    ]

    private static let codings: [Int: String] = [
        SF_FORMAT_PCM_S8: "8-bit", SF_FORMAT_PCM_U8: "8-bit", SF_FORMAT_PCM_16: "16-bit",
        SF_FORMAT_PCM_24: "24-bit", SF_FORMAT_PCM_32: "32-bit", SF_FORMAT_FLOAT: "float",
        SF_FORMAT_DOUBLE: "double", SF_FORMAT_ULAW: "µ-law", SF_FORMAT_ALAW: "A-law",
        SF_FORMAT_VORBIS: "Vorbis", SF_FORMAT_OPUS: "Opus", SF_FORMAT_MPEG_LAYER_III: "layer III",
        SF_FORMAT_IMA_ADPCM: "IMA ADPCM", SF_FORMAT_MS_ADPCM: "MS ADPCM", SF_FORMAT_GSM610: "GSM",
    ]

    private static let integers: Set<Int> = [
        SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32,
        SF_FORMAT_ULAW, SF_FORMAT_ALAW,
    ]
}
