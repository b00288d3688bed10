// SPDX-License-Identifier: Apache-2.0

internal import SwiftProtobuf
internal import TidemarkDomain
package import TidemarkWire

/// One message from a client, read but not yet understood. It goes through many hands: a class, so that none copies it.
package final class ClientMessage: Sendable {
    /// 0 only of a message that says nothing but ``pushesHeard``.
    package let id: UInt64
    /// Nil: a request that this version does not know.
    package let request: WireClientEnvelope.OneOf_Request?
    /// What a `modifyRecords` says, which is said here alone; nil for every other request.
    package let modifications: RecordModifications?
    /// Nil unless the app made one.
    package let operationGroup: WireOperationGroup?
    /// The number of the last push that the client heard; 0: not said.
    package let pushesHeard: UInt64
    /// The content of a chunk, where it lies in the message; nil if there is none, or it is small and in the request.
    package let content: ArraySlice<UInt8>?

    /// - Throws: ``Refusal`` with `requestInvalid` if the bytes are no envelope or the id is 0: nothing that could be
    ///   answered.
    package init(_ bytes: [UInt8]) throws(Refusal) {
        var envelope = WireClientEnvelope()
        do {
            if let save = SaveEnvelope.request(bytes) {
                (envelope.id, envelope.pushesHeard) = (save.id, save.pushesHeard)
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
        let isAcknowledgement = envelope.request == nil && envelope.pushesHeard > 0
        guard envelope.id != 0 || isAcknowledgement else { throw Refusal(.requestInvalid, "A request's id is not 0.") }
        id = envelope.id
        request = envelope.request
        pushesHeard = envelope.pushesHeard
        operationGroup = envelope.hasOperationGroup ? envelope.operationGroup : nil
    }
}
