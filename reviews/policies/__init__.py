"""The rules of reviewing as pure functions over plain values; the same for pages and API.

``permissions`` says who may do what, ``document`` reads the workspace's policy, ``requirements`` judges sign-offs,
``scope`` says what a team signs for, ``transitions`` which states follow which.
"""
