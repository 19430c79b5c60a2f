"""The parts of an engine that programs call: documents, the graph, corrections, maintenance."""
