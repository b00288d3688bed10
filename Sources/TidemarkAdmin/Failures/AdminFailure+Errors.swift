// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkLocalPostgres
internal import TidemarkPostgres
internal import TidemarkServer
internal import TidemarkService
internal import TidemarkStore

extension AdminFailure {
    /// What an error of any part of the program means for an operator.
    package init(_ error: any Error) {
        switch error {
        case let failure as AdminFailure: self = failure
        case let error as StorageError: self.init(Self.status(of: error), Self.text(of: error))
        case let error as MigrationError where error.isNotAllowed && error.code == .database:
            self.init(.notAllowed, "\(Self.notAllowedByPostgres) (\(error.detail))")
        case let error as MigrationError: self.init(error.status, error.description)
        case let error as ServerError: self.init(error.status, error.description)
        case let error as AssetStoreError:
            self.init(.refused, "The asset directory cannot be used. Check who may write to it. \(error)")
        case let reason as FailureReason: self.init(reason)
        case let error as LocalPostgresError: self.init(.refused, error.description)
        default: self.init(.fault, "\(error)")
        }
    }

    /// - Parameter done: what the command has done before the error, and what to do then. It takes the place of the sentence
    ///   that nothing was changed.
    init(_ error: any Error, done: String) {
        let failure = AdminFailure(error)
        self.init(failure.status, "\(failure.description.replacing(" \(Self.unchanged)", with: "")) \(done)")
    }

    private static let unchanged = "Nothing was changed."

    /// Why the service refused what an operator asks for.
    package init(_ reason: FailureReason) {
        let status: ExitStatus =
            switch reason {
            case .storeUnavailable: .unreachable
            case .serverFault: .fault
            case .notPermitted, .createNotPermitted, .notAuthenticated: .notAllowed
            default: .refused
            }
        self.init(status, reason.text)
    }

    private static func status(of error: StorageError) -> ExitStatus {
        switch error.code {
        case .rejected where error.kind.contains(insufficientPrivilege): .notAllowed
        case .unavailable, .commitUnknown, .stopped: .unreachable
        case .zoneBusy, .outdated, .tooSlow, .groupTooLarge, .containerUnknown, .containerClosed, .notMarked,
            .queryTooSlow,
            .crowded:
            .refused
        case .rejected: .fault
        }
    }

    private static let notAllowedByPostgres =
        "PostgreSQL does not allow this to the role of --database-url. Use the role to which the tables belong."

    private static let insufficientPrivilege = SQLState.insufficientPrivilege.description

    private static func text(of error: StorageError) -> String {
        let text =
            switch error.code {
            case .rejected where error.kind.contains(insufficientPrivilege):
                notAllowedByPostgres
            case .unavailable: "The database cannot be reached, or the connection to it broke. \(unchanged)"
            case .commitUnknown:
                "The connection to the database broke before it answered. Whether the change took place is not known. "
                    + "Look, and run the command again if it did not."
            case .zoneBusy: "Other requests hold what this command needs. \(unchanged) Try again."
            case .outdated, .groupTooLarge, .notMarked: "The store refused: \(error.code.rawValue)."
            case .tooSlow, .queryTooSlow: "The database took too long. \(unchanged)"
            case .containerUnknown: "There is no such container. See: tidemark admin containers list"
            case .containerClosed:
                "The container is closed, because it is being deleted. To finish that: tidemark admin containers delete"
            case .crowded: "Too many others wait for the database. Try again later."
            case .stopped: "The command was stopped."
            case .rejected:
                "The database refused a statement. This is a mistake of Tidemark, or the database is damaged."
            }
        return error.detail.isEmpty ? text : "\(text) (\(error.detail))"
    }
}

extension MigrationError {
    fileprivate var status: ExitStatus {
        if isNotAllowed { return .notAllowed }
        if isOfURL { return .usage }
        return switch code {
        case .database, .unanswered: .unreachable
        case .locked, .newer, .different, .tooOld, .restoring: .refused
        case .step: .fault
        }
    }
}

extension ServerError {
    fileprivate var status: ExitStatus {
        switch code {
        case .databaseUnreachable: .unreachable
        case .plainBeyondLoopback, .adminUnprotected: .usage
        case .certificateUnusable, .databaseNotMigrated, .databaseForeign, .databaseTooOld, .databaseRestoring,
            .cannotListen, .assetDirectoryUnusable, .masterKeyUnusable, .adminTokenUnusable, .issuersUnusable,
            .noticeBusAuthorityUnusable, .resourcesExhausted:
            .refused
        }
    }
}
