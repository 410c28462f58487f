private import Glibc

// Levels in dB relative to full scale (dBFS): a sample of magnitude 1 is full scale. No level is below −120 dBFS, the level
// of digital silence.

/// The level of a mean square, in dBFS: 10 log₁₀ of it.
public func decibels(_ meanSquare: Double) -> Double { 10 * log10(max(meanSquare, 1e-12)) }

/// The level of a mean square, in dBFS, in single precision as the detector computes it.
public func decibels(_ meanSquare: Float) -> Float { 10 * log10f(max(meanSquare, 1e-12)) }

/// The level of an amplitude, in dBFS: 20 log₁₀ of it.
public func decibels(amplitude: Float) -> Double { max(-120, 20 * log10(Double(max(amplitude, 1e-9)))) }
