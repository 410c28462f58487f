"""Layers as model.json describes them (Models/FORMAT.md). Weights are [out, in, kernel] in PyTorch, [out, kernel, in] stored."""


def conv1d(name, source, channels, kernel=1, relu=None, **rest):
    """A convolution from channels[0] to channels[1]; `relu` None leaves the activation out."""
    layer = {"op": "conv1d", "name": name, "input": source, "in": channels[0], "out": channels[1], "kernel": kernel}
    return layer | rest | activation(relu)


def dense(name, source, channels, relu=None):
    """A dense layer from channels[0] to channels[1]."""
    layer = {"op": "dense", "name": name, "input": source, "in": channels[0], "out": channels[1]}
    return layer | activation(relu)


def crop(name, source, start, end):
    return {"op": "crop", "name": name, "input": source, "start": start, "end": end}


def add(name, sources):
    return {"op": "add", "name": name, "inputs": sources, "activation": "relu"}


def mean(name, source, columns):
    return {"op": "mean", "name": name, "input": source, "columns": columns}


def activation(relu):
    return {} if relu is None else {"activation": "relu" if relu else "none"}


def weight_shapes(layers):
    """Yields name and stored shape of every weight and bias."""
    for layer in layers:
        if layer["op"] == "conv1d":
            yield layer["name"] + ".weight", (layer["out"], layer["kernel"], layer["in"] // layer.get("groups", 1))
        elif layer["op"] == "dense":
            yield layer["name"] + ".weight", (layer["out"], layer["in"])
        else:
            continue
        yield layer["name"] + ".bias", (layer["out"],)


class Collector:
    """Collects layers in the order in which they run, and their weights by tensor name, as stored."""

    def __init__(self):
        self.layers, self.weights = [], {}

    def conv1d(self, name, source, weight, bias, stride, relu):
        """A convolution from PyTorch's weight [out, in, kernel] and bias [out]; returns its name."""
        kernel = weight.detach().numpy()
        self.weights[name + ".weight"] = kernel.transpose(0, 2, 1).copy()
        self.weights[name + ".bias"] = bias.detach().numpy()
        channels = kernel.shape[1], kernel.shape[0]
        self.layers.append(conv1d(name, source, channels, kernel.shape[2], relu, stride=stride))
        return name

    def block(self, name, source, parts, crops):
        """A residual block: `parts` gives (weight, bias) of `first` (stride 2), `second` and `skip` (stride 2)."""
        first = self.conv1d(f"{name}.first", source, *parts["first"], 2, True)
        second = self.conv1d(f"{name}.second", first, *parts["second"], 1, False)
        self.layers.append(crop(f"{name}.crop", source, crops, crops))
        skip = self.conv1d(f"{name}.skip", f"{name}.crop", *parts["skip"], 2, False)
        self.layers.append(add(name, [second, skip]))
        return name

    def mean(self, name, source, columns):
        self.layers.append(mean(name, source, columns))
        return name

    def dense(self, name, source, linear, relu=None):
        """A dense layer from a torch.nn.Linear; returns its name."""
        self.weights[name + ".weight"], self.weights[name + ".bias"] = (
            tensor.detach().numpy() for tensor in (linear.weight, linear.bias)
        )
        self.layers.append(dense(name, source, (linear.in_features, linear.out_features), relu))
        return name
