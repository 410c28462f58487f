/// Mixes interleaved audio to one channel as a ``ChannelMix`` says, and keeps faulty channels from spoiling the mean of several.
///
/// A channel that is the opposite of the others, as a microphone is that is wired the wrong way round, would take their sound away: its
/// sign is turned. A dead one would make them fainter: it is left out. Both are told by energies, and by the correlation at lag 0 of each
/// channel with the sum of the others, over about the last 24,000 frames with sound. Audio is measured before it is mixed, so that the first part
/// is mixed right already. Without a fault the result is the mean, bit for bit. Nothing allocates after `init`.
public struct ChannelMixer: Sendable {
    /// A channel whose sound is so many decibels below that of the loudest one is dead.
    public static let deadDecibels = 30.0

    /// Most frames that are measured together before they are mixed, and least.
    private static let most = 2048, least = 256
    /// Mean square of the loudest channel below which nothing is measured: −80 dBFS.
    private static let silence: Float = 1e-8
    /// Frames with sound that the sums remember.
    private static let memory = 24_000.0
    /// Frames with sound before a channel is turned, and those after which the limits below hold. Between them they grow from `early`.
    private static let soonest = 1024.0, settled = 12_000.0
    /// Correlations with the others up to which a channel is turned: within the first moments, later, and if it was turned before.
    private static let early = -0.98, opposite = -0.7, restored = -0.25
    /// Shares of the loudest channel's energy below which a channel is silent, and above which it is alive.
    private static let dead: Float = 1e-3, alive: Float = 1e-2
    /// Frames with sound in other channels after which a silent one is dead.
    private static let patience = 64_000
    /// Frames in which weights change.
    private static let fade = 1024

    private struct Member {
        let channel: Int
        /// −1 where it is turned.
        var sign: Float = 1
        var isDead = false
        /// Frames with sound elsewhere in which it was silent.
        var silent = 0
        /// What it is multiplied with: at the beginning of a change, and after it.
        var weight: Float
        var target: Float
        /// Energy without the offset, and the product with the sum of all; 0 at the beginning, and after a change.
        var energy = 0.0
        var cross = 0.0
        /// The first of the samples that were not measured yet. The sums are of samples less this one: else an offset without sound leaves
        /// squares of more than silence, by rounding.
        var origin: Float = 0
        /// Sums of these samples, their squares, and their products with the sum of all.
        var sum: Float = 0
        var squares: Float = 0
        var products: Float = 0

        var gain: Float { isDead ? 0 : sign }
    }

    public let mix: ChannelMix
    public let channels: Int
    /// The channels that are mixed; empty where the audio lacks one of them.
    private var members: [Member] = []
    /// Energy of the sum of all without the offset, and the frames with sound.
    private var energy = 0.0
    private var heard = 0.0
    /// The same first value and sums of the sum of all, and their number of frames.
    private var (origin, sum, squares, gathered): (Float, Float, Float, Int) = (0, 0, 0, 0)
    /// Whether there was sound in what was mixed.
    private var hasHeard = false
    /// Frames until the weights are the targets.
    private var fading = 0
    /// What is corrected now.
    public private(set) var faults = ChannelFaults()

    /// - Parameter channels: of the audio, 1 or more.
    public init(_ mix: ChannelMix, channels: Int) {
        (self.mix, self.channels) = (mix, channels)
        guard mix.highest.map({ (0..<channels).contains($0) }) ?? true else { return }
        let used = (0..<channels).filter(mix.contains)
        members = used.map { Member(channel: $0, weight: 1 / Float(used.count), target: 1 / Float(used.count)) }
    }

    /// Writes one mono sample for each frame.
    ///
    /// - Parameters:
    ///   - interleaved: `[frames × channels]` samples, which follow those of the last call.
    ///   - mono: gets one sample per frame, as many as fit; silence, where ``ChannelMix/check(channels:of:)`` would throw.
    /// - Returns: the number of frames written.
    @discardableResult
    @_lifetime(mono: copy mono)
    public mutating func mix(_ interleaved: Span<Float>, into mono: inout MutableSpan<Float>) -> Int {
        interleaved.withUnsafeBufferPointer { source in
            mono.withUnsafeMutableBufferPointer { target in mix(source, into: target) }
        }
    }

