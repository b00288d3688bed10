// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

extension ServeSetting {
    /// Every setting, in the order of the help.
    package static let all: [ServeSetting] =
        listening + loops + keeping + connecting + operating + tracing + limiting + storing + logging

    private static let listening = [
        ServeSetting(
            "listen", .address, "host:port",
            "Address and port, such as 0.0.0.0:443 or [::]:443. Port 0 is any free one."),
        ServeSetting(
            "database-url", .database, "url", "PostgreSQL's URL, in libpq's form. Several hosts are allowed.",
            "Or TIDEMARK_DATABASE_URL."),
        ServeSetting(
            "database-password-file", .text, "file",
            "The file whose first line is the password for PostgreSQL, if the URL has none.",
            "An empty file is no password."),
        ServeSetting(
            "certificate", .text, "file", "PEM file: the server's certificate, then intermediate ones."),
        ServeSetting(
            "private-key", .text, "file", "PEM file: the certificate's private key, without a passphrase."),
        ServeSetting("plain", .flag, default: "false", "Serve without TLS. On loopback only, behind a proxy."),
        ServeSetting(
            "create-containers", .flag, default: "false",
            "Create a container when an account first names it. Others are refused.",
            "In development only: an operator creates containers for production."),
        ServeSetting(
            "allowed-origins", .origins, "origins", default: "all",
            "The web pages from which browsers may connect without a credential.",
            "Such as https://app.example.org, separated by commas. Default: all. Other programs are no pages."),
        ServeSetting(
            "address-lookups", .choice(["on", "off"]), "choice", default: "on",
            "Whether apps are told which e-mail addresses and telephone numbers have an account.",
            "Default: on. With off, no address seems to have one. Everybody can be invited all the same. All servers of a "
                + "database need the same."),
    ]

    private static let loops = [
        ServeSetting(
            "loops", .number(1...64), "count", default: "2; 1 on a single core", "Event loops, each a thread.",
            "Default: 2; 1 on a single core."),
        ServeSetting(
            "database-connections", .number(1...100), "count", default: "8",
            "Database connections for writing, of each loop.", "Default: 8."),
        ServeSetting(
            "long-queries", .number(1...64), "count", default: "half of this machine's cores, and at least 1",
            "Queries without an index that run at once, of all event loops together.",
            "Each takes PostgreSQL a core. At most one of each loop runs. Default: half of this machine's cores, and at "
                + "least 1. If PostgreSQL is on another machine, use half of its cores."),
        ServeSetting(
            "known-zones-megabytes", .number(0...65_536), "megabytes", default: "96",
            "Memory for the cache of zones that this server wrote in last.",
            "Saves in cached zones need no read of the database first. In megabytes. Default: 96; 0 for no cache."),
    ]

    private static let keeping = [
        ServeSetting(
            "master-key-file", .text, "file",
            "The file with the master key that encrypts account keys. All servers of a database have the same.",
            "Created at the first start. Back it up, apart from the database. Without it, only accounts with "
                + "end-to-end encryption have encrypted values."),
        ServeSetting(
            "device-days", .number(0...36_500), "days", default: "400",
            "Forget devices that were not seen for so many days.",
            "They lose nothing by it and are listed again when they come back. Default: 400; 0 for never."),
        ServeSetting(
            "audit-days", .number(0...36_500), "days", default: "90",
            "Forget what the audit says of sign-ins and of operators after so many days.",
            "Default: 90; 0 for never."),
        ServeSetting(
            "device-seconds", .number(0...86_400), "seconds", default: "60",
            "How often to write down what is known of devices, for tidemark admin xray.",
            "In seconds. Default: 60; 0 for never."),
    ]

    private static let connecting = [
        ServeSetting(
            "connections", .number(16...1_000_000), "count", default: "20000", "Connections of this server.",
            "Fewer if the limit of open files leaves fewer. Default: 20000."),
        ServeSetting(
            "connections-per-account", .number(1...1_000_000), "count",
            default: "an eighth of the connections, and at least 64", "Connections of one account to this server.",
            "Default: an eighth of the connections, and at least 64."),
        ServeSetting(
            "anonymous-connections", .number(1...1_000_000), "count", default: "a quarter of the connections",
            "Connections without a credential.",
            "Default: a quarter of the connections. Never more than leave as many for those with a credential. For none: "
                + "--require-credential."),
        ServeSetting(
            "anonymous-connections-per-address", .number(1...1_000_000), "count", default: "256",
            "Connections without a credential of one address (IPv6: of one /64).",
            "Default: 256. With --plain it counts only with --proxy-from, because all connections otherwise have the "
                + "proxy's address."),
        ServeSetting(
            "anonymous-idle-seconds", .number(1...86_400), "seconds", default: "120",
            "How long a connection without a credential may ask for nothing.", "In seconds. Default: 120."),
        ServeSetting(
            "require-credential", .flag, default: "false",
            "Refuse everybody who has no credential. Otherwise they can read public data."),
        ServeSetting(
            "health-listen", .address, "host:port",
            "Address and port that also answer GET /healthz, without TLS, and nothing else.",
            "Its connections do not count with the others."),
        ServeSetting(
            "proxy-from", .networks, "networks", default: "none",
            "The networks of proxies that say who their client is, such as 10.0.0.0/8,2001:db8::7.",
            "With a certificate, each connection from there begins with a header of the PROXY protocol, version 2. With "
                + "--plain, the last address of X-Forwarded-For counts. Nobody else is believed. Default: none."),
        ServeSetting(
            "issuers", .text, "file", default: "none",
            "The JSON file of the identity providers whose tokens open sessions.",
            "Default: none; then only credentials of tidemark do. See deploy/README.md."),
    ]

