"""The whole recipe on a small dataset: data → augment → train → speech teacher → distill → export → embedding, each by its own command.

The networks are small and train for a few steps, so they recognize little. What is tested is that every stage works on what the
one before it wrote, that the model folder has the format of Models/FORMAT.md, and that all implementations of it agree.
"""

import contextlib
import io
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import onnx
import safetensors.numpy
import soundfile
import torch
from onnx import TensorProto, helper, numpy_helper

from Training.augment import render
from Training.augment.examples import Kind
from Training.data import log_mel, pictured_clips, recordings, sources, synthesize, validation_sets
from Training.embedding import carry, coding, open_set
from Training.embedding import export as embedding_export
from Training.embedding import render as embedding_render
from Training.embedding import text as embedding_text
from Training.embedding import train as embedding_train
from Training.embedding.network import first_block, unit
from Training.evaluate import program, streams
from Training.export import model_folder, model_weights, onnx_model, ranges, reference
from Training.model import mine, train, voice_activity
from Training.model.network import load_checkpoint, logits_of, stream_logits
from Training.tests import clips, model_format

ROOT = Path(__file__).resolve().parents[2]
BECKON = Path(os.environ.get("BECKON", ROOT / ".build/release/beckon"))
WORDS = " ".join(clips.COMMANDS)
# A tenth or less of what a real training measures with.
FEWER = [
    (validation_sets, "RUNNING_SPEECH", 100),
    (validation_sets, "SOUNDS", 100),
    (validation_sets, "ENDINGS", 100),
    (voice_activity, "BATCHES", 20),
    (voice_activity, "MEASURED", 100),
    (ranges, "COUNT", 64),
    (embedding_text, "DICTIONARY", synthesize.DICTIONARY),
]
SMALL = "--channels 8 12 16 24 --head 24 --batch 32".split()


