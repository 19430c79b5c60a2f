"""The stores: the ledger (facts and text), the graph and the vectors. Only this package of the engine contains SQL."""
