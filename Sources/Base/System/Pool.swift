import Synchronization

/// Objects that threads borrow for the length of a call, such as scratch memory: as many as calls that run at the same time, however many
/// streams make them.
///
/// ``with(make:_:)`` neither waits nor locks. It allocates only where more calls run at the same time than objects were made.
public final class Pool<Element: AnyObject & Sendable>: Sendable {
    /// Objects that are kept; further calls at the same time make their own.
    private static var most: Int { UInt64.bitWidth }
    /// Objects that ``reserve(make:)`` makes: for a detector's thread, and for another one beside it, such as a server's.
    private static var reserved: Int { 2 }

    /// A set bit for each place whose object nobody has.
    private let free = Atomic<UInt64>(0)
    /// Places that have an object, or will have one at once.
    private let made = Atomic<Int>(0)
    private let places: Places

    public init() { places = Places() }

    /// Makes an object for one more thread that must not allocate in a call; two such threads are provided for.
    public func reserve(make: () -> Element) {
        guard made.load(ordering: .relaxed) < Self.reserved, let place = newPlace() else { return }
        places[place] = make()
        giveBack(place)
    }

    /// Calls the body with an object that no other call has meanwhile.
    public func with<Result>(make: () -> Element, _ body: (Element) -> Result) -> Result {
        if let place = takePlace() {
            defer { giveBack(place) }
            if let element = places[place] { return body(element) }
        }
        let element = make()
        guard let place = newPlace() else { return body(element) }
        places[place] = element
        defer { giveBack(place) }
        return body(element)
    }

    /// A place whose object the caller has from now on; nil if none is free.
    private func takePlace() -> Int? {
        var mask = free.load(ordering: .relaxed)
        while mask != 0 {
            let bit = mask & (~mask + 1)
            let (isTaken, now) = free.weakCompareExchange(
                expected: mask,
                desired: mask & ~bit,
                successOrdering: .acquiring,
                failureOrdering: .relaxed
            )
            if isTaken { return bit.trailingZeroBitCount }
            mask = now
        }
        return nil
    }

    private func giveBack(_ place: Int) { free.bitwiseOr(1 << UInt64(place), ordering: .releasing) }

    /// A place without an object; nil if all have one.
    private func newPlace() -> Int? {
        var count = made.load(ordering: .relaxed)
        while count < Self.most {
            let (isTaken, now) = made.weakCompareExchange(expected: count, desired: count + 1, ordering: .relaxed)
            if isTaken { return count }
            count = now
        }
        return nil
    }

    /// One place for each bit. Sendable is unchecked because of the raw memory: a place belongs to whoever took its bit.
    private final class Places: @unchecked Sendable {
        private let elements: UnsafeMutablePointer<Element?>

        init() {
            elements = .allocate(capacity: Pool.most)
            elements.initialize(repeating: nil, count: Pool.most)
        }

        deinit {
            elements.deinitialize(count: Pool.most)
            elements.deallocate()
        }

        subscript(place: Int) -> Element? {
            get { elements[place] }
            set { elements[place] = newValue }
        }
    }
}
