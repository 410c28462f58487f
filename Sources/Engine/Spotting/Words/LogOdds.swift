private import Glibc

/// The logarithm of the odds of a probability, 0 < p < 1: its logit.
package func logOdds(_ probability: Float) -> Float { logf(probability / (1 - probability)) }
