"""The loss of a mini-batch. GRPO: arXiv:2402.03300; clip-higher, token-mean: arXiv:2503.14476; GSPO: arXiv:2507.18071;
dual clip: arXiv:1912.09729; estimators of KL: joschu.net/blog/kl-approx.html and DeepSeek-V3.2, arXiv:2512.02556; truncated
importance sampling: fengyao.notion.site/off-policy-rl. Tensors are [N, T] with 0 beyond a response."""
import math
from typing import NamedTuple

import torch

LEVELS = {"grpo": "token", "gspo": "sequence", "luspo": "sequence", "cispo": "token", "sapo": "token", "gmpo": "sequence",
          "vespo": "token", "dppo": "token"}
SURROGATES = {"grpo": "clip", "gspo": "clip", "luspo": "clip"}  # of other algorithms: the same name
CLIPS = {"token": (0.2, 0.2), "sequence": (3e-4, 4e-4)}
LUSPO_CLIP = (2e-3, 2.5e-3)  # arXiv:2602.05261


class LogProbs(NamedTuple):
    """Log-probs of the tokens under the policy that is trained, that before the step, the sampler and the start model."""

    policy: torch.Tensor
    old: torch.Tensor
    behavior: torch.Tensor
    reference: torch.Tensor


def ratio_level(settings):
    return LEVELS.get(settings["algorithm"]) or settings["ratio_level"]


def clip_bounds(settings):
    """Returns the least and greatest importance ratio that are not clipped."""
    is_luspo = ratio_level(settings) == "sequence" and settings["aggregation"] == "constant"
    defaults = LUSPO_CLIP if is_luspo else CLIPS[ratio_level(settings)]
    low, high = (default if settings[key] == "auto" else float(settings[key])
                 for key, default in zip(("clip_low", "clip_high"), defaults))
    return 1 - low, 1 + high


def token_weights(settings, mask):
    """Returns the weight of each token's loss in the loss of the mini-batch."""
    sequences, lengths = len(mask), mask.sum(1, keepdim=True)
    divisors = {"sequence-mean-token-mean": sequences * lengths, "token-mean": mask.sum(),
                "constant": sequences * settings["constant_divisor"]}
    return mask / divisors[settings["aggregation"]]


def importance_ratios(settings, log_probs, mask):
    log_ratios = log_probs.policy - log_probs.old
    if ratio_level(settings) == "token":
        return log_ratios.clamp(-20, 20).exp()
    sequence = log_ratios.sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return (log_probs.policy - log_probs.policy.detach() + sequence.detach()).clamp(max=10).exp()


def clipped_losses(settings, ratios, advantages):
    """Returns the token losses, and which of them are clipped."""
    plain = -advantages * ratios
    losses = torch.maximum(plain, -advantages * ratios.clamp(*clip_bounds(settings)))
    if settings["dual_clip"]:
        losses = torch.where(advantages < 0, torch.minimum(losses, -advantages * settings["dual_clip"]), losses)
    return losses, losses != plain


def unclipped(losses):
    return losses, torch.zeros(losses.shape, dtype=torch.bool)


def cispo_losses(settings, log_probs, ratios, advantages):
    """CISPO, arXiv:2506.13585, equation 4, with an upper bound only."""
    return unclipped(-ratios.detach().clamp(max=settings["cispo"]["ceiling"]) * advantages * log_probs.policy)


def sapo_losses(settings, log_probs, ratios, advantages):
    """SAPO, arXiv:2511.20347."""
    taus = torch.where(advantages > 0, settings["sapo"]["tau_positive"], settings["sapo"]["tau_negative"])
    return unclipped(-advantages * 4 / taus * torch.sigmoid(taus * (ratios - 1)))


def gmpo_losses(settings, log_probs, advantages, mask):
    """GMPO, arXiv:2507.20673. A tie of torch.minimum would halve the gradient, so tokens within the bound are chosen."""
    low, high, sign = settings["gmpo"]["low"], settings["gmpo"]["high"], advantages.sign()
    log_ratios = log_probs.policy - log_probs.old
    limited = log_ratios.clamp(-low, high)
    clipped = (sign * log_ratios > sign * limited) & mask
    mean = torch.where(clipped, limited, log_ratios).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return (-advantages * mean.exp()).expand(mask.shape), clipped


