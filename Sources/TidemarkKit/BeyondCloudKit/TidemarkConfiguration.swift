// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

/// What an app takes from the system on Apple's platforms, and from here elsewhere: the server, who is signed in, and
/// whom to trust.
///
/// Without a line of code it comes from the environment:
///
/// | variable | meaning |
/// | --- | --- |
/// | `TIDEMARK_URL` | `wss://host:port`; `ws://` only to a loopback address |
/// | `TIDEMARK_TOKEN` | the credential, as `tidemark admin credentials issue` showed it; without it nobody is signed in |
/// | `TIDEMARK_CA` | a PEM file with a further certificate authority to trust |
/// | `TIDEMARK_CONTAINER` | what `CKContainer.default()` is |
/// | `TIDEMARK_ENVIRONMENT` | `development` (the default) or `production` |
/// | `TIDEMARK_ASSETS` | a directory for downloaded assets |
/// | `TIDEMARK_KEY_FILE` | a file for keys of accounts with end-to-end encryption |
/// | `TIDEMARK_END_TO_END` | `1`: no server may have the account's key |
///
/// In code: set ``current`` before the first container is used.
public struct TidemarkConfiguration: Sendable {
    /// `wss://host:port`, or `ws://` to a loopback address. Nil: there is no server, every request fails with
    /// `networkUnavailable`.
    public var url: URL?
    /// The credential; nil: nobody is signed in.
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

    /// A configuration by hand.
    public init(
        url: URL?, token: String? = nil, certificateAuthorityFile: String? = nil,
        defaultContainerIdentifier: String = "iCloud.dev.tidemark", environment: Environment = .development,
        assetDirectory: URL? = nil, keyFile: URL? = nil, requiresEndToEndEncryption: Bool = false
    ) {
        self.url = url
        self.token = token
        self.certificateAuthorityFile = certificateAuthorityFile
        self.defaultContainerIdentifier = defaultContainerIdentifier
        self.environment = environment
        self.assetDirectory = assetDirectory
        self.keyFile = keyFile
        self.requiresEndToEndEncryption = requiresEndToEndEncryption
    }

    /// The configuration that the environment describes.
    public init(environmentVariables variables: [String: String]) {
        func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
        self.init(
            url: value("TIDEMARK_URL").flatMap(URL.init(string:)), token: value("TIDEMARK_TOKEN"),
            certificateAuthorityFile: value("TIDEMARK_CA"),
            defaultContainerIdentifier: value("TIDEMARK_CONTAINER") ?? "iCloud.dev.tidemark",
            environment: value("TIDEMARK_ENVIRONMENT").flatMap(Environment.init(rawValue:)) ?? .development,
            assetDirectory: value("TIDEMARK_ASSETS").map { URL(fileURLWithPath: $0, isDirectory: true) },
            keyFile: value("TIDEMARK_KEY_FILE").map { URL(fileURLWithPath: $0) },
            requiresEndToEndEncryption: value("TIDEMARK_END_TO_END") == "1")
    }

    private static let stored = Mutex<TidemarkConfiguration?>(nil)

    /// What containers that are made from now on use; at first what the environment says.
    public static var current: TidemarkConfiguration {
        get {
            stored.withLock { $0 }
                ?? TidemarkConfiguration(environmentVariables: ProcessInfo.processInfo.environment)
        }
        set { stored.withLock { $0 = newValue } }
    }
}
