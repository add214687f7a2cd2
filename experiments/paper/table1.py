"""Table 1: Hartmann 6D and Michalewicz 10D, without and with the sine-product constraint (§5.2)."""

from .tables import PaperTable

TABLE = PaperTable(
    "Table 1: Hartmann 6D and Michalewicz 10D",
    free=("hartmann6", "michalewicz10"),
    constrained=("hartmann6-constrained", "michalewicz10-constrained"),
    failures=10,
)
plan, section = TABLE.plan, TABLE.section
