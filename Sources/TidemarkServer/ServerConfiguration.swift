// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService
internal import TidemarkSessions
package import TidemarkSockets
package import TidemarkTracing
package import TidemarkTransport
internal import TidemarkWebSocket

/// The settings of a ``Server``.
package struct ServerConfiguration: Sendable {
    /// PEM files. ``Server/reloadCertificates()`` reads them again.
    package struct CertificateFiles: Sendable {
        package var certificateFile: String
        package var privateKeyFile: String

        package init(certificateFile: String, privateKeyFile: String) {
            self.certificateFile = certificateFile
            self.privateKeyFile = privateKeyFile
        }
    }

    /// Where operators ask, and what they must show.
    package struct AdminSettings: Sendable {
        /// No two servers share one. None: nothing is answered.
        package var addresses: [SocketAddress] = []
        /// The file with the token that programs send. Beyond loopback it or the next one is needed.
        package var tokenFile: String?
        /// PEM: the authorities of the certificates that clients show beyond loopback.
        package var clientAuthorityFile: String?
        /// How often the server looks whether the database has its tables.
        package var tablesInterval = Duration.seconds(30)
    }

    /// Where operators give commands, and who carries them out.
    package struct OperatorSettings: Sendable {
        /// None: no commands are taken.
        package var addresses: [SocketAddress] = []
        /// Nil: no commands are taken.
        package var commands: (any OperatorCommands)?
        /// How often the credentials of open channels are looked at.
        package var checkInterval = Duration.seconds(5)
        /// How often it is looked whether a user's command waits for the user.
        package var patienceStep = Duration.seconds(60)
        /// After this many of these steps, a command that waits for a silent user ends.
        package var patienceStepsMax = 10
    }

    /// How the server looks for servers from before shared hierarchies.
    package struct OlderServersTimes: Sendable {
        /// From one look to the next, as long as there is something to look for.
        package var interval = Duration.seconds(5)
        /// How long after a look that sees none another one must see none.
        package var quiet = Duration.seconds(10)
    }

    /// Port 0 stands for any free port.
    package var addresses: [SocketAddress]
    /// The networks of proxies before the server. They say who their client is: with TLS by the PROXY protocol, and
    /// without by `X-Forwarded-For`.
    package var proxies: [AddressNetwork] = []
    /// Nil: without TLS, which is allowed on loopback only.
    package var certificate: CertificateFiles?
    /// A secret that the servers of one name share, so that a device of one resumes TLS at another. Nil: it does not.
    package var ticketSecretFile: String?
    /// Whether connections have the addresses of their clients. Without TLS all have that of a proxy, unless it says whose they
    /// are.
    package var knowsAddresses: Bool { certificate != nil || !proxies.isEmpty }
    /// In libpq's form; several hosts are allowed.
    package var databaseURL: String
    /// Event loops. Each has its own thread, database connections and devices.
    package var loopCount = Self.loopCountDefault
    /// Connections for transactions of each loop: two more than `WriteSettings.transactionsMax`.
    package var databaseConnections = 8
    /// The most long queries that run at once, in all event loops together. A loop has one at a time.
    package var longQueriesMax = Self.longQueriesDefault(processors: EventLoop.usefulCount)
    /// Whether a container that a client names is created on its first use (development only).
    package var createsContainers = false
    /// The pages from which browsers may connect without a credential. Nil: all.
    package var allowedOrigins: AllowedOrigins?
    /// How often the server removes data that nobody can see any more.
    package var clearingInterval: Duration = .seconds(60)
    /// How long devices are listed that are not seen. Nil: for ever.
    package var deviceAge: Duration? = .seconds(400 * 86_400)
    /// How long rows of the audit are kept. Nil: for ever.
    package var auditAge: Duration? = .seconds(90 * 86_400)
    /// How many refused sign-ins are written to it: all loops of a server have the same.
    var refusals = SharedRefusals()
    /// How many sign-ins have failed: all loops of a server have the same.
    var tries = SharedSignInTries()
    /// The identity providers whose tokens open sessions. None: credentials alone do.
    package var issuers: [Issuer] = []
    /// Verifies their tokens: all loops of a server have the same. ``Server`` makes it.
    var tokens: TokenVerifier?
    /// How servers tell each other of changes. Nil: by the database.
    package var noticeBus: NoticeBusSettings?
    /// The bus itself: all loops of a server have the same. ``Server`` makes it.
    var sharedBus: NATSNoticeBus?
    /// How many requests accounts have sent: all loops of a server have the same.
    var requestRates = RequestRates()
    /// How often the server stores its knowledge of devices, for `tidemark admin xray`. Nil: it notes nothing.
    package var deviceInterval: Duration? = .seconds(60)
    /// The server's knowledge of devices, shared by all its loops. ``Server`` makes it.
    var devices: DeviceBook?
    /// The directory of assets, the same for all servers of a database. Nil: the server stores no assets.
    package var assetDirectory: String?
    /// The file with the master key that encrypts account keys, the same for all servers of a database. It is created
    /// if neither it nor the database has a key. Nil: this server stores no account keys.
    package var masterKeyFile: String?
    /// How long an asset that no record names is kept. The save after an upload needs it for a while, and so
    /// does a device that has just fetched the record.
    package var assetGrace: Duration = .seconds(86_400)
    /// How often the server looks for such assets.
    package var assetSweepInterval: Duration = .seconds(3_600)
    package var limits: Limits
    package var writeSettings = WriteSettings()
    /// Bytes of memory for the cache of zones that this server wrote in last (``WriteSettings/knownBytesMax``).
    package var knownZonesBytesMax: Int {
        get { writeSettings.knownBytesMax }
        set { writeSettings.knownBytesMax = newValue }
    }
    /// `transport.connectionsMax` is how many connections there may be if the process has descriptors for them.
    package var transport = TransportLimits()
    /// The most connections of one account among these. Nil: an eighth, and at least 64.
    package var connectionsPerAccountMax: Int?
    /// The most connections without a credential among these. Nil: a quarter.
    package var anonymousConnectionsMax: Int?
    /// Connections without a credential of one IPv4 address or one IPv6 network (/64). Nil: no bound. Without TLS there
    /// is no bound, because all connections have the address of a proxy, unless ``proxies`` name their clients.
    package var anonymousConnectionsPerAddressMax: Int? = 256
    /// As ``SessionSettings/anonymousIdleTimeout``.
    package var anonymousIdleTimeout = Duration.seconds(120)
    /// Whether everybody must have a credential.
    package var requiresCredential = false
    /// Whether a lookup of an address tells that it has an account.
    package var tellsAccounts = true
    /// More addresses that answer `/healthz`, without TLS, and nothing else. They have separate connections.
    package var healthAddresses: [SocketAddress] = []
    package var admin = AdminSettings()
    package var operators = OperatorSettings()
    package var olderServers = OlderServersTimes()
    /// Memory of all requests under way (``RequestBudget``).
    package var requestBytesUnderWayMax = 134_217_728
    /// How long a connection may take until its `Hello` is answered. Then it is closed with 4408.
    package var helloTimeout = Duration.seconds(10)
    /// As ``SessionSettings/slowRequestTime``.
    package var slowRequestTime: Duration? = .seconds(1)
    /// Where traces of requests go, and of how many. Nil: none is traced.
    package var traces: RequestTraces.Settings?
    /// They are of the whole process. ``Server`` makes them.
    var requestTraces: RequestTraces?
    /// As ``SessionSettings/pushPatience``.
    package var pushPatience = Duration.seconds(10)

    /// Two, if the process may use more than one core. More loops need more connections to PostgreSQL, and an operator
    /// decides how many there are.
    package static let loopCountDefault = min(2, EventLoop.usefulCount)

    /// Half of the processors, so that the other half is left for everything else. If PostgreSQL is on another machine,
    /// its processors count, and the operator says how many queries they bear.
    package static func longQueriesDefault(processors: Int) -> Int { max(1, processors / 2) }

    package init(addresses: [SocketAddress], certificate: CertificateFiles?, databaseURL: String, limits: Limits) {
        self.addresses = addresses
        self.certificate = certificate
        self.databaseURL = databaseURL
        self.limits = limits
        // Room for the largest request: its fields, and the names, types and tags of its items.
        transport.message.messageBytesMax = 4_194_304
        transport.message.frameBytesMax = 4_194_304
        transport.unfinishedBytesMax = 67_108_864
        transport.unsentBytesMax = 67_108_864
        // Several of the largest answers. Sessions stop making answers long before (`SessionSettings.queuedBytesMax`).
        transport.queuedBytesMax = 33_554_432
    }
}
