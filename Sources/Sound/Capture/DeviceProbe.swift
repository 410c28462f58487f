private import Audio
import CALSA
import Glibc
import System

extension Device.Abilities {
    private static let commonRates = [
        8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000,
    ]

    /// Opens a device, without starting it, and queries its abilities.
    ///
    /// - Throws: ``CaptureError/device``; for a device in use its number is `EBUSY`.
    init(of name: String) throws(CaptureError) {
        let handle = try PCM.openHandle(name)
        defer { snd_pcm_close(handle) }
        var room: OpaquePointer?
        guard snd_pcm_hw_params_malloc(&room) >= 0, let hardware = room else {
            throw .device(name, "snd_pcm_hw_params_malloc", -ENOMEM)
        }
        defer { snd_pcm_hw_params_free(hardware) }
        let result = snd_pcm_hw_params_any(handle, hardware)
        guard result >= 0 else { throw .device(name, "snd_pcm_hw_params_any", result) }
        _ = snd_pcm_hw_params_set_rate_resample(handle, hardware, 0)
        var (fewest, most): (UInt32, UInt32) = (1, 1)
        _ = snd_pcm_hw_params_get_channels_min(hardware, &fewest)
        _ = snd_pcm_hw_params_get_channels_max(hardware, &most)
        rates = Device.Abilities.commonRates.filter {
            snd_pcm_hw_params_test_rate(handle, hardware, UInt32($0), 0) == 0
        }
        // ALSA's plug-ins report up to ten thousand channels.
        channels = Int(min(fewest, most))...Int(most)
        formats = PCM.formats.filter { snd_pcm_hw_params_test_format(handle, hardware, $0.alsa) == 0 }
            .map(\.sample.alsaName)
    }
}

extension Device.Condition {
    /// Opens a device by its name, without starting it, to find its condition.
    init(of name: String, holder: () -> Device.Holder?) {
        do throws(CaptureError) {
            self = .free(try Device.Abilities(of: name))
        } catch {
            self = error.number == EBUSY ? .busy(holder()) : .failed(SystemError.text(error.number))
        }
    }
}
