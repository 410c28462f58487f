import CZlib
import Foundation
import TestSupport
import Testing

@testable import Charts

/// The PNG is decoded by its specification: signature, chunks with their checksums, and zlib's own inflate.
struct RasterTests {
    @Test func `a PNG comes back as it was put in`() throws {
        let values: [Float] = [0, 1, .nan, -5, 9, 0.5]
        let raster = Raster(width: 3, height: 2, values: values, low: 0, high: 1)
        #expect(raster.pixels == [1, 255, 0, 1, 255, 128])
        let decoded = try Decoded(png: #require(raster.png))
        #expect(decoded.width == 3 && decoded.height == 2)
        #expect(decoded.types == ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"])
        #expect(decoded.pixels == raster.pixels)
    }

    @Test func `thousands of columns`() throws {
        var values = [Float](repeating: 0, count: 24_000 * 40)
        for index in values.indices { values[index] = Float(index % 1013) }
        let raster = Raster(width: 24_000, height: 40, values: values, low: 0, high: 1012)
        #expect(try Decoded(png: #require(raster.png)).pixels == raster.pixels)
    }

    @Test func `sizes that make no sense, and values that are missing`() throws {
        #expect(Raster(width: 2, height: 1, values: [3], low: 3, high: 3).pixels == [1, 0])
        let empty = Raster(width: 0, height: -1, values: [], low: .nan, high: .nan)
        #expect(try Decoded(png: #require(empty.png)).pixels == [0])
        #expect(
            Raster(width: 3, height: 1, values: [-.infinity, .infinity, 0], low: 0, high: 1).pixels == [1, 255, 1]
        )
    }

    @Test func `the palette goes from dark to bright`() {
        let palette = Raster.palette
        #expect(palette.count == 768)
        #expect(Array(palette[3..<6]) == [68, 1, 84] && Array(palette[765..<768]) == [253, 231, 37])
        let grey = stride(from: 3, to: 768, by: 3).map { index in
            let (red, green, blue) = (Double(palette[index]), Double(palette[index + 1]), Double(palette[index + 2]))
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue
        }
        #expect(zip(grey, grey.dropFirst()).allSatisfy { $0 < $1 + 1.5 } && grey[254] > grey[0] + 150)
    }

    @Test func `a chart carries the picture within itself`() throws {
        let raster = Raster(width: 2, height: 2, values: [0, 1, 2, 3], low: 0, high: 3)
        var chart = Chart(
            title: "t",
            summary: "s",
            x: Axis("", .time(0, 4)),
            y: Axis("", .linear(0, 40)),
            height: 100
        )
        chart.add(.image(raster, x: 1...3, y: 0...40))
        let image = try #require(try Tree(chart.markup.source).all("image").first)
        #expect(image.attributes["x"] == "250" && image.attributes["width"] == "500")
        #expect(image.attributes["y"] == "0" && image.attributes["height"] == "100")
        let address = try #require(image.attributes["href"])
        #expect(address.hasPrefix("data:image/png;base64,"))
        let data = try #require(Data(base64Encoded: String(address.dropFirst(22))))
        #expect(try Decoded(png: [UInt8](data)).pixels == raster.pixels)
    }
}

/// A PNG of the only kind that `Raster` writes: 8 bits a pixel with a palette, no filters.
private struct Decoded {
    let width: Int
    let height: Int
    let types: [String]
    let pixels: [UInt8]

    init(png: [UInt8]) throws {
        try #require(Array(png.prefix(8)) == [137, 80, 78, 71, 13, 10, 26, 10])
        func number(at place: Int) throws -> Int {
            try #require(place + 4 <= png.count)
            return png[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        var types: [String] = []
        var chunks: [String: [UInt8]] = [:]
        var place = 8
        while place < png.count {
            let length = try number(at: place)
            try #require(place + 12 + length <= png.count)
            let body = Array(png[place + 4..<place + 8 + length])
            #expect(try number(at: place + 8 + length) == Int(Decoded.checksum(body)))
            let type = String(decoding: body.prefix(4), as: UTF8.self)
            types.append(type)
            chunks[type] = Array(body.dropFirst(4))
            place += 12 + length
        }
        self.types = types
        let header = try #require(chunks["IHDR"])
        width = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
        height = header[4..<8].reduce(0) { $0 << 8 | Int($1) }
        #expect(Array(header[8...]) == [8, 3, 0, 0, 0])

        let compressed = try #require(chunks["IDAT"])
        var lines = [UInt8](repeating: 0, count: (width + 1) * height)
        var size = uLong(lines.count)
        let status = uncompress(&lines, &size, compressed, uLong(compressed.count))
        #expect(status == Z_OK && Int(size) == lines.count)
        var pixels: [UInt8] = []
        for row in 0..<height {
            #expect(lines[row * (width + 1)] == 0)
            let begin = row * (width + 1) + 1
            pixels += lines[begin..<begin + width]
        }
        self.pixels = pixels
    }

    /// CRC-32 bit by bit, as the PNG specification defines it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
