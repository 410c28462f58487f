private import CZlib
private import Core

/// An image of numbers, one pixel each: dark blue for low, green, yellow for high, transparent for NaN.
public struct Raster: Sendable, Equatable {
    public let width: Int
    public let height: Int
    /// Palette indices, `[height × width]`, the top row first; 0 is transparent.
    let pixels: [UInt8]

    /// - Parameters:
    ///   - values: `[height × width]`, the top row first; missing ones count as NaN.
    ///   - low: the darkest value; lower ones are clamped.
    ///   - high: the brightest value; higher ones are clamped.
    public init(width: Int, height: Int, values: [Float], low: Float, high: Float) {
        self.width = max(1, width)
        self.height = max(1, height)
        let range = high > low ? high - low : 1
        var pixels = [UInt8](repeating: 0, count: self.width * self.height)
        for (index, value) in values.prefix(pixels.count).enumerated() where !value.isNaN {
            pixels[index] = UInt8(1 + 254 * min(max((value - low) / range, 0), 1))
        }
        self.pixels = pixels
    }

    /// The PNG as a `data:` URL; nil where there is no memory to compress it.
    var dataAddress: String? {
        png.map { "data:image/png;base64," + base64($0) }
    }

    /// The image as a PNG file with a palette (ISO/IEC 15948).
    var png: [UInt8]? {
        var lines: [UInt8] = []
        lines.reserveCapacity((width + 1) * height)
        for row in 0..<height {
            // Each line begins with its filter type: 0, none.
            lines.append(0)
            lines += pixels[row * width..<(row + 1) * width]
        }
        var size = compressBound(uLong(lines.count))
        var compressed = [UInt8](repeating: 0, count: Int(size))
        guard compress2(&compressed, &size, lines, uLong(lines.count), 9) == Z_OK else { return nil }
        // 8 bits a pixel, colour type 3: palette.
        let header = Raster.bigEndian(width) + Raster.bigEndian(height) + [8, 3, 0, 0, 0]
        let chunks = [
            Raster.chunk("IHDR", header), Raster.chunk("PLTE", Raster.palette), Raster.chunk("tRNS", [0]),
            Raster.chunk("IDAT", Array(compressed.prefix(Int(size)))), Raster.chunk("IEND", []),
        ]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunks.joined()
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bigEndian(data.count) + body + bigEndian(Int(crc32(0, body, uInt(body.count))))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Ten colours of the perceptually uniform colour map "viridis" (Smith and van der Walt, CC0).
    private static let colours: [(Double, Double, Double)] = [
        (68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142), (31, 158, 137), (53, 183, 121),
        (109, 205, 89), (180, 222, 44), (253, 231, 37),
    ]

    /// Colour 0, which is transparent, then 255 colours from low to high.
    static let palette: [UInt8] =
        [0, 0, 0]
        + (0..<255).flatMap { step -> [UInt8] in
            let place = Double(step) / 254 * Double(colours.count - 1)
            let index = min(Int(place), colours.count - 2)
            let part = place - Double(index)
            let (a, b) = (colours[index], colours[index + 1])
            return [(a.0, b.0), (a.1, b.1), (a.2, b.2)].map { UInt8(($0 + part * ($1 - $0)).rounded()) }
        }
}
