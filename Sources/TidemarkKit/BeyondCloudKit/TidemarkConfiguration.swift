// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

/// The settings that the system provides on Apple's platforms: the server, who is signed in, and which authorities to
/// trust.
///
/// Without code, the configuration comes from environment variables. Values that they do not set come from a file
/// `tidemark.json`. It is in the program's directory or, if there is none, in the working directory:
///
/// | variable | key in the file | meaning |
/// | --- | --- | --- |
/// | `TIDEMARK_URL` | `url` | `wss://host:port`; `ws://` only to a loopback address |
/// | `TIDEMARK_TOKEN` | `token` | the credential, as `tidemark admin credentials create` printed it; without it, that of the last sign-in |
/// | `TIDEMARK_CA` | `ca` | a PEM file with an additional certificate authority to trust |
/// | `TIDEMARK_CONTAINER` | `container` | the identifier of `CKContainer.default()` |
/// | `TIDEMARK_ENVIRONMENT` | `environment` | `development` (the default) or `production` |
/// | `TIDEMARK_ASSETS` | `assets` | a directory for downloaded assets |
/// | `TIDEMARK_CREDENTIAL_FILE` | `credentialFile` | a file for the credentials of `CKContainer.signIn(token:)` |
/// | `TIDEMARK_KEY_FILE` | `keyFile` | a file for keys of accounts with end-to-end encryption |
/// | `TIDEMARK_END_TO_END` | `endToEnd` | `1` (in the file `true`): no server may have the account's key |
/// | | `containers` | settings of single containers by identifier: objects with the keys above, except `container` |
///
/// ```json
/// { "url": "wss://sync.example.org", "token": "…", "ca": "ca.pem", "container": "iCloud.org.example.notes" }
/// ```
///
/// A token is sent only to the server for which it was meant. If a variable or an entry of `containers` sets another
/// `url`, the `token` and `ca` of the file's own `url` do not apply to it. Set them beside the new one. A
/// `TIDEMARK_TOKEN` alone is for the file's server.
///
/// Paths in the file are relative to its directory. Code wins over the environment: set ``current`` before the first
/// container is used, or call `CKContainer.configure(_:for:)` for one of several.
///
/// A missing or empty token does not sign the user out: the account could not be determined. Engines keep their
/// data and wait, and the log says where the library looked for a token. Only `CKContainer.signOut()` signs out.
///
/// A mistake (an unknown key, a file that is not JSON) does not trap. Every request fails with `networkUnavailable`,
/// and its text says what to correct, until code sets ``url``.
public struct TidemarkConfiguration: Sendable {
    /// `wss://host:port`, or `ws://` to a loopback address. Nil: there is no server, and every request fails with
    /// `networkUnavailable`.
    public var url: URL? {
        didSet {
            // A mistake in file or environment no longer matters.
            if url != nil { fault = nil }
        }
    }
    /// The credential. Nil: that of the last sign-in (`CKContainer.signIn(token:)`), if there was one. Empty: none, as
    /// if nobody had ever signed in.
    public var token: String?
    /// The path of a PEM file with a certificate authority to trust besides the system's.
    public var certificateAuthorityFile: String?
    /// The identifier of `CKContainer.default()`.
    public var defaultContainerIdentifier: String
    /// One of a container's two environments.
    public var environment: Environment
    /// The directory for downloaded assets; nil for one below the directory for temporary files. Files in it
    /// that are a day old are removed from time to time.
    public var assetDirectory: URL?
    /// The file in which this device keeps sign-ins (`CKContainer.signIn(token:)`); nil for `tidemark/credentials.json`
    /// in the user's data directory (`~/.local/share`). Only its owner can read it.
    public var credentialFile: URL?
    /// The file in which this device keeps keys of accounts with end-to-end encryption
    /// (`CKContainer.exportRecoveryKey()`). Nil for `tidemark/keys.json` in the user's data directory
    /// (`~/.local/share`). Only its owner can read it.
    public var keyFile: URL?
    /// Whether `encryptedValues` must be end-to-end encrypted, whatever the server says. If the server keeps the
    /// account's key, by its operator's choice or a later change, no encrypted values are sent. Without this setting, a
    /// server that lies about an account without a key could get the key.
    public var requiresEndToEndEncryption: Bool
    /// Whether this device also gives the keys of its shared zones to participants whose account keys the server keeps. It matters only if
    /// the current user's account is end-to-end encrypted. Then the server cannot read values of other participants there either, unless
    /// such a participant takes part. Set it in code.
    public var allowsEscrowedParticipants: Bool

    /// Development and production have fully separate data.
    public enum Environment: String, Sendable {
        /// Record types and fields are created when they are first saved.
        case development
        /// The schema is frozen.
        case production
    }

    /// The mistake that must be corrected before the configuration can be used. Until then requests fail with it.
    package internal(set) var fault: String?

    /// The reason why there is no token, if there is none and environment and file were read.
    var tokenSources: String?

    /// The identifier of `CKContainer.default()` if nothing sets it.
    public static let fallbackContainerIdentifier = "iCloud.dev.tidemark"

    /// A configuration with the given values.
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
        allowsEscrowedParticipants = false
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

    /// The configuration of containers that are made from now on. At first it comes from environment and file.
    public static var current: TidemarkConfiguration {
        get { stored.withLock { $0.all } ?? ConfigurationSources.ofProcess().configuration() }
        set { stored.withLock { $0.all = newValue } }
    }

    /// The configuration of a container that is made from now on.
    static func current(for containerIdentifier: String) -> TidemarkConfiguration {
        stored.withLock { $0.single[containerIdentifier] ?? $0.all }
            ?? ConfigurationSources.ofProcess().configuration(for: containerIdentifier)
    }

    static func store(_ configuration: TidemarkConfiguration, for containerIdentifier: String) {
        stored.withLock { $0.single[containerIdentifier] = configuration }
    }
}
