// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc

/// The system calls of sockets and epoll, as Swift functions.
///
/// The only file that reads `errno`. The compiler may place a release between a call and the next statement, and with
/// it a deinitializer and its system calls. Here nothing that is reference-counted is alive in between.
///
/// Every function is retried if a signal interrupts it (`EINTR`). Functions that run for each message return the
/// negative `errno` on failure; the others throw.
enum SystemCalls {
    // MARK: For each message

    /// The number of bytes received, 0 at the end of the stream, or the negative `errno`.
    static func receive(_ fd: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let base = buffer.baseAddress else { return -Int(EFAULT) }
        let count = buffer.count
        return retrying { recv(fd, base, count, 0) }
    }

    /// The number of bytes that the kernel accepted, or the negative `errno`.
    ///
    /// MSG_NOSIGNAL: a peer that has gone is an error of this call, and never a SIGPIPE for the whole process.
    static func send(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        let count = buffer.count
        return retrying { Glibc.send(fd, base, count, Int32(MSG_NOSIGNAL)) }
    }

    /// A new non-blocking descriptor, or the negative `errno`.
    static func accept(_ fd: Int32, _ address: inout sockaddr_storage) -> Int {
        withUnsafeMutablePointer(to: &address) { pointer in
            retrying {
                var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                return Int(tidemark_accept(fd, pointer, &length))
            }
        }
    }

    /// The number of events; 0 after the timeout, or after a signal.
    static func wait(_ epoll: Int32, _ events: UnsafeMutableBufferPointer<epoll_event>, milliseconds: Int32) -> Int {
        let base = events.baseAddress
        let capacity = Int32(events.count)
        let count = epoll_wait(epoll, base, capacity, milliseconds)
        if count >= 0 { return Int(count) }
        let code = errno
        precondition(code == EINTR, "epoll_wait failed on a descriptor of our own")
        return 0
    }

    /// Wakes the loop that watches this event descriptor.
    static func signal(_ eventDescriptor: Int32) {
        // A full counter (EAGAIN) means that a wake-up is already pending.
        _ = retrying { Int(eventfd_write(eventDescriptor, 1)) }
    }

    // MARK: Epoll

    static func createEpoll() throws(SocketError) -> Int32 {
        try descriptor(retrying { Int(tidemark_epoll_create()) }, "epoll_create1")
    }

    static func createEventDescriptor() throws(SocketError) -> Int32 {
        try descriptor(retrying { Int(tidemark_eventfd()) }, "eventfd")
    }

    /// 0 or the negative `errno`.
    static func control(_ epoll: Int32, _ operation: Int32, _ fd: Int32, events: UInt32, data: UInt64) -> Int {
        retrying { Int(tidemark_epoll_control(epoll, operation, fd, events, data)) }
    }

    // MARK: Sockets

    static func createSocket(family: Int32) throws(SocketError) -> Int32 {
        try descriptor(retrying { Int(tidemark_socket(family)) }, "socket")
    }

    /// 0 or the negative `errno`. A non-blocking socket usually returns `-EINPROGRESS`.
    static func connect(_ fd: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int {
        // Not retried: after EINTR the kernel goes on connecting, and a second call would return EALREADY.
        let result = Glibc.connect(fd, address, length)
        if result == 0 { return 0 }
        let code = errno
        return code == EINTR ? -Int(EINPROGRESS) : -Int(code)
    }

    static func bind(_ fd: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) throws(SocketError) {
        try check(retrying { Int(Glibc.bind(fd, address, length)) }, "bind")
    }

    static func listen(_ fd: Int32, backlog: Int32) throws(SocketError) {
        try check(retrying { Int(Glibc.listen(fd, backlog)) }, "listen")
    }

    static func setOption(_ fd: Int32, _ level: Int32, _ option: Int32, _ value: Int32) throws(SocketError) {
        try check(
            retrying {
                var value = value
                return Int(setsockopt(fd, level, option, &value, socklen_t(MemoryLayout<Int32>.size)))
            }, "setsockopt")
    }

    /// Makes closing the descriptor send a reset and discard unsent bytes.
    static func setLingerZero(_ fd: Int32) {
        _ = retrying {
            var value = linger(l_onoff: 1, l_linger: 0)
            return Int(setsockopt(fd, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size)))
        }
    }

