"""What the brackets of a unit's name change, in words."""

STARTS = {
    "add": "[1, 1]",
    "sub": "[1, -1]",
    "half": "[0.5, 0.5]",
    "first": "[1, 0]",
    "random": "random numbers",
}
CHANGES = {
    "mix=loss": "trained on a mix of the losses of its two domains alone, not on the loss of the "
    "mixed output",
    "mix=linear": "the two results mixed, not their logarithms",
    "sign=inalu": "with a sign, the product of the signs of the selected inputs, as in iNALU",
    "sign=real_npu": "with a sign, the cosine over the selected negative inputs, as in Real NPU",
    "clip_norm=None": "no clipping",
    "clip_norm=1": "a looser clip",
    "gate=single": "one logit",
    "dtype=float64": "double precision",
    **{f"selector={name}": f"O starts at {start}" for name, start in STARTS.items()},
}
"""By setting; one that says itself what it is, as `rate=0.1`, is not here."""


def settings(unit: str) -> list[str]:
    """What stands in the brackets of a name, each as `key=value`."""
    inside = unit.rstrip("]").partition("[")[2]
    return inside.split(",") if inside else []


def base(unit: str) -> str:
    """The name before the brackets."""
    return unit.partition("[")[0]


def changed(unit: str) -> str:
    """What the brackets of a name change; empty if that is not known."""
    return "; ".join(CHANGES[one] for one in settings(unit) if one in CHANGES)


def setting(unit: str) -> str:
    """What a variant changes: of `dmu[learn=True,start=add]`, `learn, start=add`."""
    found = [one.removesuffix("=True") for one in settings(unit)]
    return ", ".join(found) if found else f"{unit} as it is"
