// SPDX-License-Identifier: Apache-2.0

extension Session {
    /// Sends news of presence, unless the device does not take what was sent before. It is no push of a feed, and is not counted
    /// among them.
    ///
    /// - Returns: false if it was not sent.
    func present(_ message: SharedMessage, queuedMax: Int) -> Bool {
        var isSent = true
        send { peer in
            isSent = peer.queuedByteCount <= queuedMax
            if isSent { peer.send(message) }
        }
        return isSent
    }

    /// A topic has ended for the device. It is told in any case: the message is short, and comes once.
    func presenceEnded(_ message: SharedMessage) { send { $0.send(message) } }
}
