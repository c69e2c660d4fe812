"""Forged and odd JWTs, one by one: how they are signed, by which key, for whom, and until when."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import SecretStr

from citegraph.settings import Settings
from server.auth import SKEW, Credentials, Unauthenticated

SECRET = "a secret that is as long as it has to be"
PRIVATE = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
PEM = PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
OCTETS = b"octets that somebody put into a file of public keys"


def part(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def signed(header: Any, claims: Any, key: bytes = SECRET.encode(), digest: Any = hashlib.sha256) -> str:
    """Return a token signed with an HMAC, whatever its header says."""
    body = f"{part(header)}.{part(claims)}"
    mark = base64.urlsafe_b64encode(hmac.new(key, body.encode(), digest).digest()).rstrip(b"=").decode()
    return f"{body}.{mark}"


def claims(**more: Any) -> dict[str, Any]:
    given = {"sub": "ana", "exp": int(time.time()) + 300, "aud": "citegraph", "iss": "us"} | more
    return {name: value for name, value in given.items() if value is not None}


def by_rsa(key: Any = PRIVATE, header: Any = None, **more: Any) -> str:
    return jwt.encode(claims(**more), key, "RS256", {"kid": "one"} | (header or {}))


@pytest.fixture
def known(tmp_path: Path) -> Credentials:
    """Return what accepts both ways of signing, for one audience of one issuer."""
    keys = [
        json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(PRIVATE.public_key())) | {"kid": "one"},
        json.loads(jwt.algorithms.ECAlgorithm.to_jwk(CURVE.public_key())) | {"kid": "curve"},
        {"kty": "oct", "kid": "octets", "k": part(OCTETS.decode())},
    ]
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": keys}), "utf-8")
    return Credentials(
        Settings(
            jwt_secret=SecretStr(SECRET),
            jwt_keys=tmp_path / "jwks.json",
            jwt_audience="citegraph",
            jwt_issuer="us",
        )
    )


HS = {"alg": "HS256", "typ": "JWT"}
GOOD: dict[str, Callable[[], str]] = {
    "by the secret": lambda: signed(HS, claims()),
    "by the key": by_rsa,
    "for several audiences": lambda: signed(HS, claims(aud=["other", "citegraph"])),
    "expired within the skew of clocks": lambda: signed(HS, claims(exp=int(time.time()) - SKEW // 2)),
    "of a clock that is ahead": lambda: signed(HS, claims(iat=int(time.time()) + SKEW // 2)),
    "valid from a moment of a clock that is ahead": lambda: signed(
        HS, claims(nbf=int(time.time()) + SKEW // 2)
    ),
}
FORGED: dict[str, Callable[[], str]] = {
    # Algorithms
    "no signature": lambda: f"{part({'alg': 'none'})}.{part(claims())}.",
    "no signature, written otherwise": lambda: f"{part({'alg': 'NoNe'})}.{part(claims())}.",
    "no algorithm": lambda: signed({"typ": "JWT"}, claims()),
    "a list of algorithms": lambda: signed({"alg": ["HS256"]}, claims()),
    "lower case": lambda: signed({"alg": "hs256"}, claims()),
    "another digest": lambda: signed({"alg": "HS512"}, claims(), digest=hashlib.sha512),
    "the public key as a secret": lambda: signed(HS | {"kid": "one"}, claims(), PEM),
    "the public key, stripped, as a secret": lambda: signed(HS | {"kid": "one"}, claims(), PEM.strip()),
    "the secret's mark under RS256": lambda: signed({"alg": "RS256", "kid": "one"}, claims()),
    "an empty secret": lambda: signed(HS, claims(), b""),
    "a curve's key": lambda: jwt.encode(claims(), CURVE, "ES256", {"kid": "curve"}),
    "octets of the key file": lambda: signed(HS | {"kid": "octets"}, claims(), OCTETS),
    "RS256 by the curve's name": lambda: by_rsa(header={"kid": "curve"}),
    "RS256 by the octets' name": lambda: by_rsa(header={"kid": "octets"}),
    "an extension that nobody knows": lambda: signed(HS | {"crit": ["x"], "x": 1}, claims()),
    # Names of keys
    "no name of three keys": lambda: jwt.encode(claims(), PRIVATE, "RS256"),
    "another name": lambda: by_rsa(header={"kid": "two"}),
    "a path": lambda: by_rsa(header={"kid": "../../../../dev/null"}),
    "a query": lambda: by_rsa(header={"kid": "one' OR '1'='1"}),
    "a number for a name": lambda: signed({"alg": "RS256", "kid": 1}, claims()),
    "a list for a name": lambda: signed({"alg": "RS256", "kid": ["one"]}, claims()),
    "a key of its own": lambda: by_rsa(
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        {"jwk": {"kty": "RSA"}, "jku": "http://127.0.0.1:9/jwks.json", "x5u": "http://127.0.0.1:9/x"},
    ),
    # Times
    "expired": lambda: signed(HS, claims(exp=int(time.time()) - 2 * SKEW)),
    "no end": lambda: signed(HS, claims(exp=None)),
    "an end in words": lambda: signed(HS, claims(exp="never")),
    "an end without an end": lambda: signed(HS, claims(exp=float("inf"))),
    "no number for an end": lambda: signed(HS, claims(exp=float("nan"))),
    "a list for an end": lambda: signed(HS, claims(exp=[int(time.time()) + 300])),
    "not valid yet": lambda: signed(HS, claims(nbf=int(time.time()) + 2 * SKEW)),
    "made in the future": lambda: signed(HS, claims(iat=int(time.time()) + 2 * SKEW)),
    "made at no number": lambda: signed(HS, claims(iat=float("inf"))),
    # For whom and from whom
    "another audience": lambda: signed(HS, claims(aud="other")),
    "no audience": lambda: signed(HS, claims(aud=None)),
    "a number for an audience": lambda: signed(HS, claims(aud=7)),
    "an audience that begins alike": lambda: signed(HS, claims(aud="citegraph.example")),
    "another issuer": lambda: signed(HS, claims(iss="them")),
    "no issuer": lambda: signed(HS, claims(iss=None)),
    "a list of issuers": lambda: signed(HS, claims(iss=["us"])),
    "nobody": lambda: signed(HS, claims(sub=None)),
    "a number for a name of somebody": lambda: signed(HS, claims(sub=7)),
    "an object for a bucket": lambda: signed(HS, claims(buckets={"all": True})),
    "a word for a right": lambda: signed(HS, claims(write="perhaps")),
    # Shapes
    "a list of claims": lambda: signed(HS, [claims()]),
    "a header that is a list": lambda: signed([HS], claims()),
    "a header as deep as a well": lambda: signed("[" * 20_000, claims()),
    "claims as deep as a well": lambda: signed(HS, "[" * 20_000),
    "a number without an end": lambda: signed(HS, f'{{"sub": "ana", "exp": {"9" * 5_000}}}'),
    "no text": lambda: "..",
    "half a character": lambda: f"{part(HS)}.\ud800.x",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_token_that_is_right_is_taken(name: str, known: Credentials) -> None:
    assert known.principal({"authorization": f"Bearer {GOOD[name]()}"}).name == "ana"


@pytest.mark.parametrize("name", FORGED)
def test_a_token_that_is_wrong_is_refused(name: str, known: Credentials) -> None:
    with pytest.raises(Unauthenticated):
        known.principal({"authorization": f"Bearer {FORGED[name]()}"})
