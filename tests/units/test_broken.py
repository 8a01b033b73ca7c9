"""Deliberately broken units: each property of the contract can fail."""

import pytest
import torch

from arithmix import DMU

from . import contract


class WrongSolution(DMU):
    def solution(self, operation):
        return super().solution("mul" if operation == "add" else "add")


class InexactWhenHard(DMU):
    def forward(self, x):
        return super().forward(x) * (1 + 1e-6 * self.hardened)


class WrongFormula(DMU):
    def expression(self):
        return super().expression().replace("+", "-")


class CutGradient(DMU):
    def forward(self, x):
        return super().forward(x) + super().forward(x).detach()


class NotFinite(DMU):
    def forward(self, x):
        return super().forward(x) + 0 * torch.log(x.abs())


class SharedParameters(DMU):
    def weights(self):
        w = super().weights()
        return w.mean(0, keepdim=True).expand_as(w) if self.population else w

    def draw(self, generator):
        gate = torch.rand(self.out_features, 2, generator=generator)
        return super().draw(generator) | {"gate": gate}


class FlatBatch(DMU):
    def forward(self, x):
        return super().forward(x.flatten(0, -2))


class AnyWidth(DMU):
    def forward(self, x):
        return super().forward(torch.nn.functional.pad(x, (0, self.in_features - x.shape[-1])))


class Broadcasts(DMU):
    def forward(self, x):
        return self.soft(x)


class SaysTooLittle(DMU):
    def forward(self, x):
        if x.shape[-1:] != (self.in_features,):
            raise ValueError("wrong width")
        return super().forward(x)


class LeavesItToTorch(DMU):
    def forward(self, x):
        return super().forward(x.reshape(*x.shape[:-1], self.in_features))


class AnyTarget(DMU):
    def loss(self, x, y):
        return self.objective(x, y)


class BuiltTooEarly(DMU):
    def __init__(self, in_features, out_features=1, **more):
        self.first = torch.zeros(in_features)[0]
        super().__init__(in_features, out_features, **more)


class GlobalSeed(DMU):
    def draw(self, generator):
        torch.manual_seed(0)
        return super().draw(generator)


class GlobalDraw(DMU):
    def draw(self, generator):
        return super().draw(generator) | {"gate": torch.rand(self.out_features, 2)}


class UndrawnParameter(DMU):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.shift = torch.nn.Parameter(torch.zeros(1))


class StaysHard(DMU):
    def reset_parameters(self, generator=None):
        super().reset_parameters(generator)
        self.hardened = True


class ResetsTheGateAlone(DMU):
    def draw(self, generator):
        selector = torch.rand(self.out_features, self.in_features, generator=generator)
        return super().draw(generator) | {"selector": selector}

    def reset_parameters(self, generator=None):
        kept = self.selector.clone()
        super().reset_parameters(generator)
        self.selector.copy_(kept)


class Remembers(DMU):
    def forward(self, x):
        self.last = x
        return super().forward(x)


class Noisy(DMU):
    def forward(self, x):
        return super().forward(x) + torch.randn(())


class WritesOnItsInput(DMU):
    def forward(self, x):
        return super().forward(x.mul_(1.0 + 1e-3))


class RestlessProjection(DMU):
    def project(self):
        with torch.no_grad():
            self.gate.mul_(0.5)


class NeverSparse(DMU):
    def sparsity(self):
        return super().sparsity() + 0.1


class HiddenState(DMU):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        source = more.get("generator")
        self._shift = float(torch.rand((), generator=source)) if source else 0.0

    def forward(self, x):
        return super().forward(x) + self._shift


class ForgetsThatItIsHard(DMU):
    def state_dict(self, *arguments, **more):
        state = super().state_dict(*arguments, **more)
        return {key: value for key, value in state.items() if not key.endswith("hardened")}


class HardOnceLoaded(DMU):
    def load_state_dict(self, state_dict, strict=True, assign=False):
        super().load_state_dict(state_dict, strict, assign)
        self.hardened = True


class AlwaysFloat32(DMU):
    def forward(self, x):
        return super().forward(x).float()


class NoRecipe(DMU):
    @classmethod
    def recipe(cls, operation):
        return {"rate": 0.1}


class NoGradient(DMU):
    def loss(self, x, y):
        return super().loss(x, y).detach() + 0 * self.gate.sum()


BROKEN = [
    (WrongSolution, contract.the_solution_computes_the_operation),
    (InexactWhenHard, contract.the_hardened_unit_is_exact),
    (WrongFormula, contract.the_expression_is_what_it_computes),
    (CutGradient, contract.gradients_match_finite_differences),
    (NotFinite, contract.values_and_gradients_are_finite),
    (SharedParameters, contract.a_population_is_its_members),
    (FlatBatch, contract.any_batch_shape_will_do),
    (AnyWidth, contract.a_wrong_width_is_an_error),
    (Broadcasts, contract.a_wrong_width_is_an_error),
    (SaysTooLittle, contract.a_wrong_width_is_an_error),
    (LeavesItToTorch, contract.a_wrong_width_is_an_error),
    (AnyTarget, contract.a_target_of_another_shape_is_an_error),
    (BuiltTooEarly, contract.sizes_that_no_unit_has_are_an_error),
    (GlobalSeed, contract.a_draw_depends_on_its_generator_alone),
    (GlobalDraw, contract.a_draw_depends_on_its_generator_alone),
    (UndrawnParameter, contract.a_draw_depends_on_its_generator_alone),
    (StaysHard, contract.a_reset_draws_anew),
    (ResetsTheGateAlone, contract.a_reset_draws_anew),
    (Remembers, contract.forward_leaves_no_trace),
    (Noisy, contract.forward_leaves_no_trace),
    (WritesOnItsInput, contract.forward_leaves_no_trace),
    (RestlessProjection, contract.projection_is_idempotent_and_keeps_the_solution),
    (NeverSparse, contract.sparsity_is_zero_at_a_solution),
    (HiddenState, contract.the_state_can_be_saved_and_copied),
    (ForgetsThatItIsHard, contract.a_saved_unit_is_as_hard_as_it_was),
    (HardOnceLoaded, contract.a_saved_unit_is_as_hard_as_it_was),
    (AlwaysFloat32, contract.dtypes_are_kept),
    (NoRecipe, contract.the_recipe_builds_the_unit),
    (NoGradient, contract.training_moves_it_finitely),
]


@pytest.mark.parametrize(("unit", "check"), BROKEN, ids=lambda value: value.__name__)
def test_a_broken_unit_fails_the_contract(unit, check):
    with pytest.raises((AssertionError, RuntimeError)):
        check(unit)


def test_every_property_has_a_unit_that_fails_it():
    assert {check for _, check in BROKEN} == set(contract.PROPERTIES)
