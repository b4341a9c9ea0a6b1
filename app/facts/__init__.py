"""The ledger: every figure the exhibit states, with value, unit, conditions, kind and source."""
