"""The Bayesian LeNet-5: its layout, its loss, its kernels against autograd, and the problem around it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from http.client import IncompleteRead
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.__main__ import main
from experiments.compression import mnist
from experiments.compression import problem as nn
from experiments.compression.experiment import main as compression_command
from experiments.compression.network import Network, Posterior, epochs, train_plain
from tumble.errors import Failure, InputError

ROOT = Path(__file__).parents[3]
TINY = nn.Protocol("tiny", 60, 16, 200, 60, 40, 3, -4.0, 2.0)


def digits(n_train=200, n_validation=60, n_test=40, seed=0):
    """Ten classes that are easy to tell apart: a bright bar whose row is the class, in noise."""
    rng = np.random.default_rng(seed)
    n = n_train + n_validation + n_test
    labels = rng.integers(0, 10, n)
    images = rng.uniform(-0.5, -0.3, (n, 28, 28)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        image[2 + 2 * label : 5 + 2 * label, 6:22] += 0.8
    return nn.Digits(images, labels, n_train, n_validation)


def write_idx(folder, compress=False):
    """Four idx files of 5010 and 3 blank images, with the labels counting up."""
    for name in mnist.MD5:
        n = 5010 if name.startswith("train") else 3
        shape = (n, 28, 28) if "images" in name else (n,)
        values = np.zeros(shape, np.uint8) if len(shape) == 3 else (np.arange(n) % 10).astype(np.uint8)
        header = bytes([0, 0, 8, len(shape)]) + b"".join(s.to_bytes(4, "big") for s in shape)
        content = header + values.tobytes()
        path = folder / (f"{name}.gz" if compress else name)
        path.write_bytes(gzip.compress(content) if compress else content)


# --- the network -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kappa", "n_weights"), [(1, 18_224), (5, 431_080), (10, 1_712_150)])
def test_the_scale_sets_the_number_of_weights(kappa, n_weights):
    network = Network.scaled(kappa)
    assert network.widths == (4 * kappa, 10 * kappa, 100 * kappa)
    assert network.n_weights == n_weights


def test_the_flat_vector_holds_every_weight_once_in_aligned_rows():
    network = Network.scaled(1.37)
    places = torch.cat(network.places)
    assert len(places.unique()) == len(places) == network.n_weights
    assert int(places.max()) < network.length
    assert all(s.start % 8 == 0 and s.columns % 8 == 0 for s in network.segments)


def test_the_divergence_is_the_kl_between_the_gaussians():
    network = Network((2, 3, 4))
    generator = torch.Generator().manual_seed(1)
    mu, rho = network.initial_mean(generator), network.initial_log_sigma(-1.3)
    log_prior = torch.linspace(-2.0, 0.5, 8)
    expected = 0.0
    for places, log_p in zip(network.places, log_prior, strict=True):
        q = torch.distributions.Normal(mu[places], rho[places].exp())
        p = torch.distributions.Normal(torch.zeros(len(places)), log_p.exp())
        expected += float(torch.distributions.kl_divergence(q, p).sum())
    assert float(network.divergence(mu, rho, log_prior)) == pytest.approx(expected, rel=1e-5)
    assert Posterior(network, mu, rho, log_prior).size_kb == pytest.approx(
        expected / (8000 * np.log(2)), rel=1e-5
    )


def test_the_scores_are_a_convolutional_networks_written_out():
    network = Network((1, 1, 1))
    generator = torch.Generator().manual_seed(2)
    w = network.initial_mean(generator).double()
    image = torch.rand(28, 28, generator=generator).double() - 0.5
    tensors = [w[p] for p in network.places]

    def convolve(x, kernel, bias):
        n = len(x) - 4
        out = [[float((x[i : i + 5, j : j + 5] * kernel).sum() + bias) for j in range(n)] for i in range(n)]
        out = np.maximum(np.array(out), 0.0)
        return torch.tensor(out.reshape(n // 2, 2, n // 2, 2).max(axis=(1, 3)))

    h = convolve(image, tensors[0].view(5, 5), tensors[1])
    h = convolve(h, tensors[2].view(5, 5), tensors[3])
    hidden = torch.relu((h.T.flatten() * tensors[4]).sum() + tensors[5])
    expected = hidden * tensors[6] + tensors[7]
    torch.testing.assert_close(network.logits(w, image[None])[0], expected)


def test_mini_batches_go_through_every_image_before_one_comes_twice():
    draw = epochs(12, 4, torch.Generator().manual_seed(0))
    seen = torch.cat([draw() for _ in range(3)])
    assert sorted(seen.tolist()) == list(range(12))
    assert len(draw()) == 4


def test_training_learns_and_a_price_on_nats_buys_a_smaller_network():
    data = digits()
    images, labels = torch.from_numpy(data.images), torch.from_numpy(data.labels)
    cheap, dear = (
        train_plain(
            Network.scaled(1), images[:200], labels[:200],
            beta=beta, chi=1e-2, iterations=60, batch=16, seed=0, log_sigma=-4.0,
        )
        for beta in (1e-8, 1e-4)
    )  # fmt: skip
    assert dear.size_kb < cheap.size_kb
    assert cheap.error_percent(images[200:], labels[200:], torch.Generator().manual_seed(0), 3) < 20.0


# --- the kernels for the GPU, interpreted ------------------------------------------------------------------


@pytest.fixture(scope="module")
def interpreted():
    pytest.importorskip("triton")
    program = "tests.experiments.compression.interpreted_kernels"
    done = subprocess.run(
        [sys.executable, "-m", program], capture_output=True, text=True, timeout=600, check=False,
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_kernels_gradients_are_autograds_for_every_tensor_and_width(interpreted):
    assert interpreted["gradient"] < 1e-5
    assert interpreted["verdicts_agree"]


def test_the_kernels_steps_are_adams_on_mean_width_and_prior(interpreted):
    assert interpreted["step"] < 2e-5


def test_the_kernels_draw_standard_normal_noise_and_leave_the_padding_zero(interpreted):
    assert abs(interpreted["noise_mean"]) < 0.06
    assert interpreted["noise_std"] == pytest.approx(1.0, abs=0.05)
    assert interpreted["padding"] == 0.0


def test_a_training_beside_another_is_the_training_alone(interpreted):
    assert interpreted["apart"] < 1e-6
    assert all(0.0 <= e <= 100.0 for e in interpreted["errors"])


# --- the problem -------------------------------------------------------------------------------------------


def test_trainings_on_a_cpu_are_repeatable_and_independent_of_their_company():
    data, settings = digits(), [nn.Setting(1e-6, 1e-2, 1.0, 3), nn.Setting(1e-5, 3e-3, 1.5, 4)]
    together = nn.train(settings, data, TINY, "cpu")
    alone = [nn.train([s], data, TINY, "cpu")[0] for s in settings]
    for a, b in zip(together, alone, strict=True):
        assert replace(a, seconds=0.0) == replace(b, seconds=0.0)
    assert together[0].protocol == "tiny"


def test_a_trainings_value_and_constraint_are_logarithms_of_error_and_size():
    done = nn.Training(nn.Setting(1e-6, 1e-3, 5.0), "full", 0.76, 0.8, 12.4, 29.0, 1)
    assert done.value == pytest.approx(np.log10(0.76))
    assert done.constraint == pytest.approx(5 * np.log10(12.4 / 15.0))
    assert replace(done, size_kb=15.0).constraint == 0.0
    assert replace(done, error=0.0).value == -2.0
    assert not done.diverged
    assert replace(done, size_kb=float("nan")).diverged


def test_a_point_of_the_search_is_read_on_its_scales():
    setting = nn.Setting.at(np.array([-6.0, -3.0, 7.5]), 2)
    assert setting.beta == pytest.approx(1e-6)
    assert setting.chi == pytest.approx(1e-3)
    assert (setting.kappa, setting.seed) == (7.5, 2)


def test_the_problem_trains_once_a_trial_and_names_its_protocol():
    calls = []

    def trainer(setting):
        calls.append(setting)
        return nn.Training(setting, "full", 1.0, 1.1, 20.0, 1.0, 1)

    problem = nn.problem_of(trainer, seed=4)
    outcome = problem.evaluate([-6.0, -3.0, 5.0])
    assert len(calls) == 1
    assert calls[0].seed == 4
    assert (outcome.value, outcome.safe) == (0.0, False)
    assert (problem.name, problem.trials, problem.failures) == ("compression:4", 20, 5)
    reduced = nn.compression(digits(), nn.REDUCED)
    assert reduced.name == "compression-reduced:0"
    assert "reduced" in reduced.note
    assert reduced.bounds.tolist() == [[-8.0, -5.0], [-4.0, -2.0], [1.0, 3.0]]


def test_a_training_that_diverges_is_a_crash():
    problem = nn.problem_of(lambda s: nn.Training(s, "full", 90.0, 90.0, float("nan"), 1.0, 1))
    with pytest.raises(Failure, match="diverged"):
        problem.evaluate([-6.0, -3.0, 5.0])


def test_the_whole_problem_runs_on_a_cpu():
    outcome = nn.compression(digits(), replace(TINY, iterations=5), device="cpu").evaluate([-6.0, -2.0, 1.0])
    assert np.isfinite(outcome.value)
    assert outcome.constraints.shape == (1,)


@pytest.mark.parametrize("bad", [{"beta": 0.0}, {"chi": -1.0}, {"kappa": 11.0}, {"kappa": 0.5}, {"seed": -1}])
def test_settings_that_no_training_can_take_are_refused(bad):
    with pytest.raises(InputError, match="1 <= kappa <= 10"):
        nn.train([replace(nn.Setting(1e-6, 1e-3, 5.0), **bad)], digits(), TINY, "cpu")


def test_too_few_images_for_a_mini_batch_are_refused():
    with pytest.raises(InputError, match="fewer than a mini-batch"):
        nn.train([nn.Setting(1e-6, 1e-3, 1.0)], digits(n_train=8), TINY, "cpu")


# --- the data ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compress", [False, True])
def test_the_first_training_images_are_for_validation(tmp_path, compress):
    write_idx(tmp_path, compress)
    data = nn.load(tmp_path, check=False)
    assert (data.n_train, data.n_validation, len(data.labels)) == (10, 5000, 5013)
    assert data.images.shape == (5013, 28, 28)
    assert float(data.images.max()) == -0.5
    assert data.labels[:3].tolist() == [0, 1, 2]


def test_a_subset_takes_the_first_of_each_part():
    data = digits(20, 10, 10)
    part = data.subset(5, 3, 100)
    assert (part.n_train, part.n_validation, len(part.labels)) == (5, 3, 18)
    np.testing.assert_array_equal(part.labels, np.r_[data.labels[:5], data.labels[20:23], data.labels[30:]])


def test_other_files_than_mnists_are_refused(tmp_path):
    write_idx(tmp_path)
    with pytest.raises(InputError, match="is not MNIST's train-images-idx3-ubyte: expected md5 6bbc9ace"):
        nn.load(tmp_path)


def test_a_missing_file_is_named_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match=r"no train-images-idx3-ubyte .*compression --download"):
        nn.load(tmp_path)


def test_the_download_checks_what_it_fetches_and_keeps_what_is_there(tmp_path, monkeypatch):
    fetched = []

    def answer(url, timeout):
        fetched.append(url)
        return io.BytesIO(gzip.compress(b"digits"))

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    with pytest.raises(InputError, match="is not MNIST's"):
        nn.download(tmp_path / "new")
    digest = hashlib.md5(b"digits").hexdigest()
    monkeypatch.setattr(mnist, "MD5", dict.fromkeys(mnist.MD5, digest))
    assert nn.download(tmp_path / "new") == tmp_path / "new"
    assert len(list((tmp_path / "new").iterdir())) == 4
    before = len(fetched)
    nn.download(tmp_path / "new")
    assert len(fetched) == before


@pytest.mark.parametrize(
    "error", [urllib.error.URLError("no route to host"), TimeoutError("no answer"), IncompleteRead(b"x")]
)
def test_a_download_without_a_network_ends_in_a_sentence(tmp_path, monkeypatch, capsys, error):
    def unreachable(url, timeout):
        raise error

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    words = ["--download", "--data", str(tmp_path / "digits"), "--out", str(tmp_path / "out")]
    assert compression_command(words) == 2
    said = capsys.readouterr().err
    assert "train-images-idx3-ubyte.gz could not be fetched" in said
    assert f"files into {tmp_path / 'digits'} by hand" in said
    assert "Traceback" not in said


def test_the_command_without_data_names_the_download(tmp_path, capsys):
    assert compression_command(["--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "--download" in capsys.readouterr().err


def test_the_command_refuses_a_method_that_it_does_not_have_before_it_fetches(capsys):
    assert compression_command(["--download", "--methods", "foo"]) == 2
    assert "no method 'foo'; choose among eic, pesc, xsf" in capsys.readouterr().err


def test_runs_without_data_are_not_started(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TUMBLE_DATA", str(tmp_path))
    assert main(["compression", "--jobs", "1", "--out", str(tmp_path / "out")]) == 2
    assert "--download" in capsys.readouterr().err


def test_an_interrupted_compression_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupted(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr(nn, "check_there", interrupted)
    assert compression_command(["--out", str(tmp_path)]) == 130
    assert "goes on from here" in capsys.readouterr().err


def test_the_data_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("TUMBLE_DATA", str(tmp_path))
    assert mnist.data_folder() == tmp_path / "mnist"
    monkeypatch.delenv("TUMBLE_DATA")
    assert mnist.data_folder().parts[-2:] == ("tumble", "mnist")