def vespo_losses(settings, log_probs, advantages, mask):
    """VESPO, arXiv:2602.10693. Its weight includes the TIS weights."""
    keys, log_w = settings["vespo"], ((log_probs.policy - log_probs.old) * mask).sum(1, keepdim=True)
    if settings["tis_cap"]:
        weights, _ = sampling_weights(settings, log_probs)
        joint = settings["tis_level"] == "sequence"
        log_w = log_w + (weights[:, :1].log() if joint else torch.where(mask, weights, 1.0).log().sum(1, keepdim=True))
    log_w = log_w.detach().clamp(math.log(1e-8), 20)
    k = torch.where(advantages >= 0, keys["k_positive"], keys["k_negative"])
    decay = torch.where(advantages >= 0, keys["lambda_positive"], keys["lambda_negative"])
    return unclipped(-(k * log_w + decay * (1 - log_w.exp())).exp() * advantages * log_probs.policy)


def dppo_losses(settings, log_probs, ratios, advantages, mask):
    """DPPO with the binary total variation, arXiv:2602.04879."""
    keys = settings["dppo"]
    rise = (log_probs.policy.exp() - log_probs.old.exp()).detach()
    dropped = mask & torch.where(advantages > 0, rise > keys["high"], (advantages < 0) & (rise < -keys["low"]))
    losses = -ratios.detach().clamp(max=keys["ceiling"]) * advantages * log_probs.policy
    return torch.where(dropped, 0.0, losses), dropped


def surrogate_losses(settings, log_probs, ratios, advantages, mask):
    """Returns the token losses, and which of them a bound leaves without gradient."""
    name = settings["surrogate"] if settings["algorithm"] == "custom" else SURROGATES.get(settings["algorithm"], settings["algorithm"])
    if name == "clip":
        return clipped_losses(settings, ratios, advantages)
    if name == "dppo":
        return dppo_losses(settings, log_probs, ratios, advantages, mask)
    if name in ("gmpo", "vespo"):
        return {"gmpo": gmpo_losses, "vespo": vespo_losses}[name](settings, log_probs, advantages, mask)
    return {"cispo": cispo_losses, "sapo": sapo_losses}[name](settings, log_probs, ratios, advantages)


def sampling_weights(settings, log_probs):
    """Returns the weights of truncated importance sampling, and which of them are above the cap."""
    cap, log_weights = settings["tis_cap"], log_probs.old - log_probs.behavior
    if settings["tis_level"] == "sequence":
        log_weights = log_weights.sum(1, keepdim=True).expand_as(log_weights)
    weights = log_weights.exp()
    beyond = weights > cap
    return torch.where(beyond, cap if settings["tis_beyond"] == "truncate" else 0.0, weights), beyond


def kl_estimates(settings, log_probs):
    x = log_probs.policy - log_probs.reference
    k3 = (-x).exp() - 1 + x
    estimates = {"k2": x.square() / 2, "k3": k3, "weighted-k3": k3 * (log_probs.policy - log_probs.old).exp()}
    return estimates[settings["kl_estimator"]]


def loss_parts(settings, log_probs, entropies, advantages, mask):
    """Returns the parts of the loss, and metrics of the mini-batch."""
    weights, ratios = token_weights(settings, mask), importance_ratios(settings, log_probs, mask)
    losses, clipped = surrogate_losses(settings, log_probs, ratios, advantages, mask)
    metrics = token_metrics(ratios.detach(), clipped, entropies.detach(), mask)
    if settings["tis_cap"]:
        sampling, beyond = sampling_weights(settings, log_probs)
        losses = losses * sampling if settings["algorithm"] != "vespo" else losses
        metrics.update(tis_weight_mean=sampling[mask].mean().item(), tis_truncated_share=beyond[mask].double().mean().item())
    parts = {"policy_loss": (weights * losses).sum()}
    if settings["kl_coefficient"]:
        parts["kl_loss"] = settings["kl_coefficient"] * (weights * kl_estimates(settings, log_probs)).sum()
    if settings["entropy_coefficient"]:
        parts["entropy_loss"] = -settings["entropy_coefficient"] * (weights * entropies).sum()
    return parts, metrics


def token_metrics(ratios, clipped, entropies, mask):
    ratios = ratios.expand(mask.shape)[mask]
    return {"tokens": mask.sum().item(), "clip_fraction": clipped[mask].double().mean().item(),
            "entropy": entropies[mask].mean().item(), "importance_ratio_mean": ratios.mean().item(),
            "importance_ratio_min": ratios.min().item(), "importance_ratio_max": ratios.max().item()}
