"""The API tokens of the requests of schemathesis, one after another: each token has its own rate limit."""

import itertools
import os

import schemathesis

TOKENS = itertools.cycle(os.environ["API_TOKENS"].split())


@schemathesis.auth(refresh_interval=None)
class NextToken:
    def get(self, case, context):
        return next(TOKENS)

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"
