"""Table 3: in-model draws in three dimensions (App. E), hyperparameters fixed at the truth or learned."""

from .tables import PaperTable

TABLE = PaperTable(
    "Table 3: in-model draws in three dimensions",
    free=("in-model-free",),
    constrained=("in-model",),
    failures=15,
)
plan, section = TABLE.plan, TABLE.section
