"""Trains the network on rendered epochs of examples.

    python -m Training.model.train --data DIR --cache DIR --examples DIR

Augments every batch anew, and writes a checkpoint after every epoch to `<examples>/<name>-<seed>.pt`; an interrupted training
continues from there. export/model_folder.py makes a model folder of the checkpoint.
"""

import copy
import math
import os
import sys
import time

import numpy as np
import torch

from Training.augment import render
from Training.augment.examples import Kind
from Training.augment.teachers import ClipAnswers
from Training.data import command_line
from Training.model import checkpoint
from Training.model.distill import PublishedAnswers, SpeechAnswers, Teachers, speech_loss
from Training.model.network import CHANNELS, HEAD, Spotter
from Training.model.scoring import ValidationSets, line

# Epochs between two measurements on the validation sets.
REPORT_EVERY = 10


def learning_rate(step, total, peak):
    """Linear warm-up over 3 %, then a cosine down to zero."""
    warm = 0.03 * total
    return peak * step / warm if step < warm else peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


def loss_of(logits, targets, alternatives, smoothing):
    """Cross entropy [n] with label smoothing; where an alternative is ≥ 0, that output is right too."""
    logs = torch.log_softmax(logits, dim=1)
    right = logs.gather(1, targets[:, None])[:, 0]
    also = logs.gather(1, alternatives.clamp_min(0)[:, None])[:, 0]
    right = torch.where(alternatives >= 0, torch.logaddexp(right, also), right)
    return -((1 - smoothing) * right + smoothing * logs.mean(dim=1))


