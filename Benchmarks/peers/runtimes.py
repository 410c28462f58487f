"""The runtimes that Beckon is compared with. Each offers several variants to run a network; the benchmark uses the fastest.

A variant is `(label, form, method)`: `method(network, file)` returns a Runner for a network converted to `form`; without a form,
the second argument is the calibration windows. Inputs and outputs are bound beforehand, so that a call copies nothing.

The libraries are loaded only when a runtime is created, which happens in a process of its own (worker.py).
"""

import importlib.metadata

import numpy as np

from Benchmarks.peers.network import to_torch


class Runner:
    """A loaded network: `call()` is timed; `answer(window)` copies a window [columns, channels] in and the outputs out."""

    def __init__(self, call, put, outputs):
        self.call, self._put, self._outputs = call, put, outputs

    def answer(self, window):
        self._put(window)
        self.call()
        return [np.array(output, np.float32).ravel() for output in self._outputs()]


class Runtime:
    """What is common to all: `name`, the `package` that pip installs, and the `variants` of each precision."""

    @classmethod
    def version(cls):
        return importlib.metadata.version(cls.package).split("+")[0]


class OnnxRuntime(Runtime):
    name, package = "ONNX Runtime", "onnxruntime"
    variants = {
        "f32": [("", "onnx", "load")],
        "int8": [(f"{kind} activations", f"onnx-{kind}", "load") for kind in ("int8", "uint8")],
    }

    def __init__(self):
        import onnxruntime

        self.library = onnxruntime

    def load(self, network, file):
        settings = self.library.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        session = self.library.InferenceSession(str(file), settings, ["CPUExecutionProvider"])
        given = np.zeros((1, network.channels, network.columns), np.float32)
        binding = session.io_binding()
        binding.bind_ortvalue_input("input", self.library.OrtValue.ortvalue_from_numpy(given))
        outputs = []
        for output in session.get_outputs():
            outputs.append(self.library.OrtValue.ortvalue_from_shape_and_type(output.shape, np.float32))
            binding.bind_ortvalue_output(output.name, outputs[-1])

        def put(window):
            given[0] = window.T
            # The bound value may be a copy of the array.
            binding.bind_ortvalue_input("input", self.library.OrtValue.ortvalue_from_numpy(given))

        # Without the overhead of the Python class's own `run_with_iobinding`.
        run, inner, options = session._sess.run_with_iobinding, binding._iobinding, None
        return Runner(lambda: run(inner, options), put, lambda: [output.numpy() for output in outputs])


class LiteRT(Runtime):
    name, package = "LiteRT (XNNPACK)", "ai-edge-litert"
    variants = {
        precision: [(f"columns along axis {axis}", f"litert-columns-{axis}{suffix}", "load") for axis in (1, 2)]
        for precision, suffix in (("f32", ""), ("int8", "-int8"))
    }

    def __init__(self):
        from ai_edge_litert.interpreter import Interpreter

        self.interpreter = Interpreter

    def load(self, network, file):
        interpreter = self.interpreter(str(file), num_threads=1)
        interpreter.allocate_tensors()
        given = interpreter.get_input_details()[0]

        def put(window):
            interpreter.set_tensor(given["index"], window.reshape(given["shape"]))

        # The converter may reorder the outputs; the signature has their names.
        runner = interpreter.get_signature_runner()
        places = {name: detail["index"] for name, detail in runner.get_output_details().items()}

        def outputs():
            return [interpreter.get_tensor(places[f"output{place}"]) for place in range(len(places))]

        return Runner(interpreter.invoke, put, outputs)


class OpenVINO(Runtime):
    name, package = "OpenVINO", "openvino"
    variants = {
        precision: [("infer", form, "load"), ("start and wait", form, "load_asynchronous")]
        for precision, form in (("f32", "onnx"), ("int8", "openvino-int8"))
    }

    def __init__(self):
        import openvino

        self.library = openvino

    def load_asynchronous(self, network, file):
        runner = self.load(network, file)
        request = runner.request

        def call():
            request.start_async()
            request.wait()

        runner.call = call
        return runner

    def load(self, network, file):
        core = self.library.Core()
        settings = {
            "INFERENCE_NUM_THREADS": 1,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "ENABLE_CPU_PINNING": False,
            "INFERENCE_PRECISION_HINT": "f32",
        }
        request = core.compile_model(core.read_model(file), "CPU", settings).create_infer_request()
        given = np.zeros((1, network.channels, network.columns), np.float32)
        request.set_input_tensor(self.library.Tensor(given, shared_memory=True))

        def put(window):
            given[0] = window.T

        def outputs():
            return [request.get_output_tensor(place).data for place in range(len(network.outputs))]

        runner = Runner(lambda: request.infer(share_outputs=True), put, outputs)
        runner.request = request
        return runner


class PyTorch(Runtime):
    name, package = "PyTorch", "torch"
    variants = {
        "f32": [
            ("eager", None, "load"),
            ("frozen script", None, "load_frozen"),
            ("compiled", None, "load_compiled"),
        ],
        "int8": [("x86 quantized script", None, "load_quantized")],
    }

    def __init__(self):
        import torch

        self.library = torch
        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)

    def load(self, network, windows):
        return self._runner(network, to_torch(network))

    def load_frozen(self, network, windows):
        return self._runner(network, self._frozen(network, to_torch(network)))

    def load_compiled(self, network, windows):
        import torch._inductor.config

        torch._inductor.config.freezing = True
        return self._runner(network, self.library.compile(to_torch(network)))

    def load_quantized(self, network, windows):
        from torch.ao.quantization import get_default_qconfig_mapping
        from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

        self.library.backends.quantized.engine = "x86"
        example = self._example(network)
        prepared = prepare_fx(to_torch(network), get_default_qconfig_mapping("x86"), (example,))
        for window in windows:
            prepared(self.library.from_numpy(np.ascontiguousarray(window.T[None])))
        return self._runner(network, self._frozen(network, convert_fx(prepared)))

    def _example(self, network):
        return self.library.zeros(1, network.channels, network.columns)

    def _frozen(self, network, module):
        traced = self.library.jit.trace(module, self._example(network))
        return self.library.jit.optimize_for_inference(self.library.jit.freeze(traced))

    def _runner(self, network, module):
        given, answers = self._example(network), []

        def call():
            answers[:] = module(given)

        def put(window):
            given[0] = self.library.from_numpy(np.ascontiguousarray(window.T))

        return Runner(call, put, lambda: answers)


RUNTIMES = {runtime.package: runtime for runtime in (OnnxRuntime, LiteRT, OpenVINO, PyTorch)}