    mutating func mix(_ source: UnsafeBufferPointer<Float>, into target: UnsafeMutableBufferPointer<Float>) -> Int {
        guard members.count > 1 else {
            return Self.pick(members.isEmpty ? nil : members[0].channel, source, channels, target)
        }
        let frames = min(source.count / channels, target.count)
        var start = 0
        while start < frames {
            let end = min(start + Self.most, frames)
            mixPart(
                UnsafeBufferPointer(rebasing: source[start * channels..<end * channels]),
                into: UnsafeMutableBufferPointer(rebasing: target[start..<end])
            )
            start = end
        }
        return frames
    }

    /// Writes one of the channels alone.
    ///
    /// - Returns: the number of frames written, as many as fit.
    @discardableResult
    @_lifetime(mono: copy mono)
    public static func pick(
        _ channel: Int,
        of interleaved: Span<Float>,
        channels: Int,
        into mono: inout MutableSpan<Float>
    ) -> Int {
        interleaved.withUnsafeBufferPointer { source in
            mono.withUnsafeMutableBufferPointer { target in pick(channel, source, channels, target) }
        }
    }

    private static func pick(
        _ channel: Int?,
        _ source: UnsafeBufferPointer<Float>,
        _ channels: Int,
        _ target: UnsafeMutableBufferPointer<Float>
    ) -> Int {
        guard channels > 0 else { return 0 }
        let frames = min(source.count / channels, target.count)
        if let channel, (0..<channels).contains(channel) {
            for frame in 0..<frames { target[frame] = source[frame * channels + channel] }
        } else {
            for frame in 0..<frames { target[frame] = 0 }
        }
        return frames
    }

    private mutating func mixPart(
        _ source: UnsafeBufferPointer<Float>,
        into target: UnsafeMutableBufferPointer<Float>
    ) {
        add(source, into: target)
        measure(source, target)
        if gathered >= Self.least, decide() { add(source, into: target) }
        if fading > 0 {
            mixFading(source, into: target)
        } else {
            let scale = 1 / Float(alive)
            for frame in target.indices { target[frame] *= scale }
        }
    }

    /// Channels that are not dead.
    private var alive: Int {
        // Loops by index: generic algorithms may allocate where they are not specialised.
        var count = 0
        for index in members.indices where !members[index].isDead { count += 1 }
        return count
    }

    /// The sum of the channels, turned where they are opposite, without dead ones.
    private func add(_ source: UnsafeBufferPointer<Float>, into target: UnsafeMutableBufferPointer<Float>) {
        for frame in target.indices { target[frame] = 0 }
        for index in members.indices where !members[index].isDead {
            let sign = members[index].sign
            var place = members[index].channel
            for frame in target.indices {
                target[frame] += sign * source[place]
                place += channels
            }
        }
    }

    private mutating func mixFading(
        _ source: UnsafeBufferPointer<Float>,
        into target: UnsafeMutableBufferPointer<Float>
    ) {
        for frame in target.indices { target[frame] = 0 }
        for index in members.indices {
            var (place, left) = (members[index].channel, fading)
            let (end, change) = (members[index].target, members[index].weight - members[index].target)
            for frame in target.indices {
                target[frame] += (end + change * Float(left) / Float(Self.fade)) * source[place]
                place += channels
                left = max(0, left - 1)
            }
        }
        fading = max(0, fading - target.count)
        if fading == 0 { for index in members.indices { members[index].weight = members[index].target } }
    }

    /// Adds a part to the sums; `total` is the sum of all.
    private mutating func measure(_ source: UnsafeBufferPointer<Float>, _ total: UnsafeMutableBufferPointer<Float>) {
        guard !total.isEmpty else { return }
        if gathered == 0 {
            origin = total[0]
            for index in members.indices { members[index].origin = source[members[index].channel] }
        }
        for frame in total.indices {
            let whole = total[frame] - origin
            sum += whole
            squares += whole * whole
        }
        for index in members.indices {
            let (own, origin) = (members[index].origin, self.origin)
            var place = members[index].channel
            var (sum, squares, products): (Float, Float, Float) = (0, 0, 0)
            for frame in total.indices {
                let sample = source[place] - own
                sum += sample
                squares += sample * sample
                products += sample * (total[frame] - origin)
                place += channels
            }
            members[index].sum += sum
            members[index].squares += squares
            members[index].products += products
        }
        gathered += total.count
    }

