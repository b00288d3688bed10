// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why something on a socket, a listener or an event loop failed.
package struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The causes of the error, by what the caller can do about it rather than by errno.
    package enum Code: String, Sendable, CaseIterable {
        /// The text is not an address, or the address cannot be used for this.
        case addressInvalid
        case addressInUse
        /// Without TLS, only a socket on this machine may be connected to.
        case notLoopback
        /// The host has no address.
        case nameNotFound
        /// No name server answered; trying later may help.
        case nameLookupFailed
        case connectionRefused
        /// The peer, or something on the way, ended the connection without closing it.
        case connectionReset
        case timedOut
        case unreachable
        case permissionDenied
        /// Out of file descriptors or kernel memory. Temporary.
        case resourcesExhausted
        /// Another error; see ``SocketError/errorNumber``.
        case systemCallFailed
    }

    package let code: Code
    /// The system call or step that failed, for logs.
    package let operation: StaticString
    /// The `errno` of the system call; 0 if there was none.
    package let errorNumber: Int32

    package init(_ code: Code, operation: StaticString, errorNumber: Int32 = 0) {
        self.code = code
        self.operation = operation
        self.errorNumber = errorNumber
    }

    /// The error for the `errno` of a system call.
    package init(errorNumber: Int32, operation: StaticString) {
        self.init(Self.code(of: errorNumber), operation: operation, errorNumber: errorNumber)
    }

    package var description: String {
        errorNumber == 0
            ? "\(code.rawValue) (\(operation))"
            : "\(code.rawValue) (\(operation): \(String(cString: strerror(errorNumber))))"
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.errorNumber == right.errorNumber
    }

    private static func code(of errorNumber: Int32) -> Code {
        switch errorNumber {
        case EADDRINUSE: .addressInUse
        case EAFNOSUPPORT, EADDRNOTAVAIL, EINVAL, ENOENT, ENAMETOOLONG: .addressInvalid
        case ECONNREFUSED: .connectionRefused
        case ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN: .connectionReset
        case ETIMEDOUT: .timedOut
        case EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN: .unreachable
        case EACCES, EPERM: .permissionDenied
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: .resourcesExhausted
        default: .systemCallFailed
        }
    }
}
