"""usage: peer_losses.py IN OUT: IN is a safetensors file of some cases, each CASE.q, CASE.d and CASE.n [B, K, D], what the losses of case CASE ask for besides,
and a settings string {CASE: {...}} in its metadata; OUT gets the value and the gradients of sentence-transformers' own losses."""
import json
import sys

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sentence_transformers.sentence_transformer.losses import (
    angle, contrastive, cosent, cosine_similarity, distill_kl_div, embed_distill, gist_embed, margin_mse, online_contrastive, triplet)
from sentence_transformers.util import pairwise_cos_sim, pairwise_dot_score


class Squares(torch.nn.MSELoss):
    """Of rows in float64: the loss makes its scores float32, which torch does not take beside them."""
    def forward(self, cosines, scores):
        return super().forward(cosines, scores.to(cosines))


each_pair = {"cosine_similarity": lambda model: cosine_similarity.CosineSimilarityLoss(model, Squares()), "contrastive": contrastive.ContrastiveLoss,
             "online_contrastive": online_contrastive.OnlineContrastiveLoss}


class NoModel(torch.nn.Module):
    device = torch.device("cpu")


def gist(settings):
    loss = gist_embed.GISTEmbedLoss.__new__(gist_embed.GISTEmbedLoss)
    torch.nn.Module.__init__(loss)
    gist_embed.embed_columns = lambda key, columns: [column[key] for column in columns]
    loss.model, loss.guide, loss.must_retokenize, loss.gather_across_devices = "own", "guide", False, False
    loss.similarity_fct, loss.cross_entropy_loss = torch.nn.CosineSimilarity(dim=-1), torch.nn.CrossEntropyLoss()
    for key in ("temperature", "margin_strategy", "margin", "contrast_anchors", "contrast_positives"):
        setattr(loss, key, settings[key])
    return loss


def value(settings, t, columns):
    kind = settings["loss"]
    if kind == "cosent":
        return cosent.CoSENTLoss(NoModel(), settings["scale"]).compute_loss_from_embeddings(columns, t["scores"])
    if kind == "angle":
        return angle.AnglELoss(NoModel(), settings["scale"]).compute_loss_from_embeddings(columns, t.get("scores"))
    if kind == "triplet":
        metric = getattr(triplet.TripletDistanceMetric, settings["distance"].upper())
        return triplet.TripletLoss(NoModel(), metric, settings["margin"]).compute_loss_from_embeddings(columns, None)
    if kind in each_pair:  # hard negatives are pairs of their own
        pairs = [t["q"].repeat_interleave(len(columns) - 1, 0), torch.stack(columns[1:], 1).flatten(0, 1)]
        return each_pair[kind](NoModel(), **settings["options"]).compute_loss_from_embeddings(pairs, t["scores"].flatten() / settings["highest_score"])
    similarity = pairwise_cos_sim if settings.get("similarity") == "cosine" else pairwise_dot_score
    if kind == "margin_mse":
        return margin_mse.MarginMSELoss(NoModel(), similarity).compute_loss_from_embeddings(columns, t["scores"])
    if kind == "kl":
        return distill_kl_div.DistillKLDivLoss(NoModel(), similarity, temperature=settings["temperature"]).compute_loss_from_embeddings(columns, t["scores"])
    if kind == "cosine_to_teacher":
        loss = embed_distill.EmbedDistillLoss(NoModel(), "cosine")
        if "weight" in t:
            loss.projection = torch.nn.Linear(t["weight"].shape[1], t["weight"].shape[0])
            loss.projection.weight, loss.projection.bias = torch.nn.Parameter(t["weight"]), torch.nn.Parameter(t["bias"])
        return loss.compute_loss_from_embeddings(columns, list(t["guide"].unbind(1)))
    features = [{"own": c, "guide": g} for c, g in zip(columns, t["guide"].unbind(1))]
    return gist(settings)(features, None)


source, out = sys.argv[1:]
results = {}
with safe_open(source, "pt") as file:
    cases = json.loads(file.metadata()["settings"])
    for name, settings in cases.items():
        t = {key.split(".", 1)[1]: file.get_tensor(key) for key in file.keys() if key.split(".", 1)[0] == name}
        leaves = {key: t[key].requires_grad_() for key in ("q", "d", "n") if key in t}
        columns = [t["q"], t["d"], *(t["n"].unbind(1) if "n" in t else ())]
        loss = value(settings, t, columns)
        loss.backward()
        results[name + ".loss"] = loss.detach().reshape(1)
        for key, leaf in leaves.items():
            results[name + ".grad_" + key] = leaf.grad
save_file(results, out)