    /// Takes the sums as a part of the past, and changes weights.
    ///
    /// - Returns: whether they changed.
    private mutating func decide() -> Bool {
        defer { clearSums() }
        let frames = Float(gathered)
        var loudest: Float = 0
        for index in members.indices {
            let (sum, products) = (members[index].sum, members[index].products)
            members[index].squares -= sum * sum / frames
            members[index].products = products - sum * self.sum / frames
            loudest = max(loudest, members[index].squares)
        }
        guard loudest >= Self.silence * frames, loudest.isFinite, squares.isFinite else { return false }
        let isFirst = !hasHeard
        hasHeard = true
        var hasChanged = findDead(loudest)
        let past = max(0, 1 - Double(gathered) / Self.memory)
        heard = past * heard + Double(gathered)
        energy = past * energy + Double(squares - sum * sum / frames)
        for index in members.indices {
            members[index].energy = past * members[index].energy + Double(members[index].squares)
            members[index].cross = past * members[index].cross + Double(members[index].products)
        }
        if let index = mostOpposite {
            members[index].sign *= -1
            hasChanged = true
        }
        guard hasChanged else { return false }
        beginChange(atOnce: isFirst)
        return true
    }

    private mutating func clearSums() {
        (sum, squares, gathered) = (0, 0, 0)
        for index in members.indices {
            (members[index].sum, members[index].squares, members[index].products) = (0, 0, 0)
        }
    }

    /// Finds channels that are dead from now on, or not any more.
    private mutating func findDead(_ loudest: Float) -> Bool {
        var hasChanged = false
        for index in members.indices {
            if members[index].squares < Self.dead * loudest {
                members[index].silent = min(Self.patience, members[index].silent + gathered)
            } else if members[index].squares > Self.alive * loudest {
                members[index].silent = 0
            }
            let isDead = members[index].isDead ? members[index].silent > 0 : members[index].silent >= Self.patience
            if isDead != members[index].isDead { hasChanged = true }
            members[index].isDead = isDead
        }
        return hasChanged
    }

    /// The channel that is to be turned; nil for none. Of two that are opposite, it is the last one.
    private var mostOpposite: Int? {
        guard heard >= Self.soonest else { return nil }
        var (found, most): (Int?, Double) = (nil, 0)
        for index in members.indices where !members[index].isDead && members[index].energy > 0 {
            let member = members[index]
            // The sum of the others is that of all without this one.
            let own = Double(member.sign) * member.cross
            let others = energy - 2 * own + member.energy
            // A channel that is hardly heard changes nothing.
            guard min(others, member.energy) > Double(Self.dead) * max(others, member.energy) else { continue }
            let correlation = (own - member.energy) / (others * member.energy).squareRoot()
            let limit = member.sign < 0 ? Self.restored : Self.opposite
            let allowed = Self.early + (limit - Self.early) * min(1, heard / Self.settled)
            let excess = allowed - correlation
            if excess > max(0, most - 1e-3) { (found, most) = (index, excess) }
        }
        return found
    }

    /// Begins to change the weights, and forgets sums that were made with others.
    private mutating func beginChange(atOnce: Bool) {
        let part = Float(fading) / Float(Self.fade)
        faults = ChannelFaults()
        for index in members.indices {
            let member = members[index]
            let now = member.target + (member.weight - member.target) * part
            let target = member.gain / Float(alive)
            members[index].target = target
            // One that was dead had no sound that could be cut.
            members[index].weight = atOnce || member.target == 0 ? target : now
            (members[index].energy, members[index].cross) = (0, 0)
            if member.isDead { faults.leaveOut(member.channel) } else if member.sign < 0 { faults.turn(member.channel) }
        }
        (energy, heard) = (0, 0)
        fading = atOnce ? 0 : Self.fade
    }
}
