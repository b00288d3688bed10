#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Tokens.json: tokens for the tests of signing in, by two libraries that are not ours.

    python3 -m venv /tmp/tokens && /tmp/tokens/bin/pip install joserfc authlib
    /tmp/tokens/bin/python Tests/Fixtures/tokens.py > Tests/Fixtures/Tokens.json

Both libraries also judge each token that should be good. Each run makes new keys, so each line of the file changes.
`verdict` is `ok` or the name of a TokenRefusal.
"""
import base64
import hmac
import json
import logging

from authlib.jose import JsonWebKey, JsonWebToken
from joserfc import jwk, jws

logging.disable(logging.WARNING)
NOW = 1_800_000_000
ISSUER, AUDIENCE = "https://login.example.org", "tidemark"


def encoded(data):
    text = data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


rsa = jwk.RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig", "alg": "RS256"})
ec = jwk.ECKey.generate_key("P-256", {"kid": "ec", "use": "sig"})
ed = jwk.OKPKey.generate_key("Ed25519", {"kid": "ed", "key_ops": ["verify"]})
other = jwk.ECKey.generate_key("P-256", {"kid": "other"})
ec384 = jwk.ECKey.generate_key("P-384", {"kid": "p384"})
small = jwk.RSAKey.generate_key(1024, {"kid": "small"}, auto_kid=False)
for_encryption = jwk.RSAKey.generate_key(2048, {"kid": "enc", "use": "enc"})
KEYS = {"RS256": rsa, "ES256": ec, "EdDSA": ed}
MADE = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA", "HS256"]


def claims(**changes):
    all = {"iss": ISSUER, "sub": "42", "aud": AUDIENCE, "iat": NOW - 10, "exp": NOW + 300} | changes
    return {name: value for name, value in all.items() if value is not None}


def private(key):
    data = key.as_dict(private=True)
    data.pop("use", None), data.pop("key_ops", None), data.pop("alg", None)
    return type(key).import_key(data)


def token(algorithm="ES256", key=None, header=None, body=None, kid=True):
    key = key or KEYS[algorithm]
    head = {"alg": algorithm} | ({"kid": key.kid} if kid else {}) | (header or {})
    text = body if isinstance(body, bytes) else json.dumps(body or claims()).encode()
    # joserfc refuses to sign some of what a bad token has, so the parts are put together here.
    signed = encoded(head) + "." + encoded(text)
    model = jws.JWSRegistry.algorithms[algorithm]
    return signed + "." + encoded(model.sign(signed.encode(), private(key)))


def changed(text, place):
    letters = list(text)
    letters[place] = "A" if letters[place] != "A" else "B"
    return "".join(letters)


good = token()
head, body, signature = good.split(".")
raw = base64.urlsafe_b64decode(signature + "==")
public_pem = rsa.as_pem(private=False)
with_hmac = encoded({"alg": "HS256", "kid": "rsa"}) + "." + body

cases = [
    ("RS256", token("RS256"), "ok"),
    ("ES256", good, "ok"),
    ("EdDSA", token("EdDSA"), "ok"),
    ("no kid", token(kid=False), "ok"),
    ("type JWT", token(header={"typ": "JWT"}), "ok"),
    ("type at+jwt", token(header={"typ": "application/at+JWT"}), "ok"),
    ("several audiences", token(body=claims(aud=["other", AUDIENCE])), "ok"),
    ("several audiences and a party that is known", token(body=claims(aud=["other", AUDIENCE], azp=AUDIENCE)), "ok"),
    ("within the skew after its end", token(body=claims(exp=NOW - 59)), "ok"),
    ("within the skew before its beginning", token(body=claims(nbf=NOW + 59, iat=NOW + 59)), "ok"),
    ("a date with a fraction", token(body=claims(exp=NOW + 0.5)), "ok"),
    ("a subject of 255 bytes", token(body=claims(sub="s" * 255)), "ok"),
    ("an embedded key that is not used", token(header={"jwk": other.as_dict(private=False)}), "ok"),
    ("expired", token(body=claims(exp=NOW - 60)), "expired"),
    ("expired long ago", token(body=claims(exp=0)), "expired"),
    ("not yet valid", token(body=claims(nbf=NOW + 61)), "notYetValid"),
    ("issued in the future", token(body=claims(iat=NOW + 61)), "notYetValid"),
    ("no end", token(body=claims(exp=None)), "malformed"),
    ("an end that is a text", token(body=claims(exp=str(NOW + 300))), "malformed"),
    ("an end after all time", token(body=claims(exp=1e300)), "malformed"),
    ("a negative end", token(body=claims(exp=-1)), "malformed"),
    ("wrong audience", token(body=claims(aud="other")), "audienceWrong"),
    ("a part of the audience", token(body=claims(aud="tidemar")), "audienceWrong"),
    ("no audience", token(body=claims(aud=None)), "malformed"),
    ("an empty list of audiences", token(body=claims(aud=[])), "audienceWrong"),
    ("an audience that is an object", token(body=claims(aud={"a": AUDIENCE})), "malformed"),
    ("too many audiences", token(body=claims(aud=[AUDIENCE] * 33)), "malformed"),
    ("a party that is not known", token(body=claims(aud=["other", AUDIENCE], azp="other")), "partyWrong"),
    ("wrong issuer", token(body=claims(iss="https://evil.example.org")), "issuerUnknown"),
    ("an issuer with a slash more", token(body=claims(iss=ISSUER + "/")), "issuerUnknown"),
    ("no issuer", token(body=claims(iss=None)), "malformed"),
    ("no subject", token(body=claims(sub=None)), "malformed"),
    ("an empty subject", token(body=claims(sub="")), "subjectInvalid"),
    ("a subject of 256 bytes", token(body=claims(sub="s" * 256)), "subjectInvalid"),
    ("a subject with a zero", token(body=claims(sub="a\0b")), "subjectInvalid"),
    ("a subject that is a number", token(body=claims(sub=42)), "malformed"),
    ("unknown key id", token(key=other), "keysUnavailable"),
    ("another's key under a known id", token(key=other, header={"kid": "ec"}), "signatureWrong"),
    ("another's key without an id", token(key=other, kid=False), "signerUnknown"),
    ("an embedded key that signed it", token(
        key=other, header={"kid": "ec", "jwk": other.as_dict(private=False)}), "signatureWrong"),
    ("an address of keys", token(key=other, header={"kid": "ec", "jku": "https://evil/keys"}), "signatureWrong"),
    ("a key of another kind", token("RS256", header={"kid": "ec"}), "keysUnavailable"),
    ("a key id that is a number", token(header={"kid": 1}), "malformed"),
    ("alg none", encoded({"alg": "none"}) + "." + encoded(claims()) + ".", "algorithmNotAllowed"),
    ("alg None", encoded({"alg": "None"}) + "." + encoded(claims()) + ".", "algorithmNotAllowed"),
    ("alg none with the signature of ES256", encoded({"alg": "none", "kid": "ec"}) + "." + body + "." + signature,
     "algorithmNotAllowed"),
    ("no alg", encoded({"kid": "ec"}) + "." + body + "." + signature, "malformed"),
    ("HMAC with the public key", with_hmac + "." + encoded(
        hmac.digest(public_pem, with_hmac.encode(), "sha256")), "algorithmNotAllowed"),
    ("PS256", token("PS256", key=rsa), "algorithmNotAllowed"),
    ("ES384", token("ES384", key=ec384), "algorithmNotAllowed"),
    ("RS256 said of ES256's signature", encoded({"alg": "RS256", "kid": "rsa"}) + "." + body + "." + signature,
     "signatureWrong"),
    ("critical extensions", token(header={"crit": ["exp"], "exp": NOW}), "extensionUnknown"),
    ("an empty list of critical extensions", token(header={"crit": []}), "extensionUnknown"),
    ("b64 false", token(header={"crit": ["b64"], "b64": False}), "extensionUnknown"),
    ("another type", token(header={"typ": "JOSE"}), "typeUnknown"),
    ("a nested token's type", token(header={"typ": "logout+jwt"}), "typeUnknown"),
    ("a changed claim", head + "." + changed(body, 20) + "." + signature, None),
    ("a changed signature", head + "." + body + "." + changed(signature, 5), "signatureWrong"),
    ("no signature", head + "." + body + ".", "signatureWrong"),
    ("a signature of zeros", head + "." + body + "." + encoded(bytes(64)), "signatureWrong"),
    ("a short signature", head + "." + body + "." + encoded(raw[:63]), "signatureWrong"),
    ("a long signature", head + "." + body + "." + encoded(raw + b"\0"), "signatureWrong"),
    ("padding", head + "=." + body + "." + signature, "malformed"),
    ("padded signature", head + "." + body + "." + signature + "==", "malformed"),
    ("a line break in the signature", head + "." + body + "." + signature[:10] + "\n" + signature[10:], "malformed"),
    ("a claim twice", token(body=json.dumps(claims())[:-1].encode() + b',"sub":"1"}'), "malformed"),
    ("claims that are a list", token(body=b"[]"), "malformed"),
    ("claims that are no JSON", token(body=b"{"), "malformed"),
    ("claims that are not UTF-8", token(body=b'{"iss":"\xff"}'), "malformed"),
    ("claims with half a character", token(body=json.dumps(claims())[:-1].encode() + b',"a":"\\ud800"}'), "malformed"),
    ("claims that are nested deeply", token(
        body=json.dumps(claims())[:-1].encode() + b',"a":' + b"[" * 5000 + b"]" * 5000 + b"}"), "malformed"),
    ("two parts", head + "." + body, "malformed"),
    ("four parts", good + ".", "malformed"),
    ("empty parts", "..", "malformed"),
    ("encrypted", "a.b.c.d.e", "malformed"),
]
cases = [case for case in cases if case[2] is not None]

public = {"keys": [
    {"kty": "oct", "k": "AAAA", "kid": "secret"}, {"kty": "new", "kid": "new"}, small.as_dict(private=False),
    for_encryption.as_dict(private=False), ec384.as_dict(private=False), rsa.as_dict(private=False),
    ec.as_dict(private=False), ed.as_dict(private=False),
]}

judge = JsonWebToken(list(KEYS))
for name, text, verdict in cases:
    if verdict == "ok":
        usable = {"keys": [key for key in public["keys"] if key.get("kid") in ("rsa", "ec", "ed")]}
        keys = JsonWebKey.import_key_set(usable)
        assert judge.decode(text, key=lambda h, p: keys.find_by_kid(h.get("kid", "ec")))["iss"] == ISSUER, name

print(json.dumps({
    "now": NOW, "issuer": ISSUER, "audience": AUDIENCE, "keys": public,
    "rotated": {"keys": [other.as_dict(private=False)]},
    "tokens": [{"name": name, "token": text, "verdict": verdict} for name, text, verdict in cases],
}, indent=1))