    private static let operating = [
        ServeSetting(
            "admin-listen", .addresses, "host:port", default: "none",
            "Address and port that answer operators: GET /metrics, /healthz and /readyz. May be repeated.",
            "Default: none. Loopback needs nothing else. Any other address needs TLS, and a token or certificates of clients. "
                + "No two servers share an address."),
        ServeSetting(
            "admin-token-file", .text, "file",
            "The file with the token that programs send to /metrics (Authorization: Bearer).",
            "If it is given, it is asked for at each address."),
        ServeSetting(
            "admin-client-ca", .text, "file",
            "PEM file: authorities whose certificates clients of the admin listener must show, beyond loopback."),
        ServeSetting(
            "operators-listen", .addresses, "host:port", default: "none",
            "Address and port that take commands of operators (tidemark admin context add --server). May be repeated.",
            "Default: none. With TLS if the server has a certificate; without one, loopback only. Operators are made by "
                + "`tidemark admin operators create`."),
        ServeSetting(
            "drain-seconds", .number(0...3_600), "seconds", default: "10; 0 without --admin-listen",
            "How long the server serves on after SIGTERM, while /readyz answers 503.",
            "Load balancers look elsewhere meanwhile. Default: 10; 0 without --admin-listen."),
        ServeSetting(
            "notice-bus-url", .bus, "urls", default: "none",
            "The servers of NATS by which servers of one database tell each other of changes, such as "
                + "tls://a.example:4222,tls://b.example:4222.",
            "Default: none; then they do so by the database, which is right for up to about 20 of them. A path is what all "
                + "subjects begin with. nats:// is for this machine alone."),
        ServeSetting(
            "notice-bus-credentials", .text, "file",
            "The file whose first line is USER:PASSWORD, or a token without a colon, for NATS."),
        ServeSetting(
            "notice-bus-ca", .text, "file",
            "PEM file: authorities to trust for servers of NATS, besides the system's."),
    ]

    private static let tracing = [
        ServeSetting(
            "trace-endpoint", .collector, "url", default: "none",
            "The collector that takes traces of requests by OTLP over HTTP, such as http://127.0.0.1:4318.",
            "Default: none. Beyond this machine only https. See docs/operating.md."),
        ServeSetting(
            "trace-sample", .part, "part", default: "0.01", "The part of all requests that is traced.",
            "0 to 1. Default: 0.01."),
        ServeSetting(
            "trace-authorization-file", .text, "file",
            "The file whose first line the collector gets as Authorization, such as: Bearer TOKEN."),
    ]

    private static let limiting = [
        ServeSetting(
            "request-items", .number(250...4_000), "count", default: "400",
            "Records that one request may save, delete or fetch.", "250 to 4000. Default: 400."),
        ServeSetting(
            "request-kilobytes", .number(1_536...3_072), "kilobytes", default: "2048",
            "The size of all fields in one request's records.", "In kilobytes, 1536 to 3072. Default: 2048."),
        ServeSetting(
            "containers-per-account", .number(1...1_000_000), "count", default: "100",
            "Containers that an account may have before the server creates no more for it (see --create-containers).",
            "Default: 100."),
        ServeSetting(
            "requests-per-second", .number(0...1_000_000), "count", default: "0",
            "Requests that an account may send to this server in a second, for a long time.",
            "Default: 0, for no limit. Parts of files do not count. The limit of a container or of an account takes its "
                + "place: `tidemark admin containers set-limit`, `tidemark admin accounts set-limit`."),
        ServeSetting(
            "request-burst", .number(0...1_000_000), "count", default: "0",
            "Requests that an account may send at once, after it has sent none for a while.",
            "Default: 0, for what ten seconds allow. It needs --requests-per-second."),
    ]

    private static let storing = [
        ServeSetting(
            "asset-directory", .text, "directory", "The directory of assets. All servers of a database have the same.",
            "Or TIDEMARK_ASSET_DIRECTORY. Without it, assets are refused."),
        ServeSetting(
            "asset-grace-hours", .number(0...87_600), "hours", default: "24",
            "How long an asset is kept that no record names.", "Or TIDEMARK_ASSET_GRACE_HOURS. Default: 24."),
        ServeSetting(
            "asset-megabytes", .number(1...1_048_576), "megabytes", default: "1024", "The largest asset.",
            "In megabytes. Default: 1024."),
        ServeSetting(
            "upload-megabytes", .number(1...4_194_304), "megabytes",
            default: "8192, at least four of the largest assets", "The bytes of one account's unfinished uploads.",
            "In megabytes. Default: 8192, at least four of the largest assets."),
    ]

    private static let logging = [
        ServeSetting(
            "log-level", .choice(Log.Level.allCases.map(\.rawValue)), "level", default: "info",
            "The lowest level that is written to standard error: \(Log.Level.names).",
            "Default: info; of `dev` warning. debug has a line for each request, with the operation group that the "
                + "app gave it."),
        ServeSetting(
            "log-format", .choice(Log.Format.allCases.map(\.rawValue)), "format", default: "text",
            "How lines look: \(Log.Format.names).",
            "Default: text. json is one object for each line, with time, level, label and message."),
        ServeSetting(
            "verbose", .flag, default: "false",
            "Tell each refused credential, failed TLS handshake and created container.",
            "With the address, and the name of the device. Without it these are counted, with one line of a kind "
                + "in a minute. With `dev` the log begins at info then."),
        ServeSetting(
            "slow-request-ms", .number(0...86_400_000), "milliseconds", default: "1000",
            "Warn of a request that takes longer than so many milliseconds, with its UUID and the SQL of a query.",
            "One line for each kind of request in a minute. Default: 1000; 0 for never."),
    ]
}
