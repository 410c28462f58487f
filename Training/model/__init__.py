"""The network, its training loop, distillation, and the metrics on the validation sets."""
