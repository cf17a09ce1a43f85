"""Golden numbers for the learner's mathematics, from PyTorch in double precision.

    python tests/learner/update/golden/make_golden.py > tests/learner/update/golden/golden.h

Losses are written as in verl 0.4.1 (core_algos.py) and differentiated by autograd; the optimizer is
torch.optim.AdamW with clip_grad_norm_ and LambdaLR.
"""
import math

import torch

torch.set_default_dtype(torch.float64)
generator = torch.Generator().manual_seed(7)


def array(name, values):
    numbers = ", ".join(f"{v:.17g}" for v in values)
    print(f"inline constexpr double {name}[] = {{{numbers}}};")


def rounded(tensor):
    """Rounds to values that a float can hold, so that both programs start from the same numbers."""
    return tensor.to(torch.float32).to(torch.float64)


LENGTHS = [5, 1, 7, 4]
ADVANTAGES = [1.25, -0.75, -1.5, 0.5]
T = sum(LENGTHS)
old = rounded(-torch.rand(T, generator=generator) * 3)
shift = torch.randn(T, generator=generator) * 0.15
shift[6], shift[8], shift[10] = 2.6, 1.3, -0.9  # A < 0: beyond the bounds and beyond a dual clip of 3
shift[2], shift[4] = 0.22, 0.4  # A > 0: between 1.2 and 1.28, and beyond both
current = rounded(old + shift)
behavior = rounded(old + torch.randn(T, generator=generator) * 0.4)
reference = rounded(old + torch.randn(T, generator=generator) * 0.3)
entropy = rounded(torch.rand(T, generator=generator))


def split(tensor):
    return torch.split(tensor, LENGTHS)


def aggregate(losses, mode, divisor, masked=()):
    kept = [x for i, x in enumerate(split(losses)) if i not in masked]
    if mode == "sequence":
        return sum(x.mean() for x in kept) / len(kept)
    if mode == "token":
        return torch.cat(kept).mean()
    return torch.cat(kept).sum() / (len(kept) * divisor)


def kl_of(lp, ref, estimator):
    x = lp - ref
    if estimator == "k2":
        return 0.5 * x.square()
    k3 = torch.exp((-x).clamp(-20, 20)) + x - 1
    return torch.exp((lp - old).clamp(-20, 20)) * k3 if estimator == "weighted-k3" else k3


def tis_weight(cap, level, beyond="truncate"):
    """Computes compute_rollout_correction_weights of verl (rollout_corr_helper.py), with rollout_is
    token or sequence. "mask" is its rejection with the cap as upper threshold, except that masked
    tokens still count in the denominator."""
    d = old - behavior
    if level == "sequence":
        d = torch.cat([x.sum().expand(len(x)) for x in split(d)])
    weight = torch.exp(d.clamp(-20, 20)).detach()
    return torch.where(weight > cap, 0.0 if beyond == "mask" else cap, weight)


def loss_of(lp, ent, algorithm, low, high, dual=0.0, mode="sequence", divisor=10.0, kl=0.0,
            estimator="k3", entropy_coefficient=0.0, tis=0.0, tis_level="token", beyond="truncate",
            masked=()):
    advantages = torch.cat([torch.full((n,), a) for n, a in zip(LENGTHS, ADVANTAGES)])
    if algorithm == "grpo":
        ratio = torch.exp((lp - old).clamp(-20, 20))
    else:
        means = torch.cat([x.mean().expand(len(x)) for x in split(lp - old)])
        ratio = torch.exp((lp - lp.detach() + means.detach()).clamp(max=10.0))
    losses = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(1 - low, 1 + high))
    if dual > 0:
        losses = torch.where(advantages < 0, torch.minimum(losses, -advantages * dual), losses)
    if tis > 0:
        losses = losses * tis_weight(tis, tis_level, beyond)
    total = aggregate(losses, mode, divisor, masked)
    if kl > 0:
        total = total + kl * aggregate(kl_of(lp, reference, estimator), mode, divisor)
    return total - entropy_coefficient * aggregate(ent, mode, divisor)


CASES = {
    "Grpo": dict(algorithm="grpo", low=0.2, high=0.2),
    "ClipHigher": dict(algorithm="grpo", low=0.2, high=0.28),
    "DualClip": dict(algorithm="grpo", low=0.2, high=0.2, dual=3.0),
    "TokenMean": dict(algorithm="grpo", low=0.2, high=0.2, mode="token"),
    "Constant": dict(algorithm="grpo", low=0.2, high=0.2, mode="constant"),
    "Gspo": dict(algorithm="gspo", low=3e-4, high=4e-4),
    "GspoWide": dict(algorithm="gspo", low=0.5, high=0.5),
    "KlK2": dict(algorithm="grpo", low=0.2, high=0.2, kl=0.1, estimator="k2"),
    "KlWeightedK3": dict(algorithm="grpo", low=0.2, high=0.2, kl=0.1, estimator="weighted-k3"),
    "KlK3": dict(algorithm="gspo", low=0.5, high=0.5, kl=0.1, estimator="k3"),
    "Entropy": dict(algorithm="grpo", low=0.2, high=0.2, mode="token", entropy_coefficient=0.01),
    "Tis": dict(algorithm="grpo", low=0.2, high=0.2, tis=1.2),
    "TisSequence": dict(algorithm="grpo", low=0.2, high=0.2, tis=1.2, tis_level="sequence"),
    "GspoTisSequence": dict(algorithm="gspo", low=0.5, high=0.5, tis=1.4, tis_level="sequence"),
    "TisMask": dict(algorithm="grpo", low=0.2, high=0.2, tis=1.2, beyond="mask"),
    "GspoTisMask": dict(algorithm="gspo", low=0.5, high=0.5, tis=1.4, tis_level="sequence", beyond="mask"),
    "Masked": dict(algorithm="gspo", low=0.5, high=0.5, masked=(0, 2)),
    "MaskedTokenMean": dict(algorithm="grpo", low=0.2, high=0.2, mode="token", masked=(0, 2)),
    "MaskedConstant": dict(algorithm="grpo", low=0.2, high=0.2, mode="constant", masked=(0, 2)),
}


