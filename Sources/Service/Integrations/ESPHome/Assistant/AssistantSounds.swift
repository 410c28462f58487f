import Configuration

extension Configuration.ESPHome {
    /// The audio file of a sound; nil where the configuration names none.
    func file(of sound: Assistant.Sound) -> String? {
        switch sound {
        case .heard: heardSound
        case .done: doneSound
        case .failure, .lost: errorSound
        }
    }
}
