"""Random formulas, and numbers that know how much of them rounding may have lost."""

from dataclasses import dataclass
from random import Random

EPSILON = 2.0**-53


def random_expression(random: Random, names: str, steps: int) -> str:
    """A formula of `steps` operations on the names, some numbers among them."""
    if steps == 0:
        if random.random() < 0.1:
            return random.choice(["2", "3", "0.5", "1.25", "10"])
        return random.choice(names)
    kind = random.random()
    if kind < 0.06:
        return f"-({random_expression(random, names, steps - 1)})"
    if kind < 0.14:
        power = random.choice([2, 3, -1, -2])
        return f"({random_expression(random, names, steps - 1)})**{power}"
    left = random.randint(0, steps - 1)
    sides = [random_expression(random, names, n) for n in (left, steps - 1 - left)]
    return f"({sides[0]}) {random.choice('+-*/')} ({sides[1]})"


@dataclass(frozen=True)
class Tracked:
    """A number and a bound on what rounding may have done to it."""

    value: float
    error: float = 0.0

    @staticmethod
    def of(other) -> "Tracked":
        return other if isinstance(other, Tracked) else Tracked(float(other))

    def __add__(self, other):
        other = Tracked.of(other)
        value = self.value + other.value
        return Tracked(value, self.error + other.error + EPSILON * abs(value))

    def __mul__(self, other):
        other = Tracked.of(other)
        value = self.value * other.value
        error = abs(self.value) * other.error + abs(other.value) * self.error
        return Tracked(value, error + EPSILON * abs(value))

    def __truediv__(self, other):
        other = Tracked.of(other)
        value = self.value / other.value
        error = (self.error + abs(value) * other.error) / abs(other.value)
        return Tracked(value, error + EPSILON * abs(value))

    def __pow__(self, power):
        result = self
        for _ in range(abs(power) - 1):
            result = result * self
        return Tracked(1.0) / result if power < 0 else result

    def __neg__(self):
        return Tracked(-self.value, self.error)

    def __sub__(self, other):
        return self + -Tracked.of(other)

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return Tracked.of(other) / self

    @property
    def trusted(self) -> bool:
        """Whether no cancellation has spoilt the twelfth digit."""
        return self.error <= 1e-14 * abs(self.value) < 1e250
