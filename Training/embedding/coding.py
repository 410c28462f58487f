"""Codes rows of numbers, such as the embeddings of consecutive hops, in less than two bits a number (Models/FORMAT.md).

The rows are turned to their principal components; each is predicted from the two rows before it; what it differs by is rounded to steps, and
entropy-coded by asymmetric numeral systems (Duda 2013) with a state for each component.
"""

import numpy as np

# Bits of the sum of a component's frequencies, and of the words that refill a state.
BITS, WORD = 12, 16
# Whole numbers on either side of 0.
REACH = 15
# Differences are rounded towards zero by so much of a step, which costs less than it saves.
DEADZONE = 0.12


def predictors(values, step):
    """The factors [2, components] of the last row and of the one before that predict values [rows, components] best."""
    both = np.stack([values[1:-1], values[:-2]])
    # The decoder's rows have an error of rounding.
    products = np.einsum("ank,bnk->kab", both, both) + np.eye(2) * len(values) * step**2 / 12
    return np.linalg.solve(products, np.einsum("ank,nk->ka", both, values[2:])[..., None])[..., 0].T.astype(np.float32)


def rounded(values, factors, step):
    """The whole numbers [rows, components] that code the values, and the values that the decoder makes of them."""
    numbers = np.zeros(values.shape, np.int8)
    decoded = np.zeros(values.shape, np.float32)
    last = before = np.zeros(values.shape[1], np.float32)
    step = np.float32(step)
    for row, value in enumerate(values.astype(np.float32)):
        predicted = factors[0] * last + factors[1] * before
        exact = (value - predicted) / step
        numbers[row] = np.clip(np.sign(exact) * np.floor(np.abs(exact) + 0.5 - DEADZONE), -REACH, REACH)
        before, last = last, predicted + step * numbers[row]
        decoded[row] = last
    return numbers, decoded


def frequencies(numbers):
    """How often of 2^BITS each whole number from -REACH to REACH occurs in each component, at least once where it occurs at all."""
    counts = np.stack([(numbers == number).sum(0) for number in range(-REACH, REACH + 1)], 1)
    scaled = np.where(counts > 0, np.maximum(1, counts * (1 << BITS) // len(numbers)), 0)
    # The most frequent one has what is missing or too much.
    rows = np.arange(len(scaled))
    scaled[rows, counts.argmax(1)] += (1 << BITS) - scaled.sum(1)
    assert (scaled[rows, counts.argmax(1)] > 0).all()
    return scaled


def entropy_coded(numbers, frequency):
    """The bytes that code whole numbers: the states at which a decoder begins, then its words in the order in which it reads them."""
    starts = np.cumsum(frequency, 1) - frequency
    columns = np.arange(numbers.shape[1])
    states = np.full(numbers.shape[1], 1 << WORD, np.uint64)
    words = []
    for row in numbers[::-1].astype(int) + REACH:
        occurs, start = frequency[columns, row].astype(np.uint64), starts[columns, row].astype(np.uint64)
        full = states >= occurs << np.uint64(32 - BITS)
        words.append((states[full] & np.uint64((1 << WORD) - 1)).astype("<u2"))
        states = np.where(full, states >> np.uint64(WORD), states)
        states = ((states // occurs) << np.uint64(BITS)) + states % occurs + start
    return np.frombuffer(states.astype("<u4").tobytes() + np.concatenate(words[::-1]).tobytes(), np.uint8)


def coded(name, rows, step):
    """The tensors that stand for rows [n, d], of which only the direction counts, with a step as a share of their standard deviation."""
    middle = rows.mean(0)
    _, basis = np.linalg.eigh(np.cov(rows - middle, rowvar=False))
    basis = basis[:, ::-1].T.astype(np.float16)
    step = step * (rows - middle).std()
    values = (rows - middle) @ basis.astype(np.float32).T
    factors = predictors(values, step)
    numbers, decoded = rounded(values, factors, step)
    frequency = frequencies(numbers)
    return {
        name: entropy_coded(numbers, frequency),
        f"{name}.rows": np.array([len(rows)], np.float32),
        f"{name}.middle": middle.astype(np.float32),
        f"{name}.basis": basis,
        f"{name}.predictor": factors,
        f"{name}.step": np.array([step], np.float32),
        f"{name}.units": (np.abs(decoded).max(0) / 127 + 1e-9).astype(np.float32),
        f"{name}.frequencies": frequency.astype(np.int16),
    }


def decoded(tensors, name):
    """The rows [n, d] that tensors stand for."""
    frequency = tensors[f"{name}.frequencies"].astype(np.uint64)
    starts = np.cumsum(frequency, 1) - frequency
    places = np.stack([np.repeat(np.arange(len(counts)), counts.astype(int)) for counts in frequency])
    components = len(frequency)
    code = tensors[name].tobytes()
    states = np.frombuffer(code, "<u4", components).astype(np.uint64)
    words, place = np.frombuffer(code, "<u2", offset=4 * components).astype(np.uint64), 0
    factors, step = tensors[f"{name}.predictor"], tensors[f"{name}.step"][0]
    rows = np.zeros((int(tensors[f"{name}.rows"][0]), components), np.float32)
    last = before = np.zeros(components, np.float32)
    columns = np.arange(components)
    for row in rows:
        slot = states & np.uint64((1 << BITS) - 1)
        symbol = places[columns, slot.astype(int)]
        states = frequency[columns, symbol] * (states >> np.uint64(BITS)) + slot - starts[columns, symbol]
        empty = states < 1 << WORD
        count = int(empty.sum())
        states[empty] = states[empty] << np.uint64(WORD) | words[place : place + count]
        place += count
        before, last = last, factors[0] * last + factors[1] * before + step * (symbol.astype(np.float32) - REACH)
        row[:] = last
    assert place == len(words)
    return rows @ tensors[f"{name}.basis"].astype(np.float32) + tensors[f"{name}.middle"]
