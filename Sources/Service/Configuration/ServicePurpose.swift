extension Configuration {
    /// Whether the service does more with what it hears than to print it: actions other than `print`, integrations, or files that it
    /// keeps. Such a service goes on where nobody reads its standard output any more.
    public var doesMoreThanPrint: Bool {
        let all = actions + words.values.flatMap { $0.actions ?? [] } + phrases.flatMap { $0.actions ?? [] }
        let acts = all.contains { action in
            if case .print = action.effect { false } else { true }
        }
        let listens =
            !wyoming.listen.isEmpty || !wyoming.satellite.isEmpty || !esphome.listen.isEmpty || !web.listen.isEmpty
        let keeps = clips.dir != nil || misses.dir != nil || metrics.file != nil
        return acts || listens || keeps || mqtt.host != nil || group.name != nil
    }
}
