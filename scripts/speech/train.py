"""Learn what a message to the bot is, from `examples/`: `python -m scripts.speech.train`.

Logistic regression over the named features of a message (`bot.text.speech.kinds`), by stochastic gradient descent with
a step for each feature; the weights after the last epochs are averaged. What is rare or weighs little is left out. The
result is the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from bot.text.speech.addressed import name_evidence
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.kinds import passing, weights
from bot.text.speech.kinds.features import name_features
from scripts.speech.messages import MENTIONING, make_examples, make_mentions, read_languages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scripts.speech.messages import Example

MIN_COUNT = 6  # examples that have a feature
EPOCHS = 6
AVERAGED = 3  # last epochs, whose weights are averaged
RATE = 0.5  # of learning
DECAY = 2e-5
CERTAIN = 0.02  # error from which an example teaches something
MIN_WEIGHT = 100  # hundredths by which the weights of a feature differ between kinds
SEED = 1


def main() -> None:
    """Write the files of weights."""
    for make, learn, file in (
        (make_all, learn_kinds, weights.FILE),
        (make_all_mentions, learn_manners, passing.FILE),
    ):
        examples = make()
        lines = learn(examples)
        file.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")
        print(f"{file.stem}: {len(examples)} examples, {len(lines)} features")


def make_all() -> list[Example]:
    """The examples of all languages, always the same ones; those of a language depend on no other language."""
    return [
        each for language in read_languages() for each in make_examples(language, Random(f"{SEED} {language.name}"))
    ]


def make_all_mentions() -> list[Example]:
    """The examples of messages that mention the bot, of all languages, always the same ones."""
    spoken = {language.name: language for language in read_languages()}
    return [
        each
        for language in read_languages(MENTIONING)
        for each in make_mentions(language, spoken[language.name], Random(f"{SEED} {language.name}"))
    ]


def learn_kinds(examples: Sequence[Example]) -> list[str]:
    """The lines of the file of weights of the kinds of speech."""
    return learn(examples, _name_all, weights.KINDS)


def learn_manners(examples: Sequence[Example]) -> list[str]:
    """The lines of the file of weights that tell what only mentions the bot."""
    return learn(examples, passing.name_passing_features, passing.MANNERS)


def learn(examples: Sequence[Example], name: Callable[[str], set[str]], kinds: Sequence[str]) -> list[str]:
    """The lines of a file of weights; `name`: names the features of a text."""
    named = [name(example.text) for example in examples]
    counts = Counter(name for names in named for name in names)
    known = {name: at for at, name in enumerate(sorted(name for name in counts if counts[name] >= MIN_COUNT))}
    rows = [np.array([known[name] for name in sorted(names) if name in known], dtype=np.int64) for names in named]
    learned = _descend(rows, [kinds.index(example.kind) for example in examples], (len(known), len(kinds)))
    scaled = np.rint(learned * weights.SCALE).astype(int)
    scaled -= np.rint(scaled.mean(axis=1, keepdims=True)).astype(int)
    kept = [(name, scaled[at]) for name, at in known.items() if np.ptp(scaled[at]) >= MIN_WEIGHT]
    return ["\t".join([name, *map(str, numbers)]) for name, numbers in [("", scaled[-1]), *kept]]


def _name_all(text: str) -> set[str]:
    return name_features(text) | name_evidence(text, split_sentences(text))


def _descend(rows: Sequence[np.ndarray], kinds: Sequence[int], shape: tuple[int, int]) -> np.ndarray:
    """Weights of features, and the bias, for each kind; `shape`: the numbers of features and kinds."""
    features, columns = shape
    learned, total = np.zeros((features + 1, columns)), np.zeros((features + 1, columns))
    steps = np.full((features + 1, 1), 1e-2)
    order = np.random.default_rng(SEED)
    for epoch in range(EPOCHS):
        for example in order.permutation(len(rows)):
            row, share = rows[example], 1 / np.sqrt(len(rows[example]) + 1)
            sums = learned[row].sum(axis=0) * share + learned[-1]
            error = np.exp(sums - sums.max())
            error /= error.sum()
            error[kinds[example]] -= 1
            if np.abs(error).max() < CERTAIN:
                continue
            slope = error[None, :] * share + DECAY * learned[row]
            steps[row] += (slope**2).sum(axis=1, keepdims=True)
            learned[row] -= RATE * slope / np.sqrt(steps[row])
            steps[-1] += (error**2).sum()
            learned[-1] -= RATE * error / np.sqrt(steps[-1])
        if epoch >= EPOCHS - AVERAGED:
            total += learned
    return total / AVERAGED


if __name__ == "__main__":
    main()
