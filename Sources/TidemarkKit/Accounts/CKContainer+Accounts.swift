// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKContainer {
    /// Whether somebody is signed in.
    ///
    /// `available` if the server knows the credential, and `temporarilyUnavailable` if the server refuses it. `noAccount` after
    /// ``signOut()``. `couldNotDetermine` if no credential is configured, or if the server cannot be reached.
    @discardableResult
    public func accountStatus() async throws -> CKAccountStatus {
        guard context.hasCredential else { return absentStatus }
        do throws(CKError) {
            return try await identify().isEmpty ? absentStatus : .available
        } catch {
            switch error.code {
            case .accountTemporarilyUnavailable, .notAuthenticated: return .temporarilyUnavailable
            case .networkUnavailable, .networkFailure: return .couldNotDetermine
            default: throw error
            }
        }
    }

    private var absentStatus: CKAccountStatus { context.absence == .signedOut ? .noAccount : .couldNotDetermine }

    /// The current user's record ID in this container: `_` and hexadecimal digits.
    ///
    /// - Throws: `notAuthenticated` if nobody is signed in, `accountTemporarilyUnavailable` if the server refuses the
    ///   credential.
    @discardableResult
    public func userRecordID() async throws -> CKRecord.ID {
        if let absence = context.absence { throw CKError.noAccount(absence) }
        let name = try await identify()
        guard !name.isEmpty else { throw CKError.noAccount }
        return CKRecord.ID(recordName: name)
    }

    /// Whether somebody is signed in: ``accountStatus()`` with a completion handler.
    @preconcurrency
    public func accountStatus(completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void) {
        deliver(to: { completionHandler($0 ?? .couldNotDetermine, $1) }) { try await self.accountStatus() }
    }

    /// The current user's record ID: ``userRecordID()`` with a completion handler.
    @preconcurrency
    public func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void) {
        deliver(to: completionHandler) { try await self.userRecordID() }
    }
}
