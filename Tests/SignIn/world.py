# SPDX-License-Identifier: Apache-2.0
"""What `checks` uses: providers, servers, sessions, tokens, and a judge that is not ours."""
import base64, hashlib, hmac, json, os, secrets, signal, socket, ssl, subprocess, sys, time
import urllib.parse

import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from joserfc import jwk, jwt
from joserfc.errors import JoseError
from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.uri import parse_uri

import Accounts_pb2, Envelope_pb2, Errors_pb2, Zones_pb2

AUDIENCE, CONTAINER = "notes-app", "iCloud.test.provider"
REDIRECT = "http://127.0.0.1/signed-in"
DEADLINE = 60


class Failure(Exception):
    pass


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def eventually(what, condition, seconds=DEADLINE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.05)
    raise Failure(f"{what}: not within {seconds} s")


class Place:
    """The directory of a run, and all that was started in it."""

    def __init__(self, work, binaries):
        self.work, self.binaries, self.started = work, binaries, []
        self.authority = f"{work}/authority.pem"
        self.tls = ssl.create_default_context(cafile=self.authority)

    def start(self, name, command, **environment):
        with open(f"{self.work}/{name}.log", "ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | environment)
        self.started.append(process)
        return process

    def stop(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.started.remove(process)

    def stop_all(self):
        for process in reversed(list(self.started)):
            self.stop(process)

    def admin(self, *arguments, fails=False):
        """What a command of operators says, as JSON if it is any."""
        command = [f"{self.binaries}/tidemark", "admin", *arguments, "--yes"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
        if (done.returncode != 0) != fails:
            raise Failure(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout


class Provider:
    """An oidc-provider-mock. Each start makes a new key, as a rotation does."""

    def __init__(self, place, name, secured=False, lifetime=None):
        self.place, self.name, self.secured, self.lifetime = place, name, secured, lifetime
        self.port = free_port()
        self.host = f"127.0.0.1:{self.port}" if not secured else f"localhost:{self.port}"
        self.issuer = f"{'https' if secured else 'http'}://{self.host}"
        self.http, self.process = None, None

    def start(self):
        self.http = httpx.Client(verify=self.place.tls, timeout=20)
        python = os.path.dirname(sys.executable)
        if self.secured:
            # The program itself speaks no TLS; the server that it runs in does.
            command = [f"{python}/uvicorn", "--interface", "wsgi", "--factory", "oidc_provider_mock:app"]
            command += ["--ssl-certfile", f"{self.place.work}/server.pem", "--ssl-keyfile", f"{self.place.work}/server.key"]
        else:
            command = [f"{python}/oidc-provider-mock"]
            command += ["--token-max-age", str(self.lifetime)] if self.lifetime is not None else []
        self.process = self.place.start(
            self.name, command + ["--port", str(self.port)], AUTHLIB_INSECURE_TRANSPORT="1", NO_COLOR="1",
            PYTHONWARNINGS="ignore")
        eventually(f"the provider {self.name} answers", self.answers)
        self.keys = self.http.get(self.description()["jwks_uri"]).json()
        return self

    def stop(self):
        # It waits for open connections before it ends.
        self.http.close()
        self.place.stop(self.process)

    def rotate(self):
        self.stop()
        self.start()

    def answers(self):
        if self.process.poll() is not None:
            raise Failure(f"the provider {self.name} ended with {self.process.returncode}")
        try:
            return self.description()["issuer"] == self.issuer
        except httpx.HTTPError:
            return False

    def description(self, base=None):
        return self.http.get(f"{base or self.issuer}/.well-known/openid-configuration").json()

    def answer(self, subject, audience=AUDIENCE, base=None, **claims):
        """By the authorization code flow (RFC 6749 §4.1), as an app and its user do it: what the token endpoint answers."""
        base = base or self.issuer
        if claims:
            quoted = urllib.parse.quote(subject, safe="")
            self.http.put(f"{base}/users/{quoted}", json=claims).raise_for_status()
        state = secrets.token_urlsafe(8)
        asked = {
            "client_id": audience, "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid email phone",
            "state": state, "nonce": secrets.token_urlsafe(8),
        }
        form = self.http.post(f"{base}/oauth2/authorize", params=asked, data={"sub": subject})
        back = urllib.parse.parse_qs(urllib.parse.urlsplit(form.headers["location"]).query)
        if back["state"] != [state]:
            raise Failure("the provider answers with another state")
        return self.http.post(
            f"{base}/oauth2/token", auth=(audience, "secret"),
            data={"grant_type": "authorization_code", "code": back["code"][0], "redirect_uri": REDIRECT},
        ).raise_for_status().json()

    def token(self, subject, audience=AUDIENCE, base=None, **claims):
        return self.answer(subject, audience, base, **claims)["id_token"]

    def judge(self, token, keys=None):
        """What joserfc says of a token, with the keys of this provider: `ok`, or why not."""
        registry = jwt.JWTClaimsRegistry(
            leeway=60, iss={"essential": True, "value": self.issuer}, aud={"essential": True, "value": AUDIENCE},
            exp={"essential": True}, sub={"essential": True})
        try:
            read = jwt.decode(token, jwk.KeySet.import_key_set(keys or self.keys), algorithms=["RS256", "ES256", "EdDSA"])
            registry.validate(read.claims)
            return "ok"
        except (JoseError, ValueError) as error:
            return type(error).__name__


class Server:
    def __init__(self, place, name, issuers):
        self.place, self.name, self.port = place, name, free_port()
        self.process = place.start(name, [
            f"{place.binaries}/tidemark", "serve", "--listen", f"127.0.0.1:{self.port}", "--issuers", issuers,
            "--certificate", f"{place.work}/server.pem", "--private-key", f"{place.work}/server.key",
            "--loops", "1", "--database-connections", "2",
        ])
        self.url = f"wss://localhost:{self.port}"
        eventually(f"the server {name} answers", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise Failure(f"the server {self.name} ended with {self.process.returncode}")
        try:
            return httpx.get(f"https://localhost:{self.port}/healthz", verify=self.place.tls).status_code == 200
        except httpx.HTTPError:
            return False


class Closed(Exception):
    """The server has closed the connection, with this code if it gave one."""

    def __init__(self, code):
        self.code = code


class Socket:
    """A WebSocket of one thread. The library's own one reads and writes TLS in two threads at once, which Python 3.11 does
    not allow: now and then a request was never sent."""

    def __init__(self, server):
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE)
        self.tls = server.place.tls.wrap_socket(plain, server_hostname="localhost")
        self.protocol = ClientProtocol(parse_uri(server.url), subprotocols=["tidemark.v1"], max_size=None)
        self.events = []
        self.protocol.send_request(self.protocol.connect())
        self.flush()
        self.next_event(time.monotonic() + DEADLINE)
        if self.protocol.handshake_exc:
            raise Failure(f"no WebSocket: {self.protocol.handshake_exc}")

    def flush(self):
        for data in self.protocol.data_to_send():
            if data:
                self.tls.sendall(data)

    def send(self, data):
        self.protocol.send_binary(data)
        self.flush()

    def next_event(self, end):
        while not self.events:
            if self.protocol.close_rcvd or self.protocol.eof_sent:
                raise Closed(self.protocol.close_rcvd.code if self.protocol.close_rcvd else None)
            self.tls.settimeout(max(0.001, end - time.monotonic()))
            try:
                data = self.tls.recv(65_536)
            except TimeoutError:
                raise
            except OSError:
                data = b""
            if data:
                self.protocol.receive_data(data)
            else:
                self.protocol.receive_eof()
            self.events += self.protocol.events_received()
            self.tls.settimeout(DEADLINE)
            try:
                self.flush()
            except OSError:
                pass
        return self.events.pop(0)

    def receive(self, seconds=DEADLINE):
        """The next message."""
        end, parts = time.monotonic() + seconds, []
        while True:
            frame = self.next_event(end)
            if frame.opcode in (Opcode.BINARY, Opcode.CONT):
                parts.append(frame.data)
                if frame.fin:
                    return b"".join(parts)
            elif frame.opcode is Opcode.CLOSE:
                raise Closed(self.protocol.close_rcvd.code if self.protocol.close_rcvd else None)

    def close(self):
        self.tls.close()


class Session:
    """A device: a WebSocket, a `Hello`, and what the server says to it."""

    def __init__(self, server, token):
        self.socket = Socket(server)
        hello = Accounts_pb2.Hello(
            container=CONTAINER, environment=Accounts_pb2.DEVELOPMENT, credential=token, device=secrets.token_bytes(16),
            client_name="provider checks", device_name="python")
        self.user, self.failure, self.number = None, None, 1
        try:
            answer = self.ask(hello=hello)
        except Closed as closed:
            self.failure = f"closed {closed.code}"
            return
        if answer.WhichOneof("answer") == "failure":
            self.failure = Errors_pb2.ErrorCode.Name(answer.failure.code)
            if answer.failure.sign_in_problem:
                self.failure = Errors_pb2.SignInProblem.Name(answer.failure.sign_in_problem)
        else:
            self.user = answer.hello.user_record_name

    def ask(self, **request):
        self.socket.send(Envelope_pb2.ClientEnvelope(id=self.number, **request).SerializeToString())
        self.number += 1
        while True:
            answer = Envelope_pb2.ServerEnvelope.FromString(self.socket.receive())
            if answer.id == self.number - 1:
                return answer

    @property
    def verdict(self):
        return "ok" if self.user else self.failure

    def serves(self):
        answer = self.ask(fetch_zones=Zones_pb2.FetchZones(database=2))
        return answer.WhichOneof("answer") == "fetch_zones"

    def until_closed(self, seconds=DEADLINE):
        """The code with which the server closes."""
        end = time.monotonic() + seconds
        try:
            while True:
                self.socket.receive(end - time.monotonic())
        except Closed as closed:
            return closed.code
        except TimeoutError:
            return "open"

    def close(self):
        self.socket.close()


# MARK: Tokens that nobody should believe

def encoded(data):
    text = data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def claims_of(token):
    return json.loads(decoded(token.split(".")[1]))


def header_of(token):
    return json.loads(decoded(token.split(".")[0]))


def signed(header, claims, sign):
    text = encoded(header) + "." + encoded(claims)
    return text + "." + encoded(sign(text.encode()))


def by_hmac(secret):
    return lambda text: hmac.digest(secret, text, hashlib.sha256)


def by_rsa(key):
    return lambda text: key.private_key.sign(text, padding.PKCS1v15(), hashes.SHA256())


def forgeries(token, keys, address):
    """Tokens that say what `token` says, and are not of its provider. Each with a name."""
    claims, key_id = claims_of(token), keys["keys"][0]["kid"]
    head, body, signature = token.split(".")
    public = jwk.RSAKey.import_key(keys["keys"][0])
    other = jwk.RSAKey.generate_key(2048, {"kid": key_id})
    own = other.as_dict(private=False)
    yield "alg none, no signature", encoded({"alg": "none"}) + "." + body + "."
    yield "alg none, the true signature", encoded({"alg": "none", "kid": key_id}) + "." + body + "." + signature
    yield "alg None in other letters", encoded({"alg": "nOnE"}) + "." + body + "."
    for form, secret in [("PEM", public.as_pem(private=False)), ("JWK", json.dumps(keys["keys"][0]).encode()), ("no", b"")]:
        yield f"HMAC with the public key ({form})", signed({"alg": "HS256", "kid": key_id}, claims, by_hmac(secret))
    yield "another's key, under the provider's id", signed({"alg": "RS256", "kid": key_id}, claims, by_rsa(other))
    yield "an embedded jwk", signed({"alg": "RS256", "kid": key_id, "jwk": own}, claims, by_rsa(other))
    yield "an address of keys (jku)", signed({"alg": "RS256", "kid": key_id, "jku": address}, claims, by_rsa(other))
    yield "another subject", head + "." + encoded(claims | {"sub": "root"}) + "." + signature
    yield "a later end", head + "." + encoded(claims | {"exp": claims["exp"] + 3_600}) + "." + signature
    yield "a signature cut short", token[:-8]
    yield "the end of another token's signature", token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")
