"""Writes a network in a runtime's own format.

    python -m Benchmarks.peers.convert FORM MODEL CALIBRATION OUT

MODEL is a folder or `empty`, CALIBRATION a .npy file of windows [n, columns, channels]. Each form is written by a process of
its own, because the converters conflict; the last line on standard error is the reason of a failure.
"""

import sys
from pathlib import Path

import numpy as np

from Benchmarks.peers.network import Network, to_onnx, to_tensorflow


def onnx_float(network, windows, out):
    out.write_bytes(to_onnx(network).SerializeToString())


def onnx_int8(activations):
    """Static quantization as pairs of QuantizeLinear and DequantizeLinear, weights int8 and per channel."""

    def convert(network, windows, out):
        from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

        class Reader(CalibrationDataReader):
            rows = iter(windows.transpose(0, 2, 1))

            def get_next(self):
                row = next(self.rows, None)
                return None if row is None else {"input": np.ascontiguousarray(row[None])}

        unsigned = activations == "uint8"
        quantize_static(
            to_onnx(network),
            out,
            Reader(),
            per_channel=True,
            activation_type=QuantType.QUInt8 if unsigned else QuantType.QInt8,
            weight_type=QuantType.QInt8,
            # Without dot-product instructions (VNNI), full-range products overflow in 16 bits.
            reduce_range=unsigned and "vnni" not in Path("/proc/cpuinfo").read_text(),
        )

    return convert


def litert(along, quantised):
    def convert(network, windows, out):
        import tensorflow as tf

        module = tf.Module()
        module.run = to_tensorflow(network, along)
        # The module keeps the outputs' names.
        converter = tf.lite.TFLiteConverter.from_concrete_functions([module.run.get_concrete_function()], module)
        if quantised:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            axis = 3 - along
            converter.representative_dataset = lambda: ([np.expand_dims(row[None], axis)] for row in windows)
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        out.write_bytes(converter.convert())

    return convert


def openvino_int8(network, windows, out):
    import nncf
    import openvino

    source = out.with_suffix(".source.onnx")
    onnx_float(network, windows, source)
    data = nncf.Dataset([np.ascontiguousarray(row.T[None]) for row in windows])
    quantised = nncf.quantize(openvino.Core().read_model(source), data, subset_size=len(windows))
    openvino.save_model(quantised, out, compress_to_fp16=False)


FORMS = {
    "onnx": onnx_float,
    "onnx-int8": onnx_int8("int8"),
    "onnx-uint8": onnx_int8("uint8"),
    "litert-columns-1": litert(1, False),
    "litert-columns-2": litert(2, False),
    "litert-columns-1-int8": litert(1, True),
    "litert-columns-2-int8": litert(2, True),
    "openvino-int8": openvino_int8,
}


def main():
    form, model, calibration, out = sys.argv[1:]
    network = Network.empty() if model == "empty" else Network.load(Path(model))
    FORMS[form](network, np.load(calibration), Path(out))


if __name__ == "__main__":
    main()
