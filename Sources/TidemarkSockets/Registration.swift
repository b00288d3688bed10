// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc

/// The events that a handler wants. It always receives hang-ups; with no interest at all, once.
package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let readable = Interest(rawValue: 1)
    package static let writable = Interest(rawValue: 2)

    /// Level-triggered: bytes that are not read now are reported again in the next tick.
    ///
    /// Without any interest, a hang-up would be reported again and again to a handler that does not act on it.
    /// Edge-triggered it is reported once.
    var epollEvents: UInt32 {
        var events: UInt32 = isEmpty ? EPOLLET.rawValue : 0
        if contains(.readable) { events |= EPOLLIN.rawValue }
        if contains(.writable) { events |= EPOLLOUT.rawValue }
        return events
    }
}

/// The operations for which a descriptor is ready.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: 1)
    package static let writable = Readiness(rawValue: 2)
    /// Both directions have ended, or an error is pending. Receiving, sending or ``Socket/finishConnecting()`` says
    /// which.
    package static let hangup = Readiness(rawValue: 4)

    /// Whether there may be something to receive, or the end of the stream.
    package var isToReceive: Bool { rawValue & (Self.readable.rawValue | Self.hangup.rawValue) != 0 }

    @inline(__always)
    init(epollEvents: UInt32) {
        var rawValue: UInt8 = 0
        if epollEvents & EPOLLIN.rawValue != 0 { rawValue |= 1 }
        if epollEvents & EPOLLOUT.rawValue != 0 { rawValue |= 2 }
        if epollEvents & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { rawValue |= 4 }
        self.rawValue = rawValue
    }
}

/// Handles events of a descriptor. Called on its loop only.
package protocol EventHandler: AnyObject {
    /// Does a bounded piece of work. Remaining work is reported again in the next tick.
    func ready(_ readiness: Readiness)
}

/// Collects output during a tick of the loop, to send it in one piece at the end.
package protocol TickFlushable: AnyObject {
    func flush()
}

/// A descriptor that a loop watches for a handler. Loop-confined.
///
/// The loop retains the handler until ``cancel()``, or until the loop ends.
package final class Registration {
    package let loop: EventLoop
    private let fd: Int32
    private var handler: (any EventHandler)?
    private let token: UInt64
    package private(set) var interest: Interest

    init(loop: EventLoop, fd: Int32, token: UInt64, interest: Interest, handler: any EventHandler) {
        self.loop = loop
        self.fd = fd
        self.token = token
        self.interest = interest
        self.handler = handler
    }

    package var isCancelled: Bool { handler == nil }

    /// Changes the events that the handler receives. Free if nothing changes; does nothing once cancelled.
    package func update(_ interest: Interest) {
        guard interest != self.interest, !isCancelled else { return }
        precondition(loop.isCurrent)
        self.interest = interest
        var result = loop.control(EPOLL_CTL_MOD, fd, events: interest.epollEvents, token: token)
        if result == -Int(ENOENT) {
            // NB: when libpq tries the next host it closes its socket and opens another, often with the same number.
            result = loop.control(EPOLL_CTL_ADD, fd, events: interest.epollEvents, token: token)
        }
        precondition(result == 0, "cancel a registration before its descriptor is closed")
    }

    /// Cancels the registration: the handler is not called again, not even for events that the loop has already
    /// fetched.
    ///
    /// A second call, or one after the loop has ended, does nothing.
    package func cancel() {
        guard !isCancelled else { return }
        precondition(loop.isCurrent)
        handler = nil
        // Fails harmlessly if a library has already closed the descriptor, which removes it from epoll.
        _ = loop.control(EPOLL_CTL_DEL, fd, events: 0, token: token)
        loop.forget(token)
    }

    /// The loop has ended, so there is nothing to remove the descriptor from.
    func invalidate() {
        handler = nil
    }

    @inline(__always)
    func notify(_ readiness: Readiness) {
        handler?.ready(readiness)
    }
}
