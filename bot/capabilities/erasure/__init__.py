"""Rehearse erasures, give receipts of them, list receipts, and compare one with what is stored."""