    static func option(_ fd: Int32, _ level: Int32, _ option: Int32) throws(SocketError) -> Int32 {
        var value: Int32 = 0
        try withUnsafeMutablePointer(to: &value) { pointer throws(SocketError) in
            try check(
                retrying {
                    var length = socklen_t(MemoryLayout<Int32>.size)
                    return Int(getsockopt(fd, level, option, pointer, &length))
                }, "getsockopt")
        }
        return value
    }

    /// Bytes that were sent and that the peer's kernel has not acknowledged; nil if the kernel does not say.
    static func unacknowledged(_ fd: Int32) -> Int? {
        var count: Int32 = 0
        // SIOCOUTQ has the number of TIOCOUTQ, which is also defined where the first is not.
        let result = retrying { Int(ioctl(fd, UInt(TIOCOUTQ), &count)) }
        return result < 0 ? nil : Int(count)
    }

    static func shutdownSending(_ fd: Int32) {
        _ = retrying { Int(shutdown(fd, Int32(SHUT_WR))) }
    }

    static func localAddress(_ fd: Int32) throws(SocketError) -> sockaddr_storage {
        try address("getsockname") { getsockname(fd, $0, $1) }
    }

    static func peerAddress(_ fd: Int32) throws(SocketError) -> sockaddr_storage {
        try address("getpeername") { getpeername(fd, $0, $1) }
    }

    // MARK: Datagrams

    /// A socket for datagrams to Unix sockets. Its calls wait, for at most the given time.
    static func createDatagramSocket(patienceSeconds: Int) throws(SocketError) -> Int32 {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let fd = try descriptor(retrying { Int(socket(AF_UNIX, kind, 0)) }, "socket")
        let result = retrying {
            var time = timeval(tv_sec: patienceSeconds, tv_usec: 0)
            return Int(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size)))
        }
        if result < 0 { close(fd) }
        try check(result, "setsockopt")
        return fd
    }

    static func sendDatagram(
        _ fd: Int32, _ bytes: UnsafeRawBufferPointer, to address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) throws(SocketError) {
        let (base, count) = (bytes.baseAddress, bytes.count)
        try check(retrying { sendto(fd, base, count, Int32(MSG_NOSIGNAL), address, length) }, "sendto")
    }

    // MARK: Files

    static func openNull() throws(SocketError) -> Int32 {
        try descriptor(retrying { Int(open("/dev/null", O_RDONLY | O_CLOEXEC)) }, "open")
    }

    /// NB: never retried. On Linux the descriptor is gone even if `close` is interrupted, and its number may already be
    /// in use again.
    static func close(_ fd: Int32) {
        _ = Glibc.close(fd)
    }

    // MARK: Clocks

    static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: Processors

    /// The cores that this process may use (`taskset`, cpusets); 1 if that is unknown.
    static var usableProcessorCount: Int {
        var cores = cpu_set_t()
        guard tidemark_get_usable_cores(&cores) == 0 else { return 1 }
        return withUnsafeBytes(of: &cores) { bytes in bytes.reduce(0) { $0 + $1.nonzeroBitCount } }
    }

    // MARK: -

    @inline(__always)
    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { return -Int(code) }
        }
    }

    private static func check(_ result: Int, _ operation: StaticString) throws(SocketError) {
        guard result >= 0 else { throw SocketError(errorNumber: Int32(-result), operation: operation) }
    }

    private static func descriptor(_ result: Int, _ operation: StaticString) throws(SocketError) -> Int32 {
        try check(result, operation)
        return Int32(result)
    }

    private static func address(
        _ operation: StaticString,
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) throws(SocketError) -> sockaddr_storage {
        var storage = sockaddr_storage()
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                retrying {
                    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                    return Int(call(address, &length))
                }
            }
        }
        try check(result, operation)
        return storage
    }
}