def run(command, *arguments):
    """Runs a command's main function and returns what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        command.main([str(argument) for argument in arguments])
    return printed.getvalue()


def write_teacher(path):
    """A stand-in for the speech embedding: waveforms [n, 12400] → [n, 1, 1, 96], a random projection of 31 levels."""
    weights = np.random.default_rng(0).normal(size=(31, 96)).astype(np.float32)
    constants = {"shape": np.array([-1, 31, 400]), "axis": np.array([2]), "weights": weights, "axes": np.array([1, 2])}
    nodes = [
        helper.make_node("Reshape", ["waves", "shape"], ["frames"]),
        helper.make_node("Abs", ["frames"], ["magnitudes"]),
        helper.make_node("ReduceSum", ["magnitudes", "axis"], ["levels"], keepdims=0),
        helper.make_node("MatMul", ["levels", "weights"], ["vectors"]),
        helper.make_node("Unsqueeze", ["vectors", "axes"], ["answer"]),
    ]
    inputs = [helper.make_tensor_value_info("waves", TensorProto.FLOAT, ["n", 12400])]
    outputs = [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["n", 1, 1, 96])]
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    save_graph(nodes, inputs, outputs, initializers, path)


def write_word_teacher(path):
    """A stand-in for the network for wake words: log energies [1, 1, 149, 64] → [1, 2048], a random projection of their means."""
    weights = np.random.default_rng(1).normal(size=(64, 2048)).astype(np.float32)
    nodes = [
        helper.make_node("ReduceMean", ["energies"], ["means"], axes=[1, 2], keepdims=0),
        helper.make_node("MatMul", ["means", "weights"], ["answer"]),
    ]
    inputs = [helper.make_tensor_value_info("energies", TensorProto.FLOAT, [1, 1, 149, 64])]
    outputs = [helper.make_tensor_value_info("answer", TensorProto.FLOAT, [1, 2048])]
    save_graph(nodes, inputs, outputs, [numpy_helper.from_array(weights, "weights")], path)


def save_graph(nodes, inputs, outputs, initializers, path):
    graph = helper.make_graph(nodes, "teacher", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class RecipeTests(unittest.TestCase):
    """One dataset and one model for all tests; the stages run once, in order."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        for module, name, value in FEWER:
            cls.enterClassContext(mock.patch.object(module, name, value))
        home = Path(cls.folder.name)
        cls.data, cls.cache, cls.examples, cls.model = home / "data", home / "cache", home / "examples", home / "model"
        cls.teacher, cls.embedding, cls.sets = home / "teacher.onnx", home / "embedding.pt", home / "embedding.npz"
        clips.write_dataset(cls.data)
        write_teacher(cls.teacher)
        word_teacher = home / "word-teacher.onnx"
        write_word_teacher(word_teacher)
        recorded = ("--data", cls.data, "--cache", cls.cache)
        # Clips made of pictures, which are trained on only.
        cls.all_data = [cls.data, home / "pictures"]
        pictured = (*recorded, "--data", cls.all_data[1])
        rendered = (*pictured, "--words", WORDS, "--examples", cls.examples)
        cls.printed = {}

        def stage(name, command, *arguments):
            cls.printed[name] = run(command, *arguments)

        stage("pictures", pictured_clips, "--data", cls.data, "--out", cls.all_data[1] / "clips")
        stage("render", render, *rendered, "--epochs", 2, "--batch", 32)
        stage("train", train, *rendered, *SMALL, "--epochs", 1)
        stage("resume", train, *rendered, *SMALL, "--epochs", 2)
        cls.first, second, third = (cls.examples / f"commands-{seed}.pt" for seed in (1, 2, 4))
        taught = home / "taught"
        heard = (*pictured, "--words", WORDS, "--examples", taught, "--without-noise", "--speech-teacher", cls.teacher)
        stage("answers", render, *heard, "--epochs", 2, "--batch", 32)
        by_speech = (*SMALL, "--hidden", 12, "--speech-weight", 6, "--teacher-examples", taught)
        beside = ("--speech-weight", 2, "--teacher-examples", taught, "--spliced", 0.5, "--seed", 5)
        stage("beside", train, *rendered, *SMALL, *beside, "--init", cls.first, "--epochs", 1)
        stage("speech", train, *rendered, *by_speech, "--seed", 2, "--init", cls.first, "--epochs", 2)
        distilled = ("--seed", 4, "--init", second, "--teachers", cls.first, "--epochs", 1)
        stage("distill", train, *rendered, *by_speech, *distilled)
        cls.checkpoints = [second, third]
        stage("export", model_folder, *recorded, "--words", WORDS, "--out", cls.model, *cls.checkpoints)
        cls.before_embedding = model_format.check(cls.model)
        cls.table = recordings.load_all([cls.data], cls.cache)
        on_model = ("--model", cls.model)
        stage(
            "examples",
            embedding_render,
            *pictured,
            *on_model,
            "--teacher",
            cls.teacher,
            "--word-teacher",
            word_teacher,
            "--out",
            cls.sets,
            "--speech",
            60,
        )
        tiny = ("--dimensions", 8, "--epochs", 1, "--steps", 4)
        stage("embed", embedding_train, *on_model, *tiny, "--out", cls.embedding, cls.sets)
        program = Path(__file__).parents[2] / ".build/release/negatives"
        exported = (*recorded, "--negatives", program, "--checkpoint", cls.embedding)
        stage("embedding", embedding_export, *exported, cls.model)
        stage("second", embedding_export, *exported, "--part", "words.second", cls.model)
        spelled = ("--model", cls.model, "--pairs", 50, "--steps", 60)
        stage("text", embedding_text, *spelled, cls.embedding, cls.embedding)
        stage("open-set", open_set, *recorded, *on_model, cls.model, cls.embedding)

    def test_recordings_are_split_by_speaker_and_their_words_found(self):
        table = self.table
        of_clips = table["kind"] == "clip"
        self.assertEqual(of_clips.sum(), 6 * sum(clips.SPEAKERS.values()))
        names = {part: set() for part in clips.SPEAKERS}
        for name, part in zip(table["name"][of_clips], table["part"][of_clips]):
            names[part].add(sources.speaker(name))
        self.assertEqual({part: len(found) for part, found in names.items()}, clips.SPEAKERS)
        spoken = (table["to"] - table["from"])[of_clips]
        self.assertTrue(np.all((spoken > 1600) & (spoken < 16000)), (spoken.min(), spoken.max()))

    def test_an_epoch_holds_every_kind_of_example(self):
        with np.load(render.path(self.examples, 0)) as stored:
            self.assertEqual(stored["logs"].shape[1:], (79, 40))
            self.assertEqual(set(stored["kinds"]), {*range(6), Kind.BABBLE, Kind.SPLICED_WORDS})
            self.assertTrue(np.isfinite(stored["logs"]).all())
            # Babble has the last of the outputs.
            outputs = torch.load(self.checkpoints[0], weights_only=True)["outputs"]
            self.assertEqual(stored["targets"].max(), len(outputs) - 1)

    def test_training_resumes_where_it_stopped_and_distills(self):
        self.assertIn("epoch 1/1", self.printed["train"])
        self.assertIn("resuming after epoch 1", self.printed["resume"])
        self.assertNotIn("epoch 1/2", self.printed["resume"])
        self.assertIn("epoch 2/2", self.printed["resume"])
        path = next(self.examples.parent.glob("*/soft-*.npy"))
        with np.load(path.with_name(f"epoch-{path.stem[-2:]}.npz")) as stored:
            is_command = stored["targets"] < len(WORDS.split())
        # The teachers answer for commands alone.
        self.assertTrue(is_command.any() and not is_command.all())
        np.testing.assert_allclose(np.load(path).astype(np.float32).sum(axis=1), is_command, atol=5e-3)

    def test_the_network_learns_what_the_speech_teacher_answers(self):
        distances = [float(line.split("speech ")[1].split()[0]) for line in self.printed["speech"].splitlines() if "speech " in line]
        self.assertLess(distances[1], 0.97 * distances[0])
        network = load_checkpoint(self.checkpoints[0], len(clips.COMMANDS) + 3)
        layers, weights = network.described()
        hidden = next(layer for layer in layers if layer["name"] == "hidden")
        self.assertEqual((hidden["in"], hidden["out"], hidden["activation"]), (24, 12, "relu"))
        # A network without hidden units gave what has the same shape: all but the logits.
        layers, weights = load_checkpoint(self.first, len(clips.COMMANDS) + 3).described()
        self.assertNotIn("hidden", weights)
        self.assertNotIn("hidden", [layer["name"] for layer in layers])

    def test_a_network_that_learned_them_beside_the_words_is_averaged_with_one_that_did_not(self):
        self.assertIn("speech ", self.printed["beside"])
        outputs = len(clips.COMMANDS) + 3
        mean = model_folder.averaged([self.first, self.examples / "commands-5.pt"], range(outputs)).described()[1]
        self.assertEqual(set(mean), set(load_checkpoint(self.first, outputs).described()[1]))

    def test_checkpoints_of_older_versions_are_read(self):
        state = torch.load(self.first, weights_only=True)
        state["pass"], state["optimiser"] = state.pop("epoch"), state.pop("optimizer")
        del state["hidden"]
        old = self.examples / "commands-3.pt"
        torch.save(state, old)
        rendered = ("--data", self.data, "--cache", self.cache, "--words", WORDS, "--examples", self.examples)
        self.assertIn("resuming after epoch 2", run(train, *rendered, *SMALL, "--seed", 3, "--epochs", 2))
        load_checkpoint(old, len(state["outputs"]))

    def test_the_model_folder_has_the_format_and_the_embedding_leaves_the_rest_as_it_was(self):
        model, weights = model_format.check(self.model)
        before, weights_before = self.before_embedding
        self.assertEqual(model["labels"], [*clips.COMMANDS, "_unknown_", "_silence_"])
        self.assertEqual((before["embedding"], model["embedding"]), ("embedding", ["words", "words.second"]))
        for name, value in weights_before.items():
            np.testing.assert_array_equal(weights[name], value)
        self.assertIn("# Model card: model", (self.model / "README.md").read_text())

    def test_the_exported_network_answers_as_the_trained_one(self):
        model, weights, stored, waves = onnx_model.load(self.model)
        network = model_folder.averaged(self.checkpoints, model["outputLabels"])
        with torch.no_grad():
            trained = network(
                torch.from_numpy(reference.log_mel(torch.from_numpy(waves), model["frontEnd"]).numpy()).float()
            )
        # Large layers are stored in 8 bits.
        self.assertLess(np.abs(trained.numpy() - stored["logits"]).mean(), 0.03 * np.abs(stored["logits"]).mean())

    def test_the_stored_answers_are_those_of_the_files_and_of_onnx(self):
        model, weights, stored, waves = onnx_model.load(self.model)
        outputs = reference.layer_outputs(model, weights, torch.from_numpy(waves))
        features, logits = reference.features_and_logits(model, weights, torch.from_numpy(waves))
        np.testing.assert_allclose(logits, stored["logits"], atol=1e-5)
        np.testing.assert_allclose(features[: len(stored["features"])], stored["features"], atol=1e-5)
        np.testing.assert_allclose(outputs["activity"][:, 0].numpy(), stored["activity"], atol=1e-5)
        for from_features in (False, True):
            proto = onnx_model.build(model, weights, from_features)
            logits, posteriors = onnx_model.time_shifted_answers(proto, model, waves, from_features)
            np.testing.assert_allclose(logits, stored["logits"], atol=1e-4)
            np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-4)

    def test_the_negative_set_holds_unit_vectors(self):
        tensors = safetensors.numpy.load_file(self.model / "background.safetensors")
        parts = ["middle", "basis", "predictor", "step", "units", "frequencies", "rows"]
        coded = {f"{table}.{part}" for table in ("talk", "speech.talk") for part in parts}
        others = coded | {"talk", "talk.hours", "talk.ends", "speech.talk", "speech.steps"}
        of_talk = {name for name in tensors if not name.startswith("text.")}
        self.assertEqual(of_talk, others | {f"word.{word}" for word in clips.COMMANDS})
        # Two parts of eight numbers.
        talk, examples = coding.decoded(tensors, "talk"), tensors[f"word.{clips.COMMANDS[0]}"].astype(np.float64) - 128
        self.assertEqual((talk.shape[1], examples.shape[1:]), (16, (2, 16)))
        for parts, tolerance in ((talk, 0.5), (examples, 0.05)):
            lengths = np.linalg.norm(parts, axis=-1)
            np.testing.assert_allclose(lengths, np.median(lengths), rtol=tolerance)
        # Frames of the speech embedding, each new with one of the hops.
        frames, steps = coding.decoded(tensors, "speech.talk"), tensors["speech.steps"].astype(int)
        self.assertEqual((frames.shape[1], len(steps)), (96, len(talk)))
        self.assertEqual(steps.sum(), len(frames))
        self.assertGreater(tensors["talk.hours"][0], 0)
        bounds = tensors["talk.ends"].astype(int)
        self.assertTrue((bounds[:, 0] >= 0).all() and (bounds[:, 1] <= len(talk)).all())
        # The hop before, and those that may decide; one run after the other.
        self.assertTrue((bounds[:, 1] - bounds[:, 0] >= 2).all() and (bounds[1:, 0] >= bounds[:-1, 1] - 1).all())

    def test_the_text_encoder_has_the_format_and_learns(self):
        tensors = safetensors.numpy.load_file(self.model / "background.safetensors")
        shapes = {name.removeprefix("text."): value.shape for name, value in tensors.items() if name.startswith("text.")}
        channels = embedding_text.CHANNELS
        expected = {"letter.weight": (28, channels), "begin.weight": (24, channels), "end.weight": (24, channels)}
        for layer in ("first", "second", "third"):
            expected |= {f"{layer}.weight": (5, channels, channels), f"{layer}.bias": (channels,)}
        self.assertEqual(shapes, expected | {"out.weight": (16, 2 * channels), "out.bias": (16,)})
        self.assertTrue(all(value.dtype == np.float16 for name, value in tensors.items() if name.startswith("text.")))
        self.assertGreater(float(self.printed["text"].split()[-1]), 0.3)

    def test_an_embedding_is_the_same_from_its_checkpoint_and_from_the_folder(self):
        lines = [line.split(": ", 1)[1] for line in self.printed["open-set"].splitlines() if ": recorded" in line]
        self.assertEqual(len(lines), 2)
        self.assertIn("AUROC", lines[0])
        weights = model_weights.load(self.model)
        features = np.random.default_rng(0).normal(size=(8, 79, 40)).astype(np.float32)
        joined, alone = (open_set.load(path, weights)(features) for path in (self.model, self.embedding))
        # Both parts are of this checkpoint.
        np.testing.assert_allclose(joined, np.tile(unit(alone), 2) / np.sqrt(2), atol=1e-2)

    def test_an_embedding_that_is_carried_to_another_model_stays_as_it_was(self):
        target = Path(self.folder.name) / "carried"
        shutil.copytree(self.model, target)
        carry.main(["--source", str(self.model), str(target)])
        model_format.check(target)
        answers = []
        for folder in (self.model, target):
            model, weights, _, waves = onnx_model.load(folder)
            outputs = reference.layer_outputs(model, weights, torch.from_numpy(waves[:5]))
            answers.append([outputs[name].numpy() for name in model["embedding"]])
        np.testing.assert_array_equal(*answers)
        weights = model_weights.load(target)
        features = np.random.default_rng(0).normal(size=(2, 79, 40)).astype(np.float32)
        own = model_weights.load(self.model)
        for part in ("words", "words.second"):
            np.testing.assert_array_equal(*(first_block(w, features, part) for w in (own, weights)))
        np.testing.assert_array_equal(*(open_set.load(path, weights)(features) for path in (self.model, target)))

    def test_mined_speech_is_what_the_network_takes_for_a_command(self):
        folder = Path(self.folder.name) / "mined"
        arguments = ("--data", self.data, "--cache", self.cache, "--words", WORDS, "--examples", folder)
        run(mine, *arguments, self.checkpoints[0])
        run(render, *arguments, "--epochs", 1, "--batch", 32)
        table, examples = render.load_examples([self.data], self.cache, clips.COMMANDS, folder=folder)
        with np.load(render.mined_path(folder)) as mined, np.load(render.path(folder, 0)) as stored:
            self.assertTrue((mined["score"] >= mine.LEAST_SCORE).all() and np.isin(mined["row"], examples.speech).all())
            is_mined = stored["kinds"] == Kind.MINED_SPEECH
            self.assertGreater(is_mined.mean(), 0.05)
            self.assertTrue(np.isin(stored["sources"][is_mined], mined["row"]).all())
            self.assertEqual(set(stored["targets"][is_mined]), {examples.other})
            self.assertGreater(stored["logs"][is_mined].astype(np.float32).std(), 1)

    def test_a_stream_is_scored_as_its_windows(self):
        waves = clips.phrases()["Front_Left"][: 16000 + 5 * 1600].astype(np.float32) / 32768
        waves = np.pad(waves, (0, 16000 + 5 * 1600 - len(waves)))
        network = load_checkpoint(self.checkpoints[0], len(clips.COMMANDS) + len(("other", "babble", "silence")))
        whole = stream_logits(network, log_mel.stream_features(waves)).numpy()
        windows = np.stack([waves[i * 1600 : i * 1600 + 16000] for i in range(6)])
        np.testing.assert_allclose(whole, logits_of(network, log_mel.features(windows)).numpy(), atol=1e-3)

    def test_examples_without_some_words_are_those_made_of_other_sources(self):
        table, examples = render.load_examples(self.all_data, self.cache, clips.COMMANDS)
        keep = examples.holds_none_of([clips.COMMANDS[0]])
        with np.load(render.path(self.examples, 0)) as stored:
            kinds, sources, targets = stored["kinds"], stored["sources"], stored["targets"]
        kept, words = keep(sources), kinds == Kind.WORDS
        np.testing.assert_array_equal(kept[words], table["label"][sources[words]] != clips.COMMANDS[0])
        # Recordings come first in the table, and clips made of pictures after them.
        pictured = words & (sources >= len(self.table["name"]))
        self.assertTrue(pictured.any())
        np.testing.assert_array_equal(kept[pictured], targets[pictured] != 0)
        self.assertTrue(kept[kinds == Kind.SILENCE].all())

    def test_streams_have_label_tracks(self):
        out = Path(self.folder.name) / "streams"
        with mock.patch.object(streams, "FILE", 6):
            run(streams, "--data", self.data, "--cache", self.cache, "--out", out, "--part", "report", "--minutes", 0.5)
        manifest = json.loads((out / "manifest.json").read_text())
        self.assertEqual(manifest["part"], "report")
        sets = {entry["name"].split("/")[0] for entry in manifest["files"]}
        talk = {"words-talk-noise-20", "talk-alsa-noise-10", "dictation-alsa-clean"}
        self.assertTrue({"words-clean", "words-babble-10", "sounds"} | talk <= sets)
        for line in (out / "talk-alsa-clean/000.said").read_text().splitlines():
            begin, end, name, text = line.split("\t")
            self.assertTrue(0 < float(begin) < float(end) and name.startswith("alsa/") and text == "", line)
        for entry in manifest["files"]:
            track = (out / f"{entry['name']}.txt").read_text().splitlines()
            self.assertEqual(len(track), entry["commands"] + entry["otherWords"], entry)
            self.assertAlmostEqual(soundfile.info(out / f"{entry['name']}.wav").duration, entry["seconds"], delta=0.001)

    @unittest.skipUnless(BECKON.exists(), "the program is not built; make build builds it")
    def test_the_program_answers_as_pytorch(self):
        model, weights, _, waves = onnx_model.load(self.model)
        paths = program.write_clips(Path(self.folder.name) / "inputs", waves[:20].astype(np.float32))
        scores = program.posteriors(BECKON, self.model, paths, model["labels"], precision="float")
        proto = onnx_model.build(model, weights, False)
        np.testing.assert_allclose(
            scores, onnx_model.time_shifted_answers(proto, model, waves[:20], False)[1], atol=1e-4
        )


if __name__ == "__main__":
    unittest.main()
