"""The options of formulas, and what they mean for a command."""

from __future__ import annotations

from sklearn_textbook.cli.errors import refuse_use


def choose_algorithm(algorithm: str | None, is_classes: bool) -> str:
    """Choose least squares or logistic regression, unless one is named."""
    return algorithm or ("logistic" if is_classes else "linear")


def read_formulas(texts: list[str], target: str | None) -> tuple[str | None, list[str]]:
    """Split formulas into their common target and their terms."""
    terms = []
    for text in texts:
        own, right = split_target(text)
        if own is not None and target is not None and own != target:
            refuse_use(
                f"--formula {text!r} has the target {own!r}, others or --target "
                f"{target!r}"
            )
        target = target if own is None else own
        terms.append(right)
    return target, terms


def split_target(text: str) -> tuple[str | None, str]:
    """Split a formula at its tilde; the target must be the name of a column."""
    left, sign, right = text.partition("~")
    if not sign:
        return None, text.strip()
    name = left.strip().strip("`")
    if "(" in name and "`" not in left:
        refuse_use(
            f"--formula {text!r}: the target must be a column, not a function of one"
        )
    return name or None, right.strip()
