"""The tensors of the phoneme network and of the spelling network, as Beckon runs them.

Scales and shifts of normalisations are folded into the layers that follow, the halves of the feed-forward layers and the scale of the attention's
queries into theirs: what is left is convolutions, and normalisations without weights.
"""

import numpy as np

from Training.export import model_weights

BLOCKS, WIDTH, HEADS = 4, 144, 4
# The names that the export to ONNX gave to the matrices of a block.
# Numbers from which on a tensor is large, and the names of those that 8 bits are enough for.
LARGE, EIGHT_BITS = 10_000, ".weight"
FIRST_MATRIX, MATRICES = 829, {"ffn1": (0, 1), "attention": (2, 6), "ffn2": (7, 8)}
STEM, FIRST_DEPTHWISE = 801, 804


def phonemes(source):
    """The tensors of the phoneme network; matrices are `[outputs, inputs]`, convolutions `[outputs, taps, inputs]`."""
    tensors = {
        "mel": source["mel_fb"].T,
        "stem.weight": source[f"onnx::Conv_{STEM}"].transpose(0, 2, 1),
        "stem.bias": source[f"onnx::Conv_{STEM + 1}"],
        "output.weight": source["acoustic_model.model.proj.weight"][:, :, 0],
        "output.bias": source["acoustic_model.model.proj.bias"],
    }
    for block in range(BLOCKS):
        old, new = f"acoustic_model.model.blocks.{block}.", f"blocks.{block}."

        def part(name):
            return source[old + name]

        def matrix(layer, index):
            return source[f"onnx::MatMul_{FIRST_MATRIX + 9 * block + MATRICES[layer][index]}"].T

        def put(name, weight, bias, norm=None, scale=1.0):
            if norm:
                bias = bias + weight @ part(norm + ".bias")
                weight = weight * part(norm + ".weight")
            tensors[new + name + ".weight"], tensors[new + name + ".bias"] = weight * scale, bias * scale

        for layer in ("ffn1", "ffn2"):
            put(layer + ".in", matrix(layer, 0), part(layer + ".fc1.bias"), layer + ".norm")
            put(layer + ".out", matrix(layer, 1), part(layer + ".fc2.bias"), scale=0.5)
        put("attention.in", matrix("attention", 0), part("attn.in_proj_bias"), "attn_norm")
        queries = (WIDTH // HEADS) ** -0.5
        for name in ("weight", "bias"):
            tensors[new + "attention.in." + name][:WIDTH] *= queries
        put("attention.out", matrix("attention", 1), part("attn.out_proj.bias"))
        put("conv.in", part("conv.pointwise1.weight")[:, :, 0], part("conv.pointwise1.bias"), "conv.norm")
        put("conv.out", part("conv.pointwise2.weight")[:, :, 0], part("conv.pointwise2.bias"))
        depthwise = FIRST_DEPTHWISE + 3 * block
        put("conv.depthwise", source[f"onnx::Conv_{depthwise}"][:, 0], source[f"onnx::Conv_{depthwise + 1}"])
        for name in ("weight", "bias"):
            tensors[new + "norm." + name] = part("norm." + name)
    return tensors


def spelling(encoder, decoder, letters):
    """The tensors of the spelling network, with the embeddings of some letters alone, given by their numbers."""
    tensors = {
        "letters": encoder["model.encoder_embedding.weight"][letters],
        "front.depthwise": encoder["model.frontend.depthwise.weight"][:, 0],
        "front.pointwise": encoder["model.frontend.pointwise.weight"][:, :, 0],
        "front.norm.weight": encoder["model.frontend.norm.weight"],
        "front.norm.bias": encoder["model.frontend.norm.bias"],
        "encoder.norm.weight": encoder["model.encoder_out_norm.weight"],
        "encoder.norm.bias": encoder["model.encoder_out_norm.bias"],
        "encoder.skip": encoder["onnx::MatMul_532"].T,
        "keys": encoder["onnx::MatMul_539"].T,
        "bridge.weight": encoder["model.bridge.weight"],
        "bridge.bias": encoder["model.bridge.bias"],
        "sounds": decoder["model.decoder_embedding.weight"],
        "attention.location": decoder["model.attention.location_conv.weight"][:, 0],
        "attention.place": decoder["onnx::MatMul_304"].T,
        "attention.query": decoder["onnx::MatMul_303"].T,
        "attention.energy": decoder["onnx::MatMul_305"].T,
        "state.skip": decoder["onnx::MatMul_302"].T,
        "state.norm.weight": decoder["model.decoder_state_norm.weight"],
        "state.norm.bias": decoder["model.decoder_state_norm.bias"],
        "context.norm.weight": decoder["model.context_norm.weight"],
        "context.norm.bias": decoder["model.context_norm.bias"],
        "fusion.weight": decoder["model.context_proj.weight"],
        "fusion.bias": decoder["model.context_proj.bias"],
        "fusion.norm.weight": decoder["model.fusion_norm.weight"],
        "fusion.norm.bias": decoder["model.fusion_norm.bias"],
        "output.in.weight": decoder["model.output_in_proj.weight"],
        "output.in.bias": decoder["model.output_in_proj.bias"],
        "output.weight": decoder["onnx::MatMul_306"].T,
    }

    def recurrence(name, source, numbers, direction):
        for part, number in zip(("input", "state", "bias"), numbers):
            tensors[f"{name}.{part}"] = source[f"onnx::GRU_{number}"][direction]

    for layer, numbers in enumerate([(484, 485, 483), (527, 528, 526)]):
        for direction, name in enumerate(("forward", "backward")):
            recurrence(f"encoder.{layer}.{name}", encoder, numbers, direction)
    for layer, numbers in enumerate([(279, 280, 281), (299, 300, 301)]):
        recurrence(f"decoder.{layer}", decoder, numbers, 0)
    return {name: np.ascontiguousarray(tensor, np.float32) for name, tensor in tensors.items()}


def halves(tensors):
    """The tensors as 16-bit floats."""
    return {name: np.ascontiguousarray(tensor.astype(np.float16)) for name, tensor in tensors.items()}


def stored(tensors):
    """Large matrices in 8 bits with a step for each output (`.step`), all else in 16-bit floats."""
    found = halves(tensors)
    for name, tensor in tensors.items():
        if tensor.size >= LARGE and name.endswith(EIGHT_BITS):
            step = name.removesuffix("weight") + "step"
            found[step] = model_weights.steps(tensor, True)
            found[name] = model_weights.integers(tensor, found[step])
    return found
