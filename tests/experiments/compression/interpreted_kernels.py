"""Runs the GPU kernels on a CPU under Triton's interpreter; prints as JSON how far off autograd they are.

A program of its own, because the interpreter must be chosen before Triton is first imported.
"""

from __future__ import annotations

import json
import os

os.environ["TRITON_INTERPRET"] = "1"

import torch
from torch.nn import functional

from experiments.compression import fused
from experiments.compression.fused import Chain, Lockstep, patches
from experiments.compression.network import Network

for kernel in ("conv_pool", "unpool", "weight_gradient"):  # the interpreter's time goes with the blocks
    tile = fused.TILES[kernel, fused.CONV1]
    fused.TILES[kernel, fused.CONV1] = tile._replace(m=256)
BATCH = 2
CHAINS = (Chain(Network((3, 5, 9)), 1e-4, 1e-2, 5), Chain(Network((9, 6, 17)), 3e-4, 2e-3, 6))
generator = torch.Generator().manual_seed(0)
IMAGES = torch.rand(12, 28, 28, generator=generator) - 0.5
LABELS = torch.randint(0, 10, (12,), generator=generator)


def lockstep(chains):
    return Lockstep(
        chains, patches(IMAGES, torch.float32), LABELS.to(torch.int32), BATCH, torch.float32, -3.0
    )


def part(state, index):
    offset = sum(c.network.length for c in state.chains[:index])
    return slice(offset, offset + state.chains[index].network.length)


def batches(n_chains):
    return torch.randint(0, 12, (n_chains, BATCH), generator=generator, dtype=torch.int32)


def relative(a, b):
    return float((a - b).norm() / b.norm())


def gradient_errors():
    """Gradient of the summed cross-entropy, each tensor of each chain; and whether the verdicts agree."""
    state, rows = lockstep(CHAINS), batches(2)
    state.forward(rows)
    state.backward(rows)
    errors, verdicts = [], []
    for i, chain in enumerate(CHAINS):
        w = state.w[part(state, i)].clone().requires_grad_()
        chosen = rows[i].long()
        scores = chain.network.logits(w, IMAGES[chosen])
        functional.cross_entropy(scores, LABELS[chosen], reduction="sum").backward()
        grad = state.grad[part(state, i)]
        errors += [relative(grad[places], w.grad[places]) for places in chain.network.places]
        verdicts.append(state.hits[i].tolist() == (scores.argmax(1) == LABELS[chosen]).int().tolist())
    return max(errors), all(verdicts)


def step_errors(n_steps=2):
    """μ, log σ and log p after Adam's steps, against torch.optim.Adam with the same noise."""
    state = lockstep(CHAINS)
    twins = []
    for i, chain in enumerate(CHAINS):
        of = part(state, i)
        leaves = [
            v.clone().requires_grad_()
            for v in (state.mu[of], state.rho[of], state.log_prior[8 * i : 8 * i + 8])
        ]
        twins.append((leaves, torch.optim.Adam(leaves, lr=chain.chi)))
    for _ in range(n_steps):
        rows, noise = batches(2), state.noise.clone()
        state.step(rows)
        for i, (chain, (leaves, adam)) in enumerate(zip(CHAINS, twins, strict=True)):
            mu, rho, log_prior = leaves
            chosen = rows[i].long()
            w = mu + rho.exp() * noise[part(state, i)]
            loss = functional.cross_entropy(chain.network.logits(w, IMAGES[chosen]), LABELS[chosen])
            adam.zero_grad()
            (loss + chain.beta * chain.network.divergence(mu, rho, log_prior)).backward()
            adam.step()
    worst = 0.0
    for i, (leaves, _) in enumerate(twins):
        places, posterior = torch.cat(CHAINS[i].network.places), state.posterior(i)
        for ours, theirs in ((posterior.mu, leaves[0]), (posterior.rho, leaves[1])):
            worst = max(worst, float((ours - theirs.detach())[places].abs().max()))
        worst = max(worst, float((posterior.log_prior - leaves[2].detach()).abs().max()))
    return worst, state


def padding(state):
    """The largest weight in the padding after training, which must be zero."""
    found = 0.0
    for i, chain in enumerate(CHAINS):
        rest = torch.ones(chain.network.length, dtype=torch.bool)
        rest[torch.cat(chain.network.places)] = False
        found = max(found, float(state.w[part(state, i)][rest].abs().max()))
        found = max(found, float(state.mu[part(state, i)][rest].abs().max()))
    return found


def batched_and_alone():
    """Largest difference of what a chain learns beside another and alone, same seeds."""
    together = lockstep(CHAINS)
    together.train(1, 8)
    worst = 0.0
    for i, chain in enumerate(CHAINS):
        alone = lockstep([chain])
        alone.train(1, 8)
        worst = max(worst, float((alone.mu - together.mu[part(together, i)]).abs().max()))
    errors = together.errors(torch.arange(8, 11), 1)
    return worst, errors


if __name__ == "__main__":
    gradient, verdicts_agree = gradient_errors()
    step, trained = step_errors()
    noise = torch.cat(
        [trained.noise[part(trained, i)][torch.cat(c.network.places)] for i, c in enumerate(CHAINS)]
    )
    apart, errors = batched_and_alone()
    print(
        json.dumps({
            "gradient": gradient, "verdicts_agree": verdicts_agree, "step": step, "padding": padding(trained),
            "noise_mean": float(noise.mean()), "noise_std": float(noise.std()),
            "apart": apart, "errors": errors,
        })
    )  # fmt: skip
