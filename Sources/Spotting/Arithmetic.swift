private import Glibc

/// `base` to the power of `exponent`.
func power(_ base: Float, _ exponent: Float) -> Float { powf(base, exponent) }

/// e to the power of `exponent`.
func naturalExponential(_ exponent: Float) -> Float { expf(exponent) }

/// Level of a mean square, in dB FS; at least −120, the value for digital silence.
func decibels(_ meanSquare: Float) -> Float { 10 * log10f(max(meanSquare, 1e-12)) }

/// Level of an amplitude, in dB FS; at least −120, the value for digital silence.
public func decibels(amplitude: Float) -> Double { max(-120, 20 * log10(Double(max(amplitude, 1e-9)))) }

/// The natural logarithm.
func logarithm(_ number: Float) -> Float { logf(number) }
