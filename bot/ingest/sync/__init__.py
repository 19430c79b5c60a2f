"""Back-fill, reconciliation after downtime, and periodic jobs. Imports the services of `ingest`."""
