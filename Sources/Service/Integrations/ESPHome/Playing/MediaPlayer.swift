/// What Home Assistant's media player and the assistant let the speaker play: one has the answers' thread, music has its own, and is
/// silent while anything is said.
struct MediaPlayer {
    /// Numbers of sounds that are none of the assistant's.
    private static let firstOther = 1 << 40
    private static let volumeStep: Float = 0.05

    private let music: SoundPlayer?
    private let answers: SoundPlayer?
    /// 0…1.
    private(set) var volume: Float
    private var isMuted = false
    private var isPaused = false
    /// Whether the assistant needs silence.
    private var isHeld = false
    private var newest = firstOther
    private var musicID: Int?
    private var announcementID: Int?
    /// The newest sound of the assistant, and whether it is played.
    private var said: Int?

    init(_ music: SoundPlayer?, _ answers: SoundPlayer?, volume: Float) {
        (self.music, self.answers, self.volume) = (music, answers, volume)
        setGain()
    }

    /// What Home Assistant shows.
    var player: DeviceEntities.Player {
        let state: DeviceEntities.Player.State =
            if said != nil || announcementID != nil {
                .announcing
            } else if musicID != nil {
                isPaused ? .paused : .playing
            } else {
                .idle
            }
        return DeviceEntities.Player(state: state, volume: volume, isMuted: isMuted)
    }

    mutating func execute(_ command: MediaCommand) {
        if let volume = command.volume { set(volume: volume) }
        switch command.action {
        case .play: isPaused = false
        case .pause: isPaused = musicID != nil
        case .toggle: isPaused = musicID != nil && !isPaused
        case .stop: stop()
        case .mute: isMuted = true
        case .unmute: isMuted = false
        case .volumeUp: set(volume: volume + Self.volumeStep)
        case .volumeDown: set(volume: volume - Self.volumeStep)
        case nil: break
        }
        if let address = command.media, !address.isEmpty { play(address, isAnnouncement: command.isAnnouncement) }
        setGain()
        applyHold()
    }

    private mutating func set(volume: Float) { self.volume = min(max(volume, 0), 1) }

    private func setGain() {
        for player in [music, answers] { player?.setGain(isMuted ? 0 : volume) }
    }

    private mutating func play(_ address: String, isAnnouncement: Bool) {
        newest += 1
        if isAnnouncement {
            if answers?.play(newest, [.address(address)]) == true { announcementID = newest }
        } else {
            stopMusic()
            isPaused = false
            if music?.play(newest, [.address(address)]) == true { musicID = newest }
        }
    }

    private mutating func stop() {
        stopMusic()
        _ = stopAnnouncement()
    }

    private mutating func stopMusic() {
        if let musicID { music?.stop(musicID) }
        musicID = nil
    }

    /// Ends what Home Assistant's media player says into music. Returns whether there was anything.
    mutating func stopAnnouncement() -> Bool {
        guard let id = announcementID.take() else { return false }
        answers?.stop(id)
        return true
    }

    // MARK: - Of the assistant

    /// Returns false where it cannot be played.
    mutating func say(_ id: Int, _ sources: [SoundPlayer.Source]) -> Bool {
        guard answers?.play(id, sources) == true else { return false }
        said = id
        applyHold()
        return true
    }

    mutating func stopSaying(_ id: Int) {
        answers?.stop(id)
        if said == id { said = nil }
        applyHold()
    }

    /// A short sound, after what is said.
    mutating func chime(_ chime: Chime) {
        newest += 1
        _ = answers?.play(newest, [.chime(chime)])
    }

    /// Whether music has to be silent.
    mutating func hold(_ isHeld: Bool) {
        self.isHeld = isHeld
        applyHold()
    }

    private func applyHold() { music?.hold(isHeld || isPaused || said != nil || announcementID != nil) }

    /// Returns whether the sound was none of the assistant's.
    mutating func announcementEnded(_ end: SoundPlayer.End) -> Bool {
        if said == end.id { said = nil }
        if announcementID == end.id { announcementID = nil }
        applyHold()
        return end.id > Self.firstOther
    }

    /// Returns what the log should say.
    mutating func musicEnded(_ end: SoundPlayer.End) -> String? {
        if musicID == end.id { (musicID, isPaused) = (nil, false) }
        applyHold()
        return end.problem
    }
}
