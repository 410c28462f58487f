import Core
import Network

extension ClientConnection where Talk == APIConversation {
    /// One that has said nothing yet keeps its place so long.
    private static var leastTime: Duration { .milliseconds(200) }

    /// The place that it has among all.
    func holder(isOwner: Bool, at now: Instant) -> Places.Holder {
        let isNew = !hasSpoken && now - start < Self.leastTime
        var holder = holder(at: now, isKept: isOwner || isNew)
        if !isOwner, !conversation.wantsStates { holder.isSilent = true }
        return holder
    }

    /// Asks one that is silent whether it is there, and closes one that has taken too long.
    ///
    /// - Parameter interval: how often this is called.
    func check(_ settings: ESPHomeSatellite.Settings, interval: Duration, at now: Instant) {
        if conversation.isLeaving { finish(.gone) }
        let silence = now - lastInput
        if silence >= settings.pingInterval, silence < settings.pingInterval + interval, conversation.hasIntroduced,
            conversation.output.isEmpty
        {
            conversation.send(.ping)
        }
        check(at: now, settings.limits, isFull: false)
    }
}
