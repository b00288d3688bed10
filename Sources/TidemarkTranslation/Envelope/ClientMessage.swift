// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkWire

/// A message from a client, read but not translated. It is a class because it is passed on often, and must not be copied.
package final class ClientMessage: Sendable {
    /// 0 only for a message that has nothing but ``pushesHeard`` or ``pendingReport``.
    package let id: UInt64
    /// Nil if this version does not know the request, or if there is a ``refusal``.
    package let request: WireClientEnvelope.OneOfRequest?
    /// Why the request could not be read. Nil if it could. The session goes on, because the id is known.
    package let refusal: Refusal?
    /// Nil if the app made none.
    package let operationGroup: WireOperationGroup?
    /// The number of the last push that the client heard. 0: not said.
    package let pushesHeard: UInt64
    /// What the client has not sent yet. Nil: not said.
    package let pendingReport: WirePendingReport?
    /// When it came, on the clock of whoever received it.
    package let receivedAt: Duration
    /// Bytes of memory that it takes, at most, with what answering it takes.
    package let memory: Int
    /// The same of its values alone.
    package var valueBytes: Int { memory - Self.answeringBytes }

    /// Why the request, or the first item in it, was refused while it was answered. Nil if all was done. From any thread.
    ///
    /// For the metrics. Here it costs no memory of its own, and nobody has to pass it on.
    package var failure: FailureReason? {
        get { FailureReason(rawValue: failureNumber.load(ordering: .relaxed)) }
        set { failureNumber.store(newValue?.rawValue ?? 0, ordering: .relaxed) }
    }
    private let failureNumber = Atomic<Int16>(0)

    /// What answering a request takes beside its values: a task with the frames of its functions, and its places in tables.
    /// A save that waits for its transaction was measured with 9 KiB.
    private static let answeringBytes = 8_192

    /// - Throws: ``Refusal`` with `requestInvalid` if the bytes are no envelope, or if the id of a request is 0. There is no id
    ///   to answer to.
    package init(_ bytes: [UInt8], at receivedAt: Duration = .zero) throws(Refusal) {
        let (envelope, error, memory) = WireClientEnvelope.read(bytes)
        if let error {
            guard error.isBound, envelope.id != 0 else {
                throw Refusal(.requestInvalid, "The message is no ClientEnvelope.")
            }
            refusal = Refusal(error)
        } else {
            refusal = nil
        }
        let tells = envelope.pushesHeard > 0 || envelope.hasPendingReport
        guard envelope.id != 0 || (envelope.request == nil && tells) else {
            throw Refusal(.requestInvalid, "A request's id is not 0.")
        }
        id = envelope.id
        self.receivedAt = receivedAt
        self.memory = memory + Self.answeringBytes
        request = error == nil ? envelope.request : nil
        pushesHeard = envelope.pushesHeard
        pendingReport = envelope.hasPendingReport ? envelope.pendingReport : nil
        operationGroup = envelope.hasOperationGroup ? envelope.operationGroup : nil
    }
}

extension Refusal {
    /// The refusal of a request that exceeds a bound of the protocol.
    fileprivate init(_ error: WireError) {
        switch error.code {
        case .tooManyElements: self.init(.tooManyItems, "The request has more parts than the protocol allows.")
        case .tooDeep: self.init(.queryTooLarge, "The conditions of the query are nested too deep.")
        default: self.init(.requestTooLarge, "A value of the request has more bytes than the protocol allows.")
        }
    }
}
