// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc
internal import TidemarkScheduling
package import TidemarkTelemetry

/// Accepts connections on one loop. Several listeners, of one or more processes, may share an address; then the kernel
/// spreads the connections.
///
/// If the process or the machine runs out of descriptors (EMFILE, ENFILE), the listener pauses for a moment. Waiting
/// connections are served when descriptors become free. If none becomes free, it accepts and closes a batch of them
/// with a descriptor that it keeps in reserve. So clients notice at once, and try elsewhere or later. The listener
/// neither spins nor ends.
///
/// Loop-confined; Sendable only so that work on the loop can capture it.
package final class Listener: EventHandler, @unchecked Sendable {
    /// How a listener shares its address and queues connections.
    package struct Options: Sendable {
        /// Lets further listeners share the address (SO_REUSEPORT). Without it, a second listener gets `addressInUse`.
        package var sharesAddress: Bool
        /// Whether a listener on `[::]` takes IPv4 connections too.
        package var acceptsIPv4OnIPv6: Bool
        /// Connections that the kernel completes before they are accepted. `net.core.somaxconn` is a second bound.
        package var backlog: Int

        package init(sharesAddress: Bool = true, acceptsIPv4OnIPv6: Bool = true, backlog: Int = 4_096) {
            self.sharesAddress = sharesAddress
            self.acceptsIPv4OnIPv6 = acceptsIPv4OnIPv6
            self.backlog = backlog
        }
    }

    /// The address, with the port that the kernel chose if port 0 was asked for.
    package let localAddress: SocketAddress

    private let loop: EventLoop
    private let descriptor: FileDescriptor
    private let onAccept: (FileDescriptor, SocketAddress) -> Void
    private var registration: Registration?
    /// How a connection is accepted: `accept4`.
    var accept: (_ fd: Int32, _ address: inout sockaddr_storage) -> Int = SystemCalls.accept
    private var reserve: FileDescriptor?
    private var pauseTimer: ScheduledTimer?
    /// Whether the last attempt found no descriptor either, so that waiting connections must be turned away.
    private var isExhausted = false
    /// Learns of shortages. In a flood at the limit, some connections are accepted and others not, many times a second.
    private let failures: FailureLog
    /// Connections that were accepted and closed at once because no descriptor was free.
    package private(set) var refusedCount = 0

    /// Connections accepted in one tick. In a flood of them, existing connections still get time.
    private static let acceptsPerTickMax = 64
    private static let pauseAfterExhaustion = Duration.milliseconds(100)

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - failures: learns of shortages.
    ///   - onAccept: receives each connection's non-blocking descriptor and the peer's address. It may close the
    ///     listener.
    /// - Throws: `addressInUse`, `addressInvalid`, `permissionDenied` (ports below 1024).
    package init(
        loop: EventLoop, address: SocketAddress, options: Options = Options(), failures: FailureLog = .shared,
        onAccept: @escaping (FileDescriptor, SocketAddress) -> Void
    ) throws(SocketError) {
        precondition(loop.isCurrent)
        let descriptor = FileDescriptor(owning: try SystemCalls.createSocket(family: address.addressFamily))
        let fd = descriptor.rawValue
        if address.family != .unix {
            try SystemCalls.setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1)
            if options.sharesAddress { try SystemCalls.setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1) }
        }
        if address.family == .ipv6 {
            try SystemCalls.setOption(fd, Int32(IPPROTO_IPV6), IPV6_V6ONLY, options.acceptsIPv4OnIPv6 ? 0 : 1)
        }
        try address.withKernelForm { (raw, length) throws(SocketError) in try SystemCalls.bind(fd, raw, length) }
        try SystemCalls.listen(fd, backlog: Int32(clamping: options.backlog))
        localAddress = SocketAddress(try SystemCalls.localAddress(fd)) ?? address
        self.loop = loop
        self.descriptor = descriptor
        self.failures = failures
        self.onAccept = onAccept
        reserve = try? FileDescriptor(owning: SystemCalls.openNull())
        registration = try loop.register(descriptor, interest: .readable, handler: self)
    }

    /// Begins to listen at all of the addresses.
    ///
    /// - Throws: as ``init(loop:address:options:failures:onAccept:)``. It then listens at none.
    package static func all(
        on loop: EventLoop, at addresses: [SocketAddress], options: Options = Options(),
        onAccept: @escaping (FileDescriptor, SocketAddress) -> Void
    ) throws(SocketError) -> [Listener] {
        var listeners: [Listener] = []
        do throws(SocketError) {
            for address in addresses {
                listeners.append(try Listener(loop: loop, address: address, options: options, onAccept: onAccept))
            }
        } catch {
            listeners.forEach { $0.close() }
            throw error
        }
        return listeners
    }

    /// Accepts no more connections. The kernel resets those in its queue.
    package func close() {
        registration?.cancel()
        registration = nil
        pauseTimer?.cancel()
        pauseTimer = nil
        reserve = nil
        descriptor.close()
    }

    package func ready(_ readiness: Readiness) {
        for _ in 0..<Self.acceptsPerTickMax {
            guard registration != nil, pauseTimer == nil else { return }
            guard acceptOne() else { return }
        }
    }

    /// False if there is nothing more to accept now.
    private func acceptOne() -> Bool {
        var storage = sockaddr_storage()
        let result = accept(descriptor.rawValue, &storage)
        if result >= 0 {
            isExhausted = false
            let accepted = FileDescriptor(owning: Int32(result))
            if let peer = SocketAddress(storage) { onAccept(accepted, peer) }
            return true
        }
        switch Int32(-result) {
        case EAGAIN, EWOULDBLOCK:
            return false
        case ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH,
            EPERM:
            // accept(2): errors of the one connection that would have been accepted. The next one may be fine.
            return true
        case let code:
            warn(SocketError(errorNumber: code, operation: "accept4"))
            if isExhausted { refuseWaiting() }
            isExhausted = true
            pauseForAMoment()
            return false
        }
    }

    /// Accepts and closes waiting connections with the reserve descriptor.
    private func refuseWaiting() {
        for _ in 0..<Self.acceptsPerTickMax {
            guard reserve != nil else { break }
            reserve = nil
            var storage = sockaddr_storage()
            let result = accept(descriptor.rawValue, &storage)
            if result >= 0 {
                SystemCalls.close(Int32(result))
                refusedCount += 1
            }
            reserve = try? FileDescriptor(owning: SystemCalls.openNull())
            if result < 0 { break }
        }
        if reserve == nil { reserve = try? FileDescriptor(owning: SystemCalls.openNull()) }
    }

    private func warn(_ error: SocketError) {
        failures.note(
            .warning, "accepting pauses", cause: "\(error)", ["refused": "\(refusedCount)"], request: nil)
    }

    private func pauseForAMoment() {
        pauseTimer = loop.schedule(after: Self.pauseAfterExhaustion) { [weak self] in
            self?.pauseTimer = nil
            self?.updateInterest()
        }
        updateInterest()
    }

    private func updateInterest() {
        registration?.update(pauseTimer == nil ? .readable : [])
    }
}
