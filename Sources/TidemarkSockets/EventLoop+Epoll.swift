// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll

/// A slot for a registration. epoll returns its index and generation with each event. So an event of a registration
/// that is gone, or whose slot has been reused, is recognised and dropped.
struct Slot {
    var generation: UInt32 = 0
    var registration: Registration?

    /// The token of the descriptor that wakes the loop. No registration has it.
    static let wakerToken = UInt64.max

    static func token(index: Int, generation: UInt32) -> UInt64 {
        UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: index))
    }

    static func index(of token: UInt64) -> Int { Int(token & 0xFFFF_FFFF) }

    static func generation(of token: UInt64) -> UInt32 { UInt32(token >> 32) }
}

extension EventLoop {
    /// Watches a descriptor for `handler`. The caller still owns the descriptor. Loop-confined.
    ///
    /// - Throws: `resourcesExhausted`, or the error of `epoll_ctl` for a descriptor that cannot be watched.
    package func register(
        _ descriptor: FileDescriptor, interest: Interest, handler: any EventHandler
    ) throws(SocketError) -> Registration {
        try register(descriptor.rawValue, interest: interest, handler: handler)
    }

    /// As ``register(_:interest:handler:)-(FileDescriptor,_,_)``, for descriptors that a library owns.
    package func register(
        _ fd: Int32, interest: Interest, handler: any EventHandler
    ) throws(SocketError) -> Registration {
        precondition(isCurrent)
        if freeSlots.isEmpty {
            freeSlots.append(slots.count)
            slots.append(Slot())
        }
        let index = freeSlots[freeSlots.count - 1]
        let token = Slot.token(index: index, generation: slots[index].generation)
        let result = control(EPOLL_CTL_ADD, fd, events: interest.epollEvents, token: token)
        guard result == 0 else { throw SocketError(errorNumber: Int32(-result), operation: "epoll_ctl") }
        freeSlots.removeLast()
        let registration = Registration(loop: self, fd: fd, token: token, interest: interest, handler: handler)
        slots[index].registration = registration
        return registration
    }

    func control(_ operation: Int32, _ fd: Int32, events: UInt32, token: UInt64) -> Int {
        SystemCalls.control(epoll, operation, fd, events: events, data: token)
    }

    /// The registration with this token has been cancelled.
    func forget(_ token: UInt64) {
        let index = Slot.index(of: token)
        slots[index].registration = nil
        slots[index].generation &+= 1
        freeSlots.append(index)
    }

    /// Calls the handlers of the first `count` events, and of further ones for as long as a tick has for them.
    ///
    /// The kernel is asked for a few events at a time, because it tells those first that were told longest ago. It
    /// would tell all of them in the same order each time, and the last would have no turn while the others are busy.
    func dispatch(_ count: Int) {
        for event in events[..<count] { notify(of: event) }
        guard count == events.count else { return }
        let first = events[0].data.u64
        let end = Self.nanoseconds + Self.workNanosecondsPerTickMax
        for _ in 1..<Self.eventWaitsPerTickMax {
            let count = SystemCalls.wait(epoll, events, milliseconds: 0)
            for event in events[..<count] { notify(of: event) }
            // When the first is reported again, all others have been reported.
            let isRound = events[..<count].contains { $0.data.u64 == first }
            if isRound || count < events.count || Self.nanoseconds >= end { return }
        }
    }

    private func notify(of event: epoll_event) {
        let token = event.data.u64
        guard token != Slot.wakerToken else { return }
        let slot = slots[Slot.index(of: token)]
        guard slot.generation == Slot.generation(of: token), let registration = slot.registration else { return }
        registration.notify(Readiness(epollEvents: event.events))
        lookIfMeasured()
    }

    func invalidateRegistrations() {
        let ended = slots
        slots = []
        freeSlots = []
        for slot in ended { slot.registration?.invalidate() }
    }
}
