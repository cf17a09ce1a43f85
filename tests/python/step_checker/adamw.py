"""AdamW (arXiv:1711.05101) with a clipped gradient and a schedule."""
import torch


def learning_rate(settings, number):
    """Returns the learning rate of the update or step with this number, counted from 1."""
    warmup = settings["warmup"]
    return settings["learning_rate"] * (min((number - 1) / warmup, 1.0) if warmup else 1.0)


def clipped(settings, gradients):
    """Returns the gradients scaled down to the largest norm, and the norm that they had."""
    norm = torch.sqrt(sum(gradient.square().sum() for gradient in gradients.values())).item()
    limit = settings["max_grad_norm"]
    scale = min(1.0, limit / norm) if limit and norm else 1.0
    return {name: scale * gradient for name, gradient in gradients.items()}, norm


def moments_with(settings, moments, gradient):
    """Returns both moments after an update with this gradient."""
    beta1, beta2 = settings["beta1"], settings["beta2"]
    return beta1 * moments[0] + (1 - beta1) * gradient, beta2 * moments[1] + (1 - beta2) * gradient.square()


def updated(settings, weight, moments, count, rate):
    """Returns a weight after update number `count`, from 1, which produced these moments. Only matrices decay."""
    first, second = moments[0] / (1 - settings["beta1"] ** count), moments[1] / (1 - settings["beta2"] ** count)
    decay = settings["weight_decay"] * weight if weight.dim() > 1 else 0.0
    return weight - rate * (first / (second.sqrt() + settings["eps"]) + decay)
