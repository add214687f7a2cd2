"""`python -m experiments.compression`: the experiment on its own, with its data and its time limit."""

import sys

from .experiment import main

sys.exit(main())
