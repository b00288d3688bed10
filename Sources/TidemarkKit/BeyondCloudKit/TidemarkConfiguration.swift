// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

/// What an app takes from the system on Apple's platforms, and from here elsewhere: the server, who is signed in, and
/// whom to trust.
///
/// Without a line of code it comes from variables of the environment, and what these do not say from a file `tidemark.json`
/// in the program's directory, or if there is none in the working directory:
///
/// | variable | key in the file | meaning |
/// | --- | --- | --- |
/// | `TIDEMARK_URL` | `url` | `wss://host:port`; `ws://` only to a loopback address |
/// | `TIDEMARK_TOKEN` | `token` | the credential, as `tidemark admin credentials issue` showed it; without it whoever signed in last |
/// | `TIDEMARK_CA` | `ca` | a PEM file with a further certificate authority to trust |
/// | `TIDEMARK_CONTAINER` | `container` | what `CKContainer.default()` is |
/// | `TIDEMARK_ENVIRONMENT` | `environment` | `development` (the default) or `production` |
/// | `TIDEMARK_ASSETS` | `assets` | a directory for downloaded assets |
/// | `TIDEMARK_CREDENTIAL_FILE` | `credentialFile` | a file for the credentials of who signs in by `CKContainer.signIn(token:)` |
/// | `TIDEMARK_KEY_FILE` | `keyFile` | a file for keys of accounts with end-to-end encryption |
/// | `TIDEMARK_END_TO_END` | `endToEnd` | `1` (in the file `true`): no server may have the account's key |
/// | | `containers` | by identifier, what is different for that container: an object with the keys above, but not `container` |
///
/// ```json
/// { "url": "wss://sync.example.org", "token": "…", "ca": "ca.pem", "container": "iCloud.org.example.notes" }
/// ```
///
/// A token is shown only to the server that it was meant for: where a variable or an entry of `containers` says another `url`,
/// `token` and `ca` of what it wins over do not count, and are to be said beside it. A `TIDEMARK_TOKEN` alone is for the file's
/// server.
///
/// Paths in the file are relative to its directory. Code wins over the environment: set ``current`` before the first
/// container is used, or `CKContainer.configure(_:for:)` for one of several.
///
/// No token anywhere is no sign-out, and neither is an empty one: who is signed in could not be determined. Engines
/// keep what they have and wait, and the log says what was looked at. Only `CKContainer.signOut()` signs out.
///
/// A mistake (a key that is not known, a file that is no JSON) is no trap: every request fails with `networkUnavailable`, and
/// its text says what to mend, until code sets ``url``.
public struct TidemarkConfiguration: Sendable {
    /// `wss://host:port`, or `ws://` to a loopback address. Nil: there is no server, every request fails with
    /// `networkUnavailable`.
    public var url: URL? {
        didSet {
            // What was wrong with file or environment matters no longer.
            if url != nil { fault = nil }
        }
    }
    /// The credential; nil: that of who signed in last (`CKContainer.signIn(token:)`), if anybody did; empty: none, as if
    /// nobody ever had.
    public var token: String?
    /// The path of a PEM file with a certificate authority to trust besides those of the system.
    public var certificateAuthorityFile: String?
    /// The identifier of `CKContainer.default()`.
    public var defaultContainerIdentifier: String
    /// Which of a container's two environments.
    public var environment: Environment
    /// Where assets are downloaded to; nil: below the directory for temporary files. What is a day old in it is
    /// removed from time to time.
    public var assetDirectory: URL?
    /// Where this device keeps who signed in (`CKContainer.signIn(token:)`); nil: `tidemark/credentials.json` where
    /// applications of the user keep their data. Only its owner can read it.
    public var credentialFile: URL?
    /// Where this device keeps keys of accounts with end-to-end encryption (`CKContainer.exportRecoveryKey()`); nil:
    /// `tidemark/keys.json` where applications of the user keep their data. Only its owner can read it.
    public var keyFile: URL?
    /// Whether `encryptedValues` are end-to-end encrypted whatever the server says: if its operator chose, or changes to,
    /// keeping the account's key, nothing that is encrypted is sent. Without it a server that lies about the account could
    /// have the key of one that has none yet.
    public var requiresEndToEndEncryption: Bool

    /// Development and production have fully separate data.
    public enum Environment: String, Sendable {
        /// Record types and fields come into being when they are first saved.
        case development
        /// The schema is frozen.
        case production
    }

    /// What must be mended before there is a configuration; requests fail with it.
    package internal(set) var fault: String?

    /// Why there is no token, if there is none and environment and file were asked.
    var tokenSources: String?

    /// What `CKContainer.default()` is if nobody says.
    public static let fallbackContainerIdentifier = "iCloud.dev.tidemark"

    /// A configuration by hand.
    public init(
        url: URL?, token: String? = nil, certificateAuthorityFile: String? = nil,
        defaultContainerIdentifier: String = TidemarkConfiguration.fallbackContainerIdentifier,
        environment: Environment = .development,
        assetDirectory: URL? = nil, credentialFile: URL? = nil, keyFile: URL? = nil,
        requiresEndToEndEncryption: Bool = false
    ) {
        self.url = url
        self.token = token
        self.certificateAuthorityFile = certificateAuthorityFile
        self.defaultContainerIdentifier = defaultContainerIdentifier
        self.environment = environment
        self.assetDirectory = assetDirectory
        self.credentialFile = credentialFile
        self.keyFile = keyFile
        self.requiresEndToEndEncryption = requiresEndToEndEncryption
    }

    /// The configuration that the environment describes, without any file.
    public init(environmentVariables variables: [String: String]) {
        self = ConfigurationSources(variables: variables).configuration()
    }

    private struct Stored {
        var all: TidemarkConfiguration?
        /// By container identifier.
        var single: [String: TidemarkConfiguration] = [:]
    }

    private static let stored = Mutex(Stored())

    /// What containers that are made from now on use; at first what environment and file say.
    public static var current: TidemarkConfiguration {
        get { stored.withLock { $0.all } ?? ConfigurationSources.ofProcess().configuration() }
        set { stored.withLock { $0.all = newValue } }
    }

    /// What a container uses that is made from now on.
    static func current(for containerIdentifier: String) -> TidemarkConfiguration {
        stored.withLock { $0.single[containerIdentifier] ?? $0.all }
            ?? ConfigurationSources.ofProcess().configuration(for: containerIdentifier)
    }

    static func store(_ configuration: TidemarkConfiguration, for containerIdentifier: String) {
        stored.withLock { $0.single[containerIdentifier] = configuration }
    }
}
