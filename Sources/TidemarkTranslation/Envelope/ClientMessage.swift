// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
package import TidemarkWire

/// One message from a client, read but not yet understood. It goes through many hands: a class, so that none copies it.
package final class ClientMessage: Sendable {
    /// 0 only of a message that says nothing but ``pushesHeard``.
    package let id: UInt64
    /// Nil: a request that this version does not know, or of which ``refusal`` says what is wrong.
    package let request: WireClientEnvelope.OneOfRequest?
    /// Why the request was not read to its end; nil if it was. The session goes on: the id is known.
    package let refusal: Refusal?
    /// Nil unless the app made one.
    package let operationGroup: WireOperationGroup?
    /// The number of the last push that the client heard; 0: not said.
    package let pushesHeard: UInt64

    /// - Throws: ``Refusal`` with `requestInvalid` if the bytes are no envelope or the id is 0: nothing that could be
    ///   answered.
    package init(_ bytes: [UInt8]) throws(Refusal) {
        let (envelope, error) = WireClientEnvelope.read(bytes)
        if let error {
            guard error.isBound, envelope.id != 0 else {
                throw Refusal(.requestInvalid, "The message is no ClientEnvelope.")
            }
            refusal = Refusal(error)
        } else {
            refusal = nil
        }
        let isAcknowledgement = envelope.request == nil && envelope.pushesHeard > 0
        guard envelope.id != 0 || isAcknowledgement else { throw Refusal(.requestInvalid, "A request's id is not 0.") }
        id = envelope.id
        request = error == nil ? envelope.request : nil
        pushesHeard = envelope.pushesHeard
        operationGroup = envelope.hasOperationGroup ? envelope.operationGroup : nil
    }
}

extension Refusal {
    /// Of a request that is larger than the protocol allows.
    fileprivate init(_ error: WireError) {
        switch error.code {
        case .tooManyElements: self.init(.tooManyItems, "The request has more parts than the protocol allows.")
        case .tooDeep: self.init(.queryTooLarge, "The conditions of the query are nested too deep.")
        default: self.init(.requestTooLarge, "A value of the request has more bytes than the protocol allows.")
        }
    }
}
