import KernelInterface

// A real Fourier transform of several equal frames at once: lane j of every vector belongs to frame j, so each
// butterfly is plain vertical arithmetic without a single shuffle.
//
// Why one of our own: the front end needs eight equal small transforms a hop and nothing else. Libraries speed up one
// transform, and pay for it with shuffles; those that batch (FFTW, MKL) are under the GPL or tied to one maker's
// processors; and none could be compiled by us for each instruction set next to the other kernels.

/// Transforms the pairs at the front of `scratch` (`half` real parts, then `half` imaginary parts) and writes the
/// power `re² + im²` of bins 0…half.
@inline(__always)
func powerSpectrum(
    _ scratch: UnsafeMutablePointer<FrameVector>,
    to power: UnsafeMutablePointer<FrameVector>,
    table: UnsafePointer<Float>,
    shape: FourierShape
) {
    let half = shape.half
    var source = ComplexFrames(re: scratch, im: scratch + half)
    var target = ComplexFrames(re: scratch + 2 * half, im: scratch + 3 * half)
    var twiddles = table
    var length = half
    var stride = 1
    while length >= 4 {
        radix4(source, target, length / 4, stride, twiddles)
        twiddles += 6 * (length / 4)
        length /= 4
        stride *= 4
        swap(&source, &target)
    }
    if length == 2 {
        radix2(source, target, stride)
        swap(&source, &target)
    }
    split(source, to: power, half: half, twiddles: twiddles)
}

private struct ComplexFrames {
    var re: UnsafeMutablePointer<FrameVector>
    var im: UnsafeMutablePointer<FrameVector>
}

private struct Complex {
    var re: FrameVector
    var im: FrameVector

    @inline(__always) init(_ re: FrameVector, _ im: FrameVector) {
        self.re = re
        self.im = im
    }

    @inline(__always) init(_ frames: ComplexFrames, _ index: Int) {
        re = frames.re[index]
        im = frames.im[index]
    }

    @inline(__always) func put(at index: Int, of frames: ComplexFrames) {
        frames.re[index] = re
        frames.im[index] = im
    }

    @inline(__always) func turned(by factor: UnsafePointer<Float>) -> Complex {
        let c = FrameVector(repeating: factor[0])
        let s = FrameVector(repeating: factor[1])
        return Complex(re * c - im * s, re * s + im * c)
    }

    @inline(__always) static func + (a: Complex, b: Complex) -> Complex { Complex(a.re + b.re, a.im + b.im) }
    @inline(__always) static func - (a: Complex, b: Complex) -> Complex { Complex(a.re - b.re, a.im - b.im) }
    /// Times the imaginary unit.
    @inline(__always) var quarterTurn: Complex { Complex(FrameVector.zero - im, re) }
}

@inline(__always)
private func radix4(
    _ source: ComplexFrames,
    _ target: ComplexFrames,
    _ quarter: Int,
    _ stride: Int,
    _ twiddles: UnsafePointer<Float>
) {
    let step = quarter * stride
    for position in 0..<quarter {
        let factors = twiddles + 6 * position
        for offset in 0..<stride {
            let from = position * stride + offset
            let a = Complex(source, from)
            let b = Complex(source, from + step)
            let c = Complex(source, from + 2 * step)
            let d = Complex(source, from + 3 * step)
            let even = a + c
            let odd = a - c
            let sum = b + d
            let turn = (b - d).quarterTurn
            let to = 4 * position * stride + offset
            (even + sum).put(at: to, of: target)
            (odd - turn).turned(by: factors).put(at: to + stride, of: target)
            (even - sum).turned(by: factors + 2).put(at: to + 2 * stride, of: target)
            (odd + turn).turned(by: factors + 4).put(at: to + 3 * stride, of: target)
        }
    }
}

@inline(__always)
private func radix2(_ source: ComplexFrames, _ target: ComplexFrames, _ stride: Int) {
    for offset in 0..<stride {
        let a = Complex(source, offset)
        let b = Complex(source, offset + stride)
        (a + b).put(at: offset, of: target)
        (a - b).put(at: offset + stride, of: target)
    }
}

/// Parts the spectra of the even and the odd samples, joins them to the spectrum of the frame, and takes its power:
/// bins k and half − k come from the same two inputs.
@inline(__always)
private func split(
    _ spectrum: ComplexFrames,
    to power: UnsafeMutablePointer<FrameVector>,
    half: Int,
    twiddles: UnsafePointer<Float>
) {
    for bin in 0...(half / 2) {
        let mirror = half - bin
        let z = Complex(spectrum, bin)
        let m = Complex(spectrum, mirror & (half - 1))
        // Twice the even and the odd part; the quarter below makes good for it, exactly.
        let even = Complex(z.re + m.re, z.im - m.im)
        let odd = Complex(z.im + m.im, m.re - z.re).turned(by: twiddles + 2 * bin)
        let low = even + odd
        let high = even - odd
        power[bin] = (low.re * low.re + low.im * low.im) * 0.25
        power[mirror] = (high.re * high.re + high.im * high.im) * 0.25
    }
}
