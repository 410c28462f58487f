private import Glibc

/// `base` to the power of `exponent`.
func power(_ base: Float, _ exponent: Float) -> Float { powf(base, exponent) }

/// e to the power of `exponent`.
func naturalExponential(_ exponent: Float) -> Float { expf(exponent) }

/// The natural logarithm.
func logarithm(_ number: Float) -> Float { logf(number) }
