import KernelInterface

// A real FFT of several frames of equal size at once: lane j of every vector belongs to frame j, so that butterflies are vertical
// arithmetic without shuffles.
//
// Why not a library: the front end needs only eight small transforms of one size per hop. Most libraries vectorise
// within one transform, which needs shuffles. Those that batch transforms (FFTW, MKL) are under the GPL or tied to one
// vendor. None can be compiled once per instruction set with the other kernels.

/// Transforms the complex numbers at the front of `scratch` (`half` real parts, then `half` imaginary parts) and writes the power
/// `re² + im²` of bins 0...half.
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
    realPower(source, to: power, half: half, twiddles: twiddles)
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

    @inline(__always) func store(at index: Int, of frames: ComplexFrames) {
        frames.re[index] = re
        frames.im[index] = im
    }

    @inline(__always) func times(_ factor: UnsafePointer<Float>) -> Complex {
        let c = FrameVector(repeating: factor[0])
        let s = FrameVector(repeating: factor[1])
        return Complex(re * c - im * s, re * s + im * c)
    }

    @inline(__always) static func + (a: Complex, b: Complex) -> Complex { Complex(a.re + b.re, a.im + b.im) }
    @inline(__always) static func - (a: Complex, b: Complex) -> Complex { Complex(a.re - b.re, a.im - b.im) }
    /// The product with the imaginary unit.
    @inline(__always) var timesI: Complex { Complex(FrameVector.zero - im, re) }
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
            let difference = (b - d).timesI
            let to = 4 * position * stride + offset
            (even + sum).store(at: to, of: target)
            (odd - difference).times(factors).store(at: to + stride, of: target)
            (even - sum).times(factors + 2).store(at: to + 2 * stride, of: target)
            (odd + difference).times(factors + 4).store(at: to + 3 * stride, of: target)
        }
    }
}

@inline(__always)
private func radix2(_ source: ComplexFrames, _ target: ComplexFrames, _ stride: Int) {
    for offset in 0..<stride {
        let a = Complex(source, offset)
        let b = Complex(source, offset + stride)
        (a + b).store(at: offset, of: target)
        (a - b).store(at: offset + stride, of: target)
    }
}

/// From the half-size complex spectrum to the power of the real frame: separates the spectra of even and odd samples and combines
/// them. Bins k and half − k come from the same two inputs.
@inline(__always)
private func realPower(
    _ spectrum: ComplexFrames,
    to power: UnsafeMutablePointer<FrameVector>,
    half: Int,
    twiddles: UnsafePointer<Float>
) {
    for bin in 0...(half / 2) {
        let mirror = half - bin
        let z = Complex(spectrum, bin)
        let m = Complex(spectrum, mirror & (half - 1))
        // Twice the even and the odd part; the factor 0.25 below corrects that exactly.
        let even = Complex(z.re + m.re, z.im - m.im)
        let odd = Complex(z.im + m.im, m.re - z.re).times(twiddles + 2 * bin)
        let low = even + odd
        let high = even - odd
        power[bin] = (low.re * low.re + low.im * low.im) * 0.25
        power[mirror] = (high.re * high.re + high.im * high.im) * 0.25
    }
}
