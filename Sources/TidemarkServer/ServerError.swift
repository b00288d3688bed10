// SPDX-License-Identifier: Apache-2.0

internal import TidemarkStore

/// Why a server could not be started, and what to do about it.
package struct ServerError: Error, CustomStringConvertible {
    /// The part of the configuration or the machine that does not work.
    package enum Code: String, Sendable {
        /// Without TLS, the server may listen on loopback only.
        case plainBeyondLoopback
        case certificateUnusable
        case databaseUnreachable
        case databaseNotMigrated
        /// A newer version of the program has migrated it, or something else has.
        case databaseForeign
        case databaseTooOld
        /// A backup is being restored into it, or a restore was cut off.
        case databaseRestoring
        case cannotListen
        case resourcesExhausted
        case assetDirectoryUnusable
        case masterKeyUnusable
        /// The admin listener is beyond loopback without TLS, or without a token and certificates of clients.
        case adminUnprotected
        case adminTokenUnusable
        /// The keys of an identity provider can never be fetched as they are configured.
        case issuersUnusable
        /// The authorities of the notice bus cannot be read.
        case noticeBusAuthorityUnusable
    }

    package let code: Code
    package let detail: String
    package let underlying: (any Error)?

    package init(_ code: Code, detail: String, underlying: (any Error)? = nil) {
        self.code = code
        self.detail = detail
        self.underlying = underlying
    }

    package var description: String {
        switch code {
        case .plainBeyondLoopback:
            "\(detail) is not a loopback address. Without TLS only this machine may connect. Give --certificate and "
                + "--private-key, or listen on 127.0.0.1 behind a proxy."
        case .certificateUnusable:
            "The certificate or its private key cannot be used. Check the PEM files. \(detail)"
        case .databaseUnreachable:
            "The database cannot be used. Check its URL, and that PostgreSQL runs. \(detail)"
        case .databaseNotMigrated:
            "The database does not have this version's tables. Run `tidemark migrate` with the same database URL first."
        case .databaseTooOld, .databaseForeign, .databaseRestoring: detail
        case .cannotListen:
            "Cannot listen: \(detail). Is another server running there? Choose another address or port."
        case .assetDirectoryUnusable:
            "The asset directory cannot be used. Check who may write to it. \(detail)"
        case .masterKeyUnusable:
            "The master key file cannot be used. \(detail)"
        case .adminUnprotected:
            "--admin-listen \(detail) is not a loopback address. There the admin listener needs TLS (--certificate and "
                + "--private-key), and --admin-token-file or --admin-client-ca."
        case .adminTokenUnusable:
            "The file of --admin-token-file cannot be used. \(detail)"
        case .issuersUnusable:
            "The file of --issuers cannot be used. \(detail)"
        case .noticeBusAuthorityUnusable:
            "The file of --notice-bus-ca cannot be used. Check the PEM file. \(detail)"
        case .resourcesExhausted:
            "The system has no threads or file descriptors left for the server. Raise its limits (ulimit -n, LimitNOFILE, "
                + "TasksMax). \(detail)"
        }
    }
}

extension ServerError {
    /// Why the steps of a database could not be compared with those of the program.
    init(_ error: MigrationError) {
        let code: Code =
            switch error.code {
            case .tooOld: .databaseTooOld
            case .newer, .different: .databaseForeign
            case .restoring: .databaseRestoring
            case .database, .step, .locked, .unanswered: .databaseUnreachable
            }
        self.init(code, detail: error.description, underlying: error)
    }
}
