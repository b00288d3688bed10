// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkStore

/// Where a server carries out a command of `cktool`: its store, and who has sent the command.
struct CKToolSeat: Sendable {
    let storage: PostgresStorage
    let loop: EventLoop
    let request: OperatorRequest
    /// The sender's: dates without a zone are local there.
    let timeZone: TimeZone

    /// Who acts, for the audit. Users are no operators: what they do to their records is not in it.
    var identity: OperatorIdentity {
        switch request.sender {
        case .operator(let found): OperatorIdentity(name: found.name, address: request.address)
        case .user: OperatorIdentity(name: "", address: request.address)
        }
    }

    /// The hash of the user's credential.
    ///
    /// - Throws: ``AdminFailure`` for an operator.
    func userCredential() throws(AdminFailure) -> [UInt8] {
        switch request.sender {
        case .user(let found): return found.credentialHash
        case .operator(let found):
            throw AdminFailure(.notAllowed, "\(found.name) is an operator, and has no records.")
        }
    }
}
