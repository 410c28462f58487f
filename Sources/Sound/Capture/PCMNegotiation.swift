import Audio
import CALSA
import Glibc

extension PCM {
    /// Sample formats in the order of preference.
    ///
    /// 16 bits are enough for speech, and a loopback's player most likely writes them; the others follow by their cost.
    static let formats: [(sample: SampleLayout, alsa: snd_pcm_format_t)] = [
        (.s16, SND_PCM_FORMAT_S16_LE), (.s32, SND_PCM_FORMAT_S32_LE), (.f32, SND_PCM_FORMAT_FLOAT_LE),
        (.s24le32, SND_PCM_FORMAT_S24_LE), (.s24, SND_PCM_FORMAT_S24_3LE),
    ]

    /// Sets the format of a device, and that a loudspeaker does not start by itself.
    package static func negotiate(
        _ handle: OpaquePointer,
        _ name: String,
        _ wanted: Wanted
    ) throws(CaptureError) -> StreamFormat {
        func check(_ call: String, _ result: Int32) throws(CaptureError) {
            if result < 0 { throw .device(name, "snd_pcm_hw_params\(call)", result, snd_pcm_stream(handle)) }
        }
        var room: OpaquePointer?
        try check("_malloc", snd_pcm_hw_params_malloc(&room))
        guard let hardware = room else { throw .device(name, "snd_pcm_hw_params_malloc", -ENOMEM) }
        defer { snd_pcm_hw_params_free(hardware) }
        try check("_any", snd_pcm_hw_params_any(handle, hardware))
        try check("_set_rate_resample", snd_pcm_hw_params_set_rate_resample(handle, hardware, 0))
        guard snd_pcm_hw_params_set_access(handle, hardware, SND_PCM_ACCESS_RW_INTERLEAVED) >= 0 else {
            throw .unsupported(name, "its channels are apart; use its plughw: name")
        }
        guard let choice = formats.first(where: { snd_pcm_hw_params_test_format(handle, hardware, $0.alsa) == 0 })
        else {
            throw .unsupported(name, "it has no 16, 24 or 32 bit format; use its plughw: name")
        }
        try check("_set_format", snd_pcm_hw_params_set_format(handle, hardware, choice.alsa))
        var channels = UInt32(wanted.channels)
        try check("_set_channels_near", snd_pcm_hw_params_set_channels_near(handle, hardware, &channels))
        var rate = UInt32(wanted.rate)
        try check("_set_rate_near", snd_pcm_hw_params_set_rate_near(handle, hardware, &rate, nil))
        var period = UInt(Int(rate) * wanted.periodMilliseconds / 1000)
        try check("_set_period_size_near", snd_pcm_hw_params_set_period_size_near(handle, hardware, &period, nil))
        var buffer = UInt(Int(rate) * wanted.bufferMilliseconds / 1000)
        try check("_set_buffer_size_near", snd_pcm_hw_params_set_buffer_size_near(handle, hardware, &buffer))
        try check("", snd_pcm_hw_params(handle, hardware))
        let format = StreamFormat(
            rate: Int(rate),
            channels: Int(channels),
            sample: choice.sample,
            period: Int(period),
            buffer: Int(buffer)
        )
        try setSoftware(handle, name, format)
        return format
    }

    private static func setSoftware(
        _ handle: OpaquePointer,
        _ name: String,
        _ format: StreamFormat
    ) throws(CaptureError) {
        func check(_ call: String, _ result: Int32) throws(CaptureError) {
            if result < 0 { throw .device(name, "snd_pcm_sw_params\(call)", result, snd_pcm_stream(handle)) }
        }
        var room: OpaquePointer?
        try check("_malloc", snd_pcm_sw_params_malloc(&room))
        guard let software = room else { throw .device(name, "snd_pcm_sw_params_malloc", -ENOMEM) }
        defer { snd_pcm_sw_params_free(software) }
        try check("_current", snd_pcm_sw_params_current(handle, software))
        try check("_set_avail_min", snd_pcm_sw_params_set_avail_min(handle, software, UInt(format.period)))
        if snd_pcm_stream(handle) == SND_PCM_STREAM_PLAYBACK {
            var boundary: UInt = 0
            try check("_get_boundary", snd_pcm_sw_params_get_boundary(software, &boundary))
            try check("_set_start_threshold", snd_pcm_sw_params_set_start_threshold(handle, software, boundary))
        }
        try check("", snd_pcm_sw_params(handle, software))
    }
}