def make_optimizer(model, options):
    """SGD with Nesterov momentum; biases and normalization do not decay."""
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.ndim > 1]
    vectors = [p for p in trained if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": options.decay}, {"params": vectors, "weight_decay": 0}]
    return torch.optim.SGD(groups, lr=options.rate, momentum=0.9, nesterov=True)


def set_rate(optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


@torch.no_grad()
def update_average(average, model, step):
    """Moves the exponential average of the weights towards the model's; it averages over more steps later on."""
    keep = min(0.999, (1 + step) / (10 + step))
    for a, b in zip(average.state_dict().values(), model.state_dict().values()):
        a.lerp_(b, 1 - keep) if a.is_floating_point() else a.copy_(b)


def step_once(model, average, optimizer, loss, step):
    """One step of the optimizer and of the averaged weights."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    update_average(average, model, step)


def train_epoch(epoch, steps, model, average, optimizer, options, gains, sources, keep):
    """Trains one epoch on the examples that `keep` accepts. `gains` [outputs] weigh the targets; `sources` are those of soft targets and of
    the speech teacher's answers, or None. Returns the mean losses of the targets and of the answers."""
    losses = []
    model.train()
    augment = render.lightly_augmented if options.light_augmentation else render.augmented
    batches = render.batches(options.examples, epoch, options.seed, options.batch, sources[0], keep, sources[1], augment)
    for number, (features, targets, alternatives, soft, of_speech) in enumerate(batches):
        step = epoch * steps + number
        set_rate(optimizer, learning_rate(step, options.epochs * steps, options.rate))
        targets = torch.from_numpy(targets)
        logits, speech = model.with_speech(torch.from_numpy(features))
        loss = loss_of(logits, targets, torch.from_numpy(alternatives), options.smoothing)
        if soft is not None:
            soft = torch.from_numpy(soft)
            distance = -(soft * torch.log_softmax(logits, dim=1)).sum(dim=1)
            weight = options.distillation * (soft.sum(dim=1) > 0)
            loss = (1 - weight) * loss + weight * distance
        gain = gains[targets]
        loss = (gain * loss).sum() / gain.sum()
        distance = torch.zeros(()) if of_speech is None else speech_loss(speech, *map(torch.from_numpy, of_speech))
        step_once(model, average, optimizer, loss + options.speech_weight * distance, step)
        losses.append((loss.item(), distance.item()))
    return np.mean(losses, axis=0)


def gains_of(examples, options):
    """The weight of each output's examples in the loss, [outputs]."""
    gains = torch.ones(len(examples.outputs))
    # A gain for commands in place of a clip shift, which would favour them in babble and music too.
    gains[: len(examples.commands)] = options.command_weight
    gains[examples.babble_output] = options.babble_weight
    gains[examples.silence] = options.silence_weight
    return gains


def kept_examples(examples, options):
    """Which examples are trained on, a function of their sources [n] and kinds [n]."""
    hold_none = examples.holds_none_of(command_line.left_out(options))

    def keep(sources, kinds):
        # Examples of an epoch are rendered in a random order, so that their positions draw the share.
        drawn = np.arange(len(kinds)) % 100 < 100 * options.spliced
        return hold_none(sources) & ((kinds != Kind.SPLICED_WORDS) | drawn)

    return keep


def options_parser():
    parser = command_line.parser(__doc__)
    parser.add_argument("--examples", required=True, help="folder of the rendered epochs, and of the checkpoints")
    command_line.add_words(parser)
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--batch", type=int, default=render.BATCH)
    parser.add_argument("--rate", type=float, default=0.1, help="peak learning rate")
    parser.add_argument("--decay", type=float, default=4e-4, help="weight decay")
    parser.add_argument("--command-weight", type=float, default=1.0, help="weight of the commands in the loss")
    parser.add_argument("--babble-weight", type=float, default=1.0, help="weight of babble in the loss")
    parser.add_argument("--silence-weight", type=float, default=1.0, help="weight of what holds no speech in the loss")
    parser.add_argument("--spliced", type=float, default=1.0, metavar="SHARE", help="share of the spliced words that are trained on")
    parser.add_argument("--light-augmentation", action="store_true", help="no SpecAugment, less VTLP and microphone response: for the last epochs")
    parser.add_argument("--smoothing", type=float, default=0.02, help="label smoothing")
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--channels", type=int, nargs=4, default=list(CHANNELS))
    parser.add_argument("--head", type=int, default=HEAD)
    parser.add_argument("--speech-weight", type=float, default=0, help="weight of the speech teacher's answers to --teacher-examples in the loss")
    parser.add_argument("--hidden", type=int, default=0, help="units through which the logits read nothing but those answers; needs a weight for them")
    parser.add_argument("--name", default="commands", help="first part of the checkpoint's name")
    parser.add_argument("--init", help="checkpoint whose averaged weights to start from, where shapes are equal or larger")
    parser.add_argument("--freeze-first-block", action="store_true", help="train only what comes after the first block")
    parser.add_argument("--teachers", nargs="*", default=[], help="checkpoints to distill from")
    parser.add_argument("--answers", metavar="FILE", help="published networks' answers, written by confirm/answers.py, to distill from instead")
    parser.add_argument("--teacher-examples", help="folder of the epochs that the teachers score (default: --examples)")
    command_line.add_left_out(parser)
    parser.add_argument("--distillation", type=float, default=0.6, help="weight of the teachers in the loss")
    return parser


def main(arguments=None):
    parser = options_parser()
    options = parser.parse_args(arguments)
    if options.hidden and not options.speech_weight:
        parser.error("--hidden reads the speech teacher's answers: give --speech-weight, 6 for example")
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    if not render.rendered(options.examples):
        sys.exit(f"{options.examples}: no rendered epochs; run augment/render.py first")
    table, examples = render.load_examples(options.data, options.cache, options.words, folder=options.examples)
    sets, outputs = ValidationSets(table, "tune", examples.commands), examples.outputs
    steps, keep = len(examples.kinds) // options.batch, kept_examples(examples, options)
    soft_targets = None
    folder = options.teacher_examples or options.examples
    if options.teachers:
        soft_targets = Teachers(options.teachers, len(outputs), folder, len(examples.commands))
    elif options.answers:
        answers = ClipAnswers(options.answers, outputs, examples.other)
        soft_targets = PublishedAnswers(options.examples, answers, table)
    sources = soft_targets, SpeechAnswers(folder) if options.speech_weight else None
    model = Spotter(len(outputs), options.channels, options.head, options.dropout, options.hidden, options.speech_weight > 0)
    if options.init:
        model.start_from(checkpoint.load(options.init)["average"])
    if options.freeze_first_block:
        model.freeze_first_block()
    average, optimizer = copy.deepcopy(model), make_optimizer(model, options)
    path, first = os.path.join(options.examples, f"{options.name}-{options.seed}.pt"), 0
    if os.path.exists(path):
        state = checkpoint.load(path)
        if state["outputs"] != outputs:
            sys.exit(f"{path}: was trained on other words; remove it, or choose another --examples")
        model.load_state_dict(state["model"]), average.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
        print(f"resuming after epoch {first}", flush=True)
    gains = gains_of(examples, options)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters} parameters, {steps} batches per epoch, {len(outputs)} outputs", flush=True)
    for epoch in range(first, options.epochs):
        begun = time.time()
        loss, distance = train_epoch(epoch, steps, model, average, optimizer, options, gains, sources, keep)
        state = {"model": model.state_dict(), "average": average.state_dict(), "optimizer": optimizer.state_dict()}
        state |= {"epoch": epoch + 1, "channels": options.channels, "head": options.head, "outputs": outputs, "hidden": options.hidden}
        checkpoint.save(path, state)
        of_speech = f"  speech {distance:.4f}" if options.speech_weight else ""
        text = f"epoch {epoch + 1}/{options.epochs}  loss {loss:.4f}{of_speech}  {time.time() - begun:.0f} s"
        if (epoch + 1) % REPORT_EVERY == 0 or epoch + 1 == options.epochs:
            text += "  " + line(sets.figures(sets.logits(average), examples.output_labels()))
        print(text, flush=True)


if __name__ == "__main__":
    main()
