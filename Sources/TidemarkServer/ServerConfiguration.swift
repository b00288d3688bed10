// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService
package import TidemarkSockets
package import TidemarkTransport
internal import TidemarkWebSocket

/// What a ``Server`` is told.
package struct ServerConfiguration: Sendable {
    /// PEM files; read again by ``Server/reloadCertificates()``.
    package struct Certificate: Sendable {
        package var certificateFile: String
        package var privateKeyFile: String

        package init(certificateFile: String, privateKeyFile: String) {
            self.certificateFile = certificateFile
            self.privateKeyFile = privateKeyFile
        }
    }

    /// Port 0: any free one.
    package var addresses: [SocketAddress]
    /// Nil: without TLS, which is refused beyond loopback.
    package var certificate: Certificate?
    /// As libpq takes it; several hosts are allowed.
    package var databaseURL: String
    /// Event loops, each with a thread, database connections and devices of its own.
    package var loopCount = Self.loopCountDefault
    /// For transactions, of each loop: two more than `WriteSettings.transactionsMax`.
    package var databaseConnections = 8
    /// Whether a container that a client names is created on its first use (development only).
    package var createsContainers = false
    /// How often what nobody can see any more is cleared away.
    package var clearingInterval: Duration = .seconds(60)
    /// Where assets are kept; the same for all servers of a database. Nil: they are not.
    package var assetDirectory: String?
    /// The file with the key by which account keys are closed; the same for all servers of a database. Made when neither it
    /// nor the database has one. Nil: no account keys are kept here.
    package var masterKeyFile: String?
    /// How long an asset that no record names is kept: an upload's save, and whoever has just fetched the record,
    /// need it for a while.
    package var assetGrace: Duration = .seconds(86_400)
    /// How often it is looked for such assets.
    package var assetSweepInterval: Duration = .seconds(3_600)
    package var limits = Limits()
    package var writeSettings = WriteSettings()
    /// Bytes of memory for what is known of zones that this server wrote in last (``WriteSettings/knownBytesMax``).
    package var knownZonesBytesMax: Int {
        get { writeSettings.knownBytesMax }
        set { writeSettings.knownBytesMax = newValue }
    }
    package var transport = TransportLimits()
    /// How long a connection may take until its `Hello` is answered. Then it is closed with 4408.
    package var helloTimeout = Duration.seconds(10)
    /// As ``SessionSettings/pushPatience``.
    package var pushPatience = Duration.seconds(10)

    /// As ``SessionSettings/throttle``.
    package var throttle: (@Sendable (DeviceID) -> Double?)?

    /// Two, if the process may use more than one core: more need more of PostgreSQL's connections, which are an operator's
    /// to give.
    package static let loopCountDefault = min(2, EventLoop.usefulCount)

    package init(addresses: [SocketAddress], certificate: Certificate?, databaseURL: String) {
        self.addresses = addresses
        self.certificate = certificate
        self.databaseURL = databaseURL
        // Room for the largest request: its fields, and the names, types and tags of its items.
        transport.message.messageBytesMax = 4_194_304
        transport.message.frameBytesMax = 4_194_304
        // Several of the largest answers: sessions stop making more long before (`SessionSettings.queuedBytesMax`).
        transport.queuedBytesMax = 33_554_432
    }
}
