"""Questions in six languages about messages of invented clubs, answered without a model."""
