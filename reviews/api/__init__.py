"""The REST API below ``/api/v1``: everything but signing. Views translate; rules live in services and selectors."""
