import FoundationEssentials

/// The JSON at the front of a safetensors file, and every check of what it claims.
struct SafeTensorsHeader {
    /// Longest header that is read; a model's is a few kilobytes.
    static let lengthLimit = 1 << 20

    private struct Claim: Decodable {
        var dtype: String
        var shape: [Int]
        var offsets: [Int]

        private enum CodingKeys: String, CodingKey {
            case dtype, shape
            case offsets = "data_offsets"
        }
    }

    /// A tensor's claim, or the file's free-form metadata, which nothing here uses.
    private enum Item: Decodable {
        case tensor(Claim)
        case metadata

        init(from decoder: any Decoder) throws {
            let isMetadata = decoder.codingPath.last?.stringValue == "__metadata__"
            self = isMetadata ? .metadata : .tensor(try Claim(from: decoder))
        }
    }

    private let file: String
    private let items: [String: Item]
    private let dataStart: Int
    private let dataCount: Int

    init(bytes: [UInt8], file: String) throws(ModelError) {
        self.file = file
        guard bytes.count >= 8 else {
            throw .weights.saying("\(file): \(bytes.count) bytes, too short for a safetensors file; copy it again")
        }
        var length: UInt64 = 0
        for index in 0..<8 { length |= UInt64(bytes[index]) << (8 * UInt64(index)) }
        guard length <= UInt64(SafeTensorsHeader.lengthLimit) else {
            throw .weights.saying(
                "\(file): header of \(length) bytes, more than \(SafeTensorsHeader.lengthLimit); not a safetensors file"
            )
        }
        dataStart = 8 + Int(length)
        guard dataStart <= bytes.count else {
            throw .weights.saying(
                "\(file): the header of \(length) bytes runs past the end at \(bytes.count); copy the file again"
            )
        }
        dataCount = bytes.count - dataStart
        do {
            items = try JSONDecoder().decode([String: Item].self, from: Data(bytes[8..<dataStart]))
        } catch {
            throw .weights.saying("\(file): header: \(explain(error)); copy the file again")
        }
    }

    /// The checked tensors: known types, sizes that match their offsets, and the data covered exactly once.
    ///
    /// That last rule also finds a tensor named twice: JSON keeps one of the two, and the other's bytes are left over.
    func entries() throws(ModelError) -> [String: SafeTensors.Entry] {
        var entries: [String: SafeTensors.Entry] = [:]
        for (name, item) in items {
            if case .tensor(let claim) = item { entries[name] = try entry(name, claim) }
        }
        var end = dataStart
        let inOrder = entries.sorted { a, b in
            (a.value.bytes.lowerBound, a.value.bytes.upperBound) < (b.value.bytes.lowerBound, b.value.bytes.upperBound)
        }
        for (name, entry) in inOrder {
            guard entry.bytes.lowerBound == end else {
                let what = entry.bytes.lowerBound < end ? "overlaps the tensor before it" : "leaves a gap before it"
                throw wrong(name, "\(what), at byte \(entry.bytes.lowerBound - dataStart) of the data")
            }
            end = entry.bytes.upperBound
        }
        guard end == dataStart + dataCount else {
            throw .weights.saying(
                "\(file): \(dataStart + dataCount - end) bytes at the end belong to no tensor; copy the file again"
            )
        }
        return entries
    }

    private func entry(_ name: String, _ claim: Claim) throws(ModelError) -> SafeTensors.Entry {
        guard let type = SafeTensors.ElementType(rawValue: claim.dtype) else {
            throw wrong(name, "type \(quoted(claim.dtype)), not F32, F16, U8 or I16")
        }
        guard claim.offsets.count == 2 else {
            throw wrong(name, "data_offsets holds \(claim.offsets.count) numbers, not two")
        }
        let begin = claim.offsets[0]
        let end = claim.offsets[1]
        guard begin >= 0, begin <= end, end <= dataCount else {
            throw wrong(name, "data_offsets \(begin)…\(end) lie outside the \(dataCount) bytes of data")
        }
        guard claim.shape.count <= 8 else { throw wrong(name, "\(claim.shape.count) dimensions, more than 8") }
        var count = 1
        for extent in claim.shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: extent)
            guard extent >= 0, !overflow else { throw wrong(name, "impossible shape \(claim.shape)") }
            count = product
        }
        let (size, overflow) = count.multipliedReportingOverflow(by: type.size)
        guard !overflow, size == end - begin else {
            throw wrong(name, "shape \(claim.shape) of \(claim.dtype) does not fill the \(end - begin) bytes it claims")
        }
        return SafeTensors.Entry(
            type: type,
            shape: claim.shape,
            count: count,
            bytes: (dataStart + begin)..<(dataStart + end)
        )
    }

    private func wrong(_ name: String, _ what: String) -> ModelError {
        .weights.saying("\(file): tensor \(quoted(name)): \(what); copy the file again")
    }
}