def policy_loss():
    array("kOld", old)
    array("kCurrent", current)
    array("kBehavior", behavior)
    array("kReference", reference)
    array("kEntropy", entropy)
    array("kAdvantage", ADVANTAGES)
    print(f"inline constexpr int kLengths[] = {{{', '.join(map(str, LENGTHS))}}};")
    for name, options in CASES.items():
        lp = current.clone().requires_grad_()
        ent = entropy.clone().requires_grad_()
        loss = loss_of(lp, ent, **options)
        loss.backward()
        if options.get("tis"):
            weight = tis_weight(options["tis"], options.get("tis_level", "token"), options.get("beyond", "truncate"))
            array(f"k{name}Weight", weight)
        entropy_slope = ent.grad if ent.grad is not None else torch.zeros(T)
        print(f"inline constexpr double k{name}Loss = {loss.item():.17g};")
        array(f"k{name}LogProbSlope", lp.grad)
        if options.get("entropy_coefficient"):
            array(f"k{name}EntropySlope", entropy_slope)


def advantage():
    rewards = rounded(torch.tensor([1.0, 0.4, -0.05, 0.0, 1.0, -0.6, -0.31, 0.4]))
    terms = rounded(torch.tensor([[1.0, 0, 0], [1.0, 0, -0.6], [0, -0.05, 0], [0, -0.21, 0]]))
    centered = rewards - rewards.mean()
    n = len(rewards)
    array("kRewards", rewards)
    array("kStandard", centered / (rewards.std(correction=1) + 1e-6))
    array("kDrGrpo", centered)
    array("kLeaveOneOut", [r - (rewards.sum() - r) / (n - 1) for r in rewards])
    array("kTerms", terms.flatten())
    array("kPerTerm", ((terms - terms.mean(0)) / (terms.std(0, correction=1) + 1e-6)).sum(1))


def optimizer():
    start = rounded(torch.randn(20, generator=generator))
    gradients = rounded(torch.randn(6, 20, generator=generator) * torch.tensor([[0.1], [3], [0.05],
                                                                                [1], [0.2], [9]]))
    decayed = start[:12].clone().requires_grad_()
    plain = start[12:].clone().requires_grad_()
    adamw = torch.optim.AdamW([{"params": [decayed], "weight_decay": 0.1},
                               {"params": [plain], "weight_decay": 0.0}], lr=1e-2,
                              betas=(0.9, 0.99), eps=1e-8)
    schedule = torch.optim.lr_scheduler.LambdaLR(adamw, lambda k: min(1.0, k / 3))
    array("kStartWeights", start)
    array("kGradients", gradients.flatten())
    norms, rates = [], []
    for gradient in gradients:
        decayed.grad, plain.grad = gradient[:12].clone(), gradient[12:].clone()
        norms.append(torch.nn.utils.clip_grad_norm_([decayed, plain], 1.0).item())
        rates.append(schedule.get_last_lr()[0])
        adamw.step()
        schedule.step()
    array("kNorms", norms)
    array("kRates", rates)
    array("kEndWeights", torch.cat([decayed.detach(), plain.detach()]))
    array("kEndFirst", torch.cat([adamw.state[p]["exp_avg"] for p in (decayed, plain)]))
    array("kEndSecond", torch.cat([adamw.state[p]["exp_avg_sq"] for p in (decayed, plain)]))
    cosine = [0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(1, k / 8))) for k in range(10)]
    array("kCosine", cosine)
    weight = torch.zeros(1, requires_grad=True)
    line = torch.optim.lr_scheduler.LinearLR(torch.optim.SGD([weight], lr=1.0), start_factor=1.0, end_factor=0.05,
                                             total_iters=8)
    linear = []
    for _ in range(10):
        linear.append(line.get_last_lr()[0])
        line.optimizer.step()
        line.step()
    array("kLinear", linear)


print("// Made by make_golden.py; do not edit.\n#pragma once\n\nnamespace lie::golden {\n// clang-format off")
policy_loss()
advantage()
optimizer()
print("// clang-format on\n}  // namespace lie::golden")
