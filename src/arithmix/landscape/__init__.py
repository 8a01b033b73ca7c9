"""The loss landscapes of the DMU: surfaces, stationary points, and the paths of real trainings.

`arithmix landscape` keeps one set of arrays per cell (operation x range) in the records, under the
name `landscape/OPERATION/RANGE`; `Store.kept("landscape/")` gives them back as a dict of numpy
arrays, and `arrays.Landscape` has them as fields. This module and `arrays` import no torch.

Two coordinates are in every array: O, the selector (`O0` and `O1`, without unit), and `g`, the
weight of the linear domain, in [0, 1]: at 1 the unit adds or subtracts, at 0 it multiplies or
divides. A loss is a mean squared error over the training interval of the range.

| array | shape, dtype | what it is |
|---|---|---|
| `cell` | (2,) str | the operation and the range |
| `o1` | (M,) float64 | the grid's O[1], rising, about -2 to 2 |
| `g` | (N,) float64 | the grid's g, rising, 0 to 1 |
| `loss` | (N, M) float64 | the loss at O = [1, o1[j]] and g[i]: rows are g, columns are O[1] |
| `pattern` | (2,) float64 | the frozen O: [1, 1] for add and mul, [1, -1] for sub and div |
| `frozen_g` | (K,) float64 | where the loss along the gate is known, rising, 0 to 1 |
| `frozen_loss` | (K,) float64 | the loss there, with O frozen at `pattern` |
| `frozen_minima` | (m,) float64 | g of its local minima: one value if the curve is unimodal |
| `frozen_convex_g` | () bool | whether the curve is convex in g |
| `frozen_convex_logit` | () bool | whether it is convex in the gate's logit |
| `point` | (P, 3) float64 | stationary points of the loss in (O0, O1, g) |
| `point_kind` | (P,) str | solution, minimum, saddle, maximum, valley or plateau |
| `point_rest` | (P,) bool | whether no small move lowers the loss: a training can stay |
| `point_loss` | (P,) float64 | the loss there |
| `point_slope` | (P,) float64 | the largest relative fall of the loss within 0.05, to first order |
| `point_eigenvalues` | (P, 3) float64 | of the Hessian in (O0, O1, g), rising; see below |
| `place` | (L, 3) float64 | all that is listed: the points, and nets of valleys and plateaus |
| `place_point` | (L,) int64 | the row of `point` that a place belongs to |
| `plane_point` | (Q, 2) float64 | stationary points in the plane O0 = 1, in (O1, g) |
| `plane_kind` | (Q,) str | as `point_kind`, in the plane |
| `plane_loss` | (Q,) float64 | the loss there |
| `path_step` | (S,) int64 | steps at which trainings with learnable O were noted, rising from 0 |
| `path` | (T, S, 3) float64 | their (O0, O1, g) there |
| `path_loss` | (T, S) float64 | the loss there |
| `path_start` | (T,) str | the name of the selector they started from |
| `path_seed` | (T,) int64 | their seed |
| `path_solved` | (T,) bool | whether they end within 0.05 of the solution |
| `path_point` | (T,) int64 | the row of `point` whose place is nearest to their end |
| `path_distance` | (T,) float64 | how far that place is: the largest difference in O0, O1 and g |
| `test_end` | (T, 3) float64 | where trainings ended that the search did not start from |
| `test_solved` | (T,) bool | as `path_solved` |
| `test_distance` | (T,) float64 | as `path_distance` |
| `chance` | () float64 | the share of evenly drawn places within 0.05 of a listed one |

Kinds: the solution computes the operation; a minimum, saddle or maximum has eigenvalues away from
0. At a plateau the gate is saturated (g = 0 or 1), where training in logits does not feel a slope
in g. A valley or plateau can also be ground where the loss changes within 0.05 by less than 1%,
beside the loss itself or the rise of its walls: between walls it is a valley, without any a
plateau. It is one row of `point`, its lowest place, and a net of places with 0.05 between them,
followed over |O| < 3 and around the ends of trainings. An eigenvalue is infinite at a kink (O0 = 0
or O1 = 0 on a range with negative numbers) and NaN for a gate that is held at its end. `stationary`
and `net` have the tolerances.

A path lies in three dimensions and the surface in the plane O0 = 1; a picture shows its shadow.
Losses span many decades and may be 0 at a solution: draw log10(loss) with a floor.
"""
