// SPDX-License-Identifier: Apache-2.0

internal import SwiftProtobuf
internal import TidemarkDomain
package import TidemarkWire

/// One message from a client, read but not yet understood. It goes through many hands: a class, so that none copies it.
package final class ClientMessage: Sendable {
    /// Never 0.
    package let id: UInt64
    /// Nil: a request that this version does not know.
    package let request: WireClientEnvelope.OneOf_Request?
    /// What a `modifyRecords` says, which is said here alone; nil for every other request.
    package let modifications: RecordModifications?
    /// Nil unless the app made one.
    package let operationGroup: WireOperationGroup?
    /// The content of a chunk, where it lies in the message; nil if there is none, or it is small and in the request.
    package let content: ArraySlice<UInt8>?

    /// - Throws: ``Refusal`` with `requestInvalid` if the bytes are no envelope or the id is 0: nothing that could be
    ///   answered.
    package init(_ bytes: [UInt8]) throws(Refusal) {
        var envelope = WireClientEnvelope()
        do {
            if let save = SaveEnvelope.request(bytes) {
                envelope.id = save.id
                envelope.request = .modifyRecords(WireModifyRecords())
                if let group = save.operationGroup { envelope.operationGroup = group }
                (modifications, content) = (save.modifications, nil)
            } else if let (request, range) = try ChunkEnvelope.request(bytes) {
                (envelope, modifications, content) = (request, nil, bytes[range])
            } else {
                envelope = try WireClientEnvelope(serializedBytes: bytes)
                content = nil
                if case .modifyRecords(let request)? = envelope.request {
                    modifications = RecordModifications(request)
                    envelope.request = .modifyRecords(WireModifyRecords())
                } else {
                    modifications = nil
                }
            }
        } catch {
            throw Refusal(.requestInvalid, "The message is no ClientEnvelope.")
        }
        guard envelope.id != 0 else { throw Refusal(.requestInvalid, "A request's id is not 0.") }
        id = envelope.id
        request = envelope.request
        operationGroup = envelope.hasOperationGroup ? envelope.operationGroup : nil
    }
}
